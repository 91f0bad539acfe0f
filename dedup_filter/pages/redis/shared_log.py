"""The log of a shared index, as one process that takes part reads it and adds to it.

    join      the index is made if there is none, and a crawl begun or joined
    news      events that were not read yet
    append    one more page, pending; its number, and all events up to it that were not read yet
    commit    its record moves to a key of its own
    release   an event says that it is gone
    replace   an event gives it other measures
    rewind    after `LogChanged`: the log is read from its beginning again

    A process that appends its page sees in the answer every page that came before it, and each
    later one sees this one: of two pages that are alike the second to come learns of the first,
    whatever the order in which their processes work.

All that must be one step is a function of `index.lua`, which touches keys of one slot only: the
log and the pages in flight. The records of committed pages are elsewhere (`records`). Each call
says how far the log was read, and with which event it ended there: a server that holds another log,
one that has lost its end or was made anew, does nothing.

A process holds its pending pages by a lease. When that is over the next call of any process
releases them. Knows nothing of fingerprints, only events; keys are listed in docs/formats.md.
"""

import json
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, Final

from dedup_filter.errors import StoreError
from dedup_filter.pages.directory import PageRecord, Scheme
from dedup_filter.pages.expiry import expiry_seconds
from dedup_filter.pages.redis.connection import Connection
from dedup_filter.pages.redis.formats import EVENT_BYTES, FORMAT, Entry, Keys, News
from dedup_filter.pages.redis.joining import (
    Joined,
    Options,
    admitted,
    warn_of_differences,
    warn_of_eviction,
)
from dedup_filter.pages.redis.lessons import LessonLists
from dedup_filter.pages.redis.records import SharedRecords, pack_record

__all__ = ["LEASE", "Commit", "LogChanged", "SharedLog", "require_same"]

LEASE: Final = 30.0
"""Seconds after which a process that gives no sign of life holds no page any more."""
MOST_EVENTS: Final = 65_536
"""Events in one answer: 1.5 MB, some milliseconds of the server's time."""


_CHANGED = -1
"""The answer of a server whose log is another one than was read."""


class LogChanged(Exception):  # noqa: N818 - no fault: it says what to do
    """The log is not the one that was read up to here: some of it is lost, or it was deleted.

    Nothing was done. Numbers of pages may have been given again: `rewind`, and read it anew.
    """


class Commit(IntEnum):
    """What became of a commit."""

    NOT_PENDING = 0
    """The page was not pending here: it was committed before, or its lease was over."""
    DONE = 1
    FORGOTTEN = 2
    """Another process has forgotten the page."""


