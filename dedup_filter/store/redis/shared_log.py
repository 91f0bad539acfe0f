"""The log of a shared index, as one process follows it and adds to it.

    events not read yet -> replica
    append -> pending -> commit    kept
                      -> release   gone
                      -> lost      unknown to the servers: committed anew, under another number
    chunks without current events -> deleted

A process that appends its page reads in the answer all pages before it, and each later append reads
this page: of two pages that are alike, the second one's process sees the first. Everything that
must be atomic is a function of `index.lua`. Two rules recover from lost data:

- Each call passes the offset up to which the log was read, and the last event there. If the log has
  lost its end or was made anew, the call does nothing. The process then reads the log from its
  beginning, because page numbers may have been reused.
- Each read passes the number of pages that the process holds. If the server has more, because an
  answer was lost, pages that are unknown to the process are released.

A page is lost if its lease was over, or if a server failed and lost it. If `see` failed and the
page may have been committed, the page is removed before another one is compared.

Cost: a call to append and one to commit, two on a cluster; two to release; one for 65,536 events.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from dedup_filter.config import FilterConfig, expiry_seconds
from dedup_filter.store.records import PageRecord
from dedup_filter.store.redis.process import Process
from dedup_filter.store.redis.records import SharedRecords, pack_record, replaced_by
from dedup_filter.store.redis.replica import CHUNK, EVENT_BYTES, LoggedPages, entry_of

logger = logging.getLogger(__name__)

MOST_EVENTS: Final = 65_536
"""Events in one answer: 3.7 MB, some milliseconds of the server's time."""
MOST_AT_ONCE: Final = 1_000
"""Most pages that one call removes or appends again."""
_SPARE_EVENTS = 4 * CHUNK
"""Outdated events that the log may hold beyond one for each current page."""
OTHER_LOG = -1
_UNKNOWN_PAGES = -2


class Overtaken(Exception):  # noqa: N818 - no fault: the caller compares again
    """Another process has made a verdict invalid: the page must be compared again."""


