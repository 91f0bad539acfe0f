"""Where an index holds its pairs, and when it moves them: fresh -> young -> old.

    fresh   the last 4,096 pairs, in a SortedDict        4,096: merged into the young tables
    young   small sorted tables                          full: merged into the old tables, one
                                                         table in each addition
    old     sorted tables of all other pairs

Up to 262,144 old entries, the young tables are merged as soon as they have any entries. Beyond,
they grow to y entries. With n old entries, an addition then costs the moving of n / y entries in
each table by merges and of y / 8,192 by sealing, which is least for y = sqrt(2 * 4,096 * n).
Look-ups must ask the young tables, too, so y is half of that: 45,000 beside a million.

A merge makes one new table in each addition: 0.1 to 0.2 s each for 10 million entries. The first
table, which has the rows, is made last; then the young tables are dropped. Look-ups between two
steps are exact: the young pairs are found in the young tables until the first table has them. A
step that runs out of memory changes nothing; the next addition takes it again.

A merge starts also when a quarter of the old pairs have been removed.

When there are twice as many entries as the layout was planned for, another one is planned. The next
merge then sorts every table anew, one in each addition, and needs memory for old and new tables
until it is done. If sorting a table would take more than 0.25 s, `compact` or the next `add_many`
of 1,024 pairs or more does it instead.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import isqrt

import numpy as np

from dedup_filter.hamming.fresh_entries import FreshEntries
from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.pairs import (
    NO_PAIRS,
    Pairs,
    UInt64Array,
    distinct,
    places_in,
)
from dedup_filter.hamming.planner import plan, scan_limit
from dedup_filter.hamming.run import Run
from dedup_filter.hamming.tables import Tables, sorted_run

__all__ = ["FRESH", "Levels"]

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


@dataclass
class _Merge:
    """The young tables on their way into the old ones."""

    layout: Layout
    make: Callable[[int], Run]
    """Makes the new table with a number, counted from 0."""
    to_do: list[int]
    """Numbers of the tables that are still to be made; the first table comes last."""
    marks: tuple[set[int], set[int]]
    """Removed pairs of the old and young tables when the merge began: it leaves them out."""
    made: list[Run] = field(default_factory=list)
    """Tables of another layout than the old ones have."""


class Levels:
    """Fresh entries, young tables and old tables of one index. Arguments are valid numbers.

    Raises:
        ConfigError: the distance is out of range, or the layout cannot be exact for it.
    """

    def __init__(self, max_distance: int, layout: Layout | None, expected: int) -> None:
        self.layout = layout or plan(max_distance, expected)
        self.layout.require_exact(max_distance)
        self.max_distance = max_distance
        self._planned_for = expected if layout is None else sys.maxsize
        self.fresh = FreshEntries(max(FRESH, _FRESH_ALONE))
        self._merge: _Merge | None = None
        self._put(Tables.empty(self.layout, max_distance))

    def take(self, tables: Tables) -> None:
        """Replace everything by ready-made tables and their layout."""
        self.layout = tables.layout
        self.fresh.clear()
        self._merge = None
        self._put(tables)

    def add(self, fingerprint: int, row: int) -> None:
        """Store a pair, unless it is stored."""
        if (fingerprint, row) not in self.fresh and self._table_of(fingerprint, row) is None:
            self.add_new(fingerprint, row)

    def add_new(self, fingerprint: int, row: int) -> None:
        """Store a pair. Requires: it is not stored."""
        if len(self.fresh) >= self._most_fresh:
            self._seal()
        if self._merge is not None:
            self._step(self._merge)
        self.fresh.add(fingerprint, row)

    def add_many(self, pairs: Pairs) -> None:
        """Store those of the pairs that are not stored."""
        if pairs.size < _BULK:
            for pair in zip(pairs.fingerprints.tolist(), pairs.rows.tolist(), strict=True):
                self.add(*pair)
            return
        self._fold(pairs.not_in(self._stored_under(distinct(pairs.fingerprints))))

    def remove(self, fingerprint: int, row: int) -> None:
        """Remove a pair.

        Raises:
            KeyError: it is not stored.
        """
        if self.fresh.discard(fingerprint, row):
            return
        marks = len(self.old.dead) + len(self.young.dead)
        if self._merge is not None:
            self._step(self._merge)
        elif marks > FRESH and 4 * marks > len(self.old.first):
            self._begin_merge()
        found = self._table_of(fingerprint, row)
        if found is None:
            raise KeyError(f"row {row} is not stored under fingerprint {fingerprint}")
        tables, place = found
        tables.dead.add(place)

    def rows_of(self, fingerprint: int) -> list[int]:
        """Return the rows stored under a fingerprint, in no order."""
        rows = list(self.fresh.rows_of(fingerprint))
        for tables in self.sealed:
            rows += tables.rows_of(fingerprint)
        return rows

    def compact(self) -> None:
        """Merge everything into the old tables, and leave out the removed pairs."""
        self._finish_merge()
        if len(self.fresh) or len(self.young.first) or self.old.dead:
            self._fold(NO_PAIRS)

    def __len__(self) -> int:
        return len(self.old) + len(self.young) + len(self.fresh)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.old.nbytes + self.young.nbytes + self.fresh.nbytes

    def check(self) -> None:
        """Verify the tables, that they agree, and that no pair is in two places.

        Raises:
            AssertionError: it is not so.
        """
        self.fresh.check()
        self.old.check()
        self.young.check()
        self.young.check_agreement()
        if self._merge is None:
            self.old.check_agreement()
        for run in self.old.runs:  # merged already or not
            together = np.concatenate([run.entries, self.old.pairs.fingerprints])
            assert len(distinct(together)) == len(distinct(run.entries)), "an entry is lost"
        everything = Pairs.joined([self.old.pairs, self.young.pairs, self.fresh.pairs])
        assert everything.not_in(NO_PAIRS).size == everything.size, "a pair is in two places"
        assert everything.size == len(self), "a wrong count"

    def _put(self, old: Tables, young: Tables | None = None) -> None:
        young = young or Tables.empty(old.layout, self.max_distance)
        self.old, self.young = old, young
        self.sealed = [tables for tables in (self.old, self.young) if len(tables.first)]
        # Beside tables there would be fresh entries to compare as well: alone they may be more.
        alone = 0 if self.sealed else scan_limit(old.layout, self.max_distance) + FRESH
        self._most_fresh = max(FRESH, min(_FRESH_ALONE, alone))

    def _plan_for(self, count: int) -> None:
        """Plan another layout if there are twice as many entries as the present one is for."""
        if count > 2 * self._planned_for:
            self._planned_for = 2 * count
            self.layout = plan(self.max_distance, self._planned_for)

    def _is_scanned(self, count: int) -> bool:
        """Tell whether a scan of so many entries is quicker than tables."""
        return count <= scan_limit(self.layout, self.max_distance)

    def _table_of(self, fingerprint: int, row: int) -> tuple[Tables, int] | None:
        """Return the tables that have a pair, and its place in the first of them."""
        for tables in self.sealed:
            place = tables.place_of(fingerprint, row)
            if place is not None:
                return tables, place
        return None

    def _stored_under(self, fingerprints: UInt64Array) -> Pairs:
        """Return all pairs with some distinct fingerprints, which ascend."""
        fresh = self.fresh.pairs
        after = fingerprints.searchsorted(fresh.fingerprints, "right")
        is_asked = after > fingerprints.searchsorted(fresh.fingerprints)
        stored = [Pairs(fresh.fingerprints[is_asked], fresh.rows[is_asked])]
        stored += [
            tables.pairs_at(places_in(*tables.spans_of(fingerprints))) for tables in self.sealed
        ]
        return Pairs.joined(stored)

    def _seal(self) -> None:
        """Move the fresh entries into the young tables, and begin a merge if these are full.

        Young tables that are about to be merged are only scanned. Others are scanned up to half as
        many entries as if they were alone: a look-up has a fixed cost, which the old tables bear.
        """
        self._finish_merge()
        count = len(self.young.first) + len(self.fresh)
        is_full = count >= _most_young(len(self.old.first))
        is_scanned = is_full or self._is_scanned(2 * count)
        self._put(self.old, self.young.merged(self.fresh.pairs, is_scanned=is_scanned))
        self.fresh.clear()
        if is_full:
            self._begin_merge()

    def _begin_merge(self) -> None:
        old, young = self.old, self.young
        count = len(old) + len(young)
        if count <= _MOST_SORTED:
            self._plan_for(count)
        is_scanned = self._is_scanned(count)
        if is_scanned or old.is_scanned:  # there are few
            self._put(self._old_with(young.pairs))
            return
        make = partial(old.merged_run, leaving=old.dead_places, coming=young.pairs)
        if self.layout != old.layout:
            everything = Pairs.joined([old.pairs, young.pairs])
            make = partial(sorted_run, self.layout, self.max_distance, everything)
        to_do = list(range(len(self.layout.tables_needed(self.max_distance))))
        marks = (old.dead.copy(), young.dead.copy())
        self._merge = _Merge(self.layout, make, to_do, marks)

    def _step(self, merge: _Merge) -> None:
        """Make the next table; after the last one put the new tables in place."""
        old, number = self.old, merge.to_do[-1]
        run, is_in_place = merge.make(number), merge.layout == old.layout
        if number:
            if is_in_place:
                old.replace(number, run)
            else:
                merge.made.append(run)
            merge.to_do.pop()
            return
        others = old.runs[1:] if is_in_place else merge.made[::-1]
        newer = Tables(merge.layout, self.max_distance, [run, *others])
        for tables, before in zip((old, self.young), merge.marks, strict=True):
            for place in tables.dead - before:
                now_at = newer.place_of(*tables.pair_at(place))
                assert now_at is not None, "a pair is lost in a merge"
                newer.dead.add(now_at)
        self._put(newer)
        self._merge = None

    def _finish_merge(self) -> None:
        while self._merge is not None:
            self._step(self._merge)

    def _fold(self, pairs: Pairs) -> None:
        """Move everything and more pairs, which are not stored yet, into the old tables."""
        self._finish_merge()
        coming = Pairs.joined([self.young.pairs, self.fresh.pairs, pairs])
        self._plan_for(len(self.old) + coming.size)
        self._put(self._old_with(coming))
        self.fresh.clear()

    def _old_with(self, coming: Pairs) -> Tables:
        """Make tables of the old pairs and of others, all at once."""
        old = self.old
        is_scanned = self._is_scanned(len(old) + coming.size)
        if self.layout == old.layout and coming.size <= len(old) // 2:
            return old.merged(coming, is_scanned=is_scanned)
        # Sorting everything anew is quicker; for another layout there is no other way.
        everything = Pairs.joined([old.pairs, coming])
        return Tables.of(self.layout, self.max_distance, everything, is_scanned=is_scanned)


def _most_young(old: int) -> int:
    """Return from how many young entries on they are merged with so many old ones."""
    return min(isqrt(FRESH * old // 2), _MOST_YOUNG) if old > _FEW_OLD else 0
