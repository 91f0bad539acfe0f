"""Pages that are pending -> committed or released; whoever waits for one of them is told.

A claim is ended before the filter is told of it, so that a fault there leaves nobody waiting.
Everything committed is flushed at once: what a crawl has acknowledged outlives its process.

A wait is bounded without a timer, which could not be the same with and without a reactor: who
has waited for longer than `LONGEST_WAIT` is let go when the next page comes or is settled. If
none comes any more, the crawl waits for that other page too.
"""

from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

from twisted.internet.defer import Deferred

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.model import Verdict
from dedup_filter.scrapy_plugin.faults import Faults
from dedup_filter.scrapy_plugin.judgement import Judgement
from dedup_filter.scrapy_plugin.stats import CrawlStats
from dedup_filter.scrapy_plugin.visits import Visit

__all__ = ["LONGEST_WAIT", "Claims"]

LONGEST_WAIT = 60.0
"""Seconds that an item waits for the fate of its page's original; then it is kept."""


class _Waiter(NamedTuple):
    original: Judgement
    since: float
    woken: "Deferred[None]"


class Claims:
    """The pages of one crawl that are pending."""

    def __init__(self, pages: NearDuplicateFilter, stats: CrawlStats, faults: Faults) -> None:
        self._pages = pages
        self._stats = stats
        self._faults = faults
        self._pending: dict[int, tuple[Judgement, Visit | None]] = {}
        self._waiters: list[_Waiter] = []
        self._unwritten: list[Verdict] = []
        """Committed, but for a fault of the filter."""

    def add(self, judgement: Judgement, visit: Visit | None) -> None:
        """Note a page that was just claimed."""
        verdict = judgement.verdict
        if verdict.is_duplicate and verdict.original_page in self._pending:
            judgement.original = self._pending[verdict.original_page][0]
        if verdict.page is not None:  # there is none for a duplicate, if the index is in memory
            judgement.is_pending = True
            self._pending[verdict.page] = (judgement, visit)

    def of(self, visit: Visit) -> list[Judgement]:
        """Return the judgements on pending pages of a visit."""
        return [judgement for judgement, by in self._pending.values() if by is visit]

    def visit(self, judgement: Judgement) -> Visit | None:
        """Return the visit that brought a pending page."""
        return self._pending[judgement.verdict.page or 0][1]

    def commit(self, judgement: Judgement) -> None:
        """Let a page count as seen. One that is not pending is left as it is."""
        if not self._end(judgement):
            return
        if not self._is_written(self._pages.commit, judgement.verdict):
            self._unwritten.append(judgement.verdict)
        self.wake()

    def release(self, judgement: Judgement) -> None:
        """Forget a page, so that its twin can be kept. One not pending is left as it is."""
        if not self._end(judgement):
            return
        judgement.is_released = True
        if not judgement.verdict.is_duplicate:
            self._stats.add("released")
        self._is_written(self._pages.release, judgement.verdict)
        self.wake()

    def withdraw(self, judgement: Judgement) -> None:
        """Forget a duplicate whose original is pending for too long; its item is kept."""
        if self._end(judgement):
            self._is_written(self._pages.release, judgement.verdict)

    def await_fate(self, original: Judgement) -> "Deferred[None]":
        """Return what fires when a page is settled, or has been waited for too long."""
        waiter = _Waiter(original, monotonic(), Deferred())
        self._waiters.append(waiter)
        return waiter.woken

    def is_awaited(self, judgement: Judgement) -> bool:
        """Tell whether somebody waits for the fate of a page."""
        return any(waiter.original is judgement for waiter in self._waiters)

    def wake(self) -> None:
        """Wake all whose original is settled, and those who have waited for too long.

        Each may at once claim, settle or wait again.
        """
        latest = monotonic() - LONGEST_WAIT
        done: list[_Waiter] = []
        waiting: list[_Waiter] = []
        for waiter in self._waiters:
            is_done = not waiter.original.is_pending or waiter.since < latest
            (done if is_done else waiting).append(waiter)
        self._waiters = waiting
        for waiter in done:
            waiter.woken.callback(None)

    def close(self) -> None:
        """Release what is still pending, and try once more to write what could not be."""
        for judgement, _ in list(self._pending.values()):
            self.release(judgement)
        while self._unwritten and self._is_written(self._pages.commit, self._unwritten[-1]):
            self._unwritten.pop()

    def _end(self, judgement: Judgement) -> bool:
        if not judgement.is_pending:
            return False
        judgement.is_pending = False
        del self._pending[judgement.verdict.page or 0]
        return True

    def _is_written(self, tell: Callable[[Verdict], None], verdict: Verdict) -> bool:
        def write() -> bool:
            tell(verdict)
            self._pages.flush()
            return True

        with self._stats.clock():
            return self._faults.guard(write, lambda: False)
