"""Fingerprints with rows -> the rows within k bits of a query: an index of permuted tables.

    fingerprint ─┬─ table 1: blocks A | B C D      each sorts all fingerprints by one permutation
                 ├─ table 2: blocks B | A C D      of their blocks: fingerprints with equal
                 ├─ table 3: blocks C | A B D      leading blocks are neighbours (see `layout`)
                 └─ table 4: blocks D | A B C

    add     ->  one plain column of fresh pairs, and the SortedList of every table (see `table`)
    within  ->  the pairs of every table whose leading blocks equal the query's, or nearly, compared
                in one numpy call; and fresh pairs, from the SortedLists or the column
    merge   ->  once enough pairs are fresh, each addition merges the fresh pairs of one table
                into its run

A merge moves all n pairs after every f additions, and a look-up with many probes compares f fresh
pairs: so f grows with the square root of n. If a look-up has more candidates than there are pairs,
or if the index is small, the whole run of one table is compared instead. A removed pair is left out
of results; once a quarter of the pairs have been removed, all tables are rebuilt without them.

Rings: a large index answers within few bits (`rings[0]`) in a tenth of the time of k = 12. Such a
look-up probes one prefix of each table. If only the nearest rows count, ask ring by ring.

Guarantee: a look-up returns every stored row within the distance, once, and nothing else. This
holds right after `add`, for every k from 0 to 12 and every accepted layout. A call that raises an
error (also MemoryError) leaves the index unchanged.

Cost: measured by `python benchmarks/index.py`. Not thread-safe.

Manku, Jain and Das Sarma (2007), section 3. Where we differ: the tables take additions all the
time; neighbours of a prefix are probed; and a look-up returns all matches, not only one.
"""

import sys
from array import array
from bisect import bisect_left
from itertools import chain
from math import isqrt
from operator import attrgetter, itemgetter

import numpy as np

from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.pairs import (
    NO_PAIRS,
    Integers,
    IntpArray,
    Pairs,
    UInt64Array,
    distinct,
    fingerprint_of,
    fingerprints_of,
    places_in,
    row_of,
    rows_of,
)
from dedup_filter.hamming.planner import first_ring, plan, scan_limit
from dedup_filter.hamming.table import Table
from dedup_filter.model import Match

