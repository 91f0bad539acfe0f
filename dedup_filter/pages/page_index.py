"""The fingerprints and digests of a store's pages, searched: indices that follow their store.

    store -> entries -> index         when it is opened
             changes -> index         from then on
                        index -> table files -> index    the next time

Tables on disk are derived from the record and never trusted. Those that are older than the record
are brought up to date from it. Those that are missing, damaged, too old, or of another distance,
scope or index are made anew, and a line in the log says so: a warning if it is a sign of damage.
Tables are written when the index is closed, when they had to be made anew, and when half as much
again has changed.

With `by_host`, each fingerprint and digest is stored XOR a hash of its host's number. Distances
within a host stay as they were, and pages of other hosts are found only by chance.

A digest is found by its first 64 bits, in sorted arrays as fingerprints are (an index for distance
0, which has one table and probes nothing); whether all of it is the same the store tells.

Cost: with tables that are up to date, and in the system's memory, an index of 10 million pages is
open after 0.06 s; making them anew takes 83 s on a busy machine (`benchmarks/store.py --filter`).
"""

import logging
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dedup_filter.errors import StoreError
from dedup_filter.hamming import HammingIndex, Neighbours
from dedup_filter.pages.directory import (
    Change,
    Entries,
    Entry,
    Measured,
    PageStore,
    TableFiles,
    digest_head,
)
from dedup_filter.pages.directory.table_files import DIGESTS, NO_TABLES, from_tables, to_tables

__all__ = ["PageIndex", "host_mask", "host_masks"]

logger = logging.getLogger(__name__)

UInt64Array = npt.NDArray[np.uint64]

_EXPECTED = 1_000_000
_LEAST_GROWTH = 50_000
"""Changes before which tables are not worth writing in the midst of a crawl: to read so many
from the record takes 0.1 s."""
_LITTLE = 100
"""When an index is closed its tables are written if one entry in so many has changed."""
_OF_ANOTHER = "they are for another distance or scope, or another index"
_TOO_OLD = "more has changed since than was noted"
_USUAL = {NO_TABLES, _OF_ANOTHER, _TOO_OLD}
"""Reasons to make tables anew that are no sign of damage: a crawl was killed before it wrote them,
or is not set as the one before."""
_MOST_LOGGED = 4_096
"""Superseded entries that a store without tables remembers for nothing."""


