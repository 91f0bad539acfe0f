"""Items and responses -> judgements; what becomes of items -> what becomes of their pages.

    item -> the page that it stands for -> read and claimed -> its original's fate -> judgement

    an item went through (item_scraped)                   its page is committed
    none of a page's items did, and no more can come      the page is released
    its items are dropped, as a duplicate                 the page is committed, as a duplicate
    its original was released                             the page is released, and judged anew
    the fate of its original is not known in time         the page is released, its item kept

Judging. An item is judged by its own fields if settings name them (DEDUP_SOURCE="item": always), or
if no response that is a page brought it; else by its response, as all items of that. No other
judgement comes between the look at what is known of a page and the end of its claim; and nothing is
awaited between a verdict and what is done about it. A fault is caught here, and the item is kept.

Items. A pipeline is not told the response. The spider middleware is, so it tells which object it
lets pass, and the pipeline asks for it by identity. No more items can come when the response's
output has ended and the outcome of each of its items is known. If another page waits for this one,
it is enough that an item was lost and no other is on its way: one that comes later is judged anew.
Of an item that a later pipeline replaced only the response is known, which counts it (`held`). When
no more of its items are under way than it has counted so, they are those. Pages of items whose
outcome is never known are released: a page wrongly committed loses its content (its copies are
dropped), one wrongly released only lets a copy through.

Claims. A claim ends here before the index is told, so that a fault there leaves nobody waiting.
Each commit is flushed at once: it must outlive the process. A write that failed is tried again with
the next one, and at the end of the crawl; what repeats a page that cannot be released is kept.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urljoin
from weakref import WeakKeyDictionary, WeakSet

from scrapy import Request
from scrapy.http import Response

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.model import REPEATS, Fate, Reason, Verdict
from dedup_filter.scrapy_plugin.index_calls import IndexCalls, pause
from dedup_filter.scrapy_plugin.item_fields import ItemFields
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.stats import NOT_JUDGED, CrawlStats, figures_of
from dedup_filter.scrapy_plugin.visits import Judgement, Page, Visit

_KEPT = ("new", "revisit")
"""Outcomes of pages that are kept when an item of theirs has gone through."""
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, *[1.0] * 58)
"""Seconds between looks at the fate of a page's original: a minute; then the item is kept, also
if so many originals came to nothing, one after the other."""

Result = TypeVar("Result")
Compare = Callable[[int, int, Callable[[float | None], None]], None]
"""Tells the similarity of two recorded pages, None if it is not known: see `Judge.compare`."""


class Judge:
    """Judge the items and responses of one crawl."""

    def __init__(
        self,
        settings: PluginSettings,
        pages: NearDuplicateFilter,
        stats: CrawlStats,
        saw: Callable[[Sequence[str], Verdict, Compare], None] | None = None,
    ) -> None:
        """Let `saw` be told of each page that is kept, or repeats a kept one, and its URLs."""
        self.settings = settings
        self.pages = pages
        self.stats = stats
        self._saw = saw
        self.drops = set() if settings.action == "tag" else set[str](REPEATS)
        """Outcomes of pages whose items are to be dropped."""
        if self.drops and pages.config.revisit == "drop":
            self.drops.add("revisit")
        self._fields = ItemFields(settings.field_names)
        # Fields that are named are asked as if the items alone were to be.
        is_by_names = settings.source == "auto" and self._fields.names.name_page
        self._source = "item" if is_by_names else settings.source
        self._reads_ahead = pages.has_workers and self._source != "item"
        self._calls = IndexCalls(pages, stats.spent)
        self._turn = asyncio.Lock()
        """Keeps other judgements out while a page is looked up and claimed. It is always free if
        calls are direct and no worker reads."""
        self._visits: WeakKeyDictionary[Response, Visit] = WeakKeyDictionary()
        self._giving: WeakSet[Visit] = WeakSet()
        """Visits that have given items which have not reached the pipeline."""
        self._nobody = Visit(None)
        """What brings items without a response."""
        self._claimed: dict[int | None, tuple[Judgement, Visit]] = {}
        """By the numbers of their pages: judgements whose fate is pending."""
        self._unwritten: list[Judgement] = []
        """Pages whose commit or release failed."""

    def expect(self, item: Any, response: Response) -> None:
        """Note that an item of a response is on its way to the pipeline."""
        visit = self._visit(response)
        if self._reads_ahead and visit.page is None and visit.is_one_page and not visit.opted_out:
            # It reaches the pipeline only after the callbacks of some sixty more responses.
            with suppress(Exception):  # it is met again, and told of, when the item is judged
                self._calls.read(visit.read())
        visit.gave_items = True
        visit.items_to_come += 1
        visit.expected.append(item)
        self._giving.add(visit)

    async def holds_back(self, request: Request, response: Response) -> bool:
        """Tell whether a request of a response's output is a link of a repeated page.

        Does not wait for the original's commit: the links are followed from there.
        """
        visit, own = self._visit(response), response.request
        # Of the two only that of the request has a fragment.
        if own is not None and request.url in (own.url, response.url):
            # A retry, or a link of a page to itself, which Scrapy filters out.
            visit.comes_again |= request.dont_filter or own.dont_filter
            return False
        if visit.opted_out or not visit.is_one_page:
            return False
        try:
            judgement = await self._judged(visit.read(), visit)
        except Exception as fault:
            judgement = self._failed(fault)
        if judgement.verdict.is_duplicate:
            self.stats.add("links_not_followed")
        return judgement.verdict.is_duplicate

    def output_ended(self, response: Response, *, has_failed: bool) -> None:
        """Note that a response gives no more items, and act on what follows for its pages."""
        visit = self._visit(response)
        if visit is not self._nobody:
            visit.has_ended = True
            visit.comes_again |= has_failed
            if visit.page and visit.page.judgement and not visit.gave_items:
                self.stats.page(visit.page.judgement, visit.page)
            self._settle(visit)

    async def item(self, item: Any) -> Judgement | None:
        """Judge the page of an item that reached the pipeline; wait while its original is claimed.

        None: its response opted out. Unless the item is to be dropped, it goes on; `item_scraped`
        or `item_lost` is told what becomes of it.
        """
        visit, judgement = self._nobody, None
        try:
            visit = self._giver(item)
            if not visit.opted_out:
                page = self._page(item, visit)
                judgement = await self._final(page, visit)
                if not judgement.is_counted and judgement.verdict.outcome not in _KEPT:
                    self._tell(judgement, visit)
                self.stats.page(judgement, page)
        except Exception as fault:
            judgement = self._failed(fault)
        if judgement is not None and judgement.verdict.outcome in self.drops:
            self._end(judgement, "kept")
        else:
            visit.under_way.append((item, judgement))
        return judgement

    def item_scraped(self, item: Any, response: Any) -> None:
        """Act on an item that went through all pipelines."""
        self._came_out(item, response, went_through=True)

    def item_lost(self, item: Any, response: Any) -> None:
        """Act on an item that a pipeline dropped or failed on."""
        self._came_out(item, response, went_through=False)

    def compare(self, one: int, other: int, then: Callable[[float | None], None]) -> None:
        """Ask how similar two pages are, and wait for nothing; `then` gets the answer."""
        found: list[float | None] = [None]

        def look() -> None:
            found[0] = self.pages.similarity(one, other)

        def told(fault: BaseException | None) -> None:
            if fault is not None:
                self.stats.fault(fault)
            then(found[0])

        self._calls.tell(look, told)

    async def figures(self) -> Mapping[str, int]:
        """Return the figures of the index; none if it cannot tell them."""
        return await self._reported(self._calls.ask(partial(figures_of, self.pages))) or {}

    async def finish(self) -> Mapping[str, int]:
        """Release the pages whose fate is not known, and close the index; return its figures."""
        await self._calls.ask(lambda: None)  # all earlier writes have succeeded or failed
        self._write()
        for judgement, _ in list(self._claimed.values()):
            self._end(judgement, "gone")
        figures = await self.figures()
        if figures:
            self.stats.answered(is_last=True)
        await self._reported(self._calls.ask(self.pages.close))
        return figures

    async def _reported(self, answer: Awaitable[Result]) -> Result | None:
        try:
            return await answer
        except Exception as fault:
            self.stats.fault(fault)
            return None

    def _visit(self, response: Any) -> Visit:
        """Return the visit of a response, a new one the first time."""
        if not isinstance(response, Response):
            return self._nobody
        try:
            if response not in self._visits:
                self._visits[response] = Visit(response)
                if self._visits[response].opted_out:
                    self.stats.add("opted_out")
            return self._visits[response]
        except Exception as fault:
            self.stats.fault(fault, NOT_JUDGED)
            return self._nobody

    def _giver(self, item: Any) -> Visit:
        """Return the visit that gave an item.

        An item that another pipeline made anew is known by its page's URL, if only one visit
        under way has that URL.
        """
        for visit in list(self._giving):
            for place, expected in enumerate(visit.expected):
                if expected is item:
                    del visit.expected[place]
                    if not visit.expected:
                        self._giving.discard(visit)
                    return visit
        url = self._fields.url(item)
        there = [visit for visit in self._visits.values() if visit.url == url]
        return there[0] if len(there) == 1 else self._nobody

    def _page(self, item: Any, visit: Visit) -> Page:
        """Return what an item is judged by. Its URL may be relative to that of its response."""
        is_by_response = visit.is_one_page and self._source == "auto"
        if not is_by_response and self._source != "response":
            text = self._fields.page(item)
            if not isinstance(text, str) or self._source == "item":
                url = self._fields.url(item)
                with suppress(ValueError):  # such as http://[1/
                    return Page(urljoin(visit.url, url), text)
                return Page(visit.url or url, text)
        return visit.read()

    async def _final(self, page: Page, visit: Visit) -> Judgement:
        """Return a judgement whose original was committed, or whose wait was given up."""
        reason: Reason = "pending"
        for seconds in _PAUSES:
            judgement = await self._judged(page, visit)
            fate = await self._fate_of_original(judgement)
            if fate == "kept":
                judgement.waits = False
                return judgement
            if fate is None:
                reason = "error"
                break
            if fate == "gone":
                self._end(judgement, "gone")
                judgement.fate = "gone"
            else:
                await pause(seconds)
        # What will become of its original is not known: it is kept, unjudged.
        self._end(judgement, None)
        judgement.verdict = judgement.verdict.as_unjudged(reason)
        judgement.fate, judgement.waits = None, False
        return judgement

    async def _judged(self, page: Page, visit: Visit) -> Judgement:
        """Return the judgement on a page, claiming it if there is none that holds."""
        judgement = _known(page, visit)
        if judgement is not None:
            return judgement
        try:
            if self._turn.locked() and not isinstance(page.text, str):
                self._calls.read(page)  # now already, while others have their turn
            async with self._turn:
                judgement = _known(page, visit) or await self._new(page, visit)
        except Exception as fault:
            judgement = self._failed(fault)
        # If judging fails, it fails once: the other items of a response share this.
        page.judgement = judgement
        return judgement

    async def _new(self, page: Page, visit: Visit) -> Judgement:
        """Judge a page, and claim it if it is recorded."""
        if isinstance(page.text, str):
            return Judgement(Verdict("unjudged", reason=page.text), page.url)
        verdict = await self._calls.claim(page)
        if self.stats.is_away:
            self.stats.answered()
        judgement = Judgement(verdict, page.url)
        if verdict.is_duplicate:
            judgement.size, judgement.waits = page.text.size, True
        if verdict.page is not None:  # an index in memory may record no duplicates
            judgement.fate = "pending"
            self._claimed[verdict.page] = (judgement, visit)
        if visit is self._nobody or page is visit.page:
            return judgement
        first = visit.share(page, judgement)
        if first is not judgement:
            self._end(judgement, "gone")  # it repeats only its own response
        return first

    def _failed(self, fault: Exception) -> Judgement:
        self.stats.fault(fault, NOT_JUDGED)
        judgement = Judgement(Verdict("unjudged", reason="error"), "")
        self.stats.page(judgement)
        return judgement

    async def _fate_of_original(self, judgement: Judgement) -> Fate | None:
        """Tell what has become of a page's original; None: of it nothing can be learnt."""
        page = judgement.verdict.original_page
        if not judgement.waits or page is None:
            return "kept"
        if page in self._claimed:
            self._reconsider(self._claimed[page][0], is_awaited=True)
        if page in self._claimed:
            return "pending"
        self._write()  # what could not be written before
        for ended in self._unwritten:
            if ended.verdict.page == page:
                return "kept" if ended.fate == "kept" else None
        return await self._reported(self._calls.ask(partial(self.pages.fate, page)))

    def _end(self, judgement: Judgement, fate: Fate | None) -> None:
        """If a page is claimed, end that, and tell the index; None: its verdict stands."""
        _, visit = self._claimed.pop(judgement.verdict.page, (None, None))
        if visit is not None:
            judgement.fate = fate
            if fate == "kept" and judgement.verdict.outcome in _KEPT:
                self._tell(judgement, visit)
            if fate == "gone" and not judgement.verdict.is_duplicate:
                self.stats.add("released")
            self._write(judgement)

    def _tell(self, judgement: Judgement, visit: Visit) -> None:
        if self._saw is not None:
            self._saw(visit.urls, judgement.verdict, self.compare)

    def _came_out(self, item: Any, response: Any, *, went_through: bool) -> None:
        visit = self._visit(response)
        visit.items_to_come = max(visit.items_to_come - 1, 0)
        for giver in (visit, self._nobody):  # who gave it may not have been known
            passages = [passage for passage in giver.under_way if passage[0] is item]
            if passages:
                self._end_passage(giver, passages[0], went_through)
                break
        else:
            visit.held += went_through
        self._settle(visit)

    def _settle(self, visit: Visit) -> None:
        """Act on the outcomes that are known of a visit's items.

        If no more are under way than went through replaced, they are those. If no more outcomes
        are to come, they are lost.
        """
        went_through = len(visit.under_way) <= visit.held
        if went_through or _is_over(visit):
            visit.held = 0
            for passage in visit.under_way:
                self._end_passage(visit, passage, went_through)
        if _is_over(visit):
            for judgement, brought_by in list(self._claimed.values()):
                if brought_by is visit:
                    self._reconsider(judgement)

    def _end_passage(
        self, visit: Visit, passage: tuple[Any, Judgement | None], went_through: bool
    ) -> None:
        """Act on the outcome of an item that is known."""
        visit.under_way = [each for each in visit.under_way if each is not passage]
        judgement = passage[1]
        if judgement is not None and went_through:
            self._end(judgement, "kept")
        elif judgement is not None:
            judgement.has_lost_items = True
            self._reconsider(judgement)

    def _reconsider(self, judgement: Judgement, *, is_awaited: bool = False) -> None:
        """Commit or release a page if no more is to be learnt of its items."""
        _, visit = self._claimed.get(judgement.verdict.page, (None, self._nobody))
        if judgement.fate != "pending" or any(each is judgement for _, each in visit.under_way):
            return
        is_over = visit is self._nobody or _is_over(visit)
        if is_over or (judgement.has_lost_items and is_awaited):
            # A page counts as seen, too, if nothing but its links was wanted.
            gave_links = not (visit.gave_items or visit.comes_again)
            self._end(judgement, "kept" if gave_links else "gone")

    def _write(self, *ended: Judgement) -> None:
        """Tell the index what became of pages, and wait for nothing."""
        left, self._unwritten = [*ended, *self._unwritten], []

        def write() -> None:
            while left:
                is_kept = left[0].fate == "kept"
                (self.pages.commit if is_kept else self.pages.release)(left[0].verdict)
                self.pages.flush()
                del left[0]

        def then(fault: BaseException | None) -> None:
            self._unwritten += [*left[1:], *left[:1]]  # one that always fails holds up no other
            if fault is not None:
                self.stats.fault(fault)

        if left:
            self._calls.tell(write, then)


def _is_over(visit: Visit) -> bool:
    """Tell whether a visit has no item under way and will give none."""
    return visit.has_ended and not visit.items_to_come


def _known(page: Page, visit: Visit) -> Judgement | None:
    """Return the judgement on a page that holds, if there is one."""
    if page.judgement is not None and page.judgement.fate != "gone":
        return page.judgement
    is_of_item = page is not visit.page and not isinstance(page.text, str)
    return visit.known(page) if is_of_item else None
