"""What a look-up finds, as arrays: rows, fingerprints and distances side by side.

An object for each of thousands of neighbours costs more than finding them; so inside the
library they stay arrays, nearest first, and only `HammingIndex.within` makes `Match`es.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.index_pairs import NO_PAIRS, IntpArray, Pairs, RowArray, UInt64Array
from dedup_filter.model import Match

__all__ = ["Neighbours", "NeighboursOfMany"]

UInt8Array = npt.NDArray[np.uint8]

_ROW_BITS = 56  # what a distance leaves of 63 bits


class Neighbours(NamedTuple):
    """Stored rows within reach of one fingerprint, nearest first, then by row and fingerprint."""

    rows: RowArray
    fingerprints: UInt64Array
    distances: UInt8Array

    @classmethod
    def of(cls, query: int, pairs: Pairs, most: int | None = None) -> "Neighbours":
        """Put pairs in order of their distance from the query; keep the `most` nearest."""
        if not pairs.size:
            return _NOBODY
        fingerprints, rows = pairs
        distances: UInt8Array = np.bitwise_count(fingerprints ^ np.uint64(query))
        if most is not None and 0 < most < len(rows) // 4:
            ahead = _ahead(distances, rows, most)
            fingerprints, rows, distances = fingerprints[ahead], rows[ahead], distances[ahead]
        if len(rows) > 1:
            order = np.lexsort((fingerprints, rows, distances))
            fingerprints, rows, distances = fingerprints[order], rows[order], distances[order]
        found = cls(rows, fingerprints, distances)
        return found if most is None else found.first(most)

    def first(self, count: int) -> "Neighbours":
        """Return the first ones."""
        return Neighbours(self.rows[:count], self.fingerprints[:count], self.distances[:count])

    def match(self, number: int) -> Match:
        """Return one of them as a `Match`."""
        return Match(*(int(column[number]) for column in self))

    def matches(self) -> list[Match]:
        """Return the same as `Match`es."""
        if not len(self.rows):
            return []
        columns = (self.rows.tolist(), self.fingerprints.tolist(), self.distances.tolist())
        return list(map(Match._make, zip(*columns, strict=True)))


def _ahead(distances: UInt8Array, rows: RowArray, most: int) -> npt.NDArray[np.bool_]:
    """Tell which come among the first `most` by distance and row.

    Cost: for 2,000 half the time of sorting them, for 10,000 a tenth.
    """
    if int(rows.max()) >= 1 << _ROW_BITS:
        return np.ones(len(rows), bool)
    ranks = distances.astype(np.int64) << _ROW_BITS | rows
    last: np.int64 = np.partition(ranks, most - 1)[most - 1]
    ahead: npt.NDArray[np.bool_] = ranks <= last
    return ahead


_NOBODY = Neighbours(NO_PAIRS.rows, NO_PAIRS.fingerprints, np.empty(0, np.uint8))


class NeighboursOfMany(NamedTuple):
    """Stored rows within reach of several fingerprints, side by side.

    Sorted by query; those of one query nearest first, then by row and fingerprint.
    """

    queries: IntpArray
    """Which of the fingerprints asked for, counted from 0."""
    rows: RowArray
    fingerprints: UInt64Array
    distances: UInt8Array

    @classmethod
    def of(cls, asked: UInt64Array, queries: IntpArray, pairs: Pairs) -> "NeighboursOfMany":
        """Put pairs, each found by one of the queries, in order."""
        distances: UInt8Array = np.bitwise_count(pairs.fingerprints ^ asked[queries])
        order = np.lexsort((pairs.fingerprints, pairs.rows, distances, queries))
        return cls(queries[order], pairs.rows[order], pairs.fingerprints[order], distances[order])
