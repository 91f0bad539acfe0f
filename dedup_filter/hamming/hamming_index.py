"""Fingerprints with rows -> the rows within k bits of a query: an index of permuted tables.

    fingerprint ─┬─ table 1: blocks A | B C D      each sorts all fingerprints by one permutation
                 ├─ table 2: blocks B | A C D      of their blocks: fingerprints with equal
                 ├─ table 3: blocks C | A B D      leading blocks are neighbours (see `layout`)
                 └─ table 4: blocks D | A B C

    add     ->  every table (see `permuted_table`), and one plain column of fresh pairs
    within  ->  the pairs of every table whose leading blocks equal the query's, or nearly, compared
                in one numpy call; and fresh pairs, from the SortedLists or the column
    merge   ->  once enough pairs are fresh, each addition merges the fresh pairs of one table
                into its run

A merge moves all n pairs after every f additions, and a look-up with many probes compares f fresh
pairs: so f grows with the square root of n. If a look-up has more candidates than there are pairs,
or if the index is small, the whole run of one table is compared instead. A removed pair is left out
of results; once a quarter of the pairs have been removed, all tables are rebuilt without them.

Guarantee: a look-up returns every stored row within the distance, once, and nothing else. This
holds right after `add`, for every k from 0 to 12 and every accepted layout. A call that raises an
error (also MemoryError) leaves the index unchanged.

Cost: measured by `python benchmarks/index.py`. Not thread-safe.

Manku, Jain and Das Sarma (2007), section 3. Where we differ: the tables take additions all the
time; neighbours of a prefix are probed; and a look-up returns all matches, not only one.
"""

import sys
from collections.abc import Iterator
from math import isqrt
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.fresh_column import FreshColumn, near_places
from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.many_queries import near_in_runs
from dedup_filter.hamming.pairs import (
    NO_PAIRS,
    Integers,
    IntpArray,
    Pairs,
    RowArray,
    UInt64Array,
    distinct,
    fingerprint_of,
    fingerprints_of,
    places_in,
    row_of,
    rows_of,
)
from dedup_filter.hamming.permuted_table import PermutedTable, Places
from dedup_filter.hamming.planner import plan, scan_limit
from dedup_filter.hamming.run import Directory, PackedRows, Run
from dedup_filter.model import Match

_LEAST_FRESH = 4096
"""Fewer fresh pairs cause no merge; fewer removed pairs cause no rebuild."""
_FRESH_PER_PAIR = 64
"""With n pairs in a run, at most sqrt(64 n) pairs are fresh: 25,000 beside 10 million. Comparing
25,000 pairs takes 15 us; merging them into 4 tables takes half a second in all."""
_BULK = 1024
"""From this number of pairs on, adding or looking up many at once is quicker than one by one."""
_NEAREST_FIRST = itemgetter(2, 0, 1)  # by distance, row and fingerprint


class SealedArrays(NamedTuple):
    """The arrays of an index: the run of each table, in three parts."""

    layout: Layout
    max_distance: int
    runs: tuple[UInt64Array, ...]
    rows: tuple[PackedRows, ...]
    directories: tuple[Directory, ...]


class NeighboursOfMany(NamedTuple):
    """Stored rows within a distance of each of many queries, as parallel arrays."""

    queries: IntpArray
    """Position of the query among the fingerprints that were looked up."""
    rows: RowArray
    fingerprints: UInt64Array
    distances: npt.NDArray[np.uint8]


_NONE = NeighboursOfMany(
    np.empty(0, np.intp), NO_PAIRS.rows, NO_PAIRS.fingerprints, np.empty(0, np.uint8)
)


