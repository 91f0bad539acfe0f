"""Items and responses -> judgements; the fates of pages -> calls to the index.

    item -> the page that it stands for -> read and claimed -> its original's fate -> judgement
    the page is kept (see `page_fates`)    -> commit
    the page is gone                       -> release

Judging. An item is judged by its own fields if settings name them (DEDUP_SOURCE="item": always), or
if no response that is a page brought it; else by its response, as all items of that. No other
judgement comes between the look at what is known of a page and the end of its claim; and nothing is
awaited between a verdict and what is done about it. A page whose original was released is judged
anew. A fault is caught here, and the item is kept.

Items. Scrapy does not name the response to a pipeline. The spider middleware knows the response, so
it says which object it lets pass, and the pipeline looks for that object by identity.

Claims. A claim ends here before the index is called, so that a fault there leaves nobody waiting.
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
from dedup_filter.scrapy_plugin.page_fates import Judgement, PageFates
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.stats import NOT_JUDGED, CrawlStats, figures_of
from dedup_filter.scrapy_plugin.visits import Page, Visit

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
        self._fates = PageFates(self._ended)
        self._nobody = Visit(None)
        """What brings items without a response."""
        self._nobody.items = self._fates.orphans
        self._unwritten: list[Judgement] = []
        """Pages whose commit or release failed."""

    def expect(self, item: Any, response: Response) -> None:
        """Note that an item of a response is on its way to the pipeline."""
        visit = self._visit(response)
        if self._reads_ahead and visit.page is None and visit.is_one_page and not visit.opted_out:
            # It reaches the pipeline only after the callbacks of some sixty more responses.
            with suppress(Exception):  # it is met again, and told of, when the item is judged
                self._calls.read(visit.read())
        self._fates.give(visit.items)
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
            visit.items.comes_again |= request.dont_filter or own.dont_filter
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
            if visit.page and visit.page.judgement and not visit.items.gave_items:
                self.stats.page(visit.page.judgement, visit.page)
            self._fates.response_ended(visit.items, has_failed=has_failed)

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
                    self._tell(judgement)
                self.stats.page(judgement, page)
        except Exception as fault:
            judgement = self._failed(fault)
        if judgement is not None and judgement.verdict.outcome in self.drops:
            self._fates.end(judgement, "kept")
        else:
            self._fates.enter(visit.items, item, judgement)
        return judgement

    def item_scraped(self, item: Any, response: Any) -> None:
        """Act on an item that passed all pipelines."""
        self._fates.leave(self._visit(response).items, item, has_passed=True)

    def item_lost(self, item: Any, response: Any) -> None:
        """Act on an item that a pipeline dropped or failed on."""
        self._fates.leave(self._visit(response).items, item, has_passed=False)

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
        self._fates.end_all()
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
                self._fates.end(judgement, "gone")
                judgement.fate = "gone"
            else:
                await pause(seconds)
        # What will become of its original is not known: it is kept, unjudged.
        self._fates.end(judgement, None)
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
        judgement = Judgement(verdict, page.url, visit.urls)
        if verdict.is_duplicate:
            judgement.size, judgement.waits = page.text.size, True
        if verdict.page is not None:  # an index in memory may record no duplicates
            self._fates.claim(judgement, visit.items)
        if visit is self._nobody or page is visit.page:
            return judgement
        first = visit.share(page, judgement)
        if first is not judgement:
            self._fates.end(judgement, "gone")  # it repeats only its own response
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
        if self._fates.is_pending(page):
            return "pending"
        self._write()  # what could not be written before
        for ended in self._unwritten:
            if ended.verdict.page == page:
                return "kept" if ended.fate == "kept" else None
        return await self._reported(self._calls.ask(partial(self.pages.fate, page)))

    def _ended(self, judgement: Judgement) -> None:
        """Report the final state of a page that was pending to the index."""
        if judgement.fate == "kept" and judgement.verdict.outcome in _KEPT:
            self._tell(judgement)
        if judgement.fate == "gone" and not judgement.verdict.is_duplicate:
            self.stats.add("released")
        self._write(judgement)

    def _tell(self, judgement: Judgement) -> None:
        if self._saw is not None:
            self._saw(judgement.urls, judgement.verdict, self.compare)

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


def _known(page: Page, visit: Visit) -> Judgement | None:
    """Return the judgement on a page that holds, if there is one."""
    if page.judgement is not None and page.judgement.fate != "gone":
        return page.judgement
    is_of_item = page is not visit.page and not isinstance(page.text, str)
    return visit.known(page) if is_of_item else None
