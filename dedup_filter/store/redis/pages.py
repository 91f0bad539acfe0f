"""The pages of a shared index: look-ups by exact keys, and claims that no two processes both win.

    page -> keys -> buckets -> records of the pages in them -> look-ups of `comparison.look_ups`

Nothing is in this process but what was read for the page that is judged. A page reads first: if it
repeats a page, nothing is written until it is dropped for good. Else it is claimed:

    record, and an entry under each key   written, and all of its buckets read, in one round trip
    pages that came meanwhile             kept, pending, or claiming with a lower number: if the
                                          verdict falls, the page withdraws and is judged anew,
                                          under another number
                                          claiming with a higher number: overruled, so that they
                                          look again
    record                                from claiming to pending, or kept, by compare-and-set;
                                          refused if the page was overruled: then it looks again

So of two pages that share a key at least one meets the other, and of several at most one is kept;
if it is released or dies, the others are judged anew. Nobody waits while it holds a page. A page is
written under every key by which it looks up, or else neither of two might meet the other.

A record that is gone leaves entries behind, which whoever meets them removes. If an entry comes
before its record, the reader sets a tombstone, and the writer takes another number. Undecided
records have a lease, see `process`. A key of many pages keeps the entries of the first of them.

When a server has lost writes, copies of the lost pages can be kept again; no page is dropped for
one that was never kept.

Cost: a new page 3 round trips and one to commit it, a page that repeats another 2 or 3. A page that
is read ahead: the claim and the commit of a new page, else none (`SharedPages.begin_ahead`).
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from time import monotonic
from typing import Any

from dedup_filter.config import FilterConfig, expiry_seconds
from dedup_filter.errors import StoreError
from dedup_filter.fingerprints.sketch import thinned
from dedup_filter.model import Fate
from dedup_filter.store.few_pages import FewPages, latest_first
from dedup_filter.store.records import PageRecord
from dedup_filter.store.redis.connection import Command
from dedup_filter.store.redis.layout import (
    ENTRY,
    MOST_OF_KEY,
    Key,
    found_in,
    ranked,
    url_key,
)
from dedup_filter.store.redis.process import LEASE, Process
from dedup_filter.store.redis.records import HEAD_BYTES, TOMBSTONE, Head, pack_record
from dedup_filter.store.redis.shared_records import DONE, SharedRecords, View

_LEASE_OF_TOMBSTONE = 2 * LEASE
_FORWARD_SECONDS = 86_400
"""How long a visit that was settled leads to its page: as long as others may wait for it."""
_SKETCH_OF_DROPPED = 130
"""Bytes of hashes, 64 of them, beside the row: no other page is compared with a dropped page."""
_MOST_READ = 8
"""Of the first records at a URL, and of the last ones."""
OF_LOST = 0
"""The crawl of a page at the URL of the judged one whose process was killed: before all others."""


class Overtaken(Exception):  # noqa: N818 - it is no error
    """Another process has recorded a page meanwhile: the page must be judged anew."""


@dataclass(slots=True)
class _Held:
    """An undecided page of this process."""

    head: Head
    record: PageRecord
    keys: list[Key]
    is_still: Callable[[], bool]
    """Returns whether its verdict holds with the pages that were read since."""
    full: list[Key] = field(default_factory=list)
    """Keys of so many pages that it is not found by them."""


class SharedPages(SharedRecords, FewPages):
    """The pages that later pages may repeat; implements `LookUps` for the page that is judged.

    If a call fails while a page is claimed, the page is not in the index, or its lease ends.
    """

    def __init__(self, config: FilterConfig, process: Process) -> None:
        days = config.expire_days
        seconds = None if days is None else expiry_seconds(days)
        SharedRecords.__init__(self, process.connection, process.layout, seconds)
        FewPages.__init__(self, config.max_distance)
        self.process = process
        self._held: dict[int, _Held] = {}
        self._given_up: dict[int, _Held] = {}
        """Undecided pages that could not be released when the servers were away."""
        self._views: dict[int, View] = {}
        """The pages that were read for the page that is judged."""
        self._own = 0
        """The number of the page that is judged; 0: it has none yet."""
        self._at_url: dict[int, list[int]] = {}
        """Key of a URL -> the pages there."""
        process.renewals = self._renewals

    # Several pages

    def begin_ahead(self, urls: Sequence[int], others: Sequence[Command]) -> list[Any]:
        """Read the pages at the URLs of several pages; return the answers to other commands.

        Then `read_ahead` reads their keys. What both have read costs each of these pages no round
        trip (see `calls`). Cost: one round trip for all, three if pages are at their URLs.
        """
        self.calls.read_ahead()
        keys = [url_key(each) for each in urls]
        answers = self.calls.ask_all([*self.reads(keys), *others])
        there = found_in(answers[: len(keys)], keys)
        views = self.views([*dict.fromkeys(page for pages in there for page in _ends(pages))])
        # An earlier visit that was dropped is judged by its original, too.
        originals = [view.record.original for view in views.values() if view is not None]
        self.views([*{page for page in originals if page is not None} - views.keys()])
        return answers[len(keys) :]

    def read_ahead(self, keys_of_pages: Sequence[Collection[Key]]) -> None:
        """Read the pages that have keys of several pages, after `begin_ahead`.

        Cost: one round trip for all, two if there are any.
        """
        keys = [*set().union(*keys_of_pages)]
        found = dict(zip(keys, found_in(self.calls.ask_all(self.reads(keys)), keys), strict=True))
        some = (ranked([found[key] for key in of_page]) for of_page in keys_of_pages)
        self.views([*dict.fromkeys(chain(*some))])

    # Look-ups

    def begin(self, at_url: int | None, others: Sequence[Command] = ()) -> list[Any]:
        """Forget what was read, and read the pages at a URL; return the answers to other commands.

        Cost: one round trip, two if pages are there.
        """
        self._views.clear()
        self._at_url.clear()
        self._own = 0
        self._forget_given_up()
        self.calls.check(self.name(0)[:-1], HEAD_BYTES)
        keys = [] if at_url is None else [url_key(at_url)]
        answers = self.calls.ask_all([*self.reads(keys), *others])
        if at_url is not None:
            self._take_url(at_url, answers[:1])
        return answers[len(keys) :]

    def read(self, keys: Collection[Key]) -> None:
        """Read the pages that have one of some keys. Cost: one round trip, two if there are any."""
        some = [*keys]
        self._take(some, self.calls.ask_all(self.reads(some)))

    def visits(self, key: int) -> list[PageRecord]:
        """Return the records at a URL, kept or dropped, the latest first."""
        if key not in self._at_url:
            self._take_url(key, self.calls.ask_all(self.reads([url_key(key)])))
        there = [self._views[page] for page in self._at_url[key] if page in self._views]
        return latest_first((view.record for view in there if self._counts(view)), key)

    def stored(self, pages: Sequence[int]) -> list[PageRecord]:
        """Return the records of pages in this order, pending ones too; gone ones are left out."""
        unread = [page for page in dict.fromkeys(pages) if page not in self._views]
        found = {page: view for page, view in self.views(unread).items() if view is not None}
        found |= self._views
        return [found[page].record for page in pages if page in found]

    # Claims

    def claim(
        self,
        record: PageRecord,
        keys: Collection[Key],
        is_still: Callable[[], bool],
        *,
        is_decided: bool,
    ) -> None:
        """Claim a page, which has a number, and repeats none of the pages that were read.

        `is_still`: returns whether it repeats none of those that were read since, either.
        `is_decided`: False if it is kept with the next call, so that this call decides.

        Raises:
            Overtaken: another page was claimed or kept meanwhile, or the lease is over.
        """
        head = Head.of_claim(b"C", self.process.name)
        held = _Held(head, record, [*keys, *self._of_url(record)], is_still)
        self._held[record.page] = held
        try:
            self._write_and_look(record.page, held)
            is_there = not is_decided or self._decide(record.page, b"P", b"", LEASE)
        except BaseException:
            self.give_up(record.page)
            raise
        if not is_there:
            self.give_up(record.page)
            raise Overtaken

    def keep(self, number: int, record: PageRecord, old: PageRecord | None) -> PageRecord:
        """Keep a claimed page, or drop a page that repeats another, for good; return its record.

        `old`: an earlier record of this page, whose place it takes; with its number if `record` has
        it, too.

        Raises:
            Overtaken: the page was claimed without a decision, and another one was faster.
        """
        held = self._held.get(number)
        if held is None:
            self._drop(record)
        elif record.page != number and self.revise([record], self.process.name):
            forward = self.swap(
                number, held.head, held.head.now(b"F"), ENTRY.pack(record.page), _FORWARD_SECONDS
            )
            self.calls.ask_all([forward, *self.cuts(number, held.keys)])
            del self._held[number]
            return record
        else:
            record = self._kept(number, held, record._replace(page=number))
        if old is not None and old.page != record.page:
            self.delete([old.page], at_url=old.url_key)
        return record

    def release(self, number: int) -> None:
        """Forget a page that this process has undecided; do nothing for any other."""
        if (held := self._held.get(number)) is not None:
            self._forget(number, held)
            del self._held[number]

    def give_up(self, number: int) -> None:
        """Release a page; if the servers are away, before the next page is judged."""
        if (held := self._held.pop(number, None)) is not None:
            self._given_up[number] = held
        with suppress(StoreError):
            self._forget_given_up()

    def _forget_given_up(self) -> None:
        for number, held in [*self._given_up.items()]:
            self._forget(number, held)
            del self._given_up[number]

    def _forget(self, number: int, held: _Held) -> None:
        """Delete a page in any state, also in one that was set by a call whose answer was lost."""
        head = held.head
        while head.nonce == held.head.nonce:
            [answer] = self.calls.ask_all([self.swap(number, head, None)])
            if not answer or answer == DONE:
                self.calls.send_later(self.cuts(number, held.keys))
                return
            # Another page has its number if a server has lost writes, and may have its keys, too.
            head = Head.of(answer)

    def is_of_other(self, page: int) -> bool:
        """Return whether a page was read, and another process has written it."""
        return page in self._views and self._views[page].head.process != self.process.name

    def nonce(self, page: int) -> bytes:
        """Return the random number of a page that was read and is undecided; b"" for others."""
        view = self._views.get(page)
        return view.head.nonce if view is not None and view.head.is_undecided else b""

    def fate(self, number: int, nonce: bytes | None = None) -> tuple[Fate, int]:
        """Return the state of a page, and its number: a visit becomes the page it revisits.

        `nonce`: of the page; another page may have its number since a server has lost writes.
        """
        last = HEAD_BYTES + ENTRY.size - 1
        value = self.connection.ask("GETRANGE", self.name(number), 0, last)
        if not value or value[:1] == b"T":
            return "gone", number
        head = Head.of(value)
        if nonce is not None and head.nonce != nonce:
            return "gone", number
        if head.state == b"F":
            return "kept", ENTRY.unpack(value[HEAD_BYTES:])[0]
        return "pending" if head.is_undecided else "kept", number

    def held(self) -> list[int]:
        """Return the undecided pages of this process."""
        return [*self._held]

    def _write_and_look(self, number: int, held: _Held) -> None:
        """Write the record and the keys of a page, then look at the pages that came meanwhile."""
        began, commands = monotonic(), [self.put(held.head, held.record, LEASE)]
        for add, read in zip(self.adds(number, held.keys), self.reads(held.keys), strict=True):
            commands += [add, read]
        # Records that were read ahead may have changed: a visit was made, or a frame was learnt.
        again = [*self._views] if self.calls.are_ahead else []
        commands += [("GET", self.name(page)) for page in again]
        is_set, *answers = self.calls.ask_all(commands, is_fresh=True)
        if not is_set or monotonic() - began > LEASE:  # a reader has met an entry before it
            raise Overtaken
        self._look(number, held, answers[1 : 2 * len(held.keys) : 2], again)

    def _look(
        self,
        number: int,
        held: _Held,
        buckets: Sequence[bytes],
        again: Sequence[int] = (),
    ) -> None:
        """Withdraw for pages that came meanwhile, and overrule claiming ones of higher numbers.

        `again`: pages that are known already, and may have changed.
        """
        self._own, known = number, self._views.copy()
        for page in again:
            self._views.pop(page, None)
        while True:
            self._take(held.keys, buckets, full=held.full)
            if self._views != known and not held.is_still():
                raise Overtaken
            known = self._views.copy()
            rivals = {
                page: self.swap(page, view.head, view.head.revised())
                for page, view in self._views.items()
                if view.head.state == b"C" and page > number
            }
            answers = self.calls.ask_all([*rivals.values()])
            if all(answer == DONE for answer in answers):
                return
            # Also those that have withdrawn since, and are in no bucket any more.
            self._read_pages({page: [] for page in rivals})
            buckets = self.calls.ask_all(self.reads(held.keys), is_fresh=True)

    def _decide(self, number: int, state: bytes, rest: bytes, seconds: int) -> bool:
        """Set the state of a page; return False if its record is gone.

        Raises:
            Overtaken: the page was overruled, and its verdict has fallen.
        """
        held = self._held[number]
        while True:
            new = held.head.now(state)
            cuts = self.cuts(number, held.full)
            answer, *_ = self.calls.ask_all(
                [self.swap(number, held.head, new, rest, seconds), *cuts]
            )
            if answer in (DONE, new.packed):  # it is set already if an earlier answer was lost
                held.head = new
                return True
            there = Head.of(answer) if answer else None
            if there is None or there.nonce != held.head.nonce or there.state != b"C":
                return False
            held.head = there  # overruled
            self._look(number, held, self.calls.ask_all(self.reads(held.keys), is_fresh=True))

    def _kept(self, number: int, held: _Held, record: PageRecord) -> PageRecord:
        """Keep a claimed page. If its lease is over, it is kept all the same."""
        rest = b""
        if record != held.record._replace(is_pending=False):
            rest = pack_record(record)
            new = self.layout.keys_of_record(record).difference(held.keys)
            self.calls.ask_all(self.adds(number, new))
            held.keys += new
        is_there = self._decide(number, b"K", rest, self.seconds or 0)
        while not is_there:
            # Its entries may be gone, too; it may be kept beside a page that came since.
            if held.head.state == b"C":
                raise Overtaken
            put = self.put(held.head.now(b"K"), record, self.seconds)
            answers = self.calls.ask_all([put, *self.adds(record.page, held.keys)])
            is_there = bool(answers[0])
            if not is_there:
                record = record._replace(page=self.process.number())
        del self._held[number]
        if self.calls.are_ahead:
            value = held.head.now(b"K").packed + pack_record(record)
            self.calls.keep(self.name(record.page), value)
        return record

    def _drop(self, record: PageRecord) -> None:
        record = record._replace(sketch=thinned(record.sketch, _SKETCH_OF_DROPPED))
        put = self.put(Head.of_claim(b"D", self.process.name), record, self.seconds)
        self.calls.send_later([put, *self.adds(record.page, self._of_url(record))])
        self.calls.keep(put[1], put[2])

    def _of_url(self, record: PageRecord) -> list[Key]:
        """Return the key of a page's URL, unless many pages are there."""
        is_full = len(self._at_url.get(record.url_key, ())) >= MOST_OF_KEY
        return [url_key(record.url_key)] if record.url and not is_full else []

    def _renewals(self) -> list[Command]:
        return [
            self.swap(page, held.head, held.head, seconds=LEASE)
            for page, held in self._held.copy().items()
        ]

    # What was read

    def candidates(self) -> Iterator[PageRecord]:
        """Yield the pages that a page may repeat, the earliest first."""
        for _, view in sorted(self._views.items()):
            if view.head.state != b"D" and self._counts(view):
                yield view.record

    def _counts(self, view: View) -> bool:
        """Return whether a page counts: not the judged one, nor one that it overrules."""
        page = view.record.page
        is_overruled = self._own and view.head.state == b"C" and page > self._own
        return page != self._own and not is_overruled

    def _take_url(self, key: int, buckets: Sequence[bytes | None]) -> None:
        there = found_in(buckets, [url_key(key)])[0]
        self._at_url[key] = there
        some = _ends(there)
        self._read_pages({page: [url_key(key)] for page in some})
        self._mark_lost([self._views[page] for page in some if page in self._views])

    def _mark_lost(self, at_url: Sequence[View]) -> None:
        """Let pages of killed processes, and their copies at this URL, be of an earlier crawl."""
        lost = {
            view.record.page
            for view in at_url
            if not view.head.is_undecided and self.process.is_lost(view.head.process)
        }
        for head, record in at_url:
            if not lost.isdisjoint((record.page, record.original)):
                self._views[record.page] = View(head, record._replace(crawl=OF_LOST))

    def _take(
        self, keys: Sequence[Key], buckets: Sequence[bytes | None], full: list[Key] | None = None
    ) -> None:
        """Read the pages in buckets that share most keys; note the keys of too many pages."""
        found = found_in(buckets, keys)
        entries: dict[int, list[Key]] = {page: [] for page in ranked(found)}
        for key, pages in zip(keys, found, strict=True):
            for page in entries.keys() & pages:
                entries[page].append(key)
            if full is not None and len(pages) > MOST_OF_KEY and key not in full:
                full.append(key)
        for at in [at for at in self._at_url if url_key(at) in keys]:
            self._at_url[at] = found[keys.index(url_key(at))]
        self._read_pages(entries)

    def _read_pages(self, entries: dict[int, list[Key]]) -> None:
        """Read pages, also undecided ones again; remove the entries of those that are gone."""
        entries.pop(self._own, None)
        known = {page for page, view in self._views.items() if not view.head.is_undecided}
        views = self.views([page for page in entries if page not in known])
        for page, view in views.items():
            if view is not None and self._is_lost(page, view.head):
                views[page] = None
        missing = [page for page, view in views.items() if view is None]
        # A tombstone: if its record is still on its way, it does not come any more.
        stones = [
            ("SET", self.name(page), TOMBSTONE, "NX", "EX", _LEASE_OF_TOMBSTONE) for page in missing
        ]
        late = [
            page
            for page, answer in zip(missing, self.calls.ask_all(stones), strict=True)
            if not answer
        ]
        views.update(self.views(late))
        for page, view in views.items():
            if view is not None:
                self._views[page] = view
            else:
                self._views.pop(page, None)
                self.calls.send_later(self.cuts(page, entries[page]))

    def _is_lost(self, page: int, head: Head) -> bool:
        """Return whether a page is one of this process, which does not hold it; then delete it.

        Servers that lost writes, or that carried out a call late, have such pages.
        """
        is_ours = head.is_undecided and head.process == self.process.name
        if not is_ours or page in self._held:
            return False
        self.calls.ask_all([self.swap(page, head, None)])
        return True


def _ends(pages: Sequence[int]) -> Sequence[int]:
    """Return the first and the last pages at a URL."""
    return [*pages[:_MOST_READ], *pages[_MOST_READ:][-_MOST_READ:]]
