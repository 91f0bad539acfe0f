"""Records of pages <-> keys of a shared index, beside those of the log.

    record of a committed page   a key of its own; the page's number chooses the slot
    record of a pending page     a field of one hash in the slot of the log, written by `index.lua`
                                 when it appends the page

On one server the step that commits a page writes its record, too. On a cluster the record is
written by a call before that step, so that each page that others see committed has one. If the
step then finds that the page is no longer pending, its number may belong to another page, whose
record was written over: that record is put back.

Only the log tells whether a page is there: the record of one that is gone can be left over.

A record is 54 bytes of fixed fields, little-endian, the sketch, then language, reason, h1, title
and URL as lines of UTF-8. Never change it without another format number.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import get_args

from dedup_filter.errors import StoreCorrupt
from dedup_filter.fingerprints import is_sketch
from dedup_filter.model import Outcome
from dedup_filter.pages.directory import Judged, PageRecord
from dedup_filter.pages.directory.records import host_of
from dedup_filter.pages.redis.connection import Connection
from dedup_filter.text import Headline

__all__ = ["SharedRecords", "pack_record", "unpack_record"]

_AT_ONCE = 1_000
_VERSION = 2
_FIXED = struct.Struct("<BBBBfIIIIIQ16sH")
_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_NONE = 255


class SharedRecords:
    """The records by the numbers of their pages; committed ones last so many seconds.

    Cost: a call each, two on a cluster to commit and if records are missing.
    """

    def __init__(self, connection: Connection, seconds: int | None = None) -> None:
        self.connection = connection
        self._keys = connection.keys
        self._flight = connection.keys.named("flight")
        self._seconds = seconds

    def records(self, pages: Sequence[int]) -> Iterator[PageRecord]:
        """Yield the records of pages in their order, pending ones too; of some there is none.

        Of one that is not pending here, the events that come later tell whether it is gone.

        Raises:
            StoreCorrupt: one is damaged.
        """
        for at in range(0, len(pages), _AT_ONCE):
            some = pages[at : at + _AT_ONCE]
            found = self._packed(some)
            missing = [page for page in some if page not in found]
            if missing and self.connection.address.is_cluster:
                # Nodes answer in any order. One that was looked for here, then committed, and then
                # looked for among those in flight, is here by now.
                found.update(self._packed(missing))
            for page in some:
                if page in found:
                    yield self._unpacked(page, *found[page])

    def in_flight(self) -> set[int]:
        """Return the pages that are pending, here or elsewhere."""
        return set(map(int, self.connection.ask("HKEYS", self._flight)))

    def is_pending(self, number: int) -> bool:
        """Tell whether a page is pending, here or elsewhere."""
        return bool(self.connection.ask("HEXISTS", self._flight, number))

    def commit(self, process: str, number: int, record: PageRecord, replaced: int = 0) -> bool:
        """Keep a page for good that a process has pending, in the place of another one if given.

        False: the process has no such page pending, and nothing was done.
        """
        packed, (name, seconds) = pack_record(record), self.for_script(number)
        before = b"" if name else self.put(number, record) or b""
        told = number, replaced, packed, name, seconds
        is_done = bool(self.connection.run("commit", process, *told))
        if not is_done and not name:
            self.connection.run("put_back", packed, before, seconds, key=self._keys.page(number))
        return is_done

    def remove(self, pages: Sequence[int]) -> None:
        """Delete the records of pages that are gone."""
        for at in range(0, len(pages), _AT_ONCE):
            names = map(self._keys.page, pages[at : at + _AT_ONCE])
            self.connection.ask_all(("UNLINK", name) for name in names)

    def put(self, number: int, record: PageRecord) -> bytes | None:
        """Write the record of a page that is, or soon will be, committed; return the one before."""
        name, packed = self._keys.page(number), pack_record(record)
        before: bytes | None = self.connection.call(
            lambda client: client.set(name, packed, ex=self._seconds, get=True)
        )
        return before

    def for_script(self, number: int) -> tuple[str, int | str]:
        """Return the key of a record that a step of the log can set, and for how many seconds.

        On a cluster it is in another slot, and the key is "". Of a record without end so are the
        seconds.
        """
        name = "" if self.connection.address.is_cluster else self._keys.page(number)
        return name, self._seconds or ""

    def _packed(self, pages: Sequence[int]) -> dict[int, tuple[bytes, bool]]:
        """Return the records of some pages, and whether they are pending."""
        names = map(self._keys.page, pages)
        commands = ("HMGET", self._flight, *pages), *(("GET", name) for name in names)
        in_flight, *committed = self.connection.ask_all(commands)
        return {
            page: (pending or kept, pending is not None)
            for page, pending, kept in zip(pages, in_flight, committed, strict=True)
            if pending is not None or kept is not None
        }

    def _unpacked(self, page: int, packed: bytes, is_pending: bool) -> PageRecord:
        try:
            return unpack_record(page, packed, is_pending)
        except ValueError as error:
            raise StoreCorrupt(f"{self.connection}: {error}") from None


def pack_record(record: PageRecord) -> bytes:
    """Write a record; the page's number and whether it is pending are not in it.

    Raises:
        struct.error: a number of it has no room.
    """
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
        version, outcome, distance, is_long, similarity, *counts, fingerprint, digest, size = fixed
        words, *seen = counts
        rest = packed[_FIXED.size :]
        sketch, text = rest[:size], rest[size:].decode("utf-8", "surrogatepass")
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
    measured = digest, fingerprint if is_long else None, sketch, words, language or None
    told = *measured, *seen, is_pending, judged, Headline(h1, title)
    return PageRecord._make((page, url, host_of(url), *told))
