"""Pages -> `ReadPage`s, read by several worker processes; the least busy one takes the next page.

If a process ends before it has read its page, this process reads the page when its `Reading` is
asked for the result. If all workers are busy or still starting, and the caller would only wait for
them (`may_help`), this process reads the page at once; also without workers, or if a value of the
page (a tree, an instance of a subclass of str) cannot be sent to a process.

A worker gets the next page while it reads the one before. It is killed if a page takes longer than
a time limit. It is started by its own command line: it neither forks this process nor imports its
`__main__`, so a script needs no `if __name__ == "__main__"`, and threads do no harm. Each worker
has its own pipes: if it is killed in the middle of an answer, the others go on. In pools whose
processes share pipes (concurrent.futures, loky, pebble), such a kill stops all processes for good.
"""

import logging
import os
import pickle
import subprocess
import sys
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from itertools import islice
from math import inf
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic
from typing import IO, NamedTuple, cast

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
_NEXT_BYTES = 2**16
"""Bytes of pages that wait in a process, or one longer page: short pages are read faster than this
process, which is judging, can hand them over."""
_ENOUGH = 8
"""If each worker has so many pages, the caller reads one itself: enough work for a long page."""
_LONGEST_START = 60.0
"""Seconds that a process may take to start."""
_LONGEST_END = 5.0
"""Seconds that `close` waits for a process that was killed."""
_WORK = """
import sys
sys.path[:] = sys.argv[1:]
from dedup_filter.workers.process import work
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

    def result(self) -> ReadPage | Unjudged:
        """Wait for the page; read it in this process if no worker could.

        Raises:
            TypeError: not exactly one of html and text is given, or one of another type.
        """
        if self._read is None:
            by_worker = self.by_worker.result()
            self._read = by_worker or read_page(self.page, self.place, self._config)
        return self._read


class _Job(NamedTuple):
    reading: Reading
    packed: bytes

    def end(self, read: ReadPage | Unjudged | None = None) -> None:
        self.reading.by_worker.set_result(read)


class Worker:
    """Reads pages in a process of its own, one after the other, until that ends.

    Raises:
        OSError: the process cannot be started.
    """

    def __init__(self, config: FilterConfig, time_limit: float) -> None:
        self.has_answered = self._has_started = self._was_killed = False
        self._time_limit = time_limit
        self._options = pickle.dumps(config)
        self._waiting: SimpleQueue[_Job] = SimpleQueue()
        self._given: deque[_Job] = deque()
        self._due = monotonic() + _LONGEST_START
        """Deadline of the first of the jobs given; before, of the start."""
        self._late: _Job | None = None
        """The job for which the process was killed, because it took too long."""
        self._over = Event()
        self._process = subprocess.Popen(  # noqa: S603 - our own
            # With this process's path, as the path of `python -c` begins with the present folder.
            [sys.executable, "-c", _WORK, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for this process, which ends its workers
        )
        self.pid = self._process.pid
        self._threads = [Thread(target=each, daemon=True) for each in (self._talk, self._watch)]
        for thread in self._threads:
            thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the process has ended."""
        return self._over.is_set()

    @property
    def backlog(self) -> int:
        """Number of pages that are not read yet; a process that starts counts as busy."""
        count = self._waiting.qsize() + len(self._given)
        return count if self._has_started else count + _ENOUGH

    def read(self, reading: Reading) -> None:
        """Read a page; the result is None if the process cannot."""
        self._waiting.put(_Job(reading, pickle.dumps((reading.page, reading.place), protocol=5)))
        if self.is_over:
            self._give_back()

    def close(self) -> None:
        """End the process; pages that are not read get None as their result."""
        self._kill()
        self._waiting.put(_Job(Reading(PageText(), Place.of(""), FilterConfig()), b""))  # wakes it
        for thread in self._threads:
            thread.join(_LONGEST_END)
        self._give_back()

    def _kill(self) -> None:
        self._was_killed = True
        self._process.kill()

    def _talk(self) -> None:
        """Give pages to the process and take what it has read, until it ends."""
        given = cast("IO[bytes]", self._process.stdin)
        pages = cast("IO[bytes]", self._process.stdout)
        try:
            given.write(self._options)
            given.flush()
            self._has_started = bool(pickle.load(pages))  # noqa: S301 - our own process
            while True:
                self._give(given)
                page = pickle.load(pages)  # noqa: S301 - our own process
                job = self._given.popleft()
                self._due = monotonic() + self._time_limit
                self.has_answered = True
                job.end(page)
        except Exception:  # a pipe has ended, or there is no page in it
            self._end()

    def _give(self, given: IO[bytes]) -> None:
        while not self._given or (self._takes_more() and self._waiting.qsize()):
            is_first = not self._given
            if is_first:
                self._due = inf
            job = self._waiting.get()
            self._given.append(job)
            if is_first:
                self._due = monotonic() + self._time_limit
            given.write(job.packed)
            given.flush()

    def _takes_more(self) -> bool:
        return sum([len(job.packed) for job in islice(self._given, 1, None)]) < _NEXT_BYTES

    def _end(self) -> None:
        self._over.set()
        with suppress(OSError), self._process:  # waits for the process; unsent bytes are lost
            self._process.kill()
        if not self._was_killed:
            code = self._process.returncode
            logger.warning(
                "a worker process has ended (exit code %d); its pages are read by this one", code
            )
        for job in self._given:
            job.end(Unjudged("too_slow") if job is self._late else None)
        self._given.clear()
        self._give_back()

    def _give_back(self) -> None:
        with suppress(Empty):
            while True:
                self._waiting.get_nowait().end()

    def _watch(self) -> None:
        while not self._over.wait(self._time_limit / 4):
            if monotonic() > self._due:
                with suppress(IndexError):
                    self._late = self._given[0]
                what = "the start" if self._late is None else "a page"
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

    def read(self, page: PageText, place: Place, *, may_help: bool = False) -> Reading:
        """Let a worker read a page; read it at once if none can.

        With `may_help`, this process reads the page at once if all workers are busy. Calls come
        from one thread. Raises TypeError as `Reading.result` does.
        """
        reading = Reading(page, place, self._config)
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
