"""Pages -> read and measured by several worker processes, the least busy one for each.

    pool.read(source)    the page in a worker, handed over when it is read; its blocks stay there
    page.ask(known)      the worker measures it meanwhile
    page.measure(known)  its profile; the worker measures it again if something else is known now

Whatever a worker cannot do, because it has died or has forgotten a page, is done here.

Jobs and answers are pickles, on standard input and output of the process. A job is a function and
arguments; an answer is whether it was done, and what it returned or raised. The process is given
the next job while it does the one before. It is killed when a job takes longer than a time limit.

The process is started by a command line of its own: nothing of this process is imported there or
forked, so a script needs no `if __name__ == "__main__"`, and threads do no harm. It ends when its
input does, even in the middle of a job: so no worker outlives the process that it works for,
however that ends. The signal of Ctrl-C is for that process alone.
"""

import logging
import os
import pickle
import signal
import subprocess
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import cache, partial
from itertools import count
from math import inf
from queue import Empty, PriorityQueue, SimpleQueue
from threading import Event, Thread
from time import monotonic
from typing import Any, BinaryIO, cast

from dedup_filter.config import FilterConfig
from dedup_filter.errors import DedupError
from dedup_filter.frames.host_frames import FrameTimes
from dedup_filter.model import Unjudged
from dedup_filter.text import Shown
from dedup_filter.workers.measured import Measured, PageHere, Source, unpacked

logger = logging.getLogger(__name__)

_TIME_LIMIT = 30.0
"""Seconds that a worker may take for one page: some hundred times as long as the largest take."""
_MOST_AUTOMATIC = 4
"""Workers for "auto": one crawl's thread hardly has more pages to read than so many can."""
_MOST_STILLBORN = 3
"""Processes in a row that end without any answer; then no other is started."""
_AHEAD = 2
"""Jobs that a process has: one that it does, and the next."""
_LONGEST_START = 60.0
"""Seconds that a process may take to start."""
_LONGEST_END = 5.0
"""Seconds that `close` waits for a process that was killed."""
_MOST_KEPT = 512
"""Pages that wait in one worker to be measured: beyond it, the earliest is forgotten. It is far
more than a crawl has under way."""
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
        self.dropped: list[int] = []
        """Numbers of pages that the process is to forget with the next that it makes."""
        self.has_answered = False
        self._time_limit = time_limit
        self._numbers = count()
        self._waiting: PriorityQueue[tuple[bool, int, bytes, Future[Any]]] = PriorityQueue()
        """Urgent jobs come first, then each in its turn."""
        self._given: deque[Future[Any]] = deque()
        self._latest = monotonic() + _LONGEST_START
        """When the process is to have started, or to have done the first of the jobs given."""
        self._over = Event()
        self._was_killed = self._was_slow = False
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from dedup_filter.workers.pool import work; work()"],
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
        """Jobs that are not done yet."""
        return self._waiting.qsize() + len(self._given)

    def submit(
        self, job: Callable[..., Any], *arguments: Any, is_urgent: bool = False
    ) -> Future[Any]:
        """Return the future answer to a job: a function of the pages kept there, and of arguments.

        It raises LostWorkerError if the process has ended, or the job has failed, and cannot be
        cancelled.
        """
        answer: Future[Any] = Future()
        answer.set_running_or_notify_cancel()
        try:
            packed = pickle.dumps((job, arguments), protocol=5)
        except Exception as error:  # a string of a class of the caller's
            answer.set_exception(LostWorkerError(f"cannot be sent to a worker: {error}"))
            return answer
        self._waiting.put((not is_urgent, next(self._numbers), packed, answer))
        if self.is_over:
            self._lose_waiting()
        return answer

    def close(self) -> None:
        """End the process; jobs that are not done raise LostWorkerError."""
        self._was_killed = True
        self._process.kill()
        self._waiting.put((False, -1, b"", Future()))  # it may be waited for
        for thread in self._threads:
            thread.join(_LONGEST_END)
        self._lose_waiting()

    def _talk(self) -> None:
        """Give jobs to the process and take its answers, until it ends."""
        answers = cast("BinaryIO", self._process.stdout)
        try:
            pickle.load(answers)  # noqa: S301 - it has started
            self._latest = inf
            while True:
                self._give()
                is_done, value = pickle.load(answers)  # noqa: S301 - our own process
                answer = self._given.popleft()
                self._latest = monotonic() + self._time_limit if self._given else inf
                self.has_answered = True
                if is_done:
                    answer.set_result(value)
                else:
                    answer.set_exception(LostWorkerError(value))
        except Exception:  # a pipe has ended, or there is no answer in it
            self._end()

    def _give(self) -> None:
        jobs = cast("BinaryIO", self._process.stdin)
        while not self._given or (len(self._given) < _AHEAD and self._waiting.qsize()):
            *_, packed, answer = self._waiting.get()
            if not self._given:
                self._latest = monotonic() + self._time_limit
            self._given.append(answer)
            jobs.write(packed)
            jobs.flush()

    def _end(self) -> None:
        self._over.set()
        with suppress(OSError), self._process:  # waits for it; what it was not written is lost
            self._process.kill()
        if self._was_slow:
            logger.warning("a worker process was killed: a page took over %g s", self._time_limit)
        elif not self._was_killed:
            code = self._process.returncode
            logger.warning(
                "a worker process has ended (exit code %d); its pages are read here", code
            )
        for number, answer in enumerate(self._given):
            lost = LostWorkerError(_ENDED)
            lost.is_slow = self._was_slow and number == 0
            answer.set_exception(lost)
        self._given.clear()
        self._lose_waiting()

    def _lose_waiting(self) -> None:
        with suppress(Empty):
            while True:
                self._waiting.get_nowait()[-1].set_exception(LostWorkerError(_ENDED))

    def _watch(self) -> None:
        while not self._over.wait(self._time_limit / 4):
            if monotonic() > self._latest:
                self._was_slow = True
                self._process.kill()
                return


