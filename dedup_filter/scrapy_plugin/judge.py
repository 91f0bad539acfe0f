"""Items and responses -> judgements: the one place where the plugin asks the index about pages.

A fault ends here: the item is kept and the fault is counted. No other judgement comes between the
look at what is known of a page (`page_choice`) and the end of its claim, so that pages of
concurrent items cannot slip in; and nothing is awaited between a verdict and what is done about
it. A claimed page can be repeated by others at once, and counts as seen only when an item of it
went through all pipelines (`items`). Until then its duplicates wait (`claims`).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.http import Request, Response

from dedup_filter.errors import ConfigError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.model import Verdict
from dedup_filter.scrapy_plugin.claims import Claims
from dedup_filter.scrapy_plugin.faults import NOT_JUDGED, Faults
from dedup_filter.scrapy_plugin.index_calls import Answer, IndexCalls
from dedup_filter.scrapy_plugin.items import Items, Passage
from dedup_filter.scrapy_plugin.page_choice import Choice, Visit, Wanted, of_response
from dedup_filter.scrapy_plugin.page_fate import Event, Judgement
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.stats import CrawlStats, Figures

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

__all__ = ["Judge", "JudgeKeeper", "judge_of"]

_MOST_ORIGINALS = 5
"""Originals of a page that other processes may release, before it is kept unjudged."""

Result = TypeVar("Result")


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
        self._choice = Choice(settings)
        self._calls = IndexCalls(pages)
        self._faults = Faults(stats, end_crawl)
        self._claims = Claims(pages, self._calls, stats, self._faults)
        self._items = Items(self._claims, settings.field_names)

    async def item(self, item: Any) -> Passage:
        """Judge the page of an item that reached the pipeline; wait while its original is claimed.

        `keep` or `drop` what this returns before the next `await`.
        """
        self._claims.wake()
        passage = self._guarded(lambda: self._items.arrive(item))
        if passage is None:
            return Passage(item, judgement=self._failed())
        if passage.visit is not None and passage.visit.opted_out:
            self._count_opt_out(passage.visit)
            return passage
        judgement = await self._final(passage)
        self._count(judgement)
        return replace(passage, judgement=judgement)

    def drops(self, verdict: Verdict) -> bool:
        """Tell whether a verdict is one for which items are dropped."""
        if verdict.outcome == "revisit":
            return self.pages.config.revisit == "drop"
        return verdict.is_duplicate

    def keep(self, passage: Passage) -> None:
        """Let an item pass; what becomes of its page is told by `came_out`."""
        self._items.go_on(passage)

    def drop(self, judgement: Judgement) -> None:
        """Commit a page whose items are dropped because of its verdict."""
        self._claims.end(judgement, Event.DUPLICATE_DROPPED)

    def came_out(self, item: Any, response: Any, *, went_through: bool | None) -> None:
        """Note the outcome of an item; None: it was dropped because of its page's verdict."""
        with self._faults.caught():
            self._items.came_out(item, response, went_through=went_through)

    def expect(self, item: Any, response: Response) -> None:
        """Note that an item of a response is on its way to the pipeline."""
        self._guarded(lambda: self._items.expect(item, response))

    async def repeats(self, response: Response) -> bool:
        """Tell whether a response is a page that was seen before, before its output passes.

        Whether its original stays is not waited for: its links are followed from there.
        """
        visit = self._guarded(lambda: self._items.visit(response))
        if visit is None or not visit.is_page_to_judge:
            return False
        judgement = visit.own
        if judgement is None or judgement.is_void:
            judgement = await self._judged(lambda: of_response(visit))
        return judgement.verdict.is_duplicate

    def asks_for_itself(self, request: Request, response: Response) -> bool:
        """Tell whether a request of a response is for its own page, and note a retry."""
        return bool(self._guarded(lambda: self._items.visit(response).asks_for_itself(request)))

    def output_ended(self, response: Response, *, has_failed: bool) -> None:
        """Note that a response gives no more items."""
        visit = self._items.known_visit(response)
        own = None if visit is None else visit.own
        # If it waits for its original, the items to come will tell what became of that.
        if visit and own and not own.is_void and not (own.waits and visit.gave_items):
            self._count(own)
        with self._faults.caught():
            self._items.output_ended(response, has_failed=has_failed)

    def tell_figures(self, show: Callable[[Figures], None]) -> None:
        """Hand the figures of the index to `show` as soon as they are known."""

        def then(figures: Answer[Figures]) -> None:
            with self._faults.caught():
                show(figures.result())

        self._calls.tell(self._figures, then)

    async def close(self, sum_up: Callable[[Figures | None], None]) -> None:
        """Release the pages whose fate is not known, sum up, and close the index."""
        await self._claims.close()
        everywhere = await self._calls.ask(self.pages.totals)
        figures = await self._calls.ask(self._figures)
        for answer in (everywhere, figures):
            with self._faults.caught():
                answer.result()
        known = figures.value
        with self._faults.caught():
            sum_up(known and known._replace(everywhere=everywhere.value))
        closed = await self._calls.close()
        with self._faults.caught():
            closed.result()
        self._faults.end_outage()

    async def _final(self, passage: Passage) -> Judgement:
        """Return a judgement whose original was committed, or whose wait was given up."""

        def choose() -> Judgement | Wanted:
            return self._choice.of_item(passage.item, passage.url, passage.visit)

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

    async def _judged(self, choose: Callable[[], Judgement | Wanted]) -> Judgement:
        """Return the judgement on what is chosen, claiming its page if there is none yet."""
        async with self._calls.turn:
            chosen = self._guarded(choose)
            if not isinstance(chosen, Wanted):
                return chosen or self._failed()
            wanted = chosen
            self._claims.retry_releases()
            answer = await self._calls.claim(wanted.url, wanted.page)
            self.stats.add("seconds", answer.seconds)
            return self._guarded(lambda: self._claimed(wanted, answer.result())) or self._failed()

    def _claimed(self, wanted: Wanted, verdict: Verdict) -> Judgement:
        self._faults.note_answer()
        judgement = Judgement(verdict, wanted.url, wanted.page.size)
        visit = wanted.visit
        self._claims.add(judgement, visit)
        if visit is None:
            return judgement
        first = visit.share(judgement, wanted.digest)
        if first is not judgement:
            self._claims.end(judgement, Event.REPEATS_ITSELF)
        if wanted.is_own:
            visit.own = first
        return first

    def _guarded(self, work: Callable[[], Result]) -> Result | None:
        """Do a part of judging; if it fails, report the fault and return None."""
        with self.stats.clock(), self._faults.caught(NOT_JUDGED):
            return work()
        return None

    def _failed(self) -> Judgement:
        judgement = Judgement(Verdict("unjudged", reason="error"), "")
        self._count(judgement)
        return judgement

    def _count(self, judgement: Judgement) -> None:
        if not judgement.is_counted:
            judgement.is_counted = True
            self.stats.page(judgement.verdict)

    def _count_opt_out(self, visit: Visit) -> None:
        if not visit.is_counted:
            visit.is_counted = True
            self.stats.add("opted_out")

    def _figures(self) -> Figures:
        return Figures(len(self.pages), self.pages.nbytes, self.pages.capped)


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
