"""Hashes of a text's shingles -> keys that find other pages with much of the text.

    64-bit hashes -> the 8 smallest distinct ones -> the lower half of each -> 32 bytes

Two texts with a share s of common shingles have a key in common with a probability of about
1 - (1 - s)^8: the smallest hashes are a random sample, mostly the same in both texts (MinHash,
Broder 1997). The lower half of a hash is independent of its rank, so it takes any value: one of 80
million keys (10 million pages) is met by chance once in 54 times. The upper halves of the smallest
8 of 500 hashes would all lie among 69 million values.

Cost: 10 us for 500 shingles.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

UInt64Array = npt.NDArray[np.uint64]

KEYS = 8
"""Number of keys of a page. Among 63 copies that the rule accepts and that have no candidate within
12 bits, 4 keys find 49, 8 find 59, and 16 find 62 (docs/decisions/0014)."""
KEY = np.dtype("<u4")
KEYS_BYTES = KEYS * KEY.itemsize
"""Keys are stored with the pages: never change them under an old index."""


def smallest(hashes: UInt64Array) -> UInt64Array:
    """Return the smallest distinct hashes, (KEYS,) or fewer, ascending."""
    ascending = np.sort(hashes)
    is_first = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=is_first[1:])
    return ascending[is_first][:KEYS]


def keys_of(texts: Sequence[UInt64Array]) -> bytes:
    """Return the keys of a page from the `smallest` hashes of its texts: `KEYS_BYTES` bytes.

    If the page has fewer shingles, zeros stand for the missing keys.
    """
    keys = np.zeros(KEYS, KEY)
    of_all = smallest(np.concatenate(texts)) if len(texts) > 1 else texts[0]
    keys[: len(of_all)] = of_all & np.uint64(0xFFFFFFFF)
    return keys.tobytes()
