"""Items and responses -> judgements: the one place where the plugin asks the index about pages.

    item -> the page that it stands for -> read and claimed -> its original's fate -> judgement

What an item is judged by (DEDUP_SOURCE):

    response    the response it comes from, as all items of that response
    item        its own fields
    auto        its own fields if settings name them, or if no response that is a page brought it;
                else its response

A fault is caught here and reported, and the item is kept. No other judgement comes between the look
at what is known of a page and the end of its claim, so that pages of concurrent items cannot slip
in; and nothing is awaited between a verdict and what is done about it. What becomes of a claimed
page, and how its duplicates wait for that: `fates`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from urllib.parse import urljoin

from itemadapter import ItemAdapter

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.model import Verdict
from dedup_filter.scrapy_plugin.fates import Fates
from dedup_filter.scrapy_plugin.index_calls import IndexCalls
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.stats import (
    NOT_JUDGED,
    CrawlStats,
    Faults,
    Figures,
    of_all_crawlers,
)
from dedup_filter.scrapy_plugin.visits import Judgement, Page, Passage, Visit
from dedup_filter.text.page_fields import page_in

__all__ = ["Judge"]

_MOST_ORIGINALS = 100
"""Originals of a page that may come to nothing one after the other, before it is kept unjudged."""

Result = TypeVar("Result")

logger = logging.getLogger("dedup_filter")


class Judge:
    """Judge the items and responses of one crawl; `end_crawl` is called after the first fault."""

    def __init__(
        self,
        settings: PluginSettings,
        pages: NearDuplicateFilter,
        stats: CrawlStats,
        end_crawl: Callable[[], None] | None = None,
    ) -> None:
        self.settings = settings
        self.pages = pages
        self.stats = stats
        self._names = settings.field_names
        # Fields that are named are asked as if the items alone were to be.
        is_by_names = settings.source == "auto" and self._names.name_page
        self._source = "item" if is_by_names else settings.source
        self._dropped = set() if settings.action == "tag" else {"near", "exact"}
        if self._dropped and pages.config.revisit == "drop":
            self._dropped.add("revisit")
        self._has_warned = False
        """Whether the user knows that named fields are missing: the names may be misspelt."""
        self._faults = Faults(stats, end_crawl)
        self._calls = IndexCalls(pages, stats.spent)
        self._turn = asyncio.Lock()
        """Keeps other judgements out while a page is looked up and claimed; awaits nothing if
        calls are direct and no worker reads, for then nobody else can hold it."""
        self.fates = Fates(self._calls, stats, self._faults, self._names)

    async def item(self, item: Any) -> Passage:
        """Judge the page of an item that reached the pipeline; wait while its original is claimed.

        Unless it is dropped, it goes on; what becomes of it is told by `Fates.came_out`.
        """
        try:
            passage = self.fates.arrive(item)
            visit = passage.visit
            if visit is None or not visit.opted_out:
                passage.judgement = await self._final(self._page(passage), visit)
                self.stats.page(passage.judgement)
        except Exception as fault:
            passage = Passage(item, judgement=self._failed(fault))
        judgement = passage.judgement
        if judgement is not None and judgement.verdict.outcome in self._dropped:
            passage.is_dropped = True
            self.fates.end(judgement, "kept")
        else:
            self.fates.go_on(passage)
        return passage

    async def repeats(self, visit: Visit) -> bool:
        """Tell whether a response is a page that was seen before, before its output passes.

        Does not wait for the original's commit: the links are followed from there.
        """
        if visit.opted_out or not visit.is_one_page:
            return False
        try:
            return (await self._judged(visit.read(), visit)).verdict.is_duplicate
        except Exception as fault:
            self._failed(fault)
            return False

    async def figures(self) -> Figures:
        """Return the figures of the index."""
        return await self._reported(self._calls.ask(self._figures)) or {}

    async def finish(self) -> Figures:
        """Release the pages whose fate is not known; return the last figures of the index."""
        await self.fates.close()
        totals = await self._reported(self._calls.ask(self.pages.totals))
        figures = await self.figures()
        if totals is None or not figures:
            return figures
        self._faults.end_outage()
        return {**figures, **of_all_crawlers(totals)}

    async def close(self) -> None:
        """Close the index."""
        await self._reported(self._calls.close())

    async def _reported(self, answer: Awaitable[Result]) -> Result | None:
        try:
            return await answer
        except Exception as fault:
            self._faults.report(fault)
            return None

    def _figures(self) -> Figures:
        pages = self.pages
        return {"index_size": len(pages), "index_bytes": pages.nbytes, "capped": pages.capped}

    def _page(self, passage: Passage) -> Page:
        """Return what an item is judged by. Its URL may be relative to that of its response."""
        visit, item, url = passage.visit, passage.item, passage.url or ""
        is_by_response = visit is not None and visit.is_one_page and self._source == "auto"
        if not is_by_response and self._source != "response":
            is_item = ItemAdapter.is_item(item)
            text = page_in(ItemAdapter(item), self._names) if is_item else "no_field"
            if isinstance(text, str) and self._names.name_page and not self._has_warned:
                self._has_warned = True
                logger.warning(
                    "%s without page text in the fields that DEDUP_HTML_FIELD and "
                    "DEDUP_TEXT_FIELDS name (%s); it and others like it are kept unjudged",
                    type(item).__name__,
                    text,
                )
            if not isinstance(text, str) or self._source == "item":
                return Page(url if visit is None else _absolute(url, visit.url), text)
        return Page(url, "no_response") if visit is None else visit.read()

    async def _final(self, page: Page, visit: Visit | None) -> Judgement:
        """Return a judgement whose original was committed, or whose wait was given up."""
        for _ in range(_MOST_ORIGINALS):
            judgement = await self._judged(page, visit)
            if judgement.original is not None and judgement.waits:
                await self.fates.wait(judgement)
            if judgement.original is None or not judgement.is_void:
                return judgement
        self.fates.give_up(judgement)
        return judgement

    async def _judged(self, page: Page, visit: Visit | None) -> Judgement:
        """Return the judgement on a page, claiming it if there is none that holds."""
        try:
            if not isinstance(page.text, str) and not page.reading and not _known(page, visit):
                # Now already, while those before it have their turn.
                page.reading = self._calls.read(page.url, page.text)
            async with self._turn:
                judgement = _known(page, visit) or await self._claimed(page, visit)
        except Exception as fault:
            judgement = self._failed(fault)
        # If judging fails, it fails once: the other items of a response share this.
        page.judgement = judgement
        return judgement

    async def _claimed(self, page: Page, visit: Visit | None) -> Judgement:
        if isinstance(page.text, str):
            return Judgement(Verdict("unjudged", reason=page.text), page.url)
        reading, page.reading = page.reading, None
        verdict = await self._calls.claim(reading or self._calls.read(page.url, page.text))
        if self._faults.is_away:
            self._faults.note_answer()
        size = 0 if verdict.original is None else page.text.size
        judgement = Judgement(verdict, page.url, size)
        self.fates.add(judgement, visit)
        if visit is None or page is visit.page:
            return judgement
        first = visit.share(page, judgement)
        if first is not judgement:
            self.fates.end(judgement, "gone")  # it repeats only its own response
        return first

    def _failed(self, fault: Exception) -> Judgement:
        self._faults.report(fault, NOT_JUDGED)
        judgement = Judgement(Verdict("unjudged", reason="error"), "")
        self.stats.page(judgement)
        return judgement


def _known(page: Page, visit: Visit | None) -> Judgement | None:
    """Return the judgement on a page that holds, if there is one."""
    if page.judgement is not None and not page.judgement.is_void:
        return page.judgement
    is_of_item = visit is not None and page is not visit.page and not isinstance(page.text, str)
    return visit.known(page) if visit is not None and is_of_item else None


def _absolute(url: str, base: str) -> str:
    try:
        return urljoin(base, url)
    except ValueError:  # such as http://[1/
        return base
