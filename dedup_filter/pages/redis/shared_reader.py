"""A shared index, read by who takes no part in it: for reports, exports and repairs.

Joins no crawl, holds no lease and makes no index where there is none; servers that take no writes
can be read too. Several calls see the index at several moments, and processes may be at work: what
is read first, pages in flight, is read before the log that must tell of them.

Of the log, read from its beginning, follow the pages that are there at its end: no index of
fingerprints is made.

Cost: 1.5 MB of events a call, 1,000 records a call. Of the log 60 bytes an event while it is read,
and a sort of its events.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.errors import ConfigError, StoreCorrupt
from dedup_filter.pages.directory import PageRecord, Scheme
from dedup_filter.pages.directory.crawls import Crawl
from dedup_filter.pages.redis.address import Address
from dedup_filter.pages.redis.connection import Connection
from dedup_filter.pages.redis.formats import (
    CHUNK,
    EVENT_BYTES,
    LONG,
    SHORT,
    Entry,
    EventArray,
    Keys,
    News,
    decode,
    kinds,
    numbers,
)
from dedup_filter.pages.redis.joining import require_format
from dedup_filter.pages.redis.records import unpack_record

__all__ = ["SharedReader", "Standing"]

_CHUNKS = 16
_RECORDS = 1_000


class Standing(NamedTuple):
    """Pages that are there, by their numbers, each with the event that tells of it."""

    pages: npt.NDArray[np.int64]
    events: EventArray
    places: npt.NDArray[np.int64]
    """Numbers of these events in the log."""
    end: int
    """Number of the last event of the log."""
    last: bytes
    """That event."""
    lost: int
    """Events in whose place there is nothing."""

    @classmethod
    def of(cls, log: Iterable[News]) -> "Standing":
        """Follow a log."""
        end, last = 0, b""
        parts, firsts = [decode(b"")], [np.empty(0, np.int64)]
        for news in log:
            parts.append(decode(news.events))
            firsts.append(np.arange(news.first, news.first + len(parts[-1])))
            end, last = news.first + len(parts[-1]) - 1, news.events[-EVENT_BYTES:] or last
        events, places = np.concatenate(parts), np.concatenate(firsts)
        # Of each page the last that was said of it: the first one, from the end.
        _, from_the_end = np.unique(numbers(events)[::-1], return_index=True)
        latest = len(events) - 1 - from_the_end
        there = latest[np.isin(kinds(events[latest]), (LONG, SHORT))]
        lost = int((numbers(events) == 0).sum())
        return cls(numbers(events[there]), events[there], places[there], end, last, lost)

    def lacks(self, pages: Iterable[int]) -> set[int]:
        """Return those of some pages that are not there."""
        asked = np.fromiter(pages, np.int64)
        return set(asked[~np.isin(asked, self.pages)].tolist())

    def entry(self, page: int) -> Entry | None:
        """Return what the log tells of a page, None if it is not there."""
        at = int(self.pages.searchsorted(page))
        if at == len(self.pages) or self.pages[at] != page:
            return None
        event = self.events[at : at + 1]
        return Entry(int(event["value"][0]), int(kinds(event)[0]), int(event["host"][0]))

    @property
    def first_chunk(self) -> int:
        """The number of the first chunk of the log that tells of a page that is there."""
        first = int(self.places.min()) - 1 if len(self.places) else self.end
        return first // CHUNK


class SharedReader:
    """What servers hold of an index.

    Raises:
        StoreError: by all methods, when the servers cannot be reached or refuse.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.keys = Keys(connection.address.name)
        self._meta = self._read_meta()

    @classmethod
    def open(cls, location: str) -> "SharedReader":
        """Look for the index at an address.

        Raises:
            ConfigError: there is none, or something else is there.
            StoreTooNew: it is of a newer format.
        """
        connection = Connection(Address.of(location))
        try:
            return cls(connection)
        except BaseException:
            connection.close()
            raise

    def __str__(self) -> str:
        return str(self.connection.address)

    @property
    def identity(self) -> bytes:
        """What no other index has, and this one no more when it was begun anew."""
        return self._meta.get(b"id", b"")

    @property
    def scheme(self) -> Scheme:
        """How the fingerprints were made."""
        return Scheme.from_json(self._meta[b"scheme"].decode())

    @property
    def options(self) -> dict[str, Any]:
        """What the last process that joined was opened with, of what all should have alike."""
        options: dict[str, Any] = json.loads(self._meta.get(b"options", b"{}"))
        return options

    def crawls(self) -> list[Crawl]:
        """List the crawls in their order; when one ended is not known."""
        names, started = self._hash("crawls"), self._hash("started")
        called = {int(number): name.decode("utf-8", "surrogatepass") for name, number in names}
        begun = {int(number): int(moment) for number, moment in started}
        last = max([int(self._meta.get(b"crawl", 0)), *called, *begun])
        return [
            Crawl(number, called.get(number), begun.get(number, 0), None)
            for number in range(1, last + 1)
        ]

    def totals(self) -> Counter[str]:
        """Return the totals of all processes."""
        return Counter({name.decode(): int(count) for name, count in self._hash("totals")})

    def processes(self, *, alive: bool = True) -> list[str]:
        """Return the processes whose lease runs, or those whose lease is over."""
        name = self.keys.named("processes")
        moment = self._server_milliseconds()
        first, last = (f"({moment}", "+inf") if alive else ("-inf", str(moment))
        found = self._call(lambda client: client.zrangebyscore(name, first, last))
        return [process.decode() for process in found]

    def owned(self, processes: Iterable[str]) -> set[int]:
        """Return the pages that some processes have pending."""
        names = [self.keys.named(f"owned:{process}") for process in processes]
        return {int(page) for found in self.ask_each("SMEMBERS", names) for page in found}

    def in_flight(self) -> set[int]:
        """Return the pages that are pending."""
        name = self.keys.named("flight")
        return set(map(int, self._call(lambda client: client.hkeys(name))))

    def standing(self) -> Standing:
        """Read the log to its present end; return the pages that are there."""
        return Standing.of(self.events())

    def length(self) -> int:
        """Return the number of the last event."""
        name = self.keys.named("length")
        return int(self._call(lambda client: client.get(name)) or 0)

    def events(self) -> Iterator[News]:
        """Yield the events of the log, zeros where some are lost; last comes its present end."""
        length, at = self.length(), self.first_chunk()
        for first in range(at, -(-length // CHUNK), _CHUNKS):
            chunks = range(first, min(first + _CHUNKS, -(-length // CHUNK)))
            parts = self.ask_each("GET", [self.keys.named(f"log:{chunk}") for chunk in chunks])
            # Those that were deleted meanwhile told of no page.
            at = self.first_chunk() if None in parts else at
            for chunk, part in zip(chunks, parts, strict=True):
                wanted = min(length - chunk * CHUNK, CHUNK) * EVENT_BYTES
                if chunk >= at:
                    yield News(chunk * CHUNK + 1, (part or b"")[:wanted].ljust(wanted, b"\0"))
        yield News(length + 1, b"")

    def records(self, pages: Sequence[int]) -> Iterator[PageRecord]:
        """Yield the records of committed pages in their order; of others there is none.

        Raises:
            StoreCorrupt: one is damaged.
        """
        for at in range(0, len(pages), _RECORDS):
            some = pages[at : at + _RECORDS]
            for page, packed in zip(
                some, self.ask_each("GET", map(self.keys.page, some)), strict=True
            ):
                if packed is not None:
                    yield self._unpacked(page, packed, is_pending=False)

    def pending_records(self, pages: Sequence[int]) -> Iterator[PageRecord]:
        """Yield the records of pages that are pending. Raises what `records` does."""
        name = self.keys.named("flight")
        for at in range(0, len(pages), _RECORDS):
            some = pages[at : at + _RECORDS]
            found = self._call(lambda client, some=some: client.hmget(name, some))
            for page, packed in zip(some, found, strict=True):
                if packed is not None:
                    yield self._unpacked(page, packed, is_pending=True)

    def recorded(self) -> Iterator[list[int]]:
        """Yield the numbers of pages that have records, some at a time and in no order.

        Cost: passes over all keys of the servers, those of others too.
        """
        pattern = self.keys.pages

        def scan(client: Any) -> Iterator[list[int]]:
            found: list[int] = []
            for key in client.scan_iter(match=pattern, count=_RECORDS):
                page = self.keys.page_number(key.decode("ascii", "replace"))
                found += [] if page is None else [page]
                if len(found) >= _RECORDS:
                    yield found
                    found = []
            yield found

        parts = self._call(scan)
        while (part := self._call(lambda _: next(parts, None))) is not None:
            yield part

    def first_chunk(self) -> int:
        """Return the number of the first chunk of the log that was not deleted."""
        name = self.keys.named("meta")
        return int(self._call(lambda client: client.hget(name, "first_chunk")) or 0)

    def ask_each(self, command: str, names: Iterable[str]) -> list[Any]:
        """Ask the same of several keys; return the answers."""
        return self.connection.ask_each(command, list(names))

    def close(self) -> None:
        """Close the connections."""
        self.connection.close()

    def __enter__(self) -> "SharedReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read_meta(self) -> dict[bytes, bytes]:
        name = self.keys.named("meta")
        kind = self._call(lambda client: client.type(name))
        if kind == b"none":
            raise ConfigError(f"there is no index at {self}: look at the address and the name")
        meta = dict(self._hash("meta")) if kind == b"hash" else {}
        if b"scheme" not in meta or not meta.get(b"format", b"").isdigit():
            raise ConfigError(
                f"the shared index {self}: other keys are there under its name ({name})"
            )
        require_format(int(meta[b"format"]), self.connection.address)
        return meta

    def _server_milliseconds(self) -> int:
        # As scripts do it: leases do not depend on the clocks of crawlers.
        name = self.keys.named("length")
        kwargs = (
            {"target_nodes": self._call(lambda client: client.get_node_from_key(name))}
            if self.connection.address.is_cluster
            else {}
        )
        seconds, microseconds = self._call(lambda client: client.time(**kwargs))
        return int(seconds) * 1_000 + int(microseconds) // 1_000

    def _hash(self, name: str) -> list[tuple[bytes, bytes]]:
        key = self.keys.named(name)
        return list(self._call(lambda client: client.hgetall(key)).items())

    def _call(self, work: Any) -> Any:
        return self.connection.call(work)

    def _unpacked(self, page: int, packed: bytes, *, is_pending: bool) -> PageRecord:
        try:
            return unpack_record(page, packed, is_pending=is_pending)
        except ValueError as error:
            raise StoreCorrupt(f"the shared index {self}: {error}") from error
