"""Fingerprints with rows -> all that lie within k bits of the one asked for.

    add ->  fresh    the last 4,096 pairs, compared with every query, all of them
              | sealed when full
            young    small sorted tables, beside many old entries
              | merged when full
            old      the large sorted tables

    within  asks all three at once

Sealing moves the fresh entries into the young tables; merging, the young into the old.

Up to 262,144 old entries, the young tables are merged as soon as they have any entries. Beyond,
they grow to y entries. With n old entries, an addition then costs the moving of n / y entries in
each table by merges and of y / 8,192 by sealing, which is least for y = sqrt(2 * 4,096 * n).
Look-ups must ask the young tables, too, so y is half of that: 45,000 beside a million.

A merge is also made when a quarter of the old pairs have been removed. When there are twice as many
entries as the layout was planned for, it makes tables of another; if sorting these would take more
than a second, the next `add_many` of 1,024 pairs or more does it, or `compact`.

Guarantee: `within` returns every stored row within the distance and nothing else, at once
after `add`, for every k from 0 to 12 and every accepted layout. A call that raises an error, also
for want of memory, leaves the index as it was.

Cost: measured by `python benchmarks/index.py`. A merge takes 10 to 20 ns an entry and table: beside
a million one addition in 45,000 takes 0.05 s, beside 10 million one in 140,000 half a second. Not
for several threads at a time.

An index knows nothing of pages: a row is a number that the caller gives and understands.

Manku, Jain and Das Sarma (2007), section 3. Where we differ: the tables take additions all the
time, by merges of sorted runs (as in LevelDB), instead of being built once; neighbours of a prefix
are probed; and a look-up returns all matches, not only one.
"""

import sys
from math import isqrt

from dedup_filter.hamming.fresh_entries import FreshEntries
from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.pairs import (
    NO_PAIRS,
    Integers,
    Pairs,
    UInt64Array,
    distinct,
    fingerprint_of,
    fingerprints_of,
    places_in,
    row_of,
    rows_of,
)
from dedup_filter.hamming.planner import plan, scan_limit
from dedup_filter.hamming.search import (
    Neighbours,
    NeighboursOfMany,
    pairs_within,
    pairs_within_of_many,
)
from dedup_filter.hamming.tables import SealedArrays, Tables
from dedup_filter.model import Match

__all__ = ["FRESH", "HammingIndex"]

FRESH = 4096
"""Most fresh pairs beside tables. Comparing all of them with a query takes 2.5 us."""

_FRESH_ALONE = 16_384
"""Most fresh pairs while there are no tables and a scan is quicker than tables."""

_FEW_OLD = 262_144
"""Old entries up to which a merge of every 4,096 pairs costs less than asking young tables."""

_MOST_YOUNG = 524_288
"""Bounds the time of one sealing: 10 ns an entry and table."""

_MOST_SORTED = 2_500_000
"""Entries that one call may sort: 0.1 us each."""

_BULK = 1024
"""From so many pairs on, adding them together is quicker than one by one."""


