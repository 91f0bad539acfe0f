"""Responses and items -> their pages, and the judgements that items of one response share.

Scrapy does not pass the response to a pipeline. The spider middleware knows the response, so it
registers each item object that it passes on (`expect`), and the pipeline finds the response by the
identity of the object (`giver`). The item is judged by its own fields if settings name them
(DEDUP_SOURCE="item": always), or if its response is not a page; else by its response.

The page of a response is

    HTML    by Scrapy's class or the header, or if a text begins like a whole HTML document
    text    any other text/*, or text without a header
    none    if it holds many pages or records (feeds, XML, JSON, tables) or none (images); its bytes
            are judged if the options `payloads` and `read_pdf` say so

XML and JSON are also recognized by their beginning: servers often call them text/plain or
text/html. A page is read from the received bytes, never from the spider's tree, which a spider may
change; this costs a second parse, 0.9 ms for 100 KB.

No page of a response is a duplicate of another page of the same response: items with the same page
text share one judgement, and so do items whose pages repeat one another.
The items of a feed are separate pages, distinguished by their URLs.
"""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin
from weakref import WeakKeyDictionary, ref

from itemadapter import ItemAdapter
from scrapy.http import HtmlResponse, JsonResponse, Request, Response, TextResponse, XmlResponse

from dedup_filter.filter import PlacedPage
from dedup_filter.model import Reason
from dedup_filter.scrapy_plugin.page_fates import Judgement, ResponseItems
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.stats import NOT_JUDGED, CrawlStats
from dedup_filter.text.decode import decode, looks_binary
from dedup_filter.text.page_fields import (
    FieldNames,
    PageText,
    is_document,
    names_in,
    page_in,
    url_in,
)
from dedup_filter.text.payloads import BYTES_TYPE, Payloads
from dedup_filter.text.reading import MAX_PAGE_LENGTH
from dedup_filter.wording import printable

NO_PAYLOADS = Payloads()
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_DATA_ENDINGS = ("xml", "json", "csv", "tab-separated-values", "calendar")
"""Endings of the text types that hold many records."""
_DATA_START = re.compile(
    rb'[\xef\xbb\xbf\s]*(<\?xml|<rss\b|<feed\b|\{\s*"|\[\s*[{"])', re.IGNORECASE
)
_MOST_SHARED = 2000
"""Judgements that the items of one response (a feed) can share."""
_LONGEST = 500
"""Characters of a list of fields in a warning."""

logger = logging.getLogger("dedup_filter")


@dataclass(eq=False)
class Page:
    """The page of an item: its response, or the text in its own fields."""

    url: str
    text: PageText | Reason
    """The text of the page, or the reason why there is none."""
    reading: Future[PlacedPage] | None = None
    """The page once it is read; None: reading has not started."""
    judgement: Judgement | None = None
    """The last judgement on the page."""


class Visit:
    """One response, as long as Scrapy holds it: until its last item has left the pipelines."""

    def __init__(self, response: Response | None, payloads: Payloads = NO_PAYLOADS) -> None:
        request = None if response is None else response.request
        self.url = "" if response is None else response.url
        self.page: Page | None = None
        """The page of the response, once `read` was called."""
        self.is_one_page = response is not None and _is_one_page(response)
        self._payloads = payloads
        self._response = (lambda: None) if response is None else ref(response)
        self.urls = () if request is None or request.method != "GET" else _urls(self.url, request)
        """URLs that lead to this response: its own, and URLs that redirected to it."""
        self.opted_out = request is not None and request.meta.get("dedup") is False
        self.expected: list[Any] = []
        """Items that have not reached the pipeline."""
        self.items = ResponseItems()
        self._shared: dict[str | int, Judgement] = {}
        """Judgements on pages of its items, by URL (the first) and by the hash of their text."""

    def read(self) -> Page:
        """Return the page of the response; a reason, if it holds many pages or none."""
        if self.page is None:
            response = self._response()
            if response is None:
                return Page(self.url, "no_response")
            text: PageText | Reason = "not_html"
            if self.is_one_page and isinstance(response, TextResponse):
                text = _page_text(response)
            if isinstance(text, str) and self._payloads.take(response.body):
                text = PageText(html=response.body, content_type=BYTES_TYPE)
            self.page = Page(self.url, text)
        return self.page

    def known(self, page: Page) -> Judgement | None:
        """Return the valid judgement on a page of this visit; None: the page must be claimed."""
        if page.judgement is not None and page.judgement.fate != "gone":
            return page.judgement
        is_of_item = page is not self.page and not isinstance(page.text, str)
        return self._shared_by(self._key(page)) if is_of_item else None

    def share(self, page: Page, judgement: Judgement) -> Judgement:
        """Return the valid judgement: the first, if the page repeats only its own response."""
        original = judgement.verdict.original or ""
        if judgement.verdict.is_duplicate and (self.is_one_page or original == page.url):
            judgement = self._shared_by(original) or judgement
        for key in (page.url, self._key(page)):
            self._shared[key] = self._shared_by(key) or judgement
        while len(self._shared) > _MOST_SHARED:
            del self._shared[next(iter(self._shared))]
        return judgement

    def _key(self, page: Page) -> int:
        return hash((self.is_one_page or page.url, page.text))

    def _shared_by(self, key: str | int) -> Judgement | None:
        found = self._shared.get(key)
        return None if found is None or found.fate == "gone" else found


