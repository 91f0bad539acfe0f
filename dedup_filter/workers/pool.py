"""Pages -> read by several worker processes; each goes to the least busy one.

Whatever a worker cannot do, because it has died, is done here. So is, if
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
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from math import inf
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic
from typing import Any, BinaryIO, cast

from dedup_filter.config import FilterConfig
from dedup_filter.errors import DedupError
from dedup_filter.fingerprints.read_page import ReadPage, Source
from dedup_filter.model import Unjudged

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
        self.has_answered = self._has_started = False
        self._time_limit = time_limit
        self._waiting: SimpleQueue[tuple[bytes, Future[Any]]] = SimpleQueue()
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

    def submit(self, job: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Return the future answer to a job: a function, and its arguments.

        The future raises LostWorkerError if the process has ended or the job has failed. It cannot
        be cancelled.
        """
        answer: Future[Any] = Future()
        answer.set_running_or_notify_cancel()
        packed = pickle.dumps((job, arguments), protocol=5)
        self._waiting.put((packed, answer))
        if self.is_over:
            self._lose_waiting()
        return answer

    def close(self) -> None:
        """End the process; jobs that are not done raise LostWorkerError."""
        self._was_killed = True
        self._process.kill()
        self._waiting.put((b"", Future()))  # wakes `_talk`, if it waits for one
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
            packed, answer = self._waiting.get()
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


Content = ReadPage | Unjudged | Source
"""What becomes of a source; the source itself, if no worker could read it."""


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

    @classmethod
    def of(cls, config: FilterConfig) -> "Pool | None":
        """Make a pool of as many workers as are meant: "auto" is one less than there are cores."""
        most = config.workers
        if isinstance(most, str):
            most = min(cores() - 1, MOST_AUTOMATIC)
        return cls(config, most) if most else None

    def read(
        self, source: Source, take: Callable[[Content], None], *, may_help: bool = False
    ) -> None:
        """Hand the page to `take` when it is read, in another thread or, without a worker, at once.

        With `may_help` it is read here, and at once, if all workers have enough to do.

        All that is given must be plain strings and bytes.
        """
        worker = self._least_busy()
        if worker is None:
            take(source)
            return
        if may_help and worker.backlog >= _ENOUGH:
            take(source.read(self._config))
            return

        def pass_on(answered: Future[ReadPage | Unjudged]) -> None:
            try:
                read: Content = answered.result()
            except LostWorkerError as lost:
                read = Unjudged("too_slow") if lost.is_slow else source
            take(read)

        worker.submit(source.read, self._config).add_done_callback(pass_on)

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
