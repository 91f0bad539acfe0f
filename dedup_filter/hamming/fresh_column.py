"""The fresh pairs (added last) in two plain columns: fingerprints and rows.

    within  ->  XOR with the query, popcount, compare: three numpy calls over all of them

A look-up with many probes (hundreds if k is 10 or more) compares all fresh pairs here, instead of
searching the SortedList of each table for each prefix.

Cost: 0.6 us a look-up for every thousand pairs.
"""

import numpy as np

from dedup_filter.hamming.pairs import IntpArray, Pairs, UInt64Array


class FreshColumn:
    """Distinct pairs in the order in which they were added."""

    def __init__(self) -> None:
        self._fingerprints = np.empty(1024, np.uint64)
        self._rows = np.empty(1024, np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, fingerprint: int, row: int) -> None:
        """Add a pair that is not stored yet."""
        if self._count == len(self._rows):
            self._fingerprints = np.concatenate([self._fingerprints, self._fingerprints])
            self._rows = np.concatenate([self._rows, self._rows])
        self._fingerprints[self._count], self._rows[self._count] = fingerprint, row
        self._count += 1

    def within(self, query: int, distance: int, most: int | None) -> list[tuple[int, int]]:
        """Return pairs within a distance of a query; with `most`, at least the `most` nearest."""
        near = near_places(self._fingerprints[: self._count], query, distance, most)
        return list(zip(self._fingerprints[near].tolist(), self._rows[near].tolist(), strict=True))

    def drop(self, count: int) -> None:
        """Remove the `count` pairs that were added first."""
        left = self._count - count
        for column in (self._fingerprints, self._rows):
            column[:left] = column[count : self._count].copy()
        self._count = left

    @property
    def pairs(self) -> Pairs:
        """All pairs: views that are valid until the next addition."""
        return Pairs(self._fingerprints[: self._count], self._rows[: self._count])

    @property
    def nbytes(self) -> int:
        """Memory in bytes, spare room included."""
        return self._fingerprints.nbytes + self._rows.nbytes


def near_places(
    entries: UInt64Array, query: int, distance: int, most: int | None = None
) -> IntpArray:
    """Return the places of entries within a distance of a query; with `most`, of the nearest.

    If several entries are as far away as the last of the nearest, all of them are returned.
    """
    distances = np.bitwise_count(entries ^ np.uint64(query))
    # Mostly nothing is near; finding the nearest takes a third of the time of finding all.
    if not len(distances) or distances[distances.argmin()] > distance:
        return np.empty(0, np.intp)
    places: IntpArray = (distances <= distance).nonzero()[0]
    if most is not None and len(places) > most:
        distances = distances[places]
        reach = np.bincount(distances).cumsum().searchsorted(most)
        places = places[distances <= reach]
    return places
