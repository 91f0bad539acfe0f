"""The shared part of an index: its log of events and the records of its pages, on servers.

    append   one more page, pending; its number, and all events up to it that were not known here
    commit   its record moves to a key of its own; release: an event says that it is gone
    news     events that were not known here
    records  of some pages, with which of them are pending

All that must be one step is one script, which touches keys of one slot only: the log and the
pages in flight. The records of committed pages are spread over the slots of a cluster.

    A process that appends its page sees in the answer every page that came before it, and each
    later one sees this one: of two pages that are alike the second to come learns of the first,
    whatever the order in which their processes work.

A process holds its pending pages by a lease. When that is over the next call of any process
releases them. Knows nothing of fingerprints, only events; keys are listed in docs/formats.md.
"""

import math
import random
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple, NoReturn

from dedup_filter.errors import ConfigError, StoreCorrupt, StoreError, StoreTooNew
from dedup_filter.shared.connection import Connection
from dedup_filter.shared.events import EVENT_BYTES
from dedup_filter.shared.eviction import warn_of_eviction
from dedup_filter.shared.keys import FORMAT, Keys
from dedup_filter.shared.lessons import LessonLists
from dedup_filter.shared.record_bytes import pack_record, unpack_record
from dedup_filter.store import PageRecord, Scheme

__all__ = ["LEASE", "Entry", "LogChanged", "News", "SharedLog"]

LEASE: Final = 30.0
"""Seconds after which a process that gives no sign of life holds no page any more."""
_MOST_EVENTS = 65_536
"""Events in one answer: 1.5 MB, some milliseconds of the server's time."""
_DAY_SECONDS = 86_400
_REMEDY = "go back to what it was made with, or choose another name (?name=...)"


class LogChanged(Exception):  # noqa: N818 - no fault: it says what to do
    """The log is not the one that was read up to here: some of it is lost, or it was deleted.

    Nothing was done. Numbers of pages may have been given again: `rewind`, and read it anew.
    """


class News(NamedTuple):
    """Events, and the number of the first of them."""

    first: int
    events: bytes
    is_last: bool = True
    """Whether these were all there are."""

    def parted(self, number: int) -> "tuple[News, News]":
        """Part them into those before the event of a number, and the others."""
        at = (number - self.first) * EVENT_BYTES
        return News(self.first, self.events[:at]), News(number, self.events[at:], self.is_last)


class Entry(NamedTuple):
    """What the log tells of a page."""

    value: int
    """Fingerprint, or 8 bytes of the digest."""
    kind: int
    """`LONG` or `SHORT`."""
    host: int


