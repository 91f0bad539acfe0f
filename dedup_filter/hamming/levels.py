"""Where the pairs of an index are, and when they move on: fresh -> young -> old.

    fresh   the last 4,096, as they came                    sealed at once, in 2 to 70 ms
    young   sorted runs, 90,000 beside a million old ones   merged in steps, one every few calls
    old     sorted runs of all others

A merge is spread so that it is over before the fresh entries are full again, and the young tables
that it takes in stay as they are meanwhile. That removed pairs are a quarter of the tables starts
one, too.

When another layout is due (`layout_choice`), the next merge arranges all entries by it. That sorts
all tables anew, in steps as well, and takes their memory twice until it is done.

Cost of an addition, everything spread evenly: with n old entries and y young ones at most, y pay
for moving n entries in each table, and 4,096 for moving y/2 on average. Both cost the same where
y is the root of 2 * 4,096 * n, so that many there are (90,000 beside a million).

LevelDB does the same with files. Two levels suffice as the old one is many times as large.
"""

from dataclasses import dataclass
from math import isqrt

import numpy as np

from dedup_filter.hamming.compaction import (
    Compaction,
    compacted,
    finished,
    made_new,
    stepped,
    steps_of,
)
from dedup_filter.hamming.fresh_entries import FreshEntries
from dedup_filter.hamming.index_pairs import NO_PAIRS, Pairs, UInt64Array, distinct
from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.layout_choice import LayoutChoice
from dedup_filter.hamming.ragged import places_in
from dedup_filter.hamming.sealed_tables import SealedTables

__all__ = ["FRESH", "Levels"]

FRESH = 4096
"""Pairs that are compared with every query: 2.5 us when all are there."""

_FRESH_ALONE = 16_384
"""As long as there is nothing else to ask, and a scan is quickest, this many are."""

_LEAST_YOUNG, _MOST_YOUNG = 16_384, 524_288

_BULK = 1024
"""Pairs from which adding them together is quicker than one by one."""


@dataclass
class _Merge:
    """The young tables on their way into the old ones."""

    compaction: Compaction
    marks: tuple[set[int], set[int]]
    """In the old and the young tables, when it began: these pairs will be gone."""
    steps: int
    """How many there are, or fewer."""
    taken: int = 0
    calls: int = 0
    """How many additions and removals there were since."""


