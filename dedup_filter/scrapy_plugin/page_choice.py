"""Item or response -> the page that it stands for, or the judgement that there is on it.

What an item is judged by (DEDUP_SOURCE):

    response    the response it comes from, as all items of that response
    item        its own fields
    auto        its own fields if settings name them, or if no response that is a page brought it;
                else its response

What page a response is:

    HTML    by Scrapy's class or the header, or text that begins as a whole HTML document
    text    any other text/*, or text without a header
    none    what holds many pages or records (feeds, XML, JSON, tables) or none (images)

XML and JSON are known by class and header, and by how they begin: servers call them text/plain or
text/html often enough, and one verdict for all that a feed holds would lose most of it. A page is
read from the bytes that came, never from the spider's tree, which a spider may change. Cost: that
of parsing a page again which the spider has parsed, 0.9 ms for 100 KB.
"""

import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin
from weakref import ref

from itemadapter import ItemAdapter
from scrapy.http import HtmlResponse, JsonResponse, Request, Response, TextResponse, XmlResponse

from dedup_filter.model import Verdict
from dedup_filter.scrapy_plugin.page_fate import Judgement
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.text import decode, looks_binary
from dedup_filter.text.page_fields import FieldNames, PageText, is_document, page_in, url_in
from dedup_filter.text.reading import MAX_PAGE_LENGTH

if TYPE_CHECKING:
    from collections import deque

__all__ = [
    "Choice",
    "Visit",
    "Wanted",
    "holds_one_page",
    "item_page",
    "item_url",
    "of_response",
    "response_page",
]

_REMEMBERED_PAGES = 1000
"""Pages of one response, a feed, whose judgements its items can share."""
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_DATA_ENDINGS = ("xml", "json", "csv", "tab-separated-values", "calendar")
"""How the names of those text types end that hold many records."""
_DATA_START = re.compile(
    rb'[\xef\xbb\xbf\s]*(<\?xml|<rss\b|<feed\b|\{\s*"|\[\s*[{"])', re.IGNORECASE
)

logger = logging.getLogger("dedup_filter")


class Visit:
    """One response, and the judgements that its items share.

    A page is never a duplicate of itself. Items with the same page text share one judgement; an
    item whose page repeats one that this very response brought gets that page's judgement. If the
    response is not a page but holds many (a feed, an answer of an API), its items are pages of
    their own, told apart by their URLs.
    """

    def __init__(self, response: Response) -> None:
        request = response.request
        self._response = ref(response)
        self.url = response.url
        # Of the two only that of the request has a fragment.
        self._own_urls = {response.url, getattr(request, "url", response.url)}
        self._was_unfiltered = bool(getattr(request, "dont_filter", False))
        self.opted_out = request is not None and request.meta.get("dedup") is False
        self.is_counted = False
        """Whether the opt-out is in the stats."""
        self.is_one_page = holds_one_page(response)
        self.own: Judgement | None = None
        """The judgement on the response's own text, once there is one."""
        self.expected: dict[int, deque[tuple[int, Any]]] = {}
        """Items that have not reached the pipeline, by identity, with their place in the order."""
        self.items_to_come = 0
        """Items that it gave and whose outcome is not known."""
        self.gave_items = False
        self.has_ended = False
        """Whether its output is exhausted, or broke off."""
        self.has_failed = False
        self.is_retried = False
        """Whether its page was requested again: what it lacked may come then."""
        self._by_digest: dict[tuple[str, bytes], Judgement] = {}
        self._by_url: dict[str, Judgement] = {}

    @property
    def response(self) -> Response | None:
        """The response, as long as Scrapy works on it."""
        return self._response()

    @property
    def is_page_to_judge(self) -> bool:
        """Whether the response itself is a page on which a verdict is wanted."""
        return self.is_one_page and not self.opted_out

    @property
    def is_over(self) -> bool:
        """Whether it has no item under way and will give none."""
        return self.has_ended and not self.items_to_come

    @property
    def gave_only_links(self) -> bool:
        """Whether its output ended without a failure, an item or a retry."""
        return self.has_ended and not (self.gave_items or self.has_failed or self.is_retried)

    def asks_for_itself(self, request: Request) -> bool:
        """Tell whether a request of its output is for the page itself; note if it is a retry."""
        is_own = request.url in self._own_urls
        # Scrapy filters out all others: they are links of a page to itself.
        if is_own and (request.dont_filter or self._was_unfiltered):
            self.is_retried = True
        return is_own

    def known(self, url: str, digest: bytes) -> Judgement | None:
        """Return the judgement on a page text that this response brought before."""
        return _valid(self._by_digest.get(self._key(url, digest)))

    def share(self, judgement: Judgement, digest: bytes | None = None) -> Judgement:
        """Return the judgement that holds: the first one, if the page repeats only itself."""
        first = self._first(judgement)
        if first is not None:
            judgement = first
        elif not judgement.verdict.is_duplicate:
            _remember(self._by_url, judgement.url, judgement)
        if digest is not None:
            _remember(self._by_digest, self._key(judgement.url, digest), judgement)
        return judgement

    def _first(self, judgement: Judgement) -> Judgement | None:
        original = judgement.verdict.original
        if not judgement.verdict.is_duplicate or original is None:
            return None
        if not self.is_one_page and original != judgement.url:
            return None
        return _valid(self._by_url.get(original))

    def _key(self, url: str, digest: bytes) -> tuple[str, bytes]:
        return ("" if self.is_one_page else url), digest


