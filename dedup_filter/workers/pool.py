"""Pages -> read and measured by several worker processes; each goes to the least busy one.

    pool.read(source)    the page, read and measured by a worker (`process`); its blocks stay there
    page.ask(known)      the worker measures it again, if what it expected is not what is known
    page.measure(known)  its profile

Whatever a worker cannot do, because it has died or has forgotten a page, is done here. So is, if
the caller has time for it (`may_help`), what finds all workers with enough to do, or still at their
start: a process that would only wait for its workers is one of them.

A process is given the next job while it does the one before. It is killed when a job takes longer
than a time limit. It is started by a command line of its own: nothing of this process is imported
there or forked, so a script needs no `if __name__ == "__main__"`, and threads do no harm.
"""

import logging
import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import cache, partial
from itertools import count
from math import inf
from queue import Empty, PriorityQueue
from threading import Event, Thread
from time import monotonic
from typing import Any, BinaryIO, cast

from dedup_filter.config import FilterConfig
from dedup_filter.errors import DedupError
from dedup_filter.frames.host_frames import FrameTimes
from dedup_filter.model import Unjudged
from dedup_filter.text.reading import Page, Shown
from dedup_filter.workers.measured import Measured, PageHere, Source
from dedup_filter.workers.process import Over, ReadElsewhere, Reading, WorkerPages

logger = logging.getLogger(__name__)

_TIME_LIMIT = 30.0
"""Seconds that a worker may take for one page: a hundred times what the largest take."""
MOST_AUTOMATIC = 4
"""Workers for "auto": one crawl's thread cannot keep more busy."""
_MOST_STILLBORN = 3
"""Processes in a row that end without any answer; then no other is started."""
_AHEAD, _AHEAD_BYTES = 2, 2**16
"""Jobs that a process has: one that it does, and the next; more if they are that short, for they
are done before this process, at work itself, can hand over another."""
_ENOUGH = 8
"""Jobs that a worker has when the caller helps: enough while the caller reads a long page."""
_LONGEST_START = 60.0
"""Seconds that a process may take to start."""
_LONGEST_END = 5.0
"""Seconds that `close` waits for a process that was killed."""
_MOST_NEWS = 200
"""Messages that are kept for an idle worker; older ones are dropped."""
_WORK = """
import sys
sys.path[:] = sys.argv[1:]
from dedup_filter.workers.process import work
work()
"""
_ENDED = "the process of a worker has ended"


class LostWorkerError(DedupError):
    """A worker's process has ended, or cannot do a job."""

    is_slow = False
    """Whether it was killed because the job took too long."""


