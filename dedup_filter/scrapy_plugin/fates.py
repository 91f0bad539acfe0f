"""What becomes of items decides what becomes of their pages: committed, released, waited for.

    an item went through (item_scraped)                   its page is committed
    none of a page's items did, and no more can come      the page is released
    its items are dropped, as a duplicate                 the page is committed, as a duplicate
    its original was released                             the page is released, and judged anew
    the fate of its original is not known in time         the page is forgotten, its item kept

Items. A pipeline is not told the response. The spider middleware sees both, so it notes here which
object it lets pass, and the pipeline asks for it by identity. No more items can come when the
response's output has ended and the outcome of each of its items is known. If another page waits for
this one, it is enough that an item came to nothing and no other is on its way: one that comes later
is judged anew. An item that a later pipeline made anew is known by its response only: its outcome
is held until as many items of that are left as there are outcomes held. Of items whose outcome is
not known the pages are released: a page wrongly committed loses its content (its copies are
dropped), one wrongly released only lets a copy through.

Claims. A claim ends here before the index is told, so that a fault there leaves nobody waiting.
Each commit is flushed at once: it must outlive the process. A write that failed is tried again with
the next one, and at the end of the crawl. Until then the index takes a page that could not be
released for one that others repeat; a page that is found to repeat it is kept, unjudged.

Waits. Whoever waits for a page looks again, less and less often, whether its claim has ended; where
another process claimed it, the index is asked.
"""

from collections import Counter
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from itemadapter import ItemAdapter
from scrapy.http import Response

from dedup_filter.errors import StoreAway
from dedup_filter.model import Fate, Verdict
from dedup_filter.scrapy_plugin.index_calls import IndexCalls, pause
from dedup_filter.scrapy_plugin.stats import NOT_JUDGED, CrawlStats, Faults
from dedup_filter.scrapy_plugin.visits import Judgement, Passage, Visit
from dedup_filter.text.page_fields import FieldNames, url_in

__all__ = ["LONGEST_WAIT", "Fates"]

LONGEST_WAIT = 60.0
"""Seconds that an item waits for the fate of its page's original; then it is kept."""
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0


