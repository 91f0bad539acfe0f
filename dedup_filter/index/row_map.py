"""Fingerprint -> the rows that have it: the one mapping that all tables share.

Manku, Jain and Das Sarma (2007) keep it apart from the permuted tables too, which then hold
each fingerprint once however many rows share it (templates and empty shells: thousands).

Most fingerprints have one row, which is stored bare; only a second row makes a list,
sorted, so that rows come out in order and membership is a bisection.
"""

from bisect import bisect_left
from collections.abc import KeysView, Sequence
from sys import getsizeof

__all__ = ["RowMap"]

_FINGERPRINT_BYTES = 48  # an int of 36 bytes, rounded up by the allocator
_ROW_BYTES = 32


class RowMap:
    """Rows by fingerprint; a pair of both is stored once.

    >>> rows = RowMap()
    >>> rows.add(0b1011, 7), rows.add(0b1011, 3), rows.of(0b1011)
    (True, False, [3, 7])
    """

    __slots__ = ("_row_count", "_rows")

    def __init__(self) -> None:
        self._rows: dict[int, int | list[int]] = {}
        self._row_count = 0

    def add(self, fingerprint: int, row: int) -> bool:
        """Store a pair; tell whether the fingerprint is new. A stored pair stays as it is."""
        known = self._rows.get(fingerprint)
        if known is None:
            self._rows[fingerprint] = row
        elif isinstance(known, int):
            if known == row:
                return False
            self._rows[fingerprint] = sorted((known, row))
        else:
            place = bisect_left(known, row)
            if known[place : place + 1] == [row]:
                return False
            known.insert(place, row)
        self._row_count += 1
        return known is None

    def remove(self, fingerprint: int, row: int) -> bool:
        """Remove a pair; tell whether the fingerprint is gone with it.

        Raises:
            KeyError: the pair is not stored.
        """
        known = self._rows.get(fingerprint)
        if known == row:
            del self._rows[fingerprint]
        elif isinstance(known, list) and row in known:
            known.remove(row)
            if len(known) == 1:
                self._rows[fingerprint] = known[0]
        else:
            raise KeyError(f"row {row} is not stored under fingerprint {fingerprint}")
        self._row_count -= 1
        return known == row

    def of(self, fingerprint: int) -> Sequence[int]:
        """Return the rows of a fingerprint in ascending order; none if it is not stored."""
        known = self._rows.get(fingerprint)
        if known is None:
            return ()
        return (known,) if isinstance(known, int) else known

    @property
    def fingerprints(self) -> KeysView[int]:
        """The distinct fingerprints."""
        return self._rows.keys()

    def __contains__(self, fingerprint: object) -> bool:
        return fingerprint in self._rows

    def __len__(self) -> int:
        """Count the rows, not the fingerprints."""
        return self._row_count

    @property
    def nbytes(self) -> int:
        """Estimated memory in bytes: the dict, an int a fingerprint, an int and pointer a row."""
        ints = len(self._rows) * _FINGERPRINT_BYTES + self._row_count * _ROW_BYTES
        shared = self._row_count - len(self._rows)
        return getsizeof(self._rows) + ints + shared * 8

    def check(self) -> None:
        """Verify that lists are ascending and longer than one, and that the count is right.

        Raises:
            AssertionError: they are not.
        """
        lists = [rows for rows in self._rows.values() if isinstance(rows, list)]
        assert all(len(rows) > 1 for rows in lists), "a list of rows where a bare row belongs"
        assert all(rows == sorted(set(rows)) for rows in lists), "rows out of order or repeated"
        single = len(self._rows) - len(lists)
        assert self._row_count == single + sum(map(len, lists)), "a wrong count of rows"
