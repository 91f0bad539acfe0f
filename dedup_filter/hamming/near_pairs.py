"""A batch of fingerprints -> every pair of distinct ones that differ in at most k bits.

    fingerprints ─ distinct ─┬─ table 1: groups that share a prefix ─ compared ─┐
                             ├─ table 2: …                                      ├─ pairs
                             └─ table 3: …                                      ┘

The tables of a layout are made one after the other, and each is used for all queries at once. A
table reports a pair only if no earlier table finds it, so reported pairs need not be remembered.

Guarantee: exact for every k from 0 to 12, each pair once. Fingerprints that occur several times
count as one. A crowd of n near ones makes up to n**2 / 2 pairs; `pair_blocks` holds few at a time.

The layout is chosen by other costs than an index's (`planner`): only one table exists at a time, so
there may be many, but each takes a sort. Few fingerprints are compared all with all. Expected times
in nanoseconds of a 2-core machine (`python benchmarks/pairs.py --layouts` measures them):

    table        300,000; 40 a fingerprint if its prefix has up to 16 bits, else 80
    comparison   1
    group        40, 10 for each probe, and 80 for each group that a probe leads to

Manku, Jain and Das Sarma (2007), section 4 (batch queries). Where we differ: the batch is
compared with itself, in memory, and group by group instead of query by query.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import comb, exp

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.layout import (
    MAX_DISTANCE,
    Layout,
    TableShape,
    require_whole,
)
from dedup_filter.hamming.pair_groups import (
    RADIX_BITS,
    Found,
    PrefixGroups,
    between,
    group,
    inside,
    neighbours,
    one_group,
)
from dedup_filter.hamming.pairs import FINGERPRINT_BITS, Integers, UInt64Array, distinct
from dedup_filter.hamming.permuted_table import Permutation

__all__ = ["expected_seconds", "layouts", "near_pairs", "pair_blocks", "pair_layout"]

_TOGETHER = 1 << 16
"""Found pairs that are passed on together, or a few more."""

_TABLE_NS = 300_000
_RADIX_NS = 40
_SORT_NS = 80
_COMPARISON_NS = 1.0
_GROUP_NS = 40
_PROBE_NS = 10
_GROUP_PAIR_NS = 80

_MOST_BLOCKS = 18
_MOST_TABLES = 128
_LONGEST_PROBED = 22
"""Bits. The groups of a table with probes are found by number, in an array of 2**bits."""


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
    if max_distance == 0:  # distinct ones differ
        return iter(())
    layout = layout or pair_layout(len(entries), max_distance)
    if layout is None or not len(entries):
        return map(_ascending, _together(inside(one_group(entries), max_distance)))
    return _from_tables(entries, max_distance, layout.tables_needed(max_distance))


def pair_layout(count: int, max_distance: int) -> Layout | None:
    """Return the layout, or None where comparing all with all is soonest.

    >>> pair_layout(1_000_000, 3), pair_layout(1000, 3)
    (Layout(4, 1), None)
    """
    if expected_seconds(None, count, max_distance) * 1e9 <= _TABLE_NS:
        return None
    choices = [None, *layouts(max_distance)]
    return min(choices, key=lambda layout: expected_seconds(layout, count, max_distance))


@cache
def layouts(max_distance: int) -> tuple[Layout, ...]:
    """Return the layouts that are exact and whose probes need little memory."""
    return tuple(layout for layout in _layouts() if _is_served(layout, max_distance))


@cache
def _layouts() -> tuple[Layout, ...]:
    shapes = [(m, lead) for m in range(2, _MOST_BLOCKS + 1) for lead in range(1, m)]
    return tuple(Layout(m, lead) for m, lead in shapes if comb(m, lead) <= _MOST_TABLES)


def _is_served(layout: Layout, max_distance: int) -> bool:
    shapes = layout.tables_needed(max_distance)
    probed = [shape.prefix_bits for shape in shapes if shape.radius(max_distance)]
    return layout.is_exact(max_distance) and max(probed, default=0) <= _LONGEST_PROBED


def expected_seconds(layout: Layout | None, count: int, max_distance: int) -> float:
    """Return the expected time for so many random fingerprints."""
    if layout is None:
        return count**2 / 2 * _COMPARISON_NS * 1e-9
    total = 0.0
    for shape in layout.tables_needed(max_distance):
        prefixes = 2**shape.prefix_bits
        taken = 1 - exp(-count / prefixes)  # the share of prefixes that occur
        neighbours = (shape.probe_count(max_distance) - 1) / 2
        total += _TABLE_NS + count * (_RADIX_NS if shape.prefix_bits <= RADIX_BITS else _SORT_NS)
        led_to = neighbours * (2 * _PROBE_NS + taken * _GROUP_PAIR_NS)  # each pair listed once
        total += prefixes * taken * (_GROUP_NS + led_to)
        total += count**2 / prefixes * (0.5 + neighbours) * _COMPARISON_NS
    return total * 1e-9


def _from_tables(
    entries: UInt64Array, distance: int, shapes: Sequence[TableShape]
) -> Iterator[UInt64Array]:
    for number, shape in enumerate(shapes):
        permutation = Permutation(shape.order)
        groups = group(entries, permutation, shape.prefix_bits)
        for first, second in _together(_in_table(groups, permutation, shape, distance)):
            pairs = _ascending((permutation.undo_many(first), permutation.undo_many(second)))
            differing = pairs[:, 0] ^ pairs[:, 1]
            yield pairs[~_found_earlier(differing, shapes[:number], distance)]


def _in_table(
    groups: PrefixGroups, permutation: Permutation, shape: TableShape, distance: int
) -> Iterator[Found]:
    """Yield what shares a prefix, then what has prefixes between which a probe leads."""
    yield from inside(groups, distance)
    if shape.radius(distance) == 0:
        return
    rest = FINGERPRINT_BITS - shape.prefix_bits
    probes = (permutation.apply(mask) >> rest for mask in shape.probes(distance) if mask)
    for lefts, rights in neighbours(groups, shape.prefix_bits, probes):
        yield from between(groups, lefts, rights, distance)


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
