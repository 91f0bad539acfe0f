"""Responses -> their pages, and the judgements that their items share.

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

import re
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any
from weakref import ref

from scrapy.http import HtmlResponse, JsonResponse, Request, Response, TextResponse, XmlResponse

from dedup_filter.filter import PlacedPage
from dedup_filter.model import Reason
from dedup_filter.scrapy_plugin.page_fates import Judgement, ResponseItems
from dedup_filter.text.decode import decode, looks_binary
from dedup_filter.text.page_fields import PageText, is_document
from dedup_filter.text.payloads import BYTES_TYPE, Payloads
from dedup_filter.text.reading import MAX_PAGE_LENGTH

NO_PAYLOADS = Payloads()
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_DATA_ENDINGS = ("xml", "json", "csv", "tab-separated-values", "calendar")
"""Endings of the text types that hold many records."""
_DATA_START = re.compile(
    rb'[\xef\xbb\xbf\s]*(<\?xml|<rss\b|<feed\b|\{\s*"|\[\s*[{"])', re.IGNORECASE
)
_MOST_SHARED = 2000
"""Judgements that the items of one response (a feed) can share."""


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
