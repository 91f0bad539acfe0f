"""Two fingerprints, a distance, a layout -> which permuted tables find the one by the other.

A table finds it if in the bits that lead it no more differ than the look-up flips there, in the
ways in which it flips them (`hamming/layout.py`).
"""

from itertools import groupby
from typing import NamedTuple

from dedup_filter.hamming.layout import Layout, TableShape


class LookUp(NamedTuple):
    """What one table does for a pair of fingerprints."""

    leading: list[tuple[int, int]]
    """The blocks of bits that lead it, each from its highest to its lowest position, 63 to 0."""
    differing: int
    """How many of these bits differ."""
    flipped: int
    """How many of them a look-up flips at most; -1: the distance does not need this table."""
    finds: bool


def look_ups(one: int, other: int, layout: Layout, distance: int) -> list[LookUp]:
    """Tell of each table of a layout whether a look-up within a distance meets the other there."""
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
