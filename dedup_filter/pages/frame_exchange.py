"""Lessons of hosts, exchanged with other processes: read before a page is judged, sent when kept.

    page to be judged   -> lessons of its host that others sent since the last read    news
    page committed      -> its lesson, without blocks that were sent twice already     tell

Only the first `MOST_LESSONS` lessons of each host are exchanged: by then every process knows its
frame. Whether a block was shown more than twice is not asked, so blocks that the list holds twice
are left out of a lesson. The lesson of a dropped page counts only blocks not shown before
(`frames`), so there one mention is enough. Nothing that was sent is ever taken back, as only
committed pages send.

    process 8   number 8   lesson (`frames`)

The numbers of a process's entries ascend, so that no entry is learnt twice, even if the servers
have lost some or a list is read from its beginning again. A process skips its own entries, unless
it has forgotten the host since. Entries that are damaged or of another format are skipped.

Cost: one call to read and one to send for each page; none once a host's list is full and was read.
"""

import struct
from collections import Counter, OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from dedup_filter.config import expiry_seconds
from dedup_filter.errors import StoreError
from dedup_filter.frames.host_frames import Lesson
from dedup_filter.pages.redis.connection import Connection
from dedup_filter.text.content import ANY_MENU

MOST_LESSONS: Final = 32
"""Of a host: more bring nothing (docs/decisions)."""
_LESSON_DAYS = 30
"""For which a list lasts without `expire_days`."""

_HEAD = struct.Struct("<8sQ")
_MOST_BLOCKS = 1_000
"""Blocks of a lesson that is sent, half of them from each end of its page: 8 kB."""
_MOST_TOLD = 500_000
"""Blocks that are remembered of lists, of all hosts together: 50 MB."""
_TELLING = 2
"""Mentions of a block that are sent; whether there were more is never asked."""


class LessonLists:
    """The lists of lessons on the servers, as one process reads and writes them.

    A list is gone some time after the last lesson was added. Cost: a call each.
    """

    def __init__(self, connection: Connection, process: str, seconds: int | None) -> None:
        self.process = bytes.fromhex(process)
        """8 bytes that no other process has."""
        self._connection = connection
        self._seconds = expiry_seconds(_LESSON_DAYS) if seconds is None else seconds

    def read(self, host: str, first: int) -> list[bytes]:
        """Return the lessons of a host from the one with this number on, counted from 0."""
        name = self._connection.frame_key(host)
        found: list[bytes] = self._connection.ask("LRANGE", name, first, -1)
        return found

    def add(self, host: str, lesson: bytes) -> int:
        """Add a lesson to the list of a host, unless it is full; return how many there are now."""
        name = self._connection.frame_key(host)
        return int(self._connection.run("teach", lesson, MOST_LESSONS, self._seconds, key=name))


@dataclass(slots=True)
class _Host:
    place: int = 0
    """Number of entries of its list that were read."""
    is_full: bool = False
    taken: dict[bytes, int] = field(default_factory=dict)
    """By process, the number of its last lesson that was learnt here."""
    told: Counter[int] = field(default_factory=Counter)
    """By block, how many of the entries read mention it."""

    def read_anew(self) -> None:
        """Read its list from the beginning again; what was taken is not taken again."""
        self.place, self.is_full = 0, False
        self.told.clear()

    def untold(self, lesson: Lesson) -> list[int]:
        """Return the blocks of a lesson that the list does not mention often enough.

        That there is a menu is counted for each page that is sent: see `FramedPages`, print views.
        """
        most = _TELLING if lesson.is_kept else 1
        news = [block for block in lesson.shown if self.told[block] < most]
        is_missing = ANY_MENU not in news and ANY_MENU in lesson.shown
        return [*news, ANY_MENU] if news and lesson.is_kept and is_missing else news


class FrameExchange:
    """Reads the lessons of other processes, and sends those of this one."""

    def __init__(self, lists: LessonLists) -> None:
        self._lists = lists
        self._hosts: dict[str, _Host] = {}
        self._told: OrderedDict[str, int] = OrderedDict()
        """By host, how many blocks of its list are remembered; the one used last comes last."""
        self._told_blocks = 0
        self._number = 0

    @property
    def nbytes(self) -> int:
        """Estimated memory in bytes."""
        return 400 * len(self._hosts) + 100 * self._told_blocks

    def news(self, host: str) -> list[Lesson]:
        """Return the lessons of a host that others have sent since the last call.

        Raises:
            StoreError: the list cannot be read; the next call returns its lessons.
        """
        known = self._hosts.get(host) or _Host()
        if known.place >= MOST_LESSONS:
            return []
        entries = self._lists.read(host, known.place)
        if not entries:
            return []
        # Not earlier: a host without entries needs no memory.
        self._hosts[host] = known
        known.place += len(entries)
        lessons = [lesson for entry in entries if (lesson := self._opened(known, entry))]
        if known.place >= MOST_LESSONS:
            known.is_full = True
            known.told.clear()
        self._bound_told(host, known)
        return lessons

    def tell(self, host: str, lesson: Lesson, *, is_known: bool) -> None:
        """Send what was learnt from a page; do nothing if the server cannot be reached.

        `is_known`: the host was not forgotten since the page was learnt from.
        """
        known = self._hosts.get(host) or _Host()
        if known.is_full:
            return
        news = known.untold(lesson)
        if not news:
            return
        if len(news) > _MOST_BLOCKS:  # the frame of a page stands at its beginning and its end
            news = news[: _MOST_BLOCKS // 2] + news[-_MOST_BLOCKS // 2 :]
        self._number += 1
        if is_known:
            self._hosts[host] = known
            # Set before sending: the entry may arrive although no answer comes back.
            known.taken[self._lists.process] = self._number
        told = Lesson(lesson.is_kept, news)
        packed = _HEAD.pack(self._lists.process, self._number) + told.to_bytes()
        with suppress(StoreError):  # the commit of the page stands
            self._follow(known, self._lists.add(host, packed), told)
        if is_known:
            self._bound_told(host, known)

    def forget(self, host: str) -> None:
        """Forget a host: its list will be read from the beginning."""
        self._hosts.pop(host, None)
        self._told_blocks -= self._told.pop(host, 0)

    def read_anew(self) -> None:
        """Read all lists from their beginnings again, as the servers have lost entries."""
        for known in self._hosts.values():
            known.read_anew()
        self._told.clear()
        self._told_blocks = 0

    def _bound_told(self, host: str, known: _Host) -> None:
        """Let the list of a host be the one used last; those used least are to be read anew."""
        self._told_blocks += len(known.told) - self._told.pop(host, 0)
        if known.told:
            self._told[host] = len(known.told)
        while self._told_blocks > _MOST_TOLD and len(self._told) > 1:
            oldest, blocks = self._told.popitem(last=False)
            self._told_blocks -= blocks
            self._hosts[oldest].read_anew()

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
        """Note the length of a list with the lesson that was just appended."""
        known.is_full = count >= MOST_LESSONS
        if count <= known.place:  # the list is a new one: the old one expired or was lost
            known.place = 0
            known.told.clear()
        elif count == known.place + 1 and not known.is_full:
            known.place = count
            known.told.update(told.shown)
