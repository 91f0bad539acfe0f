"""Items and responses -> the page of each.

An item is judged by its own fields if settings name them (DEDUP_SOURCE="item": always), or if its
response is not a page; else by its response.

The page of a response is

    HTML    by Scrapy's class or the header, or if a text begins like a whole HTML document
    text    any other text/*, or text without a header
    none    if it holds many pages or records (feeds, XML, JSON, tables) or none (images); its bytes
            are judged if the options `payloads` and `read_pdf` say so

XML and JSON are also recognized by their beginning: servers often call them text/plain or
text/html. A page is read from the received bytes, never from the spider's tree, which a spider may
change; this costs a second parse, 0.9 ms for 100 KB.
"""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from itemadapter import ItemAdapter
from scrapy.http import HtmlResponse, JsonResponse, Response, TextResponse, XmlResponse

from dedup_filter.model import Reason
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

_HTML_TYPES = ("text/html", "application/xhtml+xml")
_DATA_ENDINGS = ("xml", "json", "csv", "tab-separated-values", "calendar")
"""Endings of the text types that hold many records."""
_DATA_START = re.compile(
    rb'[\xef\xbb\xbf\s]*(<\?xml|<rss\b|<feed\b|\{\s*"|\[\s*[{"])', re.IGNORECASE
)
_LONGEST = 500
"""Characters of a list of fields in a warning."""

logger = logging.getLogger("dedup_filter")


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


def page_of(response: Response, payloads: Payloads) -> PageText | Reason:
    """Return the page of a response, or the reason why there is none."""
    text: PageText | Reason = "not_html"
    if isinstance(response, TextResponse) and is_one_page(response):
        text = _page_text(response)
    if isinstance(text, str) and payloads.take(response.body):
        text = PageText(html=response.body, content_type=BYTES_TYPE)
    return text


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


def is_one_page(response: Response) -> bool:
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
