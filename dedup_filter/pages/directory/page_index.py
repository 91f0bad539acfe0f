"""The fingerprints and digests of a store's pages, searched: indices that follow their store.

    store -> entries -> index         when it is opened
             changes -> index         from then on
                        index -> table files -> index    the next time

Tables on disk are derived from the database and never trusted. Those that are older than it are
brought up to date from it. Those that are missing, damaged, too old, or of another distance, scope
or index are made anew, and a line in the log says so: a warning if it is a sign of damage.
Tables are written when the index is closed, when they had to be made anew, and when more than half
of the saved entries plus 50,000 have changed.

A digest is found by its first 64 bits, in sorted arrays as fingerprints are (an index for distance
0, which has one table and probes nothing); whether all of it is the same the store tells.

Cost: with tables that are up to date, and in the system's memory, an index of 10 million pages is
open after 0.06 s; making them anew takes 3 s a million (`benchmarks/store.py --filter`).
"""

import logging
from collections.abc import Iterator
from typing import Any

from dedup_filter.errors import StoreError
from dedup_filter.hamming import HammingIndex, Neighbours
from dedup_filter.pages.directory.index_entries import (
    Change,
    Entries,
    Entry,
    digest_head,
    host_mask,
    host_masks,
)
from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.page_store import PageStore
from dedup_filter.pages.directory.table_files import (
    NO_TABLES,
    Array,
    SavedTables,
    TableFiles,
    from_tables,
    to_tables,
)

__all__ = ["EntryIndex", "PageIndex", "is_usual"]

logger = logging.getLogger(__name__)

_DIGESTS = "digest_"
"""What the names of the arrays of digests begin with."""
_EXPECTED = 1_000_000
_LEAST_GROWTH = 50_000
"""Changes before which tables are not worth writing in the midst of a crawl: to read so many
from the database takes 0.1 s."""
_LITTLE = 100
"""When an index is closed its tables are written if one entry in so many has changed."""
_OF_ANOTHER = "they are for another distance or scope, or another index"
_TOO_OLD = "more has changed since than was noted"
_MOST_LOGGED = 4_096
"""Superseded entries that a store without tables remembers for nothing."""


def is_usual(reason: str) -> bool:
    """Tell whether tables are unusable for a reason that is no sign of damage.

    A crawl was killed before it wrote them, or is not set as the one before.
    """
    return reason in (NO_TABLES, _OF_ANOTHER, _TOO_OLD)


