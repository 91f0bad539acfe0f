"""A job -> the future answer of a process that does it, and that is replaced when it dies or hangs.

The process is started for the first job, by a command line of its own: nothing of this process is
imported there or forked, so a script needs no `if __name__ == "__main__"`, and threads do no harm.

It is given the next job while it does the one before. When it has died, the jobs that it had raise
`LostWorkerError`, and the next job starts another process. When a job takes longer than the time
limit, the process is killed, and that job raises `SlowWorkerError`.
"""

import logging
import pickle
import subprocess
import sys
from collections import deque
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from itertools import count
from queue import Empty, PriorityQueue
from threading import BoundedSemaphore, Event, Lock, Thread
from time import monotonic
from typing import Any, NamedTuple

from dedup_filter.config import FilterConfig
from dedup_filter.errors import DedupError

__all__ = ["LostWorkerError", "SlowWorkerError", "Worker"]

logger = logging.getLogger(__name__)

_AHEAD = 2
"""Jobs that a process has: one that it does, and the next."""
_MOST_STILLBORN = 3
"""Processes in a row that end without any answer; then no other is started."""
_LAST, _URGENT, _NORMAL = range(3)
_LONGEST_START = 30.0
"""Seconds that a process may take to start, before its first job counts as begun."""
_LONGEST_END = 5.0
"""Seconds that `close` waits for a process that was killed."""


class LostWorkerError(DedupError):
    """A worker's process has ended, or cannot do a job."""


class SlowWorkerError(LostWorkerError):
    """A worker's process was killed because a job took too long."""


class _Job(NamedTuple):
    rank: int
    number: int
    """In the order in which they came: jobs are never compared by more."""
    name: str
    arguments: tuple[Any, ...]
    answer: Future[Any]


class Worker:
    """Does jobs one after the other in a process of its own; see `child.Reader` for the jobs."""

    def __init__(self, config: FilterConfig, time_limit: float) -> None:
        self._config = config
        self._time_limit = time_limit
        self._jobs: PriorityQueue[_Job] = PriorityQueue()
        self._numbers = count()
        self._thread: Thread | None = None
        self._process: _Process | None = None
        self._stillborn = 0
        self._is_closed = False
        self._lock = Lock()
        self.backlog = 0
        """Jobs that are not done yet."""

    def submit(self, name: str, *arguments: Any, is_urgent: bool = False) -> Future[Any]:
        """Return the future answer to a job; an urgent one comes before those that wait.

        It raises LostWorkerError if the process has died, or the job has failed.
        """
        answer: Future[Any] = Future()
        if self._is_closed:
            answer.set_exception(LostWorkerError("it is closed"))
            return answer
        if self._thread is None:
            self._thread = Thread(target=self._give, name="dedup_filter worker", daemon=True)
            self._thread.start()
        self._count(1)
        answer.add_done_callback(lambda _: self._count(-1))
        rank = _URGENT if is_urgent else _NORMAL
        self._jobs.put(_Job(rank, next(self._numbers), name, arguments, answer))
        return answer

    def close(self) -> None:
        """End the process; jobs that are not done raise LostWorkerError."""
        self._is_closed = True
        if self._thread is None:
            return
        self._jobs.put(_Job(_LAST, next(self._numbers), "", (), Future()))
        if self._process is not None:
            self._process.kill()
        self._thread.join(_LONGEST_END)

    @property
    def pid(self) -> int | None:
        """The number of the process, if there is one."""
        process = self._process
        return None if process is None or process.is_over else process.pid

    def _count(self, jobs: int) -> None:
        with self._lock:
            self.backlog += jobs

    def _give(self) -> None:
        while (job := self._jobs.get()).rank != _LAST:
            self._pass_on(job)
        if self._process is not None:
            self._process.kill()
            self._process.join(_LONGEST_END)
        with suppress(Empty):
            while True:
                _refuse(self._jobs.get_nowait(), "it is closed")

    def _pass_on(self, job: _Job) -> None:
        try:
            process = self._running()
            if process is None:
                _refuse(job, "no process can be started")
            else:
                process.give(job)
        except Exception as error:  # whoever waits for the answer must get one
            _refuse(job, f"{type(error).__name__}: {error}")

    def _running(self) -> "_Process | None":
        """Return the process, started anew if it has ended; None: it ends each time."""
        process = self._process
        if process is not None and not process.is_over:
            return process
        if process is not None:
            self._stillborn = 0 if process.has_answered else self._stillborn + 1
        if self._stillborn >= _MOST_STILLBORN:
            return None
        try:
            self._process = _Process(self._config, self._time_limit)
        except OSError as error:
            logger.warning("a worker process cannot be started (%s)", error)
            self._stillborn = _MOST_STILLBORN
            return None
        if self._is_closed:
            self._process.kill()
        return self._process


