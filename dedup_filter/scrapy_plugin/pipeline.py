"""The way of an item: spider middleware -> item pipeline -> kept, marked or dropped.

    response -> output of its callback     items are registered, links of a repeated page held back
    item     -> its page                   that of its response, or in its own fields (`item_page`)
             -> the page is claimed        judged and pending, once for all its items
             -> the original is final      else wait; if it is gone, judge the page anew
             -> stats, log, duplicates     once a page
             -> dropped                    the page is committed (an item of its original passed)
             or later pipelines            the page is committed when an item has passed them all,
                                           and released if none has (`response`)
    end      -> pending pages released     the index is closed, rules and report are written

Between the look-up of earlier judgements on a page and the end of its claim no other page of its
response is judged. Nothing is awaited between a verdict and the action on it. A fault is caught
here, and the item is kept.

The claim is forgotten before the index is called: if the call fails, no copy waits for the page. If
a page cannot be released, its copies are kept.
"""

import logging
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy import Request, Spider, version_info
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.model import DROPPED, Fate, Reason, Verdict
from dedup_filter.scrapy_plugin.index_calls import IndexCalls, pause
from dedup_filter.scrapy_plugin.outputs import (
    DuplicatesFile,
    describe,
    describe_change,
    describe_kept,
    dropped_for,
    write_crawl_report,
)
from dedup_filter.scrapy_plugin.response import Judgement, Page, Visit, Visits
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.stats import NOT_JUDGED, CrawlStats
from dedup_filter.text.page_fields import PageText

if TYPE_CHECKING:
    from dedup_filter.scrapy_plugin.url_rules import UrlRules

_KEPT = ("new", "revisit")
"""Outcomes of pages that are kept once one of their items has passed all pipelines."""
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, *[1.0] * 58)
"""Retry delays in seconds while the original is pending, one minute in all; then the item is kept.
It is also kept if as many originals were released one after the other."""

_NOT_TAGGED = "%s items cannot be tagged: they have no field %r that takes a dict (DEDUP_TAG_FIELD)"
_WITHOUT_TEXT = "%s items get no text: they have no field %r that takes a str (DEDUP_TEXT_OUT)"

logger = logging.getLogger("dedup_filter")


