"""What callers give as fingerprints and rows -> plain ints, or arrays of one kind; or an error.

Nothing is rounded or wrapped: a number that is no fingerprint is refused by name.
"""

from collections.abc import Iterable
from operator import index

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.blocks import FINGERPRINT_BITS
from dedup_filter.hamming.index_pairs import RowArray, UInt64Array

__all__ = ["fingerprint_of", "fingerprints_of", "row_of", "rows_of"]

Integers = Iterable[int] | npt.NDArray[np.integer]

_ROW_LIMIT = 2**63


def fingerprint_of(value: int) -> int:
    """Return a plain int, also of a numpy integer.

    Raises:
        TypeError: it is not an integer.
        ValueError: it is outside 0..2**64-1.
    """
    number = value if type(value) is int else _whole("a fingerprint", value)
    if number >> FINGERPRINT_BITS:  # a negative number leaves its sign
        raise ValueError(f"a fingerprint is from 0 to 2**64-1, not {value!r}")
    return number


def row_of(value: int) -> int:
    """Return a plain int, also of a numpy integer.

    Raises:
        TypeError: it is not an integer.
        ValueError: it is outside 0..2**63-1.
    """
    number = value if type(value) is int else _whole("a row", value)
    if not 0 <= number < _ROW_LIMIT:
        raise ValueError(f"a row is 0 or more and less than 2**63, not {value!r}")
    return number


def fingerprints_of(values: Integers) -> UInt64Array:
    """Return an array of fingerprints; errors as for one."""
    if isinstance(values, np.ndarray) and _are_integers(values):
        _refuse_negative(values, "a fingerprint is from 0 to 2**64-1")
        return values.astype(np.uint64, copy=False)
    return np.fromiter(map(fingerprint_of, values), np.uint64)


def rows_of(values: Integers) -> RowArray:
    """Return an array of rows; errors as for one."""
    if isinstance(values, np.ndarray) and _are_integers(values):
        _refuse_negative(values, "a row is 0 or more")
        if len(values) and int(values.max()) >= _ROW_LIMIT:
            row_of(int(values.max()))
        return values.astype(np.int64, copy=False)
    return np.fromiter(map(row_of, values), np.int64)


def _are_integers(values: npt.NDArray[np.integer]) -> bool:
    """Tell whether it is a row of integers; of other arrays each element is looked at."""
    return values.ndim == 1 and np.issubdtype(values.dtype, np.integer)


def _refuse_negative(values: npt.NDArray[np.integer], rule: str) -> None:
    if len(values) and int(values.min()) < 0:
        raise ValueError(f"{rule}, not {int(values.min())}")


def _whole(name: str, value: object) -> int:
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} is an integer, not {type(value).__name__}: {value!r}")
    return index(value)
