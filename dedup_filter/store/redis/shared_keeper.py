"""Reads, restores and repairs a shared index without joining a crawl.

A reader joins no crawl, holds no lease and makes no index where there is none; servers that take no
writes can be read too. Crawlers may be running: each call sees the index at its own moment. Every
change is one script call, which does nothing if the log is not the one that was read.

Records of another index are written under the numbers that the next events will have. Then the
events are added if the log still has the same length; otherwise both steps are repeated. So every
page in the log has its record, and a record without an event is overwritten later.

Cost: one call for 1.5 MB of events, one for 1,000 records, and two to four to restore 256 records.
"""

import json
import secrets
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from time import time as now
from typing import TYPE_CHECKING, Any

from dedup_filter.config import expiry_seconds
from dedup_filter.errors import ConfigError, StoreBusy, StoreError
from dedup_filter.store.records import Crawl, PageRecord, Scheme
from dedup_filter.store.redis.connection import Address, Connection, closed_if_it_fails
from dedup_filter.store.redis.process import LEASE, read_meta, refuse
from dedup_filter.store.redis.records import FORMAT, SharedRecords, pack_record
from dedup_filter.store.redis.replica import CHUNK, EVENT_BYTES, LoggedPages, entry_of
from dedup_filter.store.redis.shared_log import OTHER_LOG
from dedup_filter.text.page_url import host_of

if TYPE_CHECKING:
    from typing_extensions import Self

_CHUNKS = 16
_KEYS = 1_000
_MEASURED = 64
"""Most keys of each kind whose memory is measured."""
_BATCH = 256
_TO_COME = 2**48
"""Added to the index of a restored page: stands for its number, which is less, until it has one."""


