"""A shared index, read by who takes no part in it: for reports, exports and upkeep.

Joins no crawl, holds no lease and makes no index where there is none; servers that take no writes
can be read too. Several calls see the index at several moments, and processes may be at work: what
is read first, pages in flight, is read before the log that must tell of them.

Cost: 1.5 MB of events a call, 1,000 records a call; 25 bytes for each page that is there.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from dedup_filter.errors import ConfigError
from dedup_filter.pages.directory import PageRecord, Scheme
from dedup_filter.pages.directory.records import Crawl
from dedup_filter.pages.redis.connection import Connection, connected
from dedup_filter.pages.redis.formats import CHUNK, EVENT_BYTES, News
from dedup_filter.pages.redis.joining import read_meta
from dedup_filter.pages.redis.records import SharedRecords
from dedup_filter.pages.redis.replica import LoggedPages

__all__ = ["Memory", "SharedReader"]

_CHUNKS = 16
_RECORDS = 1_000
_MEASURED = 64
"""Keys of a kind that are measured, at most."""


class Memory(NamedTuple):
    """Bytes, with what the servers themselves take for a key."""

    log: int
    records: int


class SharedReader:
    """What servers hold of an index.

    Raises:
        ConfigError: there is none, or something else is there.
        StoreTooNew: it is of a newer format.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._keys = connection.keys
        self._records = SharedRecords(connection)
        self._meta = read_meta(connection)
        if not self._meta:
            raise ConfigError(f"there is no index at {self}: look at the address and the name")

    @classmethod
    def open(cls, location: str) -> "SharedReader":
        """Look for the index at an address."""
        with connected(location) as connection:
            return cls(connection)

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
        names, started = self.connection.hash("crawls"), self.connection.hash("started")
        called = {
            int(number): name.decode("utf-8", "surrogatepass") for name, number in names.items()
        }
        begun = {int(number): int(moment) for number, moment in started.items()}
        last = max([int(self._meta.get(b"crawl", 0)), *called, *begun])
        return [
            Crawl(number, called.get(number), begun.get(number, 0), None)
            for number in range(1, last + 1)
        ]

    def totals(self) -> dict[str, int]:
        """Return the totals of all processes."""
        return {name.decode(): int(count) for name, count in self.connection.hash("totals").items()}

    def processes(self, *, alive: bool = True) -> list[str]:
        """Return the processes whose lease runs, or those whose lease is over."""
        name = self._keys.named("processes")
        moment = self._server_milliseconds()
        first, last = (f"({moment}", "+inf") if alive else ("-inf", str(moment))
        found = self.connection.call(lambda client: client.zrangebyscore(name, first, last))
        return [process.decode() for process in found]

    def owned(self, processes: Iterable[str]) -> set[int]:
        """Return the pages that some processes have pending."""
        names = [self._keys.named(f"owned:{process}") for process in processes]
        found = self.connection.ask_each("SMEMBERS", names)
        return {int(page) for pages in found for page in pages}

    def in_flight(self) -> set[int]:
        """Return the pages that are pending."""
        return self._records.pending()

    def standing(self) -> LoggedPages:
        """Read the log to its present end; return the pages that are there."""
        pages = LoggedPages()
        for news in self._events():
            pages.follow(news)
        return pages

    def length(self) -> int:
        """Return the number of the last event."""
        name = self._keys.named("length")
        return int(self.connection.call(lambda client: client.get(name)) or 0)

    def _events(self) -> Iterator[News]:
        """Yield the events of the log, zeros where some are lost; last comes its present end."""
        length, at = self.length(), self._first_chunk()
        for first in range(at, -(-length // CHUNK), _CHUNKS):
            chunks = range(first, min(first + _CHUNKS, -(-length // CHUNK)))
            parts = self.connection.ask_each("GET", map(self._chunk, chunks))
            # Those that were deleted meanwhile told of no page.
            at = self._first_chunk() if None in parts else at
            for chunk, part in zip(chunks, parts, strict=True):
                wanted = min(length - chunk * CHUNK, CHUNK) * EVENT_BYTES
                if chunk >= at:
                    yield News(chunk * CHUNK + 1, (part or b"")[:wanted].ljust(wanted, b"\0"))
        yield News(length + 1, b"")

    def records(self, pages: Sequence[int]) -> Iterator[PageRecord]:
        """Yield the records of pages in their order, pending ones too; of some there is none.

        Raises:
            StoreCorrupt: one is damaged.
        """
        for at in range(0, len(pages), _RECORDS):
            yield from self._records.read(pages[at : at + _RECORDS]).values()

    def recorded(self) -> set[int]:
        """Return the pages that have records of their own.

        Cost: passes over all keys of the servers, those of others too, 1,000 at a time.
        """

        def scan(client: Any) -> set[int]:
            keys = client.scan_iter(match=self._keys.pages, count=_RECORDS)
            found = (self._keys.page_number(key.decode("ascii", "replace")) for key in keys)
            return {page for page in found if page is not None}

        return self.connection.call(scan)

    def memory(self, log: LoggedPages) -> Memory:
        """Estimate the bytes that the log, and the records of its pages, take on the servers.

        Cost: measures some keys of each kind.
        """

        def measured(name: Callable[[int], str], of: Sequence[int]) -> int:
            some = of[:: -(-len(of) // _MEASURED) or 1]
            sizes = self.connection.ask_each("MEMORY USAGE", map(name, some))
            return sum(size or 0 for size in sizes) * len(of) // max(len(some), 1)

        chunks = range(self._first_chunk(), -(-log.end // CHUNK))
        return Memory(measured(self._chunk, chunks), measured(self._keys.page, list(log)))

    def close(self) -> None:
        """Close the connections."""
        self.connection.close()

    def __enter__(self) -> "SharedReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _chunk(self, number: int) -> str:
        return self._keys.named(f"log:{number}")

    def _first_chunk(self) -> int:
        """Return the number of the first chunk of the log that was not deleted."""
        name = self._keys.named("meta")
        return int(self.connection.call(lambda client: client.hget(name, "first_chunk")) or 0)

    def _server_milliseconds(self) -> int:
        # As scripts do it: leases do not depend on the clocks of crawlers.
        def time(client: Any) -> Any:
            if not self.connection.address.is_cluster:
                return client.time()
            return client.time(target_nodes=client.get_node_from_key(self._keys.named("length")))

        seconds, microseconds = self.connection.call(time)
        return int(seconds) * 1_000 + int(microseconds) // 1_000
