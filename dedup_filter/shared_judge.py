"""Page -> verdict, for an index that several processes share: a `Judge` whose pages are on servers.

A record on the servers has the state that a `Claim` has in one process. So the judge is the same,
but for what it reads and writes: pages are looked up, claimed and settled by `SharedPages`. Pages
that other processes have pending have a claim here, too, when pages here repeat them: its state is
asked of the servers.

The frames of hosts are in memory, made of the updates that all processes share (`frames`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from time import monotonic, sleep
from typing import Any, NamedTuple

from dedup_filter.comparison.near_pages import Query
from dedup_filter.comparison.visits import Visit
from dedup_filter.config import FilterConfig
from dedup_filter.errors import StoreError
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.frames.host_frames import HostContext
from dedup_filter.judge import MOST_AHEAD, Claim, Judge, _Again, _Change, _Index, _Judged
from dedup_filter.model import Fate, Unjudged, Verdict
from dedup_filter.store.location import scheme_of
from dedup_filter.store.records import PageRecord, measures_of
from dedup_filter.store.redis.connection import Command
from dedup_filter.store.redis.frames import FrameLists
from dedup_filter.store.redis.layout import Key
from dedup_filter.store.redis.pages import OF_LOST, Overtaken, SharedPages
from dedup_filter.store.redis.process import LEASE, Process, totals_of
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.text.page_url import Place

_PAUSE, _LONGEST_PAUSE = 0.002, 0.25
_LONGEST_WAIT = 2.0 * LEASE
"""Seconds for which `see` waits for another process to end its claim of a page's original."""
_MOST_GONE = 10_000
_SHARE = 10
"""A full index forgets a tenth of `max_pages` at once."""


class _Ahead(NamedTuple):
    """A page that is read ahead."""

    page: ReadPage
    measured: tuple[object, ...]
    """What its profile depends on, see `HostContext.measured`."""
    profile: PageProfile


