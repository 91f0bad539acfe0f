"""The fingerprints in their own order, each with its row: the one place where rows are.

    entries   3 5 5 5 9        a pair is an entry and the row beside it;
    rows      8 0 7 4 2        a fingerprint of several rows is there several times

It is the first table of every layout, as its leading block is the first of the 64 bits, and it
answers what the other tables cannot: which rows have a fingerprint, and whether a pair is stored.
Rows take 4 bytes as long as none is 2**32 or more.

Manku, Jain and Das Sarma (2007) keep this mapping apart from the permuted tables; beside one of
them it costs 4 bytes a fingerprint, where a dict costs 150.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Generator

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.index_pairs import NO_PAIRS, IntpArray, Pairs, RowArray, UInt64Array
from dedup_filter.hamming.merging import NewRun, pieces
from dedup_filter.hamming.permutation import Permutation
from dedup_filter.hamming.run import Run

__all__ = ["RowRun", "packed_rows"]

PackedRows = npt.NDArray[np.integer]

_UNCHANGED = Permutation(range(63, -1, -1))
_SMALL_ROWS = 2**32
_NOWHERE = range(0)


class RowRun:
    """Pairs of fingerprint and row, sorted by fingerprint."""

    def __init__(self, run: Run, rows: PackedRows) -> None:
        self.run = run
        self.rows = rows

    @classmethod
    def of(cls, pairs: Pairs, prefix_bits: int) -> "RowRun":
        """Sort pairs. Requires: distinct pairs."""
        order = pairs.fingerprints.argsort(kind="stable")
        run = Run.of(_UNCHANGED, prefix_bits, pairs.fingerprints)
        return cls(run, packed_rows(pairs.rows[order]))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """Memory of the arrays in bytes."""
        return self.run.nbytes + self.rows.nbytes

    def pairs_at(self, places: IntpArray) -> Pairs:
        """Return the pairs at some places."""
        return Pairs(self.run.entries[places], self.rows[places].astype(np.int64))

    def pair_at(self, place: int) -> tuple[int, int]:
        """Return the fingerprint and the row at a place."""
        return int(self.run.entries[place]), int(self.rows[place])

    def spans_of(self, fingerprints: UInt64Array) -> tuple[IntpArray, IntpArray]:
        """Return where the pairs of each fingerprint begin, and how many there are.

        Cost: two binary searches each.
        """
        entries = self.run.entries
        starts = entries.searchsorted(fingerprints)
        return starts, entries.searchsorted(fingerprints, "right") - starts

    def pairs_of(self, fingerprint: int) -> Pairs:
        """Return the pairs of one fingerprint. Cost: 1 us if there are none, else 4 us."""
        places = self.places_of(fingerprint)
        if not places:
            return NO_PAIRS
        start, end = places.start, places.stop
        return Pairs(self.run.entries[start:end], self.rows[start:end].astype(np.int64))

    def places_of(self, fingerprint: int) -> range:
        """Return the places of one fingerprint."""
        # Numbers of a memoryview are Python's own: numpy would take three times as long.
        entries, end = self.run.values, len(self.rows)
        start = bisect_left(entries, fingerprint)
        if start == end or entries[start] != fingerprint:
            return _NOWHERE
        return range(start, bisect_right(entries, fingerprint, start))

    def place_of(self, fingerprint: int, row: int) -> int | None:
        """Return the place of a pair, or None if it is not there."""
        places = self.places_of(fingerprint)
        if not places:
            return None
        found = (self.rows[places.start : places.stop] == row).nonzero()[0]
        return places.start + int(found[0]) if len(found) else None

    def merged(
        self, added: Pairs, removed: IntpArray, prefix_bits: int
    ) -> Generator[None, None, "RowRun"]:
        """Make a new one with more pairs, and without those at some (ascending) places.

        In steps, as `dedup_filter.hamming.merging.merged`. Requires: no pair is added twice.
        """
        order = added.fingerprints.argsort(kind="stable")
        coming, coming_rows = added.fingerprints[order], packed_rows(added.rows[order])
        new = NewRun(_UNCHANGED, prefix_bits, len(self) + len(coming) - len(removed))
        rows = np.empty(new.capacity, np.result_type(self.rows, coming_rows))
        for start, end, least, most in pieces(self.run):
            entries, here = self.run.entries[start:end], self.rows[start:end]
            gone = removed[removed.searchsorted(start) : removed.searchsorted(end)] - start
            if len(gone):
                entries, here = np.delete(entries, gone), np.delete(here, gone)
            first = coming.searchsorted(np.uint64(least))
            last = coming.searchsorted(np.uint64(most), "right")
            if first < last:
                places = entries.searchsorted(coming[first:last], "right")
                entries = np.insert(entries, places, coming[first:last])
                here = np.insert(here.astype(rows.dtype), places, coming_rows[first:last])
            rows[len(new) : len(new) + len(here)] = here
            new.extend(entries, entries)
            yield
        return RowRun(new.finish(), rows)

    def check(self) -> None:
        """Verify the order of the fingerprints, and that no pair is there twice.

        Raises:
            AssertionError: it is not so.
        """
        assert self.run.permutation.is_identity, "fingerprints in another order than their own"
        self.run.check()
        assert len(self.rows) == len(self.run), "not one row for each entry"
        assert self.rows.dtype in (np.uint32, np.int64), "rows of another type"
        assert not len(self.rows) or self.rows.min() >= 0, "a negative row"
        order = np.lexsort((self.rows, self.run.entries))
        entries, rows = self.run.entries[order], self.rows[order]
        twice = (entries[1:] == entries[:-1]) & (rows[1:] == rows[:-1])
        assert not twice.any(), "a pair is stored twice"


def packed_rows(rows: RowArray) -> PackedRows:
    """Return rows in 4 bytes each if they fit."""
    fit = not len(rows) or int(rows.max()) < _SMALL_ROWS
    return rows.astype(np.uint32 if fit else np.int64)
