"""Items and responses -> judgements: the one place where the plugin asks the filter.

Whatever goes wrong here ends here: the item is kept and the fault is counted. From the look at
what is known of a page (`choice`) to the end of its claim no other judgement comes between, so
that pages of concurrent items cannot slip in; and nothing is awaited between a verdict and what
is done about it. A page is claimed, which makes it one that others may repeat, and counts as
seen only when an item of it went through all pipelines (`settlement`). Until then its
duplicates wait here.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from scrapy.http import Request, Response

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.model import Verdict
from dedup_filter.scrapy_plugin.choice import Choice, Wanted
from dedup_filter.scrapy_plugin.claims import Claims
from dedup_filter.scrapy_plugin.desk import Answer, desk_of
from dedup_filter.scrapy_plugin.faults import NOT_JUDGED, Faults
from dedup_filter.scrapy_plugin.judgement import Judgement
from dedup_filter.scrapy_plugin.page_source import item_url
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.settlement import Passage, Settlement
from dedup_filter.scrapy_plugin.stats import CrawlStats, Figures
from dedup_filter.scrapy_plugin.visits import Visits

__all__ = ["Judge"]

_MOST_ORIGINALS = 5
"""So many originals of a page may come to nothing in other processes; then it is kept unjudged."""

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
        self._visits = Visits()
        self._choice = Choice(settings)
        self._desk = desk_of(pages)
        self._faults = Faults(stats, end_crawl)
        self._claims = Claims(pages, self._desk, stats, self._faults)
        self.settlement = Settlement(self._visits, self._claims, self._faults, settings.field_names)

    async def item(self, item: Any) -> Passage:
        """Judge the page of an item that reached the pipeline; wait while its original is pending.

        `keep` or `drop` what this returns before the next `await`.
        """
        self._claims.wake()
        passage = self._guarded(lambda: self._arrived(item), lambda: None)
        if passage is None:
            return Passage(item, judgement=self._failed())
        judgement = await self._settled(passage)
        if judgement is not None:
            self._count(judgement)
        return replace(passage, judgement=judgement)

    def drops(self, verdict: Verdict) -> bool:
        """Tell whether a verdict is one for which items are dropped."""
        if verdict.outcome == "revisit":
            return self.pages.config.revisit == "drop"
        return verdict.is_duplicate

    def keep(self, passage: Passage) -> None:
        """Let an item pass; its page is settled when the fate of the item is known."""
        self.settlement.passes(passage)

    def drop(self, judgement: Judgement) -> None:
        """Settle a page whose items are dropped because of what it is."""
        self._claims.commit(judgement)

    def expect(self, item: Any, response: Response) -> None:
        """Note that an item of a response is on its way to the pipeline."""
        self._guarded(lambda: self._visits.expect(item, self._visits.of(response)), lambda: None)

    async def repeats(self, response: Response) -> bool:
        """Tell whether a response is a page that was seen before, before its output passes.

        Whether its original stays is not waited for: its links are followed from there.
        """
        visit = self._visits.known(response)
        if visit is not None and not visit.is_page_to_judge:
            return False
        judgement = None if visit is None else visit.own
        if judgement is None or judgement.is_void:
            judgement = await self._judgement(
                lambda: self._choice.of_response(self._visits.of(response))
            )
        return judgement is not None and judgement.verdict.is_duplicate

    def asks_for_itself(self, request: Request, response: Response) -> bool:
        """Tell whether a request of a response is for its own page, and note another try."""
        return self._guarded(
            lambda: self._visits.of(response).asks_for_itself(request), lambda: False
        )

    def output_ended(self, response: Response, *, has_failed: bool) -> None:
        """Settle the pages of a response that gives no more items."""
        visit = self._visits.known(response)
        own = None if visit is None else visit.own
        # If it waits for its original, the items to come will tell what came of that.
        if visit and own and not own.is_void and not (own.waits and visit.gave_items):
            self._count(own)
        self.settlement.output_ended(response, has_failed=has_failed)

    def tell_figures(self, show: Callable[[Figures], None]) -> None:
        """Hand the figures of the index to `show` as soon as they are known."""

        def then(figures: Answer[Figures]) -> None:
            self._faults.guard(lambda: show(figures.result()), lambda: None)

        self._desk.tell(self._figures, then)

    async def close(self, sum_up: Callable[[Figures | None], None]) -> None:
        """Forget the pages of which no fate is known, sum up, and close the index."""
        await self._claims.close()
        totals = await self._desk.ask(self.pages.totals)
        everywhere = self._faults.guard(totals.result, lambda: None)
        figures = await self._desk.ask(self._figures)
        known = self._faults.guard(figures.result, lambda: None)
        shown = None if known is None else known._replace(everywhere=everywhere)
        self._faults.guard(lambda: sum_up(shown), lambda: None)
        closed = await self._desk.close()
        self._faults.guard(closed.result, lambda: None)
        self._faults.outage.end()

    async def _settled(self, passage: Passage) -> Judgement | None:
        """Return a judgement that holds, or that nothing is waited for any more."""
        judgement = await self._judgement(lambda: self._chosen(passage))
        gone = 0
        while judgement is not None and judgement.waits:
            if gone == _MOST_ORIGINALS:
                self.settlement.give_up(judgement)
                break
            await self.settlement.wait(judgement)
            if judgement.is_void:
                gone += judgement.original is not None and judgement.original.is_elsewhere
                judgement = await self._judgement(lambda: self._chosen(passage))
        return judgement

    async def _judgement(self, choose: Callable[[], Judgement | Wanted | None]) -> Judgement | None:
        """Return the judgement on what is chosen, claiming its page if there is none yet."""
        async with self._desk.turn():
            wanted = self._guarded(choose, self._failed)
            if not isinstance(wanted, Wanted):
                return wanted
            self._claims.before_claim()
            answer = await self._desk.claim(wanted.url, wanted.page)
            self.stats.add("seconds", answer.seconds)
            return self._guarded(lambda: self._claimed(wanted, answer.result()), self._failed)

    def _claimed(self, wanted: Wanted, verdict: Verdict) -> Judgement:
        self._faults.outage.answered()
        judgement = Judgement(verdict, wanted.url, wanted.page.size)
        visit = wanted.visit
        self._claims.add(judgement, visit)
        if visit is None:
            return judgement
        first = visit.settle(judgement, wanted.digest)
        if first is not judgement:  # the page repeats only itself
            self._claims.release(judgement)
        if wanted.is_own:
            visit.own = first
        return first

    def _chosen(self, passage: Passage) -> Judgement | Wanted | None:
        visit = passage.visit
        if visit is None or not visit.opted_out:
            return self._choice.of_item(passage.item, passage.url, visit)
        if not visit.is_counted:
            visit.is_counted = True
            self.stats.add("opted_out")
        return None

    def _guarded(self, work: Callable[[], Result], otherwise: Callable[[], Result]) -> Result:
        with self.stats.clock():
            return self._faults.guard(work, otherwise, NOT_JUDGED)

    def _failed(self) -> Judgement:
        verdict = Verdict("unjudged", reason="error")
        self.stats.page(verdict)
        return Judgement(verdict, "", is_counted=True)

    def _arrived(self, item: Any) -> Passage | None:
        url = item_url(item, self.settings.field_names)
        was_expected = self._visits.expects(item)
        return Passage(item, url, self._visits.take(item, url), was_expected)

    def _count(self, judgement: Judgement) -> None:
        if not judgement.is_counted:
            judgement.is_counted = True
            self.stats.page(judgement.verdict)

    def _figures(self) -> Figures:
        return Figures(len(self.pages), self.pages.nbytes, self.pages.capped)
