"""A page -> its keys -> buckets and entries; buckets -> the pages that have these keys.

A page is found by exact keys: its digest, the fingerprints and the phrases of its texts, its URL.
With `has_tables` all pages within 3 bits share a key, too: of the 5 blocks of a fingerprint two are
equal then, so each of the 10 pairs is a key (Manku, Jain and Das Sarma 2007, section 3).

The hash of a key names a bucket, a string of entries of 8 bytes: 24 bits of the hash, and the
number of a page. The number of buckets is fixed when the index is made. Pages whose tags agree by
chance (one in a million look-ups) are false candidates, like pages that are gone.
"""

import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import log2

import numpy as np
import xxhash

from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.fingerprints.sketch import phrases_in
from dedup_filter.store.records import PageRecord

MOST_OF_KEY = 64
"""Pages of one key that are compared, the earliest. A page that meets as many removes its entry."""
ENTRY = struct.Struct("<Q")
_NUMBER_BITS = np.uint64(40)
_NUMBER = np.uint64(2**40 - 1)
_TAG = 2**24 - 1
_LOAD = 48
"""Entries of a bucket in an index of the expected size; 32 to 64 take least memory."""
_KEYS_OF_PAGE = 11
_BLOCKS, _BLOCK = range(0, 64, 13), 2**13 - 1
"""Where the blocks of a fingerprint begin: four of 13 bits, one of 12."""


Key = int
"""A key of a page: 64 bits, the hash of what it stands for."""


def entry_of(key: Key, page: int) -> bytes:
    """Return the entry of a page under a key."""
    return ENTRY.pack((key & _TAG) << 40 | page)


class Layout:
    """The buckets of an index; `bits`: of their numbers. `has_tables`: pairs of blocks are keys."""

    def __init__(self, bits: int, *, has_tables: bool = False) -> None:
        self.bits, self.has_tables = bits, has_tables

    @staticmethod
    def bits_for(pages: int) -> int:
        """Return the bits for an index of so many pages."""
        return max(round(log2(pages * _KEYS_OF_PAGE / _LOAD)), 0)

    @property
    def expected(self) -> int:
        """How many pages the index was made for."""
        return (_LOAD << self.bits) // _KEYS_OF_PAGE

    def bucket(self, key: Key) -> int:
        """Return the number of the bucket of a key."""
        return key >> (64 - self.bits)

    def keys_of(
        self, digest: bytes | None, fingerprints: Sequence[int], phrases: Iterable[bytes]
    ) -> set[Key]:
        """Return the keys of a page."""
        found = {_hashed("fingerprint", each) for each in fingerprints}
        for each in fingerprints if self.has_tables else ():
            blocks = [each >> at & _BLOCK for at in _BLOCKS]
            found.update(_hashed("blocks", pair) for pair in combinations(enumerate(blocks), 2))
        found.update(_hashed("phrase", each) for keys in phrases for each in phrases_in(keys))
        return found if digest is None else found | {_hashed("digest", digest.hex())}

    def keys_of_profile(self, page: PageProfile) -> set[Key]:
        """Return the keys by which a page looks up others, and is found by these."""
        fingerprints = [text.fingerprint for text in page.texts]
        phrases = [page.keys, *(text.keys for text in page.texts)]
        return self.keys_of(page.digest, fingerprints, phrases)

    def keys_of_record(self, record: PageRecord) -> set[Key]:
        """Return the keys by which a recorded page is found; a dropped page only by its URL."""
        at_url = {url_key(record.url_key)} if record.url else set[Key]()
        if not record.is_kept:
            return at_url
        fingerprints = [] if record.fingerprint is None else [record.fingerprint]
        return at_url | self.keys_of(record.digest, fingerprints, [record.keys])


def url_key(key: int) -> Key:
    """Return the key of the pages at a URL, by the key of this URL (see `Place`)."""
    return _hashed("url", key)


def found_in(buckets: Sequence[bytes | None], keys: Sequence[Key]) -> list[list[int]]:
    """Return for each key the pages that have an entry under it, the earliest first."""
    sizes = [len(each or b"") // ENTRY.size for each in buckets]
    whole = [each[: ENTRY.size * size] for each, size in zip(buckets, sizes, strict=True) if each]
    entries = np.frombuffer(b"".join(whole), "<u8")
    tags = np.array([key & _TAG for key in keys], np.uint64)
    places = np.flatnonzero(entries >> _NUMBER_BITS == np.repeat(tags, sizes))
    of_key = np.repeat(np.arange(len(keys)), sizes)[places].tolist()
    found: list[list[int]] = [[] for _ in keys]
    for key, page in zip(of_key, (entries[places] & _NUMBER).tolist(), strict=True):
        found[key].append(page)
    return [sorted({*pages}) for pages in found]


def ranked(found: Iterable[Sequence[int]], most: int = MOST_OF_KEY) -> list[int]:
    """Return the pages that share most keys, of each key the earliest `MOST_OF_KEY`."""
    times = Counter(page for pages in found for page in pages[:MOST_OF_KEY])
    return sorted(times, key=lambda page: (-times[page], page))[:most]


def _hashed(kind: str, value: object) -> Key:
    return xxhash.xxh3_64_intdigest(f"{kind} {value}".encode())
