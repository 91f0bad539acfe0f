"""The log of a shared index -> the pages that it tells of, in this process's memory.

    events -> entries of pages that are there -> within k bits of one asked for
                                              -> with the digest of one asked for
                                              -> those that were seen least recently

Each process has a replica of its own, so a look-up asks no server. It is as new as the last events
that it was given; `append` of the log makes up for that.

Cost: 25 bytes a page for its entry, and what `HammingIndex` takes, about 36; a million events are
followed in half a second when they come in thousands, and one in 30 us.
"""

from collections import Counter
from collections.abc import Iterator
from math import inf
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming import HammingIndex, Neighbours
from dedup_filter.pages.comparison import MOST_COMPARED
from dedup_filter.pages.directory.page_index import host_mask, host_masks
from dedup_filter.pages.redis.formats import (
    CHUNK,
    EVENT_BYTES,
    LONG,
    SHORT,
    Entry,
    News,
    decode,
    numbers,
)

__all__ = ["LoggedPages", "Replica"]

EntryArray = npt.NDArray[np.void]

_BLOCK = 1_024
"""Pages whose entries are in one array, by their numbers."""
_ENTRY = np.dtype(
    [("value", "<u8"), ("place", "<i8"), ("host", "<u4"), ("seen", "<u4"), ("kind", "u1")]
)
"""What the last event of a page tells; `place` is its number in the log, `kind` 0: no page."""
_FEW = 64
"""Events that are cheaper to follow one by one."""


class _Followed(NamedTuple):
    """What some events have told, side by side, (n,)."""

    pages: npt.NDArray[np.int64]
    before: EntryArray
    after: EntryArray


