"""What a caller has of a page -> Page or Document, or the reason why there is neither."""

from lxml import etree

from dedup_filter.model import Document
from dedup_filter.text import (
    NO_PARTS,
    Page,
    WantedParts,
    as_utf8,
    looks_binary,
    parse_page,
    read_page,
)

__all__ = ["MAX_PAGE_LENGTH", "MAX_TEXT_LENGTH", "Html", "read"]

MAX_PAGE_LENGTH = 16 * 2**20
"""Bytes or characters of a page beyond which it is left unjudged: parsing it would hold up
the crawl for seconds, and pages of such length are dumps of data."""
MAX_TEXT_LENGTH = 2 * 2**20
"""Characters of text beyond which a page is left unjudged: jieba cuts a million in two seconds."""

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
    page = parse_page(html, wanted)
    return "no_text" if page is None else _bounded(page)


def _bounded(page: Page) -> Page | str:
    length = len(page.title) + sum([len(block.text) for block in page.blocks])
    return "too_large" if length > MAX_TEXT_LENGTH else page