class SharedLog:
    """A log, the replica of its pages, and the pages that this process has pending.

    `when_anew` is called before another log is read: page numbers may belong to other pages.
    """

    def __init__(
        self, process: Process, config: FilterConfig, when_anew: Callable[[], None]
    ) -> None:
        days = config.expire_days
        self.process = process
        by_host = config.scope == "host"
        self.replica = LoggedPages(config.max_distance, by_host=by_host)
        seconds = None if days is None else expiry_seconds(days)
        by_url = config.canonical or config.changes
        self.records = SharedRecords(process.connection, seconds, by_url=by_url)
        self.held: dict[int, PageRecord] = {}
        """Pages that this process has pending, lost ones included. The `original` of a revisit is
        the page that the revisit replaces."""
        self.gone: list[int] = []
        """Pages of this process that are gone; the owner reads and clears this list."""
        self._when_anew = when_anew
        self._in_doubt: set[int] = set()
        """Pages that may have been committed although the call raised a fault."""
        self._lost_to = 0
        """Pages up to this number may have been lost, and their numbers reused."""

    def sync(self, *page: object) -> int:
        """Read the log to its end, after appending `page` if given; return its number, or 0."""
        number, events = 0, None
        try:
            while events is None or (not number and len(events) == MOST_EVENTS * EVENT_BYTES):
                given = *self.process.lease, MOST_EVENTS, len(self.held), *page
                answer = self._run("read", *given)
                if answer == _UNKNOWN_PAGES:
                    self.process.connection.run("disown", self.process.name, *self.held)
                elif answer == OTHER_LOG:
                    page = ()
                    self._begin_anew()
                else:
                    number, start, events = answer
                    self.replica.follow(start + 1, events)
        finally:
            self.replica.settle()
        return int(number)

    def append(self, record: PageRecord) -> int:
        """Append a page as pending, and read the events before it; return the page's number.

        Raises:
            Overtaken: the log has changed, and was read anew without the page.
        """
        number = self.sync(*entry_of(record).fields, pack_record(record))
        if number in self.held:
            # A lost page is held under this number here. The next append gives another number.
            self.process.connection.run("release", self.process.name, number)
            number = 0
        if not number:
            raise Overtaken
        self.records.add_at_urls([record._replace(page=number)])
        self.held[number] = record
        return number

    def is_there(self, number: int, record: PageRecord) -> bool:
        """Return whether the page with this number exists and matches the record."""
        return self.replica.entry(number) == entry_of(record)

    def commit(self, number: int) -> None:
        """Commit a page that this process has pending; do nothing for any other."""
        at = number
        while (record := self.held.get(number)) is not None:
            is_done = self.is_there(at, record) and self._committed(at, record)
            if not is_done:
                self.sync()
                is_done = self.is_there(at, record)  # if so, it was committed before
            if is_done:
                self.held.pop(number, None)
                return
            with suppress(Overtaken):  # the page was lost; it is appended without a comparison
                at = self.append(record)
                del self.held[at]

    def keep(self, number: int) -> None:
        """Commit a page before its caller has the verdict.

        Raises:
            Overtaken: the lease of the page was over, or a server failed.
        """
        self._in_doubt.add(number)
        is_kept = self._committed(number, self.held[number])
        self._in_doubt.discard(number)
        self.held.pop(number)
        if not is_kept:
            raise Overtaken

    def release(self, number: int) -> None:
        """Forget a pending page; if the call fails, the next call releases the page."""
        self.gone.append(number)
        record = self.held.pop(number, None)
        self.process.connection.run("release", self.process.name, number)
        if record is not None:
            self.records.remove_at_urls([record._replace(page=number)])

    def withdraw(self) -> None:
        """Remove pages that may have been committed although a call failed."""
        if self._in_doubt:
            self.sync()
            self.remove([number for number in self._in_doubt if number in self.replica])
            self._in_doubt.clear()

    def remove(self, pages: list[int]) -> list[int] | None:
        """Remove pages, except pages that other processes have pending; return the removed pages.

        None: the log has changed, and page numbers with it.
        """
        removed = []
        for at in range(0, len(pages), MOST_AT_ONCE):
            some = self.step("remove", self.process.name, *pages[at : at + MOST_AT_ONCE])
            if some is None:
                return None
            self.records.remove(some)
            removed += some
            self.gone += some
            for page in some:
                self.held.pop(page, None)
        if removed:
            self.sync()
        return removed

    def replace(self, number: int, measures: dict[str, Any]) -> None:
        """Replace the measures of a page, unless the page is gone or has changed since."""
        self.sync()
        held = self.held.get(number)
        record = held or next(self.records.records([number]), None)
        if record is None or number not in self.replica or number <= self._lost_to:
            return
        record = record._replace(**measures)
        process, where = self.process.name if held else "", self.records.for_script(number)
        packed = pack_record(record)
        changed = *entry_of(record).fields, packed, *where
        if self.step("replace", process, number, *changed):
            if held:
                self.held[number] = record
            elif not where[0]:
                self.records.put(number, packed)

    def tend(self) -> None:
        """Delete chunks at the front of the log that hold no current event.

        If most of the log is outdated, the current events of the first chunk are appended again.
        """
        replica = self.replica
        first, events = self._standing_from(self.process.connection.first_chunk())
        while events and replica.end - first * CHUNK > 2 * len(replica) + _SPARE_EVENTS:
            for at in range(0, len(events), MOST_AT_ONCE):
                if not self.step("repeat_events", *events[at : at + MOST_AT_ONCE]):
                    return
            self.sync()
            first, events = self._standing_from(first + 1)
        self.step("trim", first)

    def step(self, function: str, *arguments: object) -> Any:
        """Run a function if the log is the one that was read; return the function's answer.

        None: the log has changed, and was read anew; the function did nothing.
        """
        answer = self._run(function, *arguments)
        if answer != OTHER_LOG:
            return answer
        self._begin_anew()
        self.sync()
        return None

    def _standing_from(self, first: int) -> tuple[int, list[bytes]]:
        """Return the first full chunk from `first` on that holds current events, and these events.

        If there is none, no events are returned, and the chunk that is not full.
        """
        events: list[bytes] = []
        connection = self.process.connection
        while first < self.replica.end // CHUNK and not events:
            chunk = connection.ask("GET", connection.key(f"log:{first}"))
            events = self.replica.standing(chunk or b"")
            first += not events
        return first, events

    def _committed(self, number: int, record: PageRecord) -> bool:
        is_done = self.records.commit(self.process.name, number, record)
        if is_done and replaced_by(record):
            self.records.remove([replaced_by(record)])
            self.sync()
        return is_done

    def _run(self, function: str, *arguments: object) -> Any:
        so_far = self.process.index, self.replica.end, self.replica.last
        return self.process.connection.run(function, *so_far, *arguments)

    def _begin_anew(self) -> None:
        """Prepare to read another log. Requires: the caller reads it next."""
        self.process.join_again()
        where = self.process.connection
        logger.warning("%s: a server has lost a part of it; it is read anew", where)
        self._lost_to = max(self._lost_to, self.replica.end)
        self.replica.clear()
        for number, record in list(self.held.items()):
            if record.is_kept:
                self.held[number] = record._replace(original=None)
            else:  # the number of its original may belong to another page
                del self.held[number]
        self._in_doubt.clear()
        self._when_anew()
