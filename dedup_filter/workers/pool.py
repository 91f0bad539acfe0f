"""Pages -> read and measured by several worker processes, the least busy one for each.

    pool.read(source)  -> the future page in a worker; its blocks stay there
    page.ask(known)    -> the worker measures it meanwhile
    page.measure(known)-> its profile; the worker measures it again if something else is known now

Whatever a worker cannot do, because it has died or has forgotten a page, is done here.
"""

import os
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from itertools import count
from typing import NamedTuple

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import FRAME_TIMES
from dedup_filter.model import Unjudged
from dedup_filter.text import Page, Shown, WantedParts
from dedup_filter.text.reading import read
from dedup_filter.workers.measured import FrameTimes, MeasurablePage, Measured, PageHere, measurable
from dedup_filter.workers.worker import LostWorkerError, SlowWorkerError, Worker

__all__ = ["PageInWorker", "Pool", "Source", "worker_count"]

_TIME_LIMIT = 30.0
"""Seconds that a worker may take for one page: some hundred times as long as the largest take."""
_MOST_AUTOMATIC = 4
"""Workers for "auto": one crawl's thread hardly has more pages to read than so many can."""


class Source(NamedTuple):
    """What a page is read from."""

    html: str | bytes | None
    text: str | None
    content_type: str | None
    wanted: WantedParts

    def read(self, config: FilterConfig) -> MeasurablePage | Measured | Unjudged:
        """Read it in this process."""
        return measurable(read(*self), config)


class Pool:
    """Several workers; their processes are started as they are needed."""

    def __init__(self, config: FilterConfig, workers: int, time_limit: float = _TIME_LIMIT) -> None:
        self._config = config
        self._workers = [Worker(config, time_limit) for _ in range(workers)]
        self._tickets = count(1)
        self._dropped: dict[Worker, list[int]] = {worker: [] for worker in self._workers}

    def read(self, source: Source) -> Future[MeasurablePage | Measured | Unjudged | Source]:
        """Return the future page; it is the source itself if no worker could read it."""
        worker, ticket = self._least_busy(), next(self._tickets)
        dropped, self._dropped[worker] = self._dropped[worker], []
        answer = worker.submit("read", ticket, *source, dropped)
        page: Future[MeasurablePage | Measured | Unjudged | Source] = Future()

        def pass_on(answered: Future[Shown | Measured | Unjudged]) -> None:
            if not page.set_running_or_notify_cancel():
                return
            try:
                read = answered.result()
            except SlowWorkerError:
                page.set_result(Unjudged("too_slow"))
            except LostWorkerError:
                page.set_result(source)
            else:
                if isinstance(read, Shown):
                    again = partial(self._read_here, source)
                    page.set_result(PageInWorker(self, worker, ticket, read, again))
                else:
                    page.set_result(read)

        answer.add_done_callback(pass_on)
        return page

    def unpack(self, packed: bytes) -> MeasurablePage:
        """Return a page that was packed. Waits for a worker.

        Raises:
            ValueError: another version of this package packed it.
        """
        worker, ticket = self._least_busy(), next(self._tickets)
        again = partial(PageHere.unpacked, packed, self._config)
        try:
            shown = worker.submit("unpack", ticket, packed, is_urgent=True).result()
        except LostWorkerError:
            return again()
        return PageInWorker(self, worker, ticket, shown, again)

    def drop(self, worker: Worker, ticket: int) -> None:
        """Let a worker forget a page when it is given the next one."""
        self._dropped[worker].append(ticket)

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [worker.pid for worker in self._workers if worker.pid is not None]

    def __len__(self) -> int:
        """Count the workers."""
        return len(self._workers)

    def close(self) -> None:
        """End all processes."""
        for worker in self._workers:
            worker.close()

    def _least_busy(self) -> Worker:
        return min(self._workers, key=lambda each: each.backlog)

    def _read_here(self, source: Source) -> PageHere:
        page = source.read(self._config)
        assert isinstance(page, PageHere), "a worker has read the same bytes otherwise"
        return page


class PageInWorker:
    """A page whose blocks are in a worker's process."""

    here: Page | None = None

    def __init__(
        self,
        pool: Pool,
        worker: Worker,
        ticket: int,
        shown: Shown,
        again: Callable[[], PageHere],
    ) -> None:
        self.shown = shown
        self._pool = pool
        self._worker = worker
        self._ticket = ticket
        self._again = again
        self._asked: tuple[tuple[bytes, bool], Future[Measured]] | None = None
        self._here: PageHere | None = None

    def ask(self, known: FrameTimes) -> Future[Measured]:
        """Let the worker measure it, unless it was asked to with the same knowledge."""
        # What is shown more often is frame all the same; -1 is possible, see `framed_pages`.
        # A call of `min` for each of hundreds of blocks would take as long as all else here.
        most, frame = FRAME_TIMES, FRAME_TIMES + 1
        times = bytes([frame if each > most else each + 1 for each in known.times])
        key = times, known.is_frame_known
        if self._asked is None or self._asked[0] != key:
            job = self._worker.submit("measure", self._ticket, *key, is_urgent=True)
            self._asked = key, job
        return self._asked[1]

    def measure(self, known: FrameTimes) -> Measured:
        """Measure it. Waits for the worker, some milliseconds, if this was not asked for before."""
        if self._here is None:
            try:
                return self.ask(known).result()
            except LostWorkerError:
                self._here = self._again()
        return self._here.measure(known)

    def pack(self) -> bytes:
        """Return it as bytes."""
        if self._here is None:
            try:
                packed: bytes = self._worker.submit("pack", self._ticket, is_urgent=True).result()
            except LostWorkerError:
                self._here = self._again()
            else:
                return packed
        return self._here.pack()

    def drop(self) -> None:
        """Let the worker forget it."""
        self._pool.drop(self._worker, self._ticket)


def worker_count(workers: int | str) -> int:
    """Return the number of workers that is meant: "auto" is one less than there are cores."""
    if isinstance(workers, int):
        return workers
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min((cores or 1) - 1, _MOST_AUTOMATIC)