_LEAST_FRESH = 4096
"""Fewer fresh pairs cause no merge; fewer removed pairs cause no rebuild."""
_FRESH_PER_PAIR = 64
"""With n pairs in a run, at most sqrt(64 n) pairs are fresh: 25,000 beside 10 million. Comparing
25,000 pairs takes 15 us; merging them into 4 tables takes half a second in all."""
_BULK = 1024
"""From this number of pairs on, adding many at once is quicker than one by one."""
_NEAREST_FIRST = itemgetter(2, 0, 1)  # by distance, row and fingerprint
_END = attrgetter("end")


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

    def add(self, fingerprint: int, row: int) -> None:
        """Store a row under its fingerprint. Adding a stored pair again changes nothing.

        Raises:
            TypeError: the fingerprint or the row is not an integer.
            ValueError: the fingerprint is outside 0..2**64-1, or the row outside 0..2**63-1.
        """
        pair = fingerprint_of(fingerprint), row_of(row)
        if pair in self._removed:
            self._removed.remove(pair)
            return
        if pair in self._near(pair[0], 0):
            return
        if len(self._fresh_rows) >= self._most_fresh:
            self._merge_one()
        self._fresh_fingerprints.append(pair[0])
        self._fresh_rows.append(pair[1])
        if self._is_listed:
            for table in self._tables:
                table.add_fresh(pair)

    def add_many(self, fingerprints: Integers, rows: Integers) -> None:
        """Store `rows[i]` under `fingerprints[i]` for every i; after an error, none is stored.

        Into an empty index, pairs in ascending order are added quickest: 0.2 us each for k = 12.

        Raises:
            ValueError: there is not one row for each fingerprint; other errors as for `add`.
        """
        pairs = Pairs(fingerprints_of(fingerprints), rows_of(rows))
        if len(pairs.fingerprints) != len(pairs.rows):
            raise ValueError(
                f"one row for each fingerprint, not {len(pairs.rows)} for {len(pairs.fingerprints)}"
            )
        if pairs.size < _BULK:
            for pair in pairs.each():
                self.add(*pair)
            return
        self.compact()
        coming = pairs.not_in(self._under(pairs.fingerprints))
        layout = self._layout_for(len(self) + coming.size)
        if layout != self.layout or coming.size > len(self) // 2:  # sorting all is quicker
            tables = self._sorted(layout, Pairs.joined([self._pairs, coming]))
        else:
            tables = [table.merged(coming, 0) for table in self._tables]
        self._put(layout, tables)

    def remove(self, fingerprint: int, row: int) -> None:
        """Remove a row from under its fingerprint.

        Raises:
            KeyError: the pair is not stored; other errors as for `add`.
        """
        pair = fingerprint_of(fingerprint), row_of(row)
        if pair in self._removed or pair not in self._near(pair[0], 0):
            raise KeyError(f"row {row} is not stored under fingerprint {fingerprint}")
        gone = len(self._removed)
        if gone >= _LEAST_FRESH and 4 * gone > len(self) + gone:
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
        pairs = self._near(query, distance, most and most + len(self._removed)) - self._removed
        matches = [Match(row, each, (each ^ query).bit_count()) for each, row in pairs]
        return sorted(matches, key=_NEAREST_FIRST)[:most]

    @property
    def rings(self) -> tuple[int, ...]:
        """The distances to look up one after the other while no match is the right one.

        The last is `max_distance`. There is a lesser one only if its look-up takes an eighth of the
        time or less.
        """
        return tuple(dict.fromkeys((self._first_ring, self.max_distance)))

    def compact(self) -> None:
        """Merge all fresh pairs into the runs; if any pair was removed, rebuild the runs."""
        if self._removed:
            self._put(self.layout, self._sorted(self.layout, self._pairs))
        while len(self._fresh_rows):
            self._merge_one()

    @property
    def pairs(self) -> Pairs:
        """All pairs, by fingerprint and row, after a call of `compact`. Only read these arrays."""
        self.compact()
        return self._tables[0].pairs.not_in(NO_PAIRS)

    @property
    def layout(self) -> Layout:
        """The current cut of the 64 bits into blocks."""
        return self._layout

    def __len__(self) -> int:
        """Count the rows stored."""
        first = self._tables[0]
        fresh = self._first_fresh + len(self._fresh_rows) - first.end
        return len(first.entries) + fresh - len(self._removed)

    @property
    def nbytes(self) -> int:
        """Memory in bytes: runs and fresh pairs of every table, and the column."""
        return 16 * len(self._fresh_rows) + sum(table.nbytes for table in self._tables)

    def check(self) -> None:
        """Verify every table, and that all hold the same pairs: else AssertionError."""
        all_pairs = self._stored(self._tables[0]).not_in(NO_PAIRS)
        for table in self._tables:
            table.check()
            pairs, fresh = self._stored(table), self._fresh_of(table)
            assert pairs.size == all_pairs.size, "a pair is missing, or stored twice"
            assert np.array_equal(pairs.not_in(NO_PAIRS), all_pairs), "tables hold different pairs"
            listed = [table.entry(*pair) for pair in fresh.each()] if self._is_listed else []
            assert sorted(listed) == [*table.fresh], "a list has not the fresh pairs"
        assert len(self) == self._pairs.size, "a removed pair is not stored"

    def _distance(self, max_distance: int | None) -> int:
        if max_distance is None:
            return self.max_distance
        if type(max_distance) is not int or not 0 <= max_distance <= self.max_distance:
            own = self.max_distance
            raise ValueError(f"max_distance must be from 0 to {own}, not {max_distance!r}")
        return max_distance

    def _near(self, query: int, distance: int, most: int | None = None) -> set[tuple[int, int]]:
        """Return the pairs within a distance, removed ones too; at least the `most` nearest."""
        tables = self._tables[: self._layout.needed(distance)]
        found = self._fresh_near(tables, query, distance, most)
        parts: list[tuple[Table, slice | IntpArray]] = []
        if len(tables[0].entries) > scan_limit(self._layout, distance):
            parts = [(table, table.places(query, distance)) for table in tables]
        entries = [table.at(places) for table, places in parts]
        if not parts or sum(map(len, entries)) > len(tables[0].entries):
            # A pair that is missing in this run is fresh in every table, and was found.
            whole = max(self._tables, key=_END)
            parts, entries = [(whole, slice(None))], [whole.entries]
        compared = np.concatenate(entries) if len(entries) > 1 else entries[0]
        # A pair is compared at most once for each table.
        near = near_places(compared, query, distance, most and most * len(tables))
        ordered, done, begin = near.tolist(), 0, 0
        for (table, places), of_part in zip(parts, entries, strict=True):
            end = bisect_left(ordered, begin + len(of_part))
            if end > done:
                here = near[done:end] - begin
                rows = (
                    table.rows[places][here] if type(places) is slice else table.rows[places[here]]
                )
                found.update(zip(of_part[here].tolist(), rows.tolist(), strict=True))
            done, begin = end, begin + len(of_part)
        return found

    def _fresh_near(
        self, tables: list[Table], query: int, distance: int, most: int | None
    ) -> set[tuple[int, int]]:
        if self._is_listed and distance <= self._layout.reach:
            listed = [table.fresh_near(query, distance) for table in tables]
            if None not in listed:
                return set(chain.from_iterable(filter(None, listed)))
        fingerprints = np.frombuffer(self._fresh_fingerprints, np.uint64)
        places = near_places(fingerprints, query, distance, most).tolist()
        return {(self._fresh_fingerprints[place], self._fresh_rows[place]) for place in places}

    def _under(self, fingerprints: UInt64Array) -> Pairs:
        """Return the stored pairs with some fingerprints. Requires: the index is compact."""
        if not len(self):
            return NO_PAIRS
        first, alike = self._tables[0], distinct(fingerprints)
        starts = first.entries.searchsorted(alike)
        places = places_in(starts, first.entries.searchsorted(alike, "right") - starts)
        return Pairs(first.entries[places], first.rows[places].astype(np.int64))

    def _fresh_of(self, table: Table) -> Pairs:
        """Return the pairs that are not in the run of a table: a copy."""
        first = table.end - self._first_fresh
        return Pairs(
            np.array(self._fresh_fingerprints[first:], np.uint64),
            np.array(self._fresh_rows[first:], np.int64),
        )

    def _stored(self, table: Table) -> Pairs:
        """Return all pairs of a table, removed ones too."""
        return Pairs.joined([table.pairs, self._fresh_of(table)])

    @property
    def _pairs(self) -> Pairs:
        """All pairs that were not removed."""
        pairs = self._stored(self._tables[0])
        if not self._removed:
            return pairs
        maybe = np.isin(pairs.rows, [row for _, row in self._removed]).nonzero()[0]
        some = Pairs(pairs.fingerprints[maybe], pairs.rows[maybe])
        gone = maybe[[pair in self._removed for pair in some.each()]]
        return Pairs(np.delete(pairs.fingerprints, gone), np.delete(pairs.rows, gone))

    def _sorted(self, layout: Layout, pairs: Pairs) -> list[Table]:
        """Sort distinct pairs into the tables of a layout. Cost: 0.1 us a pair and table."""
        ascending = pairs.not_in(NO_PAIRS)
        return [Table.of(shape, ascending) for shape in layout.tables_needed(self.max_distance)]

    def _merge_one(self) -> None:
        """Merge the table with most fresh pairs; if a new layout is due, rebuild all instead."""
        layout = self._layout_for(len(self))
        if layout != self.layout:
            self._put(layout, self._sorted(layout, self._pairs))
            return
        table = min(self._tables, key=_END)
        end = self._first_fresh + len(self._fresh_rows)
        self._tables[self._tables.index(table)] = table.merged(self._fresh_of(table), end)
        done = min(map(_END, self._tables)) - self._first_fresh
        del self._fresh_fingerprints[:done], self._fresh_rows[:done]
        self._first_fresh += done
        self._set_bounds()

    def _layout_for(self, count: int) -> Layout:
        return self.layout if count <= 2 * self._planned_for else plan(self.max_distance, 2 * count)

    def _put(self, layout: Layout, tables: list[Table]) -> None:
        """Replace the tables by tables without fresh and removed pairs."""
        self._layout, self._tables = layout, tables
        self._fresh_fingerprints, self._fresh_rows = array("Q"), array("q")
        """Pairs that are not in all tables yet, the oldest first."""
        self._first_fresh = 0
        """How many pairs had been added before the first fresh one: see `Table.end`."""
        self._removed: set[tuple[int, int]] = set()
        """Removed pairs that are still in the tables."""
        self._first_ring = self.max_distance
        self._set_bounds()

    def _set_bounds(self) -> None:
        count = len(self)
        self._most_fresh = max(_LEAST_FRESH, isqrt(_FRESH_PER_PAIR * count))
        if count > 2 * self._planned_for:
            self._planned_for = 2 * count
        ring = first_ring(self._layout, self.max_distance, max(count, 1))
        self._first_ring = min(self._first_ring, ring)
        for table in self._tables if self._is_listed else ():
            for pair in self._fresh_of(table).each() if not table.fresh else ():
                table.add_fresh(pair)

    @property
    def _is_listed(self) -> bool:
        """Whether fresh pairs are in the SortedLists of the tables, which look-ups read."""
        return self._first_ring <= self._layout.reach


def near_places(
    entries: UInt64Array, query: int, distance: int, most: int | None = None
) -> IntpArray:
    """Return the places of entries within a distance of a query; with `most`, of the nearest.

    If several entries are as far away as the last of the nearest, all of them are returned.
    """
    distances = np.bitwise_count(entries ^ np.uint64(query))
    # Mostly nothing is near; finding the nearest takes a third of the time of finding all.
    if not len(distances) or distances[distances.argmin()] > distance:
        return np.empty(0, np.intp)
    places: IntpArray = (distances <= distance).nonzero()[0]
    if most is not None and len(places) > most:
        distances = distances[places]
        reach = np.bincount(distances).cumsum().searchsorted(most)
        places = places[distances <= reach]
    return places
