"""A refusal (why a page that is near another is kept) -> a sentence; elements that may be ignored.

    <section class="stats"><div>Sold 1037 times</div></section>    "Sold 1037 times"
    -> <div> ('Sold 1037 times'), ".stats > div", which may be a value of DEDUP_IGNORE

If only some lines are missing, `ignorable` finds the elements that contain them: the smallest with
all words of the line that the other page lacks; if no selector names it, the smallest with the
line. A selector is made of the id or class names of the element, or of an element around it with
the same text; or of its tag within an element that has an id or class names. Not used are names
made by a program (with digits, or letters in random case), which differ on other pages, and names
that CSS would have to escape. A selector must match few elements, and not most of the page's text.

Guarantee: sentences and hints can be shown on a terminal, and the selector can be pasted into
settings.

Cost of `ignorable`: a parse of the page, and three times as much again: 3 ms for 80 KB with 900
elements.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import accumulate, chain, islice
from math import ceil, floor
from typing import NamedTuple

from lxml import etree

from dedup_filter.features.tokens import tokens
from dedup_filter.model import MissingLine, Refusal, Rule
from dedup_filter.review.explained_page import tree_of
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.plain_text import normalize
from dedup_filter.thresholds import HALF
from dedup_filter.wording import counted, printable

_OF: dict[Rule, str] = {
    "hidden": "of hidden text ",
    "paragraph": "of a paragraph ",
    "lines": "of lines ",
    "words": "",
}
_LONGEST_URL = 500
_LONGEST = 60
"""Characters of a text, or of a name on a page, that are shown."""

_MOST_MATCHES = 10
"""Elements that a selector may match on a page; a name that matches more is too common."""
_MOST_NAMES = 3
"""Class names of an element in a selector; it may have dozens of utility classes ("flex", "mt")."""
_MOST_SELECTORS = 3
"""Selectors for a page. If more are needed, it differs in more than a few volatile elements."""
_MOST_AROUND = 8
"""Elements around a line whose names are tried."""
_MOST_LENGTH, _MOST_TRIES = 2**20, 64
"""Bytes or characters of a page, and selectors tried on it. Within these bounds the search takes no
longer than judging the page."""

UNLESS = "unless that text matters, as a price or a size does,"
"""The filter cannot know it: the reader of a hint decides."""
_NO_TEXT = ("script", "style", "title")
_NAME = re.compile("[A-Za-z_][A-Za-z_-]*")
_BETWEEN_NAMES = re.compile("[ \t\n\r]+")
_TAG = re.compile("[a-z][a-z0-9]*")
_HUMP = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_PARTS = re.compile("[_-]+")


def why(refusal: Refusal) -> str:
    r"""Describe the text that is missing in the near page, escaped for a log or a terminal.

    >>> why(Refusal("lines", 2, 0, "Size 40", page=1, distance=3, url="http://a/1"))
    '2 words of lines missing in http://a/1, 0 allowed: "Size 40"'
    >>> why(Refusal("words", 75.7, 75.2, "", page=1, distance=3, url="http://a/1"))
    '76 words missing in http://a/1, 75 allowed'
    >>> print(why(Refusal("headline", 0, 0, "Chair\x1b", page=1, distance=3, url="http://a/1")))
    headline missing in http://a/1: "Chair\x1b"
    """
    text = printable(refusal.text, _LONGEST)
    quote = f': "{text}"' if text else ""
    original = printable(refusal.url or "", _LONGEST_URL) or "a page without URL"
    if refusal.rule == "headline":
        return f"headline missing in {original}{quote}"
    # Estimates have fractions: rounded apart, they cannot be the same.
    words, allowed = counted(ceil(refusal.words), "word"), floor(refusal.allowed)
    return f"{words} {_OF[refusal.rule]}missing in {original}, {allowed:,} allowed{quote}"


class Shown(NamedTuple):
    """An element of a page."""

    tag: str
    """Its start tag, with id and class, escaped for a terminal."""
    text: str
    """The beginning of its text."""


class Ignorable(NamedTuple):
    """Elements without which a page would repeat another."""

    selector: str
    """CSS: a list of selectors."""
    elements: tuple[Shown, ...]
    """An example of what each selector matches."""

    def hint(self, them: str, other: "Ignorable | None" = None) -> str:
        """Describe the elements, without which `them`, the pages that differ, would be dropped.

        `other`: the same elements of another of these pages.

        >>> print(Ignorable(".sold", (Shown('<i class="sold">', "Sold 1037 times"),)).hint("B"))
        only in <i class="sold"> ('Sold 1037 times'): unless that text matters, as a price or a \