class Fates:
    """The items of one crawl on their way, and the claimed pages that wait for their outcomes."""

    def __init__(
        self, calls: IndexCalls, stats: CrawlStats, faults: Faults, names: FieldNames
    ) -> None:
        self._pages = calls.pages
        self._calls = calls
        self._stats = stats
        self._faults = faults
        self._names = names
        self._visits: WeakKeyDictionary[Response, Visit] = WeakKeyDictionary()
        self._giving: WeakValueDictionary[int, Visit] = WeakValueDictionary()
        """By identity: visits that have given items which have not reached the pipeline."""
        self._under_way: list[Passage] = []
        """Items in the pipelines that follow."""
        self._held: Counter[Visit | None] = Counter()
        """Items of a visit that went through, and may be any of those under way."""
        self._claimed: dict[int, tuple[Judgement, Visit | None]] = {}
        self._unwritten: list[Judgement] = []
        """Pages whose commit or release failed."""

    def visit(self, response: Response) -> Visit | None:
        """Return the visit of a response, a new one the first time; None: it cannot be read."""
        try:
            visit = self._visits.get(response)
            if visit is None:
                visit = self._visits[response] = Visit(response)
                if visit.opted_out:
                    self._stats.add("opted_out")
        except Exception as fault:
            self._faults.report(fault, NOT_JUDGED)
            return None
        return visit

    def expect(self, item: Any, visit: Visit) -> None:
        """Note that an item of a response is on its way to the pipeline."""
        visit.gave_items = True
        visit.items_to_come += 1
        visit.expected.append(item)
        self._giving[id(visit)] = visit

    def output_ended(self, visit: Visit | None, *, has_failed: bool) -> None:
        """Note that a response gives no more items, and act on what follows for its pages."""
        if visit is not None:
            visit.has_ended = True
            visit.has_failed = has_failed
            own = visit.page and visit.page.judgement
            # If it waits for its original, the items to come will tell what became of that.
            if own and not own.is_void and not (own.waits and visit.gave_items):
                self._stats.page(own)
            self._settle(visit)

    def arrive(self, item: Any) -> Passage:
        """Return the item that came to the pipeline, with the visit that brought it.

        An item that another pipeline made anew is known by its page's URL, if only one visit
        under way has that URL.
        """
        url = url_in(ItemAdapter(item), self._names) if ItemAdapter.is_item(item) else None
        for visit in list(self._giving.values()):
            for place, expected in enumerate(visit.expected):
                if expected is item:
                    del visit.expected[place]
                    if not visit.expected:
                        del self._giving[id(visit)]
                    return Passage(item, url, visit)
        there = [visit for visit in self._visits.values() if visit.url == url]
        return Passage(item, url, there[0] if len(there) == 1 else None)

    def go_on(self, passage: Passage) -> None:
        """Note an item that goes on to the pipelines that follow."""
        self._under_way.append(passage)

    def came_out(self, item: Any, response: Any, *, went_through: bool | None) -> None:
        """Act on the outcome of an item; None: it was dropped because of its page's verdict."""
        visit = self._visits.get(response) if isinstance(response, Response) else None
        if visit is not None and visit.items_to_come:
            visit.items_to_come -= 1
        passages = [passage for passage in self._under_way if passage.item is item]
        if went_through is not None and passages:
            likeliest = min(passages, key=lambda passage: passage.visit is not visit)
            self._end_passage(likeliest, went_through)
        elif went_through:
            self._held[visit] += 1
        self._settle(visit)

    def add(self, judgement: Judgement, visit: Visit | None) -> None:
        """Note a page that was just judged; `visit` is what brought it."""
        verdict = judgement.verdict
        if verdict.page is not None:  # an index in memory may record no duplicates
            judgement.fate = "pending"
            self._claimed[verdict.page] = (judgement, visit)
        if verdict.original_page is None or not verdict.is_duplicate:
            return
        unreleased = {page.verdict.page for page in self._unwritten if page.fate != "kept"}
        if verdict.original_page in self._claimed:
            judgement.original = self._claimed[verdict.original_page][0]
        elif self._calls.are_shared:
            # Also if its claim ended here while this one was judged.
            original = Verdict("new", page=verdict.original_page)
            judgement.original = Judgement(original, "", is_elsewhere=True, fate="pending")
        elif verdict.original_page in unreleased:
            self.give_up(judgement, "error")

    def end(self, judgement: Judgement, fate: Fate | None) -> None:
        """If a page is claimed, end that, and tell the index; None: its verdict stands."""
        if judgement.fate != "pending":
            return
        judgement.fate = fate
        del self._claimed[judgement.verdict.page or 0]
        if fate == "gone" and not judgement.verdict.is_duplicate:
            self._stats.add("released")
        self._write(judgement)

    def give_up(self, judgement: Judgement, reason: str = "pending") -> None:
        """Keep a duplicate, unjudged, because its original's fate will not be known."""
        judgement.original = None
        judgement.verdict = judgement.verdict.as_unjudged(reason)
        self.end(judgement, None)

    async def wait(self, judgement: Judgement) -> None:
        """Wait for a page's original; afterwards the judgement holds, is void or is given up."""
        original, reason = judgement.original, "pending"
        latest, seconds = monotonic() + LONGEST_WAIT, _FIRST_PAUSE
        try:
            while original is not None and judgement.waits and monotonic() < latest:
                if original.is_elsewhere:
                    self._write()  # its release may be one that failed here
                    page = original.verdict.page or 0
                    original.fate = await self._calls.ask(partial(self._pages.fate, page))
                else:
                    original.is_awaited = True
                    self._reconsider(original)
                if judgement.waits:
                    await pause(seconds)
                    seconds = min(2 * seconds, _LONGEST_PAUSE)
        except Exception as fault:
            self._faults.report(fault)
            reason = "error"
        if judgement.is_void:
            self.end(judgement, "gone")
        elif judgement.waits:
            self.give_up(judgement, reason)

    async def close(self) -> None:
        """Try all writes again that failed, and release what is still claimed."""
        with suppress(StoreAway):
            await self._calls.ask(lambda: None)  # all earlier writes have succeeded or failed
        self._write()
        for judgement, _ in list(self._claimed.values()):
            self.end(judgement, "gone")

    def _settle(self, visit: Visit | None) -> None:
        """Act on the outcomes that are known of a visit's items.

        Those that are left are the ones made anew, if as many of these went through. If no more
        outcomes are to come, they are lost.
        """
        is_over = visit is not None and visit.has_ended and not visit.items_to_come
        left = [passage for passage in self._under_way if passage.visit is visit]
        went_through = len(left) <= self._held[visit]
        if went_through or is_over:
            del self._held[visit]
            for passage in left:
                self._end_passage(passage, went_through)
        if is_over:
            for judgement, brought_by in list(self._claimed.values()):
                if brought_by is visit:
                    self._reconsider(judgement)

    def _reconsider(self, judgement: Judgement) -> None:
        """Commit or release a page if no more is to be learnt of its items."""
        if judgement.fate != "pending" or any(
            passage.judgement is judgement for passage in self._under_way
        ):
            return
        _, visit = self._claimed[judgement.verdict.page or 0]
        if visit is not None and visit.gave_only_links:
            self.end(judgement, "kept")
        elif visit is None or visit.is_over or (judgement.has_lost_items and judgement.is_awaited):
            self.end(judgement, "gone")

    def _end_passage(self, passage: Passage, went_through: bool) -> None:
        """Act on the outcome of an item that is known."""
        self._under_way.remove(passage)
        judgement = passage.judgement
        if judgement is not None and went_through:
            self.end(judgement, "kept")
        elif judgement is not None:
            judgement.has_lost_items = True
            self._reconsider(judgement)

    def _write(self, *ended: Judgement) -> None:
        """Tell the index what became of pages, and wait for nothing."""
        left, self._unwritten = [*ended, *self._unwritten], []

        def write() -> None:
            while left:
                is_kept = left[0].fate == "kept"
                (self._pages.commit if is_kept else self._pages.release)(left[0].verdict)
                self._pages.flush()
                del left[0]

        def then(written: Future[None]) -> None:
            self._unwritten += [*left[1:], *left[:1]]  # one that always fails holds up no other
            fault = written.exception()
            if fault is not None:
                self._faults.report(fault)
            elif self._faults.is_away:
                self._faults.note_answer()

        if left:
            self._calls.tell(write, then)
