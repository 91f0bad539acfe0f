"""Events of the log of a shared index -> the pages that they tell of, in this process's memory.

    events -> of each page the last one -> the pages that are there -> those near one asked for
                                                                    -> those that share phrases
                                                                    -> those not seen for longest

An event tells that a page is there, or not any more. Events are numbered from 1, in their order.
The one that adds a page gives the page its number; one that adds it anew, with other measures or at
another place, has that number, too.

Each process has a replica of its own, so a look-up asks no server. Cost: 57 bytes a page for its
entry, and what `HammingIndex` and `PhraseTable` take, about 36 and 64; a million
events are followed in half a second when they come in thousands, and one in 70 us.
"""

from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.fingerprints.phrase_keys import KEYS_BYTES
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.layout import Layout
from dedup_filter.model import Match
from dedup_filter.store.phrase_table import PhraseTable
from dedup_filter.store.records import PageRecord
from dedup_filter.store.redis.connection import hash_of_host
from dedup_filter.store.sqlite.page_index import host_mask, host_masks

EntryArray = npt.NDArray[np.void]
NumberArray = npt.NDArray[np.int64]

LONG, SHORT, GONE = 1, 2, 3
CHUNK: Final = 1_700
"""Events in one key: with a header they just fit into 96 KiB, a size in which servers allocate."""

_KEYS = f"S{KEYS_BYTES}"
_EVENT = np.dtype(
    {
        "names": ["value", "keys", "number", "kind", "host", "seen"],
        "formats": ["<u8", _KEYS, "<u8", "u1", "<u4", "<u4"],
        "offsets": [0, 8, 40, 46, 48, 52],
    }
)
EVENT_BYTES: Final = _EVENT.itemsize
_NUMBER = np.uint64(2**48 - 1)

_ENTRY = np.dtype(
    [("value", "<u8"), ("keys", _KEYS), ("host", "<u4"), ("kind", "u1"), ("seen", "<u4")]
)
_MEASURES = ["value", "keys", "host", "kind"]
_FIELDS = [*_MEASURES, "seen"]
_LEAST_ROOM = 1_024


class Entry(NamedTuple):
    """What the log tells of a page."""

    value: int
    """Its fingerprint; of one too short to have one, 8 bytes of its digest."""
    kind: int
    """`LONG` or `SHORT`."""
    host: int
    keys: bytes
    """`KEYS_BYTES`, zeros for none."""

    @classmethod
    def of(cls, fingerprint: int | None, digest: bytes, host: str, keys: bytes = b"") -> "Entry":
        """Return the entry of a page; one too short to have a fingerprint has None."""
        told = hash_of_host(host) & 0xFFFF_FFFF, keys.ljust(KEYS_BYTES, b"\0")
        if fingerprint is not None:
            return cls(fingerprint, LONG, *told)
        return cls(int.from_bytes(digest[:8], "little"), SHORT, *told)

    @property
    def fields(self) -> tuple[bytes, int, int]:
        """What scripts write of it: value and keys, kind, host."""
        return self.value.to_bytes(8, "little") + self.keys, self.kind, self.host


def entry_of(record: PageRecord) -> Entry:
    """Return what the log tells of a page with this record."""
    return Entry.of(record.fingerprint, record.digest, record.host, record.keys)


def decode(events: bytes | bytearray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.void]]:
    """Read events, (n,): the numbers of their pages; and their value, keys, kind ...

    An event is 56 bytes, all little-endian:

        value   8   as in `Entry`
        keys   32   likewise
        number  6   the page's number
        kind    1   LONG or SHORT: the page is there from now on; GONE: it is not any more
        salt    1   a random byte: two logs that differ have other bytes at the same place
        host    4   hash of its host
        seen    4   when it was seen, Unix seconds
    """
    found = np.frombuffer(events, _EVENT)
    return (found["number"] & _NUMBER).astype(np.int64), found


