"""The blocks of a page as columns, and what the sketch of another page has of each.

    blocks, their words, how often the host has shown them  ->  `BlockColumns`, one row a block
    `BlockColumns`, a sketch                                ->  `Shares`: words, there or missing

A block is there if the row of the sketch has it: a line, such as a price, only beside one of its
neighbours, and as often as here, because "26.90" may be the price of something else. Of other
blocks the sampled shingles tell which part is there.

Knows no host and no rule. Cost: 50 us for a sketch and 200 blocks.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.features.analysis import FUNCTION_WORD_IN, Analysis, Words, words_in
from dedup_filter.fingerprints.places import Places
from dedup_filter.fingerprints.sketch import (
    MOST_BLOCKS,
    BoolArray,
    UInt16Array,
    UInt32Array,
    UInt64Array,
    are_among,
    found_in,
    row_in,
    row_of,
    short_hashes,
)

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]


class Shares(NamedTuple):
    """The words of the n blocks of a page that another page has: columns of (n,)."""

    words: IntArray
    phrases: IntArray
    """Shingles of the block; of one with fewer words than a shingle, those with all its words."""
    sampled: IntArray
    """How many of these the other page's sketch samples."""
    there: IntArray
    """How many of these it has."""
    is_there: BoolArray
    """Whether the row of the other page has the block, a line beside one of its neighbours."""
    missing: FloatArray
    """Estimated words that the other page lacks; all words, if no shingle is sampled."""
    found: tuple[BoolArray, BoolArray]
    """Which shingles of the page the other's sketch samples, and which it has: see `found_in`."""


NUMBER = re.compile(r"\d[\d.,:]*")
_LABELLED = re.compile(r"[^\W\d][^:：]{0,30}(?:(?<!\d)[:：]|[:：](?!\d))\s*\S")
"""A colon between two digits is of a time: "It is 14:03"."""

TextName = Literal["new", "main", "span"]
TEXT_NAMES: tuple[TextName, ...] = ("new", "main", "span")