class LoggedPages:
    """The pages that are there, each with the last event that tells of it."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything: the log is read anew."""
        self._blocks: dict[int, EntryArray] = {}
        self._first_seen: dict[int, int] = {}
        """By block, a time before which none of its pages was seen last."""
        self._told_by: Counter[int] = Counter()
        """By chunk of the log, how many of the pages that are there have their last event in it."""
        self._count = 0
        self.end = 0
        """The number of the last event that was taken in."""
        self.last = b""
        """That event."""
        self.lost = 0
        """Events in whose place there is nothing."""

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        return (page for pages in self.pages() for page in pages)

    def __contains__(self, page: int) -> bool:
        block = self._blocks.get(page // _BLOCK)
        return block is not None and bool(block["kind"][page % _BLOCK])

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return len(self._blocks) * _BLOCK * _ENTRY.itemsize

    def follow(self, news: News) -> _Followed:
        """Take in events. Requires: they come after those that were taken in before."""
        if news.first > self.end + 1:
            # Chunks that were not read were deleted: they, and all before, tell of no page.
            self.clear()
        self.end, self.last = news.end, news.events[-EVENT_BYTES:] or self.last
        events = decode(news.events)
        of_pages = numbers(events)
        self.lost += int((of_pages == 0).sum())
        # Of each page only the last event counts: the first one, from the end.
        pages, from_the_end = np.unique(of_pages[::-1], return_index=True)
        last = len(events) - 1 - from_the_end
        after = np.zeros(len(pages), _ENTRY)
        for name in ("value", "host", "seen", "kind"):
            after[name] = events[name][last]
        after["kind"][~np.isin(after["kind"], (LONG, SHORT))] = 0
        after["place"] = news.first + last
        before = np.zeros(len(pages), _ENTRY)
        borders = np.flatnonzero(np.diff(pages // _BLOCK)) + 1
        for some in np.split(np.arange(len(pages)), borders) if len(pages) else []:
            before[some] = self._write(pages[some], after[some])
        return _Followed(pages, before, after)

    def entry(self, page: int) -> Entry | None:
        """Return what the log tells of a page, None if it is not there."""
        return _entry(self._blocks[page // _BLOCK][page % _BLOCK]) if page in self else None

    def pages(self) -> Iterator[list[int]]:
        """Yield the numbers of all pages in their order, some at a time."""
        for number in sorted(self._blocks):
            yield (np.flatnonzero(self._blocks[number]["kind"]) + number * _BLOCK).tolist()

    def told(self, name: str) -> npt.NDArray[Any]:
        """Return what is told of all pages, in their order: value, place, host, seen or kind."""
        blocks = [np.empty(0, _ENTRY), *(self._blocks[number] for number in sorted(self._blocks))]
        return np.concatenate([block[name][block["kind"] > 0] for block in blocks])

    def oldest(self, most: int, before: float = inf) -> list[int]:
        """Return the pages not seen for longest, of those last seen before a time."""
        found: list[tuple[int, int]] = []
        for first_seen, number in sorted((seen, n) for n, seen in self._first_seen.items()):
            if first_seen >= before or (len(found) == most and found[-1][0] <= first_seen):
                break
            block = self._blocks[number]
            there = np.flatnonzero(block["kind"])
            seen: list[int] = block["seen"][there].tolist()
            self._first_seen[number] = min(seen)
            with_pages = zip(seen, (there + number * _BLOCK).tolist(), strict=True)
            found = sorted([*found, *(each for each in with_pages if each[0] < before)])[:most]
        return [page for _, page in found]

    @property
    def first_chunk(self) -> int:
        """The number of the first chunk of the log that tells of a page that is there."""
        return min(self._told_by, default=self.end // CHUNK)

    def told_by(self, chunk: int) -> list[tuple[int, bytes, int, int, int]]:
        """Return what a chunk of the log tells of pages that are there.

        Number, value, kind, host and time of each. Cost: passes over all pages, 3 ms for a million.
        """
        found = []
        for number, block in self._blocks.items():
            of_chunk = (block["place"] - 1) // CHUNK == chunk
            for at in np.flatnonzero(of_chunk & (block["kind"] > 0)).tolist():
                told = *_entry(block[at]).fields, int(block["seen"][at])
                found.append((at + number * _BLOCK, *told))
        return found

    def check(self) -> None:
        """Verify that what is counted is what there is. Raises AssertionError if not."""
        told_by: Counter[int] = Counter()
        for number, block in self._blocks.items():
            there = block[block["kind"] > 0]
            assert len(there), "there are entries of no page"
            assert int(there["seen"].min()) >= self._first_seen[number], "a page is older"
            told_by.update(_chunks(there))
        assert told_by == self._told_by, "a chunk is miscounted"
        assert told_by.total() == self._count, "pages are miscounted"
        assert self._first_seen.keys() == self._blocks.keys()

    def _write(self, pages: npt.NDArray[np.int64], after: EntryArray) -> EntryArray:
        """Write the entries of pages of one block; return those before."""
        number = int(pages[0]) // _BLOCK
        block = self._blocks.get(number)
        if block is None:
            block = self._blocks[number] = np.zeros(_BLOCK, _ENTRY)
        at = pages % _BLOCK
        before = block[at]
        block[at] = after
        new, old = _chunks(after), _chunks(before)
        self._count += len(new) - len(old)
        self._told_by.update(new)
        for chunk in old:
            self._told_by[chunk] -= 1
            if not self._told_by[chunk]:
                del self._told_by[chunk]
        if block["kind"].any():
            seen = int(after["seen"][after["kind"] > 0].min(initial=2**32 - 1))
            self._first_seen[number] = min(seen, self._first_seen.get(number, seen))
        else:
            del self._blocks[number]
            self._first_seen.pop(number, None)
        return before


class Replica(LoggedPages):
    """The pages that are there, searched by fingerprint and digest."""

    def __init__(self, max_distance: int, *, by_host: bool = False) -> None:
        self._by_host = by_host
        self._max_distance = max_distance
        super().__init__()

    def clear(self) -> None:
        """Forget everything: the log is read anew."""
        super().clear()
        self._long = HammingIndex(self._max_distance)
        self._short = HammingIndex(0)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return super().nbytes + self._long.nbytes + self._short.nbytes

    def follow(self, news: News) -> _Followed:
        """Take in events. Requires: they come after those that were taken in before."""
        pages, before, after = followed = super().follow(news)
        measures = [before[name] != after[name] for name in ("value", "kind", "host")]
        is_other = np.logical_or.reduce(measures)
        was_there = is_other & (before["kind"] > 0)
        for page, entry in zip(pages[was_there].tolist(), before[was_there], strict=True):
            value, kind, host = _entry(entry)
            self._index(kind).remove(self._masked(value, host), page)
        for kind in (LONG, SHORT):
            chosen = is_other & (after["kind"] == kind)
            self._add(self._index(kind), pages[chosen], after[chosen])
        return followed

    def neighbours(self, fingerprint: int, host: int, most: int) -> Neighbours:
        """Return the pages within k bits, the `most` nearest; with `by_host` only of this host.

        With `by_host`, too, a page of another host may be among them by chance.
        """
        return self._long.neighbours(self._masked(fingerprint, host), most=most)

    def with_digest(self, value: int, host: int, most: int) -> list[int]:
        """Return short pages whose digest begins so, the earliest first; of a host, if by host."""
        near = self._short.neighbours(self._masked(value, host), most=most)
        found: list[int] = near.rows.tolist()
        return found

    def has_like(self, entry: Entry, after: int, but: int) -> bool:
        """Tell whether an event after a place tells of a page near this entry, but for one page.

        If more pages are near than are compared, it is taken that one does.
        """
        if self.end == after + (self._place(but) > after):
            return False
        value = self._masked(entry.value, entry.host)
        near = self._index(entry.kind).neighbours(value, most=MOST_COMPARED + 1)
        pages: list[int] = near.rows.tolist()
        return len(pages) > MOST_COMPARED or any(
            page != but and self._place(page) > after for page in pages
        )

    def check(self) -> None:
        """Verify that the indexes hold what the entries say. Raises AssertionError if not."""
        super().check()
        self._long.check()
        self._short.check()
        assert len(self._long) + len(self._short) == len(self), "there are entries of no page"
        for page in self:
            value, kind, host = _entry(self._blocks[page // _BLOCK][page % _BLOCK])
            found = self._index(kind).neighbours(self._masked(value, host), 0)
            assert page in found.rows.tolist(), f"page {page} is not in the index"

    def _index(self, kind: int) -> HammingIndex:
        return self._long if kind == LONG else self._short

    def _add(self, index: HammingIndex, pages: npt.NDArray[np.int64], entries: EntryArray) -> None:
        values = entries["value"]
        if self._by_host:
            values = values ^ host_masks(entries["host"])
        if len(pages) > _FEW:
            index.add_many(values, pages)
            return
        for value, page in zip(values.tolist(), pages.tolist(), strict=True):
            index.add(value, page)

    def _place(self, page: int) -> int:
        return int(self._blocks[page // _BLOCK]["place"][page % _BLOCK]) if page in self else 0

    def _masked(self, value: int, host: int) -> int:
        return value ^ host_mask(host) if self._by_host else value


def _entry(told: Any) -> Entry:
    return Entry(int(told["value"]), int(told["kind"]), int(told["host"]))


def _chunks(entries: EntryArray) -> list[int]:
    """Return the chunks of the log that tell of pages that are there."""
    chunks: list[int] = ((entries["place"][entries["kind"] > 0] - 1) // CHUNK).tolist()
    return chunks
