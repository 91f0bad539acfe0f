"""One table of a layout, a distance -> what to flip in a key of its directory.

The probes of a table (`table_shape`) flip bits of its prefix. Where the directory has fewer bits
than the prefix, probes that differ only beyond them ask for the same entries, and are made once.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.permutation import Permutation

__all__ = ["probe_keys"]


@lru_cache(maxsize=1024)
def probe_keys(
    layout: Layout, distance: int, table: int, directory_bits: int
) -> npt.NDArray[np.intp]:
    """Return the distinct masks of directory keys, for table number `table` of the layout.

    Empty where the distance does not need the table.

    >>> probe_keys(Layout(4), 3, 0, 16).tolist(), len(probe_keys(Layout(4), 7, 0, 16))
    ([0], 17)
    """
    shape = layout.table_shapes[table]
    masks = np.fromiter(shape.probes(distance), np.uint64)
    permuted = Permutation(shape.order).apply_many(masks)
    keys = np.unique(permuted >> np.uint64(64 - directory_bits)).astype(np.intp)
    keys.flags.writeable = False  # shared by all who ask
    return keys