class SharedJudge(Judge):
    """The conductor of a process that shares its index; see `Judge`."""

    is_shared = True

    def __init__(self, config: FilterConfig, process: Process, *, with_text: bool = False) -> None:
        self._process, self._pages = process, SharedPages(config, process)
        self._lists = FrameLists(process.connection, self._pages.seconds)
        self._foreign: dict[int, tuple[Claim, bytes]] = {}
        """Number -> pending page of another process that pages here repeat, and its nonce."""
        self._gone: dict[int, None] = {}
        """The latest pages that were gone: others may have their numbers on the servers."""
        self._keys = set[Key]()
        """The keys by which the page that is judged has looked up others."""
        self._is_seeing = False
        """Whether the page that is judged is kept with the next call, and never pending."""
        self._ahead: dict[int, _Ahead] = {}
        """Identity of a page -> what was read ahead of it."""
        self._known: _Ahead | None = None
        """What was read ahead of the page that is judged."""
        try:
            in_memory = SqliteStore.in_memory(scheme_of(config))
            super().__init__(config, in_memory, with_text=with_text)
        except BaseException:
            with suppress(StoreError):  # if this fails, its lease runs out
                process.leave()
            raise
        self._records_dropped = True

    def __len__(self) -> int:
        return self._pages.count(is_kept=True)

    @property
    def nbytes(self) -> int:
        """Memory of the frames, in bytes: the pages are on the servers."""
        return self._hosts.nbytes + self.store.memory

    def totals(self) -> Mapping[str, int] | None:
        """Count the pages that all processes have judged, by outcome."""
        self._process.bring()
        counts = totals_of(self._process.connection)
        return {"pages": sum(counts.values()), **counts}

    def read_ahead(self, waiting: Iterable[tuple[Place, ReadPage | Unjudged]]) -> None:
        """Read at once what the next pages need: their URLs and frames, then their keys.

        Up to `MOST_AHEAD` pages are taken, each once. Cost: two round trips, five if they find
        pages; a page is profiled again only if its frame has changed meanwhile.
        """
        pages = [*islice(waiting, MOST_AHEAD)]
        some = [(place, page) for place, page in pages if isinstance(page, ReadPage)]
        if len(some) < 2 or id(some[0][1]) in self._ahead:
            return
        self._ahead.clear()
        names = dict.fromkeys(name for each in some for name in self._lists_of(*each))
        urls = [place.key for place, _ in some if place.url]
        self._exchange([*names], partial(self._pages.begin_ahead, urls))
        for place, page in some:
            self._pages.begin(place.key if place.url else None)
            _, context, _ = self._contexts(place, page)
            self._ahead[id(page)] = _Ahead(page, context.measured, super()._profile(page, context))
        profiles = [each.profile for each in self._ahead.values()]
        self._pages.read_ahead([self._pages.layout.keys_of_profile(each) for each in profiles])

    def see(self, place: Place, page: ReadPage | Unjudged) -> Verdict:
        """Judge a page, and keep it for good."""
        self._is_seeing = True
        try:
            while True:
                with suppress(Overtaken):
                    return super().see(place, page)
                self._pages.calls.read_anew()
        finally:
            self._is_seeing = False

    def commit(self, claim: Claim) -> None:
        """Keep the page of a claim for good, or drop it for good; then count it."""
        self.fate_of_original(claim)  # which settles the claim's original
        super().commit(claim)

    def release(self, claim: Claim) -> None:
        """Forget the page of a pending claim of this judge, and its repeats; else do nothing."""
        if self._is_pending(claim):
            self._pages.release(claim.verdict.page or 0)
            self._end_claim(claim)

    def find(self, query: Query) -> Sequence[PageRecord]:
        """Return the records of pages that share a key with a query: see `layout`."""
        self._pages.begin(None)
        asked = query.digest, query.fingerprints, query.keys
        self._pages.read(self._pages.layout.keys_of(*asked))
        return super().find(query)

    def fate_of_original(self, claim: Claim) -> Fate:
        """Return the state of the page that a claimed page repeats; "kept" if it repeats none."""
        if claim.original is not None and claim.original.state == "pending":
            self.fate(claim.original.verdict.page or 0)
        return super().fate_of_original(claim)

    def fate(self, number: int) -> Fate:
        """Return the state of a page; a committed revisit has the state of the page it revisits."""
        if number in self._claims:
            return self._claims[number].state
        if number in self._gone:
            return "gone"
        original, nonce = self._foreign.get(number, (None, None))
        fate, page = self._pages.fate(self._revisited.get(number, number), nonce)
        if original is not None and fate != "pending":
            self._end_foreign(original, fate, page)
            del self._foreign[number]
        return fate

    def sketches(self, pages: Sequence[int]) -> Mapping[int, bytes]:
        """Return the sketches of pages by their numbers; pages that are gone are left out."""
        self._pages.begin(None)
        return super().sketches(pages)

    def forget(self, url: str) -> int:
        """Forget all pages at a URL in any spelling; they stay counted. Return their number."""
        key = Place.of(url).key
        claims = [
            each for each in self._claims.values() if each.record and each.record.url_key == key
        ]
        forgotten = self._pages.forget_at(key)
        for claim in claims:
            self.release(claim)
        return forgotten + len(claims)

    def flush(self) -> None:
        """Make everything committed so far outlive this process; then keep within the bounds."""
        self._finish_calls()
        super().flush()

    def close(self) -> None:
        """Release pending pages, flush, and leave the index."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._finish_calls()
            for claim in [*self._claims.values()]:
                self.release(claim)
            self._pages.calls.send()
            self._process.leave()
        finally:
            self.store.close()
            self._process.close()

    def check(self) -> None:
        """Raise AssertionError if hosts, claims and servers do not agree. Cost: reads all."""
        self._pages.calls.read_anew()
        self._pages.calls.send()
        self._hosts.check()
        pending = {n for n, each in self._claims.items() if each.record and each.record.is_kept}
        assert {*self._pages.held()} == pending, "other pages are held"
        assert not self._pages.unfound(), "pages are not found by all of their keys"

    def _opened(self) -> _Index:
        return self._pages

    def _begun(self, name: str | None, options: Mapping[str, Any] | None) -> int:  # noqa: ARG002
        return self._process.crawl

    def _is_ours(self, crawl: int) -> bool:
        # Running processes may have begun a crawl after this one, which a resumed job may meet.
        # Such a crawl is not an earlier one.
        return crawl >= self._crawl

    def _has_ended(self, record: PageRecord) -> bool:
        return record.crawl != OF_LOST

    def _claim(self, place: Place, page: ReadPage) -> tuple[Claim, HostContext]:
        """Judge a page until no other process comes in between."""
        while True:
            try:
                claim, expected = super()._claim(place, page)
            except Overtaken:
                self._pages.calls.read_anew()
                continue
            self._process.count(claim.verdict.outcome)
            fate = self._waited_for(claim) if self._is_seeing else "kept"
            if fate == "pending":
                self._take_back(claim)
                self._process.count("unjudged")
                late = claim.verdict.as_unjudged("pending")
                return Claim(late._replace(original_page=None, page=None), state="kept"), expected
            if fate == "kept":
                return claim, expected
            self._pages.calls.read_anew()

    def _profile(self, page: ReadPage, context: HostContext) -> PageProfile:
        known = self._known
        if known is None or known.page is not page or known.measured != context.measured:
            return super()._profile(page, context)
        return replace(known.profile, counts=context.counts, site_counts=context.site_counts)

    def _judged(self, place: Place, page: ReadPage) -> _Judged:
        self._receive(place, page)
        return super()._judged(place, page)

    def _waited_for(self, claim: Claim) -> Fate:
        """Wait for the fate of a page of another process that a page repeats."""
        original = claim.original.verdict.page if claim.original is not None else None
        latest, pause = monotonic() + _LONGEST_WAIT, _PAUSE
        while original in self._foreign and self.fate_of_original(claim) == "pending":
            if monotonic() > latest:
                return "pending"
            sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        return "gone" if claim.state == "gone" else "kept"

    def _compared(
        self,
        place: Place,
        page: PageProfile,
        visit: tuple[PageRecord, Visit] | None,
        config: FilterConfig,
    ) -> Verdict:
        self._keys = self._pages.layout.keys_of_profile(page)
        self._pages.read(self._keys)
        return super()._compared(place, page, visit, config)

    def _original(self, found: Verdict) -> Claim | None:
        """Return the claim of the pending page, of any process, that a page repeats."""
        number = found.original_page or 0
        if number in self._claims and self._pages.is_of_other(number):
            self.release(self._claims[number])  # a server has lost its counter
            self._gone.pop(number, None)
        if number not in self._claims and (nonce := self._pages.nonce(number)):
            known = self._foreign.get(number)
            if known is not None and known[1] != nonce:  # a server has lost that page
                self._end_claim(known[0])
                known = None
            if known is None:
                known = self._foreign[number] = Claim(Verdict("new", page=number)), nonce
            return known[0]
        return super()._original(found)

    def _entered(self, place: Place, judged: _Judged, record: PageRecord) -> PageRecord:
        """Claim a page on the servers; a page that repeats another only gets a number."""
        compared, config = judged.compared, judged.config or self._config
        before = judged.visit[0].page if judged.visit else None
        number = self._process.number()
        known = (self._claims, self._foreign, self._gone)
        while any(number in each for each in known):  # a server has lost its counter
            number = self._process.number()
        record = record._replace(page=number)
        if compared is None or not record.is_kept:
            return record

        def is_still() -> bool:
            earlier = self._earlier(place)
            if (None if earlier is None else earlier.page) != before:
                return False
            again = super(SharedJudge, self)._compared(place, compared, judged.visit, config)
            return again.original_page == judged.verdict.original_page

        # A page is found by every key by which it looks up.
        keys = self._keys
        if judged.profile is not compared:
            keys = keys | self._pages.layout.keys_of_profile(judged.profile)
        self._pages.claim(record, keys, is_still, is_decided=not self._is_seeing)
        return record

    def _put(self, claim: Claim, record: PageRecord, old: PageRecord | None) -> PageRecord:
        self._room -= 1
        return self._pages.keep(claim.verdict.page or 0, record, old)

    def _withdraw(self, record: PageRecord) -> None:
        """Do nothing: `release` has removed it."""

    def _delete(self, record: PageRecord) -> None:
        self._pages.delete([record.page], at_url=record.url_key)
        self._hosts.discard(record.page)

    def _revise(self, again: _Again) -> None:
        records = [record._replace(**measures_of(found_by)) for _, record, found_by in again]
        with suppress(StoreError):  # they keep their measures
            self._pages.revise(records, self._process.name)

    def _stored(self, pages: Sequence[int]) -> list[PageRecord]:
        return self._pages.stored(pages)

    def _take_back(self, claim: Claim) -> None:
        self._process.count(claim.verdict.outcome, -1)
        if self._is_pending(claim):
            self._pages.give_up(claim.verdict.page or 0)
            self._end_claim(claim)

    def _end_claim(self, claim: Claim) -> None:
        for each in claim.repeats:  # they are judged again
            self._process.count(each.verdict.outcome, -1)
        self._gone[claim.verdict.page or 0] = None
        if len(self._gone) > _MOST_GONE:
            del self._gone[next(iter(self._gone))]
        super()._end_claim(claim)

    def _end_foreign(self, original: Claim, fate: Fate, page: int) -> None:
        """Settle the repeats of a page that another process has settled."""
        if fate == "gone":
            self._end_claim(original)
            return
        for each in original.repeats:
            if each.record is None or each.state == "gone":
                continue
            each.record = each.record._replace(original=page)
            if each.state == "kept":
                earlier = [] if each.earlier is None else self._stored([each.earlier])
                self._settled(each, each.record, {old.page: old for old in earlier})
        original.state = "kept"

    def _receive(self, place: Place, page: ReadPage) -> None:
        """Read the pages at the URL of a page, and count what others added for its host and sites.

        Updates of earlier pages are sent in the same call. A page that is read ahead needs none.
        """
        at_url = place.key if place.url else None
        self._known = self._ahead.pop(id(page), None)
        if self._known is not None and self._pages.calls.are_ahead:
            self._pages.begin(at_url)
        else:
            self._pages.calls.read_anew()
            self._exchange(self._lists_of(place, page), partial(self._pages.begin, at_url))

    def _lists_of(self, place: Place, page: ReadPage) -> list[str]:
        """Return the host and the sites of a page whose updates are to be read."""
        name = self._host(place, page)
        if not name:
            return []
        is_known = self._hosts.host(name).is_frame_known
        sites = [site.name for site in self._hosts.sites(page.shown)]
        return [name, *(site for site in sites if not (is_known and self._lists.is_read(site)))]

    def _finish_calls(self) -> None:
        """Send what waits for the next page, and ask what became of others' pages."""
        if self._lists.has_unsent:
            self._exchange([], partial(self._pages.begin, None))
        self._pages.calls.send()
        for number in [*self._foreign]:
            self.fate(number)

    def _exchange(self, names: Sequence[str], begin: Callable[[list[Command]], list[Any]]) -> None:
        """Send updates and read lists in the call that reads the pages at URLs."""
        try:
            answers = begin(self._lists.commands(names))
        except BaseException:
            self._forget_hosts(self._lists.unsent())
            raise
        lost, received = self._lists.answered(names, answers)
        self._forget_hosts(lost)
        for name, added in received:
            host = self._hosts.host(name)
            super()._apply(0, self._counted([(host, added.counted_for(host))]))

    def _apply(self, number: int, change: _Change) -> None:
        for host, update in change.updates:
            self._lists.add(host, update, {*(change.shown or ())})
        super()._apply(number, change)

    def _forget_hosts(self, names: Sequence[str]) -> None:
        """Forget hosts: their lists are read from the beginning."""
        if names:
            self._pages.calls.read_anew()
        for name in names:
            self._hosts.forget(name)
            self._lists.forget(name)

    def _make_room(self) -> None:
        super()._make_room()
        self._forget_beyond_bounds()

    def _shrink(self) -> None:
        self._forget_hosts(self._hosts.shrink())

    def _forget_beyond_bounds(self) -> bool:
        """Forget pages beyond `max_pages`, from time to time: to count them scans the servers."""
        bound = self._config.max_pages
        if bound is not None and self._room < 0:
            self._room = min(self._pages.shrink(bound, bound // _SHARE), bound // _SHARE)
        return False