class PageInWorker:
    """A page whose blocks are in a worker's process; `again` makes it here if that has ended."""

    here = None

    def __init__(self, worker: Worker, ticket: int, shown: Shown, again: "_Again") -> None:
        self.shown = shown
        self._worker = worker
        self._ticket = ticket
        self._again = cache(again)
        self._asked: tuple[FrameTimes, Future[Measured]] | None = None

    def __del__(self) -> None:
        """Let the worker forget it when it is given the next page."""
        self._worker.dropped.append(self._ticket)

    def ask(self, known: FrameTimes) -> Future[Measured]:
        """Let the worker measure it, unless it was asked to with the same knowledge."""
        if self._asked is None or self._asked[0] != known:
            self._asked = known, self._job(PageHere.measure, known)
        return self._asked[1]

    def measure(self, known: FrameTimes) -> Measured:
        """Measure it. Waits for the worker, some milliseconds, if this was not asked for before."""
        try:
            return self.ask(known).result()
        except LostWorkerError:
            return self._again().measure(known)

    def pack(self) -> bytes:
        """Return it as bytes, see `page_bytes`. Waits for the worker."""
        packed: Future[bytes] = self._job(PageHere.pack)
        try:
            return packed.result()
        except LostWorkerError:
            return self._again().pack()

    def _job(self, *use: Any) -> Future[Any]:
        return self._worker.submit(use_page, self._ticket, *use, is_urgent=True)


MeasurablePage = PageHere | PageInWorker
"""A page that was read, wherever its blocks are."""
Content = MeasurablePage | Measured | Unjudged | Source
"""What becomes of a source; the source itself, if no worker could read it."""
_Again = Callable[[], PageHere]


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
            has_affinity = hasattr(os, "sched_getaffinity")
            cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
            most = min(cores - 1, _MOST_AUTOMATIC)
        return cls(config, most) if most else None

    def read(self, source: Source, take: Callable[[Content], None]) -> None:
        """Hand the page to `take` when it is read."""
        worker, ticket = self._least_busy(), next(self._tickets)
        if worker is None:
            take(source)
            return
        make = partial(source.read, self._config)

        def pass_on(answered: Future[Shown | Measured | Unjudged]) -> None:
            try:
                read = answered.result()
            except LostWorkerError as lost:
                take(Unjudged("too_slow") if lost.is_slow else source)
            else:
                again = cast("_Again", make)  # the same bytes: a page again
                take(PageInWorker(worker, ticket, read, again) if isinstance(read, Shown) else read)

        dropped, worker.dropped = worker.dropped, []
        worker.submit(make_page, ticket, make, dropped).add_done_callback(pass_on)

    def unpack(self, packed: bytes) -> MeasurablePage:
        """Return a page that was packed. Waits for a worker.

        Raises:
            ValueError: another version of this package packed it.
        """
        worker, ticket = self._least_busy(), next(self._tickets)
        make = partial(unpacked, packed, self._config)
        if worker is not None:
            try:
                shown = worker.submit(make_page, ticket, make, is_urgent=True).result()
                return PageInWorker(worker, ticket, shown, make)
            except LostWorkerError:
                pass
        return make()

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
                least = Worker(self._time_limit)
            except OSError as error:
                logger.warning("a worker process cannot be started (%s)", error)
                self._stillborn = _MOST_STILLBORN
            else:
                self._workers.append(least)
        return least


def work() -> None:
    """Be the process of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    jobs: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_take_jobs, args=(sys.stdin.buffer, jobs), daemon=True).start()
    pages: OrderedDict[int, PageHere] = OrderedDict()
    answer = pickle.dumps("ready")
    while True:
        answers.write(answer)
        answers.flush()
        job, arguments = jobs.get()
        try:
            answer = pickle.dumps((True, job(pages, *arguments)), protocol=5)
        except Exception as error:  # the one who gave the job is told
            answer = pickle.dumps((False, f"{type(error).__name__}: {error}"))


def make_page(
    pages: OrderedDict[int, PageHere],
    ticket: int,
    make: Callable[[], PageHere | Measured | Unjudged],
    dropped: Sequence[int] = (),
) -> Shown | Measured | Unjudged:
    """Make a page, keep it under a number, and return what it shows; forget others."""
    for each in dropped:
        pages.pop(each, None)
    page = make()
    if not isinstance(page, PageHere):
        return page
    pages[ticket] = page
    if len(pages) > _MOST_KEPT:
        pages.popitem(last=False)
    return page.shown


def use_page(
    pages: Mapping[int, PageHere], ticket: int, use: Callable[..., Any], *arguments: Any
) -> Any:
    """Return what a function returns for a page that is kept."""
    return use(pages[ticket], *arguments)


def _take_jobs(given: BinaryIO, jobs: "SimpleQueue[Any]") -> None:
    try:
        while True:
            jobs.put(pickle.load(given))  # noqa: S301 - written by the process that started this one
    finally:
        os._exit(0)
