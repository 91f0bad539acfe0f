"""All permuted tables of one layout -> candidates of a look-up, and the pairs of its hits.

    fingerprint ─┬─ table 1: blocks A | B C D      each holds the entries that agree with
                 ├─ table 2: blocks B | A C D      the query (nearly) in its leading blocks;
                 ├─ table 3: blocks C | A B D      together they hold every entry
                 └─ table 4: blocks D | A B C      within the distance

A table is a run, fingerprints in the order of their permuted forms, and a directory in place of a
binary search: key -> where the entries begin that have it. An entry is kept as the fingerprint that
it is, as distances do not change when two are permuted alike: so the candidates of all tables are
compared with the query at once, in three numpy calls. Equal fingerprints are separate entries.

        1010  ->  |      permuted    1010 1111…
        1011  ->  |                  1011 0010…   <- directory[1011]
        1100  ->  |                  1011 1100…
                                     1100 0001…   <- directory[1100]

Table 1 is in the order of the fingerprints themselves, as its leading block is the first of the 64
bits; it alone has rows. If a scan of it is quicker than a look-up in all, it is the only one.

Nothing is ever written into arrays: they can be kept somewhere and given back (`SealedArrays`), as
they are and without a copy, also in files that are mapped into memory. A removed pair is marked by
its place in table 1, and the next merge leaves it out of the new tables.

Guarantee: exact for every distance up to the one that the tables were made for (`layout`).

Memory: 8 bytes an entry and table; 4 for its row, unless one is 2**32 or more; and 4 for each key
of a directory, at most 2 an entry.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from dedup_filter.hamming.layout import Layout, TableShape, directory_bits, moved, probe_keys
from dedup_filter.hamming.pairs import (
    FINGERPRINT_BITS,
    NO_PAIRS,
    IntpArray,
    Pairs,
    Places,
    RowArray,
    UInt64Array,
    alike_blocks,
    distinct,
    places_in,
)

Directory = npt.NDArray[np.integer]
PackedRows = npt.NDArray[np.integer]

_PROBE_US, _MET_US, _TABLE_US, _CANDIDATE_US = 0.38, 0.002, 8.0, 0.006
"""Cost of a probe by Python and of a candidate then; of all by numpy, and of a candidate then."""

_FEW_HITS = 5
"""Hits up to which Python is quicker, one by one, than numpy is for all of them."""

_SPANS, _ENTRIES = 1 << 16, 1 << 19
"""Spans that a look-up of many fingerprints finds at a time, and entries in them, about."""

_LONG = 16
"""Entries of a span from which on it is quicker copied as a row than entry by entry."""

_BLOCK = 1 << 16
"""Candidates that are compared in one call, or pairs that are passed on together; or those of one
query."""


class SealedArrays(NamedTuple):
    """A run and a directory for each table, of a small index the first only; and its rows."""

    layout: Layout
    max_distance: int
    rows: PackedRows
    runs: tuple[UInt64Array, ...]
    directories: tuple[Directory, ...]


class Run:
    """Entries of one permuted table, in its order, and where those of each key begin."""

    def __init__(self, shape: TableShape, entries: UInt64Array, directory: Directory) -> None:
        self.shape, self.entries, self.directory = shape, entries, directory
        self.bits = len(directory).bit_length() - 1
        """Of a key."""
        self.key_moves = shape.key_moves(self.bits)
        # Numbers of a memoryview are Python's own: one takes a third of numpy's time.
        self.offsets = memoryview(directory)  # type: ignore[arg-type] # Buffer: from 3.12 on

    @classmethod
    def of(cls, shape: TableShape, fingerprints: UInt64Array) -> "Run":
        """Sort fingerprints into a run. Cost: 0.1 us each."""
        permuted = shape.permuted(fingerprints)
        permuted.sort()
        bits = directory_bits(len(permuted), shape.prefix_bits)
        return cls(shape, shape.restored(permuted), _directory_of(_counts(permuted, bits)))

    def merged(self, gone: UInt64Array, coming: UInt64Array) -> "Run":
        """Make a run without the fingerprints `gone`, each as often as given, and with `coming`."""
        leaving, arriving = (np.sort(self.shape.permuted(some)) for some in (gone, coming))
        ranks = leaving.searchsorted(leaving, "right") - np.arange(len(leaving))
        left = self._places_after(leaving) - ranks
        places = self._places_after(arriving)
        places -= left.searchsorted(places)
        staying = np.delete(self.entries, left) if len(left) else self.entries
        entries = np.insert(staying, places, self.shape.restored(arriving))
        bits = directory_bits(len(entries), self.shape.prefix_bits)
        if bits == self.bits:
            counts = np.diff(self.directory).astype(np.intp)
        else:
            counts = _counts(self.shape.permuted(self.entries), bits)
        np.add.at(counts, _keys(arriving, bits), 1)
        np.subtract.at(counts, _keys(leaving, bits), 1)
        return Run(self.shape, entries, _directory_of(counts))

    def spans(self, keys: IntpArray) -> tuple[IntpArray, IntpArray]:
        """Return where the entries of each key begin, and how many there are."""
        starts: IntpArray = self.directory[keys].astype(np.intp)
        lengths: IntpArray = self.directory[keys + 1].astype(np.intp) - starts
        return starts, lengths

    def hits_of_many(
        self, asked: UInt64Array, distance: int
    ) -> Iterator[tuple[IntpArray, UInt64Array]]:
        """Yield numbers of queries and the entries here within the distance, each pair once.

        The queries are taken in the order of the run. For each probe they pass over it once.
        """
        probes = probe_keys(self.shape, distance, self.bits)
        permuted = self.shape.permuted(asked)
        order = permuted.argsort()
        keys = _keys(permuted[order], self.bits)
        spans = min(max((_ENTRIES << self.bits) // max(len(self.entries), 1), 1), _SPANS)
        # So few queries that what one probe finds for them stays in the processor's cache.
        most = min(max(len(asked) * _ENTRIES // max(len(self.entries), 1), 1), spans)
        for begin in range(0, len(asked), most):
            numbers = order[begin : begin + most]
            together = spans // len(numbers)
            for first in range(0, len(probes), together):
                some = probes[first : first + together, np.newaxis]
                starts, lengths = self.spans((keys[begin : begin + most] ^ some).ravel())
                owners = np.broadcast_to(numbers, (len(some), len(numbers))).ravel()
                yield from self._compared(asked, owners, starts, lengths, distance)

    def _compared(
        self,
        asked: UInt64Array,
        owners: IntpArray,
        starts: IntpArray,
        lengths: IntpArray,
        distance: int,
    ) -> Iterator[tuple[IntpArray, UInt64Array]]:
        """Compare each owner's query with the entries of its span; those of like size together.

        The shorter spans are read beyond their ends, and what is found there is dropped.
        """
        # 16 bits are sorted by counting, in a tenth of the time.
        order = np.minimum(lengths, 0xFFFF).astype(np.uint16).argsort(kind="stable")
        starts, lengths, owners = starts[order], lengths[order], owners[order]
        for some in alike_blocks(lengths, _BLOCK):
            begins, sizes, queries = starts[some], lengths[some], owners[some]
            longest, values = int(sizes.max()), asked[queries]
            if longest >= _LONG and begins.max() + longest <= len(self.entries):
                found = _windows(self.entries, longest)[begins]
                found ^= values[:, np.newaxis]
                span, number = _near(found, distance)
            else:
                places = begins + np.arange(longest)[:, np.newaxis]
                number, span = _near(self.entries.take(places, mode="clip") ^ values, distance)
            real = number < sizes[span]
            span, number = span[real], number[real]
            if len(span):
                yield queries[span], self.entries[begins[span] + number]

    def _places_after(self, permuted: UInt64Array) -> IntpArray:
        """Count, for each permuted form, the entries whose permuted form is not greater."""
        low, lengths = self.spans(_keys(permuted, self.bits))
        high = low + lengths
        while (is_open := low < high).any():
            middle = (low + high) // 2
            entries = self.shape.permuted(self.entries.take(middle, mode="clip"))
            is_after = entries <= permuted
            low = np.where(is_open & is_after, middle + 1, low)
            high = np.where(is_open & ~is_after, middle, high)
        return low


class Tables:
    """The permuted tables that a layout needs for a distance; or only the first of them."""

    def __init__(
        self, layout: Layout, max_distance: int, runs: list[Run], rows: PackedRows
    ) -> None:
        self.layout, self.max_distance = layout, max_distance
        self.runs, self.rows = runs, rows
        self.entries = runs[0].entries
        """Of the first table: the fingerprints in ascending order, each with its row."""
        self.is_scanned = len(runs) < len(layout.tables_needed(max_distance))
        """Whether tables were left out: then all entries of the first one are candidates."""
        self.dead_count = 0
        self._dead = np.zeros(len(rows), bool)
        """Which pairs, by their places in the first table, were removed."""
        # Numbers of a memoryview are Python's own: a bisection takes a third of numpy's time.
        self._numbers = memoryview(self.entries)  # type: ignore[arg-type] # Buffer: from 3.12 on
        self._row_numbers = memoryview(rows)  # type: ignore[arg-type]
        self._ways: dict[int, list[tuple[Run, list[int] | IntpArray]]] = {}

    @classmethod
    def of(cls, layout: Layout, max_distance: int, pairs: Pairs, *, is_scanned: bool) -> "Tables":
        """Sort distinct pairs into tables, or only into the first one."""
        order = pairs.fingerprints.argsort(kind="stable")
        fingerprints = pairs.fingerprints[order]
        shapes = _shapes(layout, max_distance, is_scanned=is_scanned)
        runs = [Run.of(shape, fingerprints) for shape in shapes]
        return cls(layout, max_distance, runs, _packed(pairs.rows[order]))

    @classmethod
    def of_sealed(cls, sealed: SealedArrays) -> "Tables":
        """Make tables that use given arrays; errors as for `HammingIndex.from_sealed`."""
        layout, max_distance, rows, entries, directories = sealed
        layout.require_exact(max_distance)
        shapes = layout.tables_needed(max_distance)
        if len(entries) not in (1, len(shapes)) or len(directories) != len(entries):
            raise ValueError(f"{layout} needs 1 or {len(shapes)} runs, each with its directory")
        if rows.ndim != 1 or rows.dtype not in (np.uint32, np.int64):
            raise ValueError(f"rows are uint32 or int64, not {rows.dtype} of shape {rows.shape}")
        runs = []
        for shape, run, directory in zip(shapes, entries, directories, strict=False):
            bits = len(directory).bit_length() - 1
            is_run = run.dtype == np.uint64 and run.shape == rows.shape
            is_whole = directory.dtype.kind == "i" and len(directory) == (1 << bits) + 1
            is_directory = is_whole and bits <= shape.prefix_bits and directory[-1] == len(rows)
            if not is_run or not is_directory or not bits:
                raise ValueError(f"no run, or no directory, of {len(rows)} rows")
            # asarray: slices of a numpy.memmap take eight times as long as those of an array
            runs.append(Run(shape, np.asarray(run), np.asarray(directory)))
        return cls(layout, max_distance, runs, np.asarray(rows))

    def sealed(self) -> SealedArrays:
        """Show the arrays. Requires: no marks."""
        runs, directories = zip(*((run.entries, run.directory) for run in self.runs), strict=True)
        return SealedArrays(self.layout, self.max_distance, self.rows, runs, directories)

    def merged(
        self, layout: Layout, coming: Pairs, *, is_scanned: bool
    ) -> Iterator["Tables | None"]:
        """Make tables with more pairs, which are not there yet, and without those marked.

        Yields None after each table, and then all. Requires: nothing is removed meanwhile.
        """
        count = len(_shapes(layout, self.max_distance, is_scanned=is_scanned))
        is_alike = layout == self.layout and count == len(self.runs)
        if not is_alike or coming.size > len(self) // 2:  # to sort all of it is the quicker then
            pairs = Pairs.joined([self.pairs, coming])
            yield Tables.of(layout, self.max_distance, pairs, is_scanned=is_scanned)
            return
        left = self._dead.nonzero()[0]
        runs = []
        for run in self.runs:
            runs.append(run.merged(self.entries[left], coming.fingerprints))
            yield None
        order = coming.fingerprints.argsort(kind="stable")
        places = self.entries.searchsorted(coming.fingerprints[order], "right")
        places -= left.searchsorted(places)
        rows = np.delete(self.rows, left) if len(left) else self.rows
        arriving = _packed(coming.rows[order])
        rows = rows.astype(np.result_type(rows, arriving), copy=False)
        yield Tables(layout, self.max_distance, runs, np.insert(rows, places, arriving))

    @property
    def pairs(self) -> Pairs:
        """The pairs that were not removed, by fingerprint."""
        return self.pairs_at(slice(None))

    def __len__(self) -> int:
        """Count the pairs that were not removed."""
        return len(self.rows) - self.dead_count

    @property
    def nbytes(self) -> int:
        """Memory in bytes; a mark takes a page of it, as the others were never written."""
        arrays = (array for run in self.runs for array in (run.entries, run.directory))
        return self.rows.nbytes + sum(array.nbytes for array in arrays)

    def candidates(self, fingerprint: int, distance: int) -> list[UInt64Array]:
        """Return the entries that a look-up by all tables compares, in pieces; some repeat."""
        found = []
        for run, probes in self._ways.get(distance) or self._find_ways(distance):
            key, entries, offsets = moved(fingerprint, run.key_moves), run.entries, run.offsets
            if isinstance(probes, list):
                for probe in probes:
                    at = key ^ probe
                    found.append(entries[offsets[at] : offsets[at + 1]])
            else:
                found.append(entries.take(places_in(*run.spans(probes ^ key))))
        return found

    def within_blocks(self, asked: UInt64Array, distance: int) -> Iterator[tuple[IntpArray, Pairs]]:
        """Yield the pairs within a distance of many fingerprints, and each pair's query.

        Each once: a table passes on what no earlier one finds, so nothing need be remembered.
        """
        if self.is_scanned:
            together = max(_BLOCK // max(len(self.entries), 1), 1)
            for begin in range(0, len(asked), together):
                queries = asked[begin : begin + together, np.newaxis]
                owners, places = (np.bitwise_count(self.entries ^ queries) <= distance).nonzero()
                yield self._alive(owners + begin, places)
            return
        for number, run in enumerate(self.runs):
            earlier = [each.shape for each in self.runs[:number]]
            for owners, hits in run.hits_of_many(asked, distance):
                differing = hits ^ asked[owners]
                is_new = run.shape.finds(differing, distance)
                for shape in earlier:
                    is_new &= ~shape.finds(differing, distance)
                # Equal fingerprints are entries of their own, and each has the rows of all.
                found = Pairs(hits[is_new], owners[is_new]).not_in(NO_PAIRS)
                starts, lengths = self._spans_of(found.fingerprints)
                for some in _cut(lengths):
                    places = places_in(starts[some], lengths[some])
                    yield self._alive(found.rows[some].repeat(lengths[some]), places)

    def _alive(self, owners: IntpArray, places: IntpArray) -> tuple[IntpArray, Pairs]:
        return owners[~self._dead[places]], self.pairs_at(places)

    def pairs_at(self, places: Places | slice) -> Pairs:
        """Return the pairs at some places in the first table, those left out that were removed."""
        fingerprints, rows = self.entries[places], self.rows[places]
        if self.dead_count:
            alive = ~self._dead[places]
            fingerprints, rows = fingerprints[alive], rows[alive]
        return Pairs(fingerprints, rows.astype(np.int64))

    def listed(self, places: Places) -> list[tuple[int, int]]:
        """Return the same as tuples: for a few, in a fifth of the time."""
        fingerprints, rows, dead = self._numbers, self._row_numbers, self._dead
        some = places if isinstance(places, list) else places.tolist()
        return [(fingerprints[place], rows[place]) for place in some if not dead[place]]

    def places_of(self, fingerprints: UInt64Array) -> Places:
        """Return the places of some fingerprints in the first table, each once."""
        if len(fingerprints) > _FEW_HITS:
            return places_in(*self._spans_of(distinct(fingerprints)))
        spans = map(self._span_of, set(fingerprints.tolist()))
        return [place for span in spans for place in range(span.start, span.stop)]

    def rows_of(self, fingerprint: int) -> list[int]:
        """Return the rows of one fingerprint, those left out that were removed. Cost: 2 us."""
        here = self._span_of(fingerprint)
        return [row for _, row in self.listed([*range(here.start, here.stop)])]

    def __contains__(self, pair: tuple[int, int]) -> bool:
        here = self._span_of(pair[0])
        return here.start < here.stop and pair[1] in self.pairs_at(here).rows

    def discard(self, fingerprint: int, row: int) -> bool:
        """Remove a pair, and tell whether it was there."""
        here = self._span_of(fingerprint)
        is_it = (self.rows[here] == row) & ~self._dead[here]
        self._dead[here] |= is_it
        self.dead_count += int(is_it.sum())
        return bool(is_it.any())

    def check(self) -> None:
        """Verify each table, that they agree, and the rows and marks: else AssertionError."""
        shapes = self.layout.tables_needed(self.max_distance)
        assert len(self.runs) in (1, len(shapes)), "too few or too many tables"
        for run, shape in zip(self.runs, shapes, strict=False):
            anew = Run.of(shape, self.entries)
            assert np.array_equal(run.entries, anew.entries), "a table with other entries"
            assert np.array_equal(run.directory, anew.directory), "a wrong directory"
        pairs = Pairs(self.entries, self.rows.astype(np.int64))
        assert pairs.not_in(NO_PAIRS).size == len(self.entries), "not one row for each entry"
        assert not pairs.size or pairs.rows.min() >= 0, "a negative row"
        assert np.count_nonzero(self._dead) == self.dead_count, "marks that were not counted"

    def _span_of(self, fingerprint: int) -> slice:
        """Return where the pairs of one fingerprint are, or would be. Cost: 1 us."""
        numbers = self._numbers
        start = bisect_left(numbers, fingerprint)
        if start == len(numbers) or numbers[start] != fingerprint:
            return slice(start, start)
        return slice(start, bisect_right(numbers, fingerprint, start))

    def _spans_of(self, fingerprints: UInt64Array) -> tuple[IntpArray, IntpArray]:
        """Return where the pairs of each fingerprint begin, and how many there are."""
        starts = self.entries.searchsorted(fingerprints)
        return starts, self.entries.searchsorted(fingerprints, "right") - starts

    def _find_ways(self, distance: int) -> list[tuple[Run, list[int] | IntpArray]]:
        """Prepare what a look-up probes in each table: a list of few, an array for numpy."""
        ways: list[tuple[Run, list[int] | IntpArray]] = []
        for run in self.runs:
            probes = probe_keys(run.shape, distance, run.bits)
            met = len(probes) * len(run.entries) / (1 << run.bits)
            is_many = len(probes) * _PROBE_US + met * _MET_US > _TABLE_US + met * _CANDIDATE_US
            ways.append((run, probes if is_many else probes.tolist()))
        return self._ways.setdefault(distance, ways)


def _shapes(layout: Layout, max_distance: int, *, is_scanned: bool) -> tuple[TableShape, ...]:
    """Return the tables to be made: all that are needed, or only the first, to be scanned."""
    return layout.tables_needed(max_distance)[: 1 if is_scanned else None]


def _counts(permuted: UInt64Array, bits: int) -> IntpArray:
    """Count the entries of each key."""
    return np.bincount(_keys(permuted, bits), minlength=1 << bits)


def _windows(entries: UInt64Array, length: int) -> UInt64Array:
    """Return a view with a row of so many entries for each that is followed by as many."""
    return as_strided(entries, (len(entries) - length + 1, length), entries.strides * 2)


def _near(differing: UInt64Array, distance: int) -> tuple[IntpArray, IntpArray]:
    """Return rows and columns of an array in which at most so many bits are set."""
    near = (np.bitwise_count(differing) <= distance).ravel().nonzero()[0]
    row, column = np.divmod(near, differing.shape[1])
    return row, column


def _cut(sizes: IntpArray) -> Iterator[slice]:
    """Cut sizes into pieces of some `_BLOCK` in all."""
    full = np.flatnonzero(np.diff(sizes.cumsum() // _BLOCK)) + 1
    for first, last in pairwise([0, *full.tolist(), len(sizes)]):
        yield slice(first, last)


def _directory_of(counts: npt.NDArray[np.integer]) -> Directory:
    """Add up how many entries each key has to where they begin."""
    ends = counts.cumsum()
    directory = np.zeros(len(counts) + 1, np.int32 if ends[-1] < 2**31 else np.int64)
    directory[1:] = ends
    return directory


def _keys(permuted: UInt64Array, bits: int) -> IntpArray:
    keys: IntpArray = (permuted >> np.uint64(FINGERPRINT_BITS - bits)).astype(np.intp)
    return keys


def _packed(rows: RowArray) -> PackedRows:
    """Return rows in 4 bytes each if they fit."""
    fit = not len(rows) or int(rows.max()) < 2**32
    return rows.astype(np.uint32 if fit else np.int64)