class EntryIndex:
    """The entries of kept pages, found by fingerprint and by digest."""

    def __init__(self, fingerprints: HammingIndex, digests: HammingIndex, *, by_host: bool) -> None:
        self.fingerprints = fingerprints
        self.digests = digests
        self.changed = 0
        """Pages that were added and removed since it was last the same as tables on disk."""
        self._by_host = by_host

    @classmethod
    def filled(cls, reader: PageReader, max_distance: int, *, by_host: bool) -> "EntryIndex":
        """Make an index of all entries of a record."""
        fingerprints = HammingIndex(max_distance, expected=max(_EXPECTED, len(reader)))
        made = cls(fingerprints, HammingIndex(0), by_host=by_host)
        made._read(reader, 0)
        return made

    @classmethod
    def loaded(cls, reader: PageReader, saved: SavedTables, **wanted: object) -> "EntryIndex | str":
        """Use tables, brought up to date with the database; or return the reason why not.

        `wanted` is what must have been noted of them.
        """
        about = saved.about
        wanted["index"] = reader.identity
        try:
            if {name: about[name] for name in wanted} != wanted:
                return _OF_ANOTHER
            if about["last_page"] > reader.last_page:
                return "they are newer than the record"
            change = reader.entries.since(about["revision"], about["last_page"])
            if change is None:
                return _TOO_OLD
            loaded = cls(
                from_tables(saved.arrays, about),
                from_tables(saved.arrays, about["digests"], _DIGESTS),
                by_host=about["by_host"],
            )
            loaded.follow(change)
        except (ValueError, KeyError, TypeError) as error:
            return f"they are not what the record says ({error})"
        loaded._read(reader, about["last_page"])
        return loaded

    def tables(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Compact it; return its arrays by name, and what they are for."""
        arrays, note = to_tables(self.fingerprints)
        digest_arrays, digest_note = to_tables(self.digests, _DIGESTS)
        about = {**note, "digests": digest_note, "by_host": self._by_host}
        return {**arrays, **digest_arrays}, about

    def follow(self, change: Change) -> None:
        """Apply what the store has changed."""
        for entry in change.removed:
            for index, value in self._values(entry):
                index.remove(value, entry.page)
        for entry in change.added:
            for index, value in self._values(entry):
                index.add_new(value, entry.page)
        self.changed += len(change.removed) + len(change.added)

    def mask(self, host: int | None) -> int:
        """Return what the values of a host's entries are stored XOR."""
        return host_mask(host or 0) if self._by_host else 0

    def masked(self, found: Entries) -> Array:
        """Return the values as they are stored, (n,)."""
        return found.values ^ host_masks(found.hosts) if self._by_host else found.values

    def _values(self, entry: Entry) -> Iterator[tuple[HammingIndex, int]]:
        mask = self.mask(entry.host)
        if entry.fingerprint is not None:
            yield self.fingerprints, entry.fingerprint ^ mask
        yield self.digests, digest_head(entry.digest) ^ mask

    def _read(self, reader: PageReader, after: int) -> None:
        """Add the entries of all pages from after a number on."""
        for index, read in (
            (self.fingerprints, reader.entries.fingerprints),
            (self.digests, reader.entries.digests),
        ):
            found = read(after)
            if len(found.pages):
                index.add_many(self.masked(found), found.pages)
        self.changed += len(found.pages)


class PageIndex:
    """The entries of a store within reach of a fingerprint."""

    def __init__(self, store: PageStore, max_distance: int, *, by_host: bool = False) -> None:
        self._store = store
        self._files = TableFiles(store.directory.tables) if store.directory else None
        self._saved = 0
        """Pages in the tables on disk."""
        found: Any = self._files.load() if self._files else NO_TABLES
        if isinstance(found, SavedTables):
            found = EntryIndex.loaded(store, found, max_distance=max_distance, by_host=by_host)
        if isinstance(found, EntryIndex):
            self._entries = found
            self._saved = len(found.digests)
            return
        self._entries = EntryIndex.filled(store, max_distance, by_host=by_host)
        if self._files is not None and len(self._entries.digests):
            usual = is_usual(found)
            logger.log(
                logging.INFO if usual else logging.WARNING,
                "index %s: its tables are made anew from the record%s: %s",
                store.directory,
                "; nothing is lost" if usual else "",
                found,
            )
            self.save()

    @property
    def nbytes(self) -> int:
        """Memory in bytes, that of files which are mapped into it included."""
        return self._entries.fingerprints.nbytes + self._entries.digests.nbytes

    @property
    def disk_bytes(self) -> int:
        """Size of the table files."""
        return 0 if self._files is None else self._files.nbytes

    def neighbours(self, fingerprint: int, host: int | None, most: int) -> Neighbours:
        """Return the pages within k bits, the `most` nearest; with `by_host` only of this host.

        With `by_host`, too, a page of another host may be among them by chance.
        """
        asked = fingerprint ^ self._entries.mask(host)
        return self._entries.fingerprints.neighbours(asked, most=most)

    def of_digest(self, digest: bytes, host: int | None) -> list[int]:
        """Return the kept pages with a digest, the earliest first; hosts as in `neighbours`."""
        found = self._entries.digests.rows_of(digest_head(digest) ^ self._entries.mask(host))
        return self._store.of_digest(found, digest) if found else found

    def follow(self, change: Change) -> None:
        """Apply what the store has changed."""
        self._entries.follow(change)

    def tend(self) -> None:
        """Write tables if enough has changed. Requires: no transaction of the store is going on."""
        if self._files is None:
            if self._entries.changed > _MOST_LOGGED:
                self._store.entries.trim(self._store.entries.revision)
                self._entries.changed = 0
        elif self._entries.changed > self._saved // 2 + _LEAST_GROWTH:
            self.save()

    def close(self) -> None:
        """Write tables if enough has changed."""
        if self._files is not None and self._entries.changed * _LITTLE > self._saved:
            self.save()

    def save(self) -> None:
        """Write tables; if that fails, the log says so, and the next opening takes longer."""
        assert self._files is not None
        try:
            # The database first: after a power failure, tables newer than it would hold numbers
            # that it gives to other pages.
            self._store.sync()
            arrays, about = self._entries.tables()
            revision, last_page = self._store.entries.revision, self._store.last_page
            about |= {"index": self._store.identity, "revision": revision, "last_page": last_page}
            self._files.save(arrays, about)
            self._store.entries.trim(revision)
        except StoreError as error:
            logger.warning("%s", error)
        self._saved, self._entries.changed = len(self._entries.digests), 0

    def check(self) -> None:
        """Verify that the tables are whole and hold what the store has: else AssertionError."""
        entries = self._entries
        for index, found in (
            (entries.fingerprints, self._store.entries.fingerprints()),
            (entries.digests, self._store.entries.digests()),
        ):
            index.check()
            values = entries.masked(found).tolist()
            for page, value in zip(found.pages.tolist(), values, strict=True):
                assert page in index.rows_of(value), f"page {page} is not in the index"
            assert len(values) == len(index), "the index has entries of no page"
