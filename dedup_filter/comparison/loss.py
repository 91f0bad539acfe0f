"""A page and its original -> the text that only the page has: how much, and its first lines.

    blocks of the page, but frame and what changes by itself    -> the text that counts
    what the original's sketch has of each                      -> blocks that it lacks
    of a line all words, of other blocks the words in no phrase
    of the original                                             -> words, passages, similarity

The rule asks whether too much is missing (`rule`); here all of it counts, also text that the rule
lets go: links, teasers, text beside an article, edited words. A line is also there if a diff of the
two pages finds it in its place, though both of its neighbours are others.

Guarantee: the similarity is 1 if and only if no line is lost. Knows no index and no store.

Cost: 30 us if nothing is lost, else 0.1 to 0.5 ms: only for pages that are dropped.
"""

import re
from difflib import SequenceMatcher
from math import ceil
from typing import NamedTuple

import numpy as np

from dedup_filter.features.analysis import words_in
from dedup_filter.features.tokens import tokens_of_parts
from dedup_filter.fingerprints.block_columns import BlockColumns, Shares
from dedup_filter.fingerprints.places import Places
from dedup_filter.fingerprints.sketch import BoolArray, are_among, found_in, row_in, row_of
from dedup_filter.text.plain_text import normalize_parts
from dedup_filter.thresholds import FRAME_TIMES, HALF
from dedup_filter.wording import printable

_MOST_LINES, _LONGEST_LINE = 5, 200
"""Lines that are named, and characters of each."""
_PIECE = re.compile(r"[^\s,.;:!?、，。；：！？]*[\s,.;:!?、，。；：！？]*")
"""A text is cut where words end: no word spans two pieces."""


class Loss(NamedTuple):
    """The text of a page that its original lacks."""

    lines: tuple[str, ...] = ()
    """The first lines and passages, the page's own text before links and text beside it: at most
    `_MOST_LINES` of at most `_LONGEST_LINE` characters, escaped for a log."""
    words: int = 0
    """Words of all lost text; estimated for long pages."""
    similarity: float = 1.0
    """Share of the words of the page that its original has."""


NO_LOSS = Loss()


class _Lost(NamedTuple):
    """The lost words of a block."""

    words: int
    first: int
    end: int
    """They stand from the word `first` up to `end`, within the block."""


def loss_of(blocks: BlockColumns, sketch: bytes, *, is_same_host: bool) -> Loss:
    """Return the text of a page that the page with a sketch lacks.

    On another host, a block outside the main text is frame if an earlier page has shown it, and any
    block if two have: all pages of a mirror may be dropped, and dropped pages mark no frame.
    """
    places, shares = blocks.places, blocks.shares_in(sketch)
    is_frame = places.is_frame
    if not is_same_host:
        is_frame = is_frame | (places.times >= np.where(places.in_main, FRAME_TIMES, 1))
    counted = ~(places.is_masked | places.is_learnt | (is_frame & ~places.are_values))
    counted &= shares.words > 0
    lost = unlike(places, shares, counted, places.in_main & known_prose(places, shares))
    lost &= ~_there_in_order(blocks, sketch, lost & places.is_line)
    if not lost.any():
        return NO_LOSS
    found = _lost_words(blocks, sketch, lost)
    words = sum(each.words for each in found.values())
    own_first = sorted(found, key=lambda number: not places.are_own[number])
    lines = dict.fromkeys(
        _passage(blocks.texts[number], int(shares.words[number]), found[number])
        for number in own_first[:_MOST_LINES]
    )
    similarity = 1 - words / int(shares.words[counted].sum())
    return Loss(tuple(lines), words, similarity)


def known_prose(places: Places, shares: Shares) -> BoolArray:
    """Return the paragraphs that another page has, or most of their sampled phrases, (n,)."""
    known: BoolArray = shares.is_there | (2 * shares.there > shares.sampled)
    return known & places.is_prose


def unlike(places: Places, shares: Shares, chosen: BoolArray, prose: BoolArray) -> BoolArray:
    """Return which of some blocks another page lacks, or has with other words, (n,).

    Sampled phrases show whether a paragraph is there. A line has too few of them, so it is missing,
    unless the other page cuts its text into other blocks: half of the shared `prose`, (n,).
    """
    is_cut_alike = shares.words[prose & shares.is_there].sum() >= HALF * shares.words[prose].sum()
    missing: BoolArray = (shares.missing > 0) | (is_cut_alike & ~places.is_prose)
    return missing & chosen & ~shares.is_there & (shares.there < shares.phrases)


def _there_in_order(blocks: BlockColumns, sketch: bytes, lines: BoolArray) -> BoolArray:
    """Return which of some lines the other page has between the same blocks, near or far, (n,)."""
    row, mine = row_in(sketch), row_of(blocks.hashes)
    there = np.zeros_like(lines)
    if (lines & are_among(mine, np.sort(row))).any():
        matcher = SequenceMatcher(None, mine.tolist(), row.tolist(), autojunk=False)
        for first, _, size in matcher.get_matching_blocks():
            there[first : first + size] = True
    return there


def _lost_words(blocks: BlockColumns, sketch: bytes, lost: BoolArray) -> dict[int, _Lost]:
    """Return the lost words of each lost block, by its number."""
    count, ends = int(blocks.ends[-1]), blocks.ends.tolist()
    are_known, are_said = (
        words_in(each, blocks.size, count) for each in found_in(blocks.shingles, sketch)
    )
    found = {}
    for number in np.flatnonzero(lost).tolist():
        first, end = ends[number : number + 2]
        size, known = end - first, int(are_known[first:end].sum())
        lacking = np.flatnonzero(are_known[first:end] & ~are_said[first:end])
        if blocks.places.is_line[number] or len(lacking) == known:
            found[number] = _Lost(size, 0, size)
        elif len(lacking):
            words = ceil(size * len(lacking) / known)
            found[number] = _Lost(words, int(lacking[0]), int(lacking[-1]) + 1)
        else:  # all of its words are there, in another order
            found[number] = _Lost(1, 0, size)
    return found


def _passage(text: str, size: int, lost: _Lost) -> str:
    """Return a text of so many words from its first lost word to its last, for a log."""
    if (lost.first, lost.end) != (0, size):
        pieces = _PIECE.findall(text)
        ends = np.cumsum(tokens_of_parts(normalize_parts(pieces)).lengths)
        # A text with a masked part has other words than those that are compared.
        if ends[-1] == size:
            first = int(np.searchsorted(ends, lost.first, "right"))
            text = "".join(pieces[first : int(np.searchsorted(ends, lost.end)) + 1])
    return printable(" ".join(text.split()), _LONGEST_LINE)
