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

import random
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from dedup_filter.errors import ConfigError, StoreError, StoreTooNew
from dedup_filter.shared.connection import Connection
from dedup_filter.shared.events import EVENT_BYTES
from dedup_filter.shared.record_bytes import pack_record, unpack_record
from dedup_filter.store import PageRecord, Scheme

__all__ = ["LEASE", "Entry", "LogChanged", "News", "SharedLog"]

LEASE: Final = 30.0
"""Seconds after which a process that gives no sign of life holds no page any more."""
_FORMAT: Final = 1
_MOST_EVENTS = 65_536
"""Events in one answer: 1.5 MB, some milliseconds of the server's time."""
_SPREAD = 1_024
"""Slots that records are spread over, at most."""
_DAY_SECONDS = 86_400


class LogChanged(Exception):  # noqa: N818 - no fault: it says what to do
    """The log is not the one that was read up to here: a server failed and some of it is lost."""


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
        self._expire_seconds = None if expire_days is None else int(expire_days * _DAY_SECONDS)
        self._key = self._named("length")
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
        self._require_own_keys()
        mine = scheme.to_json()
        arguments = (self.process, _milliseconds(LEASE), _salt(), seen, _FORMAT, mine, crawl or "")
        number, its_format, its_scheme = self._run("join", *arguments)
        if int(its_format) > _FORMAT:
            raise StoreTooNew(
                f"{self} is of format {int(its_format)}, and this version reads {_FORMAT}: "
                "install the version that made it"
            )
        if its_scheme.decode() != mine:
            scheme.require(Scheme.from_json(its_scheme.decode()), str(self._connection.address))
        self.crawl = int(number)

    def append(
        self, entry: Entry, record: PageRecord, seen: int, *, unless_news: bool
    ) -> tuple[int, News]:
        """Add a page, pending; return its number and the events up to its own.

        The number is 0, and nothing was added, if there are too many events to be told at once,
        or any that were not read, if so wished: follow them and try again.

        Raises:
            LogChanged: nothing was added.
        """
        self._disown(seen)
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

    def rewind(self) -> None:
        """Read the log from its beginning again."""
        self.offset, self._last = 0, b""

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
        """Take pages out for good."""
        self._run("remove", _salt(), seen, *numbers)
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

    def replace(self, number: int, entry: Entry, record: PageRecord, seen: int) -> None:
        """Give a page other measures."""
        value = entry.value.to_bytes(8, "little")
        arguments = (_salt(), seen, number, value, entry.kind, entry.host, pack_record(record))
        if not self._run("replace", *arguments):
            self.put_record(number, record)

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
            packed = kept if pending is None else pending
            if packed is not None:
                records[number] = self._unpacked(number, packed, pending is not None)
        return records

    def is_in_flight(self, number: int) -> bool:
        """Tell whether a page is pending, here or elsewhere."""
        flight = self._named("flight")
        return bool(self._connection.call(lambda client: client.hexists(flight, number)))

    def beat(self, counts: Mapping[str, int]) -> None:
        """Give a sign of life, and add to the totals of all processes."""
        flat = (part for pair in counts.items() for part in pair)
        self._run("beat", self.process, _milliseconds(LEASE), *flat)

    def totals(self) -> Counter[str]:
        """Return the totals of all processes."""
        name = self._named("totals")
        found = self._connection.call(lambda client: client.hgetall(name))
        return Counter({outcome.decode(): int(count) for outcome, count in found.items()})

    def trim(self, first_chunk: int) -> None:
        """Delete the chunks before this one, that tell of no page any more."""
        self._run("trim", first_chunk)

    def leave(self, seen: int) -> None:
        """Release what is pending, and take part no more."""
        self._run("leave", self.process, _salt(), seen)
        self.pending.clear()

    def close(self) -> None:
        """Let go of the connections."""
        self._connection.close()

    def pages_in_flight(self) -> set[int]:
        """Return the pages that are pending, here or elsewhere."""
        name = self._named("flight")
        return set(map(int, self._connection.call(lambda client: client.hkeys(name))))

    def _disown(self, seen: int) -> None:
        if self._may_own_more:
            self._run("disown", self.process, _salt(), seen, *self.pending)
            self._may_own_more = False

    def _read(self, script: str, seen: int, *arguments: object) -> tuple[int, News]:
        number, start, events = self._run(
            script,
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

    def _require_own_keys(self) -> None:
        """Refuse to touch what somebody else keeps under the same name."""
        meta = self._named("meta")
        others = [
            self._named(name) for name in ("length", "flight", "processes", "totals", "log:0")
        ]
        kind = self._connection.call(lambda client: client.type(meta))
        if kind == b"none":
            foreign = self._connection.call(lambda client: client.exists(*others))
        else:
            foreign = kind != b"hash" or not self._connection.call(
                lambda client: client.hexists(meta, "format")
            )
        if foreign:
            raise ConfigError(
                f"{self}: other keys are there under dedup:{{{self._connection.address.name}}}; "
                "choose another name (?name=...)"
            )

    def _unpacked(self, number: int, packed: bytes, is_pending: bool) -> PageRecord:
        return unpack_record(number, packed, is_pending=is_pending)

    def _named(self, name: str) -> str:
        return f"dedup:{{{self._connection.address.name}}}:{name}"

    def _page(self, number: int) -> str:
        name = self._connection.address.name
        return f"dedup:{{{name}:{number % _SPREAD}}}:page:{number}"


def _milliseconds(seconds: float) -> int:
    return int(1_000 * seconds)


def _salt() -> int:
    return random.getrandbits(8)
