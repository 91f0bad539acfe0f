"""Marked text -> blocks: a page as a list of small pieces of text, each with its place in it.

A block is the text between one block-level boundary and the next: a paragraph, a heading, a list
item, a table cell, or text that stands directly in a container. Blocks are in page order and never
overlap; together they are all text that was given (`concealed` chooses it).

Two blocks, of one page or of two, are the same piece of text if their `text` is equal: its white
space is collapsed, and no other text of the page is part of it. `position` and `container` tell
where a block is on its page, and stay true if other blocks are dropped from a list.

Bounded: text after 200,000 marks is returned to the caller as it is.

Cost: 0.6 ms for a page of 100 KB (200 blocks in 200 containers), in any script.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import xxhash

from dedup_filter.text.containers import NOWHERE, Container, Containers
from dedup_filter.text.elements import MOST_OF_HEAD, Kind, role_of
from dedup_filter.text.marked_text import LINK, OPEN, UNLINK
from dedup_filter.text.plain_text import count_words, is_spaced

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Block", "blocks_hash", "split_blocks", "text_hash"]

_MOST_MARKS = 200_000
"""Of a page: 50,000 blocks, or fewer in more containers. They take 36 MB at most."""

_MAX_LINK_DENSITY = 1 / 3
"""Share of links up to which a block can be content (Kohlschuetter et al. 2010, see `content`)."""

_SHORT = 256
"""Characters up to which the measures of a text are cached: entries of menus, notices at the end of
pages. Longer texts hardly occur twice."""


@dataclass(slots=True, eq=False)
class Block:
    """A piece of a page's text without a block-level boundary inside."""

    text: str
    words: float
    link_words: float
    """How many of the words are in links."""
    position: int
    """Its number on the page, from 0."""
    containers: Containers
    """All containers of the page."""
    inside: int
    """The number of the container that it stands in."""
    # Stored, because to compute these at each use would take as long as the choice of the content.
    kind: Kind
    """What the text is: "paragraph", "heading", ..., by the element it stands in."""
    is_text: bool
    """Whether it is not mostly links: a block that can be content."""
    hash: int
    """64 bits of the text, see `text_hash`."""

    @property
    def container(self) -> Container:
        """The container that it stands in."""
        return Container(self.containers, self.inside)


def split_blocks(marked: str) -> tuple[list[Block], str]:
    """Cut marked text into blocks; return the marked text beyond the bound, too."""
    heads_and_texts, rest = _heads_and_texts(marked)
    pieces = iter(heads_and_texts)
    blocks: list[Block] = []
    in_link = False
    position = 0
    containers = Containers()
    ends, parents = containers.ends, containers.parents
    inside = containers.open(role_of(""), NOWHERE, 0)
    empty: list[str] = []  # open heads without text so far: most never get a container
    for head, raw in zip(pieces, pieces, strict=True):
        if head:
            empty.append(head)
        elif empty:
            empty.pop()
        else:
            ends[inside] = position
            inside = parents[inside] if inside else 0  # more ends than starts leave the root
        # Two of three texts are the white space between two tags.
        if not raw or raw.isspace():
            continue
        for each in empty:
            # To slice a short head costs more than to compare its length.
            role = role_of(each if len(each) <= MOST_OF_HEAD else each[:MOST_OF_HEAD])
            inside = containers.open(role, inside, position)
        empty.clear()
        # A link around several blocks starts again in each.
        marked_piece = LINK + raw if in_link else raw
        measure = _known if len(raw) <= _SHORT else _measure
        text, count, link_count, is_text, hashed, in_link = measure(marked_piece)
        if text:
            kind = containers.roles[inside].kind
            blocks.append(
                Block(text, count, link_count, position, containers, inside, kind, is_text, hashed)
            )
            position += 1
    while inside != NOWHERE:
        ends[inside] = position
        inside = parents[inside]
    return blocks, rest


def _heads_and_texts(marked: str) -> tuple[list[str], str]:
    """Return heads and texts in turn, and the rest.

    An empty head closes a container; the first one has no effect.
    """
    pieces = ["", *marked.split(OPEN, _MOST_MARKS)]
    # `_MOST_MARKS` is even, so the rest takes the place of a text.
    return (pieces, "") if len(pieces) < _MOST_MARKS + 2 else ([*pieces[:-1], ""], pieces[-1])


def _measure(raw: str) -> tuple[str, float, float, bool, int, bool]:
    """Return text, words, link words, is_text and hash, and whether the text ends inside a link."""
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
    """Return 64 bits (XXH3) that identify the text of a block."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


def blocks_hash(blocks: Iterable[Block]) -> int:
    """Return 64 bits of some blocks in their order."""
    return xxhash.xxh3_64_intdigest(array("Q", [block.hash for block in blocks]).tobytes())


# The texts of a host's frame are on each of its pages. At most 25 MB, usually 5.
_known = lru_cache(maxsize=16_384)(_measure)


def _without_links(raw: str) -> tuple[str, str, bool]:
    """Return a text without link marks, the part of it in links, and whether it ends inside one.

    If the whole text is one link, as most texts with links are, both are the same object.
    """
    before, _, after = raw.partition(LINK)
    inside, unlink, rest = after.partition(UNLINK)
    is_one = not (before.strip() or rest.strip() or LINK in inside)
    return (inside, inside, not unlink) if is_one else _without_some_links(raw)


def _without_some_links(raw: str) -> tuple[str, str, bool]:
    before, *pieces = raw.split(LINK)
    # A link inside a link (lxml can build them) leaves an end without a start.
    plain = [before.replace(UNLINK, "")]
    linked = []
    unlink = UNLINK
    for piece in pieces:
        inside, unlink, outside = piece.partition(UNLINK)
        linked.append(inside)
        plain += (inside, outside.replace(UNLINK, "") if UNLINK in outside else outside)
    return "".join(plain), " ".join(linked), not unlink
