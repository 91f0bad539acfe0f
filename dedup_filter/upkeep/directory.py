"""Upkeep of an index in a directory. What writes holds the lock of the index.

What only reads works while a crawl is writing. A check takes tables that are missing, out of date
or of another index for no fault but a note, since they are made anew from the database when the
index is opened.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dedup_filter.errors import ConfigError
from dedup_filter.pages.directory.index_directory import IndexDirectory
from dedup_filter.pages.directory.page_index import PageIndex, is_usual
from dedup_filter.pages.directory.page_reader import PageReader, Snapshot, statistics
from dedup_filter.pages.directory.page_store import PageStore
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.table_files import TableFiles
from dedup_filter.upkeep.results import (
    Doubt,
    ExportedPage,
    Findings,
    Source,
    options_in,
    pages_by_url,
)

__all__ = ["DirectoryIndex"]

_ANEW = "they are made anew from the record when the index is opened"


class DirectoryIndex:
    """An index in a directory."""

    def __init__(self, location: str) -> None:
        self.location = location
        self.files = IndexDirectory.at(location)
        self._table_files = TableFiles(self.files.tables)

    def __str__(self) -> str:
        return self.location

    def figures(self) -> dict[str, Any]:
        """Count what it holds. Cost: reads all pages, half a kilobyte each."""
        with self._reader() as reader:
            (in_all, crawls), scheme = statistics(reader), reader.scheme
        return {
            **in_all,
            "bytes": self._sizes(),
            "tables": self._tables(),
            "scheme": dict(scheme.parts),
            "crawls": crawls,
        }

    def check(self) -> Findings:
        """Verify the database, and the tables against it. Cost: reads all, sorts the entries."""
        findings = Findings.of(self._look)
        if not findings.faults:
            with self._reader() as reader:
                findings.pages = reader.count()
            findings.entries = (self._tables() or {"entries": 0})["entries"]
        return findings

    def forget(self, urls: Sequence[str]) -> dict[str, int]:
        """Forget all pages at some URLs. Tables follow when the index is opened next.

        Cost: a hundredth for one URL, for which only an entry of each page is read.
        """
        with self._writer() as store:
            one = map(store.record, store.at_url(urls[0])) if len(urls) == 1 else None
            counts, pages = pages_by_url(urls, one or store.records())
            store.delete(pages)
        return counts

    def compact(self) -> dict[str, Any]:
        """Write record and tables anew; return the bytes before and after.

        Cost: reads and writes everything, and takes as much room again while it lasts.
        """
        with self._writer() as store:
            before, tables = self._sizes(), self._tables()
            store.vacuum()
            if tables is not None:
                by_host = tables["scope"] == "host"
                PageIndex.opened(store, tables["max_distance"], by_host=by_host).save(store)
        return {"before": before, "after": self._sizes()}

    @contextmanager
    def source(self) -> Iterator[Source]:
        """Hold the index still for an export. Its writer's log grows while that lasts."""
        with Snapshot.open_to_read(self.location) as snapshot:
            pages = (
                ExportedPage(each, snapshot.original_url(each), snapshot.text(each.page))
                for each in snapshot.records()
            )
            yield Source(snapshot.scheme, snapshot.crawls(), pages, snapshot.frames.with_forms())

    def target(self, scheme: Scheme) -> PageStore:
        """Open it for records, and make it if there is none."""
        return PageStore.open(self.location, scheme)

    def filter_options(self) -> dict[str, Any]:
        """Return the options of its fingerprints, and distance and scope of its tables."""
        try:
            with self._reader() as reader:
                options = options_in(reader.scheme)
        except ConfigError:
            return {}
        tables = self._tables() or {}
        return options | {name: tables[name] for name in tables if name != "entries"}

    def _reader(self) -> PageReader:
        return PageReader.open_to_read(self.location)

    def _writer(self) -> PageStore:
        """Open it for writing, whatever its scheme is."""
        with self._reader() as reader:
            scheme = reader.scheme
        return PageStore.open(self.location, scheme)

    def _sizes(self) -> dict[str, int]:
        return {"record": self.files.page_bytes(), "tables": self._table_files.nbytes}

    def _tables(self) -> dict[str, Any] | None:
        """Tell what the tables are for and how much they hold; None: they cannot be used."""
        saved = self._table_files.load()
        if isinstance(saved, str):
            return None
        return {
            "max_distance": saved.about["max_distance"],
            "scope": "host" if saved.about["by_host"] else "all",
            "entries": len(saved.arrays["rows"]),
        }

    def _look(self, only: set[int] | None) -> set[Doubt]:
        """Verify the database the first time, and compare the tables with it."""
        if only is None:
            with self._reader() as reader:
                reader.check()
        saved = self._table_files.load()
        with Snapshot.open_to_read(self.location) as snapshot:
            index = saved if isinstance(saved, str) else PageIndex.loaded(snapshot, saved)
            if isinstance(index, str):
                return {Doubt(f"the tables: {index}; {_ANEW}", is_fault=not is_usual(index))}
            return {Doubt(f"the tables: {fault}; {_ANEW}") for fault in index.faults(snapshot)}
