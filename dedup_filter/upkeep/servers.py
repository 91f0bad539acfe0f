"""Upkeep of a shared index. Crawlers may be running: each step is correct whatever they do.

All of it scans the keys of the servers, but to forget pages.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from time import sleep
from typing import Any

import numpy as np

from dedup_filter.errors import StoreCorrupt
from dedup_filter.fingerprints.sketch import KEYS, KEYS_BYTES
from dedup_filter.frames.host_frames import Host
from dedup_filter.store.key_table import short_keys
from dedup_filter.store.protocol import Entries, KeptContent
from dedup_filter.store.records import PageRecord, Scheme
from dedup_filter.store.redis.connection import Address
from dedup_filter.store.redis.frames import FrameLists
from dedup_filter.store.redis.keeper import SharedKeeper, SharedReader
from dedup_filter.text.page_url import url_key
from dedup_filter.upkeep.results import Findings

_ATTEMPTS, _PAUSE = 3, 0.2
_AT_ONCE = 1_000
_KINDS = {"records": "r", "keys": "b", "frames": "f"}
_MEASURED = 64
"""Most keys of each kind whose memory is measured."""


class ServerIndex:
    """A shared index on one or more servers, at a valid address."""

    def __init__(self, location: str) -> None:
        self.location = location

    def __str__(self) -> str:
        return str(Address.of(self.location))

    def figures(self) -> dict[str, Any]:
        """Count pages, hosts, crawls and bytes.

        `pages` and `outcomes` count records, as in a directory; pending pages are counted apart.
        `judged` are the verdicts of all processes since the index was made, which each process
        adds every second. Bytes are estimated from some keys.

        Cost: reads all records.
        """
        with RecordedServers.open(self.location) as reader:
            hosts, seen, outcomes = set[str](), list[int](), Counter[str]()
            kept = pending = 0
            for each in reader.all_records():
                pending += each.is_pending
                if not each.is_pending:
                    hosts.add(each.host)
                    seen += [each.first_seen, each.last_seen]
                    outcomes[each.outcome] += 1
                    kept += each.is_kept
            judged = reader.connection.counts("totals")
            memory = {name: reader.memory(kind) for name, kind in _KINDS.items()}
            return {
                "pages": outcomes.total(),
                "kept": kept,
                "pending": pending,
                "outcomes": outcomes,
                "judged": {name: count for name, count in judged.items() if count > 0},
                "hosts": len(hosts),
                "first_seen": min(seen, default=None),
                "last_seen": max(seen, default=None),
                "processes": len(reader.processes()),
                "bytes": memory,
                "bytes_of_each_page": sum(memory.values()) // max(outcomes.total() + pending, 1),
                "expected_pages": reader.layout.expected,
                "scheme": dict(reader.scheme.parts),
                "options": reader.options,
                "crawls": [
                    {"crawl": number, "name": name, "started": started or None, "ended": ended}
                    for number, name, started, ended, _ in reader.crawls()
                ],
            }

    def check(self) -> Findings:
        """Verify that all records can be read, and that each is found by all of its keys.

        Crawlers may change a page in between, so a doubt is a fault only if it persists.
        """
        with RecordedServers.open(self.location) as reader:
            try:
                lacking = {*reader.unfound()}
                for _ in range(1, _ATTEMPTS):
                    if lacking:
                        sleep(_PAUSE)
                        lacking &= {*reader.unfound()}
            except StoreCorrupt as damage:
                return Findings([str(damage)])
            found = Findings([], [], len(reader.numbers()))
        if lacking:
            found.faults.append(
                f"{len(lacking):,} of the pages, {min(lacking)} first: not found by all of their "
                "keys: export the index, and import it under another name; the servers of an index "
                "must not evict keys (maxmemory-policy noeviction)"
            )
        return found

    def forget(self, urls: Sequence[str]) -> dict[str, int]:
        """Forget all pages at some URLs; pending pages stay."""
        with RecordedServers.open(self.location) as reader:
            forgotten = {key: reader.forget_at(key) for key in {*map(url_key, urls)}}
        return {url: forgotten[url_key(url)] for url in urls}

    def recorded(self) -> AbstractContextManager["RecordedServers"]:
        """Read the index."""
        return RecordedServers.open(self.location)

    def target(self, scheme: Scheme) -> SharedKeeper:
        """Open the index to restore records, or make it. No crawler may be running."""
        return SharedKeeper.open(self.location, scheme)


class RecordedServers(SharedReader):
    """A shared index, only read: see `Recorded`."""

    is_durable = True

    def entries(self) -> Iterator[Entries]:
        """Yield the entries of all pages, in parts."""
        records = self.records()
        while part := [*islice(records, _AT_ONCE)]:
            yield _entries(part)
        yield _entries([])

    def records(self, pages: Iterable[int] | None = None) -> Iterator[PageRecord]:
        """Yield the records of all pages by ascending number; or of some pages, in their order."""
        if pages is None:
            found = self.all_records()
        else:
            views = self.views([*pages]).values()
            found = (each.record for each in views if each is not None)
        return (each for each in found if not each.is_pending)

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
        """Return the frame of a host by the updates that crawlers share; None: not known."""
        host = Host(name)
        updates = FrameLists(self.connection, None).all_of(name)
        for each in updates:
            host.add_page(each.counted_for(host))
        return host if updates else None

    def hosts(self) -> Iterator[Host]:
        """Yield the known frames of the hosts of all pages. Cost: a call for each host."""
        names = sorted({each.host for each in self.records()})
        return (host for host in map(self.host, names) if host is not None)

    def waiting(self, host: str) -> tuple[()]:  # noqa: ARG002
        """Return nothing: each process has its own waiting pages."""
        return ()

    def at_url(self, url: str) -> list[int]:
        """Return the pages at a URL in any spelling, the earliest first."""
        key = url_key(url)
        return [each.page for each in self.records(self.pages_at(key)) if each.url_key == key]

    def memory(self, kind: str) -> int:
        """Estimate the memory of all records, buckets or lists from a sample of keys."""
        there = self.connection.numbers(kind)
        some = there[:: -(-len(there) // _MEASURED) or 1]
        part = self.connection.part
        sizes = self.connection.ask_all([("MEMORY", "USAGE", part(kind, each)) for each in some])
        return sum(size or 0 for size in sizes) * len(there) // max(len(some), 1)


def _entries(records: Sequence[PageRecord]) -> Entries:
    prints = [each.fingerprint for each in records]
    keys = b"".join(each.keys or bytes(KEYS_BYTES) for each in records)
    return Entries(
        np.array([each.page for each in records], np.int64),
        np.array([each.is_kept for each in records], np.bool_),
        np.array([each is not None for each in prints], np.bool_),
        np.array([each or 0 for each in prints], np.uint64),
        np.array([int.from_bytes(each.digest[:8], "little") for each in records], np.uint64),
        np.array([each.url_key for each in records], np.uint64),
        short_keys(keys).reshape(-1, KEYS),
    )