def _refuse(job: _Job, why: str) -> None:
    """Fail a job, unless it was cancelled."""
    with suppress(InvalidStateError):
        job.answer.set_exception(LostWorkerError(why))


class _Process:
    """One process, from its start to its end."""

    def __init__(self, config: FilterConfig, time_limit: float) -> None:
        self._time_limit = time_limit
        self._given: deque[_Job] = deque()
        self._begun = monotonic() + _LONGEST_START
        """When the first of the jobs given was begun, at the latest."""
        self._lock = Lock()
        self._room = BoundedSemaphore(_AHEAD)
        self._over = Event()
        self._was_killed = self._was_slow = False
        self.has_answered = False
        self._popen = subprocess.Popen(
            [sys.executable, "-m", "dedup_filter.workers.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for this process, which ends its workers
        )
        self._write(pickle.dumps(("start", (config,))))
        self._threads = [
            Thread(target=work, name=f"dedup_filter {work.__name__}", daemon=True)
            for work in (self._take_answers, self._watch)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._popen.pid

    @property
    def is_over(self) -> bool:
        """Whether it takes no more jobs."""
        return self._over.is_set()

    def give(self, job: _Job) -> None:
        """Give it a job, as soon as it has room for one more."""
        if not job.answer.set_running_or_notify_cancel():
            return
        try:
            packed = pickle.dumps((job.name, job.arguments), protocol=5)
        except Exception as error:  # a string of a class of the caller's
            job.answer.set_exception(LostWorkerError(f"cannot be sent to a worker: {error}"))
            return
        self._room.acquire()
        with self._lock:
            is_over = self.is_over
            if not is_over:
                self._begun = self._begun if self._given else max(self._begun, monotonic())
                self._given.append(job)
        if is_over:
            self._room.release()
            job.answer.set_exception(LostWorkerError("the process of a worker has ended"))
        else:
            self._write(packed)

    def kill(self) -> None:
        """End it, if it has not ended; it is waited for by another thread."""
        self._was_killed = True
        self._popen.kill()

    def join(self, seconds: float) -> None:
        """Wait until it has ended."""
        for thread in self._threads:
            thread.join(seconds)

    def _write(self, packed: bytes) -> None:
        assert self._popen.stdin is not None
        with suppress(OSError, ValueError):  # it has ended: `_take_answers` tells of it
            self._popen.stdin.write(packed)
            self._popen.stdin.flush()

    def _take_answers(self) -> None:
        assert self._popen.stdout is not None
        try:
            pickle.load(self._popen.stdout)  # noqa: S301 - it has started
            self._begun = monotonic()
            while True:
                is_done, value = pickle.load(self._popen.stdout)  # noqa: S301 - our own process
                with self._lock:
                    job = self._given.popleft()
                    self._begun = monotonic()
                self._room.release()
                self.has_answered = True
                if is_done:
                    job.answer.set_result(value)
                else:
                    job.answer.set_exception(LostWorkerError(value))
        except Exception:  # its output has ended, or is none of its answers
            self._end()

    def _end(self) -> None:
        with self._lock:
            self._over.set()
            rest = list(self._given)
            self._given.clear()
        self._popen.kill()
        code = self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout):
            with suppress(OSError):  # what could not be written
                assert pipe is not None
                pipe.close()
        if self._was_slow:
            logger.warning("a worker process was killed: a page took over %g s", self._time_limit)
        elif not self._was_killed:
            logger.warning(
                "a worker process has ended (exit code %d); its pages are read here", code
            )
        for number, job in enumerate(rest):
            is_slow = self._was_slow and number == 0
            self._room.release()
            job.answer.set_exception(
                SlowWorkerError(f"a page took more than {self._time_limit:g} s")
                if is_slow
                else LostWorkerError("the process of a worker has ended")
            )

    def _watch(self) -> None:
        while not self._over.wait(self._time_limit / 4):
            with self._lock:
                waits = bool(self._given) and monotonic() - self._begun > self._time_limit
            if waits:
                self._was_slow = True
                self._popen.kill()
                return
