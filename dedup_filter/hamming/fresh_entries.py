"""The pairs added last, until the tables take them in.

    two arrays   fingerprints, rows        compared with every query, all of them
    SortedList   (fingerprint, row)        in the order of table 1: is a pair there? rows of one?

A SortedList for each table takes longer than comparing all (measures: docs/decisions/0005).

Cost: 0.6 us of a look-up for every thousand entries; an addition 2 us.
"""

import numpy as np
from sortedcontainers import SortedList

from dedup_filter.hamming.pairs import ROW_BITS, Pairs, Places, UInt64Array

_ENTRY_BYTES = 56
"""Of the sorted list: a number of 127 bits and its slot (measured)."""


class FreshEntries:
    """At most `capacity` distinct pairs."""

    def __init__(self, capacity: int) -> None:
        self._arrays = Pairs(np.empty(capacity, np.uint64), np.empty(capacity, np.int64))
        self._sorted: SortedList[int] = SortedList()

    @property
    def fingerprints(self) -> UInt64Array:
        """The fingerprints: a view, to be read before the next addition or removal."""
        return self._arrays.fingerprints[: len(self._sorted)]

    @property
    def pairs(self) -> Pairs:
        """All pairs: views, as `fingerprints`."""
        return Pairs(self.fingerprints, self._arrays.rows[: len(self._sorted)])

    def pairs_at(self, places: Places) -> Pairs:
        """Return the pairs at some places of the arrays, copied."""
        return Pairs(self._arrays.fingerprints[places], self._arrays.rows[places])

    def listed(self, places: Places) -> list[tuple[int, int]]:
        """Return the same as tuples: for a few, in less time."""
        fingerprints, rows = self.pairs_at(places)
        return list(zip(fingerprints.tolist(), rows.tolist(), strict=True))

    def rows_of(self, fingerprint: int) -> list[int]:
        """Return the rows of one fingerprint. Cost: a bisection."""
        first = fingerprint << ROW_BITS
        return [entry - first for entry in self._sorted.irange(first, first + (1 << ROW_BITS) - 1)]

    def add(self, fingerprint: int, row: int) -> None:
        """Add a pair. Requires: it is not there yet, and there is room."""
        place, (fingerprints, rows) = len(self._sorted), self._arrays
        fingerprints[place], rows[place] = fingerprint, row
        self._sorted.add(fingerprint << ROW_BITS | row)

    def discard(self, fingerprint: int, row: int) -> bool:
        """Remove a pair, and tell whether it was there. Cost: a comparison with all."""
        if (fingerprint, row) not in self:
            return False
        fingerprints, rows = self.pairs
        place = int(((fingerprints == np.uint64(fingerprint)) & (rows == row)).argmax())
        fingerprints[place], rows[place] = fingerprints[-1], rows[-1]
        self._sorted.remove(fingerprint << ROW_BITS | row)
        return True

    def clear(self) -> None:
        """Remove all pairs."""
        self._sorted.clear()

    def __contains__(self, pair: tuple[int, int]) -> bool:
        return pair[0] << ROW_BITS | pair[1] in self._sorted

    def __len__(self) -> int:
        return len(self._sorted)

    @property
    def nbytes(self) -> int:
        """Memory in bytes: the arrays, spare room included, and the sorted list."""
        return sum(array.nbytes for array in self._arrays) + len(self) * _ENTRY_BYTES

    def check(self) -> None:
        """Verify that sorted list and arrays hold the same pairs: else AssertionError."""
        self._sorted._check()
        pairs = zip(*(column.tolist() for column in self.pairs), strict=True)
        entries = sorted({fingerprint << ROW_BITS | row for fingerprint, row in pairs})
        assert entries == list(self._sorted), "sorted list and arrays differ"
