"""How many fingerprints, and which distance -> the layout that finds all their pairs soonest.

`table_plan` weighs tables that are kept and asked; these are made one after another, gone
through once and thrown away. They take no memory, so there may be many; but each is a sort.

In nanoseconds of a 2-core machine (`python benchmarks/pairs.py --layouts` compares them with
what is measured):

    table        300,000; 40 a fingerprint if its prefix has up to 16 bits, else 80
    comparison   1
    group        40, 10 for each probe, and 80 for each group that a probe leads to

Few bits and few fingerprints need no table: all are compared with all.
"""

from functools import cache
from math import comb, exp

from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.prefix_groups import RADIX_BITS

__all__ = ["expected_seconds", "pair_layout"]

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
    """Return the layouts that are worth a thought."""
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
