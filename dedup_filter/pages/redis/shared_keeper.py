"""A shared index for who takes no part in it: read for reports and exports, put back and mended.

    SharedReader     log, records, processes, crawls, totals, as they are on the servers
    SharedKeeper     records of another index, as they are: nothing is judged, no crawl is begun
    release_lapsed   pages that dead processes had pending
    take_out         pages that are not pending, for all processes
    delete_records   of pages that are gone
    trim             the log, of chunks that tell of no page

A reader joins no crawl, holds no lease and makes no index where there is none; servers that take no
writes can be read too. Crawlers may be at work. Several calls see the index at several moments:
what is read first, pages in flight, is read before the log that must tell of them. What is changed
is changed by one step of a script, which does nothing to another log than was read.

A record is put back under the number that the next event will have, and then that event is added,
if there are as many before as there were; otherwise the records are written anew, under other
numbers. So a page that processes can see has its record, whatever others do meanwhile; a record
without an event, left by who was killed between the two, is overwritten by the page that gets its
number.

Cost: 1.5 MB of events a call, 1,000 records a call; 25 bytes for each page that is there. A call to
put back 256 records, one for their events.
"""

import json
import secrets
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import time as now
from typing import Any, NamedTuple

from dedup_filter.config import expiry_seconds
from dedup_filter.errors import ConfigError, StoreBusy, StoreError
from dedup_filter.pages.directory import PageRecord, Scheme
from dedup_filter.pages.directory.records import Crawl, host_of
from dedup_filter.pages.redis.connection import Connection, connected
from dedup_filter.pages.redis.formats import CHUNK, EVENT_BYTES, FORMAT, entry_of
from dedup_filter.pages.redis.process import LEASE, read_meta, refuse
from dedup_filter.pages.redis.records import SharedRecords, pack_record
from dedup_filter.pages.redis.replica import LoggedPages
from dedup_filter.pages.redis.shared_log import first_standing

__all__ = [
    "Memory",
    "SharedKeeper",
    "SharedReader",
    "delete_records",
    "release_lapsed",
    "take_out",
    "trim",
]

_CHUNKS = 16
_KEYS = 1_000
_MEASURED = 64
"""Keys of a kind that are measured, at most."""
_BATCH = 256
_NOT_KNOWN_YET = 0
_OTHER_LOG = -1


class Memory(NamedTuple):
    """Bytes, with what the servers themselves take for a key."""

    log: int
    records: int


