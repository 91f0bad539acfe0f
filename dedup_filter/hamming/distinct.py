"""Fingerprints of any kind -> an ascending array of the different ones, or a refusal."""

from dedup_filter.hamming.index_pairs import UInt64Array
from dedup_filter.hamming.index_pairs import distinct as distinct_of
from dedup_filter.hamming.numbers import Integers, fingerprints_of

__all__ = ["distinct"]


def distinct(fingerprints: Integers) -> UInt64Array:
    """Return the different fingerprints, ascending.

    Raises:
        TypeError: one of them is not an integer.
        ValueError: one is outside 0..2**64-1.

    >>> distinct([3, 1, 3]).tolist()
    [1, 3]
    """
    return distinct_of(fingerprints_of(fingerprints))
