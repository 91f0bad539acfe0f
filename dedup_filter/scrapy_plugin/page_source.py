"""Item or response -> its page, or the reason why there is none.

What page a response is:

    HTML    by Scrapy's class or the header, or text that begins as a whole HTML document
    text    any other text/*, or text without a header
    none    what holds many pages or records (feeds, XML, JSON, tables) or none (images)

XML and JSON are known by class and header, and by how they begin: servers call them text/plain or
text/html often enough, and one verdict for all that a feed holds would lose most of it. A page is
read from the bytes that came, never from the spider's tree, which a spider may change. Cost: that
of parsing a page again which the spider has parsed, 0.9 ms for 100 KB.
"""

import re
from typing import Any

from itemadapter import ItemAdapter
from scrapy.http import HtmlResponse, JsonResponse, Response, TextResponse, XmlResponse

from dedup_filter.text import decode, looks_binary
from dedup_filter.text.page_fields import FieldNames, PageText, is_document, page_in, url_in
from dedup_filter.text.reading import MAX_PAGE_LENGTH

__all__ = ["holds_one_page", "item_page", "item_url", "response_page"]

_HTML_TYPES = ("text/html", "application/xhtml+xml")
_DATA_ENDINGS = ("xml", "json", "csv", "tab-separated-values", "calendar")
"""How the names of those text types end that hold many records."""
_DATA_START = re.compile(
    rb'[\xef\xbb\xbf\s]*(<\?xml|<rss\b|<feed\b|\{\s*"|\[\s*[{"])', re.IGNORECASE
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
        return PageText(html=body, content_type=content_type)
    if len(body) > MAX_PAGE_LENGTH:
        return "too_large"
    if looks_binary(body):
        return "binary"
    return PageText(text=decode(body, content_type))


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
