"""What hosts have shown to other processes: read before a page is judged, told when one is kept.

    page to be judged   -> lessons of its host that others told since       news
    page settled        -> its lesson, less what was told of twice already  tell

Only the first lessons of each host are exchanged, `MOST_LESSONS`: by then its frame is known to
all. Nobody asks of a block whether it was shown more than twice, so a lesson that is told leaves
out the blocks of which the list tells twice, and one of a page that was dropped, which teaches only
what was not shown before (`frames`), those of which it tells at all. Nothing that was told has to
be taken back: only pages that are settled teach.

    process 8   number 8   lesson (`frame_bytes`)

An entry's number goes up with each entry of its process, so that none is taken in twice, whatever
the servers have lost and whatever is read anew. What was told here is not taken in either, unless
the host was forgotten since. Entries that are damaged, or of another format, are left out.

Cost: a call to read and one to tell for each page, none once a host's list is full and read.
"""

import struct
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from dedup_filter.errors import StoreError
from dedup_filter.frames.frame_bytes import Lesson
from dedup_filter.pages.redis import MOST_LESSONS

__all__ = ["FrameExchange", "Lists"]

_HEAD = struct.Struct("<8sQ")
_MOST_BLOCKS = 1_000
"""Of a lesson that is told, half of them from each end of its page: 8 kB."""
_TELLING = 2
"""Pages that have shown a block; how many more have is never asked."""


class Lists(Protocol):
    """Where lessons are exchanged: one bounded list for each host."""

    @property
    def process(self) -> bytes:
        """8 bytes that no other process has."""

    def read(self, host: str, first: int) -> list[bytes]:
        """Return the entries of a host from a place on."""

    def add(self, host: str, lesson: bytes) -> int:
        """Add an entry if there is room; return how many there are."""


@dataclass(slots=True)
class _Host:
    place: int = 0
    """Up to which its list was read."""
    is_full: bool = False
    taken: dict[bytes, int] = field(default_factory=dict)
    """By process, the number of its last lesson that is known here."""
    told: Counter[int] = field(default_factory=Counter)
    """By block, how often the list tells of it up to there."""

    def untold(self, lesson: Lesson) -> list[int]:
        """Return the blocks of a lesson that others do not know well enough."""
        most = _TELLING if lesson.is_kept else 1
        return [block for block in lesson.shown if self.told[block] < most]


class FrameExchange:
    """What this process has read of other processes' lessons, and told of its own."""

    def __init__(self, lists: Lists) -> None:
        self._lists = lists
        self._hosts: dict[str, _Host] = {}
        self._number = 0

    @property
    def nbytes(self) -> int:
        """Estimated memory in bytes."""
        return sum(400 + 100 * len(known.told) for known in self._hosts.values())

    def news(self, host: str) -> list[Lesson]:
        """Return the lessons of a host that are not known here.

        Raises:
            StoreError: they cannot be read; they will be news another time.
        """
        known = self._hosts.get(host) or _Host()
        if known.place >= MOST_LESSONS:
            return []
        entries = self._lists.read(host, known.place)
        if not entries:
            return []
        # Only now: of a host that nobody has told of nothing need be remembered.
        self._hosts[host] = known
        known.place += len(entries)
        lessons = [lesson for entry in entries if (lesson := self._opened(known, entry))]
        if known.place >= MOST_LESSONS:
            known.is_full = True
            known.told.clear()
        return lessons

    def tell(self, host: str, lesson: Lesson, *, is_known: bool) -> None:
        """Tell others what a page taught; if the servers are away they are told by later pages.

        `is_known` says that the host was not forgotten since the page was learnt from.
        """
        known = self._hosts.get(host) or _Host()
        if known.is_full:
            return
        news = _both_ends(known.untold(lesson))
        if not news:
            return
        self._number += 1
        if is_known:
            self._hosts[host] = known
            # Before it is sent: it may be there although no answer comes.
            known.taken[self._lists.process] = self._number
        told = Lesson(lesson.is_kept, news)
        packed = _HEAD.pack(self._lists.process, self._number) + told.to_bytes()
        with suppress(StoreError):  # the page is settled all the same
            self._follow(known, self._lists.add(host, packed), told)

    def forget(self, host: str) -> None:
        """Forget a host: all that is told of it is news again."""
        self._hosts.pop(host, None)

    def read_anew(self) -> None:
        """Read all lists from their beginnings: the servers have lost some."""
        for known in self._hosts.values():
            known.place, known.is_full = 0, False
            known.told.clear()

    def _opened(self, known: _Host, entry: bytes) -> Lesson | None:
        try:
            process, number = _HEAD.unpack_from(entry)
            lesson = Lesson.from_bytes(entry[_HEAD.size :])
        except (struct.error, ValueError):
            return None
        known.told.update(known.untold(lesson))
        if number <= known.taken.get(process, 0):
            return None
        known.taken[process] = number
        return lesson

    def _follow(self, known: _Host, count: int, told: Lesson) -> None:
        """Take note of how long a list is with what was told last."""
        known.is_full = count >= MOST_LESSONS
        if count <= known.place:  # it is another one: its time was over, or a server lost it
            known.place = 0
            known.told.clear()
        elif count == known.place + 1 and not known.is_full:
            known.place = count
            known.told.update(told.shown)


def _both_ends(blocks: list[int]) -> list[int]:
    """Shorten a lesson: a page has its frame at its beginning and its end."""
    half = _MOST_BLOCKS // 2
    return blocks if len(blocks) <= _MOST_BLOCKS else blocks[:half] + blocks[-half:]
