"""Pages -> `ReadPage`s, read by several worker processes; the least busy one takes the next page.

    Pool     chooses the worker, or reads the page itself -> a `Reading`, which will have the page
    Worker   a process, with threads here that send pages to it and receive what it has read
    work     the process itself

If a process ends before it has read its page, this process reads the page at the call of
`Reading.result`. If all workers are busy or still starting, and the caller would only wait for
them (`may_help`), this process reads the page at once; also without workers, or if a value of the
page (a tree, an instance of a subclass of str) cannot be sent to a process.

A worker takes its pages into its own memory as they come, so that it never waits for one. It is
killed if a page takes longer than a time limit. It is started by its own command line: it neither
forks this process nor imports its `__main__`, so a script needs no `if __name__ == "__main__"`, and
threads do no harm. Each worker has its own pipes: if it is killed in the middle of an answer, the
others go on. In pools whose processes share pipes (concurrent.futures, loky, pebble), such a kill
stops all processes for good.
"""

import logging
import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from queue import SimpleQueue
from threading import Event, Thread
from time import monotonic
from typing import IO, BinaryIO, cast

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.read_page import ReadPage, read_page
from dedup_filter.model import Unjudged
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import Place

logger = logging.getLogger(__name__)

_TIME_LIMIT = 30.0
"""Seconds that a worker may take for one page: a hundred times the longest time measured."""
MOST_AUTOMATIC = 4
"""Workers for "auto": the thread of one crawl cannot keep more busy."""
_MOST_STILLBORN = 3
"""After so many processes in a row that end without any page, no other is started."""
_ENOUGH = 8
"""If each worker has so many pages, the caller reads one itself: enough work for a long page."""
_LONGEST_START = 60.0
"""Seconds that a process may take to start."""
_LONGEST_END = 5.0
"""Seconds that `close` waits for a process that was killed."""
_WORK = """
import sys
sys.path[:] = sys.argv[1:]
from dedup_filter.workers import work
work()
"""

_PLAIN = (str, bytes, type(None))
"""Types of values that a worker can read; it cannot import modules of subclasses."""


class Reading:
    """A page that is read, by a worker or by this process."""

    def __init__(self, page: PageText, place: Place, config: FilterConfig) -> None:
        self.page, self.place, self._config = page, place, config
        self.by_worker: Future[ReadPage | Unjudged | None] = Future()
        """The page as a worker has read it; None: no worker could."""
        self.by_worker.set_running_or_notify_cancel()  # so that a waiting caller cannot cancel it
        self._read: ReadPage | Unjudged | None = None

    @property
    def is_done(self) -> bool:
        """Whether no worker has to be waited for."""
        return self.by_worker.done()

    @property
    def content(self) -> ReadPage | Unjudged | None:
        """The page, if it is read."""
        is_read = self._read or (self.is_done and self.by_worker.result())
        return self.result() if is_read else None

    def result(self) -> ReadPage | Unjudged:
        """Wait for the page; read it in this process if no worker could.

        Raises:
            TypeError: not exactly one of html and text is given, or one of another type.
        """
        if self._read is None:
            read = self.by_worker.result() or read_page(self.page, self.place, self._config)
            self._read = replace(read, options=self._config) if isinstance(read, ReadPage) else read
        return self._read


def those_read(readings: Iterable[Reading]) -> Iterator[tuple[Place, ReadPage | Unjudged]]:
    """Yield pages and their places up to the first one that is not read."""
    for each in readings:
        if (content := each.content) is None:
            return
        yield each.place, content


