"""Hashes of a text's shingles -> keys, by which another page that has much of the text is found.

    64-bit hashes -> the 8 smallest distinct ones -> the lower half of each -> 32 bytes

Two texts that share a share s of their shingles have a key in common with probability 1 - (1 - s)^8
or so: the smallest hashes are a random sample, and of two texts mostly the same one (MinHash,
Broder 1997). The lower half of a hash says nothing of whether it is among the smallest, so it takes
any value: one of 80 million keys (10 million pages) is met by chance once in 54 times. Of the upper
halves, the smallest 8 of 500, all would lie among 69 million values.

Cost: 10 us for 500 shingles.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

UInt64Array = npt.NDArray[np.uint64]

KEYS = 8
"""Keys of a page. Of 63 copies that the rule accepts and that have no candidate within 12 bits, 4
keys find 49, 8 find 59, and 16 find 62 (docs/decisions/0014)."""
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
    """Return the keys of a page by the `smallest` hashes of its texts: `KEYS_BYTES`.

    A zero stands for a key that is missing, as the page has fewer shingles.
    """
    keys = np.zeros(KEYS, KEY)
    of_all = smallest(np.concatenate(texts)) if len(texts) > 1 else texts[0]
    keys[: len(of_all)] = of_all & np.uint64(0xFFFFFFFF)
    return keys.tobytes()
