"""The pairs that came last: kept sorted to be found and sealed, and packed to be compared.

    SortedDict   fingerprint -> its places  is a pair there?  which rows have a fingerprint?
                                            all of them in order, to be sealed
    two arrays   fingerprints, rows         compared with every query, in the same numpy calls
                                            as the candidates of the tables

Asking each table by a SortedList of its own would be the next step, as the literature has it, and
takes longer than comparing all: for 4,096 entries and k = 3 four SortedLists of permuted entries
take 7.5 us a look-up and 4.6 us an addition, the scan 4.6 us, and less than half of that where it
shares its calls; for k = 7 and more there would be 68 to 3,600 probes of 1.3 us each.

Cost: 0.6 us of a look-up for every thousand entries; an addition about 1 us.
"""

from itertools import chain

import numpy as np
from sortedcontainers import SortedDict

from dedup_filter.hamming.index_pairs import IntpArray, Pairs, RowArray, UInt64Array

__all__ = ["FreshEntries"]

_ENTRY_BYTES = 200
"""In the sorted dict: a fingerprint, a tuple of one place, and their slots (measured)."""


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
        self._places: SortedDict[int, tuple[int, ...]] = SortedDict()
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
        by_row = self._rows.__getitem__
        places = (
            each if len(each) == 1 else sorted(each, key=by_row) for each in self._places.values()
        )
        return self.pairs_at(np.fromiter(chain.from_iterable(places), np.intp, self._count))

    def rows_of(self, fingerprint: int) -> list[int]:
        """Return the rows of one fingerprint, in no order."""
        return [int(self._rows[place]) for place in self._places.get(fingerprint, ())]

    def add(self, fingerprint: int, row: int) -> None:
        """Add a pair. Requires: it is not there yet, and there is room."""
        place = self._count
        self._fingerprints[place] = fingerprint
        self._rows[place] = row
        others = self._places.get(fingerprint)
        self._places[fingerprint] = (place,) if others is None else (*others, place)
        self._count = place + 1

    def discard(self, fingerprint: int, row: int) -> bool:
        """Remove a pair, and tell whether it was there."""
        place = self._place_of(fingerprint, row)
        if place is None:
            return False
        self._count -= 1
        self._forget(fingerprint, place)
        if place < self._count:  # the last one takes its place
            last = int(self._fingerprints[self._count])
            self._forget(last, self._count)
            self._places[last] = (*self._places.get(last, ()), place)
            self._fingerprints[place] = last
            self._rows[place] = self._rows[self._count]
        return True

    def clear(self) -> None:
        """Remove all pairs."""
        self._places.clear()
        self._count = 0

    def __contains__(self, pair: tuple[int, int]) -> bool:
        return self._place_of(*pair) is not None

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
        assert 0 <= self._count <= len(self._rows), "more pairs than room"
        self._places._check()
        packed = list(zip(self.fingerprints.tolist(), self.rows.tolist(), strict=True))
        assert len(set(packed)) == len(packed), "a pair is there twice"
        places = {(f, place) for f, known in self._places.items() for place in known}
        assert places == {(f, place) for place, (f, _) in enumerate(packed)}, "a wrong place"
        assert sum(map(len, self._places.values())) == len(packed), "a place is there twice"
        assert all(self._places.values()), "a fingerprint without a place"
        assert all(row >= 0 for _, row in packed), "a negative row"

    def _place_of(self, fingerprint: int, row: int) -> int | None:
        places: tuple[int, ...] = self._places.get(fingerprint, ())
        return next((place for place in places if self._rows[place] == row), None)

    def _forget(self, fingerprint: int, place: int) -> None:
        left = tuple(other for other in self._places[fingerprint] if other != place)
        if left:
            self._places[fingerprint] = left
        else:
            del self._places[fingerprint]
