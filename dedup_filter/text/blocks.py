"""Marked text -> blocks: a page as a list of small pieces of text, each with its place in it.

A block is the text between one block-level boundary and the next: a paragraph, a heading,
a list item, a table cell, or text that stands directly in a container. Blocks are in page
order and never overlap; together they are all text that was given (see `concealed` for which
text of a page that is).

Two blocks are the same piece of text, on one page or on two, when their `text` is equal:
its white space is collapsed and nothing else of the page flows into it. `position` and
`container` place a block on its own page, and stay true when other blocks are dropped from
a list.

Bounded: after so many blocks and containers the rest of a page is left to the caller.

Cost: 0.6 ms for a page of 100 KB (200 blocks in 200 containers); as much if it is Chinese.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import xxhash

from dedup_filter.text.elements import MOST_OF_HEAD, Kind, Role, role_of
from dedup_filter.text.marked_text import LINK, OPEN, UNLINK
from dedup_filter.text.plain_text import count_words, is_spaced

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Block", "Container", "blocks_hash", "split_blocks", "text_hash"]

_MOST_MARKS = 200_000
"""Of a page: 50,000 blocks, or fewer in more containers. Its heaviest page has 36 MB of blocks."""

_MAX_LINK_DENSITY = 1 / 3
"""Of a block that can be content (Kohlschuetter, Fankhauser and Nejdl 2010, see `content`)."""

_SHORT = 256
"""Characters up to which what is known of a text is remembered: the entries of menus, and the
notices at the end of each page. Longer ones hardly come again."""


class Container:
    """A block-level element: holds the blocks from position `first` up to before `end`."""

    __slots__ = ("end", "first", "is_frame", "outer_frame", "parent", "role")

    def __init__(self, role: Role, parent: Container | None, first: int) -> None:
        self.role = role
        self.parent = parent
        self.first = self.end = first
        # This is `parent.frame` without the call: a page has hundreds of containers.
        outer = parent and (parent if parent.is_frame else parent.outer_frame)
        self.outer_frame: Container | None = outer
        # Not a reference to itself: such a cycle would be left to the garbage collector.
        self.is_frame: bool = role.frame != "" and not (outer and outer.role.frame == "sure")

    @property
    def frame(self) -> Container | None:
        """The container around this place, or this one, that is page frame.

        The outermost that is surely frame, else the innermost that is named so.
        """
        return self if self.is_frame else self.outer_frame


@dataclass(slots=True, eq=False)
class Block:
    """A piece of a page's text without a block-level boundary inside."""

    text: str
    words: float
    link_words: float
    """How many of the words are links."""
    position: int
    """Its number on the page, from 0."""
    container: Container
    # Asked for so often that to work them out each time would take as long as the choice itself.
    kind: Kind
    """What the text is: "paragraph", "heading", ..., by the element it stands in."""
    is_text: bool
    """Whether it is not mostly links: a block that can be content."""
    hash: int
    """64 bits of the text, by which it is known again."""


def split_blocks(marked: str) -> tuple[list[Block], str]:
    """Cut marked text into blocks; give the marked text beyond the bound, too."""
    heads_and_texts, rest = _heads_and_texts(marked)
    pieces = iter(heads_and_texts)
    blocks: list[Block] = []
    in_link = False
    position = 0
    container = Container(role_of(""), None, 0)
    empty: list[str] = []  # heads in `container` that have shown no text yet; most never do
    for head, raw in zip(pieces, pieces, strict=True):
        if head:
            empty.append(head)
        elif empty:
            empty.pop()
        else:
            container.end = position
            container = container.parent or container
        # Two of three texts are the white space between two tags.
        if not raw or raw.isspace():
            continue
        for each in empty:
            # A slice costs more than to see that it would change nothing.
            role = role_of(each if len(each) <= MOST_OF_HEAD else each[:MOST_OF_HEAD])
            container = Container(role, container, position)
        empty.clear()
        # A link may hold several blocks, and begins anew in each.
        marked_piece = LINK + raw if in_link else raw
        measure = _known if len(raw) <= _SHORT else _measure
        text, count, link_count, is_text, hashed, in_link = measure(marked_piece)
        if text:
            kind = container.role.kind
            blocks.append(
                Block(text, count, link_count, position, container, kind, is_text, hashed)
            )
            position += 1
    around: Container | None = container
    while around:
        around.end = position
        around = around.parent
    return blocks, rest


def _heads_and_texts(marked: str) -> tuple[list[str], str]:
    """Give heads and texts in turn; an empty head closes, which the first does to no effect."""
    pieces = ["", *marked.split(OPEN, _MOST_MARKS)]
    # An even number of marks leaves the rest to be a text.
    return (pieces, "") if len(pieces) < _MOST_MARKS + 2 else ([*pieces[:-1], ""], pieces[-1])


def _measure(raw: str) -> tuple[str, float, float, bool, int, bool]:
    """Give what a block has by its text, in that order, and whether this ends in a link."""
    plain, linked, in_link = raw, "", False
    if LINK in raw or UNLINK in raw:
        plain, linked, in_link = _without_links(raw)
    words = plain.split()
    text = " ".join(words)
    count = len(words) if text.isascii() or is_spaced(text) else count_words(text)
    link_count = count if linked is plain else count_words(linked) if linked else 0
    is_text = link_count <= _MAX_LINK_DENSITY * count
    return text, count, link_count, is_text, text_hash(text), in_link


def text_hash(text: str) -> int:
    """Return the 64 bits by which the text of a block is known again."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


def blocks_hash(blocks: Iterable[Block]) -> int:
    """Return 64 bits of some blocks in their order."""
    return xxhash.xxh3_64_intdigest(array("Q", [block.hash for block in blocks]).tobytes())


# What the frame of a host says is on each of its pages. At most 25 MB of long texts, mostly five.
_known = lru_cache(maxsize=16_384)(_measure)


def _without_links(raw: str) -> tuple[str, str, bool]:
    """Give a text without its link marks, that part of it which is links, and how it ends.

    The same string twice is a text that is one link, as most with links are.
    """
    before, _, after = raw.partition(LINK)
    inside, unlink, rest = after.partition(UNLINK)
    is_one = not (before.strip() or rest.strip() or LINK in inside)
    return (inside, inside, not unlink) if is_one else _without_some_links(raw)


def _without_some_links(raw: str) -> tuple[str, str, bool]:
    before, *pieces = raw.split(LINK)
    # Links in links (lxml can build them) leave ends that end nothing.
    plain = [before.replace(UNLINK, "")]
    linked = []
    unlink = UNLINK
    for piece in pieces:
        inside, unlink, outside = piece.partition(UNLINK)
        linked.append(inside)
        plain += (inside, outside.replace(UNLINK, "") if UNLINK in outside else outside)
    return "".join(plain), " ".join(linked), not unlink
