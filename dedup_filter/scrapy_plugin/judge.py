"""Items and responses -> judgements on their pages; the fates of pages -> the index.

    item -> its page -> read and claimed -> the fate of its original -> judgement
    the page is kept (see `page_fates`)    -> commit
    the page is gone                       -> release

Judging. An item is judged by its own fields if settings name them (DEDUP_SOURCE="item": always), or
if its response is not a page; else by its response, like all items of that response. Between the
look-up of earlier judgements on a page and the end of its claim no other page is judged. Nothing is
awaited between a verdict and the action on it. If the original of a page was released, the page is
judged anew. A fault is caught here, and the item is kept.

Items. Scrapy does not pass the response to a pipeline. The spider middleware knows the response, so
it registers each item object that it passes on, and the pipeline finds that object by identity.

Claims. A claim ends here before the index is called, so that a fault of the call leaves no page
waiting. If a page cannot be released, its copies are kept.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin
from weakref import WeakKeyDictionary, WeakSet

from scrapy import Request
from scrapy.http import Response

from dedup_filter.crawl_filter import CrawlFilter
from dedup_filter.model import DROPPED, Fate, Reason, Verdict
from dedup_filter.scrapy_plugin.index_calls import IndexCalls, pause
from dedup_filter.scrapy_plugin.item_fields import ItemFields
from dedup_filter.scrapy_plugin.page_fates import Judgement, PageFates
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.stats import NOT_JUDGED, CrawlStats
from dedup_filter.scrapy_plugin.visits import Page, Visit

if TYPE_CHECKING:
    from dedup_filter.scrapy_plugin.url_rules import UrlRules

_KEPT = ("new", "revisit")
"""Outcomes of pages that are kept once one of their items has passed all pipelines."""
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, *[1.0] * 58)
"""Retry delays in seconds while the original is pending, one minute in all; then the item is kept.
It is also kept if as many originals were released one after the other."""


class Judge:
    """Judge the items and responses of one crawl."""

    def __init__(
        self,
        settings: PluginSettings,
        pages: CrawlFilter,
        stats: CrawlStats,
        rules: "UrlRules | None" = None,
    ) -> None:
        self.settings = settings
        self.pages = pages
        self.stats = stats
        self._rules = rules
        self.drops = set() if settings.action == "tag" else set[str](DROPPED)
        """Outcomes of pages whose items are dropped."""
        if self.drops and pages.config.revisit == "drop":
            self.drops.add("revisit")
        self._fields = ItemFields(settings.field_names)
        # If settings name fields, items are judged as with DEDUP_SOURCE="item".
        is_by_names = settings.source == "auto" and self._fields.names.name_page
        self._source = "item" if is_by_names else settings.source
        self._reads_ahead = pages.has_workers and self._source != "item"
        self._index = IndexCalls(pages, stats)
        self._turn = asyncio.Lock()
        """Excludes other judgements while a page is looked up and claimed. It is always free if
        calls are direct and no worker reads."""
        self._visits: WeakKeyDictionary[Response, Visit] = WeakKeyDictionary()
        self._giving: WeakSet[Visit] = WeakSet()
        """Visits with items that have not reached the pipeline."""
        self._fates = PageFates(self._ended)
        self._no_response = Visit(None)
        """The visit of all items without a response."""
        self._no_response.items = self._fates.orphans

    def expect(self, item: Any, response: Response) -> None:
        """Register an item of a response that is on its way to the pipeline."""
        visit = self._visit(response)
        if self._reads_ahead and visit.page is None and visit.is_one_page and not visit.opted_out:
            # It reaches the pipeline only after the callbacks of some sixty more responses.
            with suppress(Exception):  # it recurs, and is reported, when the item is judged
                self._index.read(visit.read())
        self._fates.give(visit.items)
        visit.expected.append(item)
        self._giving.add(visit)

    async def holds_back(self, request: Request, response: Response) -> bool:
        """Return whether a request in a response's output is a link of a repeated page.

        Does not wait for the original's commit: the original's own links are followed.
        """
        visit, own = self._visit(response), response.request
        # The URL of a request has a fragment; the URL of its response has none.
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
        """Act on the end of a response's output."""
        visit = self._visit(response)
        if visit is not self._no_response:
            if visit.page and visit.page.judgement and not visit.items.gave_items:
                self.stats.page(visit.page.judgement, visit.page)
            self._fates.response_ended(visit.items, has_failed=has_failed)

    async def item(self, item: Any) -> Judgement | None:
        """Judge the page of an item that reached the pipeline; wait while its original is pending.

        None: its response opted out. If the item is not dropped, a call of `item_scraped` or
        `item_lost` follows.
        """
        visit, judgement = self._no_response, None
        try:
            visit = self._giver(item)
            if not visit.opted_out:
                page = self._page(item, visit)
                judgement = await self._final(page, visit)
                if not judgement.is_counted and judgement.verdict.outcome not in _KEPT:
                    self._add_to_rules(judgement)
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

    async def figures(self) -> Mapping[str, int]:
        """Return the figures of the index; empty after a fault."""
        return await self._index.figures()

    async def finish(self) -> Mapping[str, int]:
        """Release the pending pages and close the index; return its figures."""
        await self._index.written()
        self._index.write()
        self._fates.end_all()
        figures = await self.figures()
        if figures:
            self.stats.answered(is_last=True)
        await self._index.close()
        return figures

    def _visit(self, response: Any) -> Visit:
        """Return the visit of a response, a new one the first time."""
        if not isinstance(response, Response):
            return self._no_response
        try:
            if response not in self._visits:
                self._visits[response] = Visit(response, self.pages.config.judged_payloads)
                if self._visits[response].opted_out:
                    self.stats.add("opted_out")
            return self._visits[response]
        except Exception as fault:
            self.stats.fault(fault, NOT_JUDGED)
            return self._no_response

    def _giver(self, item: Any) -> Visit:
        """Return the visit that gave an item.

        If another pipeline replaced the item, its visit is found by the URL of its page, provided
        that only one visit under way has this URL.
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
        return there[0] if len(there) == 1 else self._no_response

    def _page(self, item: Any, visit: Visit) -> Page:
        """Return the page of an item. The item's URL may be relative to its response's URL."""
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
        """Return a judgement whose original was committed, or an unjudged one after waiting."""
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
        # The fate of the original is not known: the page is kept, unjudged.
        self._fates.end(judgement, None)
        judgement.verdict = judgement.verdict.as_unjudged(reason)
        judgement.fate, judgement.waits = None, False
        return judgement

    async def _judged(self, page: Page, visit: Visit) -> Judgement:
        """Return the valid judgement on a page; if there is none, claim the page."""
        judgement = visit.known(page)
        if judgement is not None:
            return judgement
        try:
            if self._turn.locked() and not isinstance(page.text, str):
                self._index.read(page)  # while other judgements have their turn
            async with self._turn:
                judgement = visit.known(page) or await self._new(page, visit)
        except Exception as fault:
            judgement = self._failed(fault)
        # If judging fails, it fails once: the other items of the response share this judgement.
        page.judgement = judgement
        return judgement

    async def _new(self, page: Page, visit: Visit) -> Judgement:
        """Judge a page, and claim it if it is recorded."""
        if isinstance(page.text, str):
            return Judgement(Verdict("unjudged", reason=page.text), page.url)
        verdict = await self._index.claim(page)
        judgement = Judgement(verdict, page.url, visit.urls)
        if verdict.outcome in DROPPED:
            judgement.size, judgement.waits = page.text.size, True
        if verdict.page is not None:  # an index in memory may record no duplicates
            self._fates.claim(judgement, visit.items)
        if visit is self._no_response or page is visit.page:
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
        """Return the fate of a page's original; None: it cannot be found out."""
        page = judgement.verdict.original_page
        if not judgement.waits or page is None:
            return "kept"
        return "pending" if self._fates.is_pending(page) else await self._index.fate(page)

    def _ended(self, judgement: Judgement) -> None:
        """Report the final state of a pending page to the index."""
        if judgement.fate == "kept" and judgement.verdict.outcome in _KEPT:
            self._add_to_rules(judgement)
        if judgement.fate == "gone" and not judgement.verdict.is_duplicate:
            self.stats.add("released")
        self._index.write(judgement)

    def _add_to_rules(self, judgement: Judgement) -> None:
        if self._rules is not None:
            self._rules.add_verdict(judgement.urls, judgement.verdict, self.pages)
