"""An item or response -> the page that is to be judged, or the judgement that there is already.

What an item is judged by (DEDUP_SOURCE):

    response    the response it comes from, as all items of that response
    item        its own fields
    auto        its own fields if settings name them, or if there is no response that is a page;
                else its response
"""

import logging
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from dedup_filter.model import Verdict
from dedup_filter.scrapy_plugin.judgement import Judgement
from dedup_filter.scrapy_plugin.page_source import item_page
from dedup_filter.scrapy_plugin.response_page import response_page
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.visits import Visit
from dedup_filter.text.page_fields import PageText

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

    def __init__(self, settings: PluginSettings) -> None:
        self._source = settings.source
        self._names = settings.field_names
        self._has_warned = False

    def of_response(self, visit: Visit) -> Judgement | Wanted | None:
        """Return what a response is judged by; None if it is no page or opted out."""
        return _own(visit) if visit.is_page_to_judge else None

    def of_item(self, item: Any, url: str | None, visit: Visit | None) -> Judgement | Wanted:
        """Return what an item is judged by. Its URL may be relative to that of its response."""
        url = _absolute(url, visit)
        if self._is_by_response(visit):
            return _by_response(visit, url)
        page = item_page(item, self._names)
        if isinstance(page, PageText):
            return _by_field(page, url, visit)
        if self._names.name_page:
            self._warn_of_missing_field(item, page)
        elif self._source == "auto":
            return _by_response(visit, url)  # it tells why there is no page
        return _unjudged(page, url)

    def _is_by_response(self, visit: Visit | None) -> bool:
        if self._source != "auto" or self._names.name_page:
            return self._source == "response"
        return visit is not None and visit.is_one_page

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


def _by_field(page: PageText, url: str | None, visit: Visit | None) -> Judgement | Wanted:
    if visit is None:
        return Wanted(url or "", page)
    url = url or visit.url
    return visit.known(url, page.digest) or Wanted(url, page, visit, page.digest)


def _by_response(visit: Visit | None, url: str | None) -> Judgement | Wanted:
    return _unjudged("no_response", url) if visit is None else _own(visit)


def _own(visit: Visit) -> Judgement | Wanted:
    """Return the judgement on the response's own page, made once."""
    if visit.own is not None and not visit.own.is_void:
        return visit.own
    # If judging fails, it fails once: the other items share this instead of trying again.
    visit.own = Judgement(Verdict("unjudged", reason="error"), visit.url, is_counted=True)
    response = visit.response
    page = "no_response" if response is None else response_page(response)
    if isinstance(page, str):
        visit.own = _unjudged(page, visit.url)
        return visit.own
    return Wanted(visit.url, page, visit, is_own=True)


def _absolute(url: str | None, visit: Visit | None) -> str | None:
    if url is None or visit is None:
        return url
    try:
        return urljoin(visit.url, url)
    except ValueError:  # such as http://[1/
        return visit.url


def _unjudged(reason: str, url: str | None) -> Judgement:
    return Judgement(Verdict("unjudged", reason=reason), url or "")
