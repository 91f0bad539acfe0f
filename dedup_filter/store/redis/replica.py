"""Events of the log of a shared index -> the current pages, in this process's memory.

    events -> last event of each page -> current pages -> pages near a fingerprint
                                                       -> pages that share phrases
                                                       -> least recently seen pages

An event adds a kept or a dropped page, or removes a page; look-ups find kept pages. Events are
numbered from 1, in their order. The event that adds a page gives the page its number. An event that
adds the page again, with other measures or at another place, carries the same page number.

Each process has a replica of its own, so a look-up makes no call. Memory a page: 57 bytes for its
entry, about 36 in `HammingIndex` and 64 in `KeyTable`. Time: half a second for a million events
in batches of thousands, and 70 us for a single event.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from math import inf
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.fingerprints.sketch import KEY, KEYS, KEYS_BYTES
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.model import Match
from dedup_filter.store.key_table import KeyTable, phrase_keys, sharing
from dedup_filter.store.records import PageRecord
from dedup_filter.store.redis.connection import hash_of_host

EntryArray = npt.NDArray[np.void]
NumberArray = npt.NDArray[np.int64]

LONG, SHORT, GONE = 1, 2, 3
DROPPED: Final = 4
"""Added to `LONG` or `SHORT` in the event of a page that was dropped for another page."""
CHUNK: Final = 1_700
"""Events in one key: with a header they just fit into 96 KiB, a size class of the allocator."""

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
    """The fields of a page in the log."""

    value: int
    """The fingerprint; for a page too short for a fingerprint, 8 bytes of its digest."""
    kind: int
    """`LONG` or `SHORT`; with `DROPPED` if the page was dropped."""
    host: int
    keys: bytes
    """`KEYS_BYTES`, zeros for none."""

    @classmethod
    def of(cls, fingerprint: int | None, digest: bytes, host: str, keys: bytes = b"") -> "Entry":
        """Return the entry of a page. `fingerprint`: None if the page is too short for one."""
        rest = hash_of_host(host) & 0xFFFF_FFFF, keys.ljust(KEYS_BYTES, b"\0")
        if fingerprint is not None:
            return cls(fingerprint, LONG, *rest)
        return cls(int.from_bytes(digest[:8], "little"), SHORT, *rest)

    @property
    def fields(self) -> tuple[bytes, int, int]:
        """The arguments for scripts: value and keys, kind, host."""
        return self.value.to_bytes(8, "little") + self.keys, self.kind, self.host


def entry_of(record: PageRecord) -> Entry:
    """Return the entry in the log for a page with this record."""
    entry = Entry.of(record.fingerprint, record.digest, record.host, record.keys)
    return entry if record.is_kept else entry._replace(kind=entry.kind | DROPPED)


def decode(events: bytes | bytearray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.void]]:
    """Decode n events: the numbers of their pages, (n,), and all fields as a record array, (n,).

    An event is 56 bytes, all little-endian:

        value   8   as in `Entry`
        keys   32   as in `Entry`
        number  6   the page's number
        kind    1   as in `Entry`: the event adds the page; GONE: the event removes the page
        salt    1   a random byte, so that two different logs differ at the same position
        host    4   hash of the page's host
        seen    4   when the page was seen, Unix seconds
    """
    found = np.frombuffer(events, _EVENT)
    return (found["number"] & _NUMBER).astype(np.int64), found


class LoggedPages:
    """The current pages, each with the entry of its last event.

    With a `max_distance` kept pages are searched by fingerprint, by digest, and by keys.
    """

    def __init__(self, max_distance: int | None = None, *, by_host: bool = False) -> None:
        self._by_host = by_host
        self._max_distance = max_distance
        self.clear()

    def clear(self) -> None:
        """Forget everything, before the log is read anew."""
        k = self._max_distance
        self._indexes = {} if k is None else {LONG: HammingIndex(k), SHORT: HammingIndex(0)}
        self._phrases = KeyTable()
        self._numbers = np.empty(0, np.int64)
        """Numbers of all pages with events, ascending, and spare room at the end."""
        self._entries = np.empty(0, _ENTRY)
        """The entry of each number; kind 0: the page is gone."""
        self._dropped = 0
        self._rows = 0
        """Number of rows in use in both arrays."""
        self._unsettled = bytearray()
        self.end = 0
        """The number of the last event that was added."""
        self.last = b""
        """The bytes of the last event."""
        self.lost = 0
        """Number of events that a server has lost: their bytes are zeros."""

    def __len__(self) -> int:
        """Count the pages, kept and dropped. Cost: passes over all pages."""
        return len(self._there())

    def count(self, *, is_kept: bool) -> int:
        """Count the kept or the dropped pages."""
        if not is_kept:
            return self._dropped
        searched = self._indexes.values()
        return sum(map(len, searched)) if searched else len(self) - self._dropped

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
        """Add events, numbered from `first` on; `settle` applies them.

        Requires: the events follow all events added before.
        """
        if first > self.end + 1:
            # The chunks in the gap were deleted: no page has its last event in them or before.
            self.clear()
        self.end = first + len(events) // EVENT_BYTES - 1
        self.last = events[-EVENT_BYTES:] or self.last
        self._unsettled += events

    def settle(self) -> None:
        """Apply all events that were added."""
        if not self._unsettled:
            return
        (of_pages, events), self._unsettled = decode(self._unsettled), bytearray()
        self.lost += int((of_pages == 0).sum())
        # Only the last event of each page counts: the first in reverse order.
        pages, from_the_end = np.unique(of_pages[::-1], return_index=True)
        after = events[_FIELDS][len(events) - 1 - from_the_end].astype(_ENTRY)
        after["kind"][after["kind"] == GONE] = 0
        self._take(pages, after)

    def entry(self, page: int) -> Entry | None:
        """Return the entry of a page, None if the page is gone or unknown."""
        at = int(self._numbers[: self._rows].searchsorted(page))
        if at == self._rows or self._numbers[at] != page or not self._entries["kind"][at]:
            return None
        value, keys, host, kind, _ = self._entries[at].item()
        return Entry(value, kind, host, keys.ljust(KEYS_BYTES, b"\0"))

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return one field of all current pages, in their order: value, host, seen or kind."""
        found: npt.NDArray[Any] = self._entries[name][self._there()]
        return found

    def oldest(self, most: int, before: float = inf, *, is_kept: bool = True) -> list[int]:
        """Return up to `most` pages last seen before a time, the least recently seen first.

        They are kept or dropped pages. Cost: passes over all pages, 10 ms for a million.
        """
        there = self._there()
        there = there[(self._entries["kind"][there] < DROPPED) == is_kept]
        seen = self._entries["seen"][there]
        if len(seen) > most:
            before = min(before, int(np.partition(seen, most)[most]) + 1)
        is_old = seen < before
        by_age = seen[is_old].argsort(kind="stable")[:most]
        found: list[int] = self._numbers[there[is_old][by_age]].tolist()
        return found

    def standing(self, events: bytes) -> list[bytes]:
        """Return the events that are still current."""
        of_pages, fields = decode(events)
        at, is_known = self._find(of_pages)
        found, now = fields[is_known], self._entries[at[is_known]]
        is_so = np.logical_and.reduce([found[name] == now[name] for name in _FIELDS])
        return [event.tobytes() for event in found[is_so]]

    def near(self, entry: Entry, most: int | None = None) -> list[Match]:
        """Return the pages within k bits of an entry, or with its digest; or the `most` nearest.

        With `by_host` only pages of the entry's host, and by chance a page of another host.
        """
        return self._indexes[entry.kind].within(self._masked(entry), most=most)

    def sharing(self, texts: Iterable[bytes], before: float) -> Mapping[int, int]:
        """Return the pages that share keys with texts, of any host: see `key_table.sharing`."""
        return sharing(self._phrases, texts, before)

    def check(self) -> None:
        """Verify the invariants. Raises AssertionError if one is broken."""
        assert not self._unsettled, "events were taken in that do not count"
        assert (np.diff(self._numbers[: self._rows]) > 0).all(), "numbers do not ascend"
        dropped = int((self.column("kind") > DROPPED).sum())
        assert dropped == self._dropped, "another number of pages was dropped"
        assert self.count(is_kept=True) + dropped == len(self), "an index has other pages"
        for index in self._indexes.values():
            index.check()
        self._phrases.check()
        anew = KeyTable()
        for page in self if self._indexes else ():
            entry = self.entry(page)
            assert entry is not None
            if entry.kind > DROPPED:
                continue
            found = self._indexes[entry.kind].rows_of(self._masked(entry))
            assert page in found, f"page {page} is not in the index"
            anew.add(phrase_keys(entry.keys), page)
        assert np.array_equal(anew.pairs, self._phrases.pairs), "other phrases are in the table"

    def _there(self) -> NumberArray:
        return np.flatnonzero(self._entries["kind"][: self._rows])

    def _find(self, pages: NumberArray) -> tuple[NumberArray, npt.NDArray[np.bool_]]:
        """Return the row of each page, or its row if it were inserted, and whether it is known."""
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
        was, becomes = (each["kind"] > DROPPED for each in (before, after))
        self._dropped += int(np.count_nonzero(becomes) - np.count_nonzero(was))
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
        """Replace the keys of pages; a page that is gone has none. Cost: see `add_many`."""
        was, comes = (before != after) & (before != b""), (before != after) & (after != b"")
        for keys, page in zip(_padded(before[was]), pages[was].tolist(), strict=True):
            self._phrases.remove(phrase_keys(keys), page)
        columns = np.frombuffer(b"".join(_padded(after[comes])), KEY).reshape(-1, KEYS)
        self._phrases.add_many(columns, pages[comes])

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
            room = rows + rows // 2 + _LEAST_ROOM  # spare rows take no memory until written
            self._numbers, self._entries = np.empty(room, np.int64), np.empty(room, _ENTRY)
            self._numbers[:rows], self._entries[:rows] = pages[order], entries[order]
        self._rows = rows

    def _values(self, entries: EntryArray) -> npt.NDArray[np.uint64]:
        values: npt.NDArray[np.uint64] = entries["value"]
        return values ^ host_masks(entries["host"]) if self._by_host else values

    def _masked(self, entry: Entry) -> int:
        return entry.value ^ host_mask(entry.host) if self._by_host else entry.value


def _padded(keys: npt.NDArray[np.bytes_]) -> list[bytes]:
    """Return keys with their trailing zeros, which numpy strips."""
    return [each.ljust(KEYS_BYTES, b"\0") for each in keys.tolist()]


def host_masks(hosts: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Hash the numbers of hosts, as splitmix64 does (Steele, Lea and Flood 2014)."""
    mixed = hosts.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    masks: npt.NDArray[np.uint64] = mixed ^ mixed >> np.uint64(31)
    return masks


@lru_cache(maxsize=100_000)
def host_mask(host: int) -> int:
    """Hash the number of one host."""
    return int(host_masks(np.array([host]))[0])
