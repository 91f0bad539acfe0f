"""The fresh pairs (added last) in two plain columns: fingerprints and rows.

    within  ->  XOR with the query, popcount, compare: three numpy calls over all of them

A look-up with many probes (hundreds if k is 10 or more) compares all fresh pairs here, instead of
searching the SortedList of each table for each prefix. Cost: 0.6 us for every thousand pairs.
"""

from array import array

import numpy as np

from dedup_filter.hamming.pairs import IntpArray, Pairs, UInt64Array


class FreshColumn:
    """Distinct pairs in the order in which they were added."""

    def __init__(self) -> None:
        self._fingerprints, self._rows = array("Q"), array("q")

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, fingerprint: int, row: int) -> None:
        """Add a pair that is not stored yet. Requires: nobody holds `pairs`."""
        self._fingerprints.append(fingerprint)
        self._rows.append(row)

    def within(self, query: int, distance: int, most: int | None) -> list[tuple[int, int]]:
        """Return pairs within a distance of a query; with `most`, at least the `most` nearest."""
        near = near_places(self.pairs.fingerprints, query, distance, most)
        return [(self._fingerprints[place], self._rows[place]) for place in near.tolist()]

    def drop(self, count: int) -> None:
        """Remove the `count` pairs that were added first."""
        del self._fingerprints[:count], self._rows[:count]

    @property
    def pairs(self) -> Pairs:
        """All pairs: views of the columns, which cannot grow meanwhile."""
        return Pairs(
            np.frombuffer(self._fingerprints, np.uint64), np.frombuffer(self._rows, np.int64)
        )

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return 16 * len(self)


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
