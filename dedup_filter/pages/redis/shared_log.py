"""The log of a shared index, as one process follows it and adds to it.

    events not read yet -> replica
    append -> pending -> commit    kept
                      -> release   gone
                      -> lost      unknown to the servers: committed anew, under another number
    what tells of no page any more -> deleted

A process that appends its page sees in the answer every page that came before it, and each later
one sees this one: of two pages that are alike the second to come learns of the first, whatever the
order in which their processes work.

All that must be one step is a function of `index.lua`, which touches keys of one slot only. Two
rules make up for whatever was lost:

- Each call says how far the log was read, and with which event it ended there. A server that holds
  another log, one that has lost its end or was made anew, does nothing. Then the log is read from
  its beginning, as numbers of pages may have been given again.
- Reading says how many pages the process holds. A server on which it has more, as an answer was
  lost or the word that a page was released, releases those that the process does not know.

A page is lost when its lease was over, or with what a server loses when it fails. One that may have
been committed while `see` failed is taken back before another is compared.

Cost: a call to append and one to commit, two on a cluster; two to release; one for 65,536 events.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from typing import Any, Final

from dedup_filter.pages.comparison import Overtaken
from dedup_filter.pages.directory import PageRecord
from dedup_filter.pages.redis.connection import Connection
from dedup_filter.pages.redis.formats import CHUNK, EVENT_BYTES, entry_of
from dedup_filter.pages.redis.process import Process
from dedup_filter.pages.redis.records import SharedRecords, pack_record
from dedup_filter.pages.redis.replica import LoggedPages, ToldOf

__all__ = ["MOST_AT_ONCE", "MOST_EVENTS", "SharedLog", "first_standing"]

logger = logging.getLogger(__name__)

MOST_EVENTS: Final = 65_536
"""Events in one answer: 1.5 MB, some milliseconds of the server's time."""
MOST_AT_ONCE: Final = 1_000
"""Pages that are taken out, or events that are appended once more, in one call."""
_SPARE_EVENTS = 4 * CHUNK
"""Events that may tell of no page, beside as many as tell of one."""
_MOST_TRIALS = 3
"""To change a page of which something has come that was not read yet."""
_OTHER_LOG = -1
_UNKNOWN_PAGES = -2


