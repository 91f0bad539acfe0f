"""Look-ups of kept pages by fingerprint, digest and keys: an index that follows the database.

    entries of a file, or of the database -> index    when the index is opened
    changes of entries -> index                       before each look-up
    index -> entries in a file                        when the index is closed

Only kept pages have entries, and pages with too little text have no fingerprint. `PageStore`
collects the changes of entries in memory.

With `scope` "host" fingerprints and digests are stored XOR a hash of their host's number: distances
within a host do not change, and pages of other hosts are found only by chance.

The file (see `entry_file`) has the sorted entries of one state of the database. The database has
its checksum only in that state: while a process writes to the index, and after it was killed, there
is none, and the index is made of the entries in the database. It is also made so if the file is
missing, damaged, or of the other scope; if it is damaged, the log has a warning.

Keys of phrases are in a `PhraseTable`, whatever the scope.

A digest is found by its first 64 bits, in sorted arrays as fingerprints are (an index for distance
0: one table, searched by bisection); the store compares the whole digest.

Cost: a million pages take 3 s from the database, and a tenth of that from the file
(`benchmarks/store.py --filter`).
"""

import logging
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dedup_filter.errors import StoreError
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.table import packed
from dedup_filter.store.phrase_table import PhraseTable
from dedup_filter.store.sqlite.entry_file import Array, UnusableEntries
from dedup_filter.store.sqlite.page_reader import MASK, PageReader
from dedup_filter.store.sqlite.page_store import PageStore
from dedup_filter.wording import counted

logger = logging.getLogger(__name__)

_FORMAT = 1
"""Of the arrays in the file. Another meaning of them, or of `host_masks`, is another format."""
_EXPECTED = 1_000_000
_PAIR = np.dtype([("page", np.int64), ("value", np.uint64)])


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
            made = cls.loaded(store, max_distance, by_host=by_host)
        except UnusableEntries as reason:
            logger.warning(
                "index %s: its entries are read from the record; nothing is lost: %s",
                store.directory,
                reason,
            )
        if made is None:
            store.saved_entries = None
            made = cls.empty(max_distance, max(_EXPECTED, len(store)), by_host=by_host)
            made.add_all(store)
        return made

    @classmethod
    def empty(cls, max_distance: int, expected: int, *, by_host: bool) -> "PageIndex":
        """Return an index without entries."""
        fingerprints = HammingIndex(max_distance, expected=expected)
        return cls(fingerprints, HammingIndex(0, expected=expected), PhraseTable(), by_host=by_host)

    @classmethod
    def loaded(
        cls, reader: PageReader, max_distance: int, *, by_host: bool | None = None
    ) -> "PageIndex | None":
        """Return an index of the entries in the file; None if it has not all present entries.

        `by_host`: None for an index of the scope of the file.

        Raises:
            UnusableEntries: the file is damaged.
        """
        if reader.directory is None or reader.saved_entries is None:
            return None
        found = reader.directory.entries.load(reader.saved_entries)
        if found is None:
            return None
        (version, has_masks), *pairs, phrases = found
        if version != _FORMAT or by_host not in (None, bool(has_masks)):
            return None
        expected = max(_EXPECTED, len(pairs[0]))
        made = cls.empty(max_distance, expected, by_host=bool(has_masks))
        made.fingerprints.add_many(*pairs[:2])
        made.digests.add_many(*pairs[2:])
        made.phrases = PhraseTable(phrases)
        return made

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
                (index.add if is_added else index.remove)(value, page)
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
        """Write the entries, unless the index is in memory or the file has the present ones.

        If writing fails, the log says so, and the next opening takes longer.
        """
        if store.directory is None or store.saved_entries is not None:
            return
        arrays = [np.array([_FORMAT, self._by_host])]
        for index in (self.fingerprints, self.digests):
            fingerprints, rows = index.pairs
            arrays += [fingerprints, packed(rows)]
        try:
            store.saved_entries = store.directory.entries.save([*arrays, self.phrases.sealed()])
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
        record = PageIndex.empty(0, _EXPECTED, by_host=self._by_host)
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

    Stored in files: a changed hash needs another `_FORMAT`.
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
    fingerprints, rows = index.pairs
    pairs: Array = np.rec.fromarrays([rows, fingerprints], dtype=_PAIR)
    return pairs