class SharedReader(SharedRecords):
    """What servers hold of an index.

    Raises:
        ConfigError: there is none, or something else is there.
        StoreTooNew: it is of a newer format.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
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
        called = {number: name for name, number in self.connection.counts("crawls").items()}
        begun = {int(n): moment for n, moment in self.connection.counts("started").items()}
        last = max([int(self._meta.get(b"crawl", 0)), *called, *begun])
        return [Crawl(n, called.get(n), begun.get(n, 0), None) for n in range(1, last + 1)]

    def totals(self) -> dict[str, int]:
        """Return the totals of all processes."""
        return self.connection.counts("totals")

    def processes(self, *, alive: bool = True) -> list[str]:
        """Return the processes whose lease runs, or those whose lease is over."""
        moment = self._server_milliseconds()
        between = (f"({moment}", "+inf") if alive else ("-inf", str(moment))
        found = self.connection.ask("ZRANGEBYSCORE", self._keys.named("processes"), *between)
        return [process.decode() for process in found]

    def owned(self, processes: Iterable[str]) -> set[int]:
        """Return the pages that some processes have pending."""
        names = [self._keys.named(f"owned:{process}") for process in processes]
        found = self.connection.ask_all(("SMEMBERS", name) for name in names)
        return {int(page) for pages in found for page in pages}

    def standing(self) -> LoggedPages:
        """Read the log to its present end; return the pages that are there."""
        pages = LoggedPages()
        length, at = self.length(), self.connection.first_chunk()
        end = -(-length // CHUNK)
        for first in range(at, end, _CHUNKS):
            chunks = range(first, min(first + _CHUNKS, end))
            parts = self.connection.ask_all(("GET", self._chunk(chunk)) for chunk in chunks)
            # Those that were deleted meanwhile told of no page.
            at = self.connection.first_chunk() if None in parts else at
            for chunk, part in zip(chunks, parts, strict=True):
                # Zeros stand for events that a server has lost.
                wanted = min(length - chunk * CHUNK, CHUNK) * EVENT_BYTES
                if chunk >= at:
                    pages.follow(chunk * CHUNK + 1, (part or b"")[:wanted].ljust(wanted, b"\0"))
        pages.follow(length + 1, b"")
        pages.settle()
        return pages

    def length(self) -> int:
        """Return the number of the last event."""
        return int(self.connection.ask("GET", self._keys.named("length")) or 0)

    def recorded(self) -> set[int]:
        """Return the pages that have records of their own.

        Cost: passes over all keys of the servers, those of others too, 1,000 at a time.
        """

        def scan(client: Any) -> set[int]:
            keys = client.scan_iter(match=self._keys.pages, count=_KEYS)
            found = (self._keys.page_number(key.decode("ascii", "replace")) for key in keys)
            return {page for page in found if page is not None}

        return self.connection.call(scan)

    def memory(self, log: LoggedPages) -> Memory:
        """Estimate the bytes that the log, and the records of its pages, take on the servers.

        Cost: measures some keys of each kind.
        """

        def measured(name: Callable[[int], str], of: Sequence[int]) -> int:
            some = of[:: -(-len(of) // _MEASURED) or 1]
            sizes = self.connection.ask_all(("MEMORY USAGE", name(each)) for each in some)
            return sum(size or 0 for size in sizes) * len(of) // max(len(some), 1)

        chunks = range(self.connection.first_chunk(), -(-log.end // CHUNK))
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

    def _server_milliseconds(self) -> int:
        # As scripts do it: leases do not depend on the clocks of crawlers.
        def time(client: Any) -> Any:
            if not self.connection.address.is_cluster:
                return client.time()
            return client.time(target_nodes=client.get_node_from_key(self._keys.named("length")))

        seconds, microseconds = self.connection.call(time)
        return int(seconds) * 1_000 + int(microseconds) // 1_000


def release_lapsed(reader: SharedReader) -> int:
    """Release what processes have pending whose lease is over; return how many pages that were."""
    lapsed = reader.processes(alive=False)
    pages = reader.owned(lapsed) & reader.in_flight()
    for process in lapsed:
        reader.connection.run("leave", process)
    return len(pages)


def take_out(reader: SharedReader, log: LoggedPages, pages: Sequence[int]) -> None:
    """Take pages out for good, but for pending ones."""
    for at in range(0, len(pages), _BATCH):
        of_nobody = ""
        reader.remove(_change(reader, log, "remove", of_nobody, *pages[at : at + _BATCH]))


def delete_records(reader: SharedReader, pages: Sequence[int]) -> None:
    """Delete the records of pages that are gone."""
    reader.remove(pages)


def trim(reader: SharedReader, log: LoggedPages) -> None:
    """Delete the first chunks of the log as far as they tell of no page."""
    first = reader.connection.first_chunk()
    _change(reader, log, "trim", first_standing(reader.connection, log, first)[0])


def _change(reader: SharedReader, log: LoggedPages, function: str, *arguments: object) -> Any:
    so_far = reader.identity, log.end, log.last
    answer = reader.connection.run(function, *so_far, *arguments)
    if answer == _OTHER_LOG:
        raise StoreError(
            f"{reader.connection}: a server has lost a part of it meanwhile; try again"
        )
    return answer


class SharedKeeper:
    """A shared index for records of another. If a call fails, some of the last may be missing."""

    def __init__(self, connection: Connection, scheme: Scheme) -> None:
        self._connection = connection
        if not connection.run("make", FORMAT, scheme.to_json(), secrets.token_hex(8)):
            refuse(connection, scheme)
        self._reader = SharedReader(connection)
        self._batch: list[tuple[PageRecord, bytes]] = []
        days = self._reader.options.get("expire_days")
        self._expire_seconds: int | None = None if days is None else expiry_seconds(days)

    @classmethod
    def open(cls, location: str, scheme: Scheme) -> "SharedKeeper":
        """Open the index at an address; make it if there is none.

        Raises:
            ConfigError: something else is there.
            SchemeMismatch: its fingerprints are made in another way.
        """
        with connected(location) as connection:
            return cls(connection, scheme)

    def __str__(self) -> str:
        return str(self._connection.address)

    @property
    def scheme(self) -> Scheme:
        """How its fingerprints are made."""
        return self._reader.scheme

    def records(self) -> Iterator[PageRecord]:
        """Yield the records that are there."""
        records = self._reader.records(list(self._reader.standing()))
        return (record for record in records if not record.is_pending)

    def known_hosts(self) -> set[str]:
        """Return nothing: of frames servers have only what crawlers tell one another."""
        return set()

    def restore_crawl(self, crawl: Crawl) -> int:
        """Put a crawl back and return its number here.

        Raises:
            StoreBusy: a process is at work, for whose crawl this would be a later one.
        """
        number = self._connection.run(
            "restore_crawl", crawl.number, crawl.name or "", crawl.started
        )
        if not number:
            raise StoreBusy(
                f"{self._connection}: crawlers are at work on it, and an export is put back "
                f"between crawls; one that was killed counts as at work for {LEASE:.0f} seconds"
            )
        return int(number)

    def restore(self, record: PageRecord, text: str | None = None) -> int | None:  # noqa: ARG002
        """Put a record back; return None if such ones are not kept here.

        They are not of dropped pages, and of those that are to be forgotten by now.

        Raises:
            ValueError: it has a number for which a record has no room.
        """
        if not record.judged.is_kept or self._seconds_left(record) == 0:
            return None
        # A record has no host of its own: it is that of the URL.
        record = record._replace(host=host_of(record.url))
        try:
            packed = pack_record(record)
        except struct.error:
            raise ValueError(
                "has a number or a time for which an index on a server has no room"
            ) from None
        self._batch.append((record, packed))
        if len(self._batch) >= _BATCH:
            self._write()
        return _NOT_KNOWN_YET

    def restore_host(self, _: object) -> bool:
        """Return False, for the same reason."""
        return False

    def close(self) -> None:
        """Write all that is left, and close the connections."""
        try:
            self._write()
        finally:
            self._connection.close()

    def _write(self) -> None:
        # Whatever comes of it, it is not tried again: an answer may get lost.
        batch, self._batch = self._batch, []
        if not batch:
            return
        outcomes = Counter(record.judged.outcome for record, _ in batch)
        arguments: list[object] = [len(outcomes)]
        for outcome, count in outcomes.items():
            arguments += outcome, count
        for record, _ in batch:
            arguments += *entry_of(record).fields, record.last_seen
        length, is_done = self._reader.length(), False
        while not is_done:
            self._put(length, batch)
            is_done, length = self._connection.run("restore", length, *arguments)

    def _put(self, length: int, batch: Sequence[tuple[PageRecord, bytes]]) -> None:
        commands = []
        for number, (record, packed) in enumerate(batch, length + 1):
            seconds = self._seconds_left(record)
            life = () if seconds is None else ("EX", max(seconds, 1))
            commands.append(("SET", self._connection.keys.page(number), packed, *life))
        self._connection.ask_all(commands)

    def _seconds_left(self, record: PageRecord) -> int | None:
        """Return after how many seconds a page is to be forgotten; None: never."""
        if self._expire_seconds is None:
            return None
        return max(0, self._expire_seconds - int(now()) + record.last_seen)