class PageIndex:
    """The entries of a store within reach of a fingerprint.

    Raises:
        StoreError: the store cannot be read.
    """

    def __init__(self, store: PageStore, max_distance: int, *, by_host: bool = False) -> None:
        self._store = store
        self._max_distance = max_distance
        self._by_host = by_host
        self._files = TableFiles(store.directory.tables) if store.directory else None
        self._index = HammingIndex(max_distance)
        self._digests = HammingIndex(0)
        self._saved = 0
        self._changed = 0
        if self._files is None:
            self._read_entries(0)
        else:
            self._open(self._files)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def nbytes(self) -> int:
        """Memory in bytes, that of files which are mapped into it included."""
        return self._index.nbytes + self._digests.nbytes

    @property
    def disk_bytes(self) -> int:
        """Size of the table files."""
        return 0 if self._files is None else self._files.nbytes

    def neighbours(self, fingerprint: int, host: int | None, most: int) -> Neighbours:
        """Return the pages within k bits, or so many of the nearest; of a host, if by host.

        A page of another host may be among them by chance.
        """
        if self._by_host:
            fingerprint ^= host_mask(host or 0)
        return self._index.neighbours(fingerprint, most=most)

    def of_digest(self, digest: bytes, host: int | None) -> list[int]:
        """Return the kept pages with a digest, the earliest first; of a host, if by host.

        A page of another host may be among them by chance.
        """
        head = digest_head(digest)
        found = self._digests.rows_of(head ^ host_mask(host or 0) if self._by_host else head)
        return self._store.of_digest(found, digest) if found else found

    def follow(self, change: Change) -> None:
        """Apply what the store has changed: first remove, then add."""
        for index, removed, added in (
            (self._index, change.removed, change.added),
            (self._digests, change.removed_digests, change.added_digests),
        ):
            for entry in removed:
                index.remove(self._stored(entry), entry.page)
            for entry in added:
                index.add(self._stored(entry), entry.page)
        self._changed += len(change.removed_digests) + len(change.added_digests)

    def add(self, page: int, measured: Measured, host: int) -> None:
        """Add a page that the store has just given its number."""
        mask = host_mask(host) if self._by_host else 0
        if measured.fingerprint is not None:
            self._index.add_new(measured.fingerprint ^ mask, page)
        self._digests.add_new(digest_head(measured.digest) ^ mask, page)
        self._changed += 1

    def tend(self) -> None:
        """Write tables if enough has changed. Requires: no transaction of the store is going on."""
        if self._files is None:
            if self._changed > _MOST_LOGGED:
                self._store.superseded.trim(self._store.superseded.revision)
                self._changed = 0
        elif self._changed > self._saved // 2 + _LEAST_GROWTH:
            self.save()

    def close(self) -> None:
        """Write tables if enough has changed."""
        if self._files is not None and self._changed * _LITTLE > self._saved:
            self.save()

    def save(self) -> None:
        """Write tables; if that fails, the log says so, and the next opening takes longer."""
        assert self._files is not None
        try:
            self._save(self._files)
        except StoreError as error:
            logger.warning("%s", error)
        self._saved, self._changed = len(self._digests), 0

    def check(self) -> None:
        """Verify that the tables are whole and hold what the store has.

        Raises:
            AssertionError: they are not, or do not.
        """
        for index, recorded in (
            (self._index, self._store.fingerprints()),
            (self._digests, self._store.digests()),
        ):
            index.check()
            count = 0
            for found in recorded:
                values = self._masked(found)
                for page, value in zip(found.pages.tolist(), values.tolist(), strict=True):
                    assert page in index.rows_of(value), f"page {page} is not in the index"
                count += len(values)
            assert count == len(index), "the index has entries of no page"

    def _open(self, files: TableFiles) -> None:
        reason = self._load(files)
        if reason is None:
            return
        self._index = HammingIndex(self._max_distance, expected=max(_EXPECTED, len(self._store)))
        self._digests = HammingIndex(0)
        self._read_entries(0)
        if len(self._digests):
            is_usual = reason in _USUAL
            logger.log(
                logging.INFO if is_usual else logging.WARNING,
                "index %s: its tables are made anew from the record%s: %s",
                self._store.directory,
                "; nothing is lost" if is_usual else "",
                reason,
            )
            self.save()

    def _load(self, files: TableFiles) -> str | None:
        """Take the tables on disk and bring them up to date; return the reason if it fails."""
        saved = files.load()
        if isinstance(saved, str):
            return saved
        try:
            revision, last_page = saved.about["revision"], saved.about["last_page"]
            if {name: saved.about[name] for name in self._note} != self._note:
                return _OF_ANOTHER
            if last_page > self._store.last_page:
                return "they are newer than the record"
            change = self._store.superseded.since(revision, last_page)
            if change is None:
                return _TOO_OLD
            self._index = from_tables(saved.arrays, saved.about)
            self._digests = from_tables(saved.arrays, saved.about["digests"], DIGESTS)
            self._saved = len(self._digests)
            self.follow(change)
        except (ValueError, KeyError, TypeError) as error:
            return f"they are not what the record says ({error})"
        self._read_entries(last_page)
        return None

    def _read_entries(self, after: int) -> None:
        """Add the entries of all pages from after a number on."""
        for index, recorded in (
            (self._index, self._store.fingerprints(after)),
            (self._digests, self._store.digests(after)),
        ):
            found = Entries.joined(recorded)
            if len(found.pages):
                index.add_many(self._masked(found), found.pages)
        self._changed += len(found.pages)

    def _save(self, files: TableFiles) -> None:
        # The record first: after a power failure, tables newer than it would hold numbers that it
        # gives to other pages.
        self._store.sync()
        revision, last_page = self._store.superseded.revision, self._store.last_page
        arrays, note = to_tables(self._index)
        digest_arrays, digest_note = to_tables(self._digests, DIGESTS)
        about = {"digests": digest_note, "revision": revision, "last_page": last_page}
        files.save({**arrays, **digest_arrays}, {**note, **self._note, **about})
        self._store.superseded.trim(revision)

    @property
    def _note(self) -> dict[str, object]:
        """What tables must be for."""
        return {
            "max_distance": self._max_distance,
            "by_host": self._by_host,
            "index": self._store.identity,
        }

    def _masked(self, found: Entries) -> UInt64Array:
        """Return the values that the index holds of entries, (n,)."""
        return found.values ^ host_masks(found.hosts) if self._by_host else found.values

    def _stored(self, entry: Entry) -> int:
        """Return the value that the index holds of one entry."""
        return entry.value ^ host_mask(entry.host) if self._by_host else entry.value


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