class HammingIndex:
    """Fingerprints with their rows, searched by Hamming distance.

    `max_distance` (k) is inclusive, 0 to 12. Without a layout, one is planned for the expected
    number of entries, and another one when there are twice as many.

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
        self._max_distance = max_distance
        self._planned_for = expected if layout is None else sys.maxsize
        self._fresh = FreshEntries(max(FRESH, _FRESH_ALONE))
        self._put(Tables.empty(first_layout, max_distance))

    @classmethod
    def from_sealed(cls, sealed: SealedArrays) -> "HammingIndex":
        """Make an index that uses these arrays, without a copy. Nothing is written to them.

        Cost: under a millisecond for any size; the contents are not verified, see `check`.

        Raises:
            ConfigError: the layout cannot be exact for the distance.
            ValueError: the arrays cannot be those of an index.
        """
        tables = Tables.of_sealed(sealed)
        index = cls(sealed.max_distance, expected=max(len(sealed.rows), 1))
        index._put(tables)
        return index

    @property
    def max_distance(self) -> int:
        """The largest distance that can be asked for (k)."""
        return self._max_distance

    @property
    def layout(self) -> Layout:
        """How the bits are cut at present."""
        return self._old.layout

    def add(self, fingerprint: int, row: int) -> None:
        """Store a row under its fingerprint. The same pair again changes nothing.

        Raises:
            TypeError: one of them is not an integer.
            ValueError: the fingerprint is outside 0..2**64-1, or the row outside 0..2**63-1.
        """
        fingerprint, row = fingerprint_of(fingerprint), row_of(row)
        if (fingerprint, row) not in self._fresh and self._table_of(fingerprint, row) is None:
            self.add_new(fingerprint, row)

    def add_new(self, fingerprint: int, row: int) -> None:
        """Store a pair that is known not to be stored: `add` without looking for it.

        Requires: plain ints in the ranges of `add`, and a pair that is not stored.
        """
        if len(self._fresh) >= self._most_fresh:
            self._seal()
        self._fresh.add(fingerprint, row)

    def add_many(self, fingerprints: Integers, rows: Integers) -> None:
        """Store many rows, each under the fingerprint in the same place: all of them or none.

        Cost: 0.1 us a row and table for 10,000 rows or more; returns when all are sorted.

        Raises:
            TypeError, ValueError: as for `add`, or there is not one row for each fingerprint.
        """
        pairs = Pairs(fingerprints_of(fingerprints), rows_of(rows))
        if len(pairs.fingerprints) != len(pairs.rows):
            raise ValueError(
                f"one row for each fingerprint, not {len(pairs.rows)} for {len(pairs.fingerprints)}"
            )
        if pairs.size < _BULK:
            for pair in zip(pairs.fingerprints.tolist(), pairs.rows.tolist(), strict=True):
                self.add(*pair)
            return
        new = pairs.not_in(self._stored_under(distinct(pairs.fingerprints)))
        self._fold(new, is_bulk=True)

    def remove(self, fingerprint: int, row: int) -> None:
        """Remove a row from under its fingerprint.

        Raises:
            KeyError: the pair is not stored.
            TypeError, ValueError: as for `add`.
        """
        fingerprint, row = fingerprint_of(fingerprint), row_of(row)
        if self._fresh.discard(fingerprint, row):
            return
        marks = len(self._old.dead) + len(self._young.dead)
        if marks > FRESH and 4 * marks > len(self._old.first):
            self._fold(NO_PAIRS)
        found = self._table_of(fingerprint, row)
        if found is None:
            raise KeyError(f"row {row} is not stored under fingerprint {fingerprint}")
        tables, place = found
        tables.dead.add(place)

    def rows_of(self, fingerprint: int) -> list[int]:
        """Return the rows stored under this very fingerprint, ascending.

        Cost: 5 us in a million, whatever the distance that the index was made for.

        Raises:
            TypeError: the fingerprint is not an integer.
            ValueError: it is outside 0..2**64-1.
        """
        fingerprint = fingerprint_of(fingerprint)
        rows = list(self._fresh.rows_of(fingerprint))
        for tables in self._sealed:
            rows += tables.rows_of(fingerprint)
        return sorted(rows)

    def within(self, fingerprint: int, max_distance: int | None = None) -> list[Match]:
        """Return all rows within a distance of a fingerprint, nearest first, then by row.

        `max_distance` is the index's own unless a smaller one is given.

        Raises:
            TypeError: the fingerprint is not an integer.
            ValueError: it is outside 0..2**64-1, or the distance outside 0..the index's own.
        """
        return self.neighbours(fingerprint, max_distance).matches()

    def neighbours(
        self, fingerprint: int, max_distance: int | None = None, most: int | None = None
    ) -> Neighbours:
        """Return the matches of `within` as arrays; with `most`, only the first so many.

        Cost: for thousands of matches a third of `within` or less; less still with `most`.

        Raises:
            TypeError, ValueError: as for `within`.
        """
        fingerprint = fingerprint_of(fingerprint)
        distance = self._distance(max_distance)
        pairs = pairs_within(fingerprint, distance, self._sealed, self._fresh, most)
        return Neighbours.of(fingerprint, pairs, most)

    def within_many(
        self, fingerprints: Integers, max_distance: int | None = None
    ) -> NeighboursOfMany:
        """Return all rows within a distance of each of many fingerprints.

        The result is four arrays of one length: for each match the number of the query, counted
        from 0, and the row, fingerprint and distance. Sorted by query, then nearest first, then by
        row.

        Raises:
            TypeError, ValueError: as for `within`.

        >>> index = HammingIndex(max_distance=3)
        >>> index.add_many([0b1011, 0b1000], rows=[0, 1])
        >>> found = index.within_many([0b1111, 2**64 - 1, 0b1000])
        >>> found.queries.tolist(), found.rows.tolist(), found.distances.tolist()
        ([0, 0, 2, 2], [0, 1, 1, 0], [1, 3, 0, 2])
        """
        asked = fingerprints_of(fingerprints)
        distance = self._distance(max_distance)
        queries, pairs = pairs_within_of_many(asked, distance, self._sealed, self._fresh)
        return NeighboursOfMany.of(asked, queries, pairs)

    def compact(self) -> None:
        """Merge everything into one set of tables, and leave out the removed pairs."""
        if len(self._fresh) or len(self._young.first) or self._old.dead:
            self._fold(NO_PAIRS, is_bulk=True)

    def sealed(self) -> SealedArrays:
        """Compact the index and return its arrays. The index still uses them: only read them."""
        self.compact()
        return self._old.sealed()

    def __len__(self) -> int:
        """Count the rows stored."""
        return len(self._old) + len(self._young) + len(self._fresh)

    def __contains__(self, fingerprint: object) -> bool:
        try:
            return len(self.neighbours(fingerprint, 0, most=1).rows) > 0  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return False

    @property
    def nbytes(self) -> int:
        """Memory in bytes: fingerprints in every table, rows, directories, fresh entries."""
        return self._old.nbytes + self._young.nbytes + self._fresh.nbytes

    def check(self) -> None:
        """Verify the invariants of every table, and that no pair is in two places.

        Raises:
            AssertionError: it is not so.
        """
        parts = (self._old, self._young, self._fresh)
        for part in parts:
            part.check()
        everything = Pairs.joined([part.pairs for part in parts])
        assert everything.not_in(NO_PAIRS).size == everything.size, "a pair is in two places"
        assert everything.size == len(self), "a wrong count"

    def _distance(self, max_distance: int | None) -> int:
        if max_distance is None:
            return self._max_distance
        if type(max_distance) is not int or not 0 <= max_distance <= self._max_distance:
            raise ValueError(
                f"max_distance must be a whole number from 0 to {self._max_distance}, "
                f"the index's own, not {max_distance!r}"
            )
        return max_distance

    def _put(self, old: Tables, young: Tables | None = None) -> None:
        young = young or Tables.empty(old.layout, self._max_distance)
        self._old, self._young = old, young
        self._sealed = [tables for tables in (old, young) if len(tables.first)]
        # Beside tables there would be fresh entries to compare as well: alone they may be more.
        alone = 0 if self._sealed else scan_limit(old.layout, self._max_distance) + FRESH
        self._most_fresh = max(FRESH, min(_FRESH_ALONE, alone))

    def _table_of(self, fingerprint: int, row: int) -> tuple[Tables, int] | None:
        """Return the tables that have a pair, and its place in the first of them."""
        for tables in self._sealed:
            place = tables.place_of(fingerprint, row)
            if place is not None:
                return tables, place
        return None

    def _stored_under(self, fingerprints: UInt64Array) -> Pairs:
        """Return all pairs with some distinct fingerprints, which ascend."""
        fresh = self._fresh.pairs
        after = fingerprints.searchsorted(fresh.fingerprints, "right")
        is_asked = after > fingerprints.searchsorted(fresh.fingerprints)
        stored = [Pairs(fresh.fingerprints[is_asked], fresh.rows[is_asked])]
        stored += [
            tables.pairs_at(places_in(*tables.spans_of(fingerprints))) for tables in self._sealed
        ]
        return Pairs.joined(stored)

    def _seal(self) -> None:
        """Move the fresh entries into the young tables, or with these into the old ones."""
        count = len(self._young.first) + len(self._fresh)
        if count >= _most_young(len(self._old.first)):
            self._fold(NO_PAIRS)
            return
        # Up to half as many as if they were alone: a look-up has a fixed cost, borne by the old.
        is_scanned = 2 * count <= scan_limit(self.layout, self._max_distance)
        self._put(self._old, self._young.merged(self._fresh.pairs, is_scanned=is_scanned))
        self._fresh.clear()

    def _fold(self, pairs: Pairs, *, is_bulk: bool = False) -> None:
        """Move everything and more pairs, which are not stored yet, into the old tables.

        Another layout is planned when there are twice as many as for the present one, but for more
        than `_MOST_SORTED` only if the caller waits for bulk work.
        """
        old = self._old
        layout, planned_for = old.layout, self._planned_for
        coming = Pairs.joined([self._young.pairs, self._fresh.pairs, pairs])
        count = len(old) + coming.size
        if count > 2 * planned_for and (is_bulk or count <= _MOST_SORTED):
            planned_for = 2 * count
            layout = plan(self._max_distance, planned_for)
        is_scanned = count <= scan_limit(layout, self._max_distance)
        if layout == old.layout and coming.size <= len(old) // 2:
            self._put(old.merged(coming, is_scanned=is_scanned))
        else:  # Sorting everything anew is quicker; for another layout there is no other way.
            everything = Pairs.joined([old.pairs, coming])
            self._put(Tables.of(layout, self._max_distance, everything, is_scanned=is_scanned))
        self._planned_for = planned_for
        self._fresh.clear()


def _most_young(old: int) -> int:
    """Return from how many young entries on they are merged with so many old ones."""
    return min(isqrt(FRESH * old // 2), _MOST_YOUNG) if old > _FEW_OLD else 0
