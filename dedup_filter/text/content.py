"""Blocks -> main content: which blocks are the text that a page is about.

Five steps with round, published figures, which know no language and no site:

1. Blocks in a page's frame (see `elements`) are dropped. A container that is frame only by a class
   name or as a form stays if it holds most of the text: some pages are one form.
2. Whether one of the rest is good depends on the lengths and link densities of itself and its two
   neighbours: the decision tree of Kohlschuetter, Fankhauser and Nejdl, "Boilerplate Detection
   using Shallow Text Features" (2010), algorithm 2.
3. The content is in the smallest container that holds 70 % of the words of good blocks, or in one
   around it, as long as most of what that one adds is good text: the other sections of a manual
   page, but not the teasers around an article.
4. There it reaches from the first good block to the last, with headings before, and the rest of a
   table, list or listing after. All blocks between belong to it, short lines and cells too, except
   those that are mostly links.
5. The page's headline, the last h1 before all that, belongs to the content wherever it stands: some
   templates put it above the container of the text, and the choice must not depend on that.

If next to nothing is left (the page is one table, one form, a poem), or most of the longer blocks
are outside (cards, each below a link), every block that is not mostly links is content. A page that
is a list of links has none.

The list given may lack blocks of its page: the blocks given are judged as if they were the page.

Cost: 0.07 ms for 200 blocks.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from dedup_filter.text.blocks import Block
from dedup_filter.text.containers import NOWHERE, Containers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

__all__ = ["Content", "find_content", "whole_content", "word_sum"]

_LINE = 16
"""Words that a menu entry or a byline hardly exceeds (from the paper, as the numbers in
`_is_good`)."""

_MOST = 2 / 3
_MAIN_SHARE = 0.7
_MIN_WORDS = 20
"""Words of an ordinary sentence: if fewer are chosen, the choice has failed."""

_LEAST_SHARE = 1 / 3
"""Share of the words in blocks longer than a line: with less of it, the choice has failed, too."""
_LIST_SHARE = 0.5
"""If the main content is a smaller share of the words in its container, the page is a list."""

_BEFORE = frozenset(("headline", "heading", "cell", "code"))
_AFTER = frozenset(("item", "cell", "code"))

_EDGE = Block("", 0, 0, -1, Containers(), NOWHERE, "other", is_text=True, hash=0)
"""The neighbour of the first block and of the last."""


def whole_content(blocks: Sequence[Block], content: Sequence[Block]) -> Sequence[Block]:
    """Return all blocks from the first of the main content, `content`, to the last.

    Short lines between may be all that tells a page from others: a name, a number, a price.
    """
    if not content:
        return content
    first, last = content[0].position, content[-1].position
    return [block for block in blocks if first <= block.position <= last]


def word_sum(blocks: Iterable[Block]) -> float:
    """Count the words of some blocks."""
    return sum([block.words for block in blocks])  # a generator takes half as long again


class Content(NamedTuple):
    """The main content of some blocks, and the blocks around it."""

    main: Sequence[Block]
    inside: Sequence[Block]
    """All blocks of the container that holds the content, links too."""

    @property
    def own(self) -> Sequence[Block]:
        """The content if it is known that no block is frame of a host.

        If most words of the container are links, the page is a list: a table of contents, an index,
        a site map. Many such pages have the same few sentences, so it is judged with its links.
        """
        is_list = word_sum(self.main) < _LIST_SHARE * word_sum(self.inside)
        return self.inside if is_list else self.main


def find_content(blocks: Sequence[Block]) -> Content:
    """Choose the blocks that are a page's main content, in their order.

    >>> find_content([])
    Content(main=[], inside=[])
    """
    body = [block for block in blocks if block.kind != "title"]
    candidates = _outside_frames(body) or body
    text = [block for block in candidates if block.is_text]
    good = _good(candidates)
    if good:
        containers, best = good[0].containers, _best_container(candidates, good)
        first, end = containers.firsts[best], containers.ends[best]
        inside = [block for block in candidates if first <= block.position < end]
        chosen = [block for block in _stretch(inside, set(good)) if block.is_text]
        enough = _LEAST_SHARE * _long_words(text)
        if word_sum(chosen) >= _MIN_WORDS and _long_words(chosen) >= enough:
            return Content([*_headline(candidates, chosen[0]), *chosen], inside)
    return Content(text, body)


def _headline(candidates: Sequence[Block], first: Block) -> list[Block]:
    """Return the headline before the first block of the content, unless that is the headline."""
    before = [
        block
        for block in candidates
        if block.kind == "headline" and block.position <= first.position and block.is_text
    ]
    return [] if first in before else before[-1:]


def _long_words(blocks: Iterable[Block]) -> float:
    return sum([block.words for block in blocks if block.words > _LINE])


def _good(blocks: Sequence[Block]) -> list[Block]:
    neighbours = zip([_EDGE, *blocks], blocks, [*blocks[1:], _EDGE], strict=False)
    return [
        block
        for before, block, after in neighbours
        if block.is_text and _is_good(before, block, after)
    ]


def _is_good(before: Block, block: Block, after: Block) -> bool:
    if before.link_words <= 5 / 9 * before.words:
        return block.words > _LINE or after.words > 15 or before.words > 4
    return block.words > 40 or after.words > 17


class _WordSums:
    """Running sums of the words of some blocks: those inside any container by two look-ups.

    A container holds the blocks of one interval of positions, so no tree has to be walked.
    """

    def __init__(self, blocks: Sequence[Block]) -> None:
        words = [0.0] * (blocks[-1].position + 2 if blocks else 1)
        for block in blocks:
            words[block.position + 1] = block.words
        self._before = list(accumulate(words))
        """Words before each position, up to the one after the last block."""
        self._last = len(words) - 1
        self.total = self._before[-1]

    def inside(self, containers: Containers, number: int) -> float:
        """Count the words in a container."""
        before, last = self._before, self._last
        first, end = containers.firsts[number], containers.ends[number]
        return before[min(end, last)] - before[min(first, last)]

    def position_of_middle(self) -> int:
        """Return the position of the block with the middle word."""
        return bisect_left(self._before, self.total / 2) - 1


def _outside_frames(blocks: Sequence[Block]) -> list[Block]:
    if not blocks:
        return []
    containers = blocks[0].containers
    frame_of = containers.frames
    frames = [frame_of[block.inside] for block in blocks]
    around = set(frames) - {NOWHERE}
    if not around:
        return list(blocks)
    text = _WordSums([block for block in blocks if block.is_text])
    dropped = {
        frame
        for frame in around
        if containers.roles[frame].frame == "sure"
        or text.inside(containers, frame) < _MOST * text.total
    }
    return [block for block, frame in zip(blocks, frames, strict=True) if frame not in dropped]


def _stretch(inside: Sequence[Block], good: Set[Block]) -> Sequence[Block]:
    indices = [index for index, block in enumerate(inside) if block in good]
    first, last = indices[0], indices[-1]
    while first > 0 and _joins(inside[first - 1], _BEFORE):
        first -= 1
    while last < len(inside) - 1 and _joins(inside[last + 1], _AFTER):
        last += 1
    return inside[first : last + 1]


def _joins(block: Block, kinds: frozenset[str]) -> bool:
    """Tell whether a block beside good ones belongs to them.

    A whole sentence does: only links on its other side can have kept it from being good.
    """
    return block.kind in kinds or (block.words > _LINE and block.is_text)


def _best_container(blocks: Sequence[Block], good: Sequence[Block]) -> int:
    """Return the number of the container that holds the content."""
    containers = blocks[0].containers
    roles, parents = containers.roles, containers.parents
    words, good_words = _WordSums(blocks), _WordSums(good)
    # A container with more than half of the good words holds the middle one, so it is found on the
    # way up from there.
    middle = good_words.position_of_middle()
    best = next((block for block in good if block.position == middle), good[-1]).inside
    enough = _MAIN_SHARE * good_words.total
    while parents[best] != NOWHERE and (
        roles[best].kind != "other" or good_words.inside(containers, best) < enough
    ):
        best = parents[best]
    around = parents[best]
    while around != NOWHERE:
        added = words.inside(containers, around) - words.inside(containers, best)
        added_good = good_words.inside(containers, around) - good_words.inside(containers, best)
        if added_good < _MAIN_SHARE * added:
            break
        best, around = around, parents[around]
    return best
