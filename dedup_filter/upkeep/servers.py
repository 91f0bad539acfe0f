"""Upkeep of a shared index. Crawlers may be running: each step is correct whatever they do.

A check reads log, records and pending pages one after another, and crawlers may change them in
between. So every doubt is looked at again, and is a fault only if it persists.

`check` and `compact` scan all keys of the servers.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import compress
from time import time as now
from typing import Any

import numpy as np

from dedup_filter.config import expiry_seconds
from dedup_filter.errors import ConfigError
from dedup_filter.fingerprints.sketch import KEY, KEYS
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.store.records import PageRecord, Scheme
from dedup_filter.store.redis.connection import Address
from dedup_filter.store.redis.replica import LONG, LoggedPages, entry_of
from dedup_filter.store.redis.shared_keeper import (
    SharedKeeper,
    SharedReader,
    release_lapsed,
    take_out,
    trim,
)
from dedup_filter.upkeep.results import (
    Doubt,
    Entries,
    Findings,
    Recorded,
    Searched,
    Source,
    options_in,
    pages_by_url,
)
from dedup_filter.wording import counted


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
        with self._reader() as reader:
            pending, log, outcomes = (
                reader.in_flight(),
                reader.standing(),
                reader.connection.counts("totals"),
            )
            memory = reader.memory(log)
            kept, seen = len(log), log.told("seen")
            return {
                "pages": sum(outcomes.values()),
                "kept": kept,
                "pending": len(pending),
                "outcomes": {name: count for name, count in outcomes.items() if count},
                "hosts": len(np.unique(log.told("host"))),
                "first_seen": int(seen.min()) if kept else None,
                "last_seen": int(seen.max()) if kept else None,
                "processes": len(reader.processes()),
                "server_bytes": {**memory, "a_page": sum(memory.values()) // max(kept, 1)},
                "scheme": dict(reader.scheme.parts),
                "options": reader.options,
                "crawls": [
                    {"crawl": number, "name": name, "started": started or None}
                    for number, name, started, *_ in reader.crawls()
                ],
            }

    def check(self) -> Findings:
        """Verify that log, records and pending pages agree."""
        with self._reader() as reader:
            recorded = reader.recorded()
            findings = Findings.of(lambda only: _look(reader, recorded, only))
            if not findings.faults:
                findings.pages = findings.entries = len(reader.standing())
        return findings

    def forget(self, urls: Sequence[str]) -> dict[str, int]:
        """Forget all pages at some URLs, also in running processes; pending pages stay."""
        with self._reader() as reader:
            log = reader.standing()
            counts, pages = pages_by_url(urls, _committed(reader, log))
            take_out(reader, log, pages)
        return counts

    def compact(self) -> dict[str, Any]:
        """Remove remains of crashes and forgotten pages from the servers; return counts.

            released    pending pages of dead processes
            taken_out   pages in the log without a record
            deleted     records without a page; chunks of the log before its first page

        Before and after: the bytes of the log, and of its pages' records. After an error, the
        steps before it are done.
        """
        with self._reader() as reader:
            released = release_lapsed(reader)
            recorded, log = reader.recorded(), reader.standing()
            before = reader.memory(log)
            without = set(log) - recorded  # pending pages have their records elsewhere
            without -= {record.page for record in reader.records(sorted(without))}
            take_out(reader, log, sorted(without))
            orphans = _orphans(recorded, log)
            reader.remove(orphans)
            log = reader.standing()
            trim(reader, log)
            after = reader.memory(log)
        counts = {"released": released, "taken_out": len(without), "deleted": len(orphans)}
        return {"before": before, "after": after, **counts}

    @contextmanager
    def source(self) -> Iterator[Source]:
        """Open the index for an export: no records of dropped pages, no texts, no frames."""
        with self._reader() as reader:
            log = reader.standing()
            yield Source(reader.scheme, reader.crawls(), _committed(reader, log), most=len(log))

    @contextmanager
    def recorded(self) -> Iterator[Recorded]:
        """Read the index to look pages up. Cost: reads the log; a call for 1,000 records."""
        with self._reader() as reader:
            log = reader.standing()
            pages = np.fromiter(log, np.int64)
            is_there = ~np.isin(pages, list(reader.in_flight()))
            are_long, values = (log.told(name)[is_there] for name in ("kind", "value"))
            are_long = are_long == LONG
            entries = Entries(
                pages[is_there],
                np.ones(len(values), np.bool_),
                are_long,
                np.where(are_long, values, 0).astype(np.uint64),
                np.where(are_long, 0, values).astype(np.uint64),
                log.told("keys")[is_there].view(KEY).reshape(-1, KEYS),
            )

            def at_url(url: str) -> list[int]:
                return pages_by_url([url], reader.records(entries.pages.tolist()))[1]

            def records(pages: Iterable[int]) -> Iterator[PageRecord]:
                return reader.records(list(pages))

            yield Recorded(reader.scheme, entries, records, at_url, lambda _: None)

    @contextmanager
    def searched(self, max_distance: int) -> Iterator[Searched]:
        """Read the index to find near pages. Cost: reads the log, and sorts its entries."""
        with self.recorded() as recorded:
            entries = recorded.entries
            pages = entries.pages[entries.have_fingerprints]
            fingerprints = HammingIndex(max_distance, expected=max(len(pages), 1))
            fingerprints.add_many(entries.fingerprints[entries.have_fingerprints], pages)
            yield Searched(
                fingerprints,
                lambda pages: {record.page: record.url for record in recorded.records(pages)},
            )

    def target(self, scheme: Scheme) -> SharedKeeper:
        """Open the index to restore records, or make it. No crawler may be running."""
        return SharedKeeper.open(self.location, scheme)

    def migrate(self, *_: object, **__: object) -> dict[str, Any]:
        """Raise ConfigError: fingerprints cannot be made anew without kept texts."""
        raise ConfigError(
            f"the fingerprints of the shared index {self} cannot be made anew, as no texts are "
            "kept on servers: begin another index under a new name (?name=...), and crawl, or "
            "import the items of earlier crawls"
        )

    def filter_options(self) -> dict[str, Any]:
        """Return the options of the scheme, and the options of the process that joined last."""
        try:
            with self._reader() as reader:
                return {**options_in(reader.scheme), **reader.options}
        except ConfigError:  # if other keys are there, opening the index reports it
            return {}

    def _reader(self) -> AbstractContextManager[SharedReader]:
        return SharedReader.open(self.location)


def _committed(reader: SharedReader, log: LoggedPages) -> Iterator[PageRecord]:
    """Yield the records of committed pages."""
    for record in reader.records(list(log)):
        if not record.is_pending and log.entry(record.page) == entry_of(record):
            yield record


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
    days = reader.options.get("expire_days")
    earliest = 0 if days is None else now() - expiry_seconds(days)
    expired = lacking.intersection(compress(log, log.told("seen") <= earliest))
    doubts = {
        Doubt(what, page, is_fault)
        for what, is_fault, affected in (
            ("in flight and not in the log", True, gone),
            ("in flight and claimed by no process", True, in_flight - claimed),
            ("not the same in the log and in the record", True, different - gone),
            ("in the log without a record; see `index compact`", True, lacking - expired),
            ("expired; the next crawl removes them", False, expired),
            ("gone, but for their records; see `index compact`", False, _orphans(recorded, log)),
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
