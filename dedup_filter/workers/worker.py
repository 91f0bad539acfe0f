"""A job -> the future answer of a process that does it, from both ends of the pipe between them.

`Worker` is the process as the crawl's process knows it, `work` what is done there. Jobs and answers
are pickles, one after the other, on standard input and output: the pipe has no other end than the
process that started the other. The first pickle is the configuration. An answer is whether the job
was done, and what it returned or raised.

The process is started by a command line of its own: nothing of this process is imported there or
forked, so a script needs no `if __name__ == "__main__"`, and threads do no harm. It is given the
next job while it does the one before. When it has ended, all jobs that are left raise
`LostWorkerError`. When a job takes longer than the time limit, the process is killed, and that job
raises `SlowWorkerError`.

The process ends when its input does, even in the middle of a job: so no worker outlives the
process that it works for, however that ends. The signal of Ctrl-C is for that process alone.
"""

import logging
import os
import pickle
import signal
import subprocess
import sys
from collections import OrderedDict, deque
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from heapq import heappop, heappush
from itertools import count
from queue import SimpleQueue
from threading import Condition, Event, Thread
from time import monotonic
from typing import Any, BinaryIO, cast

from dedup_filter.config import FilterConfig
from dedup_filter.errors import DedupError
from dedup_filter.model import Unjudged
from dedup_filter.text import Shown
from dedup_filter.workers.measured import FrameTimes, Measured, PageHere, Source

__all__ = ["LostWorkerError", "SlowWorkerError", "Worker", "work"]

logger = logging.getLogger(__name__)

_AHEAD = 2
"""Jobs that a process has: one that it does, and the next."""
_LONGEST_START = 30.0
"""Seconds that a process may take to start, before its first job counts as begun."""
_LONGEST_END = 5.0
"""Seconds that `close` waits for a process that was killed."""
_MOST_KEPT = 512
"""Pages that wait in one worker to be measured: beyond it, the earliest is forgotten. It is far
more than a crawl has under way."""


class LostWorkerError(DedupError):
    """A worker's process has ended, or cannot do a job."""


class SlowWorkerError(LostWorkerError):
    """A worker's process was killed because a job took too long."""


