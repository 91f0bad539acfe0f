"""Keys of 32 bits -> the pages that have them: keys of phrases, of digests, of URLs.

    add -> fresh    the last 4,096 pages: key -> pages
             | when full
           young    one sorted array of entries, key * 2**32 + page
             | when it has sqrt(fresh entries * old entries)
           old      another sorted array

The entries of a removed page are marked, and the next merge leaves them out. After any additions
and removals a look-up finds the same pages as in a table made anew.

Key 0 stands for none. A digest or the hash of a URL is cut to its first 32 bits, so the caller
compares the whole value: among 10 million pages, one look-up in 400 finds another page.

Cost: 8 bytes a key in the arrays, 200 for a fresh one; 0.6 us to add a key, 4 us to look one up; a
merge of 8 million keys takes 0.1 s. Pages with numbers above 32 bits are not stored. One thread at
a time.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from math import inf

import numpy as np
import numpy.typing as npt

from dedup_filter.fingerprints.sketch import KEYS, UInt32Array, keys_in
from dedup_filter.hamming.pairs import RowArray, distinct

Entries = npt.NDArray[np.uint64]
NO_ENTRIES: Entries = np.empty(0, np.uint64)

KEY = np.dtype("<u4")
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


class KeyTable:
    """Pages by their keys; `entries`: an array from `sealed`, neither copied nor written to."""

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

    def add(self, keys: Iterable[int], page: int) -> None:
        """Add a page with its keys. Requires: the page is not in the table."""
        for key, entry in _entries_of(keys, page):
            if entry in self._gone:
                self._gone.discard(entry)
            else:
                self._fresh.setdefault(key, []).append(page)
                self._fresh_count += 1
        if self._fresh_count > _FRESH:
            self._seal()

    def add_many(self, keys: npt.NDArray[np.uint32], pages: RowArray) -> None:
        """Add pages (n,), each with its keys (n, m); 0: none. Requires: none is in the table.

        Cost: 0.1 us a key from `_BULK` pages on.
        """
        if len(pages) < _BULK:
            for each, page in zip(keys.tolist(), pages.tolist(), strict=True):
                self.add(each, page)
            return
        numbers = pages.astype(np.uint64)[:, np.newaxis]
        entries = keys.astype(np.uint64) << np.uint64(_BITS) | numbers
        entries = distinct(entries[(keys > 0) & (numbers <= _PAGE)])
        are_back = np.isin(entries, np.fromiter(self._gone, np.uint64, len(self._gone)))
        self._young = _merged(self._young, entries[~are_back])
        self._gone.difference_update(entries[are_back].tolist())
        self._seal()

    def remove(self, keys: Iterable[int], page: int) -> None:
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

    def pages_of(
        self, keys: Sequence[int], *, most: int | None = None, before: float = inf
    ) -> dict[int, list[int]]:
        """Return key -> the pages that have it, in no order; keys that no page has are left out.

        `most`: keys that more pages have are left out, too. `before`: only pages below this number
        count.
        """
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
            pages = list(earlier if most is None else islice(earlier, most + 1))
            if pages and (most is None or len(pages) <= most):
                found[key] = pages
        return found

    def ends_of(self, key: int, most: int) -> list[int]:
        """Return `most` of the first pages that have a key, and as many of the last, ascending.

        A page that was removed and added again may count as a later one. Cost: 10 us, however many
        pages have the key.
        """
        first = np.uint64(key << _BITS)
        fresh = self._fresh.get(key, [])
        pages = {*fresh[:most], *fresh[-most:]}
        for entries in self._sealed:
            start = int(entries.searchsorted(first))
            end = int(entries.searchsorted(first | _PAGE, "right"))
            for places in (range(start, end), reversed(range(start, end))):
                pages.update(islice(self._there(entries, places), most))
        found = sorted(pages)
        return found if len(found) <= 2 * most else found[:most] + found[-most:]

    def sealed(self) -> Entries:
        """Merge everything into one array, and return it. The caller must not write to it."""
        self._seal(into_old=True)
        return self._old

    @property
    def pairs(self) -> npt.NDArray[np.void]:
        """All entries, with fields `page` and `value`, the key, sorted. Cost: a merge."""
        entries = self.sealed()
        columns = [(entries & _PAGE).astype(np.int64), entries >> np.uint64(_BITS)]
        return np.rec.fromarrays(columns, dtype=[("page", np.int64), ("value", np.uint64)])

    def check(self) -> None:
        """Verify the invariants. Raises AssertionError if one is broken."""
        for entries in self._sealed:
            assert (entries[1:] > entries[:-1]).all(), "entries of keys are not in order"
        assert self._fresh_count == sum(map(len, self._fresh.values())), "fresh keys are amiss"

    @property
    def _sealed(self) -> tuple[Entries, Entries]:
        return self._old, self._young

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


def short_keys(keys: bytes) -> UInt32Array:
    """Return 32 bits of each key of phrases (`PageProfile.keys`), (n,); 0 for none."""
    return keys_in(keys).astype(KEY)


def phrase_keys(keys: bytes) -> list[int]:
    """Return the distinct keys of a page's phrases, 32 bits of each."""
    return [key for key in dict.fromkeys(short_keys(keys).tolist()) if key]


def sharing(table: KeyTable, texts: Iterable[bytes], before: float = inf) -> Counter[int]:
    """Return, for each page that shares phrases, the most keys that it shares with one text.

    A key of more than `MOST_OF_KEY` pages is skipped: its phrase stands on many pages (a licence, a
    notice), so it identifies none. `before`: only pages below this number count.
    """
    of_texts = [*map(phrase_keys, texts)]
    wanted = sorted({*chain.from_iterable(of_texts)})
    known = table.pages_of(wanted, most=MOST_OF_KEY, before=before)
    found: Counter[int] = Counter()
    for keys in of_texts:
        found |= Counter(page for key in keys for page in known.get(key, ()))
    return found


def _entries_of(keys: Iterable[int], page: int) -> Iterator[tuple[int, int]]:
    """Yield each key of a page with its entry."""
    for key in dict.fromkeys(keys) if page >> _BITS == 0 else ():
        if key:
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
