"""A batch of fingerprints -> every pair of distinct fingerprints within k bits of each other.

    permuted   1011 0010…  1011 1100…  | 1100 0001… | 1110 0000…  1110 0111…  1110 1010…
    groups           0                       1                   2

The tables of a layout are made one after the other. The entries of a table with the same prefix
form a group, which is compared with itself and with the groups whose prefixes a probe leads to. A
table reports a pair only if no earlier table finds it, so reported pairs need not be remembered.

Groups of like size are compared together, in numpy calls of some ten thousand entries each:

    group    a    b    c          laid out     a0 b0 c0  a1 b1 c1  a2 b2 c2
    entries  a0   b0   c0                      └───┬──┘  └───┬──┘
             a1   b1   c1         one call     XOR, popcount, compare all rows but the last with
             a2   b2   c2                      all but the first; next call: rows two apart

Shorter groups are read beyond their ends, and pairs found there are dropped.

Guarantee: exact for every k from 0 to 12, each pair once; equal fingerprints count as one. Memory
stays bounded even if n near fingerprints make n**2 / 2 pairs: a few arrays of `_BLOCK` entries or
of the longest group, 4 * 2**bits bytes for probes, and the pairs found in one block.

Cost: sorting 10 to 60 ns a fingerprint and table; probing 10 ns or less a probe and prefix;
comparing 1 ns a pair in long groups; 100 ns for each pair that is found.

Manku, Jain and Das Sarma (2007), section 4 (batch queries). Where we differ: the batch is
compared with itself, in memory, and group by group instead of query by query.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dedup_filter.hamming.layout import MAX_DISTANCE, Layout, TableShape, probe_keys, require_whole
from dedup_filter.hamming.pairs import (
    FINGERPRINT_BITS,
    Integers,
    IntpArray,
    UInt64Array,
    distinct,
)

_BLOCKS = {5_000: 8, 20_000: 7, 50_000: 6, 250_000: 5, 15_000_000: 4}
"""Maximum number of fingerprints -> blocks that make groups of about sixteen; beyond: 3 blocks."""

_PROBED = 1 << 20
"""Combinations of a prefix and a probe that are looked up in one call."""

_BLOCK = 1 << 15
"""Entries compared in one call, each with one other."""


class _Groups(NamedTuple):
    """Permuted entries, grouped by prefix; the groups are in the order of their prefixes."""

    entries: UInt64Array
    prefixes: IntpArray
    starts: IntpArray
    sizes: IntpArray


def near_pairs(fingerprints: Integers, max_distance: int = 3) -> list[tuple[int, int]]:
    """Return all pairs (a, b), a < b, of distinct fingerprints within a distance, ascending.

    Cost: see `benchmarks/pairs.py`. Memory: about 50 bytes a fingerprint and 150 a pair;
    `pair_blocks` returns the same pairs piece by piece.

    Raises:
        ConfigError: `max_distance` is not a whole number from 0 to 12.
        TypeError: a fingerprint is not an integer.
        ValueError: a fingerprint is outside 0..2**64-1.

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

    The pairs are not sorted, but their order is always the same. A `layout`, given instead of the
    quickest, must be exact for the distance (else ConfigError). Other errors as for `near_pairs`.
    """
    require_whole("max_distance", max_distance, 0, MAX_DISTANCE)
    if layout is not None:
        layout.require_exact(max_distance)
    entries = distinct(fingerprints)
    if max_distance == 0 or len(entries) < 2:  # distinct fingerprints differ
        return iter(())
    layout = layout or pair_layout(len(entries))
    return _from_tables(entries, max_distance, layout.tables_needed(max_distance))


def pair_layout(count: int) -> Layout:
    """Return the quickest layout for `count` fingerprints, whatever the distance."""
    return Layout(next((blocks for most, blocks in _BLOCKS.items() if count <= most), 3))


def _from_tables(
    entries: UInt64Array, distance: int, shapes: Sequence[TableShape]
) -> Iterator[UInt64Array]:
    for number, shape in enumerate(shapes):
        groups = _grouped(shape.permuted(entries), shape.prefix_bits)
        for permuted in _in_table(groups, shape, distance):
            pairs = np.sort(shape.restored(permuted), axis=0)
            differing = pairs[0] ^ pairs[1]
            is_new = np.ones(len(differing), np.bool_)
            for earlier in shapes[:number]:
                is_new &= ~earlier.finds(differing, distance)
            yield pairs[:, is_new].T


def _grouped(permuted: UInt64Array, prefix_bits: int) -> _Groups:
    """Sort permuted fingerprints in place and group them by prefix. Requires: not empty."""
    permuted.sort()
    prefixes = permuted >> np.uint64(FINGERPRINT_BITS - prefix_bits)
    starts = np.concatenate(([0], np.flatnonzero(prefixes[1:] != prefixes[:-1]) + 1))
    sizes = np.diff(starts, append=len(permuted))
    return _Groups(permuted, prefixes[starts].astype(np.intp), starts, sizes)


def _in_table(groups: _Groups, shape: TableShape, distance: int) -> Iterator[UInt64Array]:
    """Yield near pairs with equal prefixes, then near pairs whose prefixes differ by a probe."""
    yield from _inside(groups, distance)
    probes = probe_keys(shape, distance, shape.prefix_bits)[1:]  # the first flips nothing
    if not len(probes):
        return
    prefixes, numbers = groups.prefixes, np.arange(len(groups.prefixes))
    number_of = np.full(1 << shape.prefix_bits, -1, np.int32)
    number_of[prefixes] = numbers
    together = max(_PROBED // len(prefixes), 1)
    for start in range(0, len(probes), together):
        others = number_of[prefixes ^ probes[start : start + together, np.newaxis]]
        probe, left = (others > numbers).nonzero()
        yield from _between(groups, left, others[probe, left].astype(np.intp), distance)


def _inside(groups: _Groups, max_distance: int) -> Iterator[UInt64Array]:
    """Yield the near pairs of entries that are in the same group."""
    order = np.argsort(groups.sizes, kind="stable")
    for chosen in _alike_blocks(groups.sizes[order], _BLOCK):
        entries, sizes = _laid_out(groups, order[chosen])
        for shift in range(len(sizes), len(entries), len(sizes)):
            places = _near(entries[:-shift], entries[shift:], max_distance)
            if len(places):
                others = places + shift
                row, column = np.divmod(others, len(sizes))
                yield entries[np.array((places, others))[:, row < sizes[column]]]


def _between(
    groups: _Groups, lefts: IntpArray, rights: IntpArray, max_distance: int
) -> Iterator[UInt64Array]:
    """Yield the near pairs of one entry of group `lefts[i]` and one of group `rights[i]`."""
    swapped = groups.sizes[lefts] < groups.sizes[rights]
    wide, narrow = np.where(swapped, rights, lefts), np.where(swapped, lefts, rights)
    order = np.lexsort((groups.sizes[narrow], groups.sizes[wide]))
    wide, narrow = wide[order], narrow[order]
    for chosen in _alike_blocks(groups.sizes[wide], _BLOCK):
        entries, sizes = _laid_out(groups, wide[chosen])
        others, other_sizes = _laid_out(groups, narrow[chosen])
        rows = entries.reshape(-1, len(sizes))
        for number, other in enumerate(others.reshape(-1, len(sizes))):
            places = _near(rows, other, max_distance)
            if len(places):
                row, column = np.divmod(places, len(sizes))
                real = (row < sizes[column]) & (number < other_sizes[column])
                yield np.array((entries[places[real]], other[column[real]]))


def _near(entries: UInt64Array, others: UInt64Array, max_distance: int) -> IntpArray:
    """Return the places, in flat arrays, at which two arrays are near each other."""
    near: UInt64Array = np.bitwise_count(entries ^ others) <= max_distance
    return near.ravel().nonzero()[0]


def _laid_out(groups: _Groups, numbers: IntpArray) -> tuple[UInt64Array, IntpArray]:
    """Return the first entry of each group, then the second of each, and so on; and their sizes."""
    sizes = groups.sizes[numbers]
    places = groups.starts[numbers] + np.arange(sizes.max())[:, np.newaxis]
    return groups.entries.take(places.ravel(), mode="clip"), sizes


def _alike_blocks(sizes: IntpArray, most: int) -> Iterator[slice]:
    """Yield slices of ascending sizes whose length times largest size is at most `most`, or of one.

    Zeros, which come first, are left out.

    >>> list(_alike_blocks(np.array([0, 2, 2, 3, 9]), 6))
    [slice(1, 3, None), slice(3, 4, None), slice(4, 5, None)]
    """
    start = int(sizes.searchsorted(1))
    while start < len(sizes):
        stop = max(start + 1, min(start + most // int(sizes[start]), len(sizes)))
        stop = max(start + 1, min(stop, start + most // int(sizes[stop - 1])))
        yield slice(start, stop)
        start = stop
