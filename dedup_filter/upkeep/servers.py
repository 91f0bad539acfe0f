"""Upkeep of a shared index. Crawlers may be running: each step is correct whatever they do.

A check reads log, records and pending pages one after another, and crawlers may change them in
between. So every doubt is looked at again, and is a fault only if it persists. A check scans all
keys of the servers.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import compress
from time import time as now
from typing import Any

import numpy as np

from dedup_filter.errors import ConfigError
from dedup_filter.fingerprints.sketch import KEY, KEYS
from dedup_filter.frames.host_frames import Host
from dedup_filter.store.protocol import Entries, KeptContent
from dedup_filter.store.records import PageRecord, Scheme
from dedup_filter.store.redis.connection import Address, Connection
from dedup_filter.store.redis.frame_exchange import FrameExchange, UpdateLists
from dedup_filter.store.redis.replica import DROPPED, LONG, Entry, LoggedPages, entry_of
from dedup_filter.store.redis.shared_keeper import SharedKeeper, SharedReader, take_out
from dedup_filter.store.sqlite.frame_store import HostFrames
from dedup_filter.text.page_url import canonical, host_of
from dedup_filter.upkeep.results import Doubt, Findings, options_in, pages_by_url
from dedup_filter.wording import counted

_NOBODY = "00" * 8
"""The process of a reader, which has no updates of its own."""


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
        """Verify that log, records and pending pages agree."""
        with SharedReader.open(self.location) as reader:
            recorded = reader.recorded()
            findings = Findings.of(lambda only: _look(reader, recorded, only))
            if not findings.faults:
                findings.checked_pages = findings.checked_entries = len(reader.standing())
        return findings

    def forget(self, urls: Sequence[str]) -> dict[str, int]:
        """Forget all pages at some URLs, also in running processes; pending pages stay.

        Pages in the log without a record, which a server has lost, are forgotten, too.
        """
        with SharedReader.open(self.location) as reader:
            log = reader.standing()
            lacking = set(log)

            def committed() -> Iterator[PageRecord]:
                for record in reader.records(list(log)):
                    lacking.discard(record.page)
                    if _is_committed(record, log):
                        yield record

            counts, pages = pages_by_url(urls, committed())
            take_out(reader, log, sorted({*pages, *lacking}))
        return counts

    def recorded(self) -> AbstractContextManager["RecordedServers"]:
        """Read the index. Cost: reads the log; a call for 1,000 records."""
        return RecordedServers.open(self.location)

    def target(self, scheme: Scheme) -> SharedKeeper:
        """Open the index to restore records, or make it. No crawler may be running."""
        return SharedKeeper.open(self.location, scheme)

    def filter_options(self) -> dict[str, Any]:
        """Return the options of the scheme, and the options of the process that joined last."""
        try:
            with SharedReader.open(self.location) as reader:
                return {**options_in(reader.scheme), **reader.options}
        except ConfigError:  # if other keys are there, opening the index reports it
            return {}


class RecordedServers(SharedReader):
    """A shared index, only read: see `Recorded`."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._log = self.standing()

    @cached_property
    def entries(self) -> Entries:
        """The entries of all pages."""
        log = self._log
        pages = np.fromiter(log, np.int64)
        is_there = ~np.isin(pages, list(self.in_flight()))
        kinds, values = (log.column(name)[is_there] for name in ("kind", "value"))
        are_long = kinds % DROPPED == LONG
        return Entries(
            pages[is_there],
            kinds < DROPPED,
            are_long,
            np.where(are_long, values, 0).astype(np.uint64),
            np.where(are_long, 0, values).astype(np.uint64),
            log.column("keys")[is_there].view(KEY).reshape(-1, KEYS),
        )

    def count(self) -> int:
        """Count the pages, pending ones too."""
        return len(self._log)

    def records(self, pages: Iterable[int] | None = None) -> Iterator[PageRecord]:
        """Yield the records of all pages by ascending number; or of some pages, in their order."""
        return map(self._resolved, self._committed(self._log if pages is None else pages))

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

    def repeats(self) -> list[tuple[int, int, int]]:
        """Return number, number of the original, and distance of each dropped page.

        Pages whose original is gone are left out. Cost: reads the records of dropped pages.
        """
        dropped = self.entries.pages[~self.entries.are_kept].tolist()
        return [
            (each.page, each.original, each.distance or 0)
            for each in self.records(dropped)
            if each.original is not None and each.original in self._log
        ]

    def frames(self, host: str) -> HostFrames | None:
        """Return the frame of a host by its exchanged updates, at most 32; None: not known."""
        updates = FrameExchange(UpdateLists(self.connection, _NOBODY, None)).received(host)
        known = Host(host)
        for each in updates:
            known.add_page(known.update_of(each.shown, is_kept=each.is_kept))
        return HostFrames(host, known.to_bytes(), []) if updates else None

    def hosts(self) -> Iterator[HostFrames]:
        """Yield the known frames of the hosts of all pages. Cost: a call for each host."""
        for host in sorted({each.host for each in self.records()}):
            known = self.frames(host)
            if known is not None:
                yield known

    def at_url(self, url: str, *, is_kept: bool) -> list[int]:
        """Return the kept or the dropped pages at a URL in any spelling.

        Cost: reads the records of its host.
        """
        host = Entry.of(None, b"", host_of(canonical(url))).host
        is_there = (self._log.column("kind") < DROPPED) == is_kept
        pages = compress(self._log, is_there & (self._log.column("host") == host))
        return pages_by_url([url], self.records(pages))[1]

    def _resolved(self, record: PageRecord) -> PageRecord:
        """Return a record with the present number of its original: a revisit gives another one."""
        if record.is_kept:
            return record
        original, key = record.original or 0, record.canonical_key
        if original not in self._log and key in self._revisits:
            page, first_seen = self._revisits[key]
            original = page if first_seen <= record.first_seen else original
        return record._replace(original=original, canonical_key=None)

    @cached_property
    def _revisits(self) -> dict[int | None, tuple[int, int]]:
        """Key of a URL -> number and first time of the page that was seen there again."""
        return {
            each.url_key: (each.page, each.first_seen)
            for each in self._committed(self._log)
            if each.outcome == "revisit"
        }

    def _committed(self, pages: Iterable[int]) -> Iterator[PageRecord]:
        records = super().records(list(pages))
        return (each for each in records if _is_committed(each, self._log))


def _is_committed(record: PageRecord, log: LoggedPages) -> bool:
    return not record.is_pending and log.entry(record.page) == entry_of(record)


def _orphans(recorded: set[int], log: LoggedPages) -> list[int]:
    """Return the pages that are gone but still have a record.

    A page beyond the end of the log is left out: its event is about to come, or its record will be
    overwritten.
    """
    return [page for page in recorded if page <= log.end and page not in log]


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
    expired = lacking.intersection(compress(log, log.column("seen") <= earliest))
    doubts = {
        Doubt(what, page, is_fault)
        for what, is_fault, affected in (
            ("in flight and not in the log", True, gone),
            ("in flight and claimed by no process", True, in_flight - claimed),
            ("not the same in the log and in the record", True, different - gone),
            ("in the log without a record; `index forget` removes them", True, lacking - expired),
            ("expired; the next crawl removes them", False, expired),
            ("gone, but for their records, which only take room", False, _orphans(recorded, log)),
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
