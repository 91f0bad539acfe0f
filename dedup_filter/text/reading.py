"""What a caller has of a page -> Page or Document, or the reason why there is neither.

no_text      there is nothing in it
by_script    its text is made by scripts; what there is says nothing of the page
binary       it is no text
too_large    it is longer, or has more tags, than is worth the time
"""

from dataclasses import replace
from math import inf

import xxhash
from lxml import etree

from dedup_filter.model import Document
from dedup_filter.text.decode import as_utf8, looks_binary
from dedup_filter.text.page import NO_PARTS, Page, WantedParts, parse_page, read_page

__all__ = ["MAX_PAGE_LENGTH", "MAX_TAGS", "MAX_TEXT_LENGTH", "Html", "read"]

MAX_PAGE_LENGTH = 16 * 2**20
"""Bytes or characters of a page beyond which it is left unjudged: parsing it would hold up
the crawl for seconds, and pages of such length are dumps of data."""
MAX_TEXT_LENGTH = 2 * 2**20
"""Characters of text beyond which a page is left unjudged: jieba cuts a million in two seconds."""
MAX_TAGS = 400_000
"""Tags of a page beyond which it is left unjudged: they take a second and 200 MB to parse, whatever
is read of them. The longest manuals on one page have 100,000."""

Html = str | bytes | etree._Element | etree._ElementTree


def read(
    html: Html | None,
    text: str | None,
    content_type: str | None,
    wanted: WantedParts = NO_PARTS,
) -> Page | Document | str:
    """Return the page of some HTML, the document of a text, or a reason.

    Raises:
        TypeError: neither is given, or both, or something that cannot be a page.
    """
    if (html is None) == (text is None):
        raise TypeError("give either html or text")
    if isinstance(html, etree._Element | etree._ElementTree):
        return _bounded(read_page(html, wanted))
    if not isinstance(text, str | None) or not isinstance(html, str | bytes | None):
        given = text if html is None else html
        raise TypeError(f"a page cannot be made of {type(given).__name__}")
    if not isinstance(content_type, str | None):
        raise TypeError(f"content_type is a str, not {type(content_type).__name__}")
    return _read_text(text or "") if html is None else _read_html(html, content_type, wanted)


def _read_text(text: str) -> Document | str:
    return "too_large" if len(text) > MAX_TEXT_LENGTH else Document(text)


def _read_html(html: str | bytes, content_type: str | None, wanted: WantedParts) -> Page | str:
    if len(html) > MAX_PAGE_LENGTH:
        return "too_large"
    if isinstance(html, bytes):
        if looks_binary(html):
            return "binary"
        html = as_utf8(html, content_type)
    if len(html) > MAX_TAGS and _tags(html) > MAX_TAGS:
        return "too_large"
    page = parse_page(html, wanted)
    if page is None:
        return "no_text"
    if page.is_by_script:
        # Its bytes are all that there is to know it by.
        body = html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html
        return replace(page, unread_words=inf, unread_hash=xxhash.xxh3_64_intdigest(body))
    return _bounded(page)


def _tags(html: str | bytes) -> int:
    return html.count("<") if isinstance(html, str) else html.count(b"<")


def _bounded(page: Page) -> Page | str:
    if page.is_by_script:
        return "by_script"
    length = len(page.title) + sum([len(block.text) for block in page.blocks])
    return "too_large" if length > MAX_TEXT_LENGTH else page
