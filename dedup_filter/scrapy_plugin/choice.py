"""An item or response -> the page that is to be judged, or the judgement that there is already.

Which text an item is judged by (DEDUP_SOURCE):

    item        by its own fields
    response    by the response it comes from, as all items of that response
    auto        by its own fields if they hold a page, else by its response
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urljoin

from scrapy.http import HtmlResponse, Response

from dedup_filter.model import Verdict
from dedup_filter.scrapy_plugin.judgement import Judgement
from dedup_filter.scrapy_plugin.page_source import PageText, is_long, item_page
from dedup_filter.scrapy_plugin.response_page import response_page
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.visits import Visit

__all__ = ["Choice", "Wanted"]

logger = logging.getLogger("dedup_filter")


@dataclass(frozen=True, eq=False)
class Wanted:
    """A page of which no judgement is known yet."""

    url: str
    page: PageText
    visit: Visit | None = None
    digest: bytes | None = None
    is_own: bool = False
    """Whether it is the visit's response itself."""


class Choice:
    """Choose what the items and responses of one crawl are judged by."""

    def __init__(self, settings: PluginSettings, is_long_enough: Callable[[str], bool]) -> None:
        self._settings = settings
        self._is_long_enough = is_long_enough
        self._has_warned = False

    def of_response(self, visit: Visit) -> Judgement | Wanted | None:
        """Return what a response is judged by; None if it is no page or opted out."""
        return self._own(visit) if visit.is_page_to_judge else None

    def of_item(self, item: Any, url: str | None, visit: Visit | None) -> Judgement | Wanted:
        """Return what an item is judged by. Its URL may be relative to that of its response."""
        url = _absolute(url, visit)
        names = self._settings.field_names
        if visit is not None and not self._settings.follow_links and visit.is_one_page:
            return self._own(visit)  # the same verdict as the one on the page's links
        if self._settings.source == "response":
            return self._shared(visit, url, "no_response")
        page = item_page(item, names, partial(self._is_page, visit))
        if isinstance(page, str):
            if names.are_orders:
                self._warn_of_missing_field(item, page)
            must_have = names.are_orders or self._settings.source == "item"
            return _unjudged(page, url) if must_have else self._shared(visit, url, page)
        if self._settings.source == "auto" and page.is_piece:
            return self._shared(visit, url, "too_short")
        return self._by_field(page, url, visit)

    def _by_field(self, page: PageText, url: str | None, visit: Visit | None) -> Judgement | Wanted:
        if visit is None:
            return Wanted(url or "", page)
        url = url or visit.url
        if _is_whole_response(page, visit.response):
            return self._own(visit, url)
        return visit.known(url, page.digest) or Wanted(url, page, visit, page.digest)

    def _shared(self, visit: Visit | None, url: str | None, reason: str) -> Judgement | Wanted:
        """Judge an item by its response; without one it stays unjudged for this reason."""
        if visit is None:
            return _unjudged("no_response" if reason == "no_field" else reason, url)
        return self._own(visit)

    def _own(self, visit: Visit, url: str | None = None) -> Judgement | Wanted:
        """Return the judgement on the response's own text, made once."""
        if visit.own is not None and not visit.own.is_void:
            return visit.own
        # If judging fails, it fails once: the other items share this instead of trying again.
        visit.own = Judgement(Verdict("unjudged", reason="error"), visit.url, is_counted=True)
        response = visit.response
        page = "no_response" if response is None else response_page(response)
        if isinstance(page, str):
            visit.own = _unjudged(page, visit.url)
            return visit.own
        return Wanted(url or visit.url, page, visit, is_own=True)

    def _is_page(self, visit: Visit | None, page: PageText) -> bool:
        """Tell whether what a guess found is a page. That of a whole response needs no reading."""
        is_whole = visit is not None and _is_whole_response(page, visit.response)
        return is_whole or is_long(page, self._is_long_enough)

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


def _absolute(url: str | None, visit: Visit | None) -> str | None:
    if url is None or visit is None:
        return url
    try:
        return urljoin(visit.url, url)
    except ValueError:  # such as http://[1/
        return visit.url


def _unjudged(reason: str, url: str | None) -> Judgement:
    return Judgement(Verdict("unjudged", reason=reason), url or "")


def _is_whole_response(page: PageText, response: Response | None) -> bool:
    """Tell whether an item carries its response's body, whose tree need not be parsed again."""
    if not isinstance(response, HtmlResponse):
        return False
    if isinstance(page.html, bytes):
        return page.html == response.body
    return page.html == response.text
