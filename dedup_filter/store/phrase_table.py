"""Keys of pages, see `phrase_keys` -> the pages that share keys with a page.

    add -> fresh    the last 4,096 pages: key -> pages
             | when full
           young    one sorted array of entries, key * 2**32 + page
             | when it has sqrt(fresh entries * old entries)
           old      another sorted array; may be a file that is mapped into memory

The entries of a removed page are marked, and the next merge leaves them out. After any additions
and removals a look-up finds the same pages as in a table made anew.

Look-ups skip a key of more than `MOST_OF_KEY` pages: its phrase stands on many pages (a licence, a
notice), so it identifies none. The entries of the key stay, because pages may be removed.

Cost: 64 bytes a page in the arrays, 1.6 KB for a fresh one; 10 us to add a page; 60 us a look-up; a
merge of all 0.1 s for a million pages. Pages with numbers above 32 bits
are not stored. One thread at a time.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from math import inf

import numpy as np
import numpy.typing as npt

from dedup_filter.fingerprints.sketch import KEY, KEYS, KEYS_BYTES
from dedup_filter.hamming.pairs import RowArray, distinct

Entries = npt.NDArray[np.uint64]
NO_ENTRIES: Entries = np.empty(0, np.uint64)

MOST_OF_KEY = 16
"""Most pages of a key; look-ups skip a key that has more."""
_FRESH = 4_096 * KEYS
"""Most fresh entries."""
_BULK = 1_000
"""Number of pages from which on they are sorted and merged together."""
_FRESH_BYTES = 200
"""Memory of a fresh entry: its slot in a dict, a list of one page, and the numbers."""
_BITS = 32
_PAGE = np.uint64(2**_BITS - 1)


class PhraseTable:
    """Pages by the keys of their phrases.

    `entries`: an array from `sealed`, neither copied nor written to.
    """

    def __init__(self, entries: Entries = NO_ENTRIES) -> None:
        self._old, self._young = entries, NO_ENTRIES
        self._fresh: dict[int, list[int]] = {}
        self._fresh_count = 0
        self._gone: set[int] = set()
        """Removed entries that are still in the arrays."""

    def __len__(self) -> int:
        """Count the entries, one for each key of each page."""
        return len(self._old) + len(self._young) + self._fresh_count - len(self._gone)

    @property
    def nbytes(self) -> int:
        """Memory in bytes, without the marks of removed entries, which are few."""
        fresh = self._fresh_count * _FRESH_BYTES
        return int(self._old.nbytes + self._young.nbytes) + fresh

    def add(self, keys: bytes, page: int) -> None:
        """Add a page with its keys. Requires: the page is not in the table."""
        for key, entry in _entries_of(keys, page):
            if entry in self._gone:
                self._gone.discard(entry)
            else:
                self._fresh.setdefault(key, []).append(page)
                self._fresh_count += 1
        if self._fresh_count > _FRESH:
            self._seal()

    def add_many(
        self, keys: Sequence[bytes] | npt.NDArray[np.bytes_], pages: Sequence[int] | RowArray
    ) -> None:
        """Add pages, each with its keys, which may be none. Requires: none is in the table.

        Cost: 1 us a page from `_BULK` pages on.
        """
        of_pages = np.ascontiguousarray(keys, f"S{KEYS_BYTES}").view(KEY).reshape(-1, KEYS)
        numbers = np.asarray(pages, np.uint64)
        if len(numbers) < _BULK:
            for each, page in zip(of_pages, numbers.tolist(), strict=True):
                self.add(each.tobytes(), page)
            return
        entries = of_pages.astype(np.uint64) << np.uint64(_BITS) | numbers[:, np.newaxis]
        entries = distinct(entries[(of_pages > 0) & (numbers[:, np.newaxis] <= _PAGE)])
        are_back = np.isin(entries, np.fromiter(self._gone, np.uint64, len(self._gone)))
        young = _merged(self._young, entries[~are_back])
        self._gone.difference_update(entries[are_back].tolist())
        self._young = young
        self._seal()

    def remove(self, keys: bytes, page: int) -> None:
        """Remove a page with these keys.

        Raises:
            KeyError: the page does not have one of the keys.
        """
        for key, entry in _entries_of(keys, page):
            pages = self._fresh.get(key, [])
            if page in pages:
                pages.remove(page)
                self._fresh_count -= 1
                if not pages:
                    del self._fresh[key]
            elif entry in self._gone or not any(_has(each, entry) for each in self._sealed):
                raise KeyError(f"page {page} does not have the key {key}")
            else:
                self._gone.add(entry)
        if len(self._gone) > max(_FRESH, len(self._old) // 4):
            self._seal(into_old=True)

    def sharing(self, texts: Iterable[bytes], before: float = inf) -> Counter[int]:
        """Return, for each page that shares keys, the most keys that it shares with one text.

        `before`: only pages below this number count.
        """
        of_texts = [_keys_of(keys) for keys in texts]
        known = self._pages_of(sorted({*chain.from_iterable(of_texts)}), before)
        found: Counter[int] = Counter()
        for keys in of_texts:
            found |= Counter(page for key in keys for page in known.get(key, ()))
        return found

    def sealed(self) -> Entries:
        """Merge everything into one array, and return it. The caller must not write to it."""
        self._seal(into_old=True)
        return self._old

    @property
    def pairs(self) -> npt.NDArray[np.void]:
        """All entries, with fields `page` and `value`, the key. Cost: a merge."""
        entries = self.sealed()
        columns = [(entries & _PAGE).astype(np.int64), entries >> np.uint64(_BITS)]
        return np.rec.fromarrays(columns, dtype=[("page", np.int64), ("value", np.uint64)])

    def check(self) -> None:
        """Verify the invariants. Raises AssertionError if one is broken."""
        for entries in self._sealed:
            assert (entries[1:] > entries[:-1]).all(), "entries of phrases are not in order"
        assert self._fresh_count == sum(map(len, self._fresh.values())), "fresh phrases are amiss"

    @property
    def _sealed(self) -> tuple[Entries, Entries]:
        return self._old, self._young

    def _pages_of(self, keys: Sequence[int], before: float) -> dict[int, list[int]]:
        """Return the pages of each key; keys of more than `MOST_OF_KEY` pages are left out."""
        first = np.array(keys, np.uint64) << np.uint64(_BITS)
        last = first | _PAGE
        parts: dict[int, list[Iterable[int]]] = {}
        for entries in self._sealed:
            starts, ends = entries.searchsorted(first), entries.searchsorted(last, "right")
            for place in (starts < ends).nonzero()[0].tolist():
                there = self._there(entries, range(starts[place], ends[place]))
                parts.setdefault(keys[place], []).append(there)
        for key in self._fresh.keys() & set(keys):
            parts.setdefault(key, []).append(self._fresh[key])
        found = {}
        for key, of_key in parts.items():
            earlier = (page for page in chain.from_iterable(of_key) if page < before)
            found[key] = list(islice(earlier, MOST_OF_KEY + 1))
        return {key: pages for key, pages in found.items() if len(pages) <= MOST_OF_KEY}

    def _there(self, entries: Entries, places: Iterable[int]) -> Iterator[int]:
        """Yield the pages at some places of an array, without removed ones."""
        for place in places:
            entry = int(entries[place])
            if entry not in self._gone:
                yield entry & int(_PAGE)

    def _seal(self, *, into_old: bool = False) -> None:
        """Merge fresh entries into the young array, and a full young array into the old one."""
        fresh = [key << _BITS | page for key, pages in self._fresh.items() for page in pages]
        young = _merged(self._young, np.sort(np.array(fresh, np.uint64)))
        if into_old or len(young) ** 2 > _FRESH * len(self._old):
            old, young = _merged(self._old, young), NO_ENTRIES
            gone = np.sort(np.fromiter(self._gone, np.uint64, len(self._gone)))
            self._old = np.delete(old, old.searchsorted(gone)) if len(gone) else old
            self._gone.clear()
        self._young = young
        self._fresh.clear()
        self._fresh_count = 0


def _keys_of(keys: bytes) -> list[int]:
    """Return the distinct keys, without zeros, which pad."""
    return [key for key in dict.fromkeys(np.frombuffer(keys, KEY).tolist()) if key]


def _entries_of(keys: bytes, page: int) -> Iterator[tuple[int, int]]:
    """Yield each key of a page with its entry."""
    for key in _keys_of(keys) if page >> _BITS == 0 else ():
        yield key, key << _BITS | page


def _has(entries: Entries, entry: int) -> bool:
    place = int(entries.searchsorted(np.uint64(entry)))
    return place < len(entries) and int(entries[place]) == entry


def _merged(one: Entries, other: Entries) -> Entries:
    if not (len(one) and len(other)):
        return one if len(one) else other
    merged = np.concatenate([one, other])
    merged.sort(kind="stable")  # merges runs that are already sorted
    return merged
