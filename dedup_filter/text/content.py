"""Blocks -> main content: the blocks with the main text of a page; and its menus.

1. Blocks in a page's frame (see `blocks`) are dropped. A frame stays if it holds most of the text:
   some pages are one form, some articles stand in an `aside` or below an open `nav`. If it is frame
   by its tag, the headline must stand in it; on a page without one, hardly a word may stand outside
   it: a long footer is not the text of a short page.
2. The decision tree of Kohlschuetter, Fankhauser and Nejdl, "Boilerplate Detection using Shallow
   Text Features" (2010), algorithm 2, finds the good blocks.
3. The content is in the smallest container that holds 70 % of the words of good blocks, or in one
   around it, as long as most of the text that the larger one adds is good: the other sections of a
   manual page, but not the teasers around an article.
4. In this container the content reaches from the first good block to the last, with headings
   before, and the rest of a table, list or listing after, but without blocks mostly of links.
5. The page's headline, the last h1 before the content, belongs to the content wherever it stands.

If next to nothing is left (the page is one table, one form, a poem), or most of the longer blocks
are outside (cards, each below a link), every block that is not mostly links is content.

Cost: 0.07 ms for the content of 200 blocks, 0.01 ms for their menus.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence, Set
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

from dedup_filter.text.blocks import FRAMES, NOWHERE, Block, Containers
from dedup_filter.thresholds import HALF, LINE_WORDS, MIN_WORDS

BoolArray = npt.NDArray[np.bool_]

_MOST = 2 / 3
_MAIN_SHARE = 0.7
_LEAST_SHARE = 1 / 3
"""If a smaller share of the words in blocks longer than a line is chosen, the choice has failed."""
_BEFORE = ("headline", "heading", "cell", "code", "picture")
_AFTER = ("item", "pair", "cell", "code", "picture")
_MENU_LINKS = 4
"""Links of a menu. Any two pages may share three: "Home", "About", "Contact"."""
_MENU_WORDS = 6
"""With this many words of links, fewer blocks are a menu: a menu may stand in one block."""
_ITEM_WORDS = 60
"""Words of an item in a list of links: a headline with a date, an author and a snippet."""
_MENU_DENSITY = 0.2
"""A block can belong to a menu if a larger share of its words is in links."""


def word_sum(blocks: Iterable[Block]) -> float:
    """Count the words of some blocks."""
    return sum([block.words for block in blocks])  # a generator takes half as long again


def words_before(blocks: Iterable[Block], containers: Containers) -> list[float]:
    """Return how many words of some blocks are before each position of their page."""
    words = [0.0] * (containers.ends[0] + 1)
    for block in blocks:
        words[block.position + 1] = block.words
    return list(accumulate(words))


class Content(NamedTuple):
    """The main content of some blocks, and the blocks around it."""

    main: Sequence[Block]
    inside: Sequence[Block]
    """All blocks of the container that holds the content, including links."""
    candidates: Sequence[Block]
    """All blocks that are in no page frame."""
    stretch: Sequence[Block]
    """The blocks from the first to the last of the content, in its container."""
    body: tuple[int, int]
    """First and end of the smallest container of the content, by positions on the page."""

    @property
    def own(self) -> Sequence[Block]:
        """The content of blocks that are known not to be the frame of a host.

        If most words of the container are links, the page is a list: a table of contents, an index,
        a site map. Many lists have the same few sentences, so a list is judged with its links.
        """
        is_list = word_sum(self.main) < HALF * word_sum(self.inside)
        return self.inside if is_list else self.main


def find_content(blocks: Sequence[Block]) -> Content:
    """Choose the blocks that are a page's main content, in their order."""
    candidates = _outside_frames(blocks) or blocks
    text = [block for block in candidates if block.is_text]
    good = _good(candidates)
    if good:
        containers = good[0].containers
        inner, best = _best_container(candidates, good)
        first, end = containers.firsts[best], containers.ends[best]
        inside = [block for block in candidates if first <= block.position < end]
        stretch = _stretch(inside, {block.position for block in good})
        chosen = [block for block in stretch if block.is_text]
        enough = _LEAST_SHARE * _long_words(text)
        if word_sum(chosen) >= MIN_WORDS and _long_words(chosen) >= enough:
            main = [*_headline(candidates, chosen[0]), *chosen]
            body = containers.firsts[inner], containers.ends[inner]
            return Content(main, inside, candidates, stretch, body)
    end = blocks[-1].position + 1 if blocks else 0
    return Content(text, blocks, candidates, candidates, (0, end))


def menus(blocks: Sequence[Block]) -> list[int]:
    """Return the hashes of the first two menus and the last menu of a page, if it has them.

    A menu is a few links in a row. These three are the same on all pages of a template, on any
    host; menus between belong to the page. One of the three may hold the name of the host.
    """
    links = [block for block in blocks if block.link_words > _MENU_DENSITY * block.words]
    found: list[int] = []
    texts: list[str] = []
    words = 0.0
    for block in links:
        texts.append(block.text)
        words += block.link_words
        if len(texts) == _MENU_LINKS or words >= _MENU_WORDS:
            found.append(_menu_hash(texts))
            texts, words = [], 0
            if len(found) == 2:
                break
    if len(links) >= _MENU_LINKS:
        found.append(_menu_hash([block.text for block in links[-_MENU_LINKS:]]))
    return list(dict.fromkeys(found))


