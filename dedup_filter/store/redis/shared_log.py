"""The log of a shared index, as one process follows it and adds to it.

    events not read yet -> replica
    append -> pending -> commit    kept
                      -> release   gone
                      -> lost      unknown to the servers: committed anew, under another number
    what tells of no page any more -> deleted

A process that appends its page sees in the answer every page that came before it, and each later
one sees this one: of two pages that are alike the second to come learns of the first. All that must
be one step is a function of `index.lua`. Two rules make up for whatever was lost:

- Each call says how far the log was read, and with which event it ended there. To another log, one
  that has lost its end or was made anew, nothing is done. It is read from its beginning, as numbers
  of pages may have been given again.
- Reading says how many pages the process holds. If a server knows of more, as an answer was lost,
  those that the process does not know are released.

A page is lost when its lease was over, or with what a server loses when it fails. One that may have
been committed while `see` failed is taken back before another is compared.

Cost: a call to append and one to commit, two on a cluster; two to release; one for 65,536 events.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from typing import Any, Final

from dedup_filter.config import FilterConfig, expiry_seconds
from dedup_filter.store.protocol import Overtaken
from dedup_filter.store.records import PageRecord
from dedup_filter.store.redis.connection import Connection
from dedup_filter.store.redis.process import Process
from dedup_filter.store.redis.records import SharedRecords, pack_record
from dedup_filter.store.redis.replica import CHUNK, EVENT_BYTES, LoggedPages, entry_of

logger = logging.getLogger(__name__)

MOST_EVENTS: Final = 65_536
"""Events in one answer: 3.7 MB, some milliseconds of the server's time."""
MOST_AT_ONCE: Final = 1_000
"""Pages that are taken out, or appended once more, in one call."""
_SPARE_EVENTS = 4 * CHUNK
"""Events that may tell of no page, beside as many as tell of one."""
OTHER_LOG = -1
_UNKNOWN_PAGES = -2


