"""Fingerprints with rows -> all that lie within k bits of the one asked for.

    add ->  fresh    the last 4,096 pairs, compared with every query, all of them
              | sealed when full
            young    small sorted tables, beside many old entries
              | merged when full
            old      the large sorted tables

    within  ->  candidates of old and young ─┬─ compared at once ─┬─ hits -> first tables -> rows
                fresh entries, all of them   ┘                    └─ places -> rows
                a lone first table, all of it: by itself             places -> rows

Up to 262,144 old entries, the young tables are merged as soon as they have any. Beyond, they grow
to y entries: with n old ones, an addition moves n / y entries of each table by merges and y / 8,192
by sealing. That is least for y = sqrt(2 * 4,096 * n); y is half of that, because look-ups ask the
young tables, too. A merge is also made when a quarter of the old pairs have been removed; one that
makes twice as many entries as planned for may sort all by a new layout, unless that was chosen.

If there are more candidates than entries, as nearly all share a prefix and every table has them,
the first table is scanned instead: so a look-up costs at most a little more than a scan.

Guarantee: a look-up returns every stored row within the distance, once, and nothing else, at once
after `add`, for every k from 0 to 12 and every accepted layout. A call that raises an error, also
for want of memory, leaves the index as it was.

Cost: measured by `python benchmarks/index.py`. A merge takes 10 to 20 ns an entry and table, and
beside many old entries each table is merged with another addition: beside 10 million, three or four
in 140,000 take 0.1 to 0.2 s each. To sort by another layout, 0.1 us an entry and table. Not for
several threads at a time.

Manku, Jain and Das Sarma (2007), section 3. Where we differ: the tables take additions all the
time, by merges of sorted runs (as in LevelDB); neighbours of a prefix are probed; and a look-up
returns all matches, not only one.
"""

import sys
from collections.abc import Iterator, Sequence
from math import isqrt
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.fresh_entries import FreshEntries
from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.pairs import (
    NO_PAIRS,
    Integers,
    IntpArray,
    Pairs,
    Places,
    RowArray,
    UInt64Array,
    fingerprint_of,
    fingerprints_of,
    row_of,
    rows_of,
)
from dedup_filter.hamming.planner import plan, scan_limit
from dedup_filter.hamming.tables import SealedArrays, Tables
from dedup_filter.model import Match

UInt8Array = npt.NDArray[np.uint8]

FRESH = 4096
"""Most fresh pairs. Comparing all of them with a query takes 2.5 us."""

_FEW_OLD = 262_144
"""Old entries up to which a merge of every 4,096 pairs costs less than asking young tables."""

_BULK = 1024
"""From so many pairs on, adding them together is quicker than one by one; so is looking many up in
tables of the fresh pairs that are made for them, up to `_MANY_PROBES` for each."""

_MANY_PROBES = 128

_FEW = 16
"""Matches up to which Python sorts them more quickly than numpy."""

_NEAREST_FIRST = itemgetter(2, 0, 1)  # by distance, row and fingerprint


Found = list[tuple[FreshEntries | Tables, Places]]
"""Fresh entries or tables, and places of pairs in them."""


class NeighboursOfMany(NamedTuple):
    """Stored rows within reach of many fingerprints: by query, then as those of `within`."""

    queries: IntpArray
    """Which of the fingerprints asked for, counted from 0."""
    rows: RowArray
    fingerprints: UInt64Array
    distances: UInt8Array


_NONE = NeighboursOfMany(
    np.empty(0, np.intp), NO_PAIRS.rows, NO_PAIRS.fingerprints, np.empty(0, np.uint8)
)


