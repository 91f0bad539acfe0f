"""Items and responses -> judgements: the one place where the plugin asks the filter.

Which text an item is judged by (DEDUP_SOURCE):

    item        by its own fields
    response    by the response it comes from, as all items of that response
    auto        by its own fields if they hold a page, else by its response

Whatever goes wrong here ends here: the item is kept and the fault is counted. The look-up
and the insert of a page are one call without an `await`, so that pages of concurrent items
cannot slip in between. A page is claimed, which makes it one that others may repeat, and
counts as seen only when an item of it went through all pipelines (`settlement`). Until then
its duplicates wait here.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from scrapy.http import HtmlResponse, Response

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.model import Verdict
from dedup_filter.scrapy_plugin.claims import Claims
from dedup_filter.scrapy_plugin.faults import NOT_JUDGED, Faults
from dedup_filter.scrapy_plugin.judgement import Judgement
from dedup_filter.scrapy_plugin.page_source import PageText, item_page, item_url
from dedup_filter.scrapy_plugin.response_page import response_page
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.settlement import Passage, Settlement
from dedup_filter.scrapy_plugin.stats import CrawlStats
from dedup_filter.scrapy_plugin.visits import Visit, Visits

__all__ = ["Judge"]

Result = TypeVar("Result")

logger = logging.getLogger("dedup_filter")

_ENOUGH_CHARACTERS = 1000
"""A text that is long enough to be judged shows it in so many characters; reading all of a
long one only to learn that would take as long as judging it."""


class Judge:
    """Judge the items and responses of one crawl.

    `on_fault` is called after the first fault of the crawl.
    """

    def __init__(
        self,
        settings: PluginSettings,
        pages: NearDuplicateFilter,
        stats: CrawlStats,
        on_fault: Callable[[], None],
    ) -> None:
        self.settings = settings
        self.pages = pages
        self.stats = stats
        self._visits = Visits()
        self._faults = Faults(stats, on_fault)
        self._claims = Claims(pages, stats, self._faults)
        self.settlement = Settlement(self._visits, self._claims, self._faults, settings.field_names)
        self._has_warned = False

    async def item(self, item: Any) -> Passage:
        """Judge the page of an item that reached the pipeline; wait while its original is pending.

        `keep` or `drop` what this returns before the next `await`.
        """
        self._claims.wake()
        passage = self._guarded(lambda: self._arrived(item), lambda: None)
        if passage is None:
            return Passage(item, judgement=self._failed())
        judgement = self._judgement(passage)
        while judgement is not None and judgement.waits:
            await self.settlement.wait(judgement)
            if judgement.is_void:
                judgement = self._judgement(passage)
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

    def repeats(self, response: Response) -> bool:
        """Tell whether a response is a page that was seen before, before its output passes.

        Whether its original stays is not waited for: its links are followed from there.
        """
        judgement = self._guarded(lambda: self._page_of(self._visits.of(response)), self._failed)
        return judgement is not None and judgement.verdict.is_duplicate

    def output_ended(self, response: Response, *, has_failed: bool) -> None:
        """Settle the pages of a response that gives no more items."""
        visit = self._visits.known(response)
        own = None if visit is None else visit.own
        # If it waits for its original, the items to come will tell what came of that.
        if visit and own and not own.is_void and not (own.waits and visit.gave_items):
            self._count(own)
        self.settlement.output_ended(response, has_failed=has_failed)

    def close(self, sum_up: Callable[[], None]) -> None:
        """Forget the pages of which no fate is known, sum up, and close the index."""
        for step in (self._claims.close, sum_up, self.pages.close):
            self._faults.guard(step, lambda: None)

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

    def _judgement(self, passage: Passage) -> Judgement | None:
        return self._guarded(
            lambda: self._item(passage.item, passage.url, passage.visit), self._failed
        )

    def _item(self, item: Any, url: str | None, visit: Visit | None) -> Judgement | None:
        names = self.settings.field_names
        if visit is not None and visit.opted_out:
            self._count_opt_out(visit)
            return None
        if visit is not None and not self.settings.follow_links and visit.is_one_page:
            return self._own(visit)  # the same verdict as the one on the page's links
        if self.settings.source == "response":
            return self._shared(visit, url, "no_response")
        page = item_page(item, names)
        if isinstance(page, str):
            if names.are_orders:
                self._warn_of_missing_field(item, page)
            must_have = names.are_orders or self.settings.source == "item"
            return self._unjudged(page, url) if must_have else self._shared(visit, url, page)
        if self.settings.source == "auto" and page.is_guess and not self._is_long_enough(page):
            return self._shared(visit, url, "too_short")
        return self._by_field(page, url, visit)

    def _by_field(self, page: PageText, url: str | None, visit: Visit | None) -> Judgement:
        if visit is None:
            return self._claim(url or "", page, None)
        url = url or visit.url
        if _is_whole_response(page, visit.response):
            return self._own(visit, url)
        known = visit.known(url, page.digest)
        return known or self._first(visit, self._claim(url, page, visit), page.digest)

    def _shared(self, visit: Visit | None, url: str | None, reason: str) -> Judgement:
        """Judge an item by its response; without one it stays unjudged for this reason."""
        if visit is None:
            return self._unjudged("no_response" if reason == "no_field" else reason, url)
        return self._own(visit)

    def _page_of(self, visit: Visit) -> Judgement | None:
        if visit.opted_out or not visit.is_one_page:
            return None
        return self._own(visit)

    def _own(self, visit: Visit, url: str | None = None) -> Judgement:
        """Return the judgement on the response's own text, made once."""
        if visit.own is not None and not visit.own.is_void:
            return visit.own
        # If judging fails, it fails once: the other items share this instead of trying again.
        visit.own = Judgement(Verdict("unjudged", reason="error"), visit.url, is_counted=True)
        response = visit.response
        page = "no_response" if response is None else response_page(response)
        if isinstance(page, str):
            visit.own = self._unjudged(page, visit.url)
        else:
            visit.own = self._first(visit, self._claim(url or visit.url, page, visit))
        return visit.own

    def _first(self, visit: Visit, judgement: Judgement, digest: bytes | None = None) -> Judgement:
        """Return the judgement that holds: the first one, if the page repeats only itself."""
        first = visit.settle(judgement, digest)
        if first is not judgement:
            self._claims.release(judgement)
        return first

    def _claim(self, url: str, page: PageText, visit: Visit | None) -> Judgement:
        verdict = self.pages.claim(
            url, html=page.html, text=page.text, content_type=page.content_type
        )
        judgement = Judgement(verdict, url, page.size)
        self._claims.add(judgement, visit)
        return judgement

    def _unjudged(self, reason: str, url: str | None) -> Judgement:
        return Judgement(Verdict("unjudged", reason=reason), url or "")

    def _count(self, judgement: Judgement) -> None:
        if not judgement.is_counted:
            judgement.is_counted = True
            self.stats.page(judgement.verdict)

    def _count_opt_out(self, visit: Visit) -> None:
        if not visit.is_counted:
            visit.is_counted = True
            self.stats.add("opted_out")

    def _warn_of_missing_field(self, item: Any, reason: str) -> None:
        """Say it once: a misspelt field name would switch the filter off without a word."""
        if not self._has_warned:
            self._has_warned = True
            logger.warning(
                "%s has no page text where DEDUP_HTML_FIELD or DEDUP_TEXT_FIELDS name it (%s); "
                "it is kept unjudged, and so are others like it",
                type(item).__name__,
                reason,
            )

    def _is_long_enough(self, page: PageText) -> bool:
        text = page.characters
        if self.pages.is_long_enough(text[:_ENOUGH_CHARACTERS]):
            return True
        return len(text) > _ENOUGH_CHARACTERS and self.pages.is_long_enough(text)


def _is_whole_response(page: PageText, response: Response | None) -> bool:
    """Tell whether an item carries its response's body, whose tree need not be parsed again."""
    if not isinstance(response, HtmlResponse):
        return False
    if isinstance(page.html, bytes):
        return page.html == response.body
    return page.html == response.text
