"""Pages that are pending -> committed or released; whoever waits for one of them is told.

A claim is ended before the filter is told of it, so that a fault there leaves nobody waiting.
Everything committed is flushed at once: what a crawl has acknowledged outlives its process. What
could not be written is tried again after the next fate that could, and at the end; a release
also before the next claim, for until then the index takes the page for one that others repeat.
What is found to repeat it nevertheless is kept, unjudged.

A wait for a page of this crawl is bounded without a timer, which could not be the same with and
without a reactor: who has waited for longer than `LONGEST_WAIT` is let go when the next page
comes or is settled. If none comes any more, the crawl waits for that other page too. A page that
another process claimed tells nobody of its fate; it is asked for, less and less often.
"""

from functools import partial
from time import monotonic
from typing import NamedTuple
from weakref import WeakValueDictionary

from twisted.internet.defer import Deferred

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.model import Verdict
from dedup_filter.scrapy_plugin.desk import Answer, AtOnce, pause
from dedup_filter.scrapy_plugin.faults import Faults
from dedup_filter.scrapy_plugin.judgement import Judgement
from dedup_filter.scrapy_plugin.stats import CrawlStats
from dedup_filter.scrapy_plugin.visits import Visit

__all__ = ["LONGEST_WAIT", "Claims"]

LONGEST_WAIT = 60.0
"""Seconds that an item waits for the fate of its page's original; then it is kept."""
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
_MOST_AT_ONCE = 100
"""So many pages that could not be written are tried again after one that could."""


class _Waiter(NamedTuple):
    original: Judgement
    since: float
    woken: "Deferred[None]"


class _Fate(NamedTuple):
    verdict: Verdict
    is_released: bool


class Claims:
    """The pages of one crawl that are pending."""

    def __init__(
        self, pages: NearDuplicateFilter, desk: AtOnce, stats: CrawlStats, faults: Faults
    ) -> None:
        self._pages = pages
        self._desk = desk
        self._stats = stats
        self._faults = faults
        self._pending: dict[int, tuple[Judgement, Visit | None]] = {}
        self._elsewhere: WeakValueDictionary[int, Judgement] = WeakValueDictionary()
        """Stand-ins for pages that other processes claimed, and that pages here repeat."""
        self._waiters: list[_Waiter] = []
        self._unwritten: list[_Fate] = []
        """Settled, but for a fault of the filter."""

    def add(self, judgement: Judgement, visit: Visit | None) -> None:
        """Note a page that was just claimed."""
        verdict = judgement.verdict
        if verdict.is_duplicate and verdict.original_page is not None:
            judgement.original = self._original(verdict.original_page)
        if verdict.page is not None:  # there is none for a duplicate, if the index is in memory
            judgement.is_pending = True
            self._pending[verdict.page] = (judgement, visit)
        if judgement.original is None and verdict.original_page in self._unreleased():
            self.withdraw(judgement)
            judgement.give_up("error")

    def before_claim(self) -> None:
        """Write the releases that could not be, so that no page repeats one that came to nothing.

        With an index that is shared, `watch` does it: the twin waits for that page anyhow.
        """
        if not self._pages.is_shared and self._unreleased():
            self._write_again(_MOST_AT_ONCE)

    def of(self, visit: Visit) -> list[Judgement]:
        """Return the judgements on pending pages of a visit."""
        return [judgement for judgement, by in self._pending.values() if by is visit]

    def visit(self, judgement: Judgement) -> Visit | None:
        """Return the visit that brought a pending page."""
        return self._pending[judgement.verdict.page or 0][1]

    def commit(self, judgement: Judgement) -> None:
        """Let a page count as seen. One that is not pending is left as it is."""
        if self._end(judgement):
            self._write([_Fate(judgement.verdict, is_released=False)])
            self.wake()

    def release(self, judgement: Judgement) -> None:
        """Forget a page, so that its twin can be kept. One not pending is left as it is."""
        if not self._end(judgement):
            return
        judgement.is_released = True
        if not judgement.verdict.is_duplicate:
            self._stats.add("released")
        self._write([_Fate(judgement.verdict, is_released=True)])
        self.wake()

    def withdraw(self, judgement: Judgement) -> None:
        """Forget a duplicate of whose original no fate will be known; its item is kept."""
        if self._end(judgement):
            self._write([_Fate(judgement.verdict, is_released=True)])

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

    async def watch(self, judgement: Judgement, original: Judgement) -> str:
        """Ask for the fate of a page of another process until it is known, or nobody cares.

        Return the reason for which a page stays unjudged if it is still waiting then.
        """
        latest, seconds = monotonic() + LONGEST_WAIT, _FIRST_PAUSE
        while judgement.waits:
            fate = await self._desk.ask(partial(self._pages.fate, original.verdict.page or 0))
            found = self._faults.guard(fate.result, lambda: None)
            if found is None:
                return "error"
            if found != "pending":
                original.is_pending = False
                original.is_released = found == "gone"
            elif monotonic() > latest:
                break
            else:
                self._write_again(_MOST_AT_ONCE)  # it may be one of those
                await pause(seconds)
                seconds = min(2 * seconds, _LONGEST_PAUSE)
        return "pending"

    async def close(self) -> None:
        """Try once more to write what could not be, and release what is still pending."""
        await self._desk.ask(lambda: None)  # what is still to be written is, or has failed
        self._write_again(len(self._unwritten))
        for judgement, _ in list(self._pending.values()):
            self.release(judgement)

    def _original(self, page: int) -> Judgement | None:
        """Return the judgement on a page that is pending here, or may be elsewhere."""
        if page in self._pending:
            return self._pending[page][0]
        if not self._pages.is_shared:
            return None
        # One that was settled here while its twin was being judged is asked for, too.
        known = self._elsewhere.get(page)
        if known is None or known.is_released:
            known = Judgement(Verdict("new", page=page), "", is_pending=True, is_elsewhere=True)
            self._elsewhere[page] = known
        return known

    def _end(self, judgement: Judgement) -> bool:
        if not judgement.is_pending:
            return False
        judgement.is_pending = False
        del self._pending[judgement.verdict.page or 0]
        return True

    def _write(self, fates: list[_Fate], *, is_another_try: bool = False) -> None:
        """Tell the filter what became of pages, and wait for nothing."""
        left = list(fates)

        def write() -> bool:
            while left:
                verdict, is_released = left[0]
                (self._pages.release if is_released else self._pages.commit)(verdict)
                self._pages.flush()
                del left[0]
            return True

        def then(done: Answer[bool]) -> None:
            self._stats.add("seconds", done.seconds)
            is_written = self._faults.guard(done.result, lambda: False)
            self._unwritten += left
            if is_written:
                self._faults.outage.answered()
                if not is_another_try:
                    self._write_again(_MOST_AT_ONCE)

        self._desk.tell(write, then)

    def _unreleased(self) -> set[int | None]:
        """Return the pages that came to nothing, and that the index still holds."""
        return {fate.verdict.page for fate in self._unwritten if fate.is_released}

    def _write_again(self, most: int) -> None:
        if self._unwritten:
            again, self._unwritten = self._unwritten[:most], self._unwritten[most:]
            self._write(again, is_another_try=True)