class SharedLog:
    """A log, the replica of the pages that it tells of, and those that are pending here.

    `when_anew` is called when another log begins to be read: numbers of pages mean others now.
    """

    def __init__(
        self, process: Process, config: FilterConfig, when_anew: Callable[[], None]
    ) -> None:
        days = config.expire_days
        self.process = process
        by_host = config.scope == "host"
        self.replica = LoggedPages(config.max_distance, config.tables, by_host=by_host)
        self.records = SharedRecords(
            process.connection, None if days is None else expiry_seconds(days)
        )
        self.held: dict[int, PageRecord] = {}
        """Pages that are pending here, those that were lost as well; of one that is visited again,
        the page that it stands for is its original."""
        self.gone: list[int] = []
        """Pages of this process that are gone; for the owner to take note of, and to clear."""
        self._when_anew = when_anew
        self._in_doubt: set[int] = set()
        """Pages that may have been committed, while their caller was told of a fault."""
        self._lost_to = 0
        """Up to which number pages may have been lost, and numbers given again."""

    def sync(self, *page: object) -> int:
        """Follow the log to its end; return the number of a page that is appended before, or 0."""
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
        """Append a page, pending, and follow what stands before it; return its number.

        Raises:
            Overtaken: the log was another one, and was read anew without the page.
        """
        number = self.sync(*entry_of(record).fields, pack_record(record))
        if number in self.held:
            # That of a lost page: both would go by it here. The next page gets another.
            self.process.connection.run("release", self.process.name, number)
            number = 0
        if not number:
            raise Overtaken
        self.held[number] = record
        return number

    def is_there(self, number: int, record: PageRecord) -> bool:
        """Tell whether a page is there, and is the one with this record."""
        return self.replica.entry(number) == entry_of(record)

    def commit(self, number: int) -> None:
        """Keep a pending page for good; one that is not pending here is left as it is."""
        at = number
        while number in self.held:
            record = self.held[number]
            is_done = self.is_there(at, record) and self._committed(at, record)
            if not is_done:
                self.sync()
                is_done = self.is_there(at, record)  # then it was committed before
            if is_done:
                del self.held[number]
                return
            with suppress(Overtaken):  # it was lost; it is not compared with later pages
                at = self.append(self.held[number])
                del self.held[at]

    def keep(self, number: int) -> None:
        """Commit a page whose caller has no verdict yet.

        Raises:
            Overtaken: its lease was over, or a server failed.
        """
        self._in_doubt.add(number)
        is_kept = self._committed(number, self.held[number])
        self._in_doubt.discard(number)
        self.held.pop(number)
        if not is_kept:
            raise Overtaken

    def release(self, number: int) -> None:
        """Forget a pending page; if the call fails, it is released with the next."""
        self.gone.append(number)
        self.held.pop(number, None)
        self.process.connection.run("release", self.process.name, number)

    def withdraw(self) -> None:
        """Take back what may have been committed without a verdict, as a call failed."""
        if self._in_doubt:
            self.sync()
            self.remove([number for number in self._in_doubt if number in self.replica])
            self._in_doubt.clear()

    def remove(self, pages: list[int]) -> list[int] | None:
        """Take pages out, but for those that are pending elsewhere; return which.

        None: the log was another one, with other numbers.
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
        """Give a page other measures, unless it is gone or something new has come of it."""
        self.sync()
        held = self.held.get(number)
        record = held or next(self.records.records([number]), None)
        if record is None or number not in self.replica or number <= self._lost_to:
            return
        record = record._replace(**measures)
        process, where = self.process.name if held else "", self.records.for_script(number)
        packed = pack_record(record)
        told = *entry_of(record).fields, packed, *where
        if self.step("replace", process, number, *told):
            if held:
                self.held[number] = record
            elif not where[0]:
                self.records.put(number, packed)

    def tend(self) -> None:
        """Delete chunks at the front of the log that tell of no page any more.

        If most of the log tells of none, what the first chunk tells is appended once more before.
        """
        connection, replica = self.process.connection, self.replica
        first, told = first_standing(connection, replica, connection.first_chunk())
        while told and replica.end - first * CHUNK > 2 * len(replica) + _SPARE_EVENTS:
            for at in range(0, len(told), MOST_AT_ONCE):
                some = chain.from_iterable(told[at : at + MOST_AT_ONCE])
                if not self.step("repeat_events", *some):
                    return
            self.sync()
            first, told = first_standing(connection, replica, first + 1)
        self.step("trim", first)

    def step(self, function: str, *arguments: object) -> Any:
        """Run a function on the log as it was read; return its answer.

        None: the log was another one, and was read anew; nothing was done.
        """
        answer = self._run(function, *arguments)
        if answer != OTHER_LOG:
            return answer
        self._begin_anew()
        self.sync()
        return None

    def _committed(self, number: int, record: PageRecord) -> bool:
        is_done = self.records.commit(self.process.name, number, record)
        if is_done and record.original:
            self.records.remove([record.original])
            self.sync()
        return is_done

    def _run(self, function: str, *arguments: object) -> Any:
        so_far = self.process.index, self.replica.end, self.replica.last
        return self.process.connection.run(function, *so_far, *arguments)

    def _begin_anew(self) -> None:
        """Begin to read another log. Requires: it is followed next."""
        self.process.join_again()
        where = self.process.connection
        logger.warning("%s: a server has lost a part of it; it is read anew", where)
        self._lost_to = max(self._lost_to, self.replica.end)
        self.replica.clear()
        for number, record in self.held.items():
            self.held[number] = record._replace(original=None)
        self._in_doubt.clear()
        self._when_anew()


def first_standing(
    connection: Connection, pages: LoggedPages, first: int
) -> tuple[int, list[tuple[Any, ...]]]:
    """Return the first chunk of the log, from one on, that tells of a page, and what it tells.

    The last chunk, which is not full, is not looked at; of it nothing is told.
    """
    told: list[tuple[Any, ...]] = []
    while first < pages.end // CHUNK and not told:
        told = pages.standing(connection.ask("GET", connection.key(f"log:{first}")) or b"")
        first += not told
    return first, told
