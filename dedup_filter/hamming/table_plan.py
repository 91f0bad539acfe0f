"""A distance k and an expected number of entries n -> the layouts there are, best first.

The schemes of the literature are points of one: block count, leading blocks, probes, a nested
cut (`layout`). Each gets an estimate (`table_costs`), and the one that costs a page least is
taken: a look-up and an insert together. Up to k = 3 that is k + 1 blocks and no neighbours
(k = 3: to 100 million entries); for larger k 3 to 6 blocks with the neighbours of their prefixes
probed, the fewer blocks the more entries.

Manku, Jain and Das Sarma (2007), section 3, weigh the same two things, tables (memory) against
candidates (time). Where we differ: a popcount in numpy makes candidates so cheap that short
prefixes are best, where they advise 10 to 20 tables.
"""

import sys
from collections.abc import Iterator
from functools import cache, lru_cache
from math import comb

from dedup_filter.hamming.blocks import FINGERPRINT_BITS
from dedup_filter.hamming.layout import MAX_DISTANCE, Layout, require_whole
from dedup_filter.hamming.table_costs import Estimate, estimate, estimate_scan

__all__ = ["chance_neighbours", "paper_layouts", "plan", "ranked", "scan_limit"]

_BYTES_PER_ENTRY = 48
"""What a planned index may take: up to 4 tables, or 5 if their directories are small."""

_MOST_BLOCKS = 16
_MOST_TABLES = 36
_MOST_NESTED = 5


@lru_cache(maxsize=256)
def plan(max_distance: int, expected_entries: int = 1_000_000) -> Layout:
    """Return the layout that costs a page least among those of at most 48 bytes an entry.

    Raises:
        ConfigError: `max_distance` is not from 0 to 12, or `expected_entries` is less than 1.

    >>> plan(3), plan(1), plan(8, expected_entries=100_000)
    (Layout(4, 1), Layout(2, 1), Layout(5, 1))
    """
    _require(max_distance, expected_entries)
    found = [estimate(one, max_distance, expected_entries) for one in _exact(max_distance)]
    best = min(found, key=lambda one: (one.bytes_per_entry > _BYTES_PER_ENTRY, one.page_us))
    return best.layout or Layout(max_distance + 1)


def ranked(max_distance: int, entries: int, most_bytes: float | None = None) -> list[Estimate]:
    """Return an estimate for every layout and for a scan, those that fit the memory first.

    Among these, and among those that do not fit, the one that costs a page least is first.

    Raises:
        ConfigError: as for `plan`.
    """
    _require(max_distance, entries)
    found = [estimate(layout, max_distance, entries) for layout in _exact(max_distance)]
    found.append(estimate_scan(entries))
    most = sys.maxsize if most_bytes is None else most_bytes
    return sorted(found, key=lambda one: (one.bytes_per_entry * entries > most, one.page_us))


def paper_layouts(max_distance: int) -> dict[str, Layout]:
    """Return those configurations of the literature that are exact for a distance, by name."""
    known = {
        "Manku et al.: 4 blocks": Layout(4, probe_radius=0),
        "Manku et al.: 4 x 4, nested": Layout(4, 1, Layout(4), probe_radius=0),
        "Manku et al.: 6, 3 lead": Layout(6, 3, probe_radius=0),
        "8 blocks, 2 lead": Layout(8, 2, probe_radius=0),
        "k + 1 blocks": Layout(max(max_distance + 1, 2), probe_radius=0),
        "Norouzi et al.: 4, probed": Layout(4),
    }
    return {name: layout for name, layout in known.items() if layout.is_exact(max_distance)}


def chance_neighbours(max_distance: int, entries: int) -> float:
    """Return how many of so many unrelated entries lie within a distance by chance.

    For bits that are fair coins; those of real pages are less fair.

    >>> f"{chance_neighbours(3, 10**9):.1e}"
    '2.4e-06'
    """
    near = sum(comb(FINGERPRINT_BITS, bits) for bits in range(max_distance + 1))
    return entries * near / float(2**FINGERPRINT_BITS)


@cache
def scan_limit(layout: Layout, distance: int) -> int:
    """Return the number of entries up to which a scan is quicker than the tables."""
    most = 1
    while not _is_scan_slower(layout, distance, most):
        most *= 2
        if most > _ENDLESS:  # the candidates alone take longer than to scan everything
            return sys.maxsize
    least = most // 2
    while most - least > 1:
        middle = (least + most) // 2
        slower = _is_scan_slower(layout, distance, middle)
        least, most = (least, middle) if slower else (middle, most)
    return least


_ENDLESS = 1 << 40


def _is_scan_slower(layout: Layout, distance: int, entries: int) -> bool:
    tables = estimate(layout, distance, entries).look_up_us
    return estimate_scan(entries).look_up_us > tables


def _require(max_distance: int, entries: int) -> None:
    require_whole("max_distance", max_distance, 0, MAX_DISTANCE)
    require_whole("expected_entries", entries, 1, sys.maxsize)


@cache
def _exact(max_distance: int) -> tuple[Layout, ...]:
    return tuple(layout for layout in _layouts() if layout.is_exact(max_distance))


def _layouts() -> Iterator[Layout]:
    for blocks in range(2, _MOST_BLOCKS + 1):
        for leading in range(1, blocks):
            if comb(blocks, leading) <= _MOST_TABLES:
                yield Layout(blocks, leading)
    for outer in range(2, _MOST_NESTED + 1):
        for inner in range(2, _MOST_NESTED + 1):
            yield Layout(outer, 1, Layout(inner))