class HammingIndex:
    """Fingerprints with their rows, searched by Hamming distance.

    `max_distance` (k) is inclusive, 0 to 12. A row is a number chosen by the caller. Without a
    layout, one is planned for the expected number of entries, and again each time the index holds
    more than twice the planned number.

    Raises:
        ConfigError: the distance is out of range, or the layout cannot be exact for it.

    >>> index = HammingIndex(max_distance=3)
    >>> index.add(0b1011, row=0)
    >>> index.add(0b1000, row=1)
    >>> index.within(0b1111)
    [Match(row=0, fingerprint=11, distance=1), Match(row=1, fingerprint=8, distance=3)]
    """

    def __init__(
        self, max_distance: int = 3, layout: Layout | None = None, expected: int = 1_000_000
    ) -> None:
        first_layout = layout or plan(max_distance, expected)
        first_layout.require_exact(max_distance)
        self.max_distance = max_distance
        """The largest distance that can be looked up (k)."""
        self._planned_for = expected if layout is None else sys.maxsize
        self._put(first_layout, self._sorted(first_layout, NO_PAIRS))

    @classmethod
    def from_sealed(cls, sealed: SealedArrays) -> "HammingIndex":
        """Make an index on these arrays. They are not copied, written to or verified.

        Raises:
            ConfigError: the layout cannot be exact for the distance.
            ValueError: the lengths or types of the arrays do not fit the layout.
        """
        runs = _runs_of(sealed)
        index = cls(sealed.max_distance, expected=max(len(sealed.rows[0]), 1))
        index._put(sealed.layout, [PermutedTable(run) for run in runs])
        return index

    def add(self, fingerprint: int, row: int) -> None:
        """Store a row under its fingerprint. Adding a stored pair again changes nothing.

        Raises:
            TypeError: the fingerprint or the row is not an integer.
            ValueError: the fingerprint is outside 0..2**64-1, or the row outside 0..2**63-1.
        """
        pair = fingerprint_of(fingerprint), row_of(row)
        if pair in self._removed or pair not in self._tables[0]:
            self.add_new(*pair)

    def add_new(self, fingerprint: int, row: int) -> None:
        """Store a pair that is not stored yet, of plain ints in the ranges of `add`."""
        if self._removed and (fingerprint, row) in self._removed:
            self._removed.remove((fingerprint, row))
            return
        if len(self._column) >= self._most_fresh:
            self._merge_one()
        self._column.add(fingerprint, row)
        for table in self._tables:
            table.add(fingerprint, row)

    def add_many(self, fingerprints: Integers, rows: Integers) -> None:
        """Store `rows[i]` under `fingerprints[i]` for every i; after an error, none is stored.

        Raises:
            ValueError: there is not one row for each fingerprint; other errors as for `add`.
        """
        pairs = Pairs(fingerprints_of(fingerprints), rows_of(rows))
        if len(pairs.fingerprints) != len(pairs.rows):
            raise ValueError(
                f"one row for each fingerprint, not {len(pairs.rows)} for {len(pairs.fingerprints)}"
            )
        if pairs.size < _BULK:
            for pair in zip(*(column.tolist() for column in pairs), strict=True):
                self.add(*pair)
            return
        self.compact()
        first = self._tables[0].run
        alike = distinct(pairs.fingerprints)
        starts = first.entries.searchsorted(alike)
        places = places_in(starts, first.entries.searchsorted(alike, "right") - starts)
        known = Pairs(first.entries[places], first.rows[places].astype(np.int64))
        self._add_together(pairs.not_in(known))

    def remove(self, fingerprint: int, row: int) -> None:
        """Remove a row from under its fingerprint.

        Raises:
            KeyError: the pair is not stored; other errors as for `add`.
        """
        pair = fingerprint_of(fingerprint), row_of(row)
        if pair in self._removed or pair not in self._tables[0]:
            raise KeyError(f"row {row} is not stored under fingerprint {fingerprint}")
        gone = len(self._removed)
        if gone >= _LEAST_FRESH and 4 * gone > len(self._tables[0]):
            self.compact()
        self._removed.add(pair)

    def rows_of(self, fingerprint: int) -> list[int]:
        """Return the rows of exactly this fingerprint, ascending; errors as for `within`."""
        return [match.row for match in self.within(fingerprint, 0)]

    def within(
        self, fingerprint: int, max_distance: int | None = None, most: int | None = None
    ) -> list[Match]:
        """Return all rows within a distance of a fingerprint, nearest first, then by row.

        `max_distance` is at most the index's own, which is the default. `most` limits the number
        of rows; with thousands of matches this takes a third of the time.

        Raises:
            TypeError: the fingerprint is not an integer.
            ValueError: the fingerprint is outside 0..2**64-1, or the distance outside 0..k.
        """
        query, distance = fingerprint_of(fingerprint), self._distance(max_distance)
        enough = most and most + len(self._removed)
        pairs = self._fresh_within(query, distance, enough)
        pairs.update(self._run_within(query, distance, enough))
        pairs -= self._removed
        matches = [Match(row, each, (each ^ query).bit_count()) for each, row in pairs]
        return sorted(matches, key=_NEAREST_FIRST)[:most]

    def within_many(
        self, fingerprints: Integers, max_distance: int | None = None
    ) -> NeighboursOfMany:
        """Return the rows within a distance of each of many fingerprints, in the order of `within`.

        Fewer than 1,024 fingerprints are looked up one by one. More pass over each table together,
        in the order of the table, after a call of `compact` (see `many_queries`). Memory: 40 bytes
        a query, and 50 bytes a row that is found. Errors as for `within`.

        >>> index = HammingIndex(max_distance=3)
        >>> index.add_many([0b1011, 0b1000], rows=[0, 1])
        >>> found = index.within_many([0b1111, 2**64 - 1, 0b1000])
        >>> found.queries.tolist(), found.rows.tolist(), found.distances.tolist()
        ([0, 0, 2, 2], [0, 1, 1, 0], [1, 3, 0, 2])
        """
        queries, distance = fingerprints_of(fingerprints), self._distance(max_distance)
        find = self._one_by_one if len(queries) < _BULK else self._together
        parts = [_NONE, *find(queries, distance)]
        numbers, rows, near, distances = map(np.concatenate, zip(*parts, strict=True))
        order = np.lexsort((near, rows, distances, numbers))
        return NeighboursOfMany(numbers[order], rows[order], near[order], distances[order])

    def _one_by_one(self, queries: UInt64Array, distance: int) -> Iterator[NeighboursOfMany]:
        for number, query in enumerate(queries.tolist()):
            if found := self.within(query, distance):
                rows, near, distances = zip(*found, strict=True)
                yield NeighboursOfMany(
                    np.full(len(found), number),
                    np.array(rows, np.int64),
                    np.array(near, np.uint64),
                    np.array(distances, np.uint8),
                )

    def _together(self, queries: UInt64Array, distance: int) -> Iterator[NeighboursOfMany]:
        self.compact()
        runs = [table.run for table in self._tables]
        for owners, run, places in near_in_runs(runs, queries, distance):
            near, rows = run.entries[places], run.rows[places].astype(np.int64)
            yield NeighboursOfMany(owners, rows, near, np.bitwise_count(near ^ queries[owners]))

    def compact(self) -> None:
        """Merge all fresh pairs into the runs; if any pair was removed, rebuild the runs."""
        if self._removed:
            self._put(self.layout, self._sorted(self.layout, self._pairs))
        while len(self._column):
            self._merge_one()

    def sealed(self) -> SealedArrays:
        """Compact the index and return its arrays. The index still uses them: only read them."""
        self.compact()
        runs = [table.run for table in self._tables]
        parts = zip(*((each.entries, each.rows, each.directory) for each in runs), strict=True)
        return SealedArrays(self.layout, self.max_distance, *parts)

    @property
    def layout(self) -> Layout:
        """The current cut of the 64 bits into blocks."""
        return self._layout

    def __len__(self) -> int:
        """Count the rows stored."""
        return len(self._tables[0]) - len(self._removed)

    @property
    def nbytes(self) -> int:
        """Memory in bytes: runs and fresh pairs of every table, and the column."""
        return self._column.nbytes + sum(table.nbytes for table in self._tables)

    def check(self) -> None:
        """Verify every table, and that all hold the same pairs: else AssertionError."""
        pairs = self._tables[0].pairs.not_in(NO_PAIRS)
        assert pairs.size == len(self._tables[0]), "a pair is stored twice"
        for table in self._tables:
            table.check()
            others = table.pairs.not_in(NO_PAIRS)
            assert np.array_equal(pairs, others), "tables hold different pairs"
            fresh = self._column.pairs.not_in(table.run.pairs)
            assert fresh.size == len(table.fresh), "the column lacks a fresh pair"
        assert len(self) == self._pairs.size, "a removed pair is not stored"

    def _distance(self, max_distance: int | None) -> int:
        if max_distance is None:
            return self.max_distance
        if type(max_distance) is not int or not 0 <= max_distance <= self.max_distance:
            own = self.max_distance
            raise ValueError(f"max_distance must be from 0 to {own}, not {max_distance!r}")
        return max_distance

    def _fresh_within(self, query: int, distance: int, most: int | None) -> set[tuple[int, int]]:
        """Return the fresh pairs within a distance; with `most`, at least the `most` nearest."""
        found: set[tuple[int, int]] = set()
        for table in self._tables:
            near = table.fresh_within(query, distance)
            if near is None:
                return set(self._column.within(query, distance, most))
            found.update(near)
        return found

    def _run_within(self, query: int, distance: int, most: int | None) -> set[tuple[int, int]]:
        """Return pairs of the runs within a distance; with `most`, at least the `most` nearest."""
        # The fresh pairs of a table are the last of the column. So a pair that is missing in this
        # run is fresh in every table, and `_fresh_within` finds it.
        whole = min(self._tables, key=PermutedTable.fresh_count).run
        parts: list[tuple[Run, Places]] = []
        if len(whole.entries) > self._scan_limit:
            parts = [(each.run, at) for each in self._tables for at in each.places(query, distance)]
        entries = [run.entries[places] for run, places in parts]
        if not parts or sum(map(len, entries)) > len(whole.entries):
            parts, entries = [(whole, slice(None))], [whole.entries]
        compared = np.concatenate(entries) if len(entries) > 1 else entries[0]
        # A pair is compared at most once for each table.
        near = near_places(compared, query, distance, most and most * len(self._tables))
        if not len(near):
            return set()
        rows = [run.rows[places] for run, places in parts]
        of_near = (np.concatenate(rows) if len(rows) > 1 else rows[0])[near]
        return set(zip(compared[near].tolist(), of_near.tolist(), strict=True))

    @property
    def _pairs(self) -> Pairs:
        """All pairs that were not removed."""
        pairs = self._tables[0].pairs
        if not self._removed:
            return pairs
        maybe = np.isin(pairs.rows, [row for _, row in self._removed]).nonzero()[0]
        some = zip(*(column[maybe].tolist() for column in pairs), strict=True)
        gone = maybe[[pair in self._removed for pair in some]]
        return Pairs(np.delete(pairs.fingerprints, gone), np.delete(pairs.rows, gone))

    def _sorted(self, layout: Layout, pairs: Pairs) -> list[PermutedTable]:
        """Sort distinct pairs into the tables of a layout. Cost: 0.1 us a pair and table."""
        shapes = layout.tables_needed(self.max_distance)
        return [PermutedTable(Run.of(shape, pairs)) for shape in shapes]

    def _add_together(self, coming: Pairs) -> None:
        """Add pairs that are not stored yet. Requires: the index is compact."""
        layout = self._layout_for(len(self) + coming.size)
        if layout != self.layout or coming.size > len(self) // 2:  # sorting all is quicker
            tables = self._sorted(layout, Pairs.joined([self._pairs, coming]))
        else:
            tables = [PermutedTable(table.run.merged(coming)) for table in self._tables]
        self._put(layout, tables)

    def _merge_one(self) -> None:
        """Merge the table with most fresh pairs; if a new layout is due, rebuild all instead."""
        layout = self._layout_for(len(self))
        if layout != self.layout:
            self._put(layout, self._sorted(layout, self._pairs))
            return
        max(self._tables, key=PermutedTable.fresh_count).merge()
        # The fresh pairs of any table are the last of the column.
        self._column.drop(len(self._column) - max(map(PermutedTable.fresh_count, self._tables)))
        self._set_bounds()

    def _layout_for(self, count: int) -> Layout:
        return self.layout if count <= 2 * self._planned_for else plan(self.max_distance, 2 * count)

    def _put(self, layout: Layout, tables: list[PermutedTable]) -> None:
        """Replace the tables by tables without fresh and removed pairs."""
        self._layout, self._tables = layout, tables
        self._column = FreshColumn()
        self._removed: set[tuple[int, int]] = set()
        """Removed pairs that are still in the tables."""
        self._scan_limit = scan_limit(layout, self.max_distance)
        self._set_bounds()

    def _set_bounds(self) -> None:
        count = len(self._tables[0])
        self._most_fresh = max(_LEAST_FRESH, isqrt(_FRESH_PER_PAIR * count))
        if count > 2 * self._planned_for:
            self._planned_for = 2 * count


def _runs_of(sealed: SealedArrays) -> list[Run]:
    """Return the runs of sealed arrays; errors as for `HammingIndex.from_sealed`."""
    layout, max_distance, *parts = sealed
    layout.require_exact(max_distance)
    shapes = layout.tables_needed(max_distance)
    if {len(part) for part in parts} != {len(shapes)}:
        raise ValueError(f"{layout} needs {len(shapes)} runs, each with its directory")
    count = len(parts[0][0])
    runs = []
    for shape, entries, rows, directory in zip(shapes, *parts, strict=True):
        bits = len(directory).bit_length() - 1
        is_run = entries.dtype == np.uint64 and entries.shape == rows.shape == (count,)
        is_whole = directory.dtype.kind == "i" and len(directory) == (1 << bits) + 1
        is_directory = is_whole and bits <= shape.prefix_bits and directory[-1] == count
        if not (is_run and is_directory and bits and rows.dtype in (np.uint32, np.int64)):
            raise ValueError(f"entries, rows or directory do not make a run of {count} entries")
        # asarray: slicing a numpy.memmap takes eight times as long as slicing an array
        runs.append(Run(shape, *map(np.asarray, (entries, rows, directory))))
    return runs
