"""Look-ups of kept pages by fingerprint, digest and keys: an index that follows the database.

    the database -> index           all entries, if there are no tables
    tables, the database -> index   tables and all later changes, when the index is opened
    the database -> index           all changes, before each look-up
    index -> tables                 after many changes, and when the index is closed

Only kept pages have entries, and pages with too little text have no fingerprint. For each page
whose entry was replaced or removed, the SQL table "superseded" has the earlier entry. Triggers of
the schema write this SQL table, so no code that writes pages can omit it; rows that the tables on
disk already include are trimmed.

With `scope` "host" fingerprints and digests are stored XOR a hash of their host's number: distances
within a host do not change, and pages of other hosts are found only by chance.

Tables on disk are derived from the database and always verified. Tables that are missing, damaged,
outdated, or of another distance, scope or index are made anew, and the log says so: with a warning
if there is a sign of damage. Tables are written when the index is closed, when they were made anew,
and when the changes exceed half of the saved entries plus 50,000.

Keys of phrases are in a `PhraseTable`, whatever the scope.

A digest is found by its first 64 bits, in sorted arrays as fingerprints are (an index for distance
0: one table, searched by bisection); the store compares the whole digest.

Cost: with current tables in the system's cache, an index of 10 million pages opens in 0.06 s;
making tables anew takes 3 s a million pages (`benchmarks/store.py --filter`).
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dedup_filter.errors import StoreError
from dedup_filter.hamming.hamming_index import HammingIndex, SealedArrays
from dedup_filter.hamming.layout import Layout
from dedup_filter.model import Match
from dedup_filter.store.phrase_table import PhraseTable
from dedup_filter.store.sqlite.index_directory import Array, UnusableTables
from dedup_filter.store.sqlite.page_reader import MASK, PageReader
from dedup_filter.store.sqlite.page_store import PageStore
from dedup_filter.wording import counted

logger = logging.getLogger(__name__)

_DIGESTS = "digest_"
"""Prefix of the names of the arrays of digests."""
_PARTS = "run", "rows", "directory"
"""Prefixes of the names of each table's arrays: its fingerprints, their rows, its keys."""
_EXPECTED = 1_000_000
_LEAST_GROWTH = 50_000
"""Fewest changes for which tables are written during a crawl: the next opening reads this many
from the database in 0.1 s."""
_LITTLE = 100
"""When an index is closed, its tables are written if more than one entry in `_LITTLE` changed."""
_AT_ONCE = 100_000
_BULK = 1_000
"""Number of entries from which on it is faster to add them together than one by one."""
_PAIR = np.dtype([("page", np.int64), ("value", np.uint64)])
_PHRASES = "phrases"
"""The name of the array of a `PhraseTable`."""

_REVISION = "SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = 'superseded'"
"""Number of entries of kept pages that were ever replaced or removed."""
_BEFORE = """
    SELECT page, fingerprint, host, digest, keys FROM superseded WHERE revision IN (
        SELECT min(revision) FROM superseded WHERE revision > ? GROUP BY page
    ) AND page <= ?
"""
_NOW = """
    SELECT id, fingerprint, host, digest, keys FROM main.pages
    WHERE is_kept AND id IN (SELECT page FROM superseded WHERE revision > ?) AND id <= ?
"""
# Read from a covering SQL index, which has no sketches. The revision is a column, because a second
# statement for each page would cost as much again.
_NEW = f"""
    SELECT id, fingerprint, host, digest, keys, is_kept, ({_REVISION})
    FROM main.pages {{}} WHERE id > ? ORDER BY id LIMIT ?
"""  # noqa: S608

