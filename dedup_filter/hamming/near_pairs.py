"""A batch of fingerprints -> every pair of distinct ones that differ in at most k bits.

    fingerprints ─ distinct ─┬─ table 1: groups that share a prefix ─ compared ─┐
                             ├─ table 2: …                                      ├─ pairs
                             └─ table 3: …                                      ┘

One pass over each permuted table of a layout, as an index has them, but one table at a time
and all its queries at once. A pair is reported by the first table that finds it, so nothing
need be remembered of what was reported.

Guarantee: exact for every k from 0 to 12, each pair once. Fingerprints that occur several times
count as one: a crowd of n equal ones costs what one costs, where it would make n**2 / 2 pairs.
A crowd of n near ones does make so many pairs; `pair_blocks` holds few of them at a time.

Manku, Jain and Das Sarma (2007), section 4 (batch queries). Where we differ: the batch is
compared with itself, in memory, and group by group instead of query by query.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.blocks import FINGERPRINT_BITS
from dedup_filter.hamming.distinct import distinct
from dedup_filter.hamming.layout import MAX_DISTANCE, Layout, require_whole
from dedup_filter.hamming.numbers import Integers
from dedup_filter.hamming.pair_comparison import Found, between, inside
from dedup_filter.hamming.pair_layout import pair_layout
from dedup_filter.hamming.pair_neighbours import neighbours
from dedup_filter.hamming.permutation import Permutation
from dedup_filter.hamming.prefix_groups import PrefixGroups, UInt64Array, group, one_group
from dedup_filter.hamming.table_shape import TableShape

__all__ = ["near_pairs", "pair_blocks"]

_TOGETHER = 1 << 16
"""Found pairs that are passed on together, or a few more."""


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

    Memory stays bounded however many there are. Their order is the same in every run, but they
    are not sorted. Without a layout the quickest is taken.

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
