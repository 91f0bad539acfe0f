"""Distinct fingerprints of one table -> groups that share its prefix -> pairs within k bits.

    permuted   1011 0010…  1011 1100…  | 1100 0001… | 1110 0000…  1110 0111…  1110 1010…
    groups           0                       1                   2

Groups are made for one pass over a batch and then thrown away. Entries of a group are in no
particular order: prefixes of up to 16 bits are sorted by radix, and the other bits are not sorted.
A group is compared with itself and with the groups whose prefixes differ from its own by a probe;
each such pair of groups is listed once, from the smaller prefix.

Groups of like size are compared together, in numpy calls of some ten thousand entries each:

    group    a    b    c          laid out     a0 b0 c0  a1 b1 c1  a2 b2 c2
    entries  a0   b0   c0                      └───┬──┘  └───┬──┘
             a1   b1   c1         one call     XOR, popcount, compare, for all groups at once
             a2   b2   c2         next call    a0 b0 c0 against a2 b2 c2, and so on

In a block of groups, the shorter ones are read beyond their ends; what is found there is dropped.
Groups are sorted by size first, so this is little.

Guarantee: each pair of places once. Memory: a few buffers of `_BLOCK` entries, however long
the groups, 4 * 2**bits bytes for probes, and what is found in one block.

Cost: to group a fingerprint 7 ns by radix while all fits the processor's cache, 40 to 60 ns at 10
million; 50 to 70 ns for a prefix of more bits. A probe 10 ns or less for each prefix that occurs. A
comparison 1 ns where groups are long (10 million entries, prefixes of 16 bits), and 100 ns a pair
that is found.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from dedup_filter.hamming.pairs import FINGERPRINT_BITS, IntpArray, UInt64Array
from dedup_filter.hamming.permuted_table import Permutation

__all__ = [
    "RADIX_BITS",
    "Found",
    "PrefixGroups",
    "between",
    "group",
    "inside",
    "neighbours",
    "one_group",
]

RADIX_BITS = 16
"""Numpy sorts keys of up to 16 bits by radix, in an eighth of the time of longer ones."""

_CHUNK = 1 << 16
"""Permuted at a time: what fits the cache takes half as long."""

_LISTED = 1 << 20
"""Pairs of groups that are listed, to be compared together, before the next are."""

_BLOCK = 1 << 15

Found = tuple[UInt64Array, UInt64Array]
"""Entries and, place by place, the others that they are near to."""


class PrefixGroups(NamedTuple):
    """Entries with the same prefix stand side by side; groups are in the order of prefixes."""

    entries: UInt64Array
    """Permuted."""
    prefixes: IntpArray
    starts: IntpArray
    sizes: IntpArray


def group(fingerprints: UInt64Array, permutation: Permutation, prefix_bits: int) -> PrefixGroups:
    """Group fingerprints by the bits that the permutation puts in front. Requires: not empty."""
    entries = np.empty_like(fingerprints)
    for chunk in _chunks(len(entries)):
        entries[chunk] = permutation.apply_many(fingerprints[chunk])
    rest = np.uint64(FINGERPRINT_BITS - prefix_bits)
    if prefix_bits <= RADIX_BITS:
        return _grouped_by_radix(entries, rest)
    entries.sort()
    changes = np.flatnonzero(entries[1:] ^ entries[:-1] >= np.uint64(1) << rest)
    starts = np.concatenate((np.zeros(1, np.intp), changes + 1))
    sizes = np.diff(starts, append=len(entries))
    return PrefixGroups(entries, (entries[starts] >> rest).astype(np.intp), starts, sizes)


def one_group(fingerprints: UInt64Array) -> PrefixGroups:
    """Put all in one group, as if the prefix had no bits."""
    only = np.zeros(1, np.intp)
    return PrefixGroups(fingerprints, only, only, only + len(fingerprints))


def neighbours(
    groups: PrefixGroups, prefix_bits: int, probes: Iterable[int]
) -> Iterator[tuple[IntpArray, IntpArray]]:
    """Yield numbers of groups whose prefixes differ by a probe, in lists of about a million.

    A probe is a mask of prefix bits, the lowest being 1.
    """
    number_of = np.full(1 << prefix_bits, -1, np.int32)
    number_of[groups.prefixes] = np.arange(len(groups.prefixes))
    lefts: list[IntpArray] = []
    rights: list[IntpArray] = []
    for probe in probes:
        others = number_of[groups.prefixes ^ probe]
        left = np.flatnonzero(others > np.arange(len(others)))
        lefts.append(left)
        rights.append(others[left].astype(np.intp))
        if sum(map(len, lefts)) >= _LISTED:
            yield np.concatenate(lefts), np.concatenate(rights)
            lefts, rights = [], []
    if lefts:
        yield np.concatenate(lefts), np.concatenate(rights)


def inside(groups: PrefixGroups, max_distance: int) -> Iterator[Found]:
    """Yield the near pairs of entries that are in the same group."""
    crowded = np.flatnonzero(groups.sizes > 1)
    crowded = crowded[np.argsort(groups.sizes[crowded], kind="stable")]
    near = _Near(max_distance)
    for chosen in _blocks(crowded, groups.sizes[crowded]):
        yield from _inside_block(_laid_out(groups, chosen), groups.sizes[chosen], near)


def _inside_block(rows: UInt64Array, sizes: IntpArray, near: "_Near") -> Iterator[Found]:
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
    groups: PrefixGroups, lefts: IntpArray, rights: IntpArray, max_distance: int
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
    rows: UInt64Array, others: UInt64Array, sizes: IntpArray, other_sizes: IntpArray, near: "_Near"
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

    def places(self, first: UInt64Array, second: UInt64Array) -> IntpArray:
        """Return where two arrays of at most `_BLOCK` entries are near, counted through rows."""
        size = first.size
        differing, counts, near = self._differing[:size], self._counts[:size], self._near[:size]
        np.bitwise_xor(first, second, out=differing.reshape(first.shape))
        np.bitwise_count(differing, out=counts)
        np.less_equal(counts, self._max_distance, out=near)
        return np.flatnonzero(near) if near.any() else _NOWHERE


_NOWHERE = np.empty(0, np.intp)


def _blocks(numbers: IntpArray, sizes: IntpArray) -> Iterator[IntpArray]:
    """Cut into blocks that hold at most `_BLOCK` entries each, or one group."""
    start = 0
    while start < len(numbers):
        stop = min(start + _BLOCK // int(sizes[start]), len(numbers))
        stop = max(start + 1, min(stop, start + _BLOCK // int(sizes[stop - 1])))
        yield numbers[start:stop]
        start = stop


def _laid_out(groups: PrefixGroups, numbers: IntpArray) -> UInt64Array:
    """Return one column for each group, as many rows as the widest has entries."""
    rows = np.arange(groups.sizes[numbers].max())
    places = groups.starts[numbers] + rows[:, np.newaxis]
    return groups.entries.take(places, mode="clip")


def _by_width(sizes: IntpArray, lefts: IntpArray, rights: IntpArray) -> tuple[IntpArray, IntpArray]:
    """Return the wider and the narrower group of every pair, sorted by both widths."""
    swapped = sizes[lefts] < sizes[rights]
    wide, narrow = np.where(swapped, rights, lefts), np.where(swapped, lefts, rights)
    order = np.lexsort((sizes[narrow], sizes[wide]))
    return wide[order], narrow[order]


def _grouped_by_radix(entries: UInt64Array, rest: np.uint64) -> PrefixGroups:
    keys = np.empty(len(entries), np.uint16)
    for chunk in _chunks(len(entries)):
        keys[chunk] = entries[chunk] >> rest
    counts = np.bincount(keys)
    if (keys[1:] < keys[:-1]).any():
        entries = entries[np.argsort(keys, kind="stable")]
    prefixes = np.flatnonzero(counts)
    sizes = counts[prefixes]
    return PrefixGroups(entries, prefixes, np.cumsum(sizes) - sizes, sizes)


def _chunks(count: int) -> Iterator[slice]:
    return (slice(start, start + _CHUNK) for start in range(0, count, _CHUNK))