class SharedLog:
    """A log, the replica of the pages that it tells of, and those that are pending here.

    `when_anew` is called when another log begins to be read: what is known of pages elsewhere by
    their numbers is to be forgotten.
    """

    def __init__(
        self,
        process: Process,
        replica: LoggedPages,
        records: SharedRecords,
        when_anew: Callable[[], None],
    ) -> None:
        self.process = process
        self.replica = replica
        self.held: dict[int, PageRecord] = {}
        """Pages that are pending here, those that were lost as well."""
        self.gone: list[int] = []
        """Pages of this process that are gone; for the owner to take note of, and to clear."""
        self._records = records
        self._when_anew = when_anew
        self._revisited: dict[int, int] = {}
        """Of those pending, which stand for a page that is visited again, and for which one."""
        self._in_doubt: set[int] = set()
        """Pages that may have been committed, while their caller was told of a fault."""
        self._lost_to = 0
        """Up to which number pages may have been lost, and numbers given again."""

    def sync(self) -> None:
        """Follow the log to its end."""
        self._follow()

    def append(self, record: PageRecord, revisited: int = 0) -> int:
        """Append a page, pending, and follow what stands before it; return its number.

        One that is visited again is replaced when this is committed.

        Raises:
            Overtaken: the log was another one, and was read anew.
        """
        number = self._follow(*entry_of(record).fields, pack_record(record))
        if number in self.held:
            # That of a lost page: both would go by it here. The next page gets another.
            self.process.connection.run("release", self.process.name, number)
            number = 0
        if not number:
            raise Overtaken
        self.held[number] = record
        if revisited:
            self._revisited[number] = revisited
        return number

    def is_there(self, number: int, record: PageRecord) -> bool:
        """Tell whether the page with this record is there.

        After a server failed, the number may have been given to another page.
        """
        return self.replica.entry(number) == entry_of(record)

    def commit(self, number: int) -> None:
        """Keep a pending page for good; one that is not pending here is left as it is."""
        record = self.held.get(number)
        if record is None:
            return
        if not (self.is_there(number, record) and self._committed(number, record)):
            self.sync()
            if not self.is_there(number, record):  # otherwise it was committed before
                self._commit_anew(record)
        self.abandon(number)

    def keep(self, number: int) -> None:
        """Commit a page whose caller has no verdict yet.

        Raises:
            Overtaken: its lease was over, or a server failed: it must be compared anew.
        """
        self._in_doubt.add(number)
        is_kept = number in self.held and self._committed(number, self.held[number])
        self._in_doubt.discard(number)
        self.abandon(number)
        if not is_kept:
            raise Overtaken

    def release(self, number: int) -> None:
        """Forget a pending page; if the call fails, it is released with the next."""
        self.gone.append(number)
        self.abandon(number)
        self.process.connection.run("release", self.process.name, number)

    def abandon(self, number: int) -> None:
        """Know no more of a page: if it is pending, the next call releases it."""
        self.held.pop(number, None)
        self._revisited.pop(number, None)

    def withdraw(self) -> None:
        """Take back what may have been committed here without a verdict, as a call failed."""
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
            self._records.remove(some)
            removed += some
            self.gone += some
            for page in some:
                self.abandon(page)
        if removed:
            self.sync()
        return removed

    def replace(self, number: int, measures: dict[str, Any]) -> None:
        """Give a page other measures; one that is gone is left so."""
        for _ in range(_MOST_TRIALS):
            held = self.held.get(number)
            record = held or next(self._records.records([number]), None)
            if record is None or number not in self.replica or number <= self._lost_to:
                return
            record = record._replace(**measures)
            process, where = self.process.name if held else "", self._records.for_script(number)
            told = *entry_of(record).fields, pack_record(record), *where
            is_done = self.step("replace", process, number, *told)
            if is_done and held:
                self.held[number] = record
            elif is_done and not where[0]:
                self._records.put(number, record)
            self.sync()
            if is_done:
                return

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

        None: the log was another one, and was read anew; nothing was done, and numbers of pages may
        be those of others.
        """
        answer = self._run(function, *arguments)
        if answer is None:
            self._begin_anew()
            self.sync()
        return answer

    def _committed(self, number: int, record: PageRecord) -> bool:
        """Commit a page; if it takes the place of another, the replica knows by now."""
        replaced = self._revisited.get(number, 0)
        is_done = self._records.commit(self.process.name, number, record, replaced)
        if is_done and replaced:
            self._records.remove([replaced])
            self.sync()
        return is_done

    def _commit_anew(self, record: PageRecord) -> None:
        """Commit a lost page under another number, without comparing it with later pages."""
        number = 0
        while not number:
            with suppress(Overtaken):
                number = self.append(record)
        self.abandon(number)
        self._records.commit(self.process.name, number, record)

    def _follow(self, *page: object) -> int:
        """Follow the log to its end; before that append a page, if one is given.

        Return its number; 0: the log was another one, and was read anew without the page.
        """
        number, is_last = 0, False
        try:
            while not is_last:
                found = self._read(*page)
                if found is None:
                    page = ()
                    self._begin_anew()
                    continue
                number, start, events = found
                self.replica.follow(start + 1, events)
                is_last = bool(number) or len(events) < MOST_EVENTS * EVENT_BYTES
        finally:
            self.replica.settle()
        return number

    def _read(self, *page: object) -> Any:
        """Read on; before that append a page, if there are few enough events before it."""
        given = self.process.name, self.process.lease_milliseconds, MOST_EVENTS
        while (answer := self._run("read", *given, len(self.held), *page)) == _UNKNOWN_PAGES:
            self.process.connection.run("disown", self.process.name, *self.held)
        return answer

    def _run(self, function: str, *arguments: object) -> Any:
        so_far = self.process.index, self.replica.end, self.replica.last
        answer = self.process.connection.run(function, *so_far, *arguments)
        return None if answer == _OTHER_LOG else answer

    def _begin_anew(self) -> None:
        """Begin to read another log than was read up to here. Requires: it is followed next."""
        self.process.join_again()
        logger.warning(
            "%s: a server has lost a part of it; it is read anew", self.process.connection
        )
        self._lost_to = max(self._lost_to, self.replica.end)
        self.replica.clear()
        self._revisited.clear()
        self._in_doubt.clear()
        self._when_anew()


def first_standing(
    connection: Connection, pages: LoggedPages, first: int
) -> tuple[int, list[ToldOf]]:
    """Return the first chunk of the log, from one on, that tells of a page, and what it tells.

    The last chunk, which is not full, is not looked at; of it nothing is told.
    """
    told: list[ToldOf] = []
    while first < pages.end // CHUNK and not told:
        told = pages.standing(connection.ask("GET", connection.keys.named(f"log:{first}")) or b"")
        first += not told
    return first, told
