"""Tree -> all its text, piece by piece in page order: the block of each, or why it is in none.

The functions that read a page are built for speed and do not record the text that they skip. Here
the same functions read the page once more, with marks around the text that they skip otherwise.
Then the characters of the text, without white space, are matched with the characters of the blocks.
So no rule is written down twice, and no character of a page is lost: all pieces together are all
text nodes of the tree, and of the pages in its frames.

    tree -> marked text with skipped text -> runs of text in page order
    the same functions as for a crawl     -> blocks
    runs, blocks                          -> pieces

Cost: three times as much as to read the page.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import groupby
from typing import Literal, NamedTuple

from lxml import etree

from dedup_filter.text.blocks import Block, Role, role_of, split_blocks
from dedup_filter.text.concealed import Choice, choose, without_markup
from dedup_filter.text.marked_text import (
    ENDUNREAD,
    HIDE,
    LINK,
    OPEN,
    SCRIPT,
    UNHIDE,
    UNLINK,
    UNREAD,
    UNSCRIPT,
    Parts,
    marked_text,
    parts_of,
    places_of,
    without_marks,
)

Unread = Literal[
    "", "element", "hidden", "template", "notice", "data", "data_read", "markup", "title"
]
"""Why text is in no block:

    element     it is in an element that is never read: a script, a style sheet, a list of options,
                a picture (but for the text that the picture shows)
    hidden      it is hidden, or in noscript, and the visible text has more words
    template    it is in a template
    notice      it is a noscript with only a notice to enable JavaScript
    data        it is data of a script whose prose is not read
    data_read   it is data of a script whose prose is read, as blocks after all others
    markup      it is escaped HTML in hidden text, which is read as HTML: the blocks lack the tags
    title       it is a second title
"""

_SECTION = re.compile(f"({UNREAD}.*?{ENDUNREAD}|{SCRIPT}.*?{UNSCRIPT})", re.DOTALL)
_DATA = "script data"
_HIDING = re.compile(f"({HIDE}|{UNHIDE})")


class Piece(NamedTuple):
    """Some text of a page."""

    text: str
    """The text as written on the page."""
    unread: Unread = ""
    element: str = ""
    """The name of the element that is never read."""
    block: int | None = None
    """The position of the block in which it is read."""


class Account(NamedTuple):
    """All text of a page, and the blocks that were read of it."""

    pieces: list[Piece]
    """In page order."""
    blocks: list[Block]
    """All blocks that were read, including titles."""
    heads: list[str]
    """Name, class names and role of each container, by its number."""


class _Run(NamedTuple):
    """Text without a block boundary inside, except for line ends."""

    text: str
    section: str = ""
    """`_DATA`, or the name of an element that is never read; "" for all other text."""
    piece: int = 0
    """The number of the piece, between marks of hiding, that contains the run."""


def account(tree: etree._Element) -> Account:
    """Return all text of a parsed page, and the block or the reason for each piece."""
    marked = marked_text(tree)
    parts = parts_of(marked)
    choice = choose(parts, split_blocks(parts.visible))
    heads = [""]

    def noted(head: str) -> Role:
        heads.append(head)
        return role_of(head)

    blocks = split_blocks(choice.marked, noted).blocks
    runs = _runs(marked_text(tree, with_unread=True), set(parts.data))
    places = places_of(_SECTION.sub("", marked)) or [""]
    rewritten = _rewritten(places, parts) if choice.reads_hidden else {}
    return Account(list(_pieces(runs, places, rewritten, choice, blocks)), blocks, heads)


def said(text: str) -> str:
    """Return a text without white space."""
    return "".join(text.split())


def _runs(marked: str, data: Set[str]) -> Iterator[_Run]:
    """Yield all text in page order; `data`: the texts of scripts that are data."""
    is_head, piece = False, 0
    for number, between in enumerate(_SECTION.split(marked)):
        if number % 2:  # re.split puts the matches of its group at odd places
            is_script = between.startswith(SCRIPT)
            name, _, text = between[len(SCRIPT) : -len(UNSCRIPT)].partition(OPEN)
            if is_script:
                name = _DATA if text in data else "script"
            yield _Run(text, name)
            continue
        for heads, text in enumerate(between.split(OPEN)):
            is_head ^= heads > 0
            for marks, run in enumerate([] if is_head else _HIDING.split(text)):
                if marks % 2:
                    piece += 1
                else:
                    yield _Run(run.replace(LINK, "").replace(UNLINK, ""), "", piece)


def _pieces(
    runs: Iterable[_Run],
    places: Sequence[str],
    rewritten: Mapping[int, int],
    choice: Choice,
    blocks: Sequence[Block],
) -> Iterator[Piece]:
    """Yield the pieces of each run that is not white space.

    `places`: the place of each piece between marks of hiding. `rewritten`: number of a piece with
    escaped HTML -> how many characters were read in its place.
    """
    read, to_come = _Read(blocks), dict(rewritten)
    unread: dict[str, Unread] = {"nothing": "notice", "template": "template"}
    if not choice.reads_hidden:
        unread["hidden"] = unread["waiting"] = "hidden"
    data: Unread = "data_read" if choice.reads_data else "data"
    for text, section, piece in runs:
        if not text or text.isspace():
            continue
        if section:
            yield Piece(text, data) if section == _DATA else Piece(text, "element", section)
        elif places[piece] in unread:
            yield Piece(text, unread[places[piece]])
        elif piece in rewritten:
            read.count_off(to_come.pop(piece, 0))
            yield Piece(text, "markup")
        else:
            for block, lines in groupby(text.splitlines(keepends=True), read.block_of):
                unread_title: Unread = "title" if block in read.titles[1:] else ""
                yield Piece("".join(lines), unread_title, block=block)


class _Read:
    """The blocks that were read, and how many of their characters are matched so far."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.titles = [block.position for block in blocks if block.kind == "title"]
        self._lengths = iter([len(said(block.text)) for block in blocks])
        self._position, self._left = -1, 0

    def block_of(self, line: str) -> int:
        """Return the position of the block that has the next line: no block ends within a line."""
        return max(self.count_off(len(said(line))), 0)  # white space may stand before all blocks

    def count_off(self, characters: int) -> int:
        """Skip a number of characters; return the position of the block in which they end."""
        while characters:
            if not self._left:
                self._position, self._left = self._position + 1, next(self._lengths)
            counted = min(self._left, characters)
            self._left, characters = self._left - counted, characters - counted
        return self._position


def _rewritten(places: Sequence[str], parts: Parts) -> dict[int, int]:
    """Count the characters that are read from each piece of hidden text with escaped HTML."""
    segments = iter(parts.segments)
    found = {}
    for number, place in enumerate(places):
        if place != "nothing":
            _, text = next(segments)
            _, as_read = without_markup(place, text)
            if as_read != text:
                texts = without_marks(" ".join(as_read.split(OPEN)[0::2]))
                found[number] = len(said(texts))
    return found
