"""Records of pages on servers: their format and their keys.

    committed page   a key of its own; the page's number chooses the slot
    URL              the numbers of kept pages there, pending too; only if URLs are looked up
    pending page     a field of one hash, written by `index.lua` with the page's event

Only the log decides whether a page exists: the record of a deleted page can be left over, and its
number at its URL.

On one server the script call that commits a page also writes its record. On a cluster the record is
written before the call, so that every committed page has a record. If the call finds that the page
is no longer pending, the number may belong to another page by now, whose record is put back.

A revisit has the record of the page that it replaces as its `original` until it is committed.

Never change the format of records without another format number (docs/formats.md).
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, get_args

from dedup_filter.errors import StoreCorrupt
from dedup_filter.fingerprints.sketch import is_sketch
from dedup_filter.model import Outcome
from dedup_filter.store.records import PageRecord
from dedup_filter.store.redis.connection import Connection
from dedup_filter.text.page_url import host_of, url_key

FORMAT: Final = 5

_VERSION = 5
_FIXED = struct.Struct("<BBBBfIIIIIQ16s32sH")
_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_NONE = 255
_AT_ONCE = 1_000


def pack_record(record: PageRecord) -> bytes:
    """Pack a record, without the page's number and whether the page is pending.

    94 bytes of fixed fields, little-endian, the sketch, then lines of UTF-8: language, reason, the
    number of a dropped page's original, the canonical key in hexadecimal, h1, title, URL.

    Raises:
        ValueError: a number or a time in the record exceeds its field.
    """
    distance = _NONE if record.distance is None else record.distance
    similarity = -1.0 if record.similarity is None else record.similarity
    judged = _OUTCOMES.index(record.outcome), distance, record.fingerprint is not None, similarity
    seen = record.first_seen, record.last_seen, record.first_crawl, record.crawl
    measured = record.fingerprint or 0, record.digest, record.keys, len(record.sketch)
    try:
        fixed = _FIXED.pack(_VERSION, *judged, record.words, *seen, *measured)
    except struct.error:
        where = "for which an index on a server has no room"
        raise ValueError(f"has a number or a time {where}") from None
    is_of_none = record.is_kept or record.original is None
    original = "" if is_of_none else str(record.original)
    named = "" if record.canonical_key is None else f"{record.canonical_key:x}"
    # The URL comes last because it may contain line ends.
    lines = [record.language or "", record.reason or "", original, named]
    lines += [record.h1, record.title]
    text = "\n".join([*(line.replace("\n", " ") for line in lines), record.url])
    return fixed + record.sketch + text.encode("utf-8", "surrogatepass")


def unpack_record(page: int, packed: bytes, is_pending: bool) -> PageRecord:
    """Unpack a record that `pack_record` packed.

    Raises:
        ValueError: the bytes are damaged or of another version.
    """
    try:
        fixed = _FIXED.unpack_from(packed)
        version, outcome, distance, is_long, similarity, words, *seen, value, digest, keys, size = (
            fixed
        )
        rest = packed[_FIXED.size :]
        sketch, text = rest[:size], rest[size:].decode("utf-8", "surrogatepass")
        language, reason, number, named, h1, title, url = text.split("\n", 6)
        original = int(number) if number else None
        canonical_key = int(named, 16) if named else None
        judged = _OUTCOMES[outcome], reason or None, original
    except (struct.error, IndexError, ValueError) as error:
        raise ValueError(f"the record of page {page} is damaged") from error
    if version != _VERSION or not is_sketch(sketch):
        raise ValueError(f"the record of page {page} is damaged, or of version {version}")
    measured = digest, value if is_long else None, sketch, words, language or None
    compared = None if distance == _NONE else distance, None if similarity < 0 else similarity
    rest_of_fields = is_pending, *judged, *compared, h1, title, canonical_key
    keys = keys if any(keys) else b""
    return PageRecord._make(
        (page, url, url_key(url), host_of(url), *measured, *seen, *rest_of_fields, keys, b"")
    )


def replaced_by(record: PageRecord) -> int:
    """Return the page that a commit replaces, recorded at an earlier visit; 0: none."""
    return (record.original or 0) if record.is_kept else 0


class SharedRecords:
    """The records by page number; records of committed pages expire after `seconds`.

    `by_url`: whether pages can be found at their URLs. Cost: one call for each method; on a cluster
    two to commit, and two if records are missing; with `by_url` two to remove.
    """

    def __init__(
        self, connection: Connection, seconds: int | None = None, *, by_url: bool = False
    ) -> None:
        self.connection = connection
        self.by_url = by_url
        self._flight = connection.key("flight")
        self.seconds = seconds

    def records(self, pages: Sequence[int]) -> Iterator[PageRecord]:
        """Yield the records of pages in their order, pending ones too; skip missing records.

        Raises:
            StoreCorrupt: a record is damaged.
        """
        for at in range(0, len(pages), _AT_ONCE):
            some = pages[at : at + _AT_ONCE]
            found = self._packed(some)
            missing = [page for page in some if page not in found]
            if missing and self.connection.address.is_cluster:
                # Nodes answer in any order. If a page was committed after its key was read and
                # before the pending pages were read, its record is under its key by now.
                found.update(self._packed(missing))
            try:
                yield from [unpack_record(page, *found[page]) for page in some if page in found]
            except ValueError as error:
                raise StoreCorrupt(f"{self.connection}: {error}") from None

    def in_flight(self) -> set[int]:
        """Return the pages that are pending in any process."""
        return set(map(int, self.connection.ask("HKEYS", self._flight)))

    def is_pending(self, number: int) -> bool:
        """Return whether a page is pending in any process."""
        return bool(self.connection.ask("HEXISTS", self._flight, number))

    def commit(self, process: str, number: int, record: PageRecord) -> bool:
        """Commit a pending page of a process, in place of its original if there is one."""
        packed, (name, seconds) = pack_record(record), self.for_script(number)
        before = b"" if name else self.put(number, packed) or b""
        event = number, replaced_by(record), packed, name, seconds
        is_done = bool(self.connection.run("commit", process, *event))
        if not is_done and not name:
            self.connection.run(
                "put_back", packed, before, seconds, key=self.connection.page_key(number)
            )
        return is_done

    def remove(self, pages: Sequence[int]) -> None:
        """Delete the records of deleted pages, and their numbers at their URLs."""
        for at in range(0, len(pages), _AT_ONCE):
            some = pages[at : at + _AT_ONCE]
            at_urls = self._at_urls("SREM", self.records(some if self.by_url else []))
            names = map(self.connection.page_key, some)
            self.connection.ask_all([*at_urls, *(("UNLINK", name) for name in names)])

    def pages_at(self, key: int) -> list[int]:
        """Return the kept pages at a URL, by its key, ascending; others may be among them."""
        found = self.connection.ask("SMEMBERS", self.connection.url_key(key))
        return sorted(map(int, found))

    def add_at_urls(self, records: Iterable[PageRecord]) -> None:
        """Add the numbers of kept pages to their URLs, if pages can be found there."""
        added = self._at_urls("SADD", records)
        expiries = [("EXPIRE", name, self.seconds) for _, name, _ in added if self.seconds]
        self.connection.ask_all([*added, *expiries])

    def remove_at_urls(self, records: Iterable[PageRecord]) -> None:
        """Remove the numbers of pages from their URLs."""
        self.connection.ask_all(self._at_urls("SREM", records))

    def _at_urls(self, command: str, records: Iterable[PageRecord]) -> list[tuple[str, str, int]]:
        return [
            (command, self.connection.url_key(each.url_key), each.page)
            for each in records
            if self.by_url and each.is_kept
        ]

    def put(self, number: int, packed: bytes) -> bytes | None:
        """Write the record of a page committed now or soon; return the previous record."""
        before: bytes | None = self.connection.call(
            lambda client: client.set(
                self.connection.page_key(number), packed, ex=self.seconds, get=True
            )
        )
        return before

    def for_script(self, number: int) -> tuple[str, int | str]:
        """Return the key of a record that a script on the log can set, and its life in seconds.

        On a cluster the key is "", because the record is in another slot. No expiry: "" seconds.
        """
        name = "" if self.connection.address.is_cluster else self.connection.page_key(number)
        return name, self.seconds or ""

    def _packed(self, pages: Sequence[int]) -> dict[int, tuple[bytes, bool]]:
        commands = [("GET", self.connection.page_key(page)) for page in pages]
        in_flight, *committed = self.connection.ask_all(
            [("HMGET", self._flight, *pages), *commands]
        )
        return {
            page: (pending or kept, pending is not None)
            for page, pending, kept in zip(pages, in_flight, committed, strict=True)
            if pending is not None or kept is not None
        }
