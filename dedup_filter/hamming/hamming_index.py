"""Fingerprints with rows -> all that lie within k bits of the one asked for.

    add ->  fresh entries (4,096)      compared with every query, all of them
              | sorted when full
            young tables               small sorted tables, beside many old entries
              | merged, one table in each addition
            old tables                 the large sorted tables

    within  asks all three at once

Guarantee: `within` returns every stored row within the distance and nothing else, at once
after `add` and during a merge, for every k from 0 to 12 and every accepted layout. A call that
raises an error leaves the index as it was.

Cost: measured by `python benchmarks/index.py`. Not for several threads at a time.

An index knows nothing of pages: a row is a number that the caller gives and understands.

Manku, Jain and Das Sarma (2007), section 3. Where we differ: the tables take additions all the
time, by merges of sorted runs (as in LevelDB), instead of being built once; neighbours of a prefix
are probed; and a look-up returns all matches, not only one.
"""

from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.levels import Levels
from dedup_filter.hamming.numbers import Integers, fingerprint_of, fingerprints_of, row_of, rows_of
from dedup_filter.hamming.pairs import Pairs
from dedup_filter.hamming.sealed_arrays import SealedArrays
from dedup_filter.hamming.search import (
    Neighbours,
    NeighboursOfMany,
    pairs_within,
    pairs_within_of_many,
)
from dedup_filter.model import Match

__all__ = ["HammingIndex"]