@dataclass(frozen=True, eq=False)
class BlockColumns:
    """The n blocks of a page that are compared, in page order."""

    texts: Sequence[str]
    words: Words
    """The words of what is compared of each block, one part for each."""
    places: Places
    all_hashes: UInt64Array
    """Hashes of all blocks of the page, frame included, (m,), m >= n, see `text.blocks`."""
    chosen: BoolArray
    """Which of these are compared, (m,)."""
    learnt_slots: UInt16Array
    """Slots of the page whose text changes by itself, see `frames.slots`."""
    size: int = 3
    """Words in a shingle."""
    ads: str = "window"
    """The name of the rule by which shingles are advertisements."""
    ignores_numbers: bool = False
    """Whether the words of lines lack their numbers."""

    @cached_property
    def hashes(self) -> UInt64Array:
        """Hash of each block, (n,)."""
        return self.all_hashes[self.chosen]

    @cached_property
    def all(self) -> Analysis:
        """The shingles of all blocks."""
        return Analysis(self.words, self.size, self.ads)

    @cached_property
    def shingles(self) -> UInt32Array:
        """Hashes of all shingles in page order, (words - size + 1,)."""
        return short_hashes(self.all.hashes)

    @cached_property
    def ends(self) -> IntArray:
        """Words before each block and, last, of all blocks, (n + 1,)."""
        return np.concatenate(([0], np.cumsum(self.words.lengths, dtype=np.intp)))

    @cached_property
    def by_text(self) -> Mapping[TextName, Analysis]:
        """The shingles of the texts `new`, `main` and `span`; equal texts share one object."""
        made: dict[bytes, Analysis] = {}
        choices = self.places.in_new, self.places.in_main, self.places.in_span
        for choice in choices:
            if (key := choice.tobytes()) not in made:
                made[key] = self.all.of_parts(choice)
        return {
            name: made[choice.tobytes()] for name, choice in zip(TEXT_NAMES, choices, strict=True)
        }

    @cached_property
    def _neighbours(self) -> tuple[IntArray, IntArray]:
        """Return each block with the block before and after it, (4, n), and how often, (4, n).

        The neighbours come first without the frame of the host, then with it. Of a link the number
        does not count: a menu may stand twice on a page, and once beside the other's frame.
        """
        own, whole = _pairs(row_of(self.hashes)), _pairs(row_of(self.all_hashes))
        # A row ends after so many blocks.
        often = _times(own, own[:MOST_BLOCKS]), _times(whole, whole[:MOST_BLOCKS])
        pairs, times = (
            np.array((mine[:-1], mine[1:], all_[:-1][self.chosen], all_[1:][self.chosen]), np.intp)
            for mine, all_ in ((own, whole), often)
        )
        return pairs, times * ~self.places.is_lone_link

    @cached_property
    def are_sentences(self) -> BoolArray:
        """Which blocks have a function word in each five words, (n,), as sentences have."""
        counts = np.concatenate(([0], np.cumsum(self.words.values.is_function_word)))[self.ends]
        sentences: BoolArray = FUNCTION_WORD_IN * np.diff(counts) >= np.diff(self.ends).clip(min=1)
        return sentences

    @cached_property
    def are_labelled(self) -> BoolArray:
        """Which blocks are a label and a value, (n,): "Colour: red"."""
        return np.array([_LABELLED.match(text) is not None for text in self.texts], np.bool_)

    @cached_property
    def _bounds(self) -> tuple[IntArray, IntArray]:
        """Return the first and the end of the shingles of each block, (n,) each.

        For a block shorter than a shingle, they are the shingles that hold all its words.
        """
        first, end, size = self.ends[:-1], self.ends[1:], self.size
        is_short = end - first < size
        last = np.where(is_short, first + 1, end - size + 1).clip(max=len(self.shingles))
        start = np.where(is_short, (end - size).clip(min=0), first)
        return np.minimum(start, last), last

    def shares_in(self, sketch: bytes) -> Shares:
        """Return what a sketch has of each block.

        If a block has fewer words than a shingle, one shared shingle with all its words is enough,
        because its neighbours on the other page may differ.
        """
        are_sampled, are_there = found_in(self.shingles, sketch)
        (start, last), words = self._bounds, np.diff(self.ends)
        phrases = last - start
        sums = [np.concatenate(([0], np.cumsum(each))) for each in (are_sampled, are_there)]
        sampled, there = (each[last] - each[start] for each in sums)
        is_short = words < self.size
        there = np.where(is_short & (there > 0), sampled, there)
        row, mine = row_in(sketch), row_of(self.hashes)
        is_there = are_among(mine, np.sort(row))
        lines = is_there & self.places.are_lines
        if lines.any():
            is_there &= ~lines | self._are_beside(row)
        # The block may be one of those that follow; the row has numbers that are not to count.
        if len(row) == MOST_BLOCKS or self.ignores_numbers:
            is_there |= (sampled > 0) & (there == sampled)
        share = np.where(is_there, 1.0, there / np.maximum(sampled, 1))
        found = are_sampled, are_there
        return Shares(words, phrases, sampled, there, is_there, words * (1 - share), found)

    def _are_beside(self, row: UInt16Array) -> BoolArray:
        """Return which blocks a row has beside one of their neighbours, as often as here, (n,)."""
        pairs, times = self._neighbours
        there = _times(pairs, _pairs(row))
        are_beside: BoolArray = np.any(there >= times.clip(min=1), axis=0)
        return are_beside

    def said_in(
        self, sketch: bytes, words: UInt64Array, among: BoolArray
    ) -> tuple[set[int], set[int], set[int]]:
        """Return which of some words, (m,), stand in a shingle that a sketch has, and which do not.

        The words are hashes, and only words of the blocks `among` count, (n,). Words whose shingles
        are not sampled are in the third set. Cost: 0.1 ms for 1,000 words.
        """
        hashes = self.words.values.hashes
        are_asked = np.isin(hashes, words) & np.repeat(among, self.words.lengths)
        sampled, said = (
            {*hashes[are_asked & words_in(each, self.size, len(hashes))].tolist()}
            for each in found_in(self.shingles, sketch)
        )
        return said, sampled - said, {*hashes[are_asked].tolist()} - sampled

    def lacking_in(self, sketch: bytes, text: str) -> tuple[int, int]:
        """Return first and end of the words of a block that stand in no shingle of a sketch.

        They are counted within the block. If each word is in such a shingle, all are returned.
        """
        _, are_there = found_in(self.shingles, sketch)
        are_said = words_in(are_there, self.size, int(self.ends[-1]))
        lacking, size, ends = set[int](), 0, self.ends.tolist()
        for each, first, end in zip(self.texts, ends, ends[1:], strict=False):
            if each == text:
                size = end - first
                lacking.update(np.flatnonzero(~are_said[first:end]).tolist())
        return (min(lacking), max(lacking) + 1) if lacking else (0, size)


def _times(values: IntArray, row: IntArray) -> IntArray:
    """Return how often each value, of any shape, occurs in a row."""
    there, counts = np.unique(row, return_counts=True)
    at = np.minimum(np.searchsorted(there, values), len(there) - 1)
    times: IntArray = np.where(there[at] == values, counts[at], 0)
    return times


def _pairs(row: UInt16Array) -> IntArray:
    """Return each block of a row, (n,), with the next one, and both ends alone: (n + 1,)."""
    wide = np.concatenate(([0], row, [0])).astype(np.intp)
    pairs: IntArray = wide[:-1] << 16 | wide[1:]
    return pairs
