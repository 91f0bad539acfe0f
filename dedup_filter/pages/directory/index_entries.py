"""Record -> what an index holds of it: all entries at once, or what has changed since.

An entry is a page, a value that later pages are compared with, and the number of the page's host.
The value is the fingerprint of the page, or the first 64 bits of its digest. Only kept pages have
entries, and those with too little text have no fingerprint.

All entries are read from an SQL index that has all that is asked for, and no sketches.

Tables written at a revision hold the entries of all kept pages up to some number. Of each page
whose entries changed later, the table "superseded" has what they were before; the first such row
since the revision is what the tables hold. Triggers of the schema write it, so nothing that writes
pages can forget it. What tables on disk know already is trimmed.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.errors import StoreCorrupt
from dedup_filter.pages.directory.records import unsigned
from dedup_filter.pages.directory.transactions import Transactions

__all__ = ["Change", "Entries", "Entry", "Superseded", "digest_head", "digests", "fingerprints"]

_HEAD_BYTES = 8
_FINGERPRINTS = """
    SELECT id, fingerprint, host FROM pages INDEXED BY page_entry
    WHERE is_kept AND fingerprint IS NOT NULL AND id > ? ORDER BY id LIMIT ?
"""
_DIGESTS = """
    SELECT id, digest, host FROM pages INDEXED BY page_entry
    WHERE is_kept AND id > ? ORDER BY id LIMIT ?
"""


class Entry(NamedTuple):
    """What an index holds of a page."""

    page: int
    value: int
    host: int


class Change(NamedTuple):
    """What an index must do to follow the store: first remove, then add."""

    removed: tuple[Entry, ...] = ()
    added: tuple[Entry, ...] = ()
    removed_digests: tuple[Entry, ...] = ()
    added_digests: tuple[Entry, ...] = ()

    @classmethod
    def of(cls, before: Iterable[Any], after: Iterable[Any] = ()) -> "Change":
        """Make a change of rows before and after it: page, fingerprint, host, digest."""
        before, after = list(before), list(after)
        return cls(_of(before), _of(after), _of_digests(before), _of_digests(after))


class Entries(NamedTuple):
    """Entries in the order of their pages, side by side, (n,)."""

    pages: npt.NDArray[np.int64]
    values: npt.NDArray[np.uint64]
    hosts: npt.NDArray[np.int64]

    @classmethod
    def joined(cls, pieces: Iterable["Entries"]) -> "Entries":
        """Join pieces into one."""
        nothing = cls(np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0, np.int64))
        return cls(*map(np.concatenate, zip(nothing, *pieces, strict=True)))


def digest_head(digest: bytes) -> int:
    """Return the part of a digest by which an index finds it: 64 bits."""
    return int.from_bytes(digest[:_HEAD_BYTES], "little")


def fingerprints(transactions: Transactions, after: int, most: int) -> Iterator[Entries]:
    """Yield the fingerprints of kept pages from after a number on, so many at a time."""
    while rows := transactions.rows(_FINGERPRINTS, (after, most)):
        columns = np.array(rows, np.int64)
        yield Entries(columns[:, 0], columns[:, 1].view(np.uint64), columns[:, 2])
        after = rows[-1][0]


def digests(transactions: Transactions, after: int, most: int) -> Iterator[Entries]:
    """Yield the heads of the digests of kept pages from after a number on, so many at a time.

    Raises:
        StoreCorrupt: a digest is too short.
    """
    while rows := transactions.rows(_DIGESTS, (after, most)):
        pages, found, hosts = zip(*rows, strict=True)
        heads = b"".join([digest[:_HEAD_BYTES] for digest in found])
        if len(heads) != _HEAD_BYTES * len(rows):
            raise StoreCorrupt(
                f"index {transactions.name}: a digest is damaged: put back a copy, or move it away "
                "and start a new one"
            )
        yield Entries(
            np.array(pages, np.int64), np.frombuffer(heads, "<u8"), np.array(hosts, np.int64)
        )
        after = pages[-1]


class Superseded:
    """The log of entries that are no longer so."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    @property
    def revision(self) -> int:
        """How many times entries have changed so far."""
        row = self._transactions.row("SELECT seq FROM sqlite_sequence WHERE name = 'superseded'")
        return int(row[0]) if row else 0

    def since(self, revision: int, last_page: int) -> Change | None:
        """Tell how to bring tables up to date that hold the pages up to a number.

        None: the log does not reach back so far, or the tables are of another index.
        """
        trimmed = self._transactions.row("SELECT value FROM meta WHERE key = 'trimmed'")
        if not int(trimmed[0]) <= revision <= self.revision:
            return None
        earliest = """
            SELECT page, fingerprint, host, digest FROM superseded WHERE revision IN (
                SELECT min(revision) FROM superseded WHERE revision > ? GROUP BY page
            ) AND page <= ? ORDER BY page
        """
        now = """
            SELECT id, fingerprint, host, digest FROM pages
            WHERE is_kept AND id IN (SELECT page FROM superseded WHERE revision > ?) AND id <= ?
            ORDER BY id
        """
        rows, where = self._transactions.rows, (revision, last_page)
        return Change.of(rows(earliest, where), rows(now, where))

    def trim(self, revision: int) -> None:
        """Forget what tables written at a revision know."""
        with self._transactions.transaction() as write:
            write("DELETE FROM superseded WHERE revision <= ?", (revision,))
            write("UPDATE meta SET value = ? WHERE key = 'trimmed'", (str(revision),))


def _of(rows: list[Any]) -> tuple[Entry, ...]:
    return tuple(
        Entry(page, unsigned(value), host) for page, value, host, _ in rows if value is not None
    )


def _of_digests(rows: list[Any]) -> tuple[Entry, ...]:
    return tuple(Entry(page, digest_head(digest), host) for page, _, host, digest in rows)
