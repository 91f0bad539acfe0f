"""Upkeep of a shared index. Crawlers may be running: each step is correct whatever they do.

A check reads log, records and pending pages one after another, and crawlers may change them in
between. So every doubt is looked at again, and is a fault only if it persists. A check scans all
keys of the servers.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import compress
from time import sleep
from time import time as now
from typing import Any, NamedTuple

import numpy as np

from dedup_filter.errors import StoreCorrupt
from dedup_filter.fingerprints.sketch import KEY, KEYS
from dedup_filter.frames.host_frames import Host
from dedup_filter.store.protocol import Entries, KeptContent
from dedup_filter.store.records import PageRecord, Scheme
from dedup_filter.store.redis.connection import Address
from dedup_filter.store.redis.frame_exchange import FrameExchange, UpdateLists
from dedup_filter.store.redis.replica import DROPPED, LONG, Entry, LoggedPages, entry_of
from dedup_filter.store.redis.shared_keeper import SharedKeeper, SharedReader, take_out
from dedup_filter.text.page_url import canonical, host_of
from dedup_filter.upkeep.results import Findings
from dedup_filter.wording import counted

_ATTEMPTS, _PAUSE = 3, 0.2
_NOBODY = "00" * 8
"""The process of a reader, which has no updates of its own."""


class Doubt(NamedTuple):
    """A possible fault, and its page (0: no single page)."""

    what: str
    page: int = 0
    is_fault: bool = True
    """False: the next crawl repairs it, or it only takes room."""


class ServerIndex:
    """A shared index on one or more servers, at a valid address."""

    def __init__(self, location: str) -> None:
        self.location = location

    def __str__(self) -> str:
        return str(Address.of(self.location))

    def figures(self) -> dict[str, Any]:
        """Count pages, hosts, crawls and bytes.

        Outcomes are the counts of all processes since the index was made; each process adds its
        counts every few seconds. Bytes are estimated from some keys.

        Cost: reads the log, and a few records.
        """
        with SharedReader.open(self.location) as reader:
            pending, log = reader.in_flight(), reader.standing()
            outcomes, seen = reader.connection.counts("totals"), log.column("seen")
            memory = reader.memory(log)
            return {
                "pages": sum(outcomes.values()),
                "kept": log.count(is_kept=True),
                "pending": len(pending),
                "outcomes": {name: count for name, count in outcomes.items() if count},
                "hosts": len(np.unique(log.column("host"))),
                "first_seen": int(seen.min()) if len(log) else None,
                "last_seen": int(seen.max()) if len(log) else None,
                "processes": len(reader.processes()),
                "server_bytes": {**memory, "a_page": sum(memory.values()) // max(len(log), 1)},
                "scheme": dict(reader.scheme.parts),
                "options": reader.options,
                "crawls": [
                    {"crawl": number, "name": name, "started": started or None}
                    for number, name, started, *_ in reader.crawls()
                ],
            }

    def check(self) -> Findings:
        """Verify that log, records and pending pages agree; doubts must persist.

        If a record is damaged, this is a fault at once, and nothing more is compared.
        """
        with SharedReader.open(self.location) as reader:
            recorded = reader.recorded()
            try:
                doubts = _look(reader, recorded, None)
                for _ in range(1, _ATTEMPTS):
                    if doubts:
                        sleep(_PAUSE)
                        doubts &= _look(reader, recorded, {doubt.page for doubt in doubts})
            except (StoreCorrupt, AssertionError) as damage:
                return Findings([str(damage)])
            found, pages_of = (
                Findings([], [], len(reader.standing())),
                defaultdict[Any, list[int]](list),
            )
        for what, page, is_fault in sorted(doubts):
            pages_of[what, is_fault].append(page)
        for (what, is_fault), (page, *others) in pages_of.items():
            text = f"{1 + len(others):,} of the pages, {page} first: {what}" if page else what
            (found.faults if is_fault else found.notes).append(text)
        return found

    def forget(self, urls: Sequence[str]) -> dict[str, int]:
        """Forget all pages at some URLs, also in running processes; pending pages stay.

        Pages in the log without a record, which a server has lost, are forgotten, too.
        """
        with RecordedServers.open(self.location) as reader:
            found = reader.at_urls(urls)
            # In this order: a page that is committed meanwhile is in one of the two.
            lacking = {*reader.log} - reader.in_flight() - reader.recorded()
            take_out(reader, reader.log, sorted(lacking.union(*found.values())))
        return {url: len(pages) for url, pages in found.items()}

    def recorded(self) -> AbstractContextManager["RecordedServers"]:
        """Read the index. Cost: reads the log; a call for 1,000 records."""
        return RecordedServers.open(self.location)

    def target(self, scheme: Scheme) -> SharedKeeper:
        """Open the index to restore records, or make it. No crawler may be running."""
        return SharedKeeper.open(self.location, scheme)


class RecordedServers(SharedReader):
    """A shared index, only read: see `Recorded`."""

    is_durable = True

    @cached_property
    def log(self) -> LoggedPages:
        """The current pages."""
        return self.standing()

    def entries(self) -> Iterator[Entries]:
        """Yield the entries of all pages; the log has no keys of URLs."""
        log = self.log
        pages = np.fromiter(log, np.int64)
        is_there = ~np.isin(pages, list(self.in_flight()))
        kinds, values = (log.column(name)[is_there] for name in ("kind", "value"))
        are_long = kinds % DROPPED == LONG
        yield Entries(
            pages[is_there],
            kinds < DROPPED,
            are_long,
            np.where(are_long, values, 0).astype(np.uint64),
            np.where(are_long, 0, values).astype(np.uint64),
            np.zeros(len(kinds), np.uint64),
            log.column("keys")[is_there].view(KEY).reshape(-1, KEYS),
        )

    def count(self) -> int:
        """Count the pages, pending ones too."""
        return len(self.log)

    def records(self, pages: Iterable[int] | None = None) -> Iterator[PageRecord]:
        """Yield the records of all pages by ascending number; or of some pages, in their order."""
        return map(self._resolved, self._committed(self.log if pages is None else pages))

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
        """Return the frame of a host by its exchanged updates, at most 32; None: not known."""
        updates = FrameExchange(UpdateLists(self.connection, _NOBODY, None)).received(name)
        host = Host(name)
        for each in updates:
            host.add_page(host.update_of(each.shown, is_kept=each.is_kept))
        return host if updates else None

    def hosts(self) -> Iterator[Host]:
        """Yield the known frames of the hosts of all pages. Cost: a call for each host."""
        names = sorted({each.host for each in self.records()})
        return (host for host in map(self.host, names) if host is not None)

    def waiting(self, host: str) -> tuple[()]:  # noqa: ARG002
        """Return nothing: each process has its own waiting pages."""
        return ()

    def at_url(self, url: str) -> list[int]:
        """Return the pages at a URL in any spelling. Cost: reads the records of its host."""
        return self.at_urls([url])[url]

    def at_urls(self, urls: Iterable[str]) -> dict[str, list[int]]:
        """Return the pages at each of some URLs, the earliest first."""
        spellings = {url: canonical(url) for url in urls}
        found: dict[str, list[int]] = {spelling: [] for spelling in spellings.values()}
        hosts = [Entry.of(None, b"", host_of(each)).host for each in found]
        for record in self.records(compress(self.log, np.isin(self.log.column("host"), hosts))):
            found.get(canonical(record.url), []).append(record.page)
        return {url: found[spelling] for url, spelling in spellings.items()}

    def _resolved(self, record: PageRecord) -> PageRecord:
        """Return a record with the present number of its original: a revisit gives another one."""
        if record.is_kept:
            return record
        original, key = record.original or 0, record.canonical_key
        if original not in self.log and key in self._revisits:
            page, first_seen = self._revisits[key]
            original = page if first_seen <= record.first_seen else original
        return record._replace(original=original, canonical_key=None)

    @cached_property
    def _revisits(self) -> dict[int | None, tuple[int, int]]:
        """Key of a URL -> number and first time of the page that was seen there again."""
        return {
            each.url_key: (each.page, each.first_seen)
            for each in self._committed(self.log)
            if each.outcome == "revisit"
        }

    def _committed(self, pages: Iterable[int]) -> Iterator[PageRecord]:
        for each in super().records(list(pages)):
            if not each.is_pending and self.log.entry(each.page) == entry_of(each):
                yield each


def _look(reader: SharedReader, recorded: set[int], only: set[int] | None) -> set[Doubt]:
    """Compare log, records and pending pages, for all pages or only some."""
    in_flight = reader.in_flight()
    alive, killed = reader.processes(), reader.processes(alive=False)
    claimed = reader.owned([*alive, *killed])
    log = reader.standing()
    pages = set(log)
    if only is not None:
        in_flight &= only
        pages &= only
    records = {record.page: record for record in reader.records(sorted(pages | in_flight))}
    gone = in_flight - pages
    different = {page for page, each in records.items() if log.entry(page) != entry_of(each)}
    lacking = pages - in_flight - records.keys()
    earliest = 0 if reader.seconds is None else now() - reader.seconds
    # Beyond the end of the log: an event is about to come, or the record will be overwritten.
    orphans = {page for page in recorded if page <= log.end} - {*log}
    expired = lacking.intersection(compress(log, log.column("seen") <= earliest))
    doubts = {
        Doubt(what, page, is_fault)
        for what, is_fault, affected in (
            ("in flight and not in the log", True, gone),
            ("in flight and claimed by no process", True, in_flight - claimed),
            ("not the same in the log and in the record", True, different - gone),
            ("in the log without a record; `index forget` removes them", True, lacking - expired),
            ("expired; the next crawl removes them", False, expired),
            ("gone, but for their records, which only take room", False, orphans),
        )
        for page in affected
    }
    if log.lost:
        evicted = "an index must not evict keys (maxmemory-policy noeviction)"
        doubts.add(
            Doubt(f"the log has lost {counted(log.lost, 'event')}: the servers of {evicted}")
        )
    if killed:
        what = "a process was killed or crashed; the next crawl releases its pending pages"
        doubts.add(Doubt(what, is_fault=False))
    return doubts