class Worker:
    """Does jobs in a process of its own, until that ends.

    Raises:
        OSError: the process cannot be started.
    """

    def __init__(self, time_limit: float) -> None:
        self.news: deque[ReadElsewhere | Over] = deque(maxlen=_MOST_NEWS)
        """What the process is told with the next page that it reads."""
        self.has_answered = self._has_started = False
        self._time_limit = time_limit
        self._numbers = count()
        self._waiting: PriorityQueue[tuple[bool, int, bytes, Future[Any]]] = PriorityQueue()
        """Urgent jobs come first, then each in its turn."""
        self._given: deque[tuple[Future[Any], int]] = deque()
        """With their bytes."""
        self._due: tuple[float, Future[Any] | None] = monotonic() + _LONGEST_START, None
        """Deadline of the first of the jobs given, and that job; None: of the start."""
        self._late: Future[Any] | None = None
        """The job for which the process was killed, because it took too long."""
        self._over = Event()
        self._was_killed = False
        self._process = subprocess.Popen(  # noqa: S603 - our own
            # With the path of this process: that of `python -c` begins with the present folder.
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
        """Jobs that are not done yet; its start counts as enough of them."""
        count = self._waiting.qsize() + len(self._given)
        return count if self._has_started else count + _ENOUGH

    def submit(
        self, job: Callable[..., Any], *arguments: Any, is_urgent: bool = False
    ) -> Future[Any]:
        """Return the future answer to a job: a function of `WorkerPages`, and further arguments.

        The future raises LostWorkerError if the process has ended or the job has failed. It cannot
        be cancelled.
        """
        answer: Future[Any] = Future()
        answer.set_running_or_notify_cancel()
        packed = pickle.dumps((job, arguments), protocol=5)
        self._waiting.put((not is_urgent, next(self._numbers), packed, answer))
        if self.is_over:
            self._lose_waiting()
        return answer

    def close(self) -> None:
        """End the process; jobs that are not done raise LostWorkerError."""
        self._was_killed = True
        self._process.kill()
        self._waiting.put((False, -1, b"", Future()))  # wakes `_talk`, if it waits for one
        for thread in self._threads:
            thread.join(_LONGEST_END)
        self._lose_waiting()

    def _talk(self) -> None:
        """Give jobs to the process and take its answers, until it ends."""
        answers = cast("BinaryIO", self._process.stdout)
        try:
            self._has_started = bool(pickle.load(answers))  # noqa: S301 - our own process
            self._due = inf, None
            while True:
                self._give()
                is_done, value = pickle.load(answers)  # noqa: S301 - our own process
                answer, _ = self._given.popleft()
                self._expect_first()
                self.has_answered = True
                if is_done:
                    answer.set_result(value)
                else:
                    answer.set_exception(LostWorkerError(value))
        except Exception:  # a pipe has ended, or there is no answer in it
            self._end()

    def _give(self) -> None:
        jobs = cast("BinaryIO", self._process.stdin)
        while not self._given or (self._takes_more() and self._waiting.qsize()):
            *_, packed, answer = self._waiting.get()
            self._given.append((answer, len(packed)))
            if len(self._given) == 1:
                self._expect_first()
            jobs.write(packed)
            jobs.flush()

    def _takes_more(self) -> bool:
        return len(self._given) < _AHEAD or sum(size for _, size in self._given) < _AHEAD_BYTES

    def _expect_first(self) -> None:
        first = self._given[0][0] if self._given else None
        self._due = inf if first is None else monotonic() + self._time_limit, first

    def _end(self) -> None:
        self._over.set()
        with suppress(OSError), self._process:  # waits for the process; unsent bytes are lost
            self._process.kill()
        if not self._was_killed:
            code = self._process.returncode
            logger.warning(
                "a worker process has ended (exit code %d); its pages are read by this one", code
            )
        for answer, _ in self._given:
            lost = LostWorkerError(_ENDED)
            lost.is_slow = answer is self._late
            answer.set_exception(lost)
        self._given.clear()
        self._lose_waiting()

    def _lose_waiting(self) -> None:
        with suppress(Empty):
            while True:
                self._waiting.get_nowait()[-1].set_exception(LostWorkerError(_ENDED))

    def _watch(self) -> None:
        while not self._over.wait(self._time_limit / 4):
            deadline, job = self._due
            if monotonic() > deadline:
                what = "a page took" if job else "its start took"
                limit = self._time_limit if job else _LONGEST_START
                logger.warning("a worker process is killed: %s over %g s", what, limit)
                self._late, self._was_killed = job, True
                self._process.kill()
                return


class _Followed:
    """A page of which the workers have learnt, and are told what has become of it."""

    is_kept = False
    """Whether its host has learnt from it as from a page that is kept."""
    _ticket: int
    _workers: Sequence[Worker]

    def __del__(self) -> None:
        """Tell the workers with their next pages."""
        for worker in self._workers:
            worker.news.append(Over(self._ticket, self.is_kept))


class _PageReadHere(_Followed, PageHere):
    """A page that this process has read because its workers had enough to do."""

    def __init__(
        self, page: Page, config: FilterConfig, ticket: int, workers: Sequence[Worker]
    ) -> None:
        super().__init__(page, config)
        self._ticket, self._workers = ticket, workers


class PageInWorker(_Followed):
    """A page whose blocks are in a worker's process; `again` makes it here if that has ended."""

    here = None

    def __init__(
        self, worker: Worker, ticket: int, read: Reading, again: "_Again", workers: Sequence[Worker]
    ) -> None:
        self.shown = read.shown
        self._worker = worker
        self._ticket, self._workers = ticket, workers
        self._again = cache(again)
        self._known = read.expected
        self._measured: Measured | Future[Measured] | None = read.measured
        self._packed = read.packed

    def ask(self, known: FrameTimes) -> Future[Measured] | None:
        """Let the worker measure it; None if it has, with this knowledge."""
        if self._known != known:
            self._known, self._measured = known, self._job(WorkerPages.measure, known)
        return self._measured if isinstance(self._measured, Future) else None

    def measure(self, known: FrameTimes) -> Measured:
        """Measure it. Waits for the worker, some milliseconds, unless it has by now."""
        try:
            asked = self.ask(known)
            return cast("Measured", self._measured) if asked is None else asked.result()
        except LostWorkerError:
            return self._again().measure(known)

    def pack(self) -> bytes:
        """Return it as bytes, see `page_bytes`. Waits for the worker, unless it has sent them."""
        if self._packed is None:
            try:
                self._packed = self._job(WorkerPages.pack).result()
            except LostWorkerError:
                self._packed = self._again().pack()
        return self._packed

    def _job(self, job: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return self._worker.submit(job, self._ticket, *arguments, is_urgent=True)


MeasurablePage = PageHere | PageInWorker
"""A page that was read, wherever its blocks are."""
Content = MeasurablePage | Measured | Unjudged | Source
"""What becomes of a source; the source itself, if no worker could read it."""
_Again = Callable[[], PageHere]


def cores() -> int:
    """Return how many cores this process may use."""
    has_affinity = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1


class Pool:
    """Several workers; each is started when all before it are busy, and replaced when it ends."""

    def __init__(self, config: FilterConfig, workers: int, time_limit: float = _TIME_LIMIT) -> None:
        self.most = workers
        self._config = config
        self._time_limit = time_limit
        self._workers: list[Worker] = []
        self._stillborn = 0
        self._tickets = count(1)

    @classmethod
    def of(cls, config: FilterConfig) -> "Pool | None":
        """Make a pool of as many workers as are meant: "auto" is one less than there are cores."""
        most = config.workers
        if isinstance(most, str):
            most = min(cores() - 1, MOST_AUTOMATIC)
        return cls(config, most) if most else None

    def read(
        self, source: Source, host: str, take: Callable[[Content], None], *, may_help: bool = False
    ) -> None:
        """Hand the page to `take` when it is read, in another thread or, without a worker, at once.

        With `may_help` it is read here, and at once, if all workers have enough to do.

        All that is given must be plain strings and bytes. `host`: see `WorkerPages.read`.
        """
        worker, ticket = self._least_busy(), next(self._tickets)
        if worker is None:
            take(source)
            return
        if may_help and worker.backlog >= _ENOUGH:
            take(self._read_here(source, host, ticket))
            return
        make = partial(source.read, self._config)

        def pass_on(answered: Future[Reading | Measured | Unjudged]) -> None:
            try:
                read: Reading | Content = answered.result()
            except LostWorkerError as lost:
                take(Unjudged("too_slow") if lost.is_slow else source)
            else:
                again = cast("_Again", make)  # as the same bytes were a page
                if isinstance(read, Reading):
                    self._tell_others(worker, ticket, host, read.shown)
                    read = PageInWorker(worker, ticket, read, again, self._workers)
                take(read)

        # Another thread may add to them meanwhile.
        news = [worker.news.popleft() for _ in range(len(worker.news))]
        answer = worker.submit(WorkerPages.read, ticket, make, host, news)
        answer.add_done_callback(pass_on)

    def close(self) -> None:
        """End all processes."""
        for worker in self._workers:
            worker.close()

    def _read_here(self, source: Source, host: str, ticket: int) -> Content:
        read = source.read(self._config)
        if not isinstance(read, PageHere) or read.here is None:
            return read
        self._tell_others(None, ticket, host, read.shown)
        return _PageReadHere(read.here, self._config, ticket, self._workers)

    def _tell_others(self, reader: Worker | None, ticket: int, host: str, shown: Shown) -> None:
        others = [worker for worker in self._workers if worker is not reader]
        if host and others:
            # The words of its blocks, half of its bytes, are not wanted there.
            page = ReadElsewhere(ticket, host, shown._replace(words=(), link_words=()))
            for worker in others:
                worker.news.append(page)

    def _least_busy(self) -> Worker | None:
        """Return the worker for the next page, if there is one."""
        for worker in [each for each in self._workers if each.is_over]:
            self._workers.remove(worker)
            self._stillborn = 0 if worker.has_answered else self._stillborn + 1
        least = min(self._workers, key=lambda each: each.backlog, default=None)
        can_start = len(self._workers) < self.most and self._stillborn < _MOST_STILLBORN
        if can_start and (least is None or least.backlog):
            try:
                least = Worker(self._time_limit)
            except OSError as error:
                logger.warning("a worker process cannot be started (%s)", error)
                self._stillborn = _MOST_STILLBORN
            else:
                self._workers.append(least)
        return least
