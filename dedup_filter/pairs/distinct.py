"""Fingerprints of any kind -> an ascending array of the different ones, or a refusal."""

import numpy as np

from dedup_filter.index.numbers import Integers, fingerprints_of
from dedup_filter.pairs.prefix_groups import UInt64Array

__all__ = ["distinct"]


def distinct(fingerprints: Integers) -> UInt64Array:
    """Return the different fingerprints, ascending.

    Raises:
        TypeError: one of them is not an integer.
        ValueError: one is outside 0..2**64-1.

    >>> distinct([3, 1, 3]).tolist()
    [1, 3]
    """
    entries = np.sort(fingerprints_of(fingerprints))  # np.unique takes 15 times as long
    changes = np.flatnonzero(entries[1:] != entries[:-1]) + 1
    return entries[np.concatenate((np.zeros(min(len(entries), 1), np.intp), changes))]
