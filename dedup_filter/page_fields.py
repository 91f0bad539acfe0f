"""Fields by name -> the text of a page, or the reason why they have none.

They say where the page's text is by name: by names that the user gave, which are orders, or by
names that fields with page text usually bear, which are guesses. A guess must prove itself: a
field called `content` or `html` may hold anything, also a piece of the page. Of all guesses the
first counts that the caller takes for a page; `is_long` tells whether its text is long enough
for one (the filter says how long that is; tags, scripts and styles are no text). Where there is
none, what begins as a whole document is a short page, and anything else a piece of one.

Pure: fields are any mapping of names, those of a Scrapy item or of a line of JSON.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import xxhash
from lxml import etree

from dedup_filter.text import as_utf8, decode, parse_page

__all__ = [
    "HTML_NAMES",
    "TEXT_NAMES",
    "URL_NAMES",
    "FieldNames",
    "Fields",
    "PageText",
    "is_long",
    "looks_like_markup",
    "page_in",
    "url_in",
]

Fields = Mapping[str, Any]

# fmt: off
HTML_NAMES = (
    "html", "raw_html", "page_html", "full_html", "html_content", "content_html",
    "html_body", "body_html", "response_html", "html_source", "page_source",
    "browserHtml", "articleBodyHtml",
)
TEXT_NAMES = (
    "text", "page_text", "body_text", "full_text", "main_text", "plain_text", "raw_text",
    "text_content", "content_text", "article_text", "article_body", "articleBody",
    "article_content", "main_content", "content", "article", "body",
)
# fmt: on
URL_NAMES = ("url", "page_url", "link", "source_url", "canonical_url", "permalink", "uri")

_MARKUP_STARTS = ("!", "?", "/")
_DOCUMENT = re.compile(r"[\ufeff\s\0]*(<\?[^>]*>\s*)?<(!doctype\s+html|html)\b", re.IGNORECASE)
_START = 1000

_ENOUGH_CHARACTERS = 1000
_ENOUGH_MARKUP = 16 * 1024
"""What is long enough shows it in so many characters, mostly; reading all of a long page only to
learn that would take as long as judging it."""
_MOST_MARKUP = 2**20
"""Characters of markup in which a page shows that it is long enough, or is not believed to be."""


@dataclass(frozen=True)
class FieldNames:
    """Where the user says that the page is. Nothing named: names are guessed."""

    html: str | None = None
    text: tuple[str, ...] = ()
    url: str | None = None

    @property
    def are_orders(self) -> bool:
        """Whether the page's text is where these names say, and nowhere else."""
        return bool(self.html or self.text)


@dataclass(frozen=True)
class PageText:
    """What the filter is to judge: either `html` or `text` is given."""

    html: str | bytes | etree._Element | None = None
    text: str | None = None
    content_type: str | None = None
    size: int = 0
    """Bytes of the page."""
    digest: bytes = b""
    """16 bytes, equal for equal fields of items."""
    is_piece: bool = False
    """It was found by a guess, and is too short to be a whole page."""


def page_in(
    fields: Fields, names: FieldNames, is_page: Callable[[PageText], bool]
) -> PageText | str:
    """Return the text of a page, or the reason why there is none.

    `is_page` tells whether what a guess found is a page.
    """
    return _named_page(fields, names) if names.are_orders else _guessed_page(fields, is_page)


def is_long(page: PageText, is_long_enough: Callable[[str], bool]) -> bool:
    """Tell whether what was found has a text that is long enough. Requires: it is no tree."""

    def has_words(text: str) -> bool:
        return _shows(text, _ENOUGH_CHARACTERS, is_long_enough)

    if page.text is not None:
        return has_words(page.text)
    markup: Any = page.html
    return _shows(markup[:_MOST_MARKUP], _ENOUGH_MARKUP, lambda part: has_words(_text_of(part)))


