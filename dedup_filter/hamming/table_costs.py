"""A layout, a distance k, a number of entries n -> what a look-up, an insert and a page cost.

In microseconds of a 2-core machine; ratios are what counts:

    look-up   2.5  and  in tables of at most 12 probes       1.0 a table, 0.2 a further probe,
                                                             0.0014 a candidate
                        in tables of more probes             8.0 a table, 0.04 a probe,
                                                             0.006 a candidate; or, if a probe
                                                             meets 24 or more, 0.3 a probe,
                                                             0.002 a candidate
    scan      2.0 and 0.00062 an entry
    insert    6.5 and 0.6 a table
    bytes     4 a row; 8 a table, and of its directory 4 for each piece, at most 2 an entry

`python benchmarks/plan.py` compares this with what indexes take. Look-ups of the layouts that are
planned and of the literature's, at 100 thousand to 10 million entries and k = 3, 7 and 10, take
0.65 to 1.5 times what is expected; bytes are as expected.

A probe meets n / 2**bits candidates, where the bits are those of the table's prefix, or fewer:
a directory is not larger than pays for n entries (`dedup_filter.hamming.run`).
"""

from dataclasses import dataclass
from functools import cached_property
from math import comb, log2

from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.table_shape import TableShape

__all__ = ["Estimate", "estimate", "estimate_scan"]

_LOOK_UP_US = 2.5
_FEW = 12
_FEW_TABLE_US, _FEW_PROBE_US, _FEW_CANDIDATE_US = 1.0, 0.2, 0.0014
_MANY_TABLE_US, _MANY_PROBE_US, _MANY_CANDIDATE_US = 8.0, 0.04, 0.006
_LONG_PIECE, _SLICE_US, _SLICED_US = 24, 0.3, 0.002
_SCAN_US, _SCANNED_US = 2.0, 0.00062
_INSERT_US, _INSERT_TABLE_US = 6.5, 0.6

_ROW_BYTES, _ENTRY_BYTES, _PIECE_BYTES = 4, 8, 4
_ENTRIES_PER_PIECE = 2


@dataclass(frozen=True)
class Estimate:
    """What a layout, or None for a scan of all entries, is expected to cost."""

    layout: Layout | None
    tables: int
    prefix_bits: tuple[int, int]
    """The shortest and the longest."""
    probes: int
    candidates: float
    look_up_us: float
    insert_us: float
    bytes_per_entry: float

    @cached_property
    def page_us(self) -> float:
        """Time that each page takes: one look-up and one insert."""
        return self.look_up_us + self.insert_us


def estimate(layout: Layout, distance: int, entries: int) -> Estimate:
    """Return what a layout costs when so many random fingerprints are stored."""
    shapes = layout.tables_needed(distance)
    probes, candidates, look_up, size = 0, 0.0, _LOOK_UP_US, float(_ROW_BYTES)
    for shape in shapes:
        bits = _directory_bits(shape, entries)
        asked = _probes(shape, distance, bits)
        met = asked * entries / 2**bits
        probes, candidates = probes + asked, candidates + met
        look_up += _table_us(asked, met)
        size += _ENTRY_BYTES + _PIECE_BYTES * 2**bits / entries
    insert = _INSERT_US + len(shapes) * _INSERT_TABLE_US
    widths = [shape.prefix_bits for shape in shapes]
    span = (min(widths), max(widths))
    return Estimate(layout, len(shapes), span, probes, candidates, look_up, insert, size)


def estimate_scan(entries: int) -> Estimate:
    """Return what it costs to compare every query with every entry."""
    look_up = _SCAN_US + entries * _SCANNED_US
    insert = _INSERT_US + _INSERT_TABLE_US
    return Estimate(None, 1, (0, 0), 0, entries, look_up, insert, _ROW_BYTES + _ENTRY_BYTES)


def _table_us(probes: int, candidates: float) -> float:
    if probes <= _FEW:
        return _FEW_TABLE_US + (probes - 1) * _FEW_PROBE_US + candidates * _FEW_CANDIDATE_US
    if candidates >= probes * _LONG_PIECE:
        return _MANY_TABLE_US + probes * _SLICE_US + candidates * _SLICED_US
    return _MANY_TABLE_US + probes * _MANY_PROBE_US + candidates * _MANY_CANDIDATE_US


def _directory_bits(shape: TableShape, entries: int) -> int:
    return min(shape.prefix_bits, max(0, int(log2(entries / _ENTRIES_PER_PIECE or 1))))


def _probes(shape: TableShape, distance: int, bits: int) -> int:
    """Count the different probes that are left of the table's when only so many bits count."""
    all_probes = shape.probe_count(distance)
    if bits == shape.prefix_bits:
        return all_probes
    return min(all_probes, sum(comb(bits, flips) for flips in range(shape.radius(distance) + 1)))
