"""A log, read from its beginning -> the pages that are there at its end.

For who looks at an index and compares no pages with it: no index of fingerprints is made.

Cost: 60 bytes an event while it lasts, and a sort of them.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.pages.directory import PageRecord
from dedup_filter.pages.redis.events import (
    CHUNK,
    EVENT_BYTES,
    LONG,
    SHORT,
    Entry,
    EventArray,
    News,
    decode,
    kinds,
    numbers,
)

__all__ = ["Standing", "entry_of"]


class Standing(NamedTuple):
    """Pages that are there, by their numbers, each with the event that tells of it."""

    pages: npt.NDArray[np.int64]
    events: EventArray
    places: npt.NDArray[np.int64]
    """Numbers of these events in the log."""
    end: int
    """Number of the last event of the log."""
    last: bytes
    """That event."""
    lost: int
    """Events in whose place there is nothing."""

    @classmethod
    def of(cls, log: Iterable[News]) -> "Standing":
        """Follow a log."""
        end, last = 0, b""
        parts, firsts = [decode(b"")], [np.empty(0, np.int64)]
        for news in log:
            parts.append(decode(news.events))
            firsts.append(np.arange(news.first, news.first + len(parts[-1])))
            end, last = news.first + len(parts[-1]) - 1, news.events[-EVENT_BYTES:] or last
        events, places = np.concatenate(parts), np.concatenate(firsts)
        # Of each page the last that was said of it: the first one, from the end.
        _, from_the_end = np.unique(numbers(events)[::-1], return_index=True)
        latest = len(events) - 1 - from_the_end
        there = latest[np.isin(kinds(events[latest]), (LONG, SHORT))]
        lost = int((numbers(events) == 0).sum())
        return cls(numbers(events[there]), events[there], places[there], end, last, lost)

    def lacks(self, pages: Iterable[int]) -> set[int]:
        """Return those of some pages that are not there."""
        asked = np.fromiter(pages, np.int64)
        return set(asked[~np.isin(asked, self.pages)].tolist())

    def entry(self, page: int) -> Entry | None:
        """Return what the log tells of a page, None if it is not there."""
        at = int(self.pages.searchsorted(page))
        if at == len(self.pages) or self.pages[at] != page:
            return None
        event = self.events[at : at + 1]
        return Entry(int(event["value"][0]), int(kinds(event)[0]), int(event["host"][0]))

    @property
    def first_chunk(self) -> int:
        """The number of the first chunk of the log that tells of a page that is there."""
        first = int(self.places.min()) - 1 if len(self.places) else self.end
        return first // CHUNK


def entry_of(record: PageRecord) -> Entry:
    """Return what the log tells of a page with this record."""
    return Entry.of(record.fingerprint, record.digest, record.host)
