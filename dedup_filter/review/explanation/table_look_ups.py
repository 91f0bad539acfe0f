"""Two fingerprints, a distance, a layout -> which permuted tables find one by the other.

A table finds a fingerprint if a probe of the look-up flips exactly the leading bits in which the
two fingerprints differ (`hamming/layout.py`).
"""

from itertools import groupby
from typing import NamedTuple

from dedup_filter.hamming.layout import Layout, TableShape


class LookUp(NamedTuple):
    """The look-up of a pair of fingerprints in one table."""

    leading: list[tuple[int, int]]
    """The leading blocks of bits, each from its highest to its lowest position, 63 to 0."""
    differing: int
    """Number of leading bits that differ."""
    flipped: int
    """Most leading bits that a probe flips; -1: the distance does not need this table."""
    finds: bool


def look_ups(one: int, other: int, layout: Layout, distance: int) -> list[LookUp]:
    """Return, for each table of a layout, whether a look-up within a distance finds the other."""
    return [_look_up(shape, one ^ other, distance) for shape in layout.table_shapes]


def _look_up(shape: TableShape, differing: int, distance: int) -> LookUp:
    positions = shape.order[: shape.prefix_bits]
    within = sum(1 << position for position in positions) & differing
    runs = groupby(enumerate(positions), key=lambda each: each[0] + each[1])
    blocks = [[position for _, position in run] for _, run in runs]
    return LookUp(
        [(block[0], block[-1]) for block in blocks],
        within.bit_count(),
        shape.radius(distance),
        differing.bit_count() <= distance and within in set(shape.probes(distance)),
    )
