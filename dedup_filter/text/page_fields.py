"""Fields by name -> the page of an item, or the reason why it has none.

If the user names fields, the page is in the field with HTML, else in the fields with text, joined.
If not, it is the only whole HTML document among the fields: no other value shows by itself that it
is a whole page. Two different documents give no page, because the choice would be a guess.

The reasons:

    no_field     there is no such field, or no document, or more than one
    wrong_type   a field holds neither str nor bytes, nor a list of str

A named field may lie within others: "a.b" is the field "a.b" or, if there is none, the field "b" of
the mapping in "a". Lists are not entered.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

from dedup_filter.model import Reason
from dedup_filter.text.decode import decode
from dedup_filter.text.reading import Html

Fields = Mapping[str, Any]

URL_NAMES = ("url", "page_url", "link", "source_url", "canonical_url", "permalink", "uri")

_START = 1000
"""Characters or bytes at the start of a value in which a whole document is recognised."""
_DOCUMENT = re.compile(
    r"([\ufeff\s\0]|<\?[^>]*>|<!--((?!-->).)*-->)*<(!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_DEEPEST = 4
"""Levels of nested fields whose names `names_in` yields."""


@dataclass(frozen=True)
class FieldNames:
    """The fields that the user names for the page and its URL."""

    html: str | None = None
    text: tuple[str, ...] = ()
    url: str | None = None
    title: str | None = None
    """The field with the headline of a page whose text, or part of HTML, has none."""

    @property
    def all(self) -> list[str]:
        """All fields that are named."""
        return [*filter(None, (self.html, *self.text, self.url, self.title))]

    @property
    def name_page(self) -> bool:
        """Whether the page is in named fields only."""
        return bool(self.html or self.text)


class PageText(NamedTuple):
    """The source of a page: either `html` or `text`; a tree has no size."""

    html: Html | None = None
    text: str | None = None
    content_type: str | None = None
    link: str | None = None
    """The HTTP header "Link", which may name a canonical URL."""
    title: str | None = None
    """The headline of a text, or of HTML that has no title."""

    @property
    def size(self) -> int:
        """Bytes of the page."""
        content = self.text if self.html is None else self.html
        if not isinstance(content, bytes):
            content = str(content).encode("utf-8", "surrogatepass")
        return len(content)


def page_in(fields: Fields, names: FieldNames) -> PageText | Reason:
    """Return the page of an item, or the reason why there is none."""
    if not names.name_page:
        documents = {each for name in fields if is_document(each := _value(fields, name))}
        return PageText(html=documents.pop()) if len(documents) == 1 else "no_field"
    title, html = (name and _value(fields, name) for name in (names.title, names.html))
    text = None
    if html is None:
        parts = [part for part in (_value(fields, name) for name in names.text) if part is not None]
        if not parts:
            return "no_field"
        if not _are_strings(parts):
            return "wrong_type"
        text = "\n".join(parts)
    if isinstance(html, str | bytes | None) and isinstance(title, str | None):
        return PageText(html, text, title=title)
    return "wrong_type"


def url_in(fields: Fields, names: FieldNames) -> str | None:
    """Return the URL of a page, or None if no field has one."""
    for name in (names.url,) if names.url else URL_NAMES:
        url = _value(fields, name)
        if isinstance(url, str) and url.strip():
            return url.strip()
    return None


def path_to(fields: Fields, name: str) -> tuple[str, ...]:
    """Return the names of the fields that lead to a field, the outermost first; () if none do."""
    if name in fields:
        return (name,)
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        first, rest = ".".join(parts[:end]), ".".join(parts[end:])
        inner = fields.get(first)
        if isinstance(inner, Mapping) and (found := path_to(inner, rest)):
            return (first, *found)
    return ()


def value_at(fields: Fields, name: str) -> Any:
    """Return the value of a field, None if it is not there."""
    path = path_to(fields, name)
    return reduce(getitem, path, fields) if path else None


def names_in(fields: Fields, deepest: int = _DEEPEST) -> Iterator[str]:
    """Yield the names of all fields; the name of a nested field is in the form of `path_to`."""
    for name, value in fields.items():
        if isinstance(value, Mapping) and value and deepest > 1:
            yield from (f"{name}.{inner}" for inner in names_in(value, deepest - 1))
        else:
            yield name


def is_document(content: Any) -> bool:
    """Return whether a value begins as a whole HTML document does."""
    start = content[:_START] if isinstance(content, str | bytes) else ""
    return _DOCUMENT.match(decode(start) if isinstance(start, bytes) else start) is not None


def _value(fields: Fields, name: str) -> Any:
    """Return the value of a field; a list of strings, as item loaders leave it, is joined."""
    value = value_at(fields, name)
    if isinstance(value, list | tuple) and _are_strings(value):
        return "\n".join(value)
    return value


def _are_strings(values: list[Any] | tuple[Any, ...]) -> bool:
    return all(isinstance(value, str) for value in values)
