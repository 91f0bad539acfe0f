"""Layer "fingerprints": weighted features -> 64 bits, and how two pages compare.

`simhash` and `sketch` take arrays of hashes and weights; `profile` joins them with a page's texts.
"""

from dedup_filter.fingerprints.simhash import simhash
from dedup_filter.fingerprints.sketch import MOST_SKETCH_BYTES, contained, is_sketch, sketch

__all__ = [
    "MOST_SKETCH_BYTES",
    "contained",
    "is_sketch",
    "simhash",
    "sketch",
]