_Row = tuple[int, int | None, int, bytes, bytes]
"""Number, fingerprint (signed), number of the host, digest, and keys of the phrases of a page."""


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
        self._fingerprints = fingerprints
        self._digests = digests
        self._phrases = phrases
        self._by_host = by_host
        self._last_page = self._revision = 0
        """The last page, and the last row of "superseded", that the index includes."""
        self._saved = len(digests)
        """Number of pages in the tables on disk."""
        self._changed = 0
        """Number of pages added and removed since the tables on disk were saved."""

    @classmethod
    def opened(cls, store: PageStore, max_distance: int, *, by_host: bool) -> "PageIndex":
        """Return an index of all entries of a store, from its tables if they can be used."""
        if store.directory is not None:
            try:
                return cls.loaded(store, max_distance=max_distance, by_host=by_host)
            except UnusableTables as found:
                reason = found
        fingerprints = HammingIndex(max_distance, expected=max(_EXPECTED, len(store)))
        made = cls(fingerprints, HammingIndex(0), PhraseTable(), by_host=by_host)
        made.catch_up(store)
        if store.directory is not None and len(made._digests):
            logger.log(
                logging.INFO if reason.is_usual else logging.WARNING,
                "index %s: its tables are made anew from the record%s: %s",
                store.directory,
                "; nothing is lost" if reason.is_usual else "",
                reason,
            )
            made.save(store)
        return made

    @classmethod
    def loaded(cls, reader: PageReader, **wanted: object) -> "PageIndex":
        """Load the tables of an index in a directory, and bring them up to date.

        `wanted`: values that the note of the tables must have.

        Raises:
            UnusableTables: the tables are missing, damaged, outdated or for other options.
        """
        assert reader.directory is not None
        arrays, about = reader.directory.tables.load()
        wanted["index"] = reader.noted("identity")
        try:
            if {name: about[name] for name in wanted} != wanted:
                reason = "they are for another distance or scope, or another index"
                raise UnusableTables(reason, is_usual=True)
            fingerprints = HammingIndex.from_sealed(_from_tables(arrays, about))
            digests = HammingIndex.from_sealed(_from_tables(arrays, about["digests"], _DIGESTS))
            phrases = PhraseTable(arrays[_PHRASES])
            made = cls(fingerprints, digests, phrases, by_host=about["by_host"])
            made._last_page, made._revision = about["last_page"], about["revision"]
            if made._last_page > reader.last_page or made._revision > reader.value(_REVISION):
                raise UnusableTables("they are newer than the record")
            if made._revision < int(reader.noted("trimmed")):
                raise UnusableTables("more has changed since than was noted", is_usual=True)
            made.catch_up(reader)
        except (ValueError, KeyError, TypeError) as error:
            raise UnusableTables(f"they are not what the record says ({error})") from error
        return made

    @classmethod
    def to_search(cls, reader: PageReader, max_distance: int) -> HammingIndex:
        """Return a read-only index of the fingerprints of all kept pages, pending ones included.

        If the tables are for this distance or a larger one, they are used; otherwise the index is
        made in memory, at the cost given above.
        """
        with suppress(UnusableTables):
            fingerprints = cls.loaded(reader, by_host=False)._fingerprints
            if fingerprints.max_distance >= max_distance:
                return fingerprints
        fingerprints = HammingIndex(max_distance, expected=max(len(reader), 1))
        cls(fingerprints, HammingIndex(0), PhraseTable(), by_host=False).catch_up(reader)
        return fingerprints

    @property
    def nbytes(self) -> int:
        """Memory in bytes, mapped files included."""
        return self._fingerprints.nbytes + self._digests.nbytes + self._phrases.nbytes

    def near(self, fingerprint: int, host: int, most: int | None = None) -> list[Match]:
        """Return the pages within k bits, or the `most` nearest; with `by_host` only of this host.

        Even with `by_host` the result may by chance include a page of another host.
        """
        return self._fingerprints.within(fingerprint ^ self._mask(host), most=most)

    def of_digest(self, digest: bytes, host: int) -> list[int]:
        """Return the pages with the same first 64 bits of digest, the earliest first; as `near`."""
        return self._digests.rows_of(_head(digest) ^ self._mask(host))

    def sharing(self, texts: Iterable[bytes]) -> Mapping[int, int]:
        """Return the pages that share keys with texts, of any host: see `PhraseTable.sharing`."""
        return self._phrases.sharing(texts)

    def follow(self, store: PageStore, *, is_last: bool = False) -> None:
        """Apply all new changes of the database; write tables if enough has changed.

        `is_last`: the index is about to be closed. Requires: no open transaction. If the database
        cannot be read, the index does not change.
        """
        self.catch_up(store)
        enough = self._saved // _LITTLE if is_last else self._saved // 2 + _LEAST_GROWTH
        if self._changed > enough:
            self.save(store)

    def catch_up(self, reader: PageReader) -> None:
        """Apply all changes of the database since the last call."""
        new = reader.rows(_NEW.format(reader.entries), (self._last_page, _AT_ONCE))
        last_page, *_, revision = new[-1] if new else (self._last_page, *reader.rows(_REVISION)[0])
        added, removed = [row[:5] for row in new if row[5]], []
        if revision > self._revision:
            known = self._revision, self._last_page
            removed, added = reader.rows(_BEFORE, known), [*reader.rows(_NOW, known), *added]
        for row in removed:
            for index, value in self._values(row):
                index.remove(value, row[0])
            self._phrases.remove(row[4], row[0])
        if len(added) < _BULK:
            for row in added:
                for index, value in self._values(row):
                    index.add_new(value, row[0])
                self._phrases.add(row[4], row[0])
        else:
            for index, values, pages in self._arrays(added):
                index.add_many(values, pages)
            self._phrases.add_many([row[4] for row in added], [row[0] for row in added])
        self._last_page, self._revision = last_page, revision
        self._changed += len(removed) + len(added)
        if len(new) == _AT_ONCE:  # there may be more
            self.catch_up(reader)

    def save(self, store: PageStore) -> None:
        """Write tables; if writing fails, the log says so, and the next opening takes longer.

        For a store in memory only the SQL table "superseded" is trimmed.
        """
        try:
            if store.directory:
                # The database first: after a power failure, newer tables would hold numbers that
                # the database gives to other pages.
                store.sync()
                arrays, note = _to_tables(self._fingerprints)
                digests, digest_note = _to_tables(self._digests, _DIGESTS)
                about = note | {
                    "digests": digest_note,
                    "by_host": self._by_host,
                    "index": store.noted("identity"),
                    "last_page": self._last_page,
                    "revision": self._revision,
                }
                phrases = {_PHRASES: self._phrases.sealed()}
                store.directory.tables.save(arrays | digests | phrases, about)
            store.trim(self._revision)
        except StoreError as error:
            logger.warning("%s", error)
        self._saved, self._changed = len(self._digests), 0

    def faults(self, reader: PageReader) -> list[str]:
        """Compare all entries with the database; return the differences. Cost: sorts them."""
        try:
            self._fingerprints.check()
            self._digests.check()
            self._phrases.check()
        except AssertionError as fault:
            return [str(fault)]
        record = PageIndex(HammingIndex(0), HammingIndex(0), PhraseTable(), by_host=self._by_host)
        record.catch_up(reader)
        faults = []
        for name, pairs, recorded in (
            ("entries", _pairs(self._fingerprints), _pairs(record._fingerprints)),
            ("digests", _pairs(self._digests), _pairs(record._digests)),
            ("phrases", self._phrases.pairs, record._phrases.pairs),
        ):
            wrong = np.unique(np.setxor1d(pairs, recorded)["page"])
            if len(wrong):
                pages = f"{counted(len(wrong), 'page')}, page {int(wrong[0])} first"
                faults.append(f"they differ from the record in the {name} of {pages}")
        return faults

    def _mask(self, host: int) -> int:
        """Return the XOR mask of a host's entries."""
        return host_mask(host) if self._by_host else 0

    def _values(self, row: _Row) -> list[tuple[HammingIndex, int]]:
        _, fingerprint, host, digest, _ = row
        mask = self._mask(host)
        of_digest = self._digests, _head(digest) ^ mask
        if fingerprint is None:
            return [of_digest]
        return [(self._fingerprints, fingerprint & MASK ^ mask), of_digest]

    def _arrays(self, rows: list[_Row]) -> Iterator[tuple[HammingIndex, Array, Array]]:
        """Yield values and pages of many rows for each index, as `_values` does for one row."""
        numbers, fingerprints, hosts, digests, _ = zip(*rows, strict=True)
        pages, masks = np.array(numbers), np.uint64(0)
        if self._by_host:
            masks = host_masks(np.array(hosts))
        is_long = np.array([each is not None for each in fingerprints])
        values = np.array([each or 0 for each in fingerprints], np.int64).view(np.uint64) ^ masks
        yield self._fingerprints, values[is_long], pages[is_long]
        yield self._digests, np.fromiter(map(_head, digests), np.uint64) ^ masks, pages


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


def _head(digest: bytes) -> int:
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
    arrays: dict[str, Array] = {}
    for number, run in enumerate(zip(sealed.runs, sealed.rows, sealed.directories, strict=True)):
        arrays |= {f"{prefix}{part}{number}": each for part, each in zip(_PARTS, run, strict=True)}
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