class SharedLog:
    """The log as one process reads it, and adds to it.

    Raises:
        StoreError: by all methods, when the servers cannot be reached or refuse.
    """

    def __init__(self, connection: Connection, expire_days: float | None = None) -> None:
        self._connection = connection
        self._keys = Keys(connection.address.name)
        self._id = b""
        """Random bytes, by which the index is told from one made anew under its name."""
        self._as: tuple[str, str, Options] = "", "", {}
        """Scheme, name of the crawl and options with which it takes part."""
        self._expire_seconds = None if expire_days is None else expiry_seconds(expire_days)
        self._last = b""
        """The last event that was read."""
        self._may_own_more = False
        """Whether an answer was lost, and with it perhaps the number of a page."""
        self.process = secrets.token_hex(8)
        self.crawl = 0
        self.offset = 0
        """Number of the last event that was read."""
        self.records = SharedRecords(connection, self._expire_seconds)
        """Of the pages that the log tells of."""
        self.pending: set[int] = set()
        """Pages that this process has claimed, and neither committed nor released."""

    def __str__(self) -> str:
        return f"the shared index {self._connection.address}"

    def join(
        self, scheme: Scheme, crawl: str | None, options: Options, seen: int | None = None
    ) -> None:
        """Take part in the index, make it if there is none, and begin or join a crawl.

        A crawl that is begun started at a Unix second, `seen`: by default now. The options are
        those that all processes should have alike; a warning says if others that are at work have
        them otherwise, or if a server may evict what it holds.

        Raises:
            ConfigError: other keys are there under its name, or others are at work with another
                scope.
            SchemeMismatch: its fingerprints were made in another way.
            StoreCorrupt: it cannot be told in which way they were made.
            StoreTooNew: it is of a newer format.
        """
        others = self._join(scheme.to_json(), crawl or "", options, seen)
        warn_of_differences(options, others, self._connection.address)
        warn_of_eviction(self._connection, has_expiry=self._expire_seconds is not None)

    def rewind(self) -> None:
        """Read the log from its beginning again; make the index anew if it is gone.

        Pages that are pending there, and not here, are released with the next that is appended:
        their release, or the word that they were committed, was lost.
        """
        self._join(*self._as)
        self.offset, self._last = 0, b""
        self._may_own_more = True

    def news(self) -> News:
        """Return events that were not read yet; many come in several calls.

        Raises:
            LogChanged: the log must be read anew.
        """
        return self._read()[1]

    def append(self, entry: Entry, record: PageRecord) -> tuple[int, News]:
        """Add a page, pending; return its number and the events up to its own.

        The number is 0, and nothing was added, if there are too many events to be told at once:
        follow them and try again.

        Raises:
            LogChanged: nothing was added.
        """
        self.disown()
        try:
            number, news = self._read(*entry.fields, pack_record(record))
        except StoreError:
            self._may_own_more = True
            raise
        if number:
            self.pending.add(number)
        return number, news

    def disown(self) -> None:
        """Release pages of this process that it knows nothing of, if there may be any."""
        if self._may_own_more:
            self._run("disown", self.process, *self.pending)
            self._may_own_more = False

    def commit(self, number: int, record: PageRecord, replaced: int) -> Commit:
        """Keep a pending page for good, in the place of another one if there is a number."""
        before = self.records.put_first(number, record)
        measures = pack_record(record), *self.records.for_script(number)
        done = Commit(self._run("commit", self.process, number, replaced, *measures))
        if done is not Commit.DONE:
            self.records.put_back(number, record, before)
        self.pending.discard(number)
        return done

    def release(self, number: int) -> None:
        """Say that a pending page is gone; do nothing if it is not pending here.

        If the servers cannot be reached, it is released with the next page that is appended.
        """
        try:
            self._run("release", self.process, number)
        except StoreError:
            self.abandon(number)
            raise
        self.pending.discard(number)

    def abandon(self, number: int) -> None:
        """Know no more of a pending page: it is released with the next one that is appended."""
        self.pending.discard(number)
        self._may_own_more = True

    def remove(self, numbers: Sequence[int]) -> None:
        """Take pages out for good.

        Raises:
            LogChanged: the numbers may be those of others.
        """
        require_same(self._run("remove", *self._read_so_far, *numbers))
        self.pending.difference_update(numbers)
        self.records.remove(numbers)

    def replace(self, number: int, entry: Entry, record: PageRecord) -> bool:
        """Give a page other measures, if nothing has come of it that was not read yet.

        Returns whether that was so.

        Raises:
            LogChanged: the number may be that of another page.
        """
        is_pending = number in self.pending
        process = self.process if is_pending else ""
        name, seconds = self.records.for_script(number)
        measures = *entry.fields, pack_record(record), name, seconds
        done = self._run("replace", *self._read_so_far, process, MOST_EVENTS, number, *measures)
        if require_same(done) and not is_pending and not name:
            self.records.put(number, record)
        return bool(done)

    def repeat_events(self, events: Sequence[tuple[int, bytes, int, int, int]]) -> None:
        """Append events of pages that are there once more: number, value, kind, host, time of each.

        Those of pages of which something has come that was not read yet are left out.

        Raises:
            LogChanged: the numbers may be those of others.
        """
        flat = (part for event in events for part in event)
        require_same(self._run("repeat_events", *self._read_so_far, MOST_EVENTS, *flat))

    def trim(self, first_chunk: int) -> None:
        """Delete the chunks before this one, that tell of no page any more.

        Raises:
            LogChanged: they may tell of others.
        """
        require_same(self._run("trim", *self._read_so_far, first_chunk))

    def totals(self) -> Counter[str]:
        """Return the totals of all processes."""
        name = self._named("totals")
        found = self._connection.call(lambda client: client.hgetall(name))
        return Counter({outcome.decode(): int(count) for outcome, count in found.items()})

    def is_in_flight(self, number: int) -> bool:
        """Tell whether a page is pending, here or elsewhere."""
        name = self._named("flight")
        return bool(self._connection.call(lambda client: client.hexists(name, number)))

    def pages_in_flight(self) -> set[int]:
        """Return the pages that are pending, here or elsewhere."""
        name = self._named("flight")
        return set(map(int, self._connection.call(lambda client: client.hkeys(name))))

    def beat(self, counts: Mapping[str, int]) -> None:
        """Give a sign of life, and add to the totals of all processes."""
        flat = (part for pair in counts.items() if pair[1] for part in pair)
        owned = self._run("beat", self.process, self._lease_milliseconds, *flat)
        if owned < 0:
            raise StoreError(f"{self} was deleted; it is made anew with the next page")
        if owned > len(self.pending):
            # A page is on its way, or a server has lost that one was committed, which is no event.
            self._may_own_more = True

    def leave(self) -> None:
        """Release what is pending, and take part no more."""
        self._run("leave", self.process)
        self.pending.clear()

    def lessons(self) -> LessonLists:
        """Return the lists by which processes exchange what they learn of hosts."""
        return LessonLists(self._connection, bytes.fromhex(self.process), self._expire_seconds)

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

    def _join(
        self, scheme: str, crawl: str, options: Options, seen: int | None = None
    ) -> list[bytes]:
        """Take part in the index, make it if there is none; return the options of others."""
        told = json.dumps(options, sort_keys=True)
        back, chance = self.crawl, secrets.token_hex(8)
        given = self.process, self._lease_milliseconds, FORMAT, scheme, crawl, back, chance, told
        joined = Joined(*self._connection.run("join", self._named("length"), *given, seen=seen))
        admitted(joined, scheme, options, self._connection.address, LEASE)
        self.crawl, self._id = int(joined.crawl), joined.id
        self._as = scheme, crawl, options
        return joined.others

    def _read(self, *page: object) -> tuple[int, News]:
        """Read on; before that append a page, if one is given. Return its number and the events."""
        so_far = *self._read_so_far, self.process, self._lease_milliseconds, MOST_EVENTS
        number, start, events = require_same(self._run("read", *so_far, *page))
        if events:
            self.offset, self._last = start + len(events) // EVENT_BYTES, events[-EVENT_BYTES:]
        is_last = len(events) < MOST_EVENTS * EVENT_BYTES
        return number, News(start + 1, events, is_last)

    def _run(self, function: str, *arguments: object) -> Any:
        return self._connection.run(function, self._named("length"), *arguments)

    @property
    def _read_so_far(self) -> tuple[bytes, int, bytes]:
        """How far the log was read, by which a server sees whether it is still the same."""
        return self._id, self.offset, self._last

    @property
    def _lease_milliseconds(self) -> int:
        return int(1_000 * LEASE)

    def _named(self, name: str) -> str:
        return self._keys.named(name)


def require_same(answer: Any) -> Any:
    """Raise `LogChanged` on -1, else return the answer of a script."""
    if answer == _CHANGED:
        raise LogChanged
    return answer
