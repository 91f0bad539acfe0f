"""Groups of entries -> the pairs of entries within k bits, every group with itself or another.

Groups of like size are compared together, in numpy calls of some ten thousand entries each:

    group    a    b    c          laid out     a0 b0 c0  a1 b1 c1  a2 b2 c2
    entries  a0   b0   c0                      └───┬──┘  └───┬──┘
             a1   b1   c1         one call     XOR, popcount, compare, for all groups at once
             a2   b2   c2         next call    a0 b0 c0 against a2 b2 c2, and so on

A group that is shorter than the widest of its block is read beyond its end; what is found
there is dropped again. Blocks are made of groups sorted by size, so that little is.

Guarantee: each pair of places once. Memory: a few buffers of `_BLOCK` entries, however long
the groups, besides what is found in one block.

Cost: 1 ns a comparison where groups are long (10 million entries, prefixes of 16 bits), and 100
ns a pair that is found.
"""

from collections.abc import Iterator

import numpy as np

from dedup_filter.hamming.prefix_groups import IntArray, PrefixGroups, UInt64Array

__all__ = ["Found", "between", "inside"]

_BLOCK = 1 << 15

Found = tuple[UInt64Array, UInt64Array]
"""Entries and, place by place, the others that they are near to."""


def inside(groups: PrefixGroups, max_distance: int) -> Iterator[Found]:
    """Yield the near pairs of entries that are in the same group."""
    crowded = np.flatnonzero(groups.sizes > 1)
    crowded = crowded[np.argsort(groups.sizes[crowded], kind="stable")]
    near = _Near(max_distance)
    for chosen in _blocks(crowded, groups.sizes[crowded]):
        yield from _inside_block(_laid_out(groups, chosen), groups.sizes[chosen], near)


def _inside_block(rows: UInt64Array, sizes: IntArray, near: "_Near") -> Iterator[Found]:
    """Compare the rows with those 1, 2, 3, ... below; several such steps at once if they fit."""
    count, length = len(sizes), rows.size
    steps = max(1, _BLOCK // length)
    entries = np.concatenate((rows.ravel(), np.zeros(steps * count, np.uint64)))
    for shift in range(count, length, steps * count):
        for start in range(0, length - shift, _BLOCK):
            first = entries[start : min(start + _BLOCK, length - shift)]
            offset, strides = (start + shift) * 8, (count * 8, 8)
            others = np.ndarray((steps, len(first)), np.uint64, entries, offset, strides)
            places = near.places(others, first)
            if len(places):
                step, at = np.divmod(places, len(first))
                other = at + start + shift + step * count
                row, column = np.divmod(other, count)
                real = row < sizes[column]
                yield first[at[real]], entries[other[real]]


def between(
    groups: PrefixGroups, lefts: IntArray, rights: IntArray, max_distance: int
) -> Iterator[Found]:
    """Yield the near pairs of one entry of group `lefts[i]` and one of group `rights[i]`."""
    wide, narrow = _by_width(groups.sizes, lefts, rights)
    near = _Near(max_distance)
    for chosen in _blocks(np.arange(len(wide)), groups.sizes[wide]):
        numbers, others = wide[chosen], narrow[chosen]
        sizes = groups.sizes[numbers], groups.sizes[others]
        laid_out = _laid_out(groups, numbers), _laid_out(groups, others)
        yield from _between_blocks(*laid_out, *sizes, near)


def _between_blocks(
    rows: UInt64Array, others: UInt64Array, sizes: IntArray, other_sizes: IntArray, near: "_Near"
) -> Iterator[Found]:
    """Compare all rows with each of the others, with several of them at once if they fit."""
    at_once = max(1, _BLOCK // len(sizes))
    for start in range(0, len(rows), at_once):
        part = rows[start : start + at_once]
        steps = max(1, _BLOCK // part.size)
        for first in range(0, len(others), steps):
            against = others[first : first + steps, np.newaxis]
            places = near.places(np.broadcast_to(part, (len(against), *part.shape)), against)
            if len(places):
                rest, column = np.divmod(places, len(sizes))
                number, row = np.divmod(rest, len(part))
                real = (row + start < sizes[column]) & (number + first < other_sizes[column])
                row, column, number = row[real], column[real], number[real]
                yield part[row, column], others[number + first, column]


class _Near:
    """XOR, popcount and comparison in buffers that are made once."""

    def __init__(self, max_distance: int) -> None:
        self._max_distance = max_distance
        self._differing = np.empty(_BLOCK, np.uint64)
        self._counts = np.empty(_BLOCK, np.uint8)
        self._near = np.empty(_BLOCK, np.bool_)

    def places(self, first: UInt64Array, second: UInt64Array) -> IntArray:
        """Return where two arrays of at most `_BLOCK` entries are near, counted through rows."""
        size = first.size
        differing, counts, near = self._differing[:size], self._counts[:size], self._near[:size]
        np.bitwise_xor(first, second, out=differing.reshape(first.shape))
        np.bitwise_count(differing, out=counts)
        np.less_equal(counts, self._max_distance, out=near)
        return np.flatnonzero(near) if near.any() else _NOWHERE


_NOWHERE = np.empty(0, np.intp)


def _blocks(numbers: IntArray, sizes: IntArray) -> Iterator[IntArray]:
    """Cut into blocks that hold at most `_BLOCK` entries each, or one group."""
    start = 0
    while start < len(numbers):
        stop = min(start + _BLOCK // int(sizes[start]), len(numbers))
        stop = max(start + 1, min(stop, start + _BLOCK // int(sizes[stop - 1])))
        yield numbers[start:stop]
        start = stop


def _laid_out(groups: PrefixGroups, numbers: IntArray) -> UInt64Array:
    """Return one column for each group, as many rows as the widest has entries."""
    rows = np.arange(groups.sizes[numbers].max())
    places = groups.starts[numbers] + rows[:, np.newaxis]
    return groups.entries.take(places, mode="clip")


def _by_width(sizes: IntArray, lefts: IntArray, rights: IntArray) -> tuple[IntArray, IntArray]:
    """Return the wider and the narrower group of every pair, sorted by both widths."""
    swapped = sizes[lefts] < sizes[rights]
    wide, narrow = np.where(swapped, rights, lefts), np.where(swapped, lefts, rights)
    order = np.lexsort((sizes[narrow], sizes[wide]))
    return wide[order], narrow[order]
