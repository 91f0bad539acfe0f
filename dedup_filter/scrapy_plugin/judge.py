"""Items and responses -> judgements: the one place where the plugin asks the index about pages.

    item -> the page that it stands for -> read and claimed -> its original's fate -> judgement

What an item is judged by (DEDUP_SOURCE):

    response    the response it comes from, as all items of that response
    item        its own fields
    auto        its own fields if settings name them, or if no response that is a page brought it;
                else its response

A fault is caught here and reported to `faults`, and the item is kept. No other judgement comes
between the look at what is known of a page and the end of its claim, so that pages of concurrent
items cannot slip in; and nothing is awaited between a verdict and what is done about it. A claimed
page can be repeated by others at once, and counts as seen only when an item of it went through all
pipelines (`items`). Until then its duplicates wait (`claims`).
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin

from scrapy.http import Request, Response

from dedup_filter.errors import ConfigError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.model import Verdict
from dedup_filter.scrapy_plugin.claims import Claims
from dedup_filter.scrapy_plugin.faults import NOT_JUDGED, Faults
from dedup_filter.scrapy_plugin.index_calls import Answer, IndexCalls, Reading
from dedup_filter.scrapy_plugin.items import Items, Passage, Visit
from dedup_filter.scrapy_plugin.page_fate import Event, Judgement
from dedup_filter.scrapy_plugin.page_source import item_page, response_page
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.stats import CrawlStats, Figures
from dedup_filter.text.page_fields import PageText

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

__all__ = ["Judge", "JudgeKeeper", "judge_of"]

_MOST_ORIGINALS = 5
"""Originals of a page that other processes may release, before it is kept unjudged."""

logger = logging.getLogger("dedup_filter")


class _Wanted(NamedTuple):
    """A page on which there is no judgement yet."""

    url: str
    page: PageText
    visit: Visit | None
    is_own: bool = False
    """Whether it is the visit's response itself."""
    reading: Reading | None = None


