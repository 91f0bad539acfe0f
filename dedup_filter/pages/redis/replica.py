"""The log of a shared index -> the fingerprints of its pages, in this process's memory.

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

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming import HammingIndex, Neighbours
from dedup_filter.pages.comparison import MOST_COMPARED
from dedup_filter.pages.page_index import host_mask, host_masks
from dedup_filter.pages.redis.formats import (
    CHUNK,
    LONG,
    SHORT,
    Entry,
    News,
    decode,
    kinds,
    numbers,
)

__all__ = ["Replica"]

_BLOCK = 1_024
"""Pages whose entries are in one array, by their numbers."""
_ENTRY = np.dtype(
    [("value", "<u8"), ("place", "<i8"), ("host", "<u4"), ("seen", "<u4"), ("kind", "u1")]
)
"""What the last event of a page tells; `place` is its number in the log, `kind` 0: no page."""
_FEW = 64
"""Events that are cheaper to follow one by one."""


class Replica:
    """The pages of a shared index that are there, searched by fingerprint and digest."""

    def __init__(self, max_distance: int, *, by_host: bool = False) -> None:
        self._by_host = by_host
        self._max_distance = max_distance
        self.clear()

    def clear(self) -> None:
        """Forget everything: the log is read anew."""
        self._long = HammingIndex(self._max_distance)
        self._short = HammingIndex(0)
        self._blocks: dict[int, npt.NDArray[np.void]] = {}
        self._first_seen: dict[int, int] = {}
        """By block, a time before which none of its pages was seen last."""
        self._told_by: Counter[int] = Counter()
        """By chunk of the log, how many of the pages that are there have their last event in it."""
        self.end = 0
        """The number of the last event that was taken in."""

    def __len__(self) -> int:
        return len(self._long) + len(self._short)

    def __contains__(self, page: int) -> bool:
        block = self._blocks.get(page // _BLOCK)
        return block is not None and bool(block["kind"][page % _BLOCK])

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        entries = len(self._blocks) * _BLOCK * _ENTRY.itemsize
        return self._long.nbytes + self._short.nbytes + entries

    def follow(self, news: News) -> None:
        """Take in events. Requires: they come after those that were taken in before."""
        events = decode(news.events)
        if not len(events):
            return
        if news.first > self.end + 1:
            # Chunks that were not read were deleted: they, and all before, tell of no page.
            self.clear()
        self.end = news.end
        # Of each page only the last event counts: the first one, from the end.
        pages, from_the_end = np.unique(numbers(events)[::-1], return_index=True)
        last = len(events) - 1 - from_the_end
        kind = kinds(events)[last]
        entries = np.zeros(len(pages), _ENTRY)
        for name in ("value", "host", "seen"):
            entries[name] = events[name][last]
        entries["kind"] = np.where(np.isin(kind, (LONG, SHORT)), kind, 0)
        entries["place"] = news.first + last
        borders = np.flatnonzero(np.diff(pages // _BLOCK)) + 1
        groups = zip(np.split(pages, borders), np.split(entries, borders), strict=True)
        is_other = np.concatenate([self._write(some, told) for some, told in groups])
        for of_index, index in ((LONG, self._long), (SHORT, self._short)):
            self._add(index, pages, entries, is_other & (entries["kind"] == of_index))

    def neighbours(self, fingerprint: int, host: int, most: int) -> Neighbours:
        """Return the pages within k bits, or so many of the nearest; of a host, if by host.

        A page of another host may be among them by chance.
        """
        return self._long.neighbours(self._masked(fingerprint, host), most=most)

    def with_digest(self, value: int, host: int, most: int) -> list[int]:
        """Return short pages whose digest begins so, the earliest first; of a host, if by host."""
        near = self._short.neighbours(self._masked(value, host), most=most)
        found: list[int] = near.rows.tolist()
        return found

    def entry(self, page: int) -> Entry:
        """Return what the log tells of a page that is there."""
        entry = self._blocks[page // _BLOCK][page % _BLOCK]
        return Entry(int(entry["value"]), int(entry["kind"]), int(entry["host"]))

    def has_like(self, entry: Entry, after: int, but: int) -> bool:
        """Tell whether an event after a place tells of a page near this entry, but for one page.

        If more pages are near than are compared, it is taken that one does.
        """
        if self.end == after + (self._place(but) > after):
            return False
        index = self._long if entry.kind == LONG else self._short
        near = index.neighbours(self._masked(entry.value, entry.host), most=MOST_COMPARED + 1)
        pages: list[int] = near.rows.tolist()
        return len(pages) > MOST_COMPARED or any(
            page != but and self._place(page) > after for page in pages
        )

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

    def pages(self) -> Iterator[list[int]]:
        """Yield the numbers of all pages, some at a time."""
        for number in sorted(self._blocks):
            yield (np.flatnonzero(self._blocks[number]["kind"]) + number * _BLOCK).tolist()

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
                page = at + number * _BLOCK
                found.append((page, *self.entry(page).fields, int(block["seen"][at])))
        return found

    def check(self) -> None:
        """Verify that the indexes hold what the entries say.

        Raises:
            AssertionError: they do not.
        """
        self._long.check()
        self._short.check()
        told_by: Counter[int] = Counter()
        for number, block in self._blocks.items():
            there = block[block["kind"] > 0]
            assert len(there), "there are entries of no page"
            assert int(there["seen"].min()) >= self._first_seen[number], "a page is older"
            told_by.update(((there["place"] - 1) // CHUNK).tolist())
        assert told_by == self._told_by, "a chunk is miscounted"
        assert self._first_seen.keys() == self._blocks.keys()
        assert told_by.total() == len(self), "the index has entries of no page"
        for page in (page for pages in self.pages() for page in pages):
            value, kind, host = self.entry(page)
            index = self._long if kind == LONG else self._short
            found = index.neighbours(self._masked(value, host), 0)
            assert page in found.rows.tolist(), f"page {page} is not in the index"

    def _write(
        self, pages: npt.NDArray[np.int64], told: npt.NDArray[np.void]
    ) -> npt.NDArray[np.bool_]:
        """Write the entries of pages of one block; return which have other measures than before.

        Their measures before are removed from the indexes.
        """
        number = int(pages[0]) // _BLOCK
        block = self._blocks.get(number)
        if block is None:
            block = self._blocks[number] = np.zeros(_BLOCK, _ENTRY)
        at = pages % _BLOCK
        before = block[at]
        is_other: npt.NDArray[np.bool_] = np.logical_or.reduce(
            [before[name] != told[name] for name in ("value", "kind", "host")]
        )
        for page in pages[is_other & (before["kind"] > 0)].tolist():
            value, kind, host = self.entry(page)
            (self._long if kind == LONG else self._short).remove(self._masked(value, host), page)
        self._told_by.update(_chunks(told))
        for chunk in _chunks(before):
            self._told_by[chunk] -= 1
            if not self._told_by[chunk]:
                del self._told_by[chunk]
        block[at] = told
        if block["kind"].any():
            seen = int(told["seen"][told["kind"] > 0].min(initial=2**32 - 1))
            self._first_seen[number] = min(seen, self._first_seen.get(number, seen))
        else:
            del self._blocks[number]
            self._first_seen.pop(number, None)
        return is_other

    def _add(
        self,
        index: HammingIndex,
        pages: npt.NDArray[np.int64],
        entries: npt.NDArray[np.void],
        chosen: npt.NDArray[np.bool_],
    ) -> None:
        """Add the chosen pages to an index."""
        values = entries["value"][chosen]
        if self._by_host:
            values = values ^ host_masks(entries["host"][chosen])
        rows = pages[chosen]
        if len(rows) > _FEW:
            index.add_many(values, rows)
            return
        for value, row in zip(values.tolist(), rows.tolist(), strict=True):
            index.add(value, row)

    def _place(self, page: int) -> int:
        return int(self._blocks[page // _BLOCK]["place"][page % _BLOCK]) if page in self else 0

    def _masked(self, value: int, host: int) -> int:
        return value ^ host_mask(host) if self._by_host else value


def _chunks(entries: npt.NDArray[np.void]) -> list[int]:
    """Return the chunks of the log that tell of pages that are there."""
    chunks: list[int] = ((entries["place"][entries["kind"] > 0] - 1) // CHUNK).tolist()
    return chunks