class HammingIndex:
    """Fingerprints with their rows, searched by Hamming distance.

    `max_distance` (k) is inclusive, 0 to 12. A row is a number that the caller understands. Without
    a layout, one is planned for the expected number of entries, and again for twice as many.

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
        """The largest distance that can be asked for (k)."""
        self._planned_for = expected if layout is None else sys.maxsize
        self._fresh = FreshEntries(FRESH)
        self._merge: Iterator[Tables | None] | None = None
        """Puts the young tables into the old ones, one table with each addition."""
        self._put(self._empty(first_layout))

    @classmethod
    def from_sealed(cls, sealed: SealedArrays, layout: Layout | None = None) -> "HammingIndex":
        """Make an index that uses these arrays, neither copied nor written to, nor verified.

        `layout`: theirs, if it is to stay however many entries there will be.

        Raises:
            ConfigError: the layout cannot be exact for the distance.
            ValueError: the arrays cannot be those of an index.
        """
        tables = Tables.of_sealed(sealed)
        index = cls(sealed.max_distance, layout, expected=max(len(sealed.rows), 1))
        index._put(tables)
        return index

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
        pair = fingerprint_of(fingerprint), row_of(row)
        for part in self._parts:
            if pair in part:
                return
        self.add_new(*pair)

    def add_new(self, fingerprint: int, row: int) -> None:
        """Store a pair that is not stored yet, of plain ints in the ranges of `add`."""
        if self._merge is not None:
            self._go_on(self._merge)
        if len(self._fresh) >= FRESH:
            self._seal()
        self._fresh.add(fingerprint, row)

    def add_many(self, fingerprints: Integers, rows: Integers) -> None:
        """Store many rows, each under the fingerprint in the same place: all of them or none.

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
        known = [each.pairs_at(each.places_of(pairs.fingerprints)) for each in self._sealed]
        self._seal(pairs.not_in(Pairs.joined([self._fresh.pairs, *known])))

    def remove(self, fingerprint: int, row: int) -> None:
        """Remove a row from under its fingerprint.

        Raises:
            KeyError: the pair is not stored; other errors as for `add`.
        """
        pair = fingerprint_of(fingerprint), row_of(row)
        self._finish()
        dead = sum(tables.dead_count for tables in self._sealed)
        if dead > FRESH and 4 * dead > len(self._old.rows):
            self._seal(into_old=True)
        if not any(part.discard(*pair) for part in self._parts):
            raise KeyError(f"row {row} is not stored under fingerprint {fingerprint}")

    def rows_of(self, fingerprint: int) -> list[int]:
        """Return the rows stored under this very fingerprint, ascending; errors as for `within`.

        Cost: a bisection of the fresh entries and of each first table, whose order it is.
        """
        query = fingerprint_of(fingerprint)
        return sorted([row for part in self._parts for row in part.rows_of(query)])

    def within(
        self, fingerprint: int, max_distance: int | None = None, most: int | None = None
    ) -> list[Match]:
        """Return all rows within a distance of a fingerprint, nearest first, then by row.

        `max_distance` is the index's own unless a smaller one is given. With `most`, only the first
        so many: of thousands that takes a third of the time.

        Raises:
            TypeError: the fingerprint is not an integer.
            ValueError: it is outside 0..2**64-1, or the distance outside 0..the index's own.
        """
        query = fingerprint_of(fingerprint)
        found = self._found(query, self._distance(max_distance), self._sealed, most)
        if sum([len(places) for _, places in found]) > _FEW:
            fingerprints, rows = _joined(found)
            distances = np.bitwise_count(fingerprints ^ np.uint64(query))
            order = np.lexsort((fingerprints, rows, distances))[:most]
            pairs = [*zip(fingerprints[order].tolist(), rows[order].tolist(), strict=True)]
        else:
            pairs = [pair for part, places in found for pair in part.listed(places)]
        matches = [Match(row, each, (each ^ query).bit_count()) for each, row in pairs]
        return sorted(matches, key=_NEAREST_FIRST)[:most]

    def within_many(
        self, fingerprints: Integers, max_distance: int | None = None
    ) -> NeighboursOfMany:
        """Return the rows within a distance of each of many fingerprints; errors as for `within`.

        >>> index = HammingIndex(max_distance=3)
        >>> index.add_many([0b1011, 0b1000], rows=[0, 1])
        >>> found = index.within_many([0b1111, 2**64 - 1, 0b1000])
        >>> found.queries.tolist(), found.rows.tolist(), found.distances.tolist()
        ([0, 0, 2, 2], [0, 1, 1, 0], [1, 3, 0, 2])
        """
        found = list(self.within_blocks(fingerprints, max_distance))
        queries, rows, near, distances = map(np.concatenate, zip(_NONE, *found, strict=True))
        order = np.lexsort((near, rows, distances, queries))
        return NeighboursOfMany(queries[order], rows[order], near[order], distances[order])

    def within_blocks(
        self, fingerprints: Integers, max_distance: int | None = None
    ) -> Iterator[NeighboursOfMany]:
        """Return the same in pieces, as they are found; in the same order in every run, not sorted.

        However many are near, memory is bounded: 40 bytes a fingerprint asked for, and some
        megabytes, or 20 bytes for each entry that shares a prefix with one of them. Requires:
        nothing is added or removed meanwhile.

        Cost: `python benchmarks/batch.py`. Manku, Jain and Das Sarma (2007), section 4: there the
        stored fingerprints are read in turn and the queries are in tables; here it is the reverse.
        """
        asked, distance = fingerprints_of(fingerprints), self._distance(max_distance)
        return self._blocks(asked, distance)

    def _blocks(self, asked: UInt64Array, distance: int) -> Iterator[NeighboursOfMany]:
        is_scan = len(asked) < _BULK or self.layout.probe_count(distance) >= _MANY_PROBES
        fresh = self._fresh.pairs
        fresh_tables = Tables.of(self.layout, self.max_distance, fresh, is_scanned=is_scan)
        for tables in (fresh_tables, *self._sealed):
            for queries, (near, rows) in tables.within_blocks(asked, distance):
                if len(queries):
                    distances = np.bitwise_count(near ^ asked[queries])
                    yield NeighboursOfMany(queries, rows, near, distances)

    def compact(self) -> None:
        """Merge everything into one set of tables, and leave out the removed pairs."""
        self._finish()
        if len(self._fresh) or len(self._young.rows) or self._old.dead_count:
            self._seal(into_old=True)

    def sealed(self) -> SealedArrays:
        """Compact the index and return its arrays. The index still uses them: only read them."""
        self.compact()
        return self._old.sealed()

    def __len__(self) -> int:
        """Count the rows stored."""
        return sum(map(len, self._parts))

    @property
    def nbytes(self) -> int:
        """Memory in bytes: fingerprints in every table, rows, directories, fresh entries."""
        return sum(part.nbytes for part in self._parts)

    def check(self) -> None:
        """Verify every table, and that no pair is in two places: else AssertionError."""
        for part in self._parts:
            part.check()
        everything = Pairs.joined([part.pairs for part in self._parts])
        assert everything.not_in(NO_PAIRS).size == len(self), "a pair is in two places"

    def _distance(self, max_distance: int | None) -> int:
        if max_distance is None:
            return self.max_distance
        if type(max_distance) is not int or not 0 <= max_distance <= self.max_distance:
            own = self.max_distance
            raise ValueError(f"max_distance must be from 0 to {own}, not {max_distance!r}")
        return max_distance

    def _found(
        self, query: int, distance: int, sealed: Sequence[Tables], most: int | None = None
    ) -> Found:
        """Return where fresh entries and some tables have pairs within a distance of a query.

        With `most`, pairs may be missing if so many others are nearer.
        """
        # A pair is hit at most once in every table.
        enough = most and (most + sum(tables.dead_count for tables in sealed)) * self._repeats
        found: Found = []
        pieces, probed = [self._fresh.fingerprints], []
        for tables in sealed:
            candidates = [] if tables.is_scanned else tables.candidates(query, distance)
            if candidates and sum(map(len, candidates)) <= len(tables.rows):
                pieces += candidates
                probed.append(tables)
            else:
                found.append((tables, _near(tables.entries, query, distance, enough)))
        compared = np.concatenate(pieces) if probed else pieces[0]
        near = _near(compared, query, distance, enough)
        if len(near):
            from_fresh = int(near.searchsorted(len(self._fresh))) if probed else len(near)
            found.append((self._fresh, near[:from_fresh]))
            hits = compared[near[from_fresh:]]
            found += [(tables, tables.places_of(hits)) for tables in probed]
        return [(part, places) for part, places in found if len(places)]

    def _empty(self, layout: Layout) -> Tables:
        return Tables.of(layout, self.max_distance, NO_PAIRS, is_scanned=True)

    def _put(self, old: Tables, young: Tables | None = None) -> None:
        if young is None:
            young = self._empty(old.layout)
        self._old, self._young = old, young
        self._sealed = [tables for tables in (old, young) if len(tables.rows)]
        self._repeats = max(len(old.runs), len(young.runs))
        self._parts: list[FreshEntries | Tables] = [self._fresh, *self._sealed]

    def _seal(self, pairs: Pairs = NO_PAIRS, *, into_old: bool = False) -> None:
        """Move the fresh entries, and more that are not stored yet, into the young tables.

        If these have enough then, or `into_old`, all of theirs into the old ones instead. Beside
        many old ones that is begun here, unless there is much to sort.
        """
        self._finish()
        layout, planned_for = self.layout, self._planned_for
        coming = Pairs.joined([self._fresh.pairs, pairs])
        most_young = isqrt(FRESH * len(self._old) // 2) if len(self._old) > _FEW_OLD else 0
        count = len(self._old) + len(self._young) + coming.size
        is_full = len(self._young) + coming.size >= most_young
        if (into_old or is_full) and count > 2 * planned_for:
            planned_for = 2 * count
            layout = plan(self.max_distance, planned_for)
        if into_old or not most_young or (is_full and (pairs.size or layout != self.layout)):
            self._merge = self._merged(self._old, layout, Pairs.joined([self._young.pairs, coming]))
            self._finish()
        else:
            merge = self._merged(self._young, layout, coming)
            self._put(self._old, next(each for each in merge if each is not None))
            if is_full:
                self._merge = self._merged(self._old, layout, self._young.pairs)
        self._planned_for = planned_for
        self._fresh.clear()

    def _go_on(self, merge: Iterator[Tables | None]) -> None:
        """Go on with a merge. One that fails is given up, and begun again with the next sealing."""
        self._merge = None
        tables = next(merge)
        if tables is None:
            self._merge = merge
        else:
            self._put(tables)

    def _finish(self) -> None:
        while self._merge is not None:
            self._go_on(self._merge)

    def _merged(self, tables: Tables, layout: Layout, coming: Pairs) -> Iterator[Tables | None]:
        limit = scan_limit(layout, self.max_distance)
        if tables is self._young:  # a look-up has a fixed cost, borne by the old
            limit //= 2
        return tables.merged(layout, coming, is_scanned=len(tables) + coming.size <= limit)


def _joined(found: Found) -> Pairs:
    return Pairs.joined([part.pairs_at(places) for part, places in found])


def _near(entries: UInt64Array, query: int, distance: int, enough: int | None) -> IntpArray:
    """Return the places of entries within a distance; the nearest, if these are enough."""
    distances = np.bitwise_count(entries ^ np.uint64(query))
    # Most often there is nothing near, and to find the nearest takes a third of finding all.
    if not len(distances) or distances[distances.argmin()] > distance:
        return np.empty(0, np.intp)
    places: IntpArray = (distances <= distance).nonzero()[0]
    if enough is not None and len(places) > enough:
        distances = distances[places]
        reach = np.bincount(distances).cumsum().searchsorted(enough)
        places = places[distances <= reach]
    return places
