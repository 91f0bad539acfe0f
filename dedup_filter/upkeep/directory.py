"""Upkeep of an index in a directory. What writes holds the lock of the index.

What only reads works while a crawl is writing. A check takes tables that are missing, out of date
or of another index for no fault but a note, since they are made anew from the database when the
index is opened.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError, StoreCorrupt
from dedup_filter.pages.directory.index_directory import IndexDirectory
from dedup_filter.pages.directory.page_index import PageIndex, is_usual
from dedup_filter.pages.directory.page_reader import PageReader, Snapshot, statistics
from dedup_filter.pages.directory.page_store import PageStore
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.table_files import NO_TABLES, SavedTables, TableFiles
from dedup_filter.upkeep.migrate import migrate
from dedup_filter.upkeep.results import (
    Compaction,
    ExportedPage,
    Findings,
    Migration,
    Source,
    Watch,
    options_in,
    pages_by_url,
)

__all__ = ["DirectoryIndex"]

_ATTEMPTS = 3
_ANEW = "they are made anew from the record when the index is opened"


class DirectoryIndex:
    """An index in a directory."""

    def __init__(self, location: str) -> None:
        self.location = location
        self._files = IndexDirectory.at(location)
        self._table_files = TableFiles(self._files.tables)

    def __str__(self) -> str:
        return self.location

    def figures(self) -> dict[str, Any]:
        """Count what it holds. Cost: reads all pages, half a kilobyte each."""
        with self._reader() as reader:
            (in_all, crawls), scheme = statistics(reader), reader.scheme
        return {
            "index": str(self._files),
            **in_all,
            "bytes": self._sizes(),
            "tables": self._tables(),
            "scheme": dict(scheme.parts),
            "crawls": crawls,
        }

    def check(self) -> Findings:
        """Verify the database, and the tables against it. Cost: reads all, sorts the entries."""
        try:
            with self._reader() as reader:
                reader.check()
                pages = reader.count()
            for _ in range(_ATTEMPTS):  # a writer may just have replaced the tables
                saved, findings = self._table_files.load(), Findings(pages=pages)
                with Snapshot.open_to_read(self.location) as snapshot:
                    if _compare(snapshot, saved, findings):
                        break
        except StoreCorrupt as damage:
            return Findings([str(damage)])
        except AssertionError as fault:  # then there is nothing to compare tables with
            return Findings([f"the record: {fault}"])
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

    def compact(self) -> Compaction:
        """Write record and tables anew.

        Cost: reads and writes everything, and takes as much room again while it lasts.
        """
        with self._writer() as store:
            before = self._sizes()
            store.vacuum()
            tables = self._tables()
            if tables is not None:
                by_host = tables["scope"] == "host"
                PageIndex.opened(store, tables["max_distance"], by_host=by_host).save(store)
        return Compaction(before, self._sizes(), {})

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

    def migrate(
        self, config: FilterConfig, *, drop_unkept: bool, fresh: bool, watch: Watch
    ) -> Migration:
        """Make its fingerprints anew of the texts that were kept."""
        return migrate(self._files, config, drop_unkept=drop_unkept, fresh=fresh, watch=watch)

    def _reader(self) -> PageReader:
        return PageReader.open_to_read(self.location)

    def _writer(self) -> PageStore:
        """Open it for writing, whatever its scheme is."""
        with self._reader() as reader:
            scheme = reader.scheme
        return PageStore.open(self.location, scheme)

    def _sizes(self) -> dict[str, int]:
        return {
            "record": self._files.page_bytes(),
            "tables": self._table_files.nbytes,
        }

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


def _compare(snapshot: Snapshot, saved: SavedTables | str, findings: Findings) -> bool:
    """Compare tables with the database; return False if others may have taken their place."""
    if isinstance(saved, SavedTables):
        index = PageIndex.loaded(snapshot, saved)
        if isinstance(index, PageIndex):
            findings.entries = len(saved.arrays["rows"])
            findings.faults += [f"the tables: {fault}; {_ANEW}" for fault in index.faults(snapshot)]
            return True
        saved = index
    if saved == NO_TABLES:
        findings.notes.append(f"there are no tables: {_ANEW}")
    elif is_usual(saved):
        findings.notes.append(f"the tables do not belong to this record: {_ANEW}")
    else:
        findings.faults.append(f"the tables: {saved}; {_ANEW}")
    return saved == NO_TABLES