class Visits:
    """The responses of a crawl that Scrapy holds."""

    def __init__(
        self,
        settings: PluginSettings,
        payloads: Payloads,
        stats: CrawlStats,
        orphans: ResponseItems,
    ) -> None:
        self._payloads, self._stats = payloads, stats
        self._fields = ItemFields(settings.field_names)
        # If settings name fields, items are judged as with DEDUP_SOURCE="item".
        is_by_names = settings.source == "auto" and self._fields.names.name_page
        self.source = "item" if is_by_names else settings.source
        self._visits: WeakKeyDictionary[Response, Visit] = WeakKeyDictionary()
        self.no_response = Visit(None)
        """The visit of all items without a response."""
        self.no_response.items = orphans

    def of(self, response: Any) -> Visit:
        """Return the visit of a response, a new one the first time."""
        if not isinstance(response, Response):
            return self.no_response
        try:
            if response not in self._visits:
                self._visits[response] = Visit(response, self._payloads)
                if self._visits[response].opted_out:
                    self._stats.add("opted_out")
            return self._visits[response]
        except Exception as fault:
            self._stats.fault(fault, NOT_JUDGED)
            return self.no_response

    def giver(self, item: Any) -> Visit:
        """Return the visit that gave an item.

        If another pipeline replaced the item, its visit is found by the URL of its page, provided
        that only one visit under way has this URL.
        """
        visits = [*self._visits.values(), self.no_response]
        for visit in visits:
            for place, expected in enumerate(visit.expected):
                if expected is item:
                    del visit.expected[place]
                    return visit
        url = self._fields.url(item)
        there = [visit for visit in visits if visit.url == url]
        return there[0] if len(there) == 1 else self.no_response

    def page(self, item: Any, visit: Visit) -> Page:
        """Return the page of an item. The item's URL may be relative to its response's URL."""
        is_by_response = visit.is_one_page and self.source == "auto"
        if not is_by_response and self.source != "response":
            text = self._fields.page(item)
            if not isinstance(text, str) or self.source == "item":
                url = self._fields.url(item)
                with suppress(ValueError):  # such as http://[1/
                    return Page(urljoin(visit.url, url), text)
                return Page(visit.url or url, text)
        return visit.read()


class ItemFields:
    """Read the page and the URL in the fields of the items of one crawl.

    If DEDUP_HTML_FIELD or DEDUP_TEXT_FIELDS names fields that an item does not have, or that hold
    no text, the names may be misspelt: the log names the item's fields, once for each reason.
    """

    def __init__(self, names: FieldNames) -> None:
        self.names = names
        self._warned: set[Reason] = set()

    def url(self, item: Any) -> str:
        """Return the URL of an item's page, "" if there is none in its fields."""
        return url_in(_Fields(item), self.names) or ""

    def page(self, item: Any) -> PageText | Reason:
        """Return the text of an item's page, or the reason why its fields hold none."""
        fields = _Fields(item)
        page = page_in(fields, self.names)
        if isinstance(page, str) and self.names.name_page and page not in self._warned:
            self._warned.add(page)
            logger.warning("%s %s", type(item).__name__, self._warning(fields, page))
        return page

    def _warning(self, fields: Mapping[str, Any], reason: Reason) -> str:
        html = [] if self.names.html is None else [self.names.html]
        named = {"HTML_FIELD": html, "TEXT_FIELDS": self.names.text}
        looked = [f"{_listed(each)} (DEDUP_{name})" for name, each in named.items() if each]
        return (
            f"without page text ({reason}): looked for {', '.join(looked)}; its fields are "
            f"{_listed(names_in(fields)) or 'none'}; it and others like it are kept unjudged"
        )


class _Fields(Mapping[str, Any]):
    """The fields of an item, whatever the kind of the item and of the items within it."""

    def __init__(self, item: Any) -> None:
        self._item = ItemAdapter(item if ItemAdapter.is_item(item) else {})

    def __getitem__(self, name: str) -> Any:
        try:
            value = self._item[name]
        except AttributeError:  # a dataclass or attrs field without a value
            return None
        return _Fields(value) if ItemAdapter.is_item(value) else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._item)

    def __len__(self) -> int:
        return len(self._item)


def _listed(names: Iterable[object]) -> str:
    return printable(", ".join(map(repr, names)), _LONGEST)


def _urls(url: str, request: Request) -> tuple[str, ...]:
    redirected = request.meta.get("redirect_urls", ())
    return (*(each for each in redirected if isinstance(each, str)), url)


def _page_text(response: TextResponse) -> PageText | Reason:
    # If no encoding is declared, `response.encoding` is Scrapy's guess; the filter guesses better.
    encoding, body = response._declared_encoding(), response.body
    content_type = None if encoding is None else f"text/html; charset={encoding}"
    link = b", ".join(response.headers.getlist("Link")).decode("latin-1") or None
    is_html = isinstance(response, HtmlResponse) or _media_type(response) in _HTML_TYPES
    if is_html or is_document(body):
        return PageText(html=body, content_type=content_type, link=link)
    if len(body) > MAX_PAGE_LENGTH:
        return "too_large"
    return "binary" if looks_binary(body) else PageText(text=decode(body, content_type), link=link)


def _is_one_page(response: Response) -> bool:
    """Return whether a response is one page, not many (a feed, an API) or none (an image)."""
    if not isinstance(response, TextResponse) or isinstance(response, XmlResponse | JsonResponse):
        return False
    kind = _media_type(response)
    is_text = not kind or (kind.startswith("text/") and not kind.endswith(_DATA_ENDINGS))
    is_page = is_text or kind in _HTML_TYPES or isinstance(response, HtmlResponse)
    # Hardly any page begins like data, so only such a start is decoded.
    return is_page and (_DATA_START.match(response.body) is None or is_document(response.body))


def _media_type(response: Response) -> str:
    header = response.headers.get("Content-Type") or b""
    return header.decode("latin-1").partition(";")[0].strip().lower()