@dataclass(frozen=True, eq=False)
class Wanted:
    """A page on which there is no judgement yet."""

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
            return _by_response(visit, url)  # its reason tells why there is no page
        return _unjudged(page, url)

    def _is_by_response(self, visit: Visit | None) -> bool:
        if self._source != "auto" or self._names.name_page:
            return self._source == "response"
        return visit is not None and visit.is_one_page

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


def item_page(item: Any, names: FieldNames) -> PageText | str:
    """Return the page of an item of any kind that itemadapter knows, or why there is none."""
    return page_in(ItemAdapter(item), names) if ItemAdapter.is_item(item) else "no_field"


def item_url(item: Any, names: FieldNames) -> str | None:
    """Return the URL of an item's page, or None if the item does not tell."""
    return url_in(ItemAdapter(item), names) if ItemAdapter.is_item(item) else None


def response_page(response: Response) -> PageText | str:
    """Return the page of a response, or the reason why there is none."""
    if not isinstance(response, TextResponse) or not holds_one_page(response):
        return "not_html"
    # `response.encoding` would be Scrapy's guess where none is declared; the filter guesses better.
    encoding, body = response._declared_encoding(), response.body
    content_type = None if encoding is None else f"text/html; charset={encoding}"
    is_html = isinstance(response, HtmlResponse) or _media_type(response) in _HTML_TYPES
    if is_html or is_document(body):
        return PageText(html=body, content_type=content_type, size=len(body))
    if len(body) > MAX_PAGE_LENGTH:
        return "too_large"
    if looks_binary(body):
        return "binary"
    return PageText(text=decode(body, content_type), size=len(body))


def holds_one_page(response: Response) -> bool:
    """Tell a page from what holds many (a feed, an answer of an API) or none (an image)."""
    if not isinstance(response, TextResponse) or isinstance(response, XmlResponse | JsonResponse):
        return False
    if not isinstance(response, HtmlResponse) and not _may_be_page(_media_type(response)):
        return False
    # Asked last, as it decodes the start of the body: hardly a page begins as data does.
    return _DATA_START.match(response.body) is None or is_document(response.body)


def _may_be_page(media_type: str) -> bool:
    is_text = media_type.startswith("text/") and not media_type.endswith(_DATA_ENDINGS)
    return is_text or media_type in ("", *_HTML_TYPES)


def _media_type(response: Response) -> str:
    header = response.headers.get("Content-Type") or b""
    return header.decode("latin-1").partition(";")[0].strip().lower()


def _by_field(page: PageText, url: str | None, visit: Visit | None) -> Judgement | Wanted:
    if visit is None:
        return Wanted(url or "", page)
    url = url or visit.url
    return visit.known(url, page.digest) or Wanted(url, page, visit, page.digest)


def _by_response(visit: Visit | None, url: str | None) -> Judgement | Wanted:
    return _unjudged("no_response", url) if visit is None else of_response(visit)


def of_response(visit: Visit) -> Judgement | Wanted:
    """Return what a response is judged by; the judgement on it is made once."""
    known = _valid(visit.own)
    if known is not None:
        return known
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


def _valid(judgement: Judgement | None) -> Judgement | None:
    return None if judgement is None or judgement.is_void else judgement


def _remember(judgements: dict[Any, Judgement], key: Any, judgement: Judgement) -> None:
    """Keep the first judgement for a key that is not void, and a bounded number of keys."""
    if _valid(judgements.get(key)) is None:
        judgements[key] = judgement
    if len(judgements) > _REMEMBERED_PAGES:
        del judgements[next(iter(judgements))]
