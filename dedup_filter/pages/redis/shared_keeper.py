"""A shared index, changed by who takes no part in it: records are put back, what is left is mended.

    release_lapsed   pages that dead processes had pending
    take_out         pages, for all processes
    delete_records   of pages that are gone
    trim             the log, of chunks that tell of no page
    SharedKeeper     records of another index, as they are: nothing is judged, no crawl is begun

Crawlers may be at work: each is one step of a script, which does nothing to another log than was
read.

A record is put back under the number that the next event will have, and then that event is added,
if there are as many before as there were; otherwise the records are written anew, under other
numbers. So a page that processes can see has its record, whatever others do meanwhile; a record
without an event, left by who was killed between the two, is overwritten by the page that gets its
number. Cost: a call for 256 records, one for their events.
"""

import secrets
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from time import time as now
from typing import Any

from dedup_filter.errors import StoreBusy, StoreError
from dedup_filter.pages.directory import PageRecord, Scheme
from dedup_filter.pages.directory.records import Crawl, host_of
from dedup_filter.pages.expiry import expiry_seconds
from dedup_filter.pages.redis.connection import Connection, connected
from dedup_filter.pages.redis.formats import FORMAT, entry_of
from dedup_filter.pages.redis.joining import refuse
from dedup_filter.pages.redis.process import LEASE
from dedup_filter.pages.redis.records import pack_record
from dedup_filter.pages.redis.replica import LoggedPages
from dedup_filter.pages.redis.shared_reader import SharedReader

__all__ = ["SharedKeeper", "delete_records", "release_lapsed", "take_out", "trim"]

_BATCH = 256
_NOT_KNOWN_YET = 0
_OTHER_LOG = -1


def release_lapsed(reader: SharedReader) -> int:
    """Release what processes have pending whose lease is over; return how many pages that were."""
    lapsed = reader.processes(alive=False)
    pages = reader.owned(lapsed) & reader.in_flight()
    for process in lapsed:
        reader.connection.run("leave", process)
    return len(pages)


def take_out(reader: SharedReader, log: LoggedPages, pages: Sequence[int]) -> None:
    """Take pages out for good, pending ones too."""
    for at in range(0, len(pages), _BATCH):
        some = pages[at : at + _BATCH]
        _change(reader, log, "remove", *some)
        delete_records(reader, some)


def delete_records(reader: SharedReader, pages: Iterable[int]) -> None:
    """Delete the records of pages that are gone."""
    names = list(map(reader.connection.keys.page, pages))
    for at in range(0, len(names), _BATCH):
        reader.connection.ask_each("UNLINK", names[at : at + _BATCH])


def trim(reader: SharedReader, log: LoggedPages) -> None:
    """Delete the first chunks of the log as far as they tell of no page."""
    _change(reader, log, "trim", log.first_chunk)


def _change(reader: SharedReader, log: LoggedPages, function: str, *arguments: int) -> None:
    so_far = reader.identity, log.end, log.last
    if reader.connection.run(function, *so_far, *arguments) == _OTHER_LOG:
        raise StoreError(
            f"{reader.connection}: a server has lost a part of it meanwhile; try again"
        )


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
        def put(client: Any) -> None:
            with client.pipeline(transaction=False) as pipe:
                for number, (record, packed) in enumerate(batch, length + 1):
                    pipe.set(
                        self._connection.keys.page(number), packed, ex=self._seconds_left(record)
                    )
                pipe.execute()

        self._connection.call(put)

    def _seconds_left(self, record: PageRecord) -> int | None:
        """Return after how many seconds a page is to be forgotten; None: never."""
        if self._expire_seconds is None:
            return None
        return max(0, self._expire_seconds - int(now()) + record.last_seen)
