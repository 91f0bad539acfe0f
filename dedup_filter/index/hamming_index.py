"""Fingerprints with rows -> all that lie within k bits of the one asked for.

    add(fingerprint, row)   ->  RowMap: fingerprint -> rows
                                PackedList and PermutedTables: the fingerprint, if it is new
    within(fingerprint)     ->  RowMap if k = 0, PackedList up to `scan_limit` entries,
                                else PermutedTables; then the rows, nearest first

The tables are built when a look-up first needs them, which for a large k is late: below
some hundred thousand fingerprints comparing all of them at once is quicker, and smaller.

Guarantee: `within` returns every stored row within the distance and nothing else, at once
after `add`, for every k from 0 to 12 and every layout that is accepted. A refused call
leaves the index as it was.

Cost: see `table_plan` for the figures. Memory: about 150 bytes a fingerprint, and 56 more for
each table once they are built. One thread at a time.

An index knows nothing of pages: a row is a number that the caller gives and understands.

Manku, Jain and Das Sarma (2007), section 3. Where we differ: tables are online (sorted lists,
not files), neighbours of a prefix are probed, and all matches are had, not only one.
"""

from collections.abc import Iterable
from operator import index

import numpy as np

from dedup_filter.index.layout import Layout
from dedup_filter.index.permuted_tables import PermutedTables
from dedup_filter.index.row_map import RowMap
from dedup_filter.index.table_plan import plan, scan_limit
from dedup_filter.model import Match
from dedup_filter.tables import FINGERPRINT_BITS, PackedList

__all__ = ["HammingIndex"]


class HammingIndex:
    """Fingerprints with their rows, searched by Hamming distance.

    `max_distance` (k) is inclusive, 0 to 12; without a layout a good one is planned.

    Raises:
        ConfigError: the distance is out of range, or the layout cannot be exact for it.

    >>> index = HammingIndex(max_distance=3)
    >>> index.add(0b1011, row=0)
    >>> index.add(0b1000, row=1)
    >>> index.within(0b1111)
    [Match(row=0, fingerprint=11, distance=1), Match(row=1, fingerprint=8, distance=3)]
    """

    def __init__(self, max_distance: int = 3, layout: Layout | None = None) -> None:
        self.layout = layout or plan(max_distance)
        self.layout.require_exact(max_distance)
        self.max_distance = max_distance
        self._rows = RowMap()
        self._packed = PackedList()
        self._tables: PermutedTables | None = None
        self._scan_limits = [
            scan_limit(self.layout, distance) for distance in range(max_distance + 1)
        ]

    def add(self, fingerprint: int, row: int) -> None:
        """Store a row under its fingerprint. The same pair again changes nothing.

        Raises:
            TypeError: one of them is not an integer.
            ValueError: the fingerprint is outside 0..2**64-1, or the row is negative.
        """
        fingerprint, row = _fingerprint(fingerprint), _row(row)
        if self._rows.add(fingerprint, row):
            self._packed.add(fingerprint)
            if self._tables is not None:
                self._tables.add(fingerprint)

    def remove(self, fingerprint: int, row: int) -> None:
        """Remove a row from under its fingerprint.

        Raises:
            KeyError: the pair is not stored.
            TypeError, ValueError: as for `add`.
        """
        fingerprint, row = _fingerprint(fingerprint), _row(row)
        if self._rows.remove(fingerprint, row):
            self._packed.remove(fingerprint)
            if self._tables is not None:
                self._tables.remove(fingerprint)

    def within(self, fingerprint: int, max_distance: int | None = None) -> list[Match]:
        """Return all rows within a distance of a fingerprint, nearest first, then by row.

        `max_distance` is the index's own unless a smaller one is given.

        Raises:
            TypeError: the fingerprint is not an integer.
            ValueError: it is outside 0..2**64-1, or the distance outside 0..the index's own.
        """
        fingerprint = _fingerprint(fingerprint)
        near = self._near(fingerprint, self._distance(max_distance))
        matches = [
            Match(row, entry, (entry ^ fingerprint).bit_count())
            for entry in near
            for row in self._rows.of(entry)
        ]
        matches.sort(key=lambda match: (match.distance, match.row, match.fingerprint))
        return matches

    def __len__(self) -> int:
        """Count the rows stored."""
        return len(self._rows)

    def __contains__(self, fingerprint: object) -> bool:
        return fingerprint in self._rows

    @property
    def nbytes(self) -> int:
        """Estimated memory in bytes: fingerprints, rows and the entries of every table.

        Objects are counted as CPython's allocator sizes them, rows as if nobody else held
        them; the spare room of lists is left out.
        """
        tables = 0 if self._tables is None else self._tables.nbytes
        return self._rows.nbytes + self._packed.nbytes + tables

    def check(self) -> None:
        """Verify the invariants of the rows and of every table, and that they agree.

        Raises:
            AssertionError: they do not.
        """
        stored = self._rows.fingerprints
        self._rows.check()
        self._packed.check()
        assert set(self._packed.values.tolist()) == stored, "packed fingerprints are not the rows'"
        if self._tables is not None:
            self._tables.check(stored)

    def _near(self, fingerprint: int, distance: int) -> Iterable[int]:
        """Return the distinct stored fingerprints within the distance, in no order."""
        if distance == 0:
            return [fingerprint] if fingerprint in self._rows else []
        if len(self._packed) <= self._scan_limits[distance]:
            return self._packed.within(fingerprint, distance)
        if self._tables is None:
            self._tables = PermutedTables(self.layout, self.max_distance)
            self._tables.fill(self._packed.values.tolist())
        return self._tables.within(fingerprint, distance)

    def _distance(self, max_distance: int | None) -> int:
        if max_distance is None:
            return self.max_distance
        if type(max_distance) is not int or not 0 <= max_distance <= self.max_distance:
            raise ValueError(
                f"max_distance must be a whole number from 0 to {self.max_distance}, "
                f"the index's own, not {max_distance!r}"
            )
        return max_distance


def _fingerprint(value: int) -> int:
    """Return a plain int, also of a numpy integer."""
    number = _whole("a fingerprint", value)
    if number >> FINGERPRINT_BITS:  # a negative number leaves its sign
        raise ValueError(f"a fingerprint is from 0 to 2**64-1, not {value!r}")
    return number


def _row(value: int) -> int:
    number = _whole("a row", value)
    if number < 0:
        raise ValueError(f"a row is 0 or more, not {value!r}")
    return number


def _whole(name: str, value: object) -> int:
    if isinstance(value, bool | np.bool_) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} is an integer, not {type(value).__name__}: {value!r}")
    return index(value)
