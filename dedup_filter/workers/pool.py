"""Pages -> read and measured by several worker processes, the least busy one for each.

    pool.read(source)    the page in a worker, handed over when it is read; its blocks stay there
    page.ask(known)      the worker measures it meanwhile
    page.measure(known)  its profile; the worker measures it again if something else is known now

Whatever a worker cannot do, because it has died or has forgotten a page, is done here.
"""

import logging
import os
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache, partial
from itertools import count
from typing import cast

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import FRAME_TIMES
from dedup_filter.model import Unjudged
from dedup_filter.text import Page, Shown
from dedup_filter.workers.measured import FrameTimes, MeasurablePage, Measured, PageHere, Source
from dedup_filter.workers.worker import LostWorkerError, SlowWorkerError, Worker

__all__ = ["PageInWorker", "Pool", "worker_count"]

_TIME_LIMIT = 30.0
"""Seconds that a worker may take for one page: some hundred times as long as the largest take."""
_MOST_AUTOMATIC = 4
"""Workers for "auto": one crawl's thread hardly has more pages to read than so many can."""
_MOST_STILLBORN = 3
"""Processes in a row that end without any answer; then no other is started."""

_Content = MeasurablePage | Measured | Unjudged | Source
_Again = Callable[[], PageHere]

logger = logging.getLogger(__name__)


class Pool:
    """Several workers; each is started when all before it are busy, and replaced when it ends."""

    def __init__(self, config: FilterConfig, workers: int, time_limit: float = _TIME_LIMIT) -> None:
        self.most = workers
        self._config = config
        self._time_limit = time_limit
        self._workers: list[Worker] = []
        self._stillborn = 0
        self._tickets = count(1)

    def read(self, source: Source, take: Callable[[_Content], None]) -> None:
        """Hand the page to `take` when it is read; the source itself if no worker could read it."""
        worker, ticket = self._least_busy(), next(self._tickets)
        if worker is None:
            take(source)
            return

        def pass_on(answered: Future[Shown | Measured | Unjudged]) -> None:
            try:
                read = answered.result()
            except SlowWorkerError:
                take(Unjudged("too_slow"))
            except LostWorkerError:
                take(source)
            else:
                if isinstance(read, Shown):
                    again = partial(source.read, self._config)  # the same bytes: a page again
                    take(PageInWorker(worker, ticket, read, cast("_Again", again)))
                else:
                    take(read)

        dropped, worker.dropped = worker.dropped, []
        worker.submit("read", ticket, source, dropped).add_done_callback(pass_on)

    def unpack(self, packed: bytes) -> MeasurablePage:
        """Return a page that was packed. Waits for a worker.

        Raises:
            ValueError: another version of this package packed it.
        """
        worker, ticket = self._least_busy(), next(self._tickets)
        again = partial(PageHere.unpacked, packed, self._config)
        try:
            if worker is not None:
                shown = worker.submit("unpack", ticket, packed, is_urgent=True).result()
                return PageInWorker(worker, ticket, shown, again)
        except LostWorkerError:
            pass
        return again()

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


class PageInWorker:
    """A page whose blocks are in a worker's process; it is read again here if that has ended."""

    def __init__(self, worker: Worker, ticket: int, shown: Shown, again: _Again) -> None:
        self.here: Page | None = None
        self.shown = shown
        self._worker = worker
        self._ticket = ticket
        self._again = cache(again)
        self._asked: tuple[tuple[bytes, bool], Future[Measured]] | None = None

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
        try:
            return self.ask(known).result()
        except LostWorkerError:
            return self._again().measure(known)

    def pack(self) -> bytes:
        """Return it as bytes."""
        packed: Future[bytes] = self._worker.submit("pack", self._ticket, is_urgent=True)
        try:
            return packed.result()
        except LostWorkerError:
            return self._again().pack()

    def drop(self) -> None:
        """Let the worker forget it when it is given the next page."""
        self._worker.dropped.append(self._ticket)


def worker_count(workers: int | str) -> int:
    """Return the number of workers that is meant: "auto" is one less than there are cores."""
    if isinstance(workers, int):
        return workers
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min((cores or 1) - 1, _MOST_AUTOMATIC)
