"""All tables of one layout, sorted once and then only read -> candidates, and their rows.

    fingerprint ─┬─ table 1: blocks A | B C D      each holds the entries that agree with
                 ├─ table 2: blocks B | A C D      the query (nearly) in its leading blocks;
                 ├─ table 3: blocks C | A B D      together they hold every entry
                 └─ table 4: blocks D | A B C      within the distance

Table 1 is in the order of the fingerprints themselves and has their rows (`RowRun`). As long as a
scan of it is quicker than the tables, it stands alone, and all its entries are candidates.

Pairs that were removed are marked, by their place in table 1, and left out of what is found;
`compaction` takes them out of the tables.

Guarantee: exact for every distance up to the one that the tables were made for. The proof is in
`table_shape`.

Cost: a look-up makes `layout.probe_count(k)` probes and compares
`layout.expected_candidates(k, n)` entries. Memory: 8 bytes an entry and table, 4 for its row, and
the directories (`Run`).
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dedup_filter.hamming.index_pairs import NO_PAIRS, IntpArray, Pairs, UInt64Array
from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.permutation import Move, Permutation
from dedup_filter.hamming.probe_keys import probe_keys
from dedup_filter.hamming.row_run import RowRun
from dedup_filter.hamming.run import Run

__all__ = ["SealedTables"]

_PROBE_US, _TABLE_US, _CANDIDATE_US = 0.38, 8.0, 0.006
"""A probe made by Python, with a slice; or numpy's calls for all probes of a table, and the place
of a candidate: which way is quicker depends on how many probes and candidates there are."""

_CHUNK = 1 << 20
"""Candidates, or probes, that a look-up of many fingerprints handles at a time: 8 MB."""

_One = tuple[int, int, int, memoryview, UInt64Array]
_Few = tuple[tuple[Move, ...], list[int], memoryview, UInt64Array]
_Many = tuple[tuple[Move, ...], IntpArray, Run]


class _Ways(NamedTuple):
    """What a look-up within a distance does in each table."""

    one: list[_One]
    """The key is one piece of the fingerprint, and no neighbour of it is asked for."""
    few: list[_Few]
    many: list[_Many]


class SealedTables:
    """The permuted tables that a layout needs for a distance; or only the first of them."""

    def __init__(
        self, layout: Layout, max_distance: int, first: RowRun, others: list[Run] | None = None
    ) -> None:
        self.layout = layout
        self.max_distance = max_distance
        self.first = first
        self.others = others or []
        self.is_scanned = not self.others
        """Whether there is only the first table, all of whose entries are candidates."""
        self.dead: set[int] = set()
        """Places, in the first table, of pairs that were removed."""
        self._ways: dict[int, _Ways] = {}

    @classmethod
    def of(
        cls, layout: Layout, max_distance: int, pairs: Pairs, *, is_scanned: bool
    ) -> "SealedTables":
        """Sort distinct pairs into tables, or only into the first one."""
        one, *more = layout.tables_needed(max_distance)
        first = RowRun.of(pairs, one.prefix_bits)
        others = [
            Run.of(Permutation(shape.order), shape.prefix_bits, first.run.entries)
            for shape in more[: 0 if is_scanned else None]
        ]
        return cls(layout, max_distance, first, others)

    @classmethod
    def empty(cls, layout: Layout, max_distance: int) -> "SealedTables":
        """Make tables without entries."""
        return cls.of(layout, max_distance, NO_PAIRS, is_scanned=True)

    @property
    def fingerprints(self) -> UInt64Array:
        """The entries of the first table, marked ones too."""
        return self.first.run.entries

    @property
    def living(self) -> int:
        """How many pairs there are that were not removed."""
        return len(self.first) - len(self.dead)

    @property
    def living_pairs(self) -> Pairs:
        """The pairs that were not removed."""
        fingerprints, rows = self.first.run.entries, self.first.rows
        if self.dead:
            gone = self.dead_places
            fingerprints, rows = np.delete(fingerprints, gone), np.delete(rows, gone)
        return Pairs(fingerprints, rows.astype(np.int64))

    @property
    def dead_places(self) -> IntpArray:
        """Places of the removed pairs, ascending."""
        return np.sort(np.fromiter(self.dead, np.intp, len(self.dead)))

    @property
    def nbytes(self) -> int:
        """Memory in bytes; 32 and a place in a set for every mark."""
        tables = self.first.nbytes + sum(run.nbytes for run in self.others)
        return tables + self.dead.__sizeof__() + 32 * len(self.dead)

    def replace(self, number: int, run: Run) -> None:
        """Put another run in place of table `number` (0: the first of the others)."""
        self.others[number] = run
        self._ways.clear()

    def forget_others(self) -> None:
        """Keep only the first table: all its entries are candidates then."""
        self.others = []
        self.is_scanned = True
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
            key = 0
            for bits, left, right in moves:
                key |= (fingerprint & bits) << left >> right
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
        return self.first.pairs_at(places)

    def rows_of(self, fingerprint: int) -> list[int]:
        """Return the rows of one fingerprint that were not removed."""
        rows = self.first.rows
        places = self.first.places_of(fingerprint)
        return [int(rows[place]) for place in places if place not in self.dead]

    def place_of(self, fingerprint: int, row: int) -> int | None:
        """Return the place of a pair that was not removed, or None if there is none."""
        place = self.first.place_of(fingerprint, row)
        return None if place in self.dead else place

    def check(self) -> None:
        """Verify each table, and that the marks are places in the first one.

        That all tables have the same entries holds between compactions only: `check_agreement`.

        Raises:
            AssertionError: it is not so.
        """
        self.first.check()
        for run in self.others:
            run.check()
        assert all(0 <= place < len(self.first) for place in self.dead), "a mark on nothing"
        shapes = self.layout.tables_needed(self.max_distance)
        runs = (self.first.run, *self.others)
        assert len(runs) in (1, len(shapes)), "too few or too many tables"
        for run, shape in zip(runs, shapes, strict=False):
            assert run.permutation.order == shape.order, "a table in another order"
            assert run.prefix_bits == shape.prefix_bits, "a table with another prefix"

    def check_agreement(self) -> None:
        """Verify that all tables have the entries of the first one.

        Raises:
            AssertionError: one has not.
        """
        for run in self.others:
            assert np.array_equal(np.sort(run.entries), self.first.run.entries), (
                "a table with other entries than the first one"
            )

    def _numbered(self) -> Iterator[tuple[int, Run]]:
        """Yield each table with its number among all that the layout could have."""
        shapes = self.layout.table_shapes
        needed = [n for n, shape in enumerate(shapes) if shape.radius(self.max_distance) >= 0]
        return zip(needed, (self.first.run, *self.others), strict=True)

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