def url_in(fields: Fields, names: FieldNames) -> str | None:
    """Return the URL of a page, or None if no field tells."""
    for name in (names.url,) if names.url else URL_NAMES:
        url = _joined(_value(fields, name))
        if isinstance(url, str) and url.strip():
            return url.strip()
    return None


def looks_like_markup(text: str) -> bool:
    """Tell whether a text begins with a tag, as pages and pieces of pages do.

    >>> looks_like_markup("  <p>Hello"), looks_like_markup("a < b"), looks_like_markup("<3")
    (True, False, False)
    """
    start = text[:_START].lstrip("\ufeff \t\r\n\f\0")
    return start[:1] == "<" and (start[1:2].isalpha() or start[1:2] in _MARKUP_STARTS)


def _named_page(fields: Fields, names: FieldNames) -> PageText | str:
    if names.html is not None:
        page = _html_page(_value(fields, names.html))
        if page != "no_field" or not names.text:
            return page
    parts = [_value(fields, name) for name in names.text]
    return _text_page([part for part in parts if part is not None] or None)


def _guessed_page(fields: Fields, is_page: Callable[[PageText], bool]) -> PageText | str:
    reason, short = "no_field", None
    for name in (*HTML_NAMES, *TEXT_NAMES):
        page = _guess(_value(fields, name), is_html=name in HTML_NAMES)
        if isinstance(page, str) or not page.size:
            reason = _better_reason(reason, page)
        elif is_page(page):
            return page
        elif short is None:
            short = page
    return reason if short is None else replace(short, is_piece=not _is_document(short.html))


def _better_reason(known: str, found: PageText | str) -> str:
    """Of several fields that are of no use, keep the reason that tells most."""
    if isinstance(found, PageText):
        return "no_text"
    return known if found == "no_field" else found


def _guess(value: Any, *, is_html: bool) -> PageText | str:
    """Read a field found by its name; `content`, `body`, ... fit markup as well as text."""
    if is_html or (isinstance(value, str) and looks_like_markup(value)):
        return _html_page(value)
    content = _joined(value)
    if not isinstance(content, str):
        return "no_field" if content is None else "wrong_type"
    return PageText(text=content, **_measures(content))


def _shows(written: Any, enough: int, tells: Callable[[Any], bool]) -> bool:
    """Ask about the beginning; about all only if that does not tell."""
    return tells(written[:enough]) or (len(written) > enough and tells(written))


def _text_of(html: str | bytes) -> str:
    """Return what a reader sees of a page or of a piece of one."""
    page = parse_page(as_utf8(html) if isinstance(html, bytes) else html)
    return "" if page is None else "\n".join(block.text for block in page.blocks)


def _is_document(html: Any) -> bool:
    """Tell whether markup begins as a whole page does."""
    start = decode(html[:_START]) if isinstance(html, bytes) else html
    return isinstance(start, str) and _DOCUMENT.match(start[:_START]) is not None


def _html_page(value: Any) -> PageText | str:
    html = _joined(value)
    if html is None:
        return "no_field"
    if not isinstance(html, str | bytes):
        return "wrong_type"
    return PageText(html=html, **_measures(html))


def _text_page(value: list[Any] | None) -> PageText | str:
    if value is None:
        return "no_field"
    parts = [_joined(part) for part in value]
    if not _all_strings(parts):
        return "wrong_type"
    text = "\n".join(parts)
    return PageText(text=text, **_measures(text))


def _measures(content: str | bytes) -> dict[str, Any]:
    encoded = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    return {"size": len(encoded), "digest": xxhash.xxh3_128_digest(encoded)}


def _value(fields: Fields, name: str) -> Any:
    try:
        return fields.get(name)
    except AttributeError:  # a dataclass or attrs field that was never given a value
        return None


def _joined(value: Any) -> Any:
    """Join what an item loader leaves: a list of strings. Anything else stays as it is."""
    if isinstance(value, list | tuple) and _all_strings(value):
        return "\n".join(value)
    return value


def _all_strings(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)
