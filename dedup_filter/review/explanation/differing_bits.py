"""The fingerprints of two pages -> the bits that differ; which permuted tables find one by another.

A table finds a fingerprint if a probe of the look-up flips exactly the leading bits in which the
two fingerprints differ (`hamming/layout.py`).
"""

from collections.abc import Mapping
from itertools import groupby
from typing import NamedTuple

from dedup_filter.config import FilterConfig
from dedup_filter.hamming.layout import Layout, TableShape
from dedup_filter.hamming.planner import plan

_LEAST_PLANNED = 1_000_000
"""The tables of an index are planned for at least this many pages."""


class LookUp(NamedTuple):
    """The look-up of a pair of fingerprints in one table."""

    leading: list[tuple[int, int]]
    """The leading blocks of bits, each from its highest to its lowest position, 63 to 0."""
    differing: int
    """Number of leading bits that differ."""
    flipped: int
    """Most leading bits that a probe flips; -1: the distance does not need this table."""
    finds: bool


class DifferingBits(NamedTuple):
    """The difference of a stored fingerprint and a fingerprint of the page that looks it up."""

    text: str
    """The name of the page's text: its first text within `max_distance`, else its nearest one."""
    differing: int
    """64 bits, 1 for each that differs."""
    config: FilterConfig
    pages: int

    @property
    def distance(self) -> int:
        """Number of differing bits."""
        return self.differing.bit_count()

    @property
    def positions(self) -> list[int]:
        """Positions of the differing bits, 63 first."""
        return [position for position in range(63, -1, -1) if self.differing >> position & 1]

    @property
    def layout(self) -> Layout:
        """The tables of the index."""
        planned = max(self.pages, _LEAST_PLANNED)
        return plan(self.config.max_distance, planned)

    @property
    def tables(self) -> list[LookUp]:
        """The result of each table in a look-up within `max_distance`."""
        return look_ups(0, self.differing, self.layout, self.config.max_distance)


def differing_bits(
    stored: int | None, named: Mapping[str, int], config: FilterConfig, pages: int
) -> DifferingBits | None:
    """Return the difference that decides a look-up; None: one page has no fingerprint.

    `named`: the name of each text of the page that looks up -> its fingerprint. `pages`: the number
    of kept pages.
    """
    if stored is None or not named:
        return None
    found = [DifferingBits(text, stored ^ value, config, pages) for text, value in named.items()]
    within = [each for each in found if each.distance <= config.max_distance]
    return within[0] if within else min(found, key=lambda each: each.distance)


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
