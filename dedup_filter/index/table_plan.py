"""A distance k and an expected number of entries n -> the layout, and when to scan instead.

One formula, in microseconds of a 2-core machine (ratios are what counts):

    look-up = 1.5 a probe + 0.2 a candidate + 1.3 a table        (probes and candidates: `Layout`)
    insert  = 2.5 a table
    scan    = 0.62 a thousand entries

`plan` takes the layout of at most 8 tables for which look-up and insert together are least.
For SortedLists that comes to few tables with short prefixes: k + 1 blocks up to k = 3, and
then 3 to 5 with the neighbours of their prefixes probed.

Measured look-ups, as ratios to 4 blocks at k = 3 and 100 thousand random entries (15 us):

    blocks, leading      n = 10 k             n = 100 k             n = 1 M
                    k=3  k=7  k=8 k=12    k=3  k=7  k=8 k=12    k=3  k=8 k=12
    4, 1            0.7  5.0   13   75    1.0  9.1   22  112    2.0   63  407
    5, 1            0.7  4.0  5.0   24    1.5   12   15   75    8.3  114    -
    6, 1            0.8  3.4  4.5   13    3.3   21   29   81     30    -    -
    8, 1            1.5  3.1  5.3   16     19   47   61  240    209    -    -
    6, 3            3.9    -    -    -    5.1    -    -    -      -    -    -
    4, 1 then 4, 1  2.9  158    -    -    3.8  181    -    -      -    -    -
    scan            0.5  0.5  0.5  0.5    4.1  4.1  4.1  4.1     41   41   41

Scanning wins for longer than one expects: a probe of a SortedList costs as much as 2,400
packed entries, a candidate (an int somewhere in memory) as much as 300. Hence `scan_limit`.
"""

import sys
from functools import lru_cache
from math import comb

from dedup_filter.index.layout import MAX_DISTANCE, Layout, require_whole

__all__ = ["plan", "scan_limit"]

_PROBE_US = 1.5
_CANDIDATE_US = 0.2
_TABLE_US = 1.3
_INSERT_US = 2.5
_SCANNED_US = 0.00062

_MOST_TABLES = 8
"""Of which a fingerprint fills less than half a kilobyte."""


@lru_cache(maxsize=64)
def plan(max_distance: int, expected: int = 1_000_000) -> Layout:
    """Return the layout that costs a page least when `expected` fingerprints are stored.

    Raises:
        ConfigError: `max_distance` is not from 0 to 12, or `expected` is less than 1.

    >>> plan(3), plan(1), plan(8, expected=100_000)
    (Layout(4, 1), Layout(2, 1), Layout(5, 1))
    """
    require_whole("max_distance", max_distance, 0, MAX_DISTANCE)
    require_whole("expected", expected, 1, sys.maxsize)
    exact = (layout for layout in _layouts() if layout.is_exact(max_distance))
    return min(exact, key=lambda layout: _page_us(layout, max_distance, expected))


def scan_limit(layout: Layout, distance: int) -> int:
    """Return the number of entries up to which a scan is quicker than the tables."""
    saved_per_entry = _SCANNED_US - layout.expected_candidates(distance, 1) * _CANDIDATE_US
    if saved_per_entry <= 0:  # the candidates alone take longer than to scan everything
        return sys.maxsize
    return int(_search_us(layout, distance) / saved_per_entry)


def _page_us(layout: Layout, distance: int, entries: int) -> float:
    candidates = layout.expected_candidates(distance, entries) * _CANDIDATE_US
    inserts = len(layout.tables_needed(distance)) * _INSERT_US
    return _search_us(layout, distance) + candidates + inserts


def _search_us(layout: Layout, distance: int) -> float:
    tables = len(layout.tables_needed(distance))
    return layout.probe_count(distance) * _PROBE_US + tables * _TABLE_US


def _layouts() -> list[Layout]:
    shapes = [(m, lead) for m in range(2, _MOST_TABLES + 1) for lead in range(1, m)]
    return [Layout(m, lead) for m, lead in shapes if comb(m, lead) <= _MOST_TABLES]