class NearDuplicatePipeline:
    """Drop the items of pages that repeat an earlier page."""

    def __init__(
        self,
        settings: PluginSettings,
        pages: NearDuplicateFilter,
        stats: CrawlStats,
        *,
        rules: "UrlRules | None" = None,
        duplicates: DuplicatesFile | None = None,
        summary_interval: float = 0,
    ) -> None:
        self.settings, self.pages, self.stats = settings, pages, stats
        self.rules, self.duplicates = rules, duplicates
        self.summary_interval = summary_interval
        self._drops = {*DROPPED, *(["revisit"] if pages.config.revisit == "drop" else [])}
        """Outcomes of pages whose items are dropped."""
        self.index = IndexCalls(pages, stats)
        self.visits = Visits(settings, settings.page_rules(pages.config), stats, self._ended)
        self._summed_up = monotonic()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "NearDuplicatePipeline":
        """Return the pipeline of a crawl."""
        from dedup_filter.scrapy_plugin import Addon  # which imports this module

        return Addon.of(crawler).pipeline

    def is_dropped(self, judgement: Judgement) -> bool:
        """Return whether the item of a page is dropped.

        A page that has changed never is, nor one that the feed of a killed crawl may lack.
        """
        verdict = judgement.verdict
        is_wanted = bool(verdict.change) or verdict.reason == "again"
        is_kept = judgement.action == "tag" or (verdict.outcome == "revisit" and is_wanted)
        return verdict.outcome in self._drops and not is_kept

    async def process_item(self, item: Any, spider: Spider | None = None) -> Any:  # noqa: ARG002
        """Return the item, or raise NearDuplicate if its page repeats an earlier one."""
        await self._sum_up_in_time()
        judgement = await self.judge(item)
        if judgement is None:
            return item
        verdict = judgement.verdict
        if self.is_dropped(judgement):
            self.stats.add("items_dropped")
            raise dropped_for(judgement.url, verdict)
        if judgement.action == "tag":
            field, mark = self.settings.tag_field, verdict.as_json()
            self._put(item, field, mark, _NOT_TAGGED, stat="items_not_tagged")
        if self.settings.text_out is not None and verdict.text is not None:
            field, text = self.settings.text_out, verdict.text
            self._put(item, field, text, _WITHOUT_TEXT, stat="items_without_text")
        return item

    async def judge(self, item: Any) -> Judgement | None:
        """Judge the page of an item that reached the pipeline; wait while its original is pending.

        None: its response opted out. If the item is not dropped, a call of `item_scraped` or
        `item_lost` follows.
        """
        visit, judgement = self.visits.no_response, None
        try:
            visit = self.visits.visit_of(item)
            page = self.visits.page(item, visit) if visit.treatment.judge else None
            if page is not None and not page.treatment.judge:
                self.stats.add("opted_out")
            elif page is not None:
                judgement = await self._final(page, visit)
                if self.count(judgement, page.text):
                    self._note(judgement, page.text)
        except Exception as fault:
            judgement = self.failed(fault)
        if judgement is not None and self.is_dropped(judgement):
            self.visits.end(judgement, "kept")
        else:
            visit.under_way.append((item, judgement))
        return judgement

    async def _final(self, page: Page, visit: Visit) -> Judgement:
        """Return a judgement whose original was committed, or an unjudged one after waiting."""
        reason: Reason = "pending"
        for seconds in _PAUSES:
            judgement = await self.judged(visit, page)
            fate = await self._fate_of_original(judgement)
            if fate == "kept":
                return judgement
            if fate is None:
                reason = "error"
                break
            if fate == "gone":
                self.visits.end(judgement, "gone")
            else:
                await pause(seconds)
        # The fate of the original is not known: the page is kept, unjudged.
        self.visits.end(judgement, None)
        judgement.fate, judgement.verdict = None, judgement.verdict.as_unjudged(reason)
        return judgement

    async def judged(self, visit: Visit, page: Page | None = None) -> Judgement:
        """Return the valid judgement on a page (None: of the response); else claim the page."""
        try:
            page = page or visit.read()
            judgement = visit.known(page)
            if judgement is None and page.treatment.fault is not None:
                judgement = self.failed(page.treatment.fault)
            elif judgement is None and isinstance(page.text, str):
                verdict = Verdict("unjudged", reason=page.text)
                judgement = Judgement(verdict, page.url, page.treatment.action)
            elif judgement is None:
                self.index.read(page)  # also while another page of the response has its turn
                async with visit.turn:
                    judgement = visit.known(page) or await self._claimed(page, visit)
        except Exception as fault:
            judgement = self.failed(fault)
        if page is not None:  # if judging fails, it fails once for all items of the page
            page.judgement = judgement
        return judgement

    async def _claimed(self, page: Page, visit: Visit) -> Judgement:
        """Judge a page, and claim it if it is recorded."""
        claim = await self.index.claim(page)
        judgement = Judgement(claim.verdict, page.url, page.treatment.action, visit, claim)
        if claim.state == "pending":  # an index in memory may record no duplicates
            self.visits.claim(judgement)
        if visit is self.visits.no_response or page is visit.page:
            return judgement
        first = visit.share(page, judgement)
        if first is not judgement:
            self.visits.end(judgement, "gone")  # it repeats only its own response
        return first

    async def _fate_of_original(self, judgement: Judgement) -> Fate | None:
        """Return the fate of a page's original; None: it cannot be found out."""
        verdict, claim = judgement.verdict, judgement.claim
        if claim is None or judgement.is_counted or verdict.outcome not in DROPPED:
            return "kept"
        if self.visits.is_pending(verdict.original_page or 0):
            return "pending"
        return await self.index.fate_of_original(claim)

    def failed(self, fault: Exception) -> Judgement:
        """Report a fault; return the judgement on a page that could not be judged for it."""
        self.stats.fault(fault, NOT_JUDGED)
        judgement = Judgement(Verdict("unjudged", reason="error"), "", self.settings.action)
        self.count(judgement, "error")
        return judgement

    def item_scraped(self, item: Any, response: Any) -> None:
        """Act on an item that passed all pipelines."""
        self.visits.left(item, response, has_passed=True)

    def item_lost(self, item: Any, response: Any) -> None:
        """Act on an item that a pipeline dropped or failed on."""
        self.visits.left(item, response, has_passed=False)

    def _ended(self, judgement: Judgement) -> None:
        """Report the final state of a pending page to the index."""
        is_kept = judgement.fate == "kept"
        if is_kept and judgement.verdict.outcome in _KEPT:
            self._add_to_rules(judgement)
        if judgement.fate == "gone" and not judgement.verdict.is_duplicate:
            self.stats.add("released")
        if judgement.claim is not None:
            self.index.write((judgement.claim, is_kept))

    def _add_to_rules(self, judgement: Judgement) -> None:
        if self.rules is not None and judgement.visit is not None:
            urls, judge = judgement.visit.urls, self.pages.conductor
            self.rules.add_verdict(urls, judgement.verdict, judge)

    def count(self, judgement: Judgement, text: PageText | Reason) -> bool:
        """Count a page, once; return whether it is counted now."""
        if judgement.is_counted:
            return False
        judgement.is_counted = True
        self.stats.page(judgement.url, judgement.verdict, text)
        return True

    def _note(self, judgement: Judgement, text: PageText | Reason) -> None:
        """Write what is written once a page, however many items it has."""
        url, verdict = judgement.url, judgement.verdict
        if verdict.outcome not in _KEPT:
            self._add_to_rules(judgement)
        level, is_told = self.settings.log_level, True
        if self.is_dropped(judgement):
            self.stats.add("bytes_dropped", text.size if isinstance(text, PageText) else 0)
            logger.log(level, "Dropped %s", describe(url, verdict))
        elif verdict.outcome in DROPPED:
            logger.log(level, "Found %s", describe(url, verdict))
        elif verdict.change and self.pages.config.changes:
            logger.log(level, "Changed %s", describe_change(url, verdict))
        else:
            is_told = False
        if verdict.refused is not None or verdict.outcome == "unjudged":
            logger.debug("Kept %s", describe_kept(url, verdict))
        if self.duplicates is not None and is_told:
            try:
                self.duplicates.write(url, verdict)
            except OSError as fault:
                self.stats.fault(fault, "A duplicate could not be written (DEDUP_DUPLICATES)")

    def _put(self, item: Any, field: str, value: Any, without: str, *, stat: str) -> None:
        """Write a value into a field of an item; count items without the field, and log the first.

        Dicts always have it. Other kinds of items must have it, or allow extra fields (pydantic).
        """
        try:
            if getattr(item, "model_config", {}).get("extra") == "allow":
                setattr(item, field, value)
            else:
                ItemAdapter(item)[field] = value
        except Exception:  # no such field, no item, frozen, or refused by its class
            self.stats.add(stat)
            if self.stats.get(stat) == 1:
                logger.warning(without, type(item).__name__, field)

    async def _sum_up_in_time(self) -> None:
        """Sum up every LOGSTATS_INTERVAL, when an item comes.

        No timer works on every supported Scrapy, with and without a reactor; without items nothing
        changes.
        """
        if 0 < self.summary_interval <= monotonic() - self._summed_up:
            self._summed_up = monotonic()
            self._sum_up(await self.index.figures())

    def _sum_up(self, figures: Mapping[str, int]) -> None:
        if self.stats.get("pages"):
            logger.info(self.stats.summary(figures))

    def close_spider(self, spider: Spider | None = None) -> Any:  # noqa: ARG002
        """Release pending pages, close the index and sum up; Scrapy awaits the result."""
        closing = self._close()
        return closing if version_info >= (2, 14) else deferred_from_coro(closing)

    async def _close(self) -> None:
        figures = await self.index.close(self.visits.end_all)
        if self.rules is not None:
            await self.rules.finish()
        if self.duplicates is not None:
            self.duplicates.close()
        if self.settings.report is not None:
            try:
                await write_crawl_report(self.settings)
            except Exception as fault:
                self.stats.fault(fault, "The report could not be written (DEDUP_REPORT)")
        self.stats.close(figures)
        for hint in self.stats.hints():
            logger.info("%s", hint)
        self._sum_up(figures)


