"""All permuted tables of one layout, sorted -> candidates of a look-up, and the rows of its hits.

    fingerprint ─┬─ table 1: blocks A | B C D      each holds the entries that agree with
                 ├─ table 2: blocks B | A C D      the query (nearly) in its leading blocks;
                 ├─ table 3: blocks C | A B D      together they hold every entry
                 └─ table 4: blocks D | A B C      within the distance

Table 1 is in the order of the fingerprints themselves, as its leading block is the first of the 64
bits; it alone has rows. If a scan of it is quicker than a look-up in all tables, it is the only
one, and all its entries are candidates.

A removed pair is marked by its place in table 1, and look-ups leave it out; the next merge leaves
it out of the new tables.

Guarantee: exact for every distance up to the one that the tables were made for (`layout`).

Memory: 8 bytes an entry and table, 4 for its row, and the directories (`run`).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.pairs import NO_PAIRS, IntpArray, Pairs, UInt64Array
from dedup_filter.hamming.permutation import Move, Permutation
from dedup_filter.hamming.run import Run

__all__ = ["Tables", "probe_keys", "sorted_run"]

_PROBE_US, _TABLE_US, _CANDIDATE_US = 0.38, 8.0, 0.006
"""The cost of one probe by Python, with a slice; or of numpy's calls for all probes of a table, and
of each candidate then. The quicker way is taken for each table."""

_CHUNK = 1 << 20
"""Candidates, or probes, that a look-up of many fingerprints handles at a time: 8 MB."""

_NOWHERE = range(0)

_One = tuple[int, int, int, memoryview, UInt64Array]
_Few = tuple[tuple[Move, ...], list[int], memoryview, UInt64Array]
_Many = tuple[tuple[Move, ...], IntpArray, Run]


class _Ways(NamedTuple):
    """What a look-up within a distance does in each table."""

    one: list[_One]
    """The key is one piece of the fingerprint, and no neighbour of it is asked for."""
    few: list[_Few]
    many: list[_Many]


class Tables:
    """The permuted tables that a layout needs for a distance; or only the first of them."""

    def __init__(self, layout: Layout, max_distance: int, runs: list[Run]) -> None:
        self.layout = layout
        self.max_distance = max_distance
        self.runs = runs
        self.first = runs[0]
        """The table in the order of the fingerprints, which has the rows."""
        self.is_scanned = len(runs) == 1
        """Whether there is only the first table, all of whose entries are candidates."""
        self.dead: set[int] = set()
        """Places, in the first table, of pairs that were removed."""
        self._ways: dict[int, _Ways] = {}

    @classmethod
    def of(cls, layout: Layout, max_distance: int, pairs: Pairs, *, is_scanned: bool) -> "Tables":
        """Sort distinct pairs into tables, or only into the first one."""
        count = 1 if is_scanned else len(layout.tables_needed(max_distance))
        runs = [sorted_run(layout, max_distance, pairs, number) for number in range(count)]
        return cls(layout, max_distance, runs)

    @classmethod
    def empty(cls, layout: Layout, max_distance: int) -> "Tables":
        """Make tables without entries."""
        return cls.of(layout, max_distance, NO_PAIRS, is_scanned=True)

    def merged(self, coming: Pairs, *, is_scanned: bool) -> "Tables":
        """Make tables with more pairs, and without those that are marked.

        Requires: no pair that comes is there, unless it is marked.
        """
        if is_scanned or len(self.runs) > 1:
            numbers = range(1 if is_scanned else len(self.runs))
            leaving = self.dead_places
            runs = [self.merged_run(number, leaving=leaving, coming=coming) for number in numbers]
            return Tables(self.layout, self.max_distance, runs)
        pairs = Pairs.joined([self.pairs, coming])
        return Tables.of(self.layout, self.max_distance, pairs, is_scanned=False)

    def merged_run(self, number: int, *, leaving: IntpArray, coming: Pairs) -> Run:
        """Make one of the tables of `merged`, counted from 0; `leaving` are places in the first."""
        run = self.runs[number]
        if number == 0:
            return run.merged(leaving, *coming)
        places = run.places_of(self.first.entries[leaving])
        return run.merged(places, coming.fingerprints)

    @property
    def pairs(self) -> Pairs:
        """The pairs that were not removed, by fingerprint."""
        fingerprints, rows = self.first.entries, self.first.rows
        if self.dead:
            gone = self.dead_places
            fingerprints, rows = np.delete(fingerprints, gone), np.delete(rows, gone)
        return Pairs(fingerprints, rows.astype(np.int64))

    def __len__(self) -> int:
        """Count the pairs that were not removed."""
        return len(self.first) - len(self.dead)

    @property
    def dead_places(self) -> IntpArray:
        """Places of the removed pairs, ascending."""
        return np.sort(np.fromiter(self.dead, np.intp, len(self.dead)))

    @property
    def nbytes(self) -> int:
        """Memory in bytes; 32 and a place in a set for every mark."""
        return sum(run.nbytes for run in self.runs) + self.dead.__sizeof__() + 32 * len(self.dead)

    def replace(self, number: int, run: Run) -> None:
        """Put another run in place of table `number`, which is not the first one (0)."""
        self.runs[number] = run
        self._ways.clear()

    def candidates(self, fingerprint: int, distance: int) -> list[UInt64Array]:
        """Return the entries that one look-up must compare, in pieces; some of them repeat.

        Requires: the tables are there (`is_scanned` is false).
        """
        one, few, many = self._ways.get(distance) or self._find_ways(distance)
        found = []
        for bits, left, right, offsets, entries in one:
            at = (fingerprint & bits) << left >> right
            found.append(entries[offsets[at] : offsets[at + 1]])
        for moves, masks, offsets, entries in few:
            key = _key(fingerprint, moves)
            for mask in masks:
                at = key ^ mask
                found.append(entries[offsets[at] : offsets[at + 1]])
        for moves, keys, run in many:
            starts, lengths = run.spans(keys ^ _key(fingerprint, moves))
            found.append(run.candidates(starts, lengths))
        return found

    def hits_of_many(
        self, asked: UInt64Array, distance: int
    ) -> Iterator[tuple[IntpArray, UInt64Array]]:
        """Yield numbers of queries and entries within the distance of them; some repeat.

        Requires: as for `candidates`.
        """
        for number, run in self._numbered():
            masks = probe_keys(self.layout, distance, number, run.directory_bits)
            together = max(_CHUNK // max(len(masks), 1), 1)
            for start in range(0, len(asked) if len(masks) else 0, together):
                queries = asked[start : start + together]
                for numbers, entries in _hits_in(run, masks, queries, distance):
                    yield numbers + start, entries

    def pairs_at(self, places: IntpArray) -> Pairs:
        """Return the pairs at some places in the first table, those left out that were removed."""
        if self.dead:
            alive = [place not in self.dead for place in places.tolist()]
            places = places[np.array(alive, bool)]
        return Pairs(self.first.entries[places], self.first.rows[places].astype(np.int64))

    def pair_at(self, place: int) -> tuple[int, int]:
        """Return the fingerprint and the row at a place in the first table, marked or not."""
        return int(self.first.entries[place]), int(self.first.rows[place])

    def spans_of(self, fingerprints: UInt64Array) -> tuple[IntpArray, IntpArray]:
        """Return where the pairs of each fingerprint begin, and how many there are."""
        entries = self.first.entries
        starts = entries.searchsorted(fingerprints)
        return starts, entries.searchsorted(fingerprints, "right") - starts

    def pairs_of(self, fingerprint: int) -> Pairs:
        """Return the pairs of one fingerprint. Cost: 1 us if there are none, else 4 us."""
        places = self._places_of(fingerprint)
        if not places:
            return NO_PAIRS
        if self.dead:
            return self.pairs_at(np.arange(places.start, places.stop))
        here = slice(places.start, places.stop)
        return Pairs(self.first.entries[here], self.first.rows[here].astype(np.int64))

    def rows_of(self, fingerprint: int) -> list[int]:
        """Return the rows of one fingerprint that were not removed."""
        rows = self.first.rows
        places = self._places_of(fingerprint)
        return [int(rows[place]) for place in places if place not in self.dead]

    def place_of(self, fingerprint: int, row: int) -> int | None:
        """Return the place of a pair that was not removed, or None if there is none."""
        places = self._places_of(fingerprint)
        if not places:
            return None
        (found,) = (self.first.rows[places.start : places.stop] == row).nonzero()
        place = places.start + int(found[0]) if len(found) else None
        return None if place in self.dead else place

    def check(self) -> None:
        """Verify each table, its place in the layout, the rows, and the marks.

        That all tables have the same entries is not so during a merge: `check_agreement`.

        Raises:
            AssertionError: it is not so.
        """
        shapes = self.layout.tables_needed(self.max_distance)
        assert len(self.runs) in (1, len(shapes)), "too few or too many tables"
        for run, shape in zip(self.runs, shapes, strict=False):
            run.check()
            assert run.permutation.order == shape.order, "a table in another order"
            assert run.prefix_bits == shape.prefix_bits, "a table with another prefix"
        entries, rows = self.first.entries, self.first.rows
        assert len(rows) == len(entries), "not one row for each entry"
        assert rows.dtype in (np.uint32, np.int64), "rows of another type"
        assert not len(rows) or rows.min() >= 0, "a negative row"
        pairs = Pairs(entries, rows.astype(np.int64))
        assert pairs.not_in(NO_PAIRS).size == len(rows), "a pair is stored twice"
        assert all(0 <= place < len(rows) for place in self.dead), "a mark on nothing"

    def check_agreement(self) -> None:
        """Verify that all tables have the entries of the first one.

        Raises:
            AssertionError: one has not.
        """
        for run in self.runs[1:]:
            assert np.array_equal(np.sort(run.entries), self.first.entries), (
                "a table with other entries than the first one"
            )

    def _places_of(self, fingerprint: int) -> range:
        # Numbers of a memoryview are Python's own: numpy would take three times as long.
        entries, end = self.first.values, len(self.first)
        start = bisect_left(entries, fingerprint)
        if start == end or entries[start] != fingerprint:
            return _NOWHERE
        return range(start, bisect_right(entries, fingerprint, start))

    def _numbered(self) -> Iterator[tuple[int, Run]]:
        """Yield each table with its number among all that the layout could have."""
        shapes = self.layout.table_shapes
        needed = [n for n, shape in enumerate(shapes) if shape.radius(self.max_distance) >= 0]
        return zip(needed, self.runs, strict=True)

    def _find_ways(self, distance: int) -> _Ways:
        """Prepare what a look-up within a distance does in each table, and keep it."""
        ways = _Ways([], [], [])
        for number, run in self._numbered():
            keys = probe_keys(self.layout, distance, number, run.directory_bits)
            candidates = len(keys) * len(run) / (1 << run.directory_bits)
            if len(keys) * _PROBE_US > _TABLE_US + candidates * _CANDIDATE_US:
                ways.many.append((run.key_moves, keys, run))
            elif keys.tolist() == [0] and len(run.key_moves) == 1:
                ways.one.append((*run.key_moves[0], run.offsets, run.entries))
            elif len(keys):
                ways.few.append((run.key_moves, keys.tolist(), run.offsets, run.entries))
        return self._ways.setdefault(distance, ways)


def sorted_run(layout: Layout, max_distance: int, pairs: Pairs, number: int) -> Run:
    """Sort pairs into one table of a layout, counted from 0; the first one has their rows."""
    shape = layout.tables_needed(max_distance)[number]
    rows = None if number else pairs.rows
    return Run.of(Permutation(shape.order), shape.prefix_bits, pairs.fingerprints, rows)


@lru_cache(maxsize=1024)
def probe_keys(layout: Layout, distance: int, table: int, directory_bits: int) -> IntpArray:
    """Return the distinct masks of directory keys, for table number `table` of the layout.

    Where the directory has fewer bits than the prefix, probes that differ only beyond them ask for
    the same entries, and are made once. Empty where the distance does not need the table.

    >>> probe_keys(Layout(4), 3, 0, 16).tolist(), len(probe_keys(Layout(4), 7, 0, 16))
    ([0], 17)
    """
    shape = layout.table_shapes[table]
    masks = np.fromiter(shape.probes(distance), np.uint64)
    permuted = Permutation(shape.order).apply_many(masks)
    keys = np.unique(permuted >> np.uint64(64 - directory_bits)).astype(np.intp)
    keys.flags.writeable = False  # shared by all who ask
    return keys


def _key(fingerprint: int, moves: tuple[Move, ...]) -> int:
    key = 0
    for mask, left, right in moves:
        key |= (fingerprint & mask) << left >> right
    return key


def _hits_in(
    run: Run, masks: IntpArray, asked: UInt64Array, distance: int
) -> Iterator[tuple[IntpArray, UInt64Array]]:
    """Yield numbers of queries and the entries of one run within the distance of them."""
    shift = np.uint64(64 - run.directory_bits)
    keys = (run.permutation.apply_many(asked) >> shift).astype(np.intp)
    starts, lengths = run.spans((keys[:, np.newaxis] ^ masks).ravel())
    ends = lengths.cumsum()
    cuts = set(ends.searchsorted(np.arange(_CHUNK, ends[-1] + _CHUNK, _CHUNK)).tolist())
    for first, last in pairwise([0, *sorted(cut + 1 for cut in cuts)]):
        pieces = lengths[first:last]
        candidates = run.candidates(starts[first:last], pieces)
        numbers = np.arange(first, first + len(pieces)) // len(masks)
        near = np.bitwise_count(candidates ^ asked[numbers].repeat(pieces)) <= distance
        places = near.nonzero()[0]
        yield numbers[pieces.cumsum().searchsorted(places, "right")], candidates[places]
