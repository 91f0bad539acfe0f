"""Simhash: weighted 64-bit feature hashes -> one 64-bit fingerprint.

Charikar (2002), "Similarity estimation techniques from rounding algorithms", in the form
of Manku, Jain and Das Sarma (2007), section 2: a tally for each bit position starts at
zero; every feature adds its weight where its hash has a 1 and subtracts it where it has
a 0; bit i of the fingerprint is 1 where tally i is above zero.

    feature hash   1 0 1 1 …   weight 2   ->   +2 -2 +2 +2 …
    feature hash   0 0 1 0 …   weight 1   ->   -1 -1 +1 -1 …
    tallies                                    +1 -3 +3 +1 …
    fingerprint                                 1  0  1  1 …

Guarantee: the same features give the same fingerprint on every machine and in every order. So
weights are whole numbers: sums of floats depend on their order, and a tally near zero would differ
between numpy builds.
"""

import numpy as np
import numpy.typing as npt

UInt64Array = npt.NDArray[np.uint64]


def simhash(hashes: UInt64Array, weights: npt.NDArray[np.integer]) -> int | None:
    """Return the fingerprint of features given as hashes and whole-number weights, both (n,).

    None: there are no features. With any number instead, all texts without features would be equal.
    Cost: about 64 multiplications a feature.

    >>> simhash(np.array([0b1011, 0b0010], np.uint64), np.array([2, 1]))
    11
    """
    ones, total = _ones(hashes, weights)
    if not total:
        return None
    return int.from_bytes(np.packbits(2 * ones > total).tobytes(), "big")


def tallies(hashes: UInt64Array, weights: npt.NDArray[np.integer]) -> list[int]:
    """Return the 64 tallies of features given as for `simhash`, bit 63 first.

    >>> tallies(np.array([0b1011, 0b0010], np.uint64), np.array([2, 1]))[-4:]
    [1, -3, 3, 1]
    """
    ones, total = _ones(hashes, weights)
    return [2 * int(each) - total for each in ones]


def _ones(
    hashes: UInt64Array, weights: npt.NDArray[np.integer]
) -> tuple[npt.NDArray[np.floating], int]:
    """Return the weight of the features that have each bit, 63 first, and the total weight."""
    bits = np.unpackbits(hashes.astype(">u8").view(np.uint8).reshape(-1, 8), axis=1)
    total = int(weights.sum())
    # Sums of whole numbers are exact below 2**24 in float32, which takes half the memory.
    kind = np.float32 if total < 2**24 else np.float64
    return weights.astype(kind) @ bits.astype(kind), total
