"""Fingerprints and rows of callers -> checked ints and arrays, and pairs of both.

No value is rounded or wrapped: a value that is not a fingerprint raises an error that names it.
`Pairs` carries fingerprints and rows between the caller, the fresh entries and the tables.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from operator import index
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Integers = Iterable[int] | npt.NDArray[np.integer]
UInt64Array = npt.NDArray[np.uint64]
RowArray = npt.NDArray[np.int64]
IntpArray = npt.NDArray[np.intp]

FINGERPRINT_BITS = 64
ROW_BITS = 63

_RULES = {
    FINGERPRINT_BITS: "a fingerprint is from 0 to 2**64-1",
    ROW_BITS: "a row is 0 or more and less than 2**63",
}


def hamming_distance(a: int, b: int) -> int:
    """Count the bits in which two fingerprints differ, 0 to 64; errors as for `fingerprint_of`.

    >>> hamming_distance(0b1011, 0b0010)
    2
    """
    return (fingerprint_of(a) ^ fingerprint_of(b)).bit_count()


def fingerprint_of(value: int) -> int:
    """Return a fingerprint, an int or a numpy integer, as a plain int.

    TypeError: it is not an integer. ValueError: it is outside 0..2**64-1.
    """
    return _checked(value, FINGERPRINT_BITS)


def row_of(value: int) -> int:
    """Return a row, 0..2**63-1, as a plain int; errors as for `fingerprint_of`."""
    return _checked(value, ROW_BITS)


def fingerprints_of(values: Integers) -> UInt64Array:
    """Return fingerprints as an array, uncopied if possible; errors as for `fingerprint_of`."""
    return _array_of(values, FINGERPRINT_BITS, np.uint64)


def rows_of(values: Integers) -> RowArray:
    """Return rows as an array; errors as for `row_of`."""
    return _array_of(values, ROW_BITS, np.int64)


def _checked(value: int, bits: int) -> int:
    if type(value) is not int:
        if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
            name = _RULES[bits].partition(" is ")[0]
            raise TypeError(f"{name} is an integer, not {type(value).__name__}: {value!r}")
        value = index(value)
    if value >> bits:  # also true of a negative value: its sign remains
        raise ValueError(f"{_RULES[bits]}, not {value}")
    return value


def _array_of(values: Integers, bits: int, kind: type) -> npt.NDArray[Any]:
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "ui":
        if len(values) and (values.dtype, bits) != (np.uint64, FINGERPRINT_BITS):  # else valid
            _checked(int(values.min()), bits)
            _checked(int(values.max()), bits)
        return values.astype(kind, copy=False)
    return np.fromiter(map(_checked, values, repeat(bits)), kind)


class Pairs(NamedTuple):
    """Fingerprints and their rows, side by side."""

    fingerprints: UInt64Array
    rows: RowArray

    @property
    def size(self) -> int:
        """Number of pairs."""
        return len(self.rows)

    @classmethod
    def joined(cls, parts: Sequence["Pairs"]) -> "Pairs":
        """Concatenate parts."""
        fingerprints, rows = zip(*parts, strict=True)
        return cls(np.concatenate(fingerprints), np.concatenate(rows))

    def each(self) -> Iterator[tuple[int, int]]:
        """Yield fingerprint and row of each pair, as plain ints."""
        return zip(self.fingerprints.tolist(), self.rows.tolist(), strict=True)

    def not_in(self, known: "Pairs") -> "Pairs":
        """Return each of these pairs once, without those that are in `known`, ascending."""
        if not known.size and self._ascends():
            return self
        fingerprints, rows = Pairs.joined([known, self])
        # A stable sort: a known pair stays before the same pair that is new.
        order = np.lexsort((rows, fingerprints))
        fingerprints, rows = fingerprints[order], rows[order]
        is_new = order >= known.size
        is_new[1:] &= (fingerprints[1:] != fingerprints[:-1]) | (rows[1:] != rows[:-1])
        return Pairs(fingerprints[is_new], rows[is_new])

    def _ascends(self) -> bool:
        fingerprints, rows = self
        is_less = fingerprints[:-1] < fingerprints[1:]
        is_less |= (fingerprints[:-1] == fingerprints[1:]) & (rows[:-1] < rows[1:])
        return bool(is_less.all())


NO_PAIRS = Pairs(np.empty(0, np.uint64), np.empty(0, np.int64))


def distinct(fingerprints: Integers) -> UInt64Array:
    """Return the distinct fingerprints, ascending (`np.unique` takes four times as long)."""
    ascending = np.sort(fingerprints_of(fingerprints))
    is_first = np.ones(len(ascending), bool)
    np.not_equal(ascending[1:], ascending[:-1], out=is_first[1:])
    return ascending[is_first]


def places_in(starts: IntpArray, lengths: IntpArray) -> IntpArray:
    """Return all places in ranges of an array, given as starts and lengths. Cost: 3 ns a place.

    >>> places_in(np.array([7, 2, 9]), np.array([3, 0, 2])).tolist()
    [7, 8, 9, 9, 10]
    """
    ends = lengths.cumsum()
    total = int(ends[-1]) if len(ends) else 0
    places: IntpArray = (starts - ends + lengths).repeat(lengths)
    places += np.arange(total)
    return places
