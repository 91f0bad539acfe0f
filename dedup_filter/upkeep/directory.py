"""Upkeep of an index in a directory. Methods that write hold the lock of the index.

Methods that only read work while a crawl is writing.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from dedup_filter.errors import StoreCorrupt
from dedup_filter.frames.host_frames import Host
from dedup_filter.store.protocol import CRAWLS, LAST_PAGE, Batch, KeptContent, Waiting
from dedup_filter.store.records import Crawl, PageRecord, Scheme, crawls_to_json
from dedup_filter.store.sqlite_store import SqliteStore, statistics
from dedup_filter.upkeep.results import Findings

_AT_ONCE = 64
"""Pages, hosts and waiting pages that are restored in one batch: a page can have some megabytes."""


class DirectoryIndex:
    """An index in a directory."""

    def __init__(self, location: str) -> None:
        self.location = location

    def __str__(self) -> str:
        return self.location

    def figures(self) -> dict[str, Any]:
        """Count pages, hosts, crawls and bytes. Cost: reads all pages, without their sketches."""
        with self.recorded() as store:
            in_all, crawls = statistics(store)
            return {
                **in_all,
                "bytes": {"record": store.nbytes},
                "scheme": dict(store.scheme.parts),
                "options": store.options,
                "crawls": crawls,
            }

    def check(self) -> Findings:
        """Verify the database. Cost: reads all of it."""
        try:
            with self.recorded() as store:
                store.check()
                return Findings([], checked_pages=store.count())
        except (StoreCorrupt, AssertionError) as damage:
            return Findings([str(damage)])

    def forget(self, urls: Sequence[str]) -> dict[str, int]:
        """Forget all pages at some URLs. Cost: scans all pages, 0.2 s for a million."""
        with SqliteStore.open(self.location) as store:
            found = store.at_urls(urls)
            store.write(Batch(pages=dict.fromkeys(chain(*found.values()))))
        return {url: len(pages) for url, pages in found.items()}

    def recorded(self) -> SqliteStore:
        """Read the index as it is now. Meanwhile the write-ahead log of a writer grows."""
        return SqliteStore.open_to_read(self.location)

    def target(self, scheme: Scheme) -> "DirectoryKeeper":
        """Open the index to restore records; make it if there is none."""
        return DirectoryKeeper(SqliteStore.open(self.location, scheme))


class DirectoryKeeper:
    """Writes records of another index into a directory, in batches."""

    def __init__(self, store: SqliteStore) -> None:
        self._store, self._batch = store, Batch()
        self._crawls = {each.number: each for each in store.crawls()}
        self._last_page = int(store.note(LAST_PAGE) or 0)
        self.records = store.records

    def restore_crawl(self, crawl: Crawl) -> int:
        """Restore a crawl; return its number here: its own, if that is free.

        A crawl is here already if one has its name; without names, its number and start.
        """
        known = [number for number, each in self._crawls.items() if _key(each) == _key(crawl)]
        is_free = crawl.number not in self._crawls
        number = known[0] if known else crawl.number if is_free else max(self._crawls) + 1
        self._crawls.setdefault(number, crawl._replace(number=number))
        ordered = [self._crawls[number] for number in sorted(self._crawls)]
        self._batch.notes[CRAWLS] = crawls_to_json(ordered)
        return number

    def restore(self, record: PageRecord, text: str | None, form: bytes | None) -> int:
        """Restore the record of a page; return its number here.

        The number is the record's own, or the next one if a number as high was given already.
        """
        number = self._last_page = max(record.page, self._last_page + 1)
        self._batch.pages[number] = record._replace(page=number)
        self._batch.notes[LAST_PAGE] = str(number)
        if text is not None or form is not None:
            self._batch.contents[number] = KeptContent(text, form)
        self._write(_AT_ONCE)
        return number

    def restore_host(self, host: Host, waiting: Sequence[Waiting]) -> bool:
        """Restore the frame of a host, and its waiting pages; False: the index knows the host."""
        if host.name in self._batch.hosts or self._store.host(host.name) is not None:
            return False
        self._batch.hosts[host.name] = host
        self._batch.waiting.update((each.page, each) for each in waiting)
        self._write(_AT_ONCE)
        return True

    def close(self) -> None:
        """Write the rest, and close the store."""
        with self._store:
            self._write()

    def _write(self, least: int = 0) -> None:
        batch = self._batch
        if len(batch.pages) + len(batch.hosts) + len(batch.waiting) >= least:
            self._store.write(batch)
            batch.clear()


def _key(crawl: Crawl) -> object:
    return (crawl.number, crawl.started) if crawl.name is None else crawl.name
