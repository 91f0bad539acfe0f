"""Reads, restores and repairs a shared index without joining a crawl.

A reader joins no crawl, holds no lease and makes no index where there is none; servers that take no
writes can be read too. Crawlers may be running: each call sees the index at its own moment.

    all records              a scan of the servers' keys, then 1,000 records a call
    records of another index -> records under new numbers, and their entries: 256 in a call

Keys that are scanned while slots move may be seen twice, or not.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from dedup_filter.config import expiry_seconds
from dedup_filter.errors import ConfigError, StoreBusy
from dedup_filter.frames.host_frames import Host
from dedup_filter.store.protocol import Waiting
from dedup_filter.store.records import Crawl, PageRecord, Scheme
from dedup_filter.store.redis.connection import Address, Command, Connection, closed_if_it_fails
from dedup_filter.store.redis.frames import FrameLists
from dedup_filter.store.redis.layout import Layout
from dedup_filter.store.redis.process import LEASE, new_index, new_numbers, read_meta, refuse
from dedup_filter.store.redis.records import TOKEN_BYTES, Head
from dedup_filter.store.redis.shared_records import SharedRecords
from dedup_filter.text.page_url import host_of, url_key

if TYPE_CHECKING:
    from typing_extensions import Self


class SharedReader(SharedRecords):
    """A shared index, read only.

    Raises:
        ConfigError: there is no index, or other keys have its name.
        StoreTooNew: the format of the index is newer.
    """

    def __init__(self, connection: Connection) -> None:
        self._meta = read_meta(connection)
        if not self._meta:
            raise ConfigError(
                f"there is no index at {connection.address}: look at the address and the name"
            )
        self.identity = self._meta.get(b"id", b"").decode()
        """The unique name of this index; an index made anew has another name."""
        self.options: dict[str, Any] = json.loads(self._meta.get(b"options", b"{}"))
        """The shared options of the process that joined last."""
        days = self.options.get("expire_days")
        seconds = None if days is None else expiry_seconds(days)
        has_tables = self._meta[b"tables"] == b"1"
        layout = Layout(int(self._meta[b"bits"]), has_tables=has_tables)
        super().__init__(connection, layout, seconds)

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
        """List the crawls in their order; one with a process at work, or killed, has not ended."""
        called = {number: name for name, number in self.connection.counts("crawls").items()}
        begun, ended = (
            {int(n): moment for n, moment in self.connection.counts(name).items()}
            for name in ("started", "ended")
        )
        for of_crawl in self._processes().values():
            ended.pop(int(of_crawl.split()[0]), None)
        last = max([int(self._meta.get(b"crawl", 0)), *called, *begun])
        return [Crawl(n, called.get(n), begun.get(n, 0), ended.get(n)) for n in range(1, last + 1)]

    def processes(self) -> list[str]:
        """Return the processes whose lease runs."""
        key, known = self.connection.key, [name.decode() for name in self._processes()]
        alive = self.connection.ask_all([("EXISTS", key(f"process:{name}")) for name in known])
        return [name for name, is_alive in zip(known, alive, strict=True) if is_alive]

    def _processes(self) -> dict[bytes, bytes]:
        """Return process -> its crawl and options, of all that have not left."""
        found: dict[bytes, bytes] = self.connection.ask("HGETALL", self.connection.key("processes"))
        return found


class SharedKeeper:
    """Writes records of another index to a shared one. If a call fails, the last may be missing."""

    def __init__(self, connection: Connection, scheme: Scheme) -> None:
        self._connection = connection
        made, _ = connection.run("join", *new_index(connection, scheme))
        if not made:
            refuse(connection, scheme)
        self._reader = SharedReader(connection)
        self._frames = FrameLists(connection, self._reader.seconds)
        self._commands: list[Command] = []
        """The commands that write the records whose numbers were taken together."""
        self._numbers = range(0)

    @classmethod
    def open(cls, location: str, scheme: Scheme) -> "SharedKeeper":
        """Open the index at an address; make it if there is none. Raises as `refuse` does."""
        connection = Connection(Address.of(location))
        with closed_if_it_fails(connection):
            return cls(connection, scheme)

    def records(self) -> Iterator[PageRecord]:
        """Yield the records of all pages that are not pending."""
        return (each for each in self._reader.all_records() if not each.is_pending)

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
        left = None
        if (seconds := self._reader.seconds) is not None:
            left = seconds - self._reader.age(record.last_seen)
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
        self._commands.append(reader.put(head, record, left))
        self._commands += reader.adds(record.page, reader.keys_of(record))
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