size does, DEDUP_IGNORE = ".sold" would drop B
        """
        shown = " and ".join(
            f"{tag} ({' / '.join(dict.fromkeys([repr(text), repr(of_other)]))})"
            for (tag, text), (_, of_other) in zip(
                self.elements, (other or self).elements, strict=False
            )
        )
        return f'only in {shown}: {UNLESS} DEDUP_IGNORE = "{self.selector}" would drop {them}'


def ignorable(page: PageText, lines: Sequence[MissingLine]) -> Ignorable | None:
    """Find the elements that contain lines of a page, at each place of each line.

    None: a line is in no element that a selector can name, or the page is not HTML or very long.
    """
    is_too_long = isinstance(page.html, str | bytes) and len(page.html) > _MOST_LENGTH
    tree = None if is_too_long or not lines else tree_of(page)
    if tree is None:
        return None
    texts, found = _Texts(tree), dict[str, Shown]()
    for line in lines:
        named = [*map(texts.named, islice(texts.places(line), _MOST_MATCHES + 1))]
        if not 0 < len(named) <= _MOST_MATCHES or None in named:
            return None
        for selector, shown in filter(None, named):
            found.setdefault(selector, shown)
    if len(found) > _MOST_SELECTORS:
        return None
    return Ignorable(", ".join(found), tuple(found.values()))


class _Piece(NamedTuple):
    text: str
    start: int
    """Characters before it; white space is never counted."""
    end: int
    holder: etree._Element
    """The element that contains it."""


class _Texts:
    """The texts of a tree, in page order."""

    def __init__(self, tree: etree._Element) -> None:
        self._tree, self._tries = tree, 0
        self._spans: dict[etree._Element, tuple[int, int]] = {}
        """Where the text of each element begins and ends."""
        self._pieces = list(self._read())
        self._text = "".join(_spaceless(piece.text) for piece in self._pieces)
        self._ends = {piece.end: count for count, piece in enumerate(self._pieces, 1)}
        """Where a piece ends -> the number of pieces up to it."""

    def _read(self) -> Iterator[_Piece]:
        start = 0
        for event, node in etree.iterwalk(self._tree, ("start", "end", "comment", "pi")):
            if event == "start":
                holder, text = node, None if node.tag in _NO_TEXT else node.text
                self._spans[node] = start, start
            else:
                holder, text = node.getparent(), node.tail
                if event == "end":
                    self._spans[node] = self._spans[node][0], start
            if text and (size := len(_spaceless(text))):
                yield _Piece(text, start, start + size, holder)
                start += size

    def places(self, line: MissingLine) -> Iterator[list[etree._Element]]:
        """Yield the elements of a line at each place where consecutive texts make the line."""
        sought = _spaceless(line.text)
        for first, piece in enumerate(self._pieces):
            last = self._ends.get(piece.start + len(sought))
            if last is not None and self._text.startswith(sought, piece.start):
                there = self._pieces[first:last]
                yield [_around(_with_words(there, line)), _around(there)]

    def named(self, holders: Iterable[etree._Element]) -> tuple[str, Shown] | None:
        """Return the first selector that fits one of some elements, and what it matches."""
        names = chain.from_iterable(map(self._names, holders))
        return next(((name, _shown(each)) for name, each in names if self._fits(name)), None)

    def _names(self, element: etree._Element) -> Iterator[tuple[str, etree._Element]]:
        """Yield selectors for an element, and the element that each is made for."""
        around = list(islice(element.iterancestors(), _MOST_AROUND))
        length = self._length(element)
        for each in (element, *(each for each in around if self._length(each) == length)):
            yield from ((name, each) for name in _names(each))
        for each in around if _TAG.fullmatch(element.tag) else ():
            step = " > " if each is element.getparent() else " "
            for name in _names(each):
                for own in (*_names(element), element.tag):
                    yield f"{name}{step}{own}", element

    def _fits(self, selector: str) -> bool:
        self._tries += 1
        matched = [] if self._tries > _MOST_TRIES else self._tree.cssselect(selector)
        is_few = 0 < len(matched) <= _MOST_MATCHES
        return is_few and sum(map(self._length, matched)) <= HALF * len(self._text)

    def _length(self, element: etree._Element) -> int:
        start, end = self._spans[element]
        return end - start


def _spaceless(text: str) -> str:
    return "".join(text.split())


def _with_words(pieces: list[_Piece], line: MissingLine) -> list[_Piece]:
    """Return the pieces of a line that contain its missing words; all if that is not known."""
    ends = list(accumulate(len(tokens(normalize(piece.text))) for piece in pieces))
    if line.words is None or ends[-1] != len(tokens(normalize(line.text))):
        return pieces
    first, end = line.words
    places = zip(pieces, [0, *ends], ends, strict=False)
    return [piece for piece, before, after in places if before < end and first < after] or pieces


def _around(pieces: Sequence[_Piece]) -> etree._Element:
    """Return the smallest element around the first and the last of consecutive texts."""
    one, other = pieces[0].holder, pieces[-1].holder
    of_other = {other, *other.iterancestors()}
    return next(each for each in (one, *one.iterancestors()) if each in of_other)


def _names(element: etree._Element) -> Iterator[str]:
    """Yield selectors by the id and by the class names of an element, if a person chose them."""
    if _is_given(id_ := element.get("id", "")):
        yield f"#{id_}"
    classes = filter(_is_given, _BETWEEN_NAMES.split(element.get("class", "")))
    if name := ".".join(islice(classes, _MOST_NAMES)):
        yield f".{name}"


def _is_given(name: str) -> bool:
    """Return whether a person, not a program, has chosen a name.

    >>> [_is_given(name) for name in ("views", "viewCount", "post-4711", "sc-bdVaJa", 'a"b')]
    [True, True, False, False, False]
    """
    if len(name) > _LONGEST or not _NAME.fullmatch(name):
        return False
    humps = [_HUMP.findall(part) for part in _PARTS.split(name)]
    return not any(len(each) > 2 and sum(map(len, each)) < 3 * len(each) for each in humps)


def _shown(element: etree._Element) -> Shown:
    attributes = [
        f' {name}="{escape(printable(value, _LONGEST))}"'
        for name in ("id", "class")
        if (value := element.get(name))
    ]
    text = " ".join(" ".join(map(str, element.itertext())).split())
    return Shown(f"<{printable(element.tag, _LONGEST)}{''.join(attributes)}>", text[:_LONGEST])
