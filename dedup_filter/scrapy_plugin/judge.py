"""Items and responses -> judgements: the one place where the plugin asks the filter.

Which text an item is judged by (DEDUP_SOURCE):

    item        by its own fields
    response    by the response it comes from, as all items of that response
    auto        by its own fields if they hold a page, else by its response

Whatever goes wrong here ends here: the item is kept and the fault is counted. The look-up
and the insert of a page are one call without an `await`, so that pages of concurrent items
cannot slip in between.
"""

import logging
from collections.abc import Callable
from time import perf_counter
from typing import Any

from scrapy.http import HtmlResponse, Response

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.model import Verdict
from dedup_filter.scrapy_plugin.judgement import Judgement
from dedup_filter.scrapy_plugin.near_duplicate import printable
from dedup_filter.scrapy_plugin.page_source import PageText, item_page, item_url
from dedup_filter.scrapy_plugin.response_page import response_page
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.stats import CrawlStats
from dedup_filter.scrapy_plugin.visits import Visit, Visits

__all__ = ["Judge"]

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
        self._has_warned = False
        self._on_fault = on_fault

    def item(self, item: Any) -> Judgement | None:
        """Judge the page of an item that reached the pipeline; None if it opted out."""
        return self._guarded(lambda: self._item(item))

    def expect(self, item: Any, response: Response) -> None:
        """Note that an item of a response is on its way to the pipeline."""
        self._guarded(lambda: self._visits.expect(item, self._visits.of(response)))

    def repeats(self, response: Response) -> bool:
        """Tell whether a response is a page that was seen before, before its output passes."""
        judgement = self._guarded(lambda: self._page_of(self._visits.of(response)))
        return judgement is not None and judgement.verdict.is_duplicate

    def _guarded(self, work: Callable[[], Judgement | None]) -> Judgement | None:
        started = perf_counter()
        try:
            return work()
        except Exception as fault:  # the one place: no fault may cost an item
            return self._report(fault)
        finally:
            self.stats.add("seconds", perf_counter() - started)

    def _report(self, fault: Exception) -> Judgement:
        verdict = Verdict("unjudged", reason="error")
        self.stats.page(verdict)
        self.stats.add("errors")
        count = int(self.stats.get("errors"))
        if count == 1:
            logger.error("A page could not be judged; its items are kept", exc_info=fault)
            self._on_fault()
        elif count & (count - 1) == 0:  # 2, 4, 8, ...: a fault of every page fills no disk
            what = printable(f"{type(fault).__name__}: {fault}")
            logger.error("%d pages could not be judged so far; the last: %s", count, what)
        return Judgement(verdict, "")

    def _item(self, item: Any) -> Judgement | None:
        names = self.settings.field_names
        url = item_url(item, names)
        visit = self._visits.take(item, url)
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
            return self._counted(self._see(url or "", page))
        url = url or visit.url
        if _is_whole_response(page, visit.response):
            return self._own(visit, url)
        known = visit.known(url, page.digest)
        return known or self._settled(visit, self._see(url, page), page.digest)

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
        if visit.own is not None:
            return visit.own
        # If judging fails, it fails once: the other items share this instead of trying again.
        visit.own = Judgement(Verdict("unjudged", reason="error"), visit.url)
        response = visit.response
        page = "no_response" if response is None else response_page(response)
        if isinstance(page, str):
            visit.own = self._unjudged(page, visit.url)
        else:
            visit.own = self._settled(visit, self._see(url or visit.url, page))
        return visit.own

    def _settled(
        self, visit: Visit, judgement: Judgement, digest: bytes | None = None
    ) -> Judgement:
        settled = visit.settle(judgement, digest)
        return self._counted(judgement) if settled is judgement else settled

    def _see(self, url: str, page: PageText) -> Judgement:
        verdict = self.pages.see(
            url, html=page.html, text=page.text, content_type=page.content_type
        )
        return Judgement(verdict, url, page.size)

    def _unjudged(self, reason: str, url: str | None) -> Judgement:
        return self._counted(Judgement(Verdict("unjudged", reason=reason), url or ""))

    def _counted(self, judgement: Judgement) -> Judgement:
        self.stats.page(judgement.verdict)
        return judgement

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
