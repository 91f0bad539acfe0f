"""All permuted tables of one layout -> candidates of a look-up, and the rows of its hits.

    fingerprint ─┬─ table 1: blocks A | B C D      each holds the entries that agree with
                 ├─ table 2: blocks B | A C D      the query (nearly) in its leading blocks;
                 ├─ table 3: blocks C | A B D      together they hold every entry
                 └─ table 4: blocks D | A B C      within the distance

Table 1 is in the order of the fingerprints themselves, as its leading block is the first of the 64
bits; it alone has rows. If a scan of it is quicker than a look-up in all tables, it is the only
one, and all its entries are candidates.

A removed pair is marked by its place in table 1, and look-ups leave it out; the next merge leaves
it out of the new tables.

The arrays of tables can be kept somewhere and given back (`SealedArrays`), as they are and without
a copy, so they may lie in files that are mapped into memory; nothing ever writes into them.

Guarantee: exact for every distance up to the one that the tables were made for (`layout`).

Memory: 8 bytes an entry and table, 4 for its row, and the directories (`permuted_table`).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.pairs import NO_PAIRS, IntpArray, Pairs, UInt64Array
from dedup_filter.hamming.permuted_table import Directory, Move, PackedRows, Permutation, Run, moved

__all__ = ["SealedArrays", "Tables", "probe_keys"]

_PROBE_US, _TABLE_US, _CANDIDATE_US = 0.38, 8.0, 0.006
"""The cost of one probe by Python, with a slice; or of numpy's calls for all probes of a table, and
of each candidate then. The quicker way is taken for each table."""

_CHUNK = 1 << 20
"""Candidates, or probes, that a look-up of many fingerprints handles at a time: 8 MB."""

_NOWHERE = range(0)


class SealedArrays(NamedTuple):
    """One run and one directory a table, and the rows of the first.

    A small index has only the first of its layout's tables. Derived data: whoever has the pairs
    can make them again (`HammingIndex.add_many`).
    """

    layout: Layout
    max_distance: int
    rows: PackedRows
    runs: tuple[UInt64Array, ...]
    directories: tuple[Directory, ...]


class _Ways(NamedTuple):
    """What a look-up within a distance does in each table."""

    few: list[tuple[tuple[Move, ...], list[int], memoryview, UInt64Array]]
    """Moves that make a key, masks of neighbouring keys, and the run's directory and entries."""
    many: list[tuple[Run, IntpArray]]


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
        """Sort distinct pairs into tables, or only into the first one, which gets their rows."""
        first, *others = layout.tables_needed(max_distance)
        fingerprints, rows = pairs
        runs = [Run.of(Permutation(first.order), first.prefix_bits, fingerprints, rows)]
        runs += [
            Run.of(Permutation(shape.order), shape.prefix_bits, fingerprints)
            for shape in (() if is_scanned else others)
        ]
        return cls(layout, max_distance, runs)

    @classmethod
    def empty(cls, layout: Layout, max_distance: int) -> "Tables":
        """Make tables without entries."""
        return cls.of(layout, max_distance, NO_PAIRS, is_scanned=True)

    @classmethod
    def of_sealed(cls, sealed: SealedArrays) -> "Tables":
        """Make tables that use given arrays.

        Verifies shapes and types at once; for the contents there is `check`.

        Raises:
            ConfigError: the layout cannot be exact for the distance.
            ValueError: the arrays cannot be those of such tables.
        """
        layout, max_distance, rows, runs, directories = sealed
        layout.require_exact(max_distance)
        shapes = layout.tables_needed(max_distance)
        if len(runs) not in (1, len(shapes)) or len(directories) != len(runs):
            raise ValueError(
                f"{layout!r} needs 1 or {len(shapes)} runs with as many directories, not "
                f"{len(runs)} and {len(directories)}"
            )
        if rows.ndim != 1 or rows.dtype not in (np.uint32, np.int64):
            raise ValueError(f"rows are uint32 or int64, not {rows.dtype} of shape {rows.shape}")
        made = []
        for shape, entries, directory in zip(shapes, runs, directories, strict=False):
            if entries.dtype != np.uint64 or entries.shape != rows.shape:
                raise ValueError(
                    f"a run of {len(rows)} rows is uint64 of shape {rows.shape}, not "
                    f"{entries.dtype} of shape {entries.shape}"
                )
            _require_directory(directory, len(rows), shape.prefix_bits)
            # asarray: slices of a numpy.memmap take eight times as long as those of an array
            arrays = np.asarray(entries), np.asarray(directory)
            made.append(Run(Permutation(shape.order), shape.prefix_bits, *arrays))
        made[0].rows = np.asarray(rows)
        return cls(layout, max_distance, made)

    def sealed(self) -> SealedArrays:
        """Show the arrays. Requires: no marks."""
        return SealedArrays(
            self.layout,
            self.max_distance,
            self.first.rows,
            tuple(run.entries for run in self.runs),
            tuple(run.directory for run in self.runs),
        )

    def merged(self, coming: Pairs, *, is_scanned: bool) -> "Tables":
        """Make tables with more pairs, and without those that are marked.

        Requires: no pair that comes is there, unless it is marked.
        """
        if self.is_scanned and not is_scanned:
            pairs = Pairs.joined([self.pairs, coming])
            return Tables.of(self.layout, self.max_distance, pairs, is_scanned=False)
        gone = self.first.entries[self.dead_places]
        others = [] if is_scanned else self.runs[1:]
        runs = [self.first.merged(self.dead_places, *coming)]
        runs += [run.merged(run.places_of(gone), coming.fingerprints) for run in others]
        return Tables(self.layout, self.max_distance, runs)

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

    def candidates(self, fingerprint: int, distance: int) -> list[UInt64Array]:
        """Return the entries that one look-up must compare, in pieces; some of them repeat.

        Requires: the tables are there (`is_scanned` is false).
        """
        few, many = self._ways.get(distance) or self._find_ways(distance)
        found = []
        for moves, masks, offsets, entries in few:
            key = moved(fingerprint, moves)
            for mask in masks:
                at = key ^ mask
                found.append(entries[offsets[at] : offsets[at + 1]])
        for run, keys in many:
            key = moved(fingerprint, run.key_moves)
            found.append(run.candidates(*run.spans(keys ^ key)))
        return found

    def hits_of_many(
        self, asked: UInt64Array, distance: int
    ) -> Iterator[tuple[IntpArray, UInt64Array]]:
        """Yield numbers of queries and entries within the distance of them; some repeat.

        Requires: as for `candidates`.
        """
        for run, masks in self._probed(distance):
            together = max(_CHUNK // len(masks), 1)
            for start in range(0, len(asked), together):
                queries = asked[start : start + together]
                for numbers, entries in _hits_in(run, masks, queries, distance):
                    yield numbers + start, entries

    def pairs_at(self, places: IntpArray) -> Pairs:
        """Return the pairs at some places in the first table, those left out that were removed."""
        if self.dead:
            alive = [place not in self.dead for place in places.tolist()]
            places = places[np.array(alive, bool)]
        return Pairs(self.first.entries[places], self.first.rows[places].astype(np.int64))

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
        """Verify each table, that they agree, and the rows and marks.

        Raises:
            AssertionError: it is not so.
        """
        shapes = self.layout.tables_needed(self.max_distance)
        assert len(self.runs) in (1, len(shapes)), "too few or too many tables"
        entries, rows = self.first.entries, self.first.rows
        for run, shape in zip(self.runs, shapes, strict=False):
            run.check()
            assert run.permutation.order == shape.order, "a table in another order"
            assert run.prefix_bits == shape.prefix_bits, "a table with another prefix"
            assert np.array_equal(np.sort(run.entries), entries), "a table with other entries"
        assert len(rows) == len(entries), "not one row for each entry"
        assert rows.dtype in (np.uint32, np.int64), "rows of another type"
        assert not len(rows) or rows.min() >= 0, "a negative row"
        pairs = Pairs(entries, rows.astype(np.int64))
        assert pairs.not_in(NO_PAIRS).size == len(rows), "a pair is stored twice"
        assert all(0 <= place < len(rows) for place in self.dead), "a mark on nothing"

    def _places_of(self, fingerprint: int) -> range:
        # Numbers of a memoryview are Python's own: numpy would take three times as long.
        entries, end = self.first.values, len(self.first)
        start = bisect_left(entries, fingerprint)
        if start == end or entries[start] != fingerprint:
            return _NOWHERE
        return range(start, bisect_right(entries, fingerprint, start))

    def _probed(self, distance: int) -> Iterator[tuple[Run, IntpArray]]:
        """Yield each table that the distance needs, with the keys to be flipped in it."""
        shapes = self.layout.table_shapes
        needed = [n for n, shape in enumerate(shapes) if shape.radius(self.max_distance) >= 0]
        for number, run in zip(needed, self.runs, strict=True):
            keys = probe_keys(self.layout, distance, number, run.directory_bits)
            if len(keys):
                yield run, keys

    def _find_ways(self, distance: int) -> _Ways:
        """Prepare what a look-up within a distance does in each table, and keep it."""
        ways = _Ways([], [])
        for run, keys in self._probed(distance):
            candidates = len(keys) * len(run) / (1 << run.directory_bits)
            if len(keys) * _PROBE_US > _TABLE_US + candidates * _CANDIDATE_US:
                ways.many.append((run, keys))
            else:
                ways.few.append((run.key_moves, keys.tolist(), run.offsets, run.entries))
        return self._ways.setdefault(distance, ways)


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


def _require_directory(directory: Directory, count: int, prefix_bits: int) -> None:
    bits = (len(directory) - 1).bit_length() - 1
    if directory.ndim != 1 or directory.dtype not in (np.int32, np.int64):
        raise ValueError(f"a directory is int32 or int64 in one row, not {directory.dtype}")
    if not 1 <= bits <= prefix_bits or len(directory) != (1 << bits) + 1:
        raise ValueError(f"a directory has 2**bits + 1 numbers, not {len(directory)}")
    if int(directory[0]) != 0 or int(directory[-1]) != count:
        raise ValueError(f"a directory of {count} entries ends with {directory[-1]}")


def _hits_in(
    run: Run, masks: IntpArray, asked: UInt64Array, distance: int
) -> Iterator[tuple[IntpArray, UInt64Array]]:
    """Yield numbers of queries and the entries of one run within the distance of them."""
    starts, lengths = run.spans((run.keys(asked)[:, np.newaxis] ^ masks).ravel())
    ends = lengths.cumsum()
    cuts = set(ends.searchsorted(np.arange(_CHUNK, ends[-1] + _CHUNK, _CHUNK)).tolist())
    for first, last in pairwise([0, *sorted(cut + 1 for cut in cuts)]):
        pieces = lengths[first:last]
        candidates = run.candidates(starts[first:last], pieces)
        numbers = np.arange(first, first + len(pieces)) // len(masks)
        near = np.bitwise_count(candidates ^ asked[numbers].repeat(pieces)) <= distance
        places = near.nonzero()[0]
        yield numbers[pieces.cumsum().searchsorted(places, "right")], candidates[places]