class SharedReader(SharedRecords):
    """A shared index, read only.

    Raises:
        ConfigError: there is no index, or other keys have its name.
        StoreTooNew: the format of the index is newer.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._meta = read_meta(connection)
        if not self._meta:
            raise ConfigError(f"there is no index at {self}: look at the address and the name")
        self.identity = self._meta.get(b"id", b"").decode()
        """The unique name of this index; an index made anew has another name."""
        self.options: dict[str, Any] = json.loads(self._meta.get(b"options", b"{}"))
        """The shared options of the process that joined last."""
        self.by_url = any(self.options.get(name) for name in ("canonical", "changes"))
        days = self.options.get("expire_days")
        self.seconds = None if days is None else expiry_seconds(days)

    @classmethod
    @contextmanager
    def open(cls, location: str) -> Iterator["Self"]:
        """Read the index at an address."""
        with closing(Connection(Address.of(location))) as connection:
            yield cls(connection)

    def __str__(self) -> str:
        return str(self.connection.address)

    @property
    def scheme(self) -> Scheme:
        """The scheme of the fingerprints."""
        return Scheme.from_json(self._meta[b"scheme"].decode())

    def crawls(self) -> list[Crawl]:
        """List the crawls in their order, without the time when each ended."""
        called = {number: name for name, number in self.connection.counts("crawls").items()}
        begun = {int(n): moment for n, moment in self.connection.counts("started").items()}
        last = max([int(self._meta.get(b"crawl", 0)), *called, *begun])
        return [Crawl(n, called.get(n), begun.get(n, 0), None) for n in range(1, last + 1)]

    def processes(self, *, alive: bool = True) -> list[str]:
        """Return the processes whose lease runs, or if not `alive`, whose lease is over."""
        name = self.connection.key("processes")

        def time(client: Any) -> Any:
            if self.connection.address.is_cluster:  # the node whose clock times the leases
                return client.time(target_nodes=client.get_node_from_key(name))
            return client.time()

        seconds, microseconds = map(int, self.connection.call(time))
        moment = seconds * 1_000 + microseconds // 1_000
        between = (f"({moment}", "+inf") if alive else ("-inf", str(moment))
        found = self.connection.ask("ZRANGEBYSCORE", name, *between)
        return [process.decode() for process in found]

    def owned(self, processes: Iterable[str]) -> set[int]:
        """Return the pages that some processes have pending."""
        names = [self.connection.key(f"owned:{process}") for process in processes]
        found = self.connection.ask_all(("SMEMBERS", name) for name in names)
        return {int(page) for pages in found for page in pages}

    def standing(self) -> LoggedPages:
        """Read the log to its present end; return the current pages."""
        pages = LoggedPages()
        length, at = self.length(), self.connection.first_chunk()
        end = -(-length // CHUNK)
        for first in range(at, end, _CHUNKS):
            chunks = range(first, min(first + _CHUNKS, end))
            parts = self.connection.ask_all(("GET", self._chunk(chunk)) for chunk in chunks)
            # Chunks deleted in the meantime held the last event of no page.
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
        return int(self.connection.ask("GET", self.connection.key("length")) or 0)

    def recorded(self) -> set[int]:
        """Return the pages that have a record under a key of its own.

        Cost: scans all keys of the servers, also keys of other programs, 1,000 at a time.
        """
        # The name of an index has no special characters of patterns.
        pattern = f"dedup:{{{self.connection.address.name}:*}}:page:*"
        keys = self.connection.call(lambda client: list(client.scan_iter(pattern, count=_KEYS)))
        return {int(number) for key in keys if (number := key.rpartition(b":")[2]).isdigit()}

    def memory(self, log: LoggedPages) -> dict[str, int]:
        """Estimate from a sample of keys the server memory of the log and its pages' records."""

        def measured(name: Callable[[int], str], of: Sequence[int]) -> int:
            some = of[:: -(-len(of) // _MEASURED) or 1]
            sizes = self.connection.ask_all(("MEMORY USAGE", name(each)) for each in some)
            return sum(size or 0 for size in sizes) * len(of) // max(len(some), 1)

        chunks = range(self.connection.first_chunk(), -(-log.end // CHUNK))
        records = measured(self.connection.page_key, list(log))
        return {"log": measured(self._chunk, chunks), "records": records}

    def _chunk(self, number: int) -> str:
        return self.connection.key(f"log:{number}")


def take_out(reader: SharedReader, log: LoggedPages, pages: Sequence[int]) -> None:
    """Delete pages, except pending ones."""
    so_far, of_nobody = (reader.identity, log.end, log.last), ""
    for at in range(0, len(pages), _BATCH):
        some = pages[at : at + _BATCH]
        removed = reader.connection.run("remove", *so_far, of_nobody, *some)
        if removed == OTHER_LOG:
            where = reader.connection
            raise StoreError(f"{where}: a server has lost a part of it meanwhile; try again")
        reader.remove(removed)


class SharedKeeper:
    """Writes records of another index to a shared one. If a call fails, the last may be missing."""

    def __init__(self, connection: Connection, scheme: Scheme) -> None:
        self._connection = connection
        if not connection.run("make", FORMAT, scheme.to_json(), secrets.token_hex(8)):
            refuse(connection, scheme)
        self._reader = SharedReader(connection)
        self._batch: list[tuple[PageRecord, list[object]]] = []
        """Records, and the options for the expiry of each."""
        self._numbers = array("q")
        """The numbers of the pages that were restored, in their order. 8 bytes a page."""

    @classmethod
    def open(cls, location: str, scheme: Scheme) -> "SharedKeeper":
        """Open the index at an address; make it if there is none. Raises as `refuse` does."""
        connection = Connection(Address.of(location))
        with closed_if_it_fails(connection):
            return cls(connection, scheme)

    def records(self) -> Iterator[PageRecord]:
        """Yield the records of all pages that are not pending."""
        records = self._reader.records(list(self._reader.standing()))
        return (record for record in records if not record.is_pending)

    def restore_crawl(self, crawl: Crawl) -> int:
        """Restore a crawl and return its number here.

        Raises:
            StoreBusy: a process is running; its crawl must stay the latest one.
        """
        about = crawl.number, crawl.name or "", crawl.started
        number = self._connection.run("restore_crawl", *about)
        if not number:
            raise StoreBusy(
                f"{self._connection}: crawlers are at work on it, and an export is put back "
                f"between crawls; one that was killed counts as at work for {LEASE:.0f} seconds"
            )
        return int(number)

    def restore(
        self,
        record: PageRecord,
        text: str | None = None,  # noqa: ARG002
        form: bytes | None = None,  # noqa: ARG002
    ) -> int | None:
        """Restore a record. Returns a number for it as the original of later records here.

        None: its page has expired.

        Raises:
            ValueError: as `pack_record` does.
        """
        life: list[object] = []
        if self._reader.seconds is not None:
            left = self._reader.seconds - int(now()) + record.last_seen
            life = ["EX", left]
        if life and left <= 0:
            return None
        # A packed record has no field for the host: the host comes from the URL.
        keys = record.keys if record.is_kept else b""
        record = record._replace(host=host_of(record.url), keys=keys)
        pack_record(record)
        self._batch.append((record, life))
        number = _TO_COME + len(self._numbers) + len(self._batch) - 1
        if len(self._batch) >= _BATCH:
            self._write()
        return number

    def close(self) -> None:
        """Write the rest of the batch, and close the connections."""
        with closing(self._connection):
            self._write()

    def _write(self) -> None:
        # The batch is never retried after a fault: it may have been added and its answer lost.
        batch, self._batch = self._batch, []
        before, length = len(self._numbers), self._reader.length() if batch else None
        while length is not None:
            del self._numbers[before:]
            self._numbers.extend(range(length + 1, length + 1 + len(batch)))
            records = self._numbered([record for record, _ in batch])
            self._connection.ask_all(
                ("SET", self._connection.page_key(record.page), pack_record(record), *life)
                for record, (_, life) in zip(records, batch, strict=True)
            )
            events = [(*entry_of(each).fields, each.last_seen, each.outcome) for each in records]
            length = self._connection.run("restore", length, *chain.from_iterable(events))
            if length is None:
                self._reader.add_at_urls(records)

    def _numbered(self, batch: Sequence[PageRecord]) -> list[PageRecord]:
        """Give the latest records their numbers, and the numbers and URLs of their originals."""
        records = []
        for page, record in zip(self._numbers[-len(batch) :], batch, strict=True):
            original = record.original or 0
            original = self._numbers[original - _TO_COME] if original >= _TO_COME else original
            records.append(record._replace(page=page, original=original))
        earlier = {each.original or 0 for each in records if not each.is_kept}
        # Records of this batch come last: the server may have others under their numbers still.
        originals = [*self._reader.records(sorted(earlier - {0})), *records]
        keys = {each.page: each.url_key for each in originals}
        return [
            each if each.is_kept else each._replace(canonical_key=keys.get(each.original or 0))
            for each in records
        ]