class Judge:
    """Judge the items and responses of one crawl.

    `end_crawl`, if there is one, is called after the first fault.
    """

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
        self._has_warned = False
        self._calls = IndexCalls(pages)
        self.has_to_wait = self._calls.have_to_wait
        self._faults = Faults(stats, end_crawl)
        self._claims = Claims(pages, self._calls, stats, self._faults)
        self._items = Items(self._claims, self._names)

    async def item(self, item: Any) -> Passage:
        """Judge the page of an item that reached the pipeline; wait while its original is claimed.

        The item is taken to go on to the other pipelines unless it is dropped. What becomes of it
        there is told by `came_out`.
        """
        self._claims.wake()
        try:
            passage = self._items.arrive(item)
        except Exception as fault:
            self._faults.report(fault, NOT_JUDGED)
            passage = Passage(item, judgement=self._failed())
        if passage.visit is not None and passage.visit.opted_out:
            self._count_opt_out(passage.visit)
        elif passage.judgement is None:
            self._read_ahead(passage)
            passage.judgement = await self._final(passage)
            self.stats.page(passage.judgement)
        if passage.judgement is not None and self._drops(passage.judgement.verdict):
            passage.is_dropped = True
            self._claims.end(passage.judgement, Event.DUPLICATE_DROPPED)
        else:
            self._items.go_on(passage)
        return passage

    def came_out(self, item: Any, response: Any, *, went_through: bool | None) -> None:
        """Note the outcome of an item; None: it was dropped because of its page's verdict."""
        try:
            self._items.came_out(item, response, went_through=went_through)
        except Exception as fault:
            self._faults.report(fault)

    def expect(self, item: Any, response: Response) -> None:
        """Note that an item of a response is on its way to the pipeline."""
        try:
            self._items.expect(item, response)
        except Exception as fault:
            self._faults.report(fault, NOT_JUDGED)

    async def repeats(self, response: Response) -> bool:
        """Tell whether a response is a page that was seen before, before its output passes.

        Does not wait for the original's commit: the links are followed from there.
        """
        visit = self._visit(response)
        if visit is None or not visit.is_page_to_judge:
            return False
        judgement = visit.own
        if judgement is None or judgement.is_void:
            visit.reading = self._ahead(visit.url, partial(_page_of, visit))
            judgement = await self._judged(partial(_by_response, visit, None))
        return judgement.verdict.is_duplicate

    def asks_for_itself(self, request: Request, response: Response) -> bool:
        """Tell whether a request of a response is for its own page, and note a retry."""
        visit = self._visit(response)
        return visit is not None and visit.asks_for_itself(request)

    def output_ended(self, response: Response, *, has_failed: bool) -> None:
        """Note that a response gives no more items."""
        visit = self._items.known_visit(response)
        own = None if visit is None else visit.own
        # If it waits for its original, the items to come will tell what became of that.
        if visit and own and not own.is_void and not (own.waits and visit.gave_items):
            self.stats.page(own)
        try:
            self._items.output_ended(response, has_failed=has_failed)
        except Exception as fault:
            self._faults.report(fault)

    def tell_figures(self, show: Callable[[Figures], None]) -> None:
        """Hand the figures of the index to `show` as soon as they are known."""

        def then(figures: Answer[Figures]) -> None:
            try:
                show(figures.result())
            except Exception as fault:
                self._faults.report(fault)

        self._calls.tell(self._figures, then)

    async def close(self, sum_up: Callable[[Figures | None], None]) -> None:
        """Release the pages whose fate is not known, sum up, and close the index."""
        await self._claims.close()
        everywhere = await self._calls.ask(self.pages.totals)
        figures = await self._calls.ask(self._figures)
        for answer in (everywhere, figures):
            if answer.fault is not None:
                self._faults.report(answer.fault)
        known = figures.value
        try:
            sum_up(known and known._replace(everywhere=everywhere.value))
        except Exception as fault:
            self._faults.report(fault)
        closed = await self._calls.close()
        if closed.fault is not None:
            self._faults.report(closed.fault)
        self._faults.end_outage()

    def _visit(self, response: Response) -> Visit | None:
        try:
            return self._items.visit(response)
        except Exception as fault:
            self._faults.report(fault, NOT_JUDGED)
            return None

    def _drops(self, verdict: Verdict) -> bool:
        """Tell whether a verdict is one for which items are dropped."""
        if self.settings.action == "tag":
            return False
        if verdict.outcome == "revisit":
            return self.pages.config.revisit == "drop"
        return verdict.is_duplicate

    def _read_ahead(self, passage: Passage) -> None:
        """Let a worker read the page of an item while those before it have their turn."""
        visit = passage.visit
        if not self._is_by_response(visit):
            url = _absolute(passage.url, visit) or (visit.url if visit else "")
            passage.reading = self._ahead(url, partial(item_page, passage.item, self._names))
        elif visit is not None and visit.own is None and visit.reading is None:
            visit.reading = self._ahead(visit.url, partial(_page_of, visit))

    def _ahead(self, url: str, find: Callable[[], PageText | str]) -> Reading | None:
        """Let a worker read the page that is found, if there are workers and it is one."""
        if not self._calls.can_read_ahead:
            return None
        with suppress(Exception):  # it is met again, and reported, when the page has its turn
            page = find()
            return None if isinstance(page, str) else self._calls.read_ahead(url, page)
        return None

    async def _final(self, passage: Passage) -> Judgement:
        """Return a judgement whose original was committed, or whose wait was given up."""
        choose = partial(self._chosen, passage)
        judgement = await self._judged(choose)
        gone = 0
        while judgement.waits:
            if gone == _MOST_ORIGINALS:
                self._claims.give_up(judgement)
                break
            await self._claims.wait(judgement, self._items.reconsider)
            if judgement.is_void:
                gone += judgement.original is not None and judgement.original.is_elsewhere
                judgement = await self._judged(choose)
        return judgement

    async def _judged(self, choose: Callable[[], Judgement | _Wanted]) -> Judgement:
        """Return the judgement on what is chosen, claiming its page if there is none yet."""
        async with self._calls.turn:
            try:
                started = perf_counter()
                chosen = choose()
                if isinstance(chosen, Judgement):
                    return chosen
                seconds = perf_counter() - started
                self._claims.retry_releases()
                answer = await self._calls.claim(chosen.url, chosen.page, chosen.reading)
                self.stats.add("seconds", seconds + answer.seconds)
                return self._claimed(chosen, answer.result())
            except Exception as fault:
                self._faults.report(fault, NOT_JUDGED)
                return self._failed()

    def _claimed(self, wanted: _Wanted, verdict: Verdict) -> Judgement:
        if self._faults.outage_began is not None:
            self._faults.note_answer()
        judgement = Judgement(verdict, wanted.url, wanted.page.size)
        visit = wanted.visit
        self._claims.add(judgement, visit)
        if visit is None:
            return judgement
        first = visit.share(judgement, wanted.page.digest)
        if first is not judgement:
            self._claims.end(judgement, Event.REPEATS_ITSELF)
        if wanted.is_own:
            visit.own = first
        return first

    def _chosen(self, passage: Passage) -> Judgement | _Wanted:
        """Return what an item is judged by. Its URL may be relative to that of its response."""
        visit, url = passage.visit, _absolute(passage.url, passage.visit)
        if self._is_by_response(visit):
            return _by_response(visit, url)
        page = item_page(passage.item, self._names)
        if isinstance(page, PageText):
            reading, passage.reading = passage.reading, None
            if visit is None:
                return _Wanted(url or "", page, None, reading=reading)
            url = url or visit.url
            return visit.known(url, page.digest) or _Wanted(url, page, visit, reading=reading)
        if self._source == "auto":
            return _by_response(visit, url)  # its reason tells why there is no page
        if self._names.name_page:
            self._warn_of_missing_field(passage.item, page)
        return _unjudged(page, url)

    def _is_by_response(self, visit: Visit | None) -> bool:
        if self._source == "auto":
            return visit is not None and visit.is_one_page
        return self._source == "response"

    def _warn_of_missing_field(self, item: Any, reason: str) -> None:
        """Warn once: a misspelt field name would switch the filter off silently."""
        if not self._has_warned:
            self._has_warned = True
            logger.warning(
                "%s without page text in the fields that DEDUP_HTML_FIELD and DEDUP_TEXT_FIELDS "
                "name (%s); it and others like it are kept unjudged",
                type(item).__name__,
                reason,
            )

    def _failed(self) -> Judgement:
        judgement = _unjudged("error", None)
        self.stats.page(judgement)
        return judgement

    def _count_opt_out(self, visit: Visit) -> None:
        if not visit.is_counted:
            visit.is_counted = True
            self.stats.add("opted_out")

    def _figures(self) -> Figures:
        return Figures(len(self.pages), self.pages.nbytes, self.pages.capped)


