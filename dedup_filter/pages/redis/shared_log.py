"""What one process adds to the log of a shared index: pages that it claims, and settles.

    append    one more page, pending; its number, and all events up to it that were not known here
    commit    its record moves to a key of its own
    release   an event says that it is gone
    replace   an event gives it other measures

All that must be one step is one script, which touches keys of one slot only: the log and the
pages in flight. The records of committed pages are elsewhere (`shared_records`).

    A process that appends its page sees in the answer every page that came before it, and each
    later one sees this one: of two pages that are alike the second to come learns of the first,
    whatever the order in which their processes work.

A process holds its pending pages by a lease. When that is over the next call of any process
releases them. Knows nothing of fingerprints, only events; keys are listed in docs/formats.md.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum

from dedup_filter.errors import StoreError
from dedup_filter.pages.directory import PageRecord, Scheme
from dedup_filter.pages.expiry import expiry_seconds
from dedup_filter.pages.redis.alike import Options
from dedup_filter.pages.redis.connection import Connection
from dedup_filter.pages.redis.events import Entry, News, salt
from dedup_filter.pages.redis.eviction import warn_of_eviction
from dedup_filter.pages.redis.lessons import LessonLists
from dedup_filter.pages.redis.log_view import MOST_EVENTS, LogView, require_same
from dedup_filter.pages.redis.record_bytes import pack_record
from dedup_filter.pages.redis.shared_records import SharedRecords

__all__ = ["Commit", "SharedLog"]


class Commit(IntEnum):
    """What became of a commit."""

    NOT_PENDING = 0
    """The page was not pending here: it was committed before, or its lease was over."""
    DONE = 1
    FORGOTTEN = 2
    """Another process has forgotten the page."""


class SharedLog(LogView):
    """The log as one process reads it, and adds to it.

    Raises:
        StoreError: by all methods, when the servers cannot be reached or refuse.
    """

    def __init__(self, connection: Connection, expire_days: float | None = None) -> None:
        super().__init__(connection)
        self._expire_seconds = None if expire_days is None else expiry_seconds(expire_days)
        self.records = SharedRecords(connection, self._expire_seconds)
        """Of the pages that the log tells of."""
        self.pending: set[int] = set()
        """Pages that this process has claimed and not settled."""
        self._may_own_more = False
        """Whether an answer was lost, and with it perhaps the number of a page."""

    def join(self, scheme: Scheme, crawl: str | None, options: Options, seen: int) -> None:
        """Do what `LogView` does, and warn of a server that may evict what it holds."""
        super().join(scheme, crawl, options, seen)
        warn_of_eviction(self._connection, has_expiry=self._expire_seconds is not None)

    def append(self, entry: Entry, record: PageRecord, seen: int) -> tuple[int, News]:
        """Add a page, pending; return its number and the events up to its own.

        The number is 0, and nothing was added, if there are too many events to be told at once:
        follow them and try again.

        Raises:
            LogChanged: nothing was added.
        """
        self.disown(seen)
        packed = pack_record(record)
        try:
            number, news = self._read(
                "append",
                seen,
                entry.value.to_bytes(8, "little"),
                entry.kind,
                entry.host,
                packed,
            )
        except StoreError:
            self._may_own_more = True
            raise
        if number:
            self.pending.add(number)
        return number, news

    def rewind(self, seen: int) -> None:
        """Read the log from its beginning again; make the index anew if it is gone.

        Pages that are pending there, and not here, are released with the next that is appended:
        their release, or the word that they were committed, was lost.
        """
        super().rewind(seen)
        self._may_own_more = True

    def disown(self, seen: int) -> None:
        """Release pages of this process that it knows nothing of, if there may be any."""
        if self._may_own_more:
            self._run("disown", self.process, salt(), seen, *self.pending)
            self._may_own_more = False

    def commit(self, number: int, record: PageRecord, replaced: int, seen: int) -> Commit:
        """Keep a pending page for good, in the place of another one if there is a number."""
        before = self.records.put_first(number, record)
        settle = self.process, number, "1", salt(), seen, replaced, pack_record(record)
        done = Commit(self._run("settle", *settle, *self.records.for_script(number)))
        if done is not Commit.DONE:
            self.records.put_back(number, record, before)
        self.pending.discard(number)
        return done

    def release(self, number: int, seen: int) -> None:
        """Say that a pending page is gone; do nothing if it is not pending here.

        If the servers cannot be reached, it is released with the next page that is appended.
        """
        try:
            self._run("settle", self.process, number, "0", salt(), seen, 0)
        except StoreError:
            self.abandon(number)
            raise
        self.pending.discard(number)

    def abandon(self, number: int) -> None:
        """Know no more of a pending page: it is released with the next one that is appended."""
        self.pending.discard(number)
        self._may_own_more = True

    def remove(self, numbers: Sequence[int], seen: int) -> None:
        """Take pages out for good.

        Raises:
            LogChanged: the numbers may be those of others.
        """
        require_same(self._run("remove", *self._read_so_far, salt(), seen, *numbers))
        self.pending.difference_update(numbers)
        self.records.remove(numbers)

    def replace(self, number: int, entry: Entry, record: PageRecord, seen: int) -> bool:
        """Give a page other measures, if nothing has come of it that was not read yet.

        Returns whether that was so.

        Raises:
            LogChanged: the number may be that of another page.
        """
        is_pending = number in self.pending
        process = self.process if is_pending else ""
        event = number, entry.value.to_bytes(8, "little"), entry.kind, entry.host
        chance = MOST_EVENTS, salt(), seen
        name, seconds = self.records.for_script(number)
        measures = *event, pack_record(record), name, seconds
        done = self._run("replace", *self._read_so_far, *chance, process, *measures)
        if require_same(done) and not is_pending and not name:
            self.records.put(number, record)
        return bool(done)

    def beat(self, counts: Mapping[str, int]) -> None:
        """Give a sign of life, and add to the totals of all processes."""
        flat = (part for pair in counts.items() if pair[1] for part in pair)
        owned = self._run("beat", self.process, self._lease_milliseconds, *flat)
        if owned < 0:
            raise StoreError(f"{self} was deleted; it is made anew with the next page")
        if owned > len(self.pending):
            # A page is on its way, or a server has lost that one was committed, which is no event.
            self._may_own_more = True

    def leave(self, seen: int) -> None:
        """Release what is pending, and take part no more."""
        self._run("leave", self.process, salt(), seen)
        self.pending.clear()

    def lessons(self) -> LessonLists:
        """Return the lists by which processes exchange what they learn of hosts."""
        return LessonLists(self._connection, bytes.fromhex(self.process), self._expire_seconds)
