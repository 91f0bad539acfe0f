"""All kept pages, some at a time -> the arrays that an index is filled from.

They are read from an SQL index that has all that is asked for, and no sketches.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.errors import StoreCorrupt
from dedup_filter.pages.directory.records import DIGEST_HEAD_BYTES
from dedup_filter.pages.directory.transactions import Transactions

__all__ = ["Digests", "Fingerprints", "read_digests", "read_fingerprints"]

_FINGERPRINTS = """
    SELECT id, fingerprint, host FROM pages INDEXED BY page_entry
    WHERE is_kept AND fingerprint IS NOT NULL AND id > ? ORDER BY id LIMIT ?
"""
_DIGESTS = """
    SELECT id, host, digest FROM pages INDEXED BY page_entry
    WHERE is_kept AND id > ? ORDER BY id LIMIT ?
"""


class Fingerprints(NamedTuple):
    """Kept pages in the order of their numbers, with the fingerprint and host of each, (n,)."""

    pages: npt.NDArray[np.int64]
    fingerprints: npt.NDArray[np.uint64]
    hosts: npt.NDArray[np.int64]


class Digests(NamedTuple):
    """Kept pages in the order of their numbers, with the head of the digest and host of each, (n,).

    For heads see `records.digest_head`.
    """

    pages: npt.NDArray[np.int64]
    heads: npt.NDArray[np.uint64]
    hosts: npt.NDArray[np.int64]


def read_fingerprints(transactions: Transactions, after: int, most: int) -> Fingerprints:
    """Read those from after a number on."""
    rows = transactions.rows(_FINGERPRINTS, (after, most))
    columns = np.array(rows, np.int64).reshape(len(rows), 3)
    return Fingerprints(columns[:, 0], columns[:, 1].view(np.uint64), columns[:, 2])


def read_digests(transactions: Transactions, after: int, most: int) -> Digests:
    """Read those from after a number on.

    Raises:
        StoreCorrupt: a digest is too short.
    """
    rows = transactions.rows(_DIGESTS, (after, most))
    columns = np.array([row[:2] for row in rows], np.int64).reshape(len(rows), 2)
    heads = b"".join([row[2][:DIGEST_HEAD_BYTES] for row in rows])
    if len(heads) != DIGEST_HEAD_BYTES * len(rows):
        raise StoreCorrupt(
            f"index {transactions.name}: a digest is damaged: put back a copy, or move it away and "
            "start a new one"
        )
    return Digests(columns[:, 0], np.frombuffer(heads, "<u8"), columns[:, 1])