def _by_response(visit: Visit | None, url: str | None) -> Judgement | _Wanted:
    """Return what a response is judged by; the judgement on it is made once."""
    if visit is None:
        return _unjudged("no_response", url)
    if visit.own is not None and not visit.own.is_void:
        return visit.own
    # If judging fails, it fails once: the other items share this instead of trying again.
    visit.own = Judgement(Verdict("unjudged", reason="error"), visit.url, is_counted=True)
    reading, visit.reading = visit.reading, None
    if reading is not None:
        return _Wanted(visit.url, reading.page, visit, is_own=True, reading=reading)
    page = _page_of(visit)
    if isinstance(page, str):
        visit.own = _unjudged(page, visit.url)
        return visit.own
    return _Wanted(visit.url, page, visit, is_own=True)


def _page_of(visit: Visit) -> PageText | str:
    """Return the page of a visit's response, or the reason why there is none."""
    response = visit.response()
    return "no_response" if response is None else response_page(response)


def _absolute(url: str | None, visit: Visit | None) -> str | None:
    if url is None or visit is None:
        return url
    try:
        return urljoin(visit.url, url)
    except ValueError:  # such as http://[1/
        return visit.url


def _unjudged(reason: str, url: str | None) -> Judgement:
    return Judgement(Verdict("unjudged", reason=reason), url or "")


class JudgeKeeper:
    """The add-on of a crawl, as the pipeline and the spider middleware know it."""

    def judge(self, crawler: "Crawler") -> Judge:
        """Return the judge of this crawl, made when it is first asked for."""
        raise NotImplementedError


def judge_of(crawler: "Crawler") -> Judge:
    """Return what the pipeline and the spider middleware of a crawl share.

    Raises:
        ConfigError: the crawl has no add-on, or a setting is wrong.
        StoreError: the index cannot be opened.
    """
    keeper = crawler.get_addon(JudgeKeeper)
    if keeper is None:
        raise ConfigError('dedup_filter needs its add-on: ADDONS = {"dedup_filter.Addon": 500}')
    return keeper.judge(crawler)
