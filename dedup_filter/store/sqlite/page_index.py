"""Look-ups of kept pages by fingerprint, digest and keys: an index that follows the database.

    all entries, or tables -> index    when the index is opened
    changes of entries -> index        before each look-up
    index -> tables                    when the index is closed

Only kept pages have entries, and pages with too little text have no fingerprint. `PageStore`
collects the changes of entries in memory.

With `scope` "host" fingerprints and digests are stored XOR a hash of their host's number: distances
within a host do not change, and pages of other hosts are found only by chance.

Tables on disk have the entries of one state of the database. The database names their file only
in that state: while a process writes to the index, and after it was killed, no file is named, and
the index is made of all entries. It is also made so if tables are missing, damaged, or of another
distance or scope; if they are damaged, the log has a warning.

Keys of phrases are in a `PhraseTable`, whatever the scope.

A digest is found by its first 64 bits, in sorted arrays as fingerprints are (an index for distance
0: one table, searched by bisection); the store compares the whole digest.

Cost: with tables in the system's cache, an index of 10 million pages opens in 0.06 s; without
tables a million pages take 3 s (`benchmarks/store.py --filter`).
"""

import logging
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dedup_filter.errors import StoreError
from dedup_filter.hamming.hamming_index import HammingIndex, SealedArrays
from dedup_filter.hamming.layout import Layout
from dedup_filter.store.phrase_table import PhraseTable
from dedup_filter.store.sqlite.page_reader import MASK, PageReader
from dedup_filter.store.sqlite.page_store import PageStore
from dedup_filter.store.sqlite.table_files import Array, UnusableTables
from dedup_filter.wording import counted

logger = logging.getLogger(__name__)

_DIGESTS = "digest_"
"""Prefix of the names of the arrays of digests."""
_PARTS = {"run": "runs", "rows": "rows", "directory": "directories"}
"""Prefix of the names of each table's arrays -> field of `SealedArrays`."""
_EXPECTED = 1_000_000
_PAIR = np.dtype([("page", np.int64), ("value", np.uint64)])
_PHRASES = "phrases"
"""The name of the array of a `PhraseTable`."""