class SharedLog:
    """One process's view of the log, read up to some place.

    Raises:
        StoreError: by all methods, when the servers cannot be reached or refuse.
    """

    def __init__(self, connection: Connection, expire_days: float | None = None) -> None:
        self._connection = connection
        self._keys = Keys(connection.address.name)
        self._expire_seconds = _whole_seconds(expire_days)
        self._key = self._named("length")
        self._id = b""
        """Chance, by which the index is told from one made anew under its name."""
        self._as = "", ""
        """Scheme, and name of the crawl, with which it takes part."""
        self.process = secrets.token_hex(8)
        self.crawl = 0
        self.offset = 0
        """Number of the last event that was read."""
        self._last = b""
        self.pending: set[int] = set()
        """Pages that this process has claimed and not settled."""
        self._may_own_more = False
        """Whether an answer was lost, and with it perhaps the number of a page."""

    def __str__(self) -> str:
        return f"the shared index {self._connection.address}"

    def join(self, scheme: Scheme, crawl: str | None, seen: int) -> None:
        """Take part in the index, make it if there is none, and begin or join a crawl.

        Raises:
            ConfigError: other keys are there under its name.
            SchemeMismatch: its fingerprints were made in another way.
            StoreTooNew: it is of a newer format.
        """
        self._join(scheme.to_json(), crawl or "", seen)
        warn_of_eviction(self._connection, has_expiry=self._expire_seconds is not None)

    def note(self, options: str) -> None:
        """Write down with which options this process takes part, for who looks at the index."""
        name = self._named("meta")
        self._connection.call(lambda client: client.hset(name, "options", options))

    def append(
        self, entry: Entry, record: PageRecord, seen: int, *, unless_news: bool
    ) -> tuple[int, News]:
        """Add a page, pending; return its number and the events up to its own.

        The number is 0, and nothing was added, if there are too many events to be told at once,
        or any that were not read, if so wished: follow them and try again.

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
                int(unless_news),
            )
        except StoreError:
            self._may_own_more = True
            raise
        if number:
            self.pending.add(number)
        return number, news

    def news(self, seen: int) -> News:
        """Return events that were not read yet; many come in several calls, the last is empty.

        Raises:
            LogChanged: the log must be read anew.
        """
        return self._read("news", seen)[1]

    def rewind(self, seen: int) -> None:
        """Read the log from its beginning again; make the index anew if it is gone.

        Pages that are pending there, and not here, are released with the next that is appended:
        their release, or the word that they were committed, was lost.
        """
        self._join(*self._as, seen)
        self.offset, self._last = 0, b""
        self._may_own_more = True

    def disown(self, seen: int) -> None:
        """Release pages of this process that it knows nothing of, if there may be any."""
        if self._may_own_more:
            self._run("disown", self.process, _salt(), seen, *self.pending)
            self._may_own_more = False

    def commit(self, number: int, record: PageRecord, replaced: int, seen: int) -> bool:
        """Keep a pending page for good, in the place of another one if there is a number.

        Returns whether it was pending here; if not, it may have been committed before.
        """
        packed, name = pack_record(record), self._page(number)
        settle = (self.process, number, "1", _salt(), seen, replaced)
        done = self._connection.set_and_run(
            name, packed, self._expire_seconds, "settle", self._key, *settle
        )
        self.pending.discard(number)
        return bool(done)

    def release(self, number: int, seen: int) -> bool:
        """Say that a pending page is gone; return whether it was pending here.

        If the servers cannot be reached, it is released with the next page that is appended.
        """
        try:
            done = self._run("settle", self.process, number, "0", _salt(), seen, 0)
        except StoreError:
            self.abandon(number)
            raise
        self.pending.discard(number)
        return bool(done)

    def abandon(self, number: int) -> None:
        """Know no more of a pending page: it is released with the next one that is appended."""
        self.pending.discard(number)
        self._may_own_more = True

    def remove(self, numbers: Sequence[int], seen: int) -> None:
        """Take pages out for good.

        Raises:
            LogChanged: the numbers may be those of others.
        """
        _require_same(self._run("remove", *self._read_so_far, _salt(), seen, *numbers))
        self.pending.difference_update(numbers)
        self.remove_records(numbers)

    def remove_records(self, numbers: Iterable[int]) -> None:
        """Delete the records of pages that are gone."""
        names = list(map(self._page, numbers))

        def unlink(client: Any) -> None:
            with client.pipeline(transaction=False) as pipe:
                for name in names:
                    pipe.unlink(name)
                pipe.execute()

        self._connection.call(unlink)

    def replace(self, number: int, entry: Entry, record: PageRecord, seen: int) -> bool:
        """Give a page other measures, if nothing has come of it that was not read yet.

        Returns whether that was so.

        Raises:
            LogChanged: the number may be that of another page.
        """
        is_pending = number in self.pending
        process = self.process if is_pending else ""
        event = number, entry.value.to_bytes(8, "little"), entry.kind, entry.host
        chance = _MOST_EVENTS, _salt(), seen
        packed = pack_record(record)
        done = self._run("replace", *self._read_so_far, *chance, process, *event, packed)
        if _require_same(done) and not is_pending:
            self.put_record(number, record)
        return bool(done)

    def put_record(self, number: int, record: PageRecord) -> None:
        """Write the record of a page that is, or is about to be, committed."""
        packed, name = pack_record(record), self._page(number)
        self._connection.call(lambda client: client.set(name, packed, ex=self._expire_seconds))

    def records(self, numbers: Sequence[int]) -> dict[int, PageRecord]:
        """Read the records of some pages; those that are gone are left out.

        Of one that is not pending here, the events that come later tell whether it is gone.
        """
        if not numbers:
            return {}
        found = self._packed(numbers)
        missing = [number for number in numbers if number not in found]
        if missing and self._connection.address.is_cluster:
            # Nodes answer in any order. One that was looked for here, then committed, and then
            # looked for among those in flight, is here by now.
            found.update(self._packed(missing))
        return {number: self._unpacked(number, *each) for number, each in found.items()}

    def is_in_flight(self, number: int) -> bool:
        """Tell whether a page is pending, here or elsewhere."""
        flight = self._named("flight")
        return bool(self._connection.call(lambda client: client.hexists(flight, number)))

    def beat(self, counts: Mapping[str, int]) -> None:
        """Give a sign of life, and add to the totals of all processes."""
        flat = (part for pair in counts.items() for part in pair)
        owned = self._run("beat", self.process, _milliseconds(LEASE), *flat)
        if owned < 0:
            raise StoreError(f"{self} was deleted; it is made anew with the next page")
        if owned > len(self.pending):
            # A page is on its way, or a server has lost that one was committed, which is no event.
            self._may_own_more = True

    def totals(self) -> Counter[str]:
        """Return the totals of all processes."""
        name = self._named("totals")
        found = self._connection.call(lambda client: client.hgetall(name))
        return Counter({outcome.decode(): int(count) for outcome, count in found.items()})

    def trim(self, first_chunk: int) -> None:
        """Delete the chunks before this one, that tell of no page any more.

        Raises:
            LogChanged: they may tell of others.
        """
        _require_same(self._run("trim", *self._read_so_far, first_chunk))

    def leave(self, seen: int) -> None:
        """Release what is pending, and take part no more."""
        self._run("leave", self.process, _salt(), seen)
        self.pending.clear()

    def lessons(self) -> LessonLists:
        """Return the lists by which processes exchange what they learn of hosts."""
        return LessonLists(self._connection, bytes.fromhex(self.process), self._expire_seconds)

    def close(self) -> None:
        """Let go of the connections."""
        self._connection.close()

    def pages_in_flight(self) -> set[int]:
        """Return the pages that are pending, here or elsewhere."""
        name = self._named("flight")
        return set(map(int, self._connection.call(lambda client: client.hkeys(name))))

    def _read(self, script: str, seen: int, *arguments: object) -> tuple[int, News]:
        number, start, events = self._run(
            script,
            self._id,
            self.process,
            _milliseconds(LEASE),
            self.offset,
            self._last,
            _MOST_EVENTS,
            _salt(),
            seen,
            *arguments,
        )
        if number < 0:
            raise LogChanged
        if events:
            self.offset, self._last = start + len(events) // EVENT_BYTES, events[-EVENT_BYTES:]
        is_last = len(events) < _MOST_EVENTS * EVENT_BYTES
        return number, News(start + 1, events, is_last)

    def _run(self, script: str, *arguments: object) -> Any:
        return self._connection.run(script, self._key, *arguments)

    @property
    def _read_so_far(self) -> tuple[bytes, int, bytes]:
        """How far the log was read, by which a server sees whether it is still the same."""
        return self._id, self.offset, self._last

    def _join(self, scheme: str, crawl: str, seen: int) -> None:
        """Take part in the index, make it if there is none, and be in a crawl."""
        own = self.process, _milliseconds(LEASE), _salt(), seen, FORMAT, scheme, crawl
        joined = self._run("join", *own, self.crawl, secrets.token_hex(8))
        number, its_format, its_scheme, its_id = joined
        if number < 0 or not its_format.isdigit():
            raise ConfigError(
                f"{self}: other keys are there under dedup:{{{self._connection.address.name}}}; "
                "choose another name (?name=...)"
            )
        if int(its_format) > FORMAT:
            raise StoreTooNew(
                f"{self} is of format {int(its_format)}, and this version reads {FORMAT}: "
                "install the version that made it, or choose another name (?name=...)"
            )
        if not number:
            self._refuse(scheme, its_scheme)
        self.crawl, self._id, self._as = int(number), its_id, (scheme, crawl)

    def _refuse(self, mine: str, its_scheme: bytes) -> NoReturn:
        """Say what differs of another scheme."""
        with suppress(ValueError, TypeError):
            its_own = Scheme.from_json(its_scheme.decode())
            Scheme.from_json(mine).require(its_own, str(self._connection.address), _REMEDY)
        raise StoreCorrupt(f"{self}: what it says of its scheme is damaged: {_REMEDY}")

    def _packed(self, numbers: Sequence[int]) -> dict[int, tuple[bytes, bool]]:
        """Return the records of some pages, and whether they are pending."""
        flight = self._named("flight")

        def read(client: Any) -> list[Any]:
            with client.pipeline(transaction=False) as pipe:
                pipe.hmget(flight, numbers)
                for number in numbers:
                    pipe.get(self._page(number))
                return list(pipe.execute())

        found = self._connection.call(read)
        records = {}
        for number, pending, kept in zip(numbers, found[0], found[1:], strict=True):
            if pending is not None:
                records[number] = pending, True
            elif kept is not None:
                records[number] = kept, False
        return records

    def _unpacked(self, number: int, packed: bytes, is_pending: bool) -> PageRecord:
        try:
            return unpack_record(number, packed, is_pending=is_pending)
        except ValueError as error:
            raise StoreCorrupt(f"{self}: {error}") from None

    def _named(self, name: str) -> str:
        return self._keys.named(name)

    def _page(self, number: int) -> str:
        return self._keys.page(number)


def _require_same(answer: int) -> int:
    """Pass on the answer of a script, unless it found another log than was read."""
    if answer < 0:
        raise LogChanged
    return answer


def _whole_seconds(days: float | None) -> int | None:
    return None if days is None else math.ceil(days * _DAY_SECONDS)


def _milliseconds(seconds: float) -> int:
    return int(1_000 * seconds)


def _salt() -> int:
    return random.getrandbits(8)
