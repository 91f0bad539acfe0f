"""Claimed pages: the index is told what became of them, and duplicates wait for their originals.

A claim ends here before the index is told, so that a fault there leaves nobody waiting. Each
commit is flushed at once: it must outlive the process. A write that failed is retried after the
next one that succeeds, and at the end of the crawl. A failed release is retried before the next
claim too, for until then the index takes the page for one that others repeat; a page that is found
to repeat it nevertheless is kept, unjudged.

A wait for a page of this crawl ends without a timer, because timers differ with and without a
reactor: who has waited for longer than `LONGEST_WAIT` is let go when the next page comes or is
committed or released. If none comes any more, the crawl waits for that other page too. What
becomes of a page that another process claimed is asked of the index, less and less often.
"""

from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.model import Verdict
from dedup_filter.scrapy_plugin.faults import Faults
from dedup_filter.scrapy_plugin.index_calls import Answer, IndexCalls, pause
from dedup_filter.scrapy_plugin.page_fate import Event, Judgement, State
from dedup_filter.scrapy_plugin.stats import CrawlStats

if TYPE_CHECKING:
    from dedup_filter.scrapy_plugin.items import Visit

__all__ = ["LONGEST_WAIT", "Claims"]

LONGEST_WAIT = 60.0
"""Seconds that an item waits for the fate of its page's original; then it is kept."""
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
_MOST_RETRIES = 100
"""Failed writes that are retried after one that succeeded."""


class _Waiter(NamedTuple):
    original: Judgement
    since: float
    woken: "Deferred[None]"