class PageIndex:
    """The entries of kept pages, found by fingerprint, by digest, and by phrases."""

    def __init__(
        self,
        fingerprints: HammingIndex,
        digests: HammingIndex,
        phrases: PhraseTable,
        *,
        by_host: bool,
    ) -> None:
        self.fingerprints = fingerprints
        self.digests = digests
        self.phrases = phrases
        self._by_host = by_host

    @classmethod
    def opened(cls, store: PageStore, max_distance: int, *, by_host: bool) -> "PageIndex":
        """Return an index of all entries of a store, which follows the store from now on."""
        store.changes = []
        made = None
        try:
            made = cls.loaded(store, max_distance=max_distance, by_host=by_host)
        except UnusableTables as reason:
            logger.warning(
                "index %s: its tables are made anew from the record; nothing is lost: %s",
                store.directory,
                reason,
            )
        if made is None:
            store.tables = None
            fingerprints = HammingIndex(max_distance, expected=max(_EXPECTED, len(store)))
            made = cls(fingerprints, HammingIndex(0), PhraseTable(), by_host=by_host)
            made.add_all(store)
        return made

    @classmethod
    def loaded(cls, reader: PageReader, **wanted: object) -> "PageIndex | None":
        """Return an index of the tables on disk; None if there are none with all present entries.

        `wanted`: values that the note of the tables must have.

        Raises:
            UnusableTables: the tables are damaged.
        """
        if reader.directory is None or reader.tables is None:
            return None
        found = reader.directory.tables.load(reader.tables)
        if found is None:
            return None
        arrays, about = found
        if {name: about[name] for name in wanted} != wanted:
            return None
        return cls(
            HammingIndex.from_sealed(_from_tables(arrays, about)),
            HammingIndex.from_sealed(_from_tables(arrays, about["digests"], _DIGESTS)),
            PhraseTable(arrays[_PHRASES]),
            by_host=about["by_host"],
        )

    @property
    def nbytes(self) -> int:
        """Memory in bytes, mapped files included."""
        return self.fingerprints.nbytes + self.digests.nbytes + self.phrases.nbytes

    def follow(self, store: PageStore) -> None:
        """Apply the changes of entries since the last call. Requires: no open transaction."""
        changes, store.changes = store.changes or (), []
        for is_added, (page, fingerprint, host, digest, keys) in changes:
            mask = self.mask(host)
            values = [(self.digests, head(digest) ^ mask)]
            if fingerprint is not None:
                values.append((self.fingerprints, fingerprint & MASK ^ mask))
            for index, value in values:
                (index.add_new if is_added else index.remove)(value, page)
            (self.phrases.add if is_added else self.phrases.remove)(keys, page)

    def add_all(self, reader: PageReader) -> None:
        """Add all entries of an index. Requires: this index is empty."""
        for entries in reader.entry_arrays():
            kept = entries[entries["is_kept"]]
            long = kept[kept["has_fingerprint"]]
            for index, some, value in (
                (self.digests, kept, "digest"),
                (self.fingerprints, long, "fingerprint"),
            ):
                masks = host_masks(some["host"]) if self._by_host else np.uint64(0)
                index.add_many(some[value].copy().view("<u8") ^ masks, some["page"])
            self.phrases.add_many(kept["keys"], kept["page"])

    def save(self, store: PageStore) -> None:
        """Write tables, unless the index is in memory or its tables have the present entries.

        If writing fails, the log says so, and the next opening takes longer.
        """
        if store.directory is None or store.tables is not None:
            return
        arrays, note = _to_tables(self.fingerprints)
        digests, digest_note = _to_tables(self.digests, _DIGESTS)
        phrases = {_PHRASES: self.phrases.sealed()}
        about = note | {"digests": digest_note, "by_host": self._by_host}
        try:
            store.tables = store.directory.tables.save(arrays | digests | phrases, about)
        except StoreError as error:
            logger.warning("%s", error)

    def faults(self, reader: PageReader) -> list[str]:
        """Compare all entries with the database; return the differences. Cost: sorts them."""
        try:
            self.fingerprints.check()
            self.digests.check()
            self.phrases.check()
        except AssertionError as fault:
            return [str(fault)]
        record = PageIndex(HammingIndex(0), HammingIndex(0), PhraseTable(), by_host=self._by_host)
        record.add_all(reader)
        faults = []
        for name, pairs, recorded in (
            ("entries", _pairs(self.fingerprints), _pairs(record.fingerprints)),
            ("digests", _pairs(self.digests), _pairs(record.digests)),
            ("phrases", self.phrases.pairs, record.phrases.pairs),
        ):
            wrong = np.unique(np.setxor1d(pairs, recorded)["page"])
            if len(wrong):
                pages = f"{counted(len(wrong), 'page')}, page {int(wrong[0])} first"
                faults.append(f"they differ from the record in the {name} of {pages}")
        return faults

    def mask(self, host: int) -> int:
        """Return the XOR mask of the entries of a host, given by its number."""
        return host_mask(host) if self._by_host else 0


def host_masks(hosts: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Hash the numbers of hosts, as splitmix64 does (Steele, Lea and Flood 2014).

    Stored in tables: a changed hash needs another note in the tables.
    """
    mixed = hosts.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    masks: npt.NDArray[np.uint64] = mixed ^ mixed >> np.uint64(31)
    return masks


@lru_cache(maxsize=100_000)
def host_mask(host: int) -> int:
    """Hash the number of one host."""
    return int(host_masks(np.array([host]))[0])


def head(digest: bytes) -> int:
    """Return the first 64 bits of a digest."""
    return int.from_bytes(digest[:8], "little")


def _pairs(index: HammingIndex) -> Array:
    sealed = index.sealed()
    pairs: Array = np.rec.fromarrays([sealed.rows[0], sealed.runs[0]], dtype=_PAIR)
    return pairs


def _to_tables(index: HammingIndex, prefix: str = "") -> tuple[dict[str, Array], dict[str, Any]]:
    """Compact an index and return its arrays by name, and the note.

    `prefix`: begins the names, so that one generation can hold the arrays of several indices.
    """
    sealed = index.sealed()
    arrays = {
        f"{prefix}{name}{number}": array
        for name, part in _PARTS.items()
        for number, array in enumerate(getattr(sealed, part))
    }
    return arrays, {"max_distance": sealed.max_distance, "layout": repr(sealed.layout)}


def _from_tables(
    arrays: Mapping[str, Array], note: Mapping[str, Any], prefix: str = ""
) -> SealedArrays:
    """Return the arrays of one index.

    Raises:
        ValueError, KeyError, TypeError: the arrays or the note do not describe an index.
    """
    count = sum(name.startswith(f"{prefix}run") for name in arrays)
    return SealedArrays(
        Layout.of(note["layout"]),
        note["max_distance"],
        *(tuple([arrays[f"{prefix}{part}{number}"] for number in range(count)]) for part in _PARTS),
    )
