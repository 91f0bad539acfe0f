"""Layer "fingerprints": weighted features -> 64 bits, and how two pages compare.

Takes arrays of feature hashes and weights; knows nothing of text, pages or tables.
"""

from dedup_filter.fingerprints.hamming import hamming_distance, hamming_distances
from dedup_filter.fingerprints.simhash import simhash
from dedup_filter.fingerprints.sketch import SKETCH_BYTES, similarities, sketch

__all__ = [
    "SKETCH_BYTES",
    "hamming_distance",
    "hamming_distances",
    "simhash",
    "similarities",
    "sketch",
]
