"""The pairs added last: kept sorted until the tables take them in, and compared with every query.

    two arrays   fingerprints, rows     compared with every query, in the same numpy calls as the
                                        candidates of the tables
    SortedDict   fingerprint -> rows    is a pair there?  which rows have a fingerprint?
                                        all of them in order, for the tables

A SortedList for each table takes longer than comparing all (measures: docs/decisions/0005).

Cost: 0.6 us of a look-up for every thousand entries; an addition 2 us.
"""

from itertools import chain

import numpy as np
from sortedcontainers import SortedDict

from dedup_filter.hamming.pairs import IntpArray, Pairs, UInt64Array

__all__ = ["FreshEntries"]

_ENTRY_BYTES = 200
"""Of the sorted dict: a fingerprint, a tuple of one row, and their slots (measured)."""


class FreshEntries:
    """At most `capacity` distinct pairs.

    >>> fresh = FreshEntries(100)
    >>> fresh.add(0b1011, 7)
    >>> (0b1011, 7) in fresh, (0b1011, 8) in fresh
    (True, False)
    """

    __slots__ = ("_count", "_fingerprints", "_known", "_rows")

    def __init__(self, capacity: int) -> None:
        self._fingerprints = np.empty(capacity, np.uint64)
        self._rows = np.empty(capacity, np.int64)
        self._known: SortedDict[int, tuple[int, ...]] = SortedDict()
        self._count = 0

    @property
    def fingerprints(self) -> UInt64Array:
        """The fingerprints: a view, to be read before the next addition or removal."""
        return self._fingerprints[: self._count]

    @property
    def pairs(self) -> Pairs:
        """All pairs, ascending by fingerprint, copied. Cost: 0.3 us each."""
        counts = np.fromiter(map(len, self._known.values()), np.intp, len(self._known))
        distinct = np.fromiter(self._known, np.uint64, len(self._known))
        rows = np.fromiter(chain.from_iterable(self._known.values()), np.int64, self._count)
        return Pairs(np.repeat(distinct, counts), rows)

    def pairs_at(self, places: IntpArray) -> Pairs:
        """Return the pairs at some places of the arrays, copied."""
        return Pairs(self._fingerprints[places], self._rows[places])

    def rows_of(self, fingerprint: int) -> tuple[int, ...]:
        """Return the rows of one fingerprint, in no order."""
        rows: tuple[int, ...] = self._known.get(fingerprint, ())
        return rows

    def add(self, fingerprint: int, row: int) -> None:
        """Add a pair. Requires: it is not there yet, and there is room."""
        self._fingerprints[self._count] = fingerprint
        self._rows[self._count] = row
        self._count += 1
        rows = self._known.get(fingerprint)
        self._known[fingerprint] = (row,) if rows is None else (*rows, row)

    def discard(self, fingerprint: int, row: int) -> bool:
        """Remove a pair, and tell whether it was there. Cost: a comparison with all."""
        if (fingerprint, row) not in self:
            return False
        left = tuple(other for other in self._known[fingerprint] if other != row)
        if left:
            self._known[fingerprint] = left
        else:
            del self._known[fingerprint]
        fingerprints, rows = self.fingerprints, self._rows[: self._count]
        place = int(((fingerprints == np.uint64(fingerprint)) & (rows == row)).argmax())
        fingerprints[place], rows[place] = fingerprints[-1], rows[-1]
        self._count -= 1
        return True

    def clear(self) -> None:
        """Remove all pairs."""
        self._known.clear()
        self._count = 0

    def __contains__(self, pair: tuple[int, int]) -> bool:
        fingerprint, row = pair
        return row in self.rows_of(fingerprint)

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """Memory in bytes: the arrays, spare room included, and the sorted dict."""
        return self._fingerprints.nbytes + self._rows.nbytes + self._count * _ENTRY_BYTES

    def check(self) -> None:
        """Verify that sorted dict and arrays hold the same pairs, and that no row is negative.

        Raises:
            AssertionError: it is not so.
        """
        self._known._check()
        rows = self._rows[: self._count].tolist()
        packed = list(zip(self.fingerprints.tolist(), rows, strict=True))
        assert len(set(packed)) == len(packed), "a pair is there twice"
        known = [(f, row) for f, rows in self._known.items() for row in rows]
        assert sorted(known) == sorted(packed), "sorted dict and arrays have different pairs"
        assert all(self._known.values()), "a fingerprint without a row"
        assert all(row >= 0 for _, row in packed), "a negative row"
