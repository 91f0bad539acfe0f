"""A distance k and an expected number of entries n -> the layout with the least cost a page.

The cost of a layout is the estimated time of one look-up and one insert. Up to k = 3 the best
layout has k + 1 blocks and probes no neighbours (k = 3: up to 100 million entries). For larger k it
has 3 to 6 blocks and probes neighbouring prefixes; the more entries, the fewer blocks.

A probe finds n / 2**b candidates, where b is the number of bits of a key. The constants are
microseconds on a 2-core machine; only their ratios matter. `python benchmarks/plan.py` compares
estimates with indexes: at 100 thousand to 10 million entries and k = 3, 7 and 10, look-ups take
0.65 to 1.5 times the estimate; bytes are as estimated.

Manku, Jain and Das Sarma (2007), section 3, also weigh tables (memory) against candidates (time).
Where we differ: a popcount in numpy makes candidates so cheap that short prefixes are best; the
paper advises 10 to 20 tables.
"""

import sys
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache, lru_cache
from math import comb

from dedup_filter.hamming.layout import MAX_DISTANCE, Layout, directory_bits, require_whole
from dedup_filter.hamming.pairs import FINGERPRINT_BITS

_LOOK_UP_US = 2.5
_SINGLE_PROBE_US, _SINGLE_CANDIDATE_US = 3.0, 0.0014
_TABLE_US, _PROBE_US, _CANDIDATE_US = 10.0, 0.04, 0.006
_SCAN_US, _SCANNED_US = 2.0, 0.00062
_INSERT_US, _INSERT_TABLE_US = 3.0, 1.5

_ROW_BYTES, _ENTRY_BYTES, _PIECE_BYTES = 4, 8, 4

_BYTES_PER_ENTRY = 60
"""Limit for the runs of a planned index: up to 4 tables. Fresh pairs take some bytes more."""

_MOST_BLOCKS, _MOST_TABLES = 16, 36
_MOST_SCANNED = 1 << 40
_RING_SHARE = 8
"""How many times as long as the look-up of a first ring the whole look-up must take: a page that
finds nothing in the ring then waits an eighth longer."""

_LITERATURE = {
    "Manku et al.: 4 blocks": (3, (16,) * 4),
    "Manku et al.: 4 x 4, nested": (3, (28,) * 16),
    "Manku et al.: 6, 3 lead": (3, (33,) * 4 + (32,) * 12 + (31,) * 4),
    "8 blocks, 2 lead": (6, (16,) * 28),
}
"""Name -> greatest distance without neighbours, and the width of the prefix of each table."""


@dataclass(frozen=True)
class Estimate:
    """Expected cost of a layout, or of a scan of all entries (layout None)."""

    layout: Layout | None
    tables: int
    prefix_bits: tuple[int, int]
    """The shortest and the longest prefix."""
    probes: int
    candidates: float
    look_up_us: float
    bytes_per_entry: float

    @property
    def page_us(self) -> float:
        """Time for each page: one look-up and one insert."""
        return self.look_up_us + _INSERT_US + self.tables * _INSERT_TABLE_US


@lru_cache(maxsize=256)
def plan(max_distance: int, expected_entries: int = 1_000_000) -> Layout:
    """Return the layout with the least cost a page among layouts of at most 60 bytes an entry.

    ConfigError: `max_distance` is not from 0 to 12, or `expected_entries` is less than 1.

    >>> plan(3), plan(1), plan(8, expected_entries=100_000)
    (Layout(4, 1), Layout(2, 1), Layout(3, 1))
    """
    best = ranked(max_distance, expected_entries, _BYTES_PER_ENTRY * expected_entries)
    return next(one.layout for one in best if one.layout is not None)


def ranked(max_distance: int, entries: int, most_bytes: float | None = None) -> list[Estimate]:
    """Return an estimate for every exact layout and for a scan.

    Estimates within `most_bytes` come first; then the least cost a page. Errors as for `plan`.
    """
    require_whole("max_distance", max_distance, 0, MAX_DISTANCE)
    require_whole("expected_entries", entries, 1, sys.maxsize)
    exact = [layout for layout in _layouts() if layout.is_exact(max_distance)]
    found = [estimate_scan(entries), *(estimate(each, max_distance, entries) for each in exact)]
    most = sys.maxsize if most_bytes is None else most_bytes
    return sorted(found, key=lambda one: (one.bytes_per_entry * entries > most, one.page_us))