class Worker:
    """Reads pages in a process of its own, one after the other, until that ends.

    Raises:
        OSError: the process cannot be started.
    """

    def __init__(self, config: FilterConfig, time_limit: float) -> None:
        self.has_answered = self._has_started = self._was_killed = False
        self._time_limit = time_limit
        self._packed: SimpleQueue[bytes] = SimpleQueue()
        """What is to be sent to the process."""
        self._packed.put(pickle.dumps(config))
        self._given: deque[Reading] = deque()
        """The pages that the process has not read."""
        self._due = monotonic() + _LONGEST_START
        """Deadline of the first of them; before, of the start."""
        self._late: Reading | None = None
        """The page for which the process was killed, because it took too long."""
        self._over = Event()
        self._process = subprocess.Popen(  # noqa: S603 - our own
            # With this process's path, as the path of `python -c` begins with the present folder.
            [sys.executable, "-c", _WORK, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for this process, which ends its workers
        )
        self.pid = self._process.pid
        targets = (self._send, self._receive, self._watch)
        self._threads = [Thread(target=each, daemon=True) for each in targets]
        for thread in self._threads:
            thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the process has ended."""
        return self._over.is_set()

    @property
    def backlog(self) -> int:
        """Number of pages that are not read yet; a process that starts counts as busy."""
        return len(self._given) + (0 if self._has_started else _ENOUGH)

    def read(self, reading: Reading) -> None:
        """Read a page; the result is None if the process cannot."""
        if self._has_started and not self._given:
            self._due = monotonic() + self._time_limit
        self._given.append(reading)
        self._packed.put(pickle.dumps((reading.page, reading.place), protocol=5))
        if self.is_over:
            self._give_back()

    def close(self) -> None:
        """End the process; pages that are not read get None as their result."""
        self._kill()
        for thread in self._threads:
            thread.join(_LONGEST_END)
        self._give_back()

    def _kill(self) -> None:
        self._was_killed = True
        self._process.kill()

    def _send(self) -> None:
        given = cast("IO[bytes]", self._process.stdin)
        with suppress(OSError, ValueError):  # the process has ended
            while not self.is_over:
                given.write(self._packed.get())
                given.flush()

    def _receive(self) -> None:
        """Take what the process has read, until it ends."""
        pages = cast("IO[bytes]", self._process.stdout)
        try:
            self._has_started = bool(pickle.load(pages))  # noqa: S301 - our own process
            self._due = monotonic() + self._time_limit
            while True:
                page = pickle.load(pages)  # noqa: S301 - our own process
                self._due = monotonic() + self._time_limit
                self.has_answered = True
                self._given.popleft().by_worker.set_result(page)
        except Exception:  # the pipe has ended, or there is no page in it
            self._end()

    def _end(self) -> None:
        self._over.set()
        self._packed.put(b"")  # wakes `_send`
        with suppress(OSError), self._process:  # waits for the process; unsent bytes are lost
            self._process.kill()
        if not self._was_killed:
            code = self._process.returncode
            logger.warning(
                "a worker process has ended (exit code %d); its pages are read by this one", code
            )
        self._give_back()

    def _give_back(self) -> None:
        with suppress(IndexError):
            while reading := self._given.popleft():
                is_late = reading is self._late
                reading.by_worker.set_result(Unjudged("too_slow") if is_late else None)

    def _watch(self) -> None:
        while not self._over.wait(self._time_limit / 4):
            if monotonic() > self._due and (self._given or not self._has_started):
                with suppress(IndexError):
                    self._late = self._given[0] if self._has_started else None
                what = "a page" if self._has_started else "the start"
                logger.warning("a worker process is killed: %s took too long", what)
                self._kill()
                return


def cores() -> int:
    """Return how many cores this process may use."""
    has_affinity = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1


class Pool:
    """Several workers; the next is started when all are busy, and replaced when it ends."""

    def __init__(self, config: FilterConfig, time_limit: float = _TIME_LIMIT) -> None:
        most, self._config = config.workers, config
        self.most = min(cores() - 1, MOST_AUTOMATIC) if isinstance(most, str) else most
        """Number of workers; "auto" is the number of cores less one."""
        self._time_limit = time_limit
        self._workers: list[Worker] = []
        self._stillborn = 0

    def read(
        self,
        page: PageText,
        place: Place,
        options: FilterConfig | None = None,
        *,
        may_help: bool = False,
    ) -> Reading:
        """Let a worker read a page; read it at once if none can. `options`: see `ReadPage`.

        With `may_help`, this process reads the page at once if all workers are busy. Calls come
        from one thread. Raises TypeError as `Reading.result` does.
        """
        reading = Reading(page, place, options or self._config)
        is_plain = all(type(each) in _PLAIN for each in (*page, place.url))
        worker = self._least_busy() if is_plain else None
        if worker is None or (may_help and worker.backlog >= _ENOUGH):
            reading.by_worker.set_result(None)
            reading.result()
        else:
            worker.read(reading)
        return reading

    def close(self) -> None:
        """End all processes."""
        for worker in self._workers:
            worker.close()

    def _least_busy(self) -> Worker | None:
        """Return the worker for the next page, if there is one."""
        for worker in [each for each in self._workers if each.is_over]:
            self._workers.remove(worker)
            self._stillborn = 0 if worker.has_answered else self._stillborn + 1
        least = min(self._workers, key=lambda each: each.backlog, default=None)
        can_start = len(self._workers) < self.most and self._stillborn < _MOST_STILLBORN
        if can_start and (least is None or least.backlog):
            try:
                least = Worker(self._config, self._time_limit)
            except OSError as error:
                logger.warning("a worker process cannot be started (%s)", error)
                self._stillborn = _MOST_STILLBORN
            else:
                self._workers.append(least)
        return least


def work() -> None:
    """Be the process of a worker: read pages until standard input ends.

    Standard input has pickles: the options, then pages with their places. For each page its
    `ReadPage` is written to standard output, or None if it could not be read. The process ends when
    its input ends, even in the middle of a page: so a worker never outlives the process that
    started it. It ignores Ctrl-C.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Output that a library prints must not be taken for an answer. A daemon may have closed stderr.
    other = os.open(os.devnull, os.O_WRONLY) if sys.stderr is None else sys.stderr.fileno()
    os.dup2(other, sys.stdout.fileno())
    config = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by the process that started this
    pages: SimpleQueue[tuple[PageText, Place]] = SimpleQueue()
    Thread(target=_take, args=(sys.stdin.buffer, pages), daemon=True).start()
    answer = pickle.dumps("ready")
    while True:
        try:
            answers.write(answer)
            answers.flush()
        except BrokenPipeError:  # the process that gave the page was killed
            os._exit(0)
        try:
            answer = pickle.dumps(read_page(*pages.get(), config), protocol=5)
        except Exception:  # the process that gave the page reads it, and gets the error
            answer = pickle.dumps(None)


def _take(given: BinaryIO, pages: SimpleQueue[tuple[PageText, Place]]) -> None:
    try:
        while True:
            pages.put(pickle.load(given))  # noqa: S301 - written by the same process
    finally:
        os._exit(0)