class LoggedPages:
    """The pages that are there, each with what the last event tells of it.

    With a distance they are searched by fingerprint, by digest, and by keys.
    """

    def __init__(
        self,
        max_distance: int | None = None,
        layout: Layout | None = None,
        *,
        by_host: bool = False,
    ) -> None:
        self._by_host = by_host
        self._max_distance, self._layout = max_distance, layout
        self.clear()

    def clear(self) -> None:
        """Forget everything: the log is read anew."""
        k = self._max_distance
        self._indexes = (
            {} if k is None else {LONG: HammingIndex(k, self._layout), SHORT: HammingIndex(0)}
        )
        self._phrases = PhraseTable()
        self._numbers = np.empty(0, np.int64)
        """Of pages that were told of, ascending, and room for more."""
        self._entries = np.empty(0, _ENTRY)
        """What is told of them; kind 0: it is gone."""
        self._rows = 0
        """How many of both are in use."""
        self._unsettled = bytearray()
        self.end = 0
        """The number of the last event that was taken in."""
        self.last = b""
        """That event."""
        self.lost = 0
        """Events in whose place there is nothing."""

    def __len__(self) -> int:
        searched = self._indexes.values()
        return sum(map(len, searched)) if searched else len(self._there())

    def __iter__(self) -> Iterator[int]:
        pages: list[int] = self._numbers[self._there()].tolist()
        return iter(pages)

    def __contains__(self, page: int) -> bool:
        return self.entry(page) is not None

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        entries = self._rows * (self._numbers.itemsize + _ENTRY.itemsize)
        searched = sum(index.nbytes for index in self._indexes.values())
        return entries + searched + self._phrases.nbytes

    def follow(self, first: int, events: bytes) -> None:
        """Take in events, the first of which has this number; they count from `settle` on.

        Requires: they come after those that were taken in before.
        """
        if first > self.end + 1:
            # Chunks that were not read were deleted: they, and all before, tell of no page.
            self.clear()
        self.end = first + len(events) // EVENT_BYTES - 1
        self.last = events[-EVENT_BYTES:] or self.last
        self._unsettled += events

    def settle(self) -> None:
        """Let all events count that were taken in."""
        if not self._unsettled:
            return
        (of_pages, told), self._unsettled = decode(self._unsettled), bytearray()
        self.lost += int((of_pages == 0).sum())
        # Of each page only the last event counts: the first one, from the end.
        pages, from_the_end = np.unique(of_pages[::-1], return_index=True)
        after = told[_FIELDS][len(told) - 1 - from_the_end].astype(_ENTRY)
        after["kind"][after["kind"] > SHORT] = 0
        self._take(pages, after)

    def entry(self, page: int) -> Entry | None:
        """Return what the log tells of a page, None if it is not there."""
        at = int(self._numbers[: self._rows].searchsorted(page))
        is_known = at < self._rows and self._numbers[at] == page and self._entries["kind"][at]
        return _entry(self._entries[at]) if is_known else None

    def told(self, name: str) -> npt.NDArray[Any]:
        """Return what is told of all pages, in their order: value, host, seen or kind."""
        told: npt.NDArray[Any] = self._entries[name][self._there()]
        return told

    def oldest(self, most: int, before: float = inf) -> list[int]:
        """Return the pages not seen for longest, of those last seen before a time.

        Cost: passes over all pages, 10 ms for a million.
        """
        there = self._there()
        seen = self._entries["seen"][there]
        if len(seen) > most:
            before = min(before, int(np.partition(seen, most)[most]) + 1)
        is_old = seen < before
        by_age = seen[is_old].argsort(kind="stable")[:most]
        found: list[int] = self._numbers[there[is_old][by_age]].tolist()
        return found

    def standing(self, events: bytes) -> list[tuple[int, bytes, int, int, int]]:
        """Find the events that tell what is so now: number, value, kind, host and time of each."""
        of_pages, told = decode(events)
        at, is_known = self._find(of_pages)
        now = self._entries[at[is_known]]
        is_so = np.logical_and.reduce([told[name][is_known] == now[name] for name in _FIELDS])
        return [
            (page, *_entry(entry).fields, int(entry["seen"]))
            for page, entry in zip(of_pages[is_known][is_so].tolist(), now[is_so], strict=True)
        ]

    def near(self, entry: Entry, most: int | None = None) -> list[Match]:
        """Return the pages within k bits of an entry, or with its digest; or the `most` nearest.

        With `by_host` only those of its host; one of another may be among them by chance.
        """
        return self._indexes[entry.kind].within(self._masked(entry), most=most)

    def sharing(self, texts: Iterable[bytes], before: float) -> Mapping[int, int]:
        """Return the pages that share keys with texts, of any host: see `PhraseTable.sharing`."""
        return self._phrases.sharing(texts, before)

    def check(self) -> None:
        """Verify the invariants. Raises AssertionError if one is broken."""
        assert not self._unsettled, "events were taken in that do not count"
        assert (np.diff(self._numbers[: self._rows]) > 0).all(), "numbers do not ascend"
        assert len(self._there()) == len(self), "an index has other pages"
        for index in self._indexes.values():
            index.check()
        self._phrases.check()
        anew = PhraseTable()
        for page in self if self._indexes else ():
            entry = self.entry(page)
            assert entry is not None
            found = self._indexes[entry.kind].rows_of(self._masked(entry))
            assert page in found, f"page {page} is not in the index"
            anew.add(entry.keys, page)
        assert (anew.sealed() == self._phrases.sealed()).all(), "other phrases are in the table"

    def _there(self) -> NumberArray:
        return np.flatnonzero(self._entries["kind"][: self._rows])

    def _find(self, pages: NumberArray) -> tuple[NumberArray, npt.NDArray[np.bool_]]:
        """Return where pages are or would be, and whether they are known."""
        known = self._numbers[: self._rows]
        at = known.searchsorted(pages)
        is_known = at < self._rows
        is_known[is_known] = known[at[is_known]] == pages[is_known]
        return at, is_known

    def _take(self, pages: NumberArray, after: EntryArray) -> None:
        at, is_known = self._find(pages)
        before = np.zeros(len(pages), _ENTRY)
        before[is_known] = self._entries[at[is_known]]
        self._entries[at[is_known]] = after[is_known]
        is_new = ~is_known & (after["kind"] > 0)
        if is_new.any():
            self._insert(pages[is_new], after[is_new])
        is_other = np.logical_or.reduce([before[name] != after[name] for name in _MEASURES])
        for kind, index in self._indexes.items():
            was, comes = is_other & (before["kind"] == kind), is_other & (after["kind"] == kind)
            for page, value in zip(pages[was].tolist(), self._values(before[was]), strict=True):
                index.remove(int(value), page)
            index.add_many(self._values(after[comes]), pages[comes])
        if self._indexes:
            self._take_phrases(pages[is_other], before["keys"][is_other], after["keys"][is_other])

    def _take_phrases(
        self, pages: NumberArray, before: npt.NDArray[np.bytes_], after: npt.NDArray[np.bytes_]
    ) -> None:
        """Take in other keys of pages; a page that is gone has none. Cost: see `add_many`."""
        was, comes = (before != after) & (before != b""), (before != after) & (after != b"")
        for keys, page in zip(_padded(before[was]), pages[was].tolist(), strict=True):
            self._phrases.remove(keys, page)
        self._phrases.add_many(_padded(after[comes]), pages[comes].tolist())

    def _insert(self, pages: NumberArray, entries: EntryArray) -> None:
        rows = self._rows + len(pages)
        is_later = not self._rows or pages[0] > self._numbers[self._rows - 1]
        if rows <= len(self._numbers) and is_later:
            self._numbers[self._rows : rows] = pages
            self._entries[self._rows : rows] = entries
        else:
            there = self._there()
            pages = np.concatenate([self._numbers[there], pages])
            entries = np.concatenate([self._entries[there], entries])
            order = pages.argsort(kind="stable")
            rows = len(order)
            room = rows + rows // 2 + _LEAST_ROOM  # no memory is taken before it is written to
            self._numbers, self._entries = np.empty(room, np.int64), np.empty(room, _ENTRY)
            self._numbers[:rows], self._entries[:rows] = pages[order], entries[order]
        self._rows = rows

    def _values(self, entries: EntryArray) -> npt.NDArray[np.uint64]:
        values: npt.NDArray[np.uint64] = entries["value"]
        return values ^ host_masks(entries["host"]) if self._by_host else values

    def _masked(self, entry: Entry) -> int:
        return entry.value ^ host_mask(entry.host) if self._by_host else entry.value


def _padded(keys: npt.NDArray[np.bytes_]) -> list[bytes]:
    """Return keys with the zeros at their ends, which numpy leaves out."""
    return [each.ljust(KEYS_BYTES, b"\0") for each in keys.tolist()]


def _entry(told: Any) -> Entry:
    (keys,) = _padded(told["keys"].reshape(1))
    return Entry(int(told["value"]), int(told["kind"]), int(told["host"]), keys)
