"""Records of kept pages -> the look-ups of a page: by fingerprint, digest, URL and phrases.

    saved arrays, or entries of a store -> index   when it is opened
    records -> added, removed                      as pages are claimed, released, forgotten
    index -> arrays                                when it is closed, see `entry_file`

Pages have entries while they are pending, too; pages with too little text have no fingerprint.
Dropped pages are found at their URLs only. Digests, phrases and URLs are found by 32 bits
(`key_table`), so a look-up by them compares the records.

Implements `comparison.look_ups.LookUps`. The caller gives `stored`, which returns records.

Cost: a million pages open in 3 s, and from saved arrays in a tenth of that; 250 bytes a page.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.table import packed
from dedup_filter.model import Match
from dedup_filter.store.few_pages import latest_first
from dedup_filter.store.key_table import KEY, KeyTable, phrase_keys, sharing
from dedup_filter.store.protocol import Entries, Store
from dedup_filter.store.records import PageRecord

_FORMAT = 1
"""Of the saved arrays. Another meaning of them is another format."""
_EXPECTED = 1_000_000
_MOST_READ = 8
"""Of the first records at a URL, and of the last ones."""
_DIGEST_KEY = np.uint64(2**32 - 1)
_URL_BITS = np.uint64(32)


class PageIndex:
    """The entries of kept pages."""

    def __init__(
        self,
        max_distance: int,
        store: Store | None,
        stored: Callable[[Sequence[int]], Sequence[PageRecord]],
    ) -> None:
        self._stored = stored
        saved = None if store is None else store.saved_arrays()
        if saved is not None and saved[0].tolist() == [_FORMAT]:
            _, values, pages, *tables = saved
            self._tables = _Tables(*map(KeyTable, tables))
            self._fingerprints = _fingerprints(max_distance, len(values))
            self._fingerprints.add_many(values, pages)
            return
        parts = [] if store is None else [*store.entries()]
        self._tables = _Tables(KeyTable(), KeyTable(), KeyTable())
        self._fingerprints = _fingerprints(max_distance, sum(len(each.pages) for each in parts))
        for each in parts:
            self.add_all(each)

    def __len__(self) -> int:
        """Count the kept pages."""
        return len(self._tables.digests)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return sum(each.nbytes for each in (self._fingerprints, *self._tables))

    def add(self, record: PageRecord) -> None:
        """Add a page. Requires: it has no entry. Cost: 20 us."""
        if record.is_kept and record.fingerprint is not None:
            self._fingerprints.add(record.fingerprint, record.page)
        for table, keys in zip(self._tables, _keys(record), strict=True):
            table.add(keys, record.page)

    def remove(self, record: PageRecord) -> None:
        """Remove a page as it was added. Raises KeyError: it has no such entry."""
        if record.is_kept and record.fingerprint is not None:
            self._fingerprints.remove(record.fingerprint, record.page)
        for table, keys in zip(self._tables, _keys(record), strict=True):
            table.remove(keys, record.page)

    def equal(self, digest: bytes) -> list[int]:
        """Return the pages with the same first 32 bits of digest, the earliest first."""
        key = _digest_key(digest)
        return sorted(self._tables.digests.pages_of([key]).get(key, ()))

    @property
    def inner_rings(self) -> Sequence[int]:
        """The distances to ask `near` for before k, ascending."""
        return self._fingerprints.rings[:-1]

    def near(
        self, fingerprint: int, most: int | None = None, distance: int | None = None
    ) -> list[Match]:
        """Return the pages within a distance (None: k), or the `most` nearest of them."""
        return self._fingerprints.within(fingerprint, distance, most=most)

    def visits(self, key: int) -> list[PageRecord]:
        """Return the records at a URL, kept or dropped, the latest first. Cost: 10 us for none.

        A crawl may be redirected to one URL from everywhere, so only the first and the last records
        are read of many.
        """
        there = self._tables.urls.ends_of(_url_key(key), _MOST_READ)
        return latest_first(self._stored(there) if there else [], key)

    def sharing(self, texts: Sequence[bytes]) -> dict[int, int]:
        """Return the pages that share keys with texts, and how many keys each shares."""
        return sharing(self._tables.phrases, texts)

    def stored(self, pages: Sequence[int]) -> Sequence[PageRecord]:
        """Return the records of pages; pages that are gone are left out."""
        return self._stored(pages)

    def arrays(self) -> list[npt.NDArray[Any]]:
        """Return all entries as arrays from which an index can be made, sorted."""
        values, pages = self._fingerprints.pairs
        tables = [table.sealed() for table in self._tables]
        return [np.array([_FORMAT]), values, packed(pages), *tables]

    def check(self, records: Iterable[PageRecord]) -> None:
        """Raise AssertionError if the index was not made of exactly these records."""
        for each in (self._fingerprints, *self._tables):
            each.check()
        anew, long = (KeyTable(), KeyTable(), KeyTable()), 0
        for record in records:
            for table, keys in zip(anew, _keys(record), strict=True):
                table.add(keys, record.page)
            if record.is_kept and record.fingerprint is not None:
                long += 1
                there = self._fingerprints.rows_of(record.fingerprint)
                assert record.page in there, f"page {record.page} has another fingerprint"
        assert long == len(self._fingerprints), "fingerprints of other pages are in the index"
        for name, one, other in zip(_Keys._fields, self._tables, anew, strict=True):
            assert np.array_equal(one.pairs, other.pairs), f"other {name} are in the index"

    def add_all(self, entries: Entries) -> None:
        """Add pages by their entries. Requires: none has an entry here."""
        kept = Entries._make(column[entries.are_kept] for column in entries)
        are_long, pages = kept.have_fingerprints, kept.pages
        self._fingerprints.add_many(kept.fingerprints[are_long], pages[are_long])
        digests = np.maximum(kept.digest_heads & _DIGEST_KEY, np.uint64(1))
        urls = np.maximum(entries.url_keys >> _URL_BITS, np.uint64(1))
        self._tables.digests.add_many(_column(digests), pages)
        self._tables.urls.add_many(_column(urls), entries.pages)
        self._tables.phrases.add_many(kept.keys, pages)


class _Tables(NamedTuple):
    digests: KeyTable
    urls: KeyTable
    phrases: KeyTable


class _Keys(NamedTuple):
    digests: Sequence[int]
    urls: Sequence[int]
    phrases: Sequence[int]


def _fingerprints(max_distance: int, count: int) -> HammingIndex:
    return HammingIndex(max_distance, expected=max(_EXPECTED, count))


def _keys(record: PageRecord) -> _Keys:
    urls = [_url_key(record.url_key)]
    if not record.is_kept:
        return _Keys([], urls, [])
    return _Keys([_digest_key(record.digest)], urls, phrase_keys(record.keys))


def _digest_key(digest: bytes) -> int:
    return int.from_bytes(digest[:4], "little") or 1


def _url_key(key: int) -> int:
    return key >> 32 or 1


def _column(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
    return values.astype(KEY)[:, np.newaxis]
