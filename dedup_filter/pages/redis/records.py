"""The records of an index's pages, on servers: as bytes, and read, written and removed by number.

    committed   a key of its own, spread over the slots of a cluster by the number
    pending     a field of one hash, in the slot of the log, written by the script (`shared_log`)

One server has both, and then the step that commits a page writes its record, too. On a cluster that
is a call before: a page that others can see has its record. If the page is then found not to be
pending, its number may be that of another page by now, whose record was written over: that is put
back. Whether a page is there is told by the log alone: a record can be left of one that is gone.

A record is 54 bytes of fixed fields, little-endian, the sketch, then language, reason, h1, title
and URL as lines of UTF-8. Never change it without another format number.

Cost: a call, two on a cluster if records are missing.
"""

import struct
from collections.abc import Iterable, Sequence
from typing import Any, get_args

from dedup_filter.errors import StoreCorrupt
from dedup_filter.fingerprints import is_sketch
from dedup_filter.model import Outcome
from dedup_filter.pages.directory import PageRecord
from dedup_filter.pages.directory.records import Judged
from dedup_filter.pages.directory.url_key import host_of
from dedup_filter.pages.redis.connection import Connection
from dedup_filter.pages.redis.formats import Keys
from dedup_filter.text import Headline

__all__ = ["SharedRecords", "pack_record", "unpack_record"]

_VERSION = 2
_FIXED = struct.Struct("<BBBBfIIIIIQ16sH")
_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_NONE = 255


class SharedRecords:
    """The records, as one process of the index reads and writes them.

    Raises:
        StoreError: by all methods, when the servers cannot be reached or refuse.
    """

    def __init__(self, connection: Connection, expire_seconds: int | None = None) -> None:
        self._connection = connection
        self._keys = Keys(connection.address.name)
        self._expire_seconds = expire_seconds

    def read(self, numbers: Sequence[int]) -> dict[int, PageRecord]:
        """Read the records of some pages; those that are gone are left out.

        Of one that is not pending here, the events that come later tell whether it is gone.

        Raises:
            StoreCorrupt: one is damaged.
        """
        if not numbers:
            return {}
        found = self._packed(numbers)
        missing = [number for number in numbers if number not in found]
        if missing and self._connection.address.is_cluster:
            # Nodes answer in any order. One that was looked for here, then committed, and then
            # looked for among those in flight, is here by now.
            found.update(self._packed(missing))
        try:
            return {
                number: unpack_record(number, packed, is_pending=is_pending)
                for number, (packed, is_pending) in found.items()
            }
        except ValueError as error:
            raise StoreCorrupt(f"the shared index {self._connection.address}: {error}") from None

    def put(self, number: int, record: PageRecord) -> bytes | None:
        """Write the record of a page that is, or soon will be, committed; return the one before."""
        packed, name = pack_record(record), self._keys.page(number)
        before: bytes | None = self._connection.call(
            lambda client: client.set(name, packed, ex=self._expire_seconds, get=True)
        )
        return before

    def put_first(self, number: int, record: PageRecord) -> bytes | None:
        """Do `put` where a step of the log cannot; return the record that was there before."""
        return self.put(number, record) if self._connection.address.is_cluster else None

    def put_back(self, number: int, record: PageRecord, before: bytes | None) -> None:
        """Undo `put_first`, unless another process has put a record since."""
        if self._connection.address.is_cluster:
            given = pack_record(record), before or b"", self._expire_seconds or ""
            self._connection.run("put_back", self._keys.page(number), *given)

    def for_script(self, number: int) -> tuple[str, int | str]:
        """Return the key of a record that a step of the log can set, and for how many seconds.

        On a cluster it is in another slot, and the key is "". Of a record without end so are the
        seconds.
        """
        name = "" if self._connection.address.is_cluster else self._keys.page(number)
        return name, self._expire_seconds or ""

    def remove(self, numbers: Iterable[int]) -> None:
        """Delete the records of pages that are gone."""
        self._connection.ask_each("UNLINK", list(map(self._keys.page, numbers)))

    def _packed(self, numbers: Sequence[int]) -> dict[int, tuple[bytes, bool]]:
        """Return the records of some pages, and whether they are pending."""
        flight = self._keys.named("flight")

        def read(client: Any) -> list[Any]:
            with client.pipeline(transaction=False) as pipe:
                pipe.hmget(flight, numbers)
                for number in numbers:
                    pipe.get(self._keys.page(number))
                return list(pipe.execute())

        in_flight, *committed = self._connection.call(read)
        found = {
            number: (pending or kept, pending is not None)
            for number, pending, kept in zip(numbers, in_flight, committed, strict=True)
        }
        return {number: each for number, each in found.items() if each[0] is not None}


def pack_record(record: PageRecord) -> bytes:
    """Write a record; the page's number and whether it is pending are not in it."""
    judged = record.judged
    fixed = _FIXED.pack(
        _VERSION,
        _OUTCOMES.index(judged.outcome),
        _NONE if judged.distance is None else judged.distance,
        record.fingerprint is not None,
        -1.0 if judged.similarity is None else judged.similarity,
        record.words,
        record.first_seen,
        record.last_seen,
        record.first_crawl,
        record.crawl,
        record.fingerprint or 0,
        record.digest,
        len(record.sketch),
    )
    # The URL comes last: it may have line ends in it.
    lines = [record.language or "", judged.reason or "", *record.headline]
    text = "\n".join([*(line.replace("\n", " ") for line in lines), record.url])
    return fixed + record.sketch + text.encode("utf-8", "surrogatepass")


def unpack_record(page: int, packed: bytes, *, is_pending: bool) -> PageRecord:
    """Read what `pack_record` wrote.

    Raises:
        ValueError: it wrote something else.
    """
    try:
        fixed = _FIXED.unpack_from(packed)
        version, outcome, distance, is_long, similarity, words = fixed[:6]
        first_seen, last_seen, first_crawl, crawl = fixed[6:10]
        fingerprint, digest, sketch_size = fixed[10:]
        rest = packed[_FIXED.size :]
        sketch, text = rest[:sketch_size], rest[sketch_size:].decode("utf-8", "surrogatepass")
        language, reason, h1, title, url = text.split("\n", 4)
        judged = Judged(
            _OUTCOMES[outcome],
            reason or None,
            None,
            None if distance == _NONE else distance,
            None if similarity < 0 else similarity,
        )
    except (struct.error, IndexError, ValueError) as error:
        raise ValueError(f"the record of page {page} is damaged") from error
    if version != _VERSION or not is_sketch(sketch):
        raise ValueError(f"the record of page {page} is damaged, or of version {version}")
    return PageRecord(
        page,
        url,
        host_of(url),
        digest,
        fingerprint if is_long else None,
        sketch,
        words,
        language or None,
        first_seen,
        last_seen,
        first_crawl,
        crawl,
        is_pending,
        judged,
        Headline(h1, title),
    )
