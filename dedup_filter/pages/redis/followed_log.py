"""The log of a shared index, as one process reads it and adds to it.

    sync      events that were not read yet -> replica
    append    one more page, pending; the replica then knows all that stands before it
    step      any other function of the script that must know the log as it was read

A process that appends its page sees in the answer every page that came before it, and each later
one sees this one: of two pages that are alike the second to come learns of the first, whatever the
order in which their processes work.

All that must be one step is a function of `index.lua`, which touches keys of one slot only: the log
and the pages in flight. Two rules hold for each call, and make up for whatever was lost:

- It says how far the log was read, and with which event it ended there. A server that holds another
  log, one that has lost its end or was made anew, does nothing. Then the log is read from its
  beginning, as numbers of pages may have been given again.
- It says how many pages the process holds. A server on which it has more, as an answer was lost or
  the word that a page was released, releases those that the process does not know.

Cost of reading: a call for 65,536 events.
"""

import logging
from collections.abc import Callable
from typing import Any, Final

from dedup_filter.pages.comparison import Overtaken
from dedup_filter.pages.directory import PageRecord
from dedup_filter.pages.redis.formats import EVENT_BYTES, News, entry_of
from dedup_filter.pages.redis.process import Process
from dedup_filter.pages.redis.records import pack_record
from dedup_filter.pages.redis.replica import Replica

__all__ = ["MOST_EVENTS", "FollowedLog"]

logger = logging.getLogger(__name__)

MOST_EVENTS: Final = 65_536
"""Events in one answer: 1.5 MB, some milliseconds of the server's time."""
_OTHER_LOG = -1
_UNKNOWN_PAGES = -2


class FollowedLog:
    """A log, and the replica of the pages that it tells of.

    `when_anew` is called when another log begins to be read: what is known of pages elsewhere by
    their numbers is to be forgotten.
    """

    def __init__(self, process: Process, replica: Replica, when_anew: Callable[[], None]) -> None:
        self.process = process
        self.replica = replica
        self.held: dict[int, PageRecord] = {}
        """Pages that are pending here, as the servers know; their owner takes them out."""
        self.lost: dict[int, PageRecord] = {}
        """Pages that were pending here, and of which the servers know nothing any more."""
        self.lost_to = 0
        """Up to which number pages may have been lost, and numbers given again."""
        self._offset, self._last = 0, b""
        """Number of the last event that was read, and that event."""
        self._is_anew = False
        """Whether the log is being read from its beginning again."""
        self._when_anew = when_anew

    def sync(self) -> None:
        """Follow the log to its end."""
        unread: list[News] = []
        is_last = False
        try:
            while not is_last:
                found = self._read()
                if found is None:
                    unread.clear()
                    self._begin_anew()
                    continue
                _, news = found
                if unread and news.first != unread[-1].end + 1:
                    self._follow(unread)
                unread.append(news)
                is_last = news.is_last
                # The replica sorts all that it has: it is given as many again at a time.
                if news.end - unread[0].first > len(self.replica):
                    self._follow(unread)
        finally:
            self._follow(unread)
        if self._is_anew:
            self._is_anew = False
            for number, record in list(self.held.items()):
                if not self.is_there(number, record):
                    self.lost[number] = self.held.pop(number)

    def append(self, record: PageRecord) -> int:
        """Append a page, pending, and follow what came before it; return its number.

        Raises:
            Overtaken: the log was another one, and was read anew; nothing was appended.
        """
        page = *entry_of(record).fields, pack_record(record)
        number = 0
        while not number:  # until there are few enough events before it to be told at once
            found = self._read(*page)
            if found is None:
                self._read_anew()
                raise Overtaken
            number, news = found
            self.replica.follow(news)
        self.held[number] = record
        return number

    def step(self, function: str, *arguments: object) -> Any:
        """Run a function on the log as it was read; return its answer.

        None: the log was another one, and was read anew; nothing was done, and numbers of pages may
        be those of others.
        """
        answer = self._run(function, *arguments)
        if answer is None:
            self._read_anew()
        return answer

    def is_there(self, number: int, record: PageRecord) -> bool:
        """Tell whether the page with this record is there.

        After a server failed, the number may have been given to another page.
        """
        return self.replica.entry(number) == entry_of(record)

    def _read(self, *page: object) -> tuple[int, News] | None:
        """Read on; before that append a page, if one is given. Return its number and the events.

        The number is 0 if nothing was appended; None: the log is another one.
        """
        process = self.process
        answer: Any = _UNKNOWN_PAGES
        while answer == _UNKNOWN_PAGES:
            given = process.name, process.lease_milliseconds, MOST_EVENTS, len(self.held)
            answer = self._run("read", *given, *page)
            if answer == _UNKNOWN_PAGES:
                process.connection.run("disown", process.name, *self.held)
        if answer is None:
            return None
        number, start, events = answer
        if events:
            self._offset, self._last = start + len(events) // EVENT_BYTES, events[-EVENT_BYTES:]
        return number, News(start + 1, events, len(events) < MOST_EVENTS * EVENT_BYTES)

    def _run(self, function: str, *arguments: object) -> Any:
        so_far = self.process.index, self._offset, self._last
        answer = self.process.connection.run(function, *so_far, *arguments)
        return None if answer == _OTHER_LOG else answer

    def _follow(self, unread: list[News]) -> None:
        """Follow events that are in a row."""
        if unread:
            self.replica.follow(News(unread[0].first, b"".join(each.events for each in unread)))
            unread.clear()

    def _read_anew(self) -> None:
        """Read another log than was read up to here, to its end."""
        self._begin_anew()
        self.sync()

    def _begin_anew(self) -> None:
        """Begin to read another log than was read up to here. Requires: `sync` goes on."""
        self.process.join_again()
        logger.warning(
            "%s: a server has lost a part of it; it is read anew", self.process.connection
        )
        self._is_anew = True
        self.lost_to = max(self.lost_to, self._offset)
        self._offset, self._last = 0, b""
        self.replica.clear()
        self._when_anew()