class Claims:
    """The claimed pages of one crawl."""

    def __init__(
        self, pages: NearDuplicateFilter, calls: IndexCalls, stats: CrawlStats, faults: Faults
    ) -> None:
        self._pages = pages
        self._calls = calls
        self._stats = stats
        self._faults = faults
        self._claimed: dict[int, tuple[Judgement, Visit | None]] = {}
        self._elsewhere: WeakValueDictionary[int, Judgement] = WeakValueDictionary()
        """Stand-ins for pages that other processes claimed, and that pages here repeat."""
        self._waiters: list[_Waiter] = []
        self._unwritten: list[Judgement] = []
        """Pages whose commit or release failed."""

    def add(self, judgement: Judgement, visit: "Visit | None") -> None:
        """Note a page that was just claimed; `visit` is what brought it."""
        verdict = judgement.verdict
        if verdict.original_page is not None and verdict.is_duplicate:
            judgement.original = self._original(verdict.original_page)
        if verdict.page is not None:  # an index in memory may record no duplicates
            judgement.move(Event.CLAIM)
            self._claimed[verdict.page] = (judgement, visit)
        if judgement.original is None and verdict.original_page in self._unreleased():
            self.give_up(judgement, "error")

    def of(self, visit: "Visit") -> list[Judgement]:
        """Return the judgements on claimed pages of a visit."""
        return [judgement for judgement, by in self._claimed.values() if by is visit]

    def visit(self, judgement: Judgement) -> "Visit | None":
        """Return the visit that brought a claimed page."""
        return self._claimed[judgement.verdict.page or 0][1]

    def end(self, judgement: Judgement, event: Event) -> None:
        """Let an event move a page; if its claim ends, tell the index and wake who waits."""
        if not judgement.move(event):
            return
        del self._claimed[judgement.verdict.page or 0]
        if judgement.state is State.RELEASED and not judgement.verdict.is_duplicate:
            self._stats.add("released")
        self._write([judgement])
        self.wake()

    def give_up(self, judgement: Judgement, reason: str = "pending") -> None:
        """Keep a duplicate, unjudged, because its original's fate will not be known."""
        judgement.mark_unjudged(reason)
        self.end(judgement, Event.ORIGINAL_UNKNOWN)

    async def wait(self, judgement: Judgement, reconsider: Callable[[Judgement], None]) -> None:
        """Wait for a page's original; afterwards the judgement holds, is void or is given up.

        `reconsider` is called with an original of this crawl, for which somebody waits now.
        """
        original = judgement.original
        if original is None or not original.is_claimed:
            return
        reason = "pending"
        if original.is_elsewhere:
            reason = await self._watch(judgement, original)
        else:
            waiter = _Waiter(original, monotonic(), Deferred())
            self._waiters.append(waiter)
            try:
                reconsider(original)
            except Exception as fault:
                self._faults.report(fault)
            await maybe_deferred_to_future(waiter.woken)
        if judgement.is_void:
            self.end(judgement, Event.ORIGINAL_RELEASED)
        elif judgement.waits:
            self.give_up(judgement, reason)

    def is_awaited(self, judgement: Judgement) -> bool:
        """Tell whether somebody waits for the fate of a page."""
        return any(waiter.original is judgement for waiter in self._waiters)

    def wake(self) -> None:
        """Wake all whose original's claim has ended, and those who have waited for too long.

        Each may at once claim, commit, release or wait again.
        """
        latest = monotonic() - LONGEST_WAIT
        waiters, self._waiters = self._waiters, []
        woken: list[_Waiter] = []
        for waiter in waiters:
            is_over = not waiter.original.is_claimed or waiter.since < latest
            (woken if is_over else self._waiters).append(waiter)
        for waiter in woken:
            waiter.woken.callback(None)

    def retry_releases(self) -> None:
        """Retry failed releases before a claim, so that no page repeats a released one.

        A shared index needs none: who repeats such a page waits for it, and `_watch` retries.
        """
        if not self._calls.are_shared and self._unreleased():
            self._retry(_MOST_RETRIES)

    async def close(self) -> None:
        """Retry all writes that failed, and release what is still claimed."""
        await self._calls.ask(lambda: None)  # all earlier writes have succeeded or failed
        self._retry(len(self._unwritten))
        for judgement, _ in list(self._claimed.values()):
            self.end(judgement, Event.CRAWL_ENDED)

    async def _watch(self, judgement: Judgement, original: Judgement) -> str:
        """Ask for the fate of a page of another process until it is known or nobody waits.

        Return the reason for which a page stays unjudged if it is still waiting then.
        """
        latest, seconds = monotonic() + LONGEST_WAIT, _FIRST_PAUSE
        while judgement.waits:
            answer = await self._calls.ask(partial(self._pages.fate, original.verdict.page or 0))
            if answer.fault is not None:
                self._faults.report(answer.fault)
                return "error"
            fate = answer.result()
            if fate != "pending":
                original.move(Event.GONE_ELSEWHERE if fate == "gone" else Event.KEPT_ELSEWHERE)
            elif monotonic() > latest:
                break
            else:
                self._retry(_MOST_RETRIES)  # its release may be one that failed here
                await pause(seconds)
                seconds = min(2 * seconds, _LONGEST_PAUSE)
        return "pending"

    def _original(self, page: int) -> Judgement | None:
        """Return the judgement on a page that is claimed here, or may be by another process."""
        if page in self._claimed:
            return self._claimed[page][0]
        if not self._calls.are_shared:
            return None
        # A page whose claim ended here while its twin was being judged is asked for, too.
        known = self._elsewhere.get(page)
        if known is None or known.state is State.RELEASED:
            known = Judgement(Verdict("new", page=page), "", is_elsewhere=True)
            known.move(Event.CLAIM)
            self._elsewhere[page] = known
        return known

    def _write(self, ended: list[Judgement], *, is_retry: bool = False) -> None:
        """Tell the index what became of pages, and wait for nothing."""
        left = list(ended)

        def write() -> None:
            while left:
                is_kept = left[0].state is State.COMMITTED
                (self._pages.commit if is_kept else self._pages.release)(left[0].verdict)
                self._pages.flush()
                del left[0]

        def then(answer: Answer[None]) -> None:
            self._stats.add("seconds", answer.seconds)
            self._unwritten += left
            if answer.fault is not None:
                self._faults.report(answer.fault)
                return
            if self._faults.outage_began is not None:
                self._faults.note_answer()
            if not is_retry:
                self._retry(_MOST_RETRIES)

        self._calls.tell(write, then)

    def _retry(self, most: int) -> None:
        if self._unwritten:
            again, self._unwritten = self._unwritten[:most], self._unwritten[most:]
            self._write(again, is_retry=True)

    def _unreleased(self) -> set[int | None]:
        """Return the released pages that the index still holds."""
        return {page.verdict.page for page in self._unwritten if page.state is not State.COMMITTED}
