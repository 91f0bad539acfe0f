"""The records and buckets of a shared index, without claims: read, revised, deleted.

    numbers                 -> records with their heads, in one round trip for 1,000
    keys                    -> buckets
    record of a kept page   -> other measures: new entries, compare-and-set, old entries
                            -> deleted, with its entries

Records seen last before `seconds` ago are gone, if a bound is given.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from time import time as now
from typing import NamedTuple

from dedup_filter.errors import StoreCorrupt
from dedup_filter.store.records import PageRecord
from dedup_filter.store.redis.calls import Calls
from dedup_filter.store.redis.connection import Command, Connection
from dedup_filter.store.redis.layout import (
    MOST_OF_KEY,
    Key,
    Layout,
    entry_of,
    found_in,
    url_key,
)
from dedup_filter.store.redis.records import (
    HEAD_BYTES,
    SUMMARY_BYTES,
    Head,
    last_seen_in,
    pack_record,
    unpack_record,
)

_AT_ONCE = 1_000
_DELETED_AT_ONCE, _CHECKED_AT_ONCE = 100, 64
_DROPPED = b"D"
_SETTLED = (b"K", _DROPPED)
DONE = 1
"""The answer of `swap` if the head was the expected one."""


class View(NamedTuple):
    """A record as it was read."""

    head: Head
    record: PageRecord


class SharedRecords:
    """The records of an index; `seconds`: how long pages are kept, None without end."""

    def __init__(self, connection: Connection, layout: Layout, seconds: int | None) -> None:
        self.connection, self.layout, self.seconds = connection, layout, seconds
        self.calls = Calls(connection)

    def views(self, pages: Sequence[int], *, is_fresh: bool = False) -> dict[int, View | None]:
        """Return page -> its record, in this order; None: there is none, or it has expired.

        `is_fresh`: none is known already; nor is one that is missing or undecided.

        Raises:
            StoreCorrupt: a record is damaged.
        """
        found: dict[int, View | None] = {}
        for some in _parts(pages):
            reads = [("GET", self.name(page)) for page in some]
            values = self.calls.ask_all(reads, is_fresh=is_fresh)
            found.update((page, self._view(page, v)) for page, v in zip(some, values, strict=True))
        may_change = (p for p, view in found.items() if view is None or view.head.is_undecided)
        self.calls.forget(map(self.name, may_change))
        return found

    def numbers(self) -> list[int]:
        """Return the numbers of all records, ascending. Cost: scans all keys of the servers."""
        return self.connection.numbers("r")

    def summaries(self) -> Iterator[tuple[bytes, int, int]]:
        """Yield state, time last seen and number of all pages that are not gone.

        Cost: as `numbers`, and a call for 1,000 pages.
        """
        for some in _parts(self.numbers()):
            reads = [("GETRANGE", self.name(page), 0, SUMMARY_BYTES - 1) for page in some]
            for page, value in zip(some, self.calls.ask_all(reads), strict=True):
                last_seen = last_seen_in(value)
                if last_seen is not None and self.left(last_seen) >= 0:
                    yield value[:1], last_seen, page

    def all_records(self) -> Iterator[PageRecord]:
        """Yield the records of all pages by ascending number, pending ones too."""
        for some in _parts(self.numbers()):
            yield from (each.record for each in self.views(some).values() if each is not None)

    def pages_at(self, key: int) -> list[int]:
        """Return the pages at a URL, by its key."""
        wanted = [url_key(key)]
        return found_in(self.calls.ask_all(self.reads(wanted)), wanted)[0]

    def revise(self, records: Sequence[PageRecord], process: bytes) -> list[int]:
        """Give pages other measures, from a process; return those that were there.

        Cost: three round trips for all of them.
        """
        views = self.views([each.page for each in records], is_fresh=True)
        adds, swaps, life = list[Command](), list[Command](), self.seconds or 0
        changes = list[tuple[int, set[Key], set[Key]]]()
        for record in records:
            page, view = record.page, views[record.page]
            # Another page may have its number since a server has lost writes.
            is_there = view is not None and view.record.url_key == record.url_key
            if view is None or not is_there or view.head.state not in _SETTLED:
                continue
            old, new = (self.layout.keys_of_record(each) for each in (view.record, record))
            adds += self.adds(page, new - old)
            head = view.head.revised(process)
            swaps.append(self.swap(page, view.head, head, pack_record(record), life))
            changes.append((page, old - new, new - old))
        self.calls.ask_all(adds)
        done = [answer == DONE for answer in self.calls.ask_all(swaps)]
        for (page, gone, came), is_done in zip(changes, done, strict=True):
            self.calls.send_later(self.cuts(page, gone if is_done else came))
        return [page for (page, *_), is_done in zip(changes, done, strict=True) if is_done]

    def delete(self, pages: Sequence[int], at_url: int | None = None) -> list[int]:
        """Delete pages that are kept or dropped; return those that were there.

        `at_url`: key of a URL; pages at others stay.
        """
        gone = list[int]()
        for some in _parts(pages, _DELETED_AT_ONCE):
            views = {
                page: view
                for page, view in self.views(some, is_fresh=True).items()
                if view is not None
                and view.head.state in _SETTLED
                and at_url in (None, view.record.url_key)
            }
            swaps = [self.swap(page, view.head, None) for page, view in views.items()]
            cuts = list[Command]()
            for page, answer in zip(views, self.calls.ask_all(swaps), strict=True):
                if answer == DONE:
                    gone.append(page)
                    cuts += self.cuts(page, self.layout.keys_of_record(views[page].record))
            self.calls.send_later(cuts)
        return gone

    def forget_at(self, key: int) -> int:
        """Delete all pages at a URL, by its key, but pending ones; return their number."""
        gone = self.delete(self.pages_at(key), at_url=key)
        self.calls.send()
        return len(gone)

    def count(self, *, is_kept: bool | None = None) -> int:
        """Count the kept or the dropped pages, or both, pending ones too. Cost: as `summaries`."""
        return sum(is_kept in (None, state != _DROPPED) for state, *_ in self.summaries())

    def shrink(self, bound: int, at_once: int) -> int:
        """Delete the least recently seen pages beyond a bound, and up to `at_once` more.

        Kept and dropped pages have separate bounds, and pending pages stay. Returns how many pages
        there is room for. Cost: as `summaries`.
        """
        there, least = [*self.summaries()], bound
        for is_kept in (True, False):
            pages = [each for each in there if (each[0] != _DROPPED) == is_kept]
            room = bound - len(pages)
            if room < 0:
                settled = sorted((seen, page) for state, seen, page in pages if state in _SETTLED)
                oldest = settled[: max(-room, at_once)]
                room += len(self.delete([page for _, page in oldest]))
            least = min(least, room)
        return max(least, 0)

    def unfound(self) -> list[int]:
        """Return the pages that one of their keys does not find. Cost: reads all."""
        lacking = set[int]()
        for some in _parts(self.numbers(), _CHECKED_AT_ONCE):
            wanted = [
                (page, key)
                for page, view in self.views(some).items()
                if view is not None and view.head.state in _SETTLED
                for key in self.layout.keys_of_record(view.record)
            ]
            keys = [key for _, key in wanted]
            found = found_in(self.calls.ask_all(self.reads(keys)), keys)
            for (page, _), pages in zip(wanted, found, strict=True):
                if page not in pages and len(pages) < MOST_OF_KEY:
                    lacking.add(page)
        return sorted(lacking)

    def left(self, last_seen: int) -> float:
        """Return the seconds until a page that was last seen at some time expires."""
        return inf if self.seconds is None else last_seen + self.seconds - int(now())

    # Commands

    def name(self, page: int) -> str:
        """Return the key of a record."""
        return self.connection.part("r", page)

    def reads(self, keys: Iterable[Key]) -> list[Command]:
        """Return the commands that read the buckets of keys."""
        return [("GET", self._bucket(key)) for key in keys]

    def adds(self, page: int, keys: Iterable[Key]) -> list[Command]:
        """Return the commands that add the entries of a page."""
        return [("APPEND", self._bucket(key), entry_of(key, page)) for key in keys]

    def cuts(self, page: int, keys: Iterable[Key]) -> list[Command]:
        """Return the commands that remove entries of a page."""
        script, bucket = self.connection.script, self._bucket
        return [script("cut", bucket(key), entry_of(key, page)) for key in keys]

    def put(self, head: Head, record: PageRecord, seconds: int | None) -> Command:
        """Return the command that writes a record, if its number has none; None: without end."""
        life = () if seconds is None else ("EX", seconds)
        return "SET", self.name(record.page), head.packed + pack_record(record), "NX", *life

    def swap(
        self, page: int, old: Head, new: Head | None, rest: bytes = b"", seconds: int | str = ""
    ) -> Command:
        """Return the command that compares and sets the head of a record: see `swap.lua`."""
        packed = b"" if new is None else new.packed
        return self.connection.script("swap", self.name(page), old.packed, packed, rest, seconds)

    def _bucket(self, key: Key) -> str:
        return self.connection.part("b", self.layout.bucket(key))

    def _view(self, page: int, value: bytes | None) -> View | None:
        if value is None:
            return None
        try:
            head = Head.of(value)
            if head.is_of_no_page:
                return None
            record = unpack_record(page, value[HEAD_BYTES:], is_pending=head.is_undecided)
        except ValueError as error:
            raise StoreCorrupt(
                f"{self.connection}: the record of page {page} is damaged: {error}"
            ) from None
        return View(head, record) if self.left(record.last_seen) >= 0 else None


def _parts(pages: Sequence[int], size: int = _AT_ONCE) -> Iterator[Sequence[int]]:
    return (pages[at : at + size] for at in range(0, len(pages), size))