class HammingIndex:
    """Fingerprints with their rows, searched by Hamming distance.

    `max_distance` (k) is inclusive, 0 to 12. Without a layout, one is planned for the expected
    number of entries, and another one when there are twice as many.

    Raises:
        ConfigError: the distance is out of range, or the layout cannot be exact for it.

    >>> index = HammingIndex(max_distance=3)
    >>> index.add(0b1011, row=0)
    >>> index.add(0b1000, row=1)
    >>> index.within(0b1111)
    [Match(row=0, fingerprint=11, distance=1), Match(row=1, fingerprint=8, distance=3)]
    """

    def __init__(
        self, max_distance: int = 3, layout: Layout | None = None, expected: int = 1_000_000
    ) -> None:
        self._levels = Levels(max_distance, layout, expected)

    @classmethod
    def from_sealed(cls, sealed: SealedArrays) -> "HammingIndex":
        """Make an index that uses these arrays, without a copy. Nothing is written to them.

        Cost: under a millisecond for any size; the contents are not verified, see `check`.

        Raises:
            ConfigError: the layout cannot be exact for the distance.
            ValueError: the arrays cannot be those of an index.
        """
        tables = sealed.tables()
        index = cls(sealed.max_distance, expected=max(len(sealed.rows), 1))
        index._levels.take(tables)
        return index

    @property
    def max_distance(self) -> int:
        """The largest distance that can be asked for (k)."""
        return self._levels.max_distance

    @property
    def layout(self) -> Layout:
        """How the bits are cut at present."""
        return self._levels.layout

    def add(self, fingerprint: int, row: int) -> None:
        """Store a row under its fingerprint. The same pair again changes nothing.

        Raises:
            TypeError: one of them is not an integer.
            ValueError: the fingerprint is outside 0..2**64-1, or the row outside 0..2**63-1.
        """
        self._levels.add(fingerprint_of(fingerprint), row_of(row))

    def add_new(self, fingerprint: int, row: int) -> None:
        """Store a pair that is known not to be stored: `add` without looking for it.

        Requires: plain ints in the ranges of `add`, and a pair that is not stored.
        """
        self._levels.add_new(fingerprint, row)

    def add_many(self, fingerprints: Integers, rows: Integers) -> None:
        """Store many rows, each under the fingerprint in the same place: all of them or none.

        Cost: 0.1 us a row and table for 10,000 rows or more; returns when all are sorted.

        Raises:
            TypeError, ValueError: as for `add`, or there is not one row for each fingerprint.
        """
        pairs = Pairs(fingerprints_of(fingerprints), rows_of(rows))
        if len(pairs.fingerprints) != len(pairs.rows):
            raise ValueError(
                f"one row for each fingerprint, not {len(pairs.rows)} for {len(pairs.fingerprints)}"
            )
        self._levels.add_many(pairs)

    def remove(self, fingerprint: int, row: int) -> None:
        """Remove a row from under its fingerprint.

        Raises:
            KeyError: the pair is not stored.
            TypeError, ValueError: as for `add`.
        """
        self._levels.remove(fingerprint_of(fingerprint), row_of(row))

    def rows_of(self, fingerprint: int) -> list[int]:
        """Return the rows stored under this very fingerprint, ascending.

        Cost: 5 us in a million, whatever the distance that the index was made for.

        Raises:
            TypeError: the fingerprint is not an integer.
            ValueError: it is outside 0..2**64-1.
        """
        return sorted(self._levels.rows_of(fingerprint_of(fingerprint)))

    def within(self, fingerprint: int, max_distance: int | None = None) -> list[Match]:
        """Return all rows within a distance of a fingerprint, nearest first, then by row.

        `max_distance` is the index's own unless a smaller one is given.

        Raises:
            TypeError: the fingerprint is not an integer.
            ValueError: it is outside 0..2**64-1, or the distance outside 0..the index's own.
        """
        return self.neighbours(fingerprint, max_distance).matches()

    def neighbours(
        self, fingerprint: int, max_distance: int | None = None, most: int | None = None
    ) -> Neighbours:
        """Return the matches of `within` as arrays; with `most`, only the first so many.

        Cost: for thousands of matches a third of `within` or less; less still with `most`.

        Raises:
            TypeError, ValueError: as for `within`.
        """
        fingerprint = fingerprint_of(fingerprint)
        distance = self._distance(max_distance)
        levels = self._levels
        pairs = pairs_within(fingerprint, distance, levels.sealed, levels.fresh, most)
        return Neighbours.of(fingerprint, pairs, most)

    def within_many(
        self, fingerprints: Integers, max_distance: int | None = None
    ) -> NeighboursOfMany:
        """Return all rows within a distance of each of many fingerprints.

        The result is four arrays of one length: for each match the number of the query, counted
        from 0, and the row, fingerprint and distance. Sorted by query, then nearest first, then by
        row.

        Raises:
            TypeError, ValueError: as for `within`.

        >>> index = HammingIndex(max_distance=3)
        >>> index.add_many([0b1011, 0b1000], rows=[0, 1])
        >>> found = index.within_many([0b1111, 2**64 - 1, 0b1000])
        >>> found.queries.tolist(), found.rows.tolist(), found.distances.tolist()
        ([0, 0, 2, 2], [0, 1, 1, 0], [1, 3, 0, 2])
        """
        asked = fingerprints_of(fingerprints)
        distance = self._distance(max_distance)
        levels = self._levels
        queries, pairs = pairs_within_of_many(asked, distance, levels.sealed, levels.fresh)
        return NeighboursOfMany.of(asked, queries, pairs)

    def compact(self) -> None:
        """Merge everything into one set of tables, and leave out the removed pairs.

        The index does so by itself, one table at a time; this does all of it at once.
        """
        self._levels.compact()

    def sealed(self) -> SealedArrays:
        """Compact the index and return its arrays. The index still uses them: only read them."""
        self._levels.compact()
        return SealedArrays.of(self._levels.old)

    def __len__(self) -> int:
        """Count the rows stored."""
        return len(self._levels)

    def __contains__(self, fingerprint: object) -> bool:
        try:
            return len(self.neighbours(fingerprint, 0, most=1).rows) > 0  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return False

    @property
    def nbytes(self) -> int:
        """Memory in bytes: fingerprints in every table, rows, directories, fresh entries."""
        return self._levels.nbytes

    def check(self) -> None:
        """Verify the invariants of every table, and that they agree.

        Raises:
            AssertionError: they do not.
        """
        self._levels.check()

    def _distance(self, max_distance: int | None) -> int:
        if max_distance is None:
            return self.max_distance
        if type(max_distance) is not int or not 0 <= max_distance <= self.max_distance:
            raise ValueError(
                f"max_distance must be a whole number from 0 to {self.max_distance}, "
                f"the index's own, not {max_distance!r}"
            )
        return max_distance
