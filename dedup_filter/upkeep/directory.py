"""Upkeep of an index in a directory. What writes holds the lock of the index.

What only reads works while a crawl is writing. A check takes tables that are missing, out of date
or of another index for no fault but a note, since they are made anew from the record when the
index is opened.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError, StoreCorrupt
from dedup_filter.pages.directory.index_directory import IndexDirectory
from dedup_filter.pages.directory.index_entries import Change
from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.page_store import StoreKeeper
from dedup_filter.pages.directory.records import PageRecord
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.snapshot import KnownHost, Snapshot
from dedup_filter.pages.directory.statistics import CrawlStatistics, statistics
from dedup_filter.pages.directory.table_files import (
    DIGESTS,
    NO_TABLES,
    SavedTables,
    TableFiles,
    from_tables,
)
from dedup_filter.pages.page_index import PageIndex, host_masks
from dedup_filter.upkeep.migrate import migrate
from dedup_filter.upkeep.protocol import (
    Compaction,
    ExportedPage,
    Findings,
    Migration,
    Source,
    Watch,
    options_in,
    pages_by_url,
)
from dedup_filter.wording import counted

__all__ = ["DirectoryIndex"]

_ATTEMPTS = 3
_ANEW = "they are made anew from the record when the index is opened"

Array = npt.NDArray[Any]

_PAIR = np.dtype([("page", np.int64), ("value", np.uint64)])
_ENTRY = np.dtype([*_PAIR.descr, ("host", np.int64)])


class DirectoryIndex:
    """An index in a directory; see `protocol.Index`."""

    def __init__(self, location: str) -> None:
        self.location = location
        self._files = IndexDirectory.at(location)

    def __str__(self) -> str:
        return self.location

    def figures(self) -> dict[str, Any]:
        """Count what it holds. Cost: reads all pages, half a kilobyte each."""
        with self._reader() as reader:
            found, scheme = statistics(reader), reader.scheme
        return {
            "index": str(self._files),
            "pages": found.pages,
            "kept": found.kept,
            "pending": found.pending,
            "outcomes": found.outcomes,
            "hosts": found.hosts,
            "texts": found.texts,
            "first_seen": found.first_seen,
            "last_seen": found.last_seen,
            "bytes": self._sizes(),
            "tables": self._tables(),
            "scheme": dict(scheme.parts),
            "crawls": [_crawl_figures(each) for each in found.crawls],
        }

    def check(self) -> Findings:
        """Verify the record, and the tables against it. Cost: reads all, sorts the entries."""
        try:
            with self._reader() as reader:
                return _check(reader, TableFiles(self._files.tables))
        except StoreCorrupt as damage:
            return Findings([str(damage)])

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
                PageIndex(store, tables["max_distance"], by_host=by_host).save()
        return Compaction(before, self._sizes(), {})

    @contextmanager
    def source(self) -> Iterator[Source]:
        """Hold the index still for an export. Its writer's log grows while that lasts."""
        with self._reader() as reader, Snapshot(reader) as snapshot:
            yield Source(snapshot.scheme, snapshot.crawls(), _pages_of(snapshot), snapshot.hosts())

    def target(self, scheme: Scheme) -> "DirectoryTarget":
        """Open it for records, and make it if there is none."""
        return DirectoryTarget(StoreKeeper.open(self.location, scheme))

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

    def _writer(self) -> StoreKeeper:
        """Open it for writing, whatever its scheme is."""
        with self._reader() as reader:
            scheme = reader.scheme
        return StoreKeeper.open(self.location, scheme)

    def _sizes(self) -> dict[str, int]:
        return {
            "record": self._files.page_bytes(),
            "tables": TableFiles(self._files.tables).nbytes,
        }

    def _tables(self) -> dict[str, Any] | None:
        """Tell what the tables are for and how much they hold; None: they cannot be used."""
        saved = TableFiles(self._files.tables).load()
        if isinstance(saved, str):
            return None
        return {
            "max_distance": saved.about["max_distance"],
            "scope": "host" if saved.about["by_host"] else "all",
            "entries": len(saved.arrays["rows"]),
        }


class DirectoryTarget:
    """An index in a directory, open for the records of an export; see `protocol.Target`."""

    def __init__(self, store: StoreKeeper) -> None:
        self._store = store
        self.scheme = store.scheme
        self.records = store.records
        self.restore_crawl = store.restore_crawl
        self.close = store.close

    def known_hosts(self) -> set[str]:
        """Return the hosts whose frames it knows."""
        return {known.host for known in self._store.frames.all()}

    def restore(self, record: PageRecord, text: str | None) -> int:
        """Record a page under its own number, or the next that is free; return that number."""
        number = max(record.page, self._store.last_page + 1)
        self._store.restore(record._replace(page=number), text)
        return number

    def restore_host(self, known: KnownHost) -> bool:
        """Record the frames of a host."""
        self._store.restore_host(known)
        return True