def link_items(blocks: Sequence[Block]) -> BoolArray:
    """Return which blocks, (n,), belong to items: links in a row, each with a little text.

    An item is a container with a block of links and at most `_ITEM_WORDS` words, such as a headline
    with a date and a snippet, beside other such containers. A frame is one only beside frames of
    its name: a form with a button beside a list of links is none.
    """
    if not blocks:
        return np.zeros(0, np.bool_)
    containers = blocks[0].containers
    are_items = np.zeros(containers.ends[0] + 1, np.bool_)
    words = words_before(blocks, containers)
    links = words_before([block for block in blocks if not block.is_text], containers)
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for first, end, parent, role in zip(
        containers.firsts, containers.ends, containers.parents, containers.roles, strict=True
    ):
        if links[end] > links[first] and words[end] - words[first] <= _ITEM_WORDS:
            name = role.name if role.frame in FRAMES else 0
            found.setdefault((parent, name), []).append((first, end))
    for items in found.values():
        if len(items) > 1:
            for first, end in items:
                are_items[first:end] = True
    return are_items[[block.position for block in blocks]]


def first_link(blocks: Sequence[Block]) -> int:
    """Return the position of the first block that has links; 0 if none has."""
    links = (block for block in blocks if block.link_words > _MENU_DENSITY * block.words)
    return next((block.position for block in links), 0)


def _menu_hash(texts: Sequence[str]) -> int:
    """Return 64 bits that identify links in a row; they differ from the hash of any block."""
    joined = "\n".join(["\0menu\0", *texts])
    return xxhash.xxh3_64_intdigest(joined.encode("utf-8", "surrogatepass"))


ANY_MENU = _menu_hash(())
"""Counted for each page that has any menu."""


def _headline(candidates: Sequence[Block], first: Block) -> list[Block]:
    """Return the headline before the first block of the content, unless this block is it."""
    headlines = [each for each in candidates if each.kind == "headline" and each.is_text]
    before = [each for each in headlines if each.position <= first.position]
    return [] if first in before else before[-1:]


def _long_words(blocks: Iterable[Block]) -> float:
    return sum([block.words for block in blocks if block.words > LINE_WORDS])


def _good(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks that the decision tree takes for content."""
    good = []
    before, linked_before = 0.0, 0.0
    words_after = [block.words for block in blocks[1:]] + [0.0]
    for block, after in zip(blocks, words_after, strict=False):
        if linked_before <= 5 / 9 * before:
            is_good = block.words > LINE_WORDS or after > 15 or before > 4
        else:
            is_good = block.words > 40 or after > 17
        if is_good and block.is_text:
            good.append(block)
        before, linked_before = block.words, block.link_words
    return good


def _outside_frames(blocks: Sequence[Block]) -> Sequence[Block]:
    if not blocks:
        return blocks
    containers = blocks[0].containers
    frames = [containers.frames[block.inside] for block in blocks]
    around = set(frames) - {NOWHERE}
    if not around:
        return blocks
    text = [block for block in blocks if block.is_text]
    before = words_before(text, containers)
    headlines = [block.position for block in text if block.kind == "headline"]

    def holds_page(frame: int) -> bool:
        words = _inside(before, containers, frame)
        if words < _MOST * before[-1] or containers.roles[frame].frame == "named":
            return words >= _MOST * before[-1]
        if not headlines:
            return before[-1] - words < MIN_WORDS <= words
        first, end = containers.firsts[frame], containers.ends[frame]
        return words >= MIN_WORDS and first <= headlines[0] <= headlines[-1] < end

    kept = {frame for frame in around if holds_page(frame)}
    if any(containers.roles[frame].frame == "sure" for frame in kept):
        # Other frames may stand in it.
        inner = containers.frames_but(holds_page)
        return [block for block in blocks if inner[block.inside] == NOWHERE]
    dropped = around - kept
    return [block for block, frame in zip(blocks, frames, strict=True) if frame not in dropped]


def _stretch(inside: Sequence[Block], good: Set[int]) -> Sequence[Block]:
    indices = [index for index, block in enumerate(inside) if block.position in good]
    first, last = indices[0], indices[-1]

    def joins(block: Block, kinds: Sequence[str]) -> bool:
        """Return whether a block beside good ones belongs to them: a whole sentence does, too."""
        return block.kind in kinds or (block.words > LINE_WORDS and block.is_text)

    while first > 0 and joins(inside[first - 1], _BEFORE):
        first -= 1
    while last < len(inside) - 1 and joins(inside[last + 1], _AFTER):
        last += 1
    return inside[first : last + 1]


def _best_container(blocks: Sequence[Block], good: Sequence[Block]) -> tuple[int, int]:
    """Return the numbers of the smallest and of the whole container of the content."""
    containers = blocks[0].containers
    roles, parents = containers.roles, containers.parents
    words, good_words = words_before(blocks, containers), words_before(good, containers)
    # A container with more than half of the good words holds the middle one, so the search goes up
    # from the block with the middle word.
    middle = bisect_left(good_words, good_words[-1] / 2) - 1
    best = next(block for block in good if block.position == middle).inside
    enough = _MAIN_SHARE * good_words[-1]
    while parents[best] != NOWHERE and (
        roles[best].kind != "other" or _inside(good_words, containers, best) < enough
    ):
        best = parents[best]
    inner = best
    around = parents[best]
    while around != NOWHERE:
        added = _inside(words, containers, around) - _inside(words, containers, best)
        good_before = _inside(good_words, containers, best)
        if _inside(good_words, containers, around) - good_before < _MAIN_SHARE * added:
            break
        best, around = around, parents[around]
    return inner, best


def _inside(before: Sequence[float], containers: Containers, number: int) -> float:
    """Return the words in a container, given those before each position."""
    return before[containers.ends[number]] - before[containers.firsts[number]]
