"""A batch of fingerprints -> every pair of distinct ones that differ in at most k bits.

    fingerprints ─ distinct ─┬─ table 1: groups that share a prefix ─ compared ─┐
                             ├─ table 2: …                                      ├─ pairs
                             └─ table 3: …                                      ┘

    permuted   1011 0010…  1011 1100…  | 1100 0001… | 1110 0000…  1110 0111…  1110 1010…
    groups           0                       1                   2

The tables of a layout are made one after the other. In each, a group is compared with itself and
with the groups whose prefixes differ from its own by a probe; each such pair of groups is listed
once, from the smaller prefix. A table reports a pair only if no earlier table finds it, so reported
pairs need not be remembered.

Groups of like size are compared together, in numpy calls of some ten thousand entries each:

    group    a    b    c          laid out     a0 b0 c0  a1 b1 c1  a2 b2 c2
    entries  a0   b0   c0                      └───┬──┘  └───┬──┘
             a1   b1   c1         one call     XOR, popcount, compare, for all groups at once
             a2   b2   c2         next call    a0 b0 c0 against a2 b2 c2, and so on

In a block of groups, the shorter ones are read beyond their ends; what is found there is dropped.
Groups are sorted by size first, so this is little.

Guarantee: exact for every k from 0 to 12, each pair once. Fingerprints that occur several times
count as one. A crowd of n near ones makes up to n**2 / 2 pairs; `pair_blocks` holds few at a time:
a few arrays of `_BLOCK` entries, however long the groups, 4 * 2**bits bytes for probes, and what
is found in one block.

Cost: to sort a fingerprint 10 to 60 ns a table. A probe 10 ns or less for each prefix that occurs.
A comparison 1 ns where groups are long (10 million entries, prefixes of 16 bits), and 100 ns a pair
that is found. As only one table exists at a time, memory is no reason for few tables; the layout is
chosen so that groups have some sixteen members (`python benchmarks/pairs.py --layouts`).

Manku, Jain and Das Sarma (2007), section 4 (batch queries). Where we differ: the batch is
compared with itself, in memory, and group by group instead of query by query.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.layout import MAX_DISTANCE, Layout, TableShape, require_whole
from dedup_filter.hamming.pairs import (
    FINGERPRINT_BITS,
    Integers,
    IntpArray,
    UInt64Array,
    distinct,
)
from dedup_filter.hamming.permuted_table import Permutation

__all__ = ["near_pairs", "pair_blocks", "pair_layout"]

_ALL_WITH_ALL = 2000
"""Fingerprints up to which comparing all with all is soonest, or as good."""

_BLOCKS = {5_000: 8, 20_000: 7, 50_000: 6, 250_000: 5, 15_000_000: 4}
"""Up to so many fingerprints -> into how many blocks to cut; more are cut into 3."""

_TOGETHER = 1 << 16
"""Found pairs that are passed on together, or a few more."""

_LISTED = 1 << 20
"""Pairs of groups that are listed, to be compared together, before the next are."""

_BLOCK = 1 << 15

Found = tuple[UInt64Array, UInt64Array]
"""Entries and, place by place, the others that they are near to."""


class _Groups(NamedTuple):
    """Entries with the same prefix stand side by side; groups are in the order of prefixes."""

    entries: UInt64Array
    """Permuted."""
    prefixes: IntpArray
    starts: IntpArray
    sizes: IntpArray


def near_pairs(fingerprints: Integers, max_distance: int = 3) -> list[tuple[int, int]]:
    """Return all pairs (a, b), a < b, of distinct fingerprints within a distance, ascending.

    Cost: see `benchmarks/pairs.py`. Memory: about 50 bytes a fingerprint and 150 a pair;
    `pair_blocks` gives the same pairs little by little.

    Raises:
        ConfigError: `max_distance` is not a whole number from 0 to 12.
        TypeError: a fingerprint is not an integer.
        ValueError: one is outside 0..2**64-1.

    >>> near_pairs([0b1000, 0b1011, 0b1011, 0b1111, 2**64 - 1], max_distance=2)
    [(8, 11), (11, 15)]
    """
    pairs = np.concatenate([np.empty((0, 2), np.uint64), *pair_blocks(fingerprints, max_distance)])
    lefts, rights = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].T.tolist()
    return list(zip(lefts, rights, strict=True))


def pair_blocks(
    fingerprints: Integers, max_distance: int = 3, layout: Layout | None = None
) -> Iterator[UInt64Array]:
    """Return the pairs of `near_pairs` in arrays of two columns, as they are found.

    Memory stays bounded for any number of pairs. Their order is the same in every run, but they
    are not sorted. Without a layout the quickest is chosen.

    Raises:
        ConfigError: as for `near_pairs`; or the layout cannot be exact for the distance.
        TypeError, ValueError: as for `near_pairs`.
    """
    require_whole("max_distance", max_distance, 0, MAX_DISTANCE)
    if layout is not None:
        layout.require_exact(max_distance)
    entries = distinct(fingerprints)
    if max_distance == 0 or len(entries) < 2:  # distinct ones differ
        return iter(())
    layout = layout or pair_layout(len(entries))
    if layout is None:
        return map(_ascending, _together(_inside(_grouped(entries, 0), max_distance)))
    return _from_tables(entries, max_distance, layout.tables_needed(max_distance))


def pair_layout(count: int) -> Layout | None:
    """Return the layout, or None where comparing all with all is soonest.

    >>> pair_layout(1_000_000), pair_layout(1000)
    (Layout(4, 1), None)
    """
    if count <= _ALL_WITH_ALL:
        return None
    return Layout(next((blocks for most, blocks in _BLOCKS.items() if count <= most), 3))


def _from_tables(
    entries: UInt64Array, distance: int, shapes: Sequence[TableShape]
) -> Iterator[UInt64Array]:
    for number, shape in enumerate(shapes):
        permutation = Permutation(shape.order)
        groups = _grouped(permutation.apply_many(entries), shape.prefix_bits)
        for first, second in _together(_in_table(groups, permutation, shape, distance)):
            pairs = _ascending((permutation.undo_many(first), permutation.undo_many(second)))
            differing = pairs[:, 0] ^ pairs[:, 1]
            yield pairs[~_found_earlier(differing, shapes[:number], distance)]


def _in_table(
    groups: _Groups, permutation: Permutation, shape: TableShape, distance: int
) -> Iterator[Found]:
    """Yield what shares a prefix, then what has prefixes between which a probe leads."""
    yield from _inside(groups, distance)
    if shape.radius(distance) == 0:
        return
    rest = FINGERPRINT_BITS - shape.prefix_bits
    probes = (permutation.apply(mask) >> rest for mask in shape.probes(distance) if mask)
    for lefts, rights in _neighbours(groups, shape.prefix_bits, probes):
        yield from _between(groups, lefts, rights, distance)


def _found_earlier(
    differing: UInt64Array, shapes: Sequence[TableShape], distance: int
) -> npt.NDArray[np.bool_]:
    """Tell which pairs some earlier table finds; cuts are not nested here."""
    found = np.zeros(len(differing), np.bool_)
    for shape in shapes:
        (lead,) = shape.leads
        damage = np.bitwise_count(differing & np.uint64(sum(1 << bit for bit in lead.positions)))
        found |= damage <= lead.radius(distance)
    return found


def _grouped(permuted: UInt64Array, prefix_bits: int) -> _Groups:
    """Group permuted fingerprints, which it sorts, by their first bits. Requires: not empty."""
    permuted.sort()
    rest = np.uint64(FINGERPRINT_BITS - prefix_bits)
    prefixes = permuted >> rest if prefix_bits else np.zeros_like(permuted)
    starts = np.concatenate(([0], np.flatnonzero(prefixes[1:] != prefixes[:-1]) + 1))
    sizes = np.diff(starts, append=len(permuted))
    return _Groups(permuted, prefixes[starts].astype(np.intp), starts, sizes)


def _neighbours(
    groups: _Groups, prefix_bits: int, probes: Iterable[int]
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


def _inside(groups: _Groups, max_distance: int) -> Iterator[Found]:
    """Yield the near pairs of entries that are in the same group."""
    crowded = np.flatnonzero(groups.sizes > 1)
    crowded = crowded[np.argsort(groups.sizes[crowded], kind="stable")]
    for chosen in _blocks(crowded, groups.sizes[crowded]):
        yield from _inside_block(_laid_out(groups, chosen), groups.sizes[chosen], max_distance)


def _inside_block(rows: UInt64Array, sizes: IntpArray, max_distance: int) -> Iterator[Found]:
    """Compare the rows with those 1, 2, 3, ... below; several such steps at once if they fit."""
    count, length = len(sizes), rows.size
    steps = max(1, _BLOCK // length)
    entries = np.concatenate((rows.ravel(), np.zeros(steps * count, np.uint64)))
    for shift in range(count, length, steps * count):
        for start in range(0, length - shift, _BLOCK):
            first = entries[start : min(start + _BLOCK, length - shift)]
            offset, strides = (start + shift) * 8, (count * 8, 8)
            others = np.ndarray((steps, len(first)), np.uint64, entries, offset, strides)
            places = _near(others, first, max_distance)
            if len(places):
                step, at = np.divmod(places, len(first))
                other = at + start + shift + step * count
                row, column = np.divmod(other, count)
                real = row < sizes[column]
                yield first[at[real]], entries[other[real]]


def _between(
    groups: _Groups, lefts: IntpArray, rights: IntpArray, max_distance: int
) -> Iterator[Found]:
    """Yield the near pairs of one entry of group `lefts[i]` and one of group `rights[i]`."""
    wide, narrow = _by_width(groups.sizes, lefts, rights)
    for chosen in _blocks(np.arange(len(wide)), groups.sizes[wide]):
        numbers, others = wide[chosen], narrow[chosen]
        sizes = groups.sizes[numbers], groups.sizes[others]
        laid_out = _laid_out(groups, numbers), _laid_out(groups, others)
        yield from _between_blocks(*laid_out, *sizes, max_distance)


def _between_blocks(
    rows: UInt64Array,
    others: UInt64Array,
    sizes: IntpArray,
    other_sizes: IntpArray,
    max_distance: int,
) -> Iterator[Found]:
    """Compare all rows with each of the others, with several of them at once if they fit."""
    at_once = max(1, _BLOCK // len(sizes))
    for start in range(0, len(rows), at_once):
        part = rows[start : start + at_once]
        steps = max(1, _BLOCK // part.size)
        for first in range(0, len(others), steps):
            against = others[first : first + steps, np.newaxis]
            places = _near(part, against, max_distance)
            if len(places):
                rest, column = np.divmod(places, len(sizes))
                number, row = np.divmod(rest, len(part))
                real = (row + start < sizes[column]) & (number + first < other_sizes[column])
                row, column, number = row[real], column[real], number[real]
                yield part[row, column], others[number + first, column]


def _near(first: UInt64Array, second: UInt64Array, max_distance: int) -> IntpArray:
    """Return where two arrays, of `_BLOCK` entries, are near, counted through rows."""
    return np.flatnonzero(np.bitwise_count(first ^ second) <= max_distance)


def _blocks(numbers: IntpArray, sizes: IntpArray) -> Iterator[IntpArray]:
    """Cut into blocks that hold at most `_BLOCK` entries each, or one group."""
    start = 0
    while start < len(numbers):
        stop = min(start + _BLOCK // int(sizes[start]), len(numbers))
        stop = max(start + 1, min(stop, start + _BLOCK // int(sizes[stop - 1])))
        yield numbers[start:stop]
        start = stop


def _laid_out(groups: _Groups, numbers: IntpArray) -> UInt64Array:
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


def _ascending(found: Found) -> UInt64Array:
    return np.stack((np.minimum(*found), np.maximum(*found)), axis=1)


def _together(finds: Iterable[Found]) -> Iterator[Found]:
    """Pass on what was found in fewer, larger pieces."""
    waiting: list[Found] = []
    count = 0
    for found in finds:
        waiting.append(found)
        count += len(found[0])
        if count >= _TOGETHER:
            yield _joined(waiting)
            waiting, count = [], 0
    if count:
        yield _joined(waiting)


def _joined(finds: Sequence[Found]) -> Found:
    first, second = zip(*finds, strict=True)
    return np.concatenate(first), np.concatenate(second)
