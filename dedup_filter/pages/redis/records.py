"""Records of pages and lessons of hosts <-> keys of a shared index, beside those of the log.

    record of a committed page   a key of its own; the page's number chooses the slot
    record of a pending page     a field of one hash in the slot of the log, written by `index.lua`
                                 when it appends the page
    lessons of a host            a list of bounded length; the host chooses the slot; it is gone
                                 some time after the last lesson was added

On one server the step that commits a page writes its record, too. On a cluster the record is
written by a call before that step, so that each page that others see committed has one. If the
step then finds that the page is no longer pending, its number may belong to another page, whose
record was written over: that record is put back.

Only the log tells whether a page is there: the record of one that is gone can be left over.

A record is 54 bytes of fixed fields, little-endian, the sketch, then language, reason, h1, title
and URL as lines of UTF-8. Never change it without another format number. A lesson is bytes.
"""

import struct
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Any, Final, get_args

from dedup_filter.errors import StoreCorrupt
from dedup_filter.fingerprints import is_sketch
from dedup_filter.model import Outcome
from dedup_filter.pages.directory import Judged, PageRecord
from dedup_filter.pages.directory.records import host_of
from dedup_filter.pages.expiry import expiry_seconds
from dedup_filter.pages.redis.connection import Connection
from dedup_filter.text import Headline

__all__ = [
    "MOST_LESSONS",
    "Commit",
    "LessonLists",
    "SharedRecords",
    "pack_record",
    "unpack_record",
]

MOST_LESSONS: Final = 32
"""Of a host: more bring nothing (docs/decisions)."""
_LESSON_DAYS = 30
"""For which a list lasts without `expire_days`."""

_VERSION = 2
_FIXED = struct.Struct("<BBBBfIIIIIQ16sH")
_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_NONE = 255


class Commit(IntEnum):
    """What became of a commit."""

    NOT_PENDING = 0
    """The page was not pending here: it was committed before, or its lease was over."""
    DONE = 1
    FORGOTTEN = 2
    """Another process has forgotten the page."""


class SharedRecords:
    """The records by the numbers of their pages; committed ones last so many seconds.

    Cost: a call each, two on a cluster to commit and if records are missing.
    """

    def __init__(self, connection: Connection, seconds: int | None = None) -> None:
        self._connection = connection
        self._keys = connection.keys
        self._seconds = seconds

    def read(self, numbers: Sequence[int]) -> dict[int, PageRecord]:
        """Read the records of some pages, in their order; those that are gone are left out.

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
                number: unpack_record(number, *found[number])
                for number in numbers
                if number in found
            }
        except ValueError as error:
            raise StoreCorrupt(f"{self._connection}: {error}") from None

    def pending(self) -> set[int]:
        """Return the pages that are pending, here or elsewhere."""
        name = self._keys.named("flight")
        return set(map(int, self._connection.call(lambda client: client.hkeys(name))))

    def is_pending(self, number: int) -> bool:
        """Tell whether a page is pending, here or elsewhere."""
        name = self._keys.named("flight")
        return bool(self._connection.call(lambda client: client.hexists(name, number)))

    def commit(self, process: str, number: int, record: PageRecord, replaced: int = 0) -> Commit:
        """Keep a page for good that a process has pending, in the place of another one if given."""
        packed, where = pack_record(record), self.for_script(number)
        before = None if where[0] else self.put(number, record)
        done = Commit(self._connection.run("commit", process, number, replaced, packed, *where))
        if done is not Commit.DONE and not where[0]:
            given = packed, before or b"", self._seconds or ""
            self._connection.run("put_back", *given, key=self._keys.page(number))
        return done

    def remove(self, numbers: Iterable[int]) -> None:
        """Delete the records of pages that are gone."""
        self._connection.ask_each("UNLINK", map(self._keys.page, numbers))

    def put(self, number: int, record: PageRecord) -> bytes | None:
        """Write the record of a page that is, or soon will be, committed; return the one before."""
        name, packed = self._keys.page(number), pack_record(record)
        before: bytes | None = self._connection.call(
            lambda client: client.set(name, packed, ex=self._seconds, get=True)
        )
        return before

    def for_script(self, number: int) -> tuple[str, int | str]:
        """Return the key of a record that a step of the log can set, and for how many seconds.

        On a cluster it is in another slot, and the key is "". Of a record without end so are the
        seconds.
        """
        name = "" if self._connection.address.is_cluster else self._keys.page(number)
        return name, self._seconds or ""

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


class LessonLists:
    """The lists of lessons on the servers, as one process reads and writes them.

    Cost: a call each.
    """

    def __init__(self, connection: Connection, process: bytes, seconds: int | None) -> None:
        self.process = process
        """8 bytes that no other process has."""
        self._connection = connection
        self._seconds = expiry_seconds(_LESSON_DAYS) if seconds is None else seconds

    def read(self, host: str, first: int) -> list[bytes]:
        """Return the lessons of a host from the one with this number on, counted from 0."""
        name = self._connection.keys.frame(host)
        found: list[bytes] = self._connection.call(lambda client: client.lrange(name, first, -1))
        return found

    def add(self, host: str, lesson: bytes) -> int:
        """Add a lesson to the list of a host, unless it is full; return how many there are now."""
        name = self._connection.keys.frame(host)
        return int(self._connection.run("teach", lesson, MOST_LESSONS, self._seconds, key=name))


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


def unpack_record(page: int, packed: bytes, is_pending: bool) -> PageRecord:
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
