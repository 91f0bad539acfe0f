"""The pairs that came last: kept sorted to be found and sealed, and packed to be compared.

    SortedDict   pair -> its place          is it there?  all of them in order, to be sealed
    two arrays   fingerprints, rows         compared with every query, in the same numpy calls
                                            as the candidates of the tables

A pair is found and its order kept by sortedcontainers, in a bisection of a few hundred; asking
each table by its own SortedList would be the next step, as the literature has it, and takes longer
than comparing all: for 4,096 entries and k = 3 four SortedLists of permuted entries take 7.5 us a
look-up and 4.6 us an addition, the scan 4.6 us, and less than half of that where it shares its
calls; for k = 7 and more there would be 68 to 3,600 probes of 1.3 us each.

Cost: 0.6 us of a look-up for every thousand entries; an addition 1.3 us.
"""

import numpy as np
from sortedcontainers import SortedDict

from dedup_filter.index.pairs import IntpArray, Pairs, RowArray, UInt64Array

__all__ = ["FreshEntries"]

_ENTRY_BYTES = 200
"""In the sorted dict: a pair and its two numbers, a place, and their slots (measured)."""


class FreshEntries:
    """At most `capacity` distinct pairs.

    >>> fresh = FreshEntries(100)
    >>> fresh.add(0b1011, 7)
    >>> (0b1011, 7) in fresh, (0b1011, 8) in fresh
    (True, False)
    """

    __slots__ = ("_count", "_fingerprints", "_places", "_rows")

    def __init__(self, capacity: int) -> None:
        self._fingerprints = np.empty(capacity, np.uint64)
        self._rows = np.empty(capacity, np.int64)
        self._places: SortedDict[tuple[int, int], int] = SortedDict()
        self._count = 0

    @property
    def fingerprints(self) -> UInt64Array:
        """The fingerprints: a view, to be read before the next change."""
        return self._fingerprints[: self._count]

    @property
    def rows(self) -> RowArray:
        """The row of each: a view, as the fingerprints."""
        return self._rows[: self._count]

    def pairs_at(self, places: IntpArray) -> Pairs:
        """Return the pairs at some places of the arrays."""
        return Pairs(self._fingerprints[places], self._rows[places])

    @property
    def pairs(self) -> Pairs:
        """All pairs, ascending, copied."""
        return self.pairs_at(np.fromiter(self._places.values(), np.intp, self._count))

    def add(self, fingerprint: int, row: int) -> None:
        """Add a pair. Requires: it is not there yet, and there is room."""
        self._put(self._count, fingerprint, row)
        self._count += 1

    def discard(self, fingerprint: int, row: int) -> bool:
        """Remove a pair, and tell whether it was there."""
        place = self._places.pop((fingerprint, row), None)
        if place is None:
            return False
        self._count -= 1
        if place < self._count:  # the last one takes its place
            last = int(self._fingerprints[self._count]), int(self._rows[self._count])
            self._put(place, *last)
        return True

    def clear(self) -> None:
        """Remove all pairs."""
        self._places.clear()
        self._count = 0

    def __contains__(self, pair: object) -> bool:
        return pair in self._places

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """Memory in bytes: the arrays, spare room included, and the sorted dict."""
        return self._fingerprints.nbytes + self._rows.nbytes + self._count * _ENTRY_BYTES

    def check(self) -> None:
        """Verify that dict and arrays hold the same pairs, and that no row is negative.

        Raises:
            AssertionError: it is not so.
        """
        assert 0 <= self._count <= len(self._rows), "more pairs than room"
        self._places._check()
        packed = zip(self.fingerprints.tolist(), self.rows.tolist(), strict=True)
        places = {pair: place for place, pair in enumerate(packed)}
        assert places == dict(self._places), "a pair is there twice, or not where it should be"
        assert all(row >= 0 for _, row in places), "a negative row"

    def _put(self, place: int, fingerprint: int, row: int) -> None:
        self._fingerprints[place] = fingerprint
        self._rows[place] = row
        self._places[fingerprint, row] = place
