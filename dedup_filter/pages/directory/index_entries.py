"""Database -> what the tables hold of it: all entries at once, or what has changed since.

Only kept pages have entries, and those with too little text have no fingerprint. With `scope`
"host" tables hold fingerprints and digests XOR a hash of their host's number: distances within a
host stay as they were, and pages of other hosts are found only by chance.

Tables written at a revision hold the entries of all kept pages up to some number. Of each page
whose entries changed later, the table "superseded" has what they were before; the first such row
since the revision is what the tables hold. Triggers of the schema write it, so nothing that writes
pages can forget it. What tables on disk know already is trimmed.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.errors import StoreCorrupt
from dedup_filter.pages.directory.records import unsigned
from dedup_filter.pages.directory.transactions import Transactions

__all__ = ["Change", "Entries", "Entry", "PageEntries", "digest_head", "host_mask", "host_masks"]

UInt64Array = npt.NDArray[np.uint64]

_HEAD_BYTES = 8
_AT_ONCE = 100_000


class Entry(NamedTuple):
    """What the tables hold of a page."""

    page: int
    fingerprint: int | None
    host: int
    digest: bytes

    @classmethod
    def of(cls, row: Any) -> "Entry":
        """Make it of a row: its fields in their order."""
        page, fingerprint, host, digest = row
        return cls(page, None if fingerprint is None else unsigned(fingerprint), host, digest)


class Change(NamedTuple):
    """What an index must do to follow the store: first remove, then add."""

    removed: tuple[Entry, ...] = ()
    added: tuple[Entry, ...] = ()

    @classmethod
    def of(cls, before: Iterable[Any], after: Iterable[Any] = ()) -> "Change":
        """Make a change of the rows of entries before and after it."""
        return cls(tuple(map(Entry.of, before)), tuple(map(Entry.of, after)))


class Entries(NamedTuple):
    """One value of each of many entries, in the order of their pages, (n,)."""

    pages: npt.NDArray[np.int64]
    values: UInt64Array
    hosts: npt.NDArray[np.int64]


def digest_head(digest: bytes) -> int:
    """Return the part of a digest by which an index finds it: 64 bits."""
    return int.from_bytes(digest[:_HEAD_BYTES], "little")


class PageEntries:
    """The entries of a record, and the log of those that are no longer so."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def fingerprints(self, after: int = 0) -> Entries:
        """Return the fingerprints of kept pages from after a number on."""

        def as_entries(rows: list[Any]) -> Entries:
            pages, values, hosts = np.array(rows, np.int64).T
            return Entries(pages, values.copy().view(np.uint64), hosts)

        return self._read("fingerprint", as_entries, after)

    def digests(self, after: int = 0) -> Entries:
        """Return the heads of the digests of kept pages, in the same way.

        Raises:
            StoreCorrupt: a digest is too short.
        """

        def as_entries(rows: list[Any]) -> Entries:
            pages, found, hosts = zip(*rows, strict=True)
            heads = b"".join([digest[:_HEAD_BYTES] for digest in found])
            if len(heads) != _HEAD_BYTES * len(found):
                raise StoreCorrupt(
                    f"index {self._transactions.name}: a digest is damaged: put back a copy, or "
                    "move it away and start a new one"
                )
            return Entries(np.array(pages), np.frombuffer(heads, "<u8"), np.array(hosts))

        return self._read("digest", as_entries, after)

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
            SELECT id, fingerprint, host, digest FROM main.pages
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

    def _read(self, column: str, as_entries: Callable[[list[Any]], Entries], after: int) -> Entries:
        """Read from an SQL index that has all that is asked for, and no sketches."""
        sql = f"""
            SELECT id, {column}, host FROM main.pages INDEXED BY page_entry
            WHERE is_kept AND {column} IS NOT NULL AND id > ? ORDER BY id LIMIT {_AT_ONCE}
        """  # noqa: S608 - the columns are named above
        pieces = [Entries(np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0, np.int64))]
        while rows := self._transactions.rows(sql, (after,)):
            pieces.append(as_entries(rows))
            after = rows[-1][0]
        return Entries(*map(np.concatenate, zip(*pieces, strict=True)))


def host_masks(hosts: npt.NDArray[np.int64]) -> UInt64Array:
    """Hash the numbers of hosts, as splitmix64 does (Steele, Lea and Flood 2014).

    Stored in tables: never change it without another note.
    """
    mixed = hosts.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    masks: UInt64Array = mixed ^ mixed >> np.uint64(31)
    return masks


@lru_cache(maxsize=100_000)
def host_mask(host: int) -> int:
    """Hash the number of one host."""
    return int(host_masks(np.array([host]))[0])
