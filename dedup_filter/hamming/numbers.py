"""What callers give as fingerprints and rows -> plain ints, or arrays of one type; or an error.

Nothing is rounded or wrapped: a value that is no fingerprint is refused, and the error names it.
"""

from collections.abc import Iterable
from operator import index

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.layout import FINGERPRINT_BITS
from dedup_filter.hamming.pairs import RowArray, UInt64Array
from dedup_filter.hamming.pairs import distinct as distinct_of

__all__ = [
    "Integers",
    "distinct",
    "fingerprint_of",
    "fingerprints_of",
    "hamming_distance",
    "row_of",
    "rows_of",
]

Integers = Iterable[int] | npt.NDArray[np.integer]

_ROW_BITS = 63
_FINGERPRINT = "a fingerprint is from 0 to 2**64-1"
_ROW = "a row is 0 or more and less than 2**63"


def hamming_distance(a: int, b: int) -> int:
    """Count the bits in which two fingerprints differ, 0 to 64.

    Raises:
        TypeError: one of them is not an integer.
        ValueError: one of them is outside 0..2**64-1.

    >>> hamming_distance(0b1011, 0b0010)
    2
    """
    a, b = index(a), index(b)
    if (a | b) >> FINGERPRINT_BITS:  # also of a negative number: its sign is left
        raise ValueError(f"{_FINGERPRINT}; one of {a} and {b} is not")
    return (a ^ b).bit_count()


def distinct(fingerprints: Integers) -> UInt64Array:
    """Return the different fingerprints, ascending.

    Raises:
        TypeError: one of them is not an integer.
        ValueError: one is outside 0..2**64-1.

    >>> distinct([3, 1, 3]).tolist()
    [1, 3]
    """
    return distinct_of(fingerprints_of(fingerprints))


def fingerprint_of(value: int) -> int:
    """Return a plain int, also of a numpy integer.

    Raises:
        TypeError: it is not an integer.
        ValueError: it is outside 0..2**64-1.
    """
    number = value if type(value) is int else _whole("a fingerprint", value)
    if number >> FINGERPRINT_BITS:  # also of a negative number: its sign is left
        raise ValueError(f"{_FINGERPRINT}, not {value!r}")
    return number


def row_of(value: int) -> int:
    """Return a plain int, also of a numpy integer.

    Raises:
        TypeError: it is not an integer.
        ValueError: it is outside 0..2**63-1.
    """
    number = value if type(value) is int else _whole("a row", value)
    if number >> _ROW_BITS:
        raise ValueError(f"{_ROW}, not {value!r}")
    return number


def fingerprints_of(values: Integers) -> UInt64Array:
    """Return an array of fingerprints; errors as for one."""
    if isinstance(values, np.ndarray) and _are_integers(values, FINGERPRINT_BITS, _FINGERPRINT):
        return values.astype(np.uint64, copy=False)
    return np.fromiter(map(fingerprint_of, values), np.uint64)


def rows_of(values: Integers) -> RowArray:
    """Return an array of rows; errors as for one."""
    if isinstance(values, np.ndarray) and _are_integers(values, _ROW_BITS, _ROW):
        return values.astype(np.int64, copy=False)
    return np.fromiter(map(row_of, values), np.int64)


def _are_integers(values: npt.NDArray[np.integer], bits: int, rule: str) -> bool:
    """Check a one-dimensional array of integers; False: each element has to be checked."""
    if values.ndim != 1 or not np.issubdtype(values.dtype, np.integer):
        return False
    if len(values):
        for value in (int(values.min()), int(values.max())):
            if value >> bits:
                raise ValueError(f"{rule}, not {value}")
    return True


def _whole(name: str, value: object) -> int:
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} is an integer, not {type(value).__name__}: {value!r}")
    return index(value)