class NearDuplicateMiddleware:
    """Register the items of each response; if set so, hold back links of repeated pages."""

    def __init__(self, pipeline: NearDuplicatePipeline) -> None:
        self._pipeline = pipeline
        self._follows_links = pipeline.settings.follow_links
        self._reads_ahead = pipeline.pages.pool.most > 0 and pipeline.visits.source != "item"

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "NearDuplicateMiddleware":
        """Make the spider middleware of a crawl."""
        return cls(NearDuplicatePipeline.from_crawler(crawler))

    async def process_spider_output(
        self,
        response: Response,
        result: AsyncIterable[Any],
        spider: Spider | None = None,  # noqa: ARG002
    ) -> AsyncIterator[Any]:
        """Pass on the output of a callback."""
        try:
            async for output in result:
                if isinstance(output, Request):
                    if not self._follows_links and await self.holds_back(output, response):
                        continue
                elif output is not None:
                    self.expect(output, response)
                yield output
        except Exception:
            self.output_ended(response, has_failed=True)
            raise
        self.output_ended(response, has_failed=False)

    def expect(self, item: Any, response: Response) -> None:
        """Register an item of a response that is on its way to the pipeline."""
        visit = self._pipeline.visits.of(response)
        if self._reads_ahead and visit.page is None and visit.is_one_page and visit.treatment.judge:
            # It reaches the pipeline only after the callbacks of some sixty more responses.
            with suppress(Exception):  # it recurs, and is reported, when the item is judged
                self._pipeline.index.read(visit.read())
        visit.gave(item)

    async def holds_back(self, request: Request, response: Response) -> bool:
        """Return whether a request in a response's output is a link of a repeated page.

        Does not wait for the original's commit: the original's own links are followed.
        """
        visit, own = self._pipeline.visits.of(response), response.request
        # The URL of a request has a fragment; the URL of its response has none.
        if own is not None and request.url in (own.url, response.url):
            # A retry, or a link of a page to itself, which Scrapy filters out.
            visit.comes_again |= request.dont_filter or own.dont_filter
            return False
        if not (visit.treatment.judge and visit.is_one_page):
            return False
        judgement = await self._pipeline.judged(visit)
        if judgement.verdict.is_duplicate:
            self._pipeline.stats.add("links_not_followed")
        return judgement.verdict.is_duplicate

    def output_ended(self, response: Response, *, has_failed: bool) -> None:
        """Act on the end of a response's output."""
        visit = self._pipeline.visits.of(response)
        if visit is not self._pipeline.visits.no_response:
            if visit.page and visit.page.judgement and not visit.gave_items:
                self._pipeline.count(visit.page.judgement, visit.page.text)
            self._pipeline.visits.output_ended(visit, has_failed=has_failed)