def papers(max_distance: int, entries: int) -> dict[str, Estimate]:
    """Return estimates for the layouts of the literature that are exact for a distance, by name."""
    found = {
        name: _estimate(None, [(width, 0) for width in widths], entries)
        for name, (most, widths) in _LITERATURE.items()
        if max_distance <= most
    }
    own = {"k + 1 blocks": Layout(max(max_distance + 1, 2)), "Norouzi et al.: 4, probed": Layout(4)}
    return found | {name: estimate(each, max_distance, entries) for name, each in own.items()}


def chance_neighbours(max_distance: int, entries: int) -> float:
    """Return how many of `entries` unrelated fingerprints lie within a distance by chance.

    Bits are taken for fair coins; the bits of real pages are less fair.

    >>> f"{chance_neighbours(3, 10**9):.1e}"
    '2.4e-06'
    """
    near = sum(comb(FINGERPRINT_BITS, bits) for bits in range(max_distance + 1))
    return entries * near / float(2**FINGERPRINT_BITS)


@cache
def scan_limit(layout: Layout, distance: int) -> int:
    """Return the number of entries, 2**40 at most, up to which a scan is quicker than tables."""

    def is_slower(entries: int) -> bool:
        return estimate_scan(entries).look_up_us > estimate(layout, distance, entries).look_up_us

    return bisect_left(range(1, _MOST_SCANNED), True, key=is_slower)


def first_ring(layout: Layout, distance: int, entries: int) -> int:
    """Return a lesser distance that takes at most an eighth of the time; if none, `distance`."""
    ring = min(layout.reach, distance)
    whole = estimate_scan(entries).look_up_us
    if entries > scan_limit(layout, distance):
        whole = estimate(layout, distance, entries).look_up_us
    is_quick = _RING_SHARE * estimate(layout, ring, entries).look_up_us <= whole
    return ring if is_quick else distance


def estimate(layout: Layout, distance: int, entries: int) -> Estimate:
    """Return the cost of a layout with `entries` random fingerprints."""
    shapes = layout.tables_needed(distance)
    tables = [(shape.prefix_bits, shape.radius(distance)) for shape in shapes]
    return _estimate(layout, tables, entries)


def _estimate(layout: Layout | None, tables: list[tuple[int, int]], entries: int) -> Estimate:
    """Return the cost of tables, given by the width of their prefix and the radius of probes."""
    piece_bytes = _PIECE_BYTES if entries < 2**31 else 2 * _PIECE_BYTES
    probes, candidates, look_up, size = 0, 0.0, _LOOK_UP_US, 0.0
    for prefix_bits, radius in tables:
        bits = directory_bits(entries, prefix_bits)
        # Probes that are equal in the key's bits are one.
        tried = sum(comb(bits, flips) for flips in range(radius + 1))
        met = tried * entries / 2**bits
        probes, candidates = probes + tried, candidates + met
        if tried == 1:
            look_up += _SINGLE_PROBE_US + met * _SINGLE_CANDIDATE_US
        else:
            look_up += _TABLE_US + tried * _PROBE_US + met * _CANDIDATE_US
        size += _ENTRY_BYTES + _row_bytes(entries) + piece_bytes * 2**bits / entries
    widths = sorted(prefix_bits for prefix_bits, _ in tables)
    shortest_longest = widths[0], widths[-1]
    return Estimate(layout, len(tables), shortest_longest, probes, candidates, look_up, size)


def estimate_scan(entries: int) -> Estimate:
    """Return the cost of comparing every query with every entry."""
    look_up = _SCAN_US + entries * _SCANNED_US
    size = _row_bytes(entries) + _ENTRY_BYTES
    return Estimate(None, 1, (0, 0), 0, entries, look_up, size)


def _row_bytes(entries: int) -> float:
    return _ROW_BYTES if entries < 2**32 else 2.0 * _ROW_BYTES


@cache  # the table shapes that a layout caches serve every distance
def _layouts() -> list[Layout]:
    return [
        Layout(blocks, leading)
        for blocks in range(2, _MOST_BLOCKS + 1)
        for leading in range(1, blocks)
        if comb(blocks, leading) <= _MOST_TABLES
    ]
