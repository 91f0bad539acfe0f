"""Upkeep of a shared index: it joins no crawl, and holds no lease.

    all records              a scan of the servers' keys, then 1,000 records a call
    records of another index -> records under new numbers, and their entries: 256 in a call

Crawlers may be running: each step is correct whatever they do, and sees the index at its own
moment. Keys that are scanned while slots move may be seen twice, or not. To read makes no index
where there is none, and works on servers that take no writes.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from itertools import islice
from math import inf
from time import sleep
from typing import TYPE_CHECKING, Any

import numpy as np

from dedup_filter.config import expiry_seconds
from dedup_filter.errors import ConfigError, StoreBusy, StoreCorrupt
from dedup_filter.fingerprints.sketch import KEYS, KEYS_BYTES
from dedup_filter.frames.host_frames import Host
from dedup_filter.store.key_table import short_keys
from dedup_filter.store.protocol import Entries, KeptContent, Waiting
from dedup_filter.store.records import Crawl, PageRecord, Scheme
from dedup_filter.store.redis.connection import Address, Command, Connection, closed_if_it_fails
from dedup_filter.store.redis.frames import FrameLists
from dedup_filter.store.redis.layout import Layout
from dedup_filter.store.redis.process import (
    LEASE,
    new_index,
    new_numbers,
    read_meta,
    refuse,
    totals_of,
)
from dedup_filter.store.redis.records import TOKEN_BYTES, Head
from dedup_filter.store.redis.shared_records import SharedRecords
from dedup_filter.text.page_url import host_of, url_key
from dedup_filter.upkeep.results import Findings

if TYPE_CHECKING:
    from typing_extensions import Self

_ATTEMPTS, _PAUSE = 3, 0.2
_AT_ONCE = 1_000
_KINDS = {"records": "r", "keys": "b", "frames": "f"}
_MEASURED = 64
"""Most keys of each kind whose memory is measured."""


class ServerIndex:
    """A shared index on one or more servers, at a valid address."""

    def __init__(self, location: str) -> None:
        self.location = location

    def __str__(self) -> str:
        return str(Address.of(self.location))

    def figures(self) -> dict[str, Any]:
        """Count pages, hosts, crawls and bytes.

        `pages` and `outcomes` count records, as in a directory; pending pages are counted apart.
        `judged` are the verdicts of all processes since the index was made, which each process
        adds every second. Bytes are estimated from some keys.

        Cost: reads all records.
        """
        with RecordedServers.open(self.location) as reader:
            hosts, seen, outcomes = set[str](), list[int](), Counter[str]()
            kept = pending = 0
            for each in reader.all_records():
                pending += each.is_pending
                if not each.is_pending:
                    hosts.add(each.host)
                    seen += [each.first_seen, each.last_seen]
                    outcomes[each.outcome] += 1
                    kept += each.is_kept
            memory = {name: reader.memory(kind) for name, kind in _KINDS.items()}
            return {
                "pages": outcomes.total(),
                "kept": kept,
                "pending": pending,
                "outcomes": outcomes,
                "judged": totals_of(reader.connection),
                "hosts": len(hosts),
                "first_seen": min(seen, default=None),
                "last_seen": max(seen, default=None),
                "processes": reader.running(),
                "bytes": memory,
                "bytes_of_each_page": sum(memory.values()) // max(outcomes.total() + pending, 1),
                "expected_pages": reader.layout.expected,
                "scheme": dict(reader.scheme.parts),
                "options": reader.options,
                "crawls": [
                    {"crawl": number, "name": name, "started": started or None, "ended": ended}
                    for number, name, started, ended, _ in reader.crawls()
                ],
            }

    def check(self) -> Findings:
        """Verify that all records can be read, and that each is found by all of its keys.

        Crawlers may change a page in between, so a doubt is a fault only if it persists.
        """
        with RecordedServers.open(self.location) as reader:
            try:
                lacking = {*reader.unfound()}
                for _ in range(1, _ATTEMPTS):
                    if lacking:
                        sleep(_PAUSE)
                        lacking &= {*reader.unfound()}
            except StoreCorrupt as damage:
                return Findings([str(damage)])
            found = Findings([], [], len(reader.numbers()))
        if lacking:
            found.faults.append(
                f"{len(lacking):,} of the pages, {min(lacking)} first: not found by all of their "
                "keys: export the index, and import it under another name; the servers of an index "
                "must not evict keys (maxmemory-policy noeviction)"
            )
        return found

    def forget(self, urls: Sequence[str]) -> dict[str, int]:
        """Forget all pages at some URLs; pending pages stay."""
        with RecordedServers.open(self.location) as reader:
            forgotten = {key: reader.forget_at(key) for key in {*map(url_key, urls)}}
        return {url: forgotten[url_key(url)] for url in urls}

    def recorded(self) -> AbstractContextManager["RecordedServers"]:
        """Read the index."""
        return RecordedServers.open(self.location)

    def target(self, scheme: Scheme) -> "ServersKeeper":
        """Open the index to restore records, or make it. No crawler may be running."""
        return ServersKeeper.open(self.location, scheme)


class RecordedServers(SharedRecords):
    """A shared index, only read: see `Recorded`.

    Raises:
        ConfigError: there is no index, or other keys have its name.
        StoreTooNew: the format of the index is newer.
    """

    is_durable = True

    def __init__(self, connection: Connection) -> None:
        self._meta = read_meta(connection)
        if not self._meta:
            raise ConfigError(
                f"there is no index at {connection.address}: look at the address and the name"
            )
        self.options: dict[str, Any] = json.loads(self._meta.get(b"options", b"{}"))
        """The shared options of the process that joined last."""
        seconds = expiry_seconds(self.options.get("expire_days"))
        has_tables = self._meta[b"tables"] == b"1"
        layout = Layout(int(self._meta[b"bits"]), has_tables=has_tables)
        super().__init__(connection, layout, seconds)

    @classmethod
    @contextmanager
    def open(cls, location: str) -> Iterator["Self"]:
        """Read the index at an address."""
        with closing(Connection(Address.of(location))) as connection:
            yield cls(connection)

    @property
    def scheme(self) -> Scheme:
        """The scheme of the fingerprints."""
        return Scheme.from_json(self._meta[b"scheme"].decode())

    def crawls(self) -> list[Crawl]:
        """List the crawls in their order; one with a process at work, or killed, has not ended."""
        called = {number: name for name, number in self.connection.counts("crawls").items()}
        begun, ended = (
            {int(n): moment for n, moment in self.connection.counts(name).items()}
            for name in ("started", "ended")
        )
        for crawl_and_options in self._processes().values():
            ended.pop(int(crawl_and_options.split()[0]), None)
        last = max([int(self._meta.get(b"crawl", 0)), *called, *begun])
        return [Crawl(n, called.get(n), begun.get(n, 0), ended.get(n)) for n in range(1, last + 1)]

    def running(self) -> int:
        """Count the processes whose lease runs."""
        leases = [self.connection.key(f"process:{name.decode()}") for name in self._processes()]
        return sum(self.connection.ask_all([("EXISTS", each) for each in leases]))

    def _processes(self) -> dict[bytes, bytes]:
        """Return process -> its crawl and options, of all that have not left."""
        found: dict[bytes, bytes] = self.connection.ask("HGETALL", self.connection.key("processes"))
        return found

    def entries(self) -> Iterator[Entries]:
        """Yield the entries of all pages, in parts."""
        records = self.records()
        while part := [*islice(records, _AT_ONCE)]:
            yield _entries(part)
        yield _entries([])

    def records(self, pages: Iterable[int] | None = None) -> Iterator[PageRecord]:
        """Yield the records of all pages by ascending number; or of some pages, in their order."""
        if pages is None:
            found = self.all_records()
        else:
            views = self.views([*pages]).values()
            found = (each.record for each in views if each is not None)
        return (each for each in found if not each.is_pending)

    def content(self, record: PageRecord) -> KeptContent:
        """Return the URL of the page's original: texts are not kept."""
        return KeptContent(url_of_original=self.url_of_original(record))

    def with_text(self) -> set[int]:
        """Return an empty set: texts are not kept."""
        return set()

    def url_of_original(self, record: PageRecord) -> str | None:
        """Return the URL of a page's original; None if there is none, or if it is gone."""
        originals = [] if record.original is None else [record.original]
        return next((each.url for each in self.records(originals)), None)

    def host(self, name: str) -> Host | None:
        """Return the frame of a host by the updates that crawlers share; None: not known."""
        host = Host(name)
        updates = FrameLists(self.connection, None).all_of(name)
        for each in updates:
            host.add_page(each.counted_for(host))
        return host if updates else None

    def hosts(self) -> Iterator[Host]:
        """Yield the known frames of the hosts of all pages. Cost: a call for each host."""
        names = sorted({each.host for each in self.records()})
        return (host for host in map(self.host, names) if host is not None)

    def waiting(self, host: str) -> tuple[()]:  # noqa: ARG002
        """Return nothing: each process has its own waiting pages."""
        return ()

    def at_url(self, url: str) -> list[int]:
        """Return the pages at a URL in any spelling, the earliest first."""
        key = url_key(url)
        return [each.page for each in self.records(self.pages_at(key)) if each.url_key == key]

    def memory(self, kind: str) -> int:
        """Estimate the memory of all records, buckets or lists from a sample of keys."""
        there = self.connection.numbers(kind)
        some = there[:: -(-len(there) // _MEASURED) or 1]
        part = self.connection.part
        sizes = self.connection.ask_all([("MEMORY", "USAGE", part(kind, each)) for each in some])
        return sum(size or 0 for size in sizes) * len(there) // max(len(some), 1)


class ServersKeeper:
    """Writes records of another index to a shared one, or to a new one.

    If a call fails, the last records may be missing. Raises as `refuse` does.
    """

    def __init__(self, connection: Connection, scheme: Scheme) -> None:
        self._connection = connection
        made, _ = connection.run("join", *new_index(connection, scheme))
        if not made:
            refuse(connection, scheme)
        self._reader = RecordedServers(connection)
        self.records = self._reader.records
        self._frames = FrameLists(connection, self._reader.seconds)
        self._commands: list[Command] = []
        """The commands that write the records whose numbers were taken together."""
        self._numbers = range(0)

    @classmethod
    def open(cls, location: str, scheme: Scheme) -> "Self":
        """Open the index at an address; make it if there is none."""
        connection = Connection(Address.of(location))
        with closed_if_it_fails(connection):
            return cls(connection, scheme)

    def restore_crawl(self, crawl: Crawl) -> int:
        """Restore a crawl and return its number here.

        Raises:
            StoreBusy: a process is running; its crawl must stay the latest one.
        """
        about = crawl.number, crawl.name or "", crawl.started, crawl.ended or 0
        number = self._connection.run("restore_crawl", *about)
        if not number:
            raise StoreBusy(
                f"{self._connection}: crawlers are at work on it, and an export is put back "
                f"between crawls; one that was killed counts as at work for {LEASE} seconds"
            )
        return int(number)

    def restore(
        self,
        record: PageRecord,
        text: str | None = None,  # noqa: ARG002
        form: bytes | None = None,  # noqa: ARG002
    ) -> int | None:
        """Restore a record; return its number here. None: its page has expired.

        Raises:
            ValueError: as `pack_record` does.
        """
        left = self._reader.left(record.last_seen)
        if left <= 0:
            return None
        # A packed record has no fields for these: they come from the URL.
        record = record._replace(host=host_of(record.url), url_key=url_key(record.url))
        head = Head.of_claim(
            b"K" if record.is_kept else b"D", record.crawl.to_bytes(TOKEN_BYTES, "big")
        )
        self._numbers = self._numbers or new_numbers(self._connection)
        record = record._replace(page=self._numbers[0])
        totals, reader = self._connection.key("totals"), self._reader
        # First the keys: if it is interrupted, a key may lead to no page, but each page is found.
        self._commands += reader.adds(record.page, reader.layout.keys_of_record(record))
        self._commands.append(reader.put(head, record, None if left == inf else int(left)))
        self._commands.append(("HINCRBY", totals, record.outcome, 1))
        self._numbers = self._numbers[1:]
        if not self._numbers:
            self._write()
        return record.page

    def restore_host(self, host: Host, waiting: Sequence[Waiting]) -> bool:  # noqa: ARG002
        """Restore the frame of a host, but no waiting pages; False: the index knows the host."""
        return self._frames.restore(host)

    def close(self) -> None:
        """Write the rest of the batch, and close the connections."""
        with closing(self._connection):
            self._write()

    def _write(self) -> None:
        # They are never sent again after a fault: they may have come through, and the answer lost.
        commands, self._commands = self._commands, []
        self._connection.ask_all(commands)


def _entries(records: Sequence[PageRecord]) -> Entries:
    prints = [each.fingerprint for each in records]
    keys = b"".join(each.keys or bytes(KEYS_BYTES) for each in records)
    return Entries(
        np.array([each.page for each in records], np.int64),
        np.array([each.is_kept for each in records], np.bool_),
        np.array([each is not None for each in prints], np.bool_),
        np.array([each or 0 for each in prints], np.uint64),
        np.array([int.from_bytes(each.digest[:8], "little") for each in records], np.uint64),
        np.array([each.url_key for each in records], np.uint64),
        short_keys(keys).reshape(-1, KEYS),
    )
