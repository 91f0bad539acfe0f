"""Upkeep of a shared index. Crawlers may be at work on it: each step is right whatever they do.

A check reads log, records and pages in flight one after another, and crawlers may change them in
between. So what seems wrong is looked at again, and is a fault only if it stays wrong.

Check and `compact` pass over all keys of the servers.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import compress
from time import sleep
from time import time as now
from typing import Any

import numpy as np

from dedup_filter.errors import ConfigError, StoreCorrupt
from dedup_filter.pages.directory.records import PageRecord
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.expiry import expiry_seconds
from dedup_filter.pages.redis import Address, SharedKeeper, SharedReader, entry_of
from dedup_filter.pages.redis.replica import LoggedPages
from dedup_filter.pages.redis.shared_keeper import (
    delete_records,
    release_lapsed,
    take_out,
    trim,
)
from dedup_filter.upkeep.results import (
    Compaction,
    ExportedPage,
    Findings,
    Migration,
    Source,
    options_in,
    pages_by_url,
)
from dedup_filter.wording import counted

__all__ = ["ServerIndex"]

_ATTEMPTS = 3
_PAUSE = 0.2

_GONE = "in flight and not in the log"
_UNCLAIMED = "in flight and claimed by no process"
_DIFFERENT = "not the same in the log and in the record"
_LACKING = "in the log without a record; `index compact` takes them out"

Doubt = tuple[str, int]
"""What seems to be wrong, and with which page."""


class ServerIndex:
    """A shared index on one or more servers.

    Raises:
        ConfigError: the address is wrong.
    """

    def __init__(self, location: str) -> None:
        self.location = location
        self._shown = str(Address.of(location))

    def __str__(self) -> str:
        return self._shown

    def figures(self) -> dict[str, Any]:
        """Count what it holds.

        Outcomes are those that all processes have counted since the index was made; each adds its
        counts every few seconds. Bytes are estimated from some keys.

        Cost: reads the log, and a few records.
        """
        with self._reader() as reader:
            pending, log, outcomes = reader.in_flight(), reader.standing(), reader.totals()
            memory = reader.memory(log)
            kept, seen = len(log), log.told("seen")
            return {
                "index": str(reader),
                "pages": sum(outcomes.values()),
                "kept": kept,
                "pending": len(pending),
                "outcomes": {name: count for name, count in outcomes.items() if count},
                "hosts": len(np.unique(log.told("host"))),
                "first_seen": int(seen.min()) if kept else None,
                "last_seen": int(seen.max()) if kept else None,
                "processes": len(reader.processes()),
                "server_bytes": {**memory._asdict(), "a_page": sum(memory) // kept if kept else 0},
                "scheme": dict(reader.scheme.parts),
                "options": reader.options,
                "crawls": [
                    {"crawl": number, "name": name, "started": started or None}
                    for number, name, started, _ in reader.crawls()
                ],
            }

    def check(self) -> Findings:
        """Verify that log, records and pages in flight agree."""
        with self._reader() as reader:
            return _check(reader)

    def forget(self, urls: Sequence[str]) -> dict[str, int]:
        """Forget all pages at some URLs. Processes follow; what they have pending stays."""
        with self._reader() as reader:
            log = reader.standing()
            records = reader.records(list(log))
            committed = (record for record in records if not record.is_pending)
            counts, pages = pages_by_url(urls, committed)
            take_out(reader, log, pages)
        return counts

    def compact(self) -> Compaction:
        """Remove what crashes and forgetting have left on the servers.

            pages that dead processes had pending    released
            pages in the log without a record        taken out of the log
            records that no page has                 deleted
            chunks of the log before the first page  deleted

        If it fails in between, the steps before that are done.
        """
        with self._reader() as reader:
            released = release_lapsed(reader)
            recorded = reader.recorded()
            log = reader.standing()
            pages = list(log)
            before = reader.memory(log)
            without = sorted(set(pages) - recorded)
            with_record = {record.page for record in reader.records(without)}
            lacking = sorted(set(without) - with_record)
            take_out(reader, log, lacking)
            # A record beyond the end of the log is about to get its event, or will be overwritten.
            orphans = [page for page in recorded if page <= log.end and page not in log]
            delete_records(reader, orphans)
            log = reader.standing()
            trim(reader, log)
            after = reader.memory(log)
        a_record = before.records // max(len(pages), 1)
        return Compaction(
            {"log": before.log, "records": before.records + a_record * len(orphans)},
            after._asdict(),
            {"released": released, "taken_out": len(lacking), "deleted": len(orphans)},
        )

    @contextmanager
    def source(self) -> Iterator[Source]:
        """Open it for an export. There are no records of dropped pages, no texts, no frames."""
        with self._reader() as reader:
            pages = map(ExportedPage, _committed(reader))
            yield Source(reader.scheme, reader.crawls(), pages, hosts=())

    def target(self, scheme: Scheme) -> SharedKeeper:
        """Open it for records, and make it if there is none. No crawler may be at work then."""
        return SharedKeeper.open(self.location, scheme)

    def filter_options(self) -> dict[str, Any]:
        """Return the options of its fingerprints, and those of the process that joined last."""
        try:
            with self._reader() as reader:
                return {**options_in(reader.scheme), **reader.options}
        except ConfigError:  # if other keys are there, opening the index tells
            return {}

    def migrate(self, *_: object, **__: object) -> Migration:
        """Refuse: servers keep no texts that fingerprints could be made of."""
        raise ConfigError(
            f"the fingerprints of the shared index {self} cannot be made anew, as no texts "
            "are kept on servers: begin another index under a new name (?name=...), and crawl, or "
            "import the items of earlier crawls"
        )

    def _reader(self) -> SharedReader:
        return SharedReader.open(self.location)


def _committed(reader: SharedReader) -> Iterator[PageRecord]:
    """Yield the records of the pages that are there now, but for pending ones."""
    log = reader.standing()
    for record in reader.records(list(log)):
        if not record.is_pending and log.entry(record.page) == entry_of(record):
            yield record


def _check(reader: SharedReader) -> Findings:
    """Verify that the log, records and pages in flight agree.

    Raises:
        StoreError: they cannot be read.
    """
    try:
        recorded = reader.recorded()
        log, doubts = _look(reader)
        for _ in range(1, _ATTEMPTS):
            if doubts:
                sleep(_PAUSE)
                doubts &= _look(reader, {page for _, page in doubts})[1]
    except StoreCorrupt as fault:
        return Findings([str(fault)])
    findings = Findings(pages=len(log), entries=len(log))
    if log.lost:
        findings.faults.append(
            f"the log has lost {counted(log.lost, 'event')}: the servers of an index must not "
            "evict keys (maxmemory-policy noeviction)"
        )
    expired = {(_LACKING, page) for page in _due(reader, log)} & doubts
    wrong = defaultdict(list)
    for what, page in sorted(doubts - expired):
        wrong[what].append(page)
    findings.faults += [
        f"{len(pages):,} of the pages, {pages[0]} first: {what}" for what, pages in wrong.items()
    ]
    orphans = [page for page in recorded if page <= log.end and page not in log]
    killed = reader.processes(alive=False)
    notes = findings.notes
    if expired:
        notes.append(f"expired: {counted(len(expired), 'page')}; the next crawl removes them")
    if orphans:
        notes.append(f"without a page: {counted(len(orphans), 'record')}; see `index compact`")
    if killed:
        count = counted(len(killed), "process", "processes")
        notes.append(f"killed or crashed: {count}; the next crawl releases their pending pages")
    return findings


def _look(reader: SharedReader, only: set[int] | None = None) -> tuple[LoggedPages, set[Doubt]]:
    """Compare all pages, or only some."""
    in_flight = reader.in_flight()
    claimed = reader.owned([*reader.processes(), *reader.processes(alive=False)])
    log = reader.standing()
    pages = set(log)
    if only is not None:
        in_flight &= only
        pages &= only
    records = {record.page: record for record in reader.records(sorted(pages | in_flight))}
    different = {page for page, each in records.items() if log.entry(page) != entry_of(each)}
    gone = {page for page in in_flight if page not in log}
    doubts = {
        _GONE: gone,
        _UNCLAIMED: in_flight - claimed,
        _DIFFERENT: different - gone,
        _LACKING: pages - in_flight - records.keys(),
    }
    return log, {(what, page) for what, those in doubts.items() for page in those}


def _due(reader: SharedReader, log: LoggedPages) -> set[int]:
    """Return the pages whose records have expired by now."""
    days = reader.options.get("expire_days")
    if days is None:
        return set()
    is_due = log.told("seen") <= now() - expiry_seconds(days)
    return set(compress(log, is_due))