def _pages_of(snapshot: Snapshot) -> Iterator[ExportedPage]:
    has_texts = snapshot.has_texts()
    for record in snapshot.records():
        text = snapshot.text(record.page) if has_texts else None
        yield ExportedPage(record, snapshot.original_url(record.judged.original), text)


def _crawl_figures(each: CrawlStatistics) -> dict[str, Any]:
    return {
        "crawl": each.crawl.number,
        "name": each.crawl.name,
        "started": each.crawl.started,
        "ended": each.crawl.ended,
        "outcomes": each.outcomes,
        "kept": {
            "first_seen": each.first_seen,
            "last_seen": each.last_seen,
            "revisited": each.revisited,
        },
        "repeats": each.repeats,
    }


def _check(reader: PageReader, files: TableFiles) -> Findings:
    """Verify the record of an index, and its tables against it.

    Cost: reads everything once and sorts the entries.

    Raises:
        StoreError: it cannot be read, or is damaged.
    """
    try:
        reader.check()
    except AssertionError as fault:  # then there is nothing to compare tables with
        return Findings([f"the record: {fault}"])
    pages = reader.count(is_kept=True) + reader.count(is_kept=False)
    for _ in range(_ATTEMPTS):
        findings = Findings(pages=pages)
        if _check_tables(reader, files.load(), findings):
            break
    return findings


def _check_tables(reader: PageReader, saved: SavedTables | str, findings: Findings) -> bool:
    """Compare tables with the record.

    Return False if a writer may just have replaced the tables, so they are to be read again.
    """
    if saved == NO_TABLES:
        findings.notes.append(f"there are no tables: {_ANEW}")
        return True
    if isinstance(saved, str):
        findings.faults.append(f"the tables: {saved}; {_ANEW}")
        return False
    with Snapshot(reader) as snapshot:
        # What has changed since the tables were written; None: that is not known.
        about, change = saved.about, None
        if about["index"] == reader.identity:
            change = snapshot.changed_since(about["revision"], about["last_page"])
        if change is None:
            findings.notes.append(f"the tables do not belong to this record: {_ANEW}")
            return False
        findings.entries = len(saved.arrays["rows"])
        findings.faults += _differences(snapshot, saved, change)
    return True


def _differences(snapshot: Snapshot, saved: SavedTables, change: Change) -> list[str]:
    try:
        from_tables(saved.arrays, saved.about).check()
        from_tables(saved.arrays, saved.about["digests"], DIGESTS).check()
    except (AssertionError, ValueError, KeyError, TypeError) as fault:
        return [f"the tables: {fault}; {_ANEW}"]
    by_host, last_page = saved.about["by_host"], saved.about["last_page"]
    faults = []
    for name, prefix, recorded, removed, added in (
        ("entries", "", snapshot.fingerprints(), change.removed, change.added),
        ("digests", DIGESTS, snapshot.digests(), change.removed_digests, change.added_digests),
    ):
        entries: Array = np.rec.fromarrays(list(recorded), dtype=_ENTRY)
        here = _pairs(entries[entries["page"] <= last_page], by_host=by_host)
        columns = [saved.arrays[f"{prefix}rows"], saved.arrays[f"{prefix}run0"]]
        there: Array = np.rec.fromarrays(columns, dtype=_PAIR)
        there = np.setdiff1d(there, _pairs(np.array(list(removed), _ENTRY), by_host=by_host))
        there = np.union1d(there, _pairs(np.array(list(added), _ENTRY), by_host=by_host))
        for what, wrong in (
            (f"lack {name}", np.setdiff1d(here, there)),
            (f"have {name} that the record does not have,", np.setdiff1d(there, here)),
        ):
            if len(wrong):
                pages = f"{counted(len(wrong), 'page')}, page {int(wrong['page'][0])} first"
                faults.append(f"the tables {what} of {pages}")
    return faults


def _pairs(entries: Array, *, by_host: bool) -> Array:
    """Return the pages and values of entries as tables hold them."""
    masks = host_masks(entries["host"]) if by_host else np.uint64(0)
    return np.rec.fromarrays([entries["page"], entries["value"] ^ masks], dtype=_PAIR)
