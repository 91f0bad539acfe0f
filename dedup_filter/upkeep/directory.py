"""Upkeep of an index in a directory. Methods that write hold the lock of the index.

Methods that only read work while a crawl is writing. While a crawl writes, or after it was killed,
no saved entries are valid: a check reports that as a note.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import fields as fields_of
from typing import Any

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError, StoreCorrupt
from dedup_filter.store.records import Scheme
from dedup_filter.store.sqlite.entry_file import UnusableEntries
from dedup_filter.store.sqlite.index_directory import IndexDirectory
from dedup_filter.store.sqlite.page_index import PageIndex
from dedup_filter.store.sqlite.page_reader import PageReader, statistics
from dedup_filter.store.sqlite.page_store import PageStore
from dedup_filter.store.sqlite.snapshot import Snapshot
from dedup_filter.upkeep.results import Findings, options_in, pages_by_url

_ANEW = "they are read from the record when the index is opened"


class DirectoryIndex:
    """An index in a directory."""

    def __init__(self, location: str) -> None:
        self.location = location
        self._files = IndexDirectory(location)

    def __str__(self) -> str:
        return self.location

    def figures(self) -> dict[str, Any]:
        """Count pages, hosts, crawls and bytes. Cost: reads all pages, half a kilobyte each."""
        with self._reader() as reader:
            (in_all, crawls), scheme = statistics(reader), reader.scheme
            options = _options_of_crawls(reader)
        sizes = {"record": self._files.page_bytes(), "entries": self._files.entries.nbytes}
        return {
            **in_all,
            "bytes": sizes,
            "scheme": dict(scheme.parts),
            "options": options,
            "crawls": crawls,
        }

    def check(self) -> Findings:
        """Verify the database, and compare the saved entries. Cost: reads and sorts all."""
        try:
            with self._reader() as reader:
                reader.check()
            with self.recorded() as snapshot:
                counts, index = (snapshot.count(), len(snapshot)), PageIndex.loaded(snapshot, 0)
                faults = [] if index is None else index.faults(snapshot)
        except (StoreCorrupt, AssertionError) as damage:
            return Findings([str(damage)])
        except UnusableEntries as reason:
            index, faults = None, [str(reason)]
        if faults:
            return Findings([f"the saved entries: {each}; {_ANEW}" for each in faults])
        notes = [] if index else [f"the saved entries: there are none; {_ANEW}"]
        return Findings([], notes, *counts)

    def forget(self, urls: Sequence[str]) -> dict[str, int]:
        """Forget all pages at some URLs. When the index is opened next, the record is read.

        Cost: reads all records; for one URL, 1/100 of that: only an entry of each page is read.
        """
        with self._writer() as store:
            one = map(store.record, store.at_url(urls[0])) if len(urls) == 1 else None
            counts, pages = pages_by_url(urls, one or store.records())
            store.delete(pages)
        return counts

    def recorded(self) -> AbstractContextManager[Snapshot]:
        """Read a snapshot. Meanwhile the write-ahead log of a writer grows."""
        return Snapshot.open_to_read(self.location)

    def target(self, scheme: Scheme) -> PageStore:
        """Open the index to restore records; make it if there is none."""
        return PageStore.open(self.location, scheme)

    def filter_options(self) -> dict[str, Any]:
        """Return the options of the scheme, and the options that the last crawl recorded."""
        try:
            with self._reader() as reader:
                return options_noted(reader)
        except ConfigError:
            return {}

    def _reader(self) -> PageReader:
        return PageReader.open_to_read(self.location)

    def _writer(self) -> PageStore:
        """Open the index for writing, whatever its scheme."""
        with self._reader() as reader:
            scheme = reader.scheme
        return PageStore.open(self.location, scheme)


def options_noted(reader: PageReader) -> dict[str, Any]:
    """Return the options of the scheme, and the options that the last crawl recorded."""
    known = {option.name for option in fields_of(FilterConfig)}
    last = _options_of_crawls(reader)
    return options_in(reader.scheme) | {name: last[name] for name in last if name in known}


def _options_of_crawls(reader: PageReader) -> dict[str, Any]:
    of_crawls = [crawl.options for crawl in reader.crawls() if crawl.options]
    return of_crawls[-1] if of_crawls else {}