class Levels:
    """Fresh entries, young tables and old tables of one index. Arguments are valid numbers."""

    def __init__(self, max_distance: int, layout: Layout | None, expected: int) -> None:
        self._choice = LayoutChoice(max_distance, layout, expected)
        self.max_distance = max_distance
        self.fresh = FreshEntries(max(FRESH, _FRESH_ALONE))
        self._merge: _Merge | None = None
        self._put(SealedTables.empty(self.layout, max_distance))

    @property
    def layout(self) -> Layout:
        """How the bits are cut at present."""
        return self._choice.layout

    def take(self, tables: SealedTables) -> None:
        """Take ready-made tables, and their layout, in place of all there is."""
        self._choice.layout = tables.layout
        self.fresh.clear()
        self._merge = None
        self._put(tables)

    def add(self, fingerprint: int, row: int) -> None:
        """Store a pair, unless it is stored."""
        if (fingerprint, row) in self.fresh or self._table_of(fingerprint, row):
            return
        self.add_new(fingerprint, row)

    def add_new(self, fingerprint: int, row: int) -> None:
        """Store a pair. Requires: it is not stored."""
        if len(self.fresh) >= self._most_fresh:
            self._seal()
        if self._merge is not None or self.old.dead or self.young.dead:
            self._tend()
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
        found = self._table_of(fingerprint, row)
        if found is None:
            raise KeyError(f"row {row} is not stored under fingerprint {fingerprint}")
        tables, place = found
        tables.dead.add(place)
        self._tend()

    def rows_of(self, fingerprint: int) -> list[int]:
        """Return the rows stored under a fingerprint, in no order."""
        rows = self.fresh.rows_of(fingerprint)
        for tables in self.sealed:
            rows += tables.rows_of(fingerprint)
        return rows

    def compact(self) -> None:
        """Merge everything into the old tables, and take out what was removed."""
        self._finish_merge()
        if len(self.fresh) or len(self.young.first) or self.old.dead:
            self._fold(NO_PAIRS)

    def __len__(self) -> int:
        return self.old.living + self.young.living + len(self.fresh)

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
        living = [self.old.living_pairs, self.young.living_pairs, self.fresh.pairs]
        for tables in (self.old, self.young):
            tables.check()
        self.young.check_agreement()
        if self._merge is None:
            self.old.check_agreement()
        for run in self.old.others:  # replaced by its successor or not
            together = np.concatenate([run.entries, living[0].fingerprints])
            assert len(distinct(together)) == len(distinct(run.entries)), "an entry is lost"
        everything = Pairs.joined(living)
        assert everything.not_in(NO_PAIRS).size == everything.size, "a pair is in two places"
        assert everything.size == len(self), "a wrong count"

    def _put(self, old: SealedTables, young: SealedTables | None = None) -> None:
        young = young or SealedTables.empty(old.layout, self.max_distance)
        self.old, self.young = old, young
        self.sealed = [tables for tables in (self.old, self.young) if len(tables.first)]
        alone = 0 if self.sealed else self._choice.scan_limit()
        self._most_fresh = max(FRESH, min(_FRESH_ALONE, alone))

    def _table_of(self, fingerprint: int, row: int) -> tuple[SealedTables, int] | None:
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
            tables.pairs_at(places_in(*tables.first.spans_of(fingerprints)))
            for tables in self.sealed
        ]
        return Pairs.joined(stored)

    def _tend(self) -> None:
        """Take the next step of a merge, or begin one if too many pairs are marked."""
        if self._merge is None:
            marks = len(self.old.dead) + len(self.young.dead)
            if marks > FRESH and 4 * marks > len(self.old.first):
                self._begin_merge()
            return
        self._merge.calls += 1
        due = self._merge.steps * self._merge.calls // (FRESH // 2 + 1)
        while self._merge is not None and self._merge.taken < due:
            self._step()

    def _seal(self) -> None:
        """Move the fresh entries into the young tables."""
        self._finish_merge()
        young, coming = self.young, self.fresh.pairs
        count = len(young.first) + coming.size
        is_scanned = self._choice.is_scanned(len(self)) or self._choice.is_scanned_beside(count)
        places = young.dead_places
        with made_new(young):
            compaction = compacted(young, places, coming, self.layout, is_scanned=is_scanned)
            self._put(self.old, finished(compaction))
        self.fresh.clear()
        if len(self.young.first) >= _most_young(len(self.old.first)):
            self._begin_merge()

    def _begin_merge(self) -> None:
        old, young = self.old, self.young
        if not len(old.first):
            self._put(young)
            return
        count = old.living + young.living
        layout, coming = self._choice.for_entries(count), young.living_pairs
        is_scanned = self._choice.is_scanned(count, layout)
        compaction = compacted(old, old.dead_places, coming, layout, is_scanned=is_scanned)
        marks = (old.dead.copy(), young.dead.copy())
        self._merge = _Merge(compaction, marks, steps_of(old, coming, layout))

    def _step(self) -> None:
        """Take a step of the merge; after the last one put the new tables in place."""
        merge, self._merge = self._merge, None
        assert merge is not None
        with made_new(self.old):
            newer = stepped(merge.compaction)
            if newer is None:
                merge.taken += 1
                self._merge = merge
                return
            for tables, before in zip((self.old, self.young), merge.marks, strict=True):
                for place in tables.dead - before:
                    now_at = newer.first.place_of(*tables.first.pair_at(place))
                    assert now_at is not None, "a pair is lost in a merge"
                    newer.dead.add(now_at)
            self._put(newer)
        self._choice.layout = newer.layout

    def _finish_merge(self) -> None:
        while self._merge is not None:
            self._step()

    def _fold(self, pairs: Pairs) -> None:
        """Move everything and more pairs, which are not stored yet, into the old tables."""
        self._finish_merge()
        old = self.old
        coming = Pairs.joined([self.young.living_pairs, self.fresh.pairs, pairs])
        count = old.living + coming.size
        layout = self._choice.for_entries(count)
        is_scanned = self._choice.is_scanned(count, layout)
        if coming.size > old.living // 2:  # sorting everything anew is quicker then
            everything = Pairs.joined([old.living_pairs, coming])
            newer = SealedTables.of(layout, self.max_distance, everything, is_scanned=is_scanned)
            self._put(newer)
        else:
            with made_new(old):
                places = old.dead_places
                compaction = compacted(old, places, coming, layout, is_scanned=is_scanned)
                self._put(finished(compaction))
        self.fresh.clear()
        self._choice.layout = layout


def _most_young(old: int) -> int:
    """Return how many young entries there may be beside so many old ones."""
    return min(max(isqrt(2 * FRESH * old), _LEAST_YOUNG), _MOST_YOUNG)