class Worker:
    """Does jobs in a process of its own, until that ends; see `_Reader` for the jobs.

    Raises:
        OSError: the process cannot be started.
    """

    def __init__(self, config: FilterConfig, time_limit: float) -> None:
        self.dropped: list[int] = []
        """Numbers of pages that the process is to forget with the next that it reads."""
        self.has_answered = False
        self._time_limit = time_limit
        self._numbers = count()
        self._waiting: list[tuple[bool, int, bytes, Future[Any]]] = []
        """A heap of jobs: urgent ones first, then in the order in which they came."""
        self._given: deque[Future[Any]] = deque()
        self._begun = monotonic() + _LONGEST_START
        """When the first of the jobs given was begun, at the latest."""
        self._changed = Condition()
        self._over = Event()
        self._was_killed = self._was_slow = False
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from dedup_filter.workers.worker import work; work()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for this process, which ends its workers
        )
        self.pid = self._process.pid
        self._write(pickle.dumps(config))
        self._threads = [
            Thread(target=target, name=f"dedup_filter {target.__name__}", daemon=True)
            for target in (self._give, self._take_answers, self._watch)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the process has ended."""
        return self._over.is_set()

    @property
    def backlog(self) -> int:
        """Jobs that are not done yet."""
        return len(self._waiting) + len(self._given)

    def submit(self, name: str, *arguments: Any, is_urgent: bool = False) -> Future[Any]:
        """Return the future answer to a job; an urgent one comes before those that wait.

        It raises LostWorkerError if the process has ended, or the job has failed, and cannot be
        cancelled.
        """
        answer: Future[Any] = Future()
        answer.set_running_or_notify_cancel()
        try:
            packed = pickle.dumps((name, arguments), protocol=5)
        except Exception as error:  # a string of a class of the caller's
            answer.set_exception(LostWorkerError(f"cannot be sent to a worker: {error}"))
            return answer
        with self._changed:
            if self.is_over:
                answer.set_exception(LostWorkerError("the process of a worker has ended"))
            else:
                heappush(self._waiting, (not is_urgent, next(self._numbers), packed, answer))
                self._changed.notify()
        return answer

    def close(self) -> None:
        """End the process; jobs that are not done raise LostWorkerError."""
        self._was_killed = True
        self._process.kill()
        for thread in self._threads:
            thread.join(_LONGEST_END)

    def _give(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self.is_over or (self._waiting and len(self._given) < _AHEAD)
                )
                if self.is_over:
                    return
                if not self._given:
                    self._begun = max(self._begun, monotonic())
                *_, packed, answer = heappop(self._waiting)
                self._given.append(answer)
            self._write(packed)

    def _write(self, packed: bytes) -> None:
        with suppress(OSError, ValueError):  # it has ended: `_take_answers` tells of it
            jobs = cast("BinaryIO", self._process.stdin)
            jobs.write(packed)
            jobs.flush()

    def _take_answers(self) -> None:
        answers = cast("BinaryIO", self._process.stdout)
        try:
            pickle.load(answers)  # noqa: S301 - it has started
            self._begun = monotonic()
            while True:
                is_done, value = pickle.load(answers)  # noqa: S301 - our own process
                with self._changed:
                    answer = self._given.popleft()
                    self._begun = monotonic()
                    self._changed.notify()
                self.has_answered = True
                if is_done:
                    answer.set_result(value)
                else:
                    answer.set_exception(LostWorkerError(value))
        except Exception:  # its output has ended, or is none of its answers
            self._end()

    def _end(self) -> None:
        with self._changed:
            self._over.set()
            rest = [*self._given, *(job[-1] for job in self._waiting)]
            self._given.clear()
            self._waiting.clear()
            self._changed.notify()
        with suppress(OSError), self._process:  # waits for it; what it was not written is lost
            self._process.kill()
        if self._was_slow:
            logger.warning("a worker process was killed: a page took over %g s", self._time_limit)
        elif not self._was_killed:
            code = self._process.returncode
            logger.warning(
                "a worker process has ended (exit code %d); its pages are read here", code
            )
        for number, answer in enumerate(rest):
            kind = SlowWorkerError if self._was_slow and number == 0 else LostWorkerError
            answer.set_exception(kind("the process of a worker has ended"))

    def _watch(self) -> None:
        while not self._over.wait(self._time_limit / 4):
            with self._changed:
                self._was_slow = bool(self._given) and monotonic() - self._begun > self._time_limit
            if self._was_slow:
                self._process.kill()
                return


class _Reader:
    """In the worker's process: reads pages, and keeps them until they are dropped."""

    def __init__(self, config: FilterConfig) -> None:
        self._config = config
        self._pages: OrderedDict[int, PageHere] = OrderedDict()

    def read(
        self, ticket: int, source: Source, dropped: Sequence[int]
    ) -> Shown | Measured | Unjudged:
        """Read a page and keep it under a number; forget those that were dropped."""
        for each in dropped:
            self._pages.pop(each, None)
        page = source.read(self._config)
        if not isinstance(page, PageHere):
            return page
        return self._kept(ticket, page)

    def unpack(self, ticket: int, packed: bytes) -> Shown:
        """Keep a page that was packed. Raises ValueError if another version packed it."""
        return self._kept(ticket, PageHere.unpacked(packed, self._config))

    def measure(self, ticket: int, times: bytes, is_frame_known: bool) -> Measured:
        """Measure a page that is kept; `times` are those of `FrameTimes`, and 1 more each."""
        known = FrameTimes([each - 1 for each in times], is_frame_known)
        return self._pages[ticket].measure(known)

    def pack(self, ticket: int) -> bytes:
        """Return a page that is kept as bytes."""
        return self._pages[ticket].pack()

    def _kept(self, ticket: int, page: PageHere) -> Shown:
        self._pages[ticket] = page
        if len(self._pages) > _MOST_KEPT:
            self._pages.popitem(last=False)
        return page.shown


def work() -> None:
    """Be the process of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    jobs: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_take_jobs, args=(sys.stdin.buffer, jobs), daemon=True).start()
    reader = _Reader(jobs.get())
    pickle.dump("ready", answers)
    answers.flush()
    while True:
        name, arguments = jobs.get()
        try:
            answer = pickle.dumps((True, getattr(reader, name)(*arguments)), protocol=5)
        except Exception as error:  # the one who gave the job is told
            answer = pickle.dumps((False, f"{type(error).__name__}: {error}"))
        answers.write(answer)
        answers.flush()


def _take_jobs(given: BinaryIO, jobs: "SimpleQueue[Any]") -> None:
    try:
        while True:
            jobs.put(pickle.load(given))  # noqa: S301 - written by the process that started this one
    finally:
        os._exit(0)
