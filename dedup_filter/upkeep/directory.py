"""Upkeep of an index in a directory. Methods that write hold the lock of the index.

Methods that only read work while a crawl is writing. If tables are missing, out of date or belong
to another index, a check reports a note, not a fault: opening the index rebuilds them from the
database.

`migrate` makes fingerprints in another way, from the texts that were kept:

    DIR -> a new folder beside it, filled -> DIR moved to DIR.backup-<time>, the new one to DIR

DIR is not touched until the folders change names, and its contents are never deleted. Pages keep
their numbers, times, crawls and verdicts. The frames of hosts and the blocks of pages are copied if
both schemes read text in the same way. Titles, headings and images are not read, so the new scheme
cannot use them as features.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields as fields_of
from datetime import datetime
from functools import partial
from os import name as system
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError
from dedup_filter.fingerprints.profile import profile
from dedup_filter.fingerprints.read_page import ReadPage, texts_of
from dedup_filter.fingerprints.sketch import KEY, KEYS, KEYS_BYTES
from dedup_filter.model import Document
from dedup_filter.store.location import scheme_of
from dedup_filter.store.records import PageRecord, Scheme, measures_of
from dedup_filter.store.sqlite.frame_store import FrameStore, all_frames, frames_of
from dedup_filter.store.sqlite.index_directory import IndexDirectory, OwnerLock, UnusableTables
from dedup_filter.store.sqlite.page_index import PageIndex
from dedup_filter.store.sqlite.page_reader import PageReader, Snapshot, statistics
from dedup_filter.store.sqlite.page_store import PageStore
from dedup_filter.upkeep.results import (
    Doubt,
    Entries,
    Findings,
    KeptContent,
    Recorded,
    Searched,
    Source,
    Watch,
    options_in,
    pages_by_url,
)
from dedup_filter.wording import counted

_ANEW = "they are made anew from the record when the index is opened"

_AT_ONCE = 100_000
_ENTRY = np.dtype(
    [
        ("page", np.int64),
        ("is_kept", np.bool_),
        ("has_fingerprint", np.bool_),
        ("fingerprint", np.int64),
        ("digest", "V8"),
        ("keys", f"S{KEYS_BYTES}"),
    ]
)


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
        of_files = {"bytes": self._sizes(), "tables": self._tables() or None}
        return {**in_all, **of_files, "scheme": dict(scheme.parts), "crawls": crawls}

    def check(self) -> Findings:
        """Verify the database, and compare the tables. Cost: reads all, sorts the entries."""
        findings = Findings.of(self._look)
        if not findings.faults:
            with self._reader() as reader:
                findings.pages = reader.count()
            findings.entries = self._tables().get("entries", 0)
        return findings

    def forget(self, urls: Sequence[str]) -> dict[str, int]:
        """Forget all pages at some URLs. Tables are updated when the index is opened next.

        Cost: reads all records; for one URL, 1/100 of that: only an entry of each page is read.
        """
        with self._writer() as store:
            one = map(store.record, store.at_url(urls[0])) if len(urls) == 1 else None
            counts, pages = pages_by_url(urls, one or store.records())
            store.delete(pages)
        return counts

    def compact(self) -> dict[str, Any]:
        """Rewrite database and tables; return the bytes before and after.

        Cost: reads and writes everything, and needs the same space again meanwhile.
        """
        with self._writer() as store:
            before, tables = self._sizes(), self._tables()
            store.vacuum()
            if tables:
                by_host = tables["scope"] == "host"
                PageIndex.opened(store, tables["max_distance"], by_host=by_host).save(store)
        return {"before": before, "after": self._sizes()}

    @contextmanager
    def source(self) -> Iterator[Source]:
        """Read a snapshot for an export. Meanwhile the write-ahead log of a writer grows."""
        with Snapshot.open_to_read(self.location) as snapshot:
            yield Source(
                snapshot.scheme,
                snapshot.crawls(),
                snapshot.records(),
                all_frames(snapshot),
                partial(_content, snapshot),
                snapshot.count(),
            )

    @contextmanager
    def recorded(self) -> Iterator[Recorded]:
        """Read a snapshot to look pages up. Cost: 1 us a page; memory 26 bytes a page."""
        with Snapshot.open_to_read(self.location) as snapshot:
            yield Recorded(
                snapshot.scheme,
                _entries(snapshot),
                lambda pages: map(snapshot.record, pages),
                snapshot.kept_at_url,
                partial(frames_of, snapshot),
                snapshot.dropped_at_url,
                snapshot.repeats,
                partial(_content, snapshot),
            )

    @contextmanager
    def searched(self, max_distance: int) -> Iterator[Searched]:
        """Read a snapshot to find pages within a distance. See `PageIndex.to_search`."""
        with Snapshot.open_to_read(self.location) as snapshot:
            yield Searched(PageIndex.to_search(snapshot, max_distance), snapshot.urls)

    def target(self, scheme: Scheme) -> PageStore:
        """Open the index to restore records; make it if there is none."""
        return PageStore.open(self.location, scheme)

    def filter_options(self) -> dict[str, Any]:
        """Return the options of the last crawl, completed from tables and scheme."""
        try:
            with self._reader() as reader:
                options = options_noted(reader)
        except ConfigError:
            return {}
        tables = self._tables()
        return {name: tables[name] for name in tables if name != "entries"} | options

    def migrate(
        self, config: FilterConfig, *, drop_unkept: bool, fresh: bool, watch: Watch
    ) -> dict[str, Any]:
        """Make the fingerprints anew, as a filter with this configuration does.

        With `fresh` the new index is empty, and the old index is not read: it may be damaged.
        Returns the number of pages in the new index, the number of pages only in the backup, and
        the path of the backup (None: nothing was to be done). Cost: 0.5 ms a page of 1,000 words.

        Raises:
            ConfigError: there is no index, or the text of a page was not kept.
            StoreBusy: another process writes to the index.
            StoreError, OSError: the old index cannot be read or the new one not be written; the old
                index is unchanged.
        """
        self._files.require_index()
        path = self._files.path.resolve()
        pages = left_behind = 0
        with ExitStack() as cleanup:
            lock = OwnerLock(IndexDirectory(path))
            cleanup.callback(lock.release)
            new = TemporaryDirectory(prefix=f".{path.name}.new-", dir=path.parent)
            folder = Path(cleanup.enter_context(new))
            shutil.copymode(path, folder)
            with PageStore.open(folder, scheme_of(config)) as store:
                if not fresh:
                    with Snapshot.open_to_read(path) as snapshot:
                        if snapshot.scheme == store.scheme:
                            return {"pages": snapshot.count(), "left_behind": 0, "backup": None}
                        _require_kept(config, snapshot, drop_unkept=drop_unkept)
                        _fill(store, snapshot, config, watch)
                        pages, left_behind = store.count(), snapshot.count() - store.count()
                store.sync()
            if system == "nt":  # a folder with an open file in it cannot be moved there
                lock.release()
            now = datetime.now().astimezone()
            backup = path.rename(path.with_name(f"{path.name}.backup-{now:%Y%m%d-%H%M%S-%f}"))
            try:
                folder.rename(path)
            except OSError:
                backup.rename(path)
                raise
        return {"pages": pages, "left_behind": left_behind, "backup": str(backup)}

    def _reader(self) -> PageReader:
        return PageReader.open_to_read(self.location)

    def _writer(self) -> PageStore:
        """Open the index for writing, whatever its scheme."""
        with self._reader() as reader:
            scheme = reader.scheme
        return PageStore.open(self.location, scheme)

    def _sizes(self) -> dict[str, int]:
        return {"record": self._files.page_bytes(), "tables": self._files.tables.nbytes}

    def _tables(self) -> dict[str, Any]:
        """Describe the tables: distance, scope, entries; empty if they cannot be used."""
        try:
            arrays, about = self._files.tables.load()
        except UnusableTables:
            return {}
        return {
            "max_distance": about["max_distance"],
            "scope": "host" if about["by_host"] else "all",
            "entries": len(arrays["rows0"]),
        }

    def _look(self, only: set[int] | None) -> set[Doubt]:
        """Compare the tables with the database; the first time, verify the database, too."""
        if only is None:
            with self._reader() as reader:
                reader.check()
        with Snapshot.open_to_read(self.location) as snapshot:
            try:
                index = PageIndex.loaded(snapshot)
            except UnusableTables as reason:
                return {Doubt(f"the tables: {reason}; {_ANEW}", is_fault=not reason.is_usual)}
            return {Doubt(f"the tables: {fault}; {_ANEW}") for fault in index.faults(snapshot)}


def options_noted(reader: PageReader) -> dict[str, Any]:
    """Return the options of the scheme, and the options that the last crawl recorded."""
    of_crawls = [crawl.options for crawl in reader.crawls() if crawl.options]
    known = {option.name for option in fields_of(FilterConfig)}
    last = of_crawls[-1] if of_crawls else {}
    return options_in(reader.scheme) | {name: last[name] for name in last if name in known}


def _entries(snapshot: Snapshot) -> Entries:
    """Read the entries of all pages."""
    parts, last = [np.empty(0, _ENTRY)], 0
    while rows := snapshot.entries_after(last, _AT_ONCE):
        entries = (
            (page, is_kept, value is not None, value or 0, digest[:8], keys)
            for page, is_kept, value, digest, keys in rows
        )
        parts.append(np.fromiter(entries, _ENTRY, len(rows)))
        last = rows[-1][0]
    found = np.concatenate(parts)
    return Entries(
        found["page"],
        found["is_kept"],
        found["has_fingerprint"],
        found["fingerprint"].view(np.uint64),
        found["digest"].copy().view("<u8"),
        found["keys"].copy().view(KEY).reshape(-1, KEYS),
    )


def _content(snapshot: Snapshot, record: PageRecord) -> KeptContent:
    return KeptContent(
        snapshot.text(record.page), snapshot.form(record.page), snapshot.url_of_original(record)
    )


def _require_kept(config: FilterConfig, snapshot: Snapshot, *, drop_unkept: bool) -> None:
    """Raise ConfigError if fingerprints need text that was not kept."""
    if any(config.part_weights):
        raise ConfigError(
            "titles, headings and images were not kept, so they cannot count: leave their "
            "weights at 0, or begin a new index with --fresh"
        )
    without = 0 if drop_unkept else snapshot.without_text()
    if without:
        raise ConfigError(
            f"the texts of {without:,} of {counted(snapshot.count(), 'page')} were not kept, so "
            "their fingerprints cannot be made anew: leave these pages behind with --drop-unkept, "
            "or begin a new index with --fresh (either way a backup keeps them)"
        )


def _fill(store: PageStore, snapshot: Snapshot, config: FilterConfig, watch: Watch) -> None:
    """Copy all pages whose texts were kept, with new fingerprints."""
    are_read_alike = store.scheme.parts.get("text") == snapshot.scheme.parts.get("text")
    for crawl in snapshot.crawls():
        store.restore_crawl(crawl)
    with watch(snapshot.records(), snapshot.count()) as records:
        for record in records:
            text = snapshot.text(record.page)
            if text is not None:
                document = Document(text, language=record.language)
                texts = texts_of(ReadPage.of(document, config))
                measured = measures_of(profile(texts, config), is_kept=record.is_kept)
                # These stay as they are: they depend on more than the text, which was not kept.
                del measured["digest"], measured["h1"], measured["title"]
                form = snapshot.form(record.page) if are_read_alike else None
                store.restore(record._replace(**measured), text, form)
    if are_read_alike:
        frames = FrameStore(store)
        for known in all_frames(snapshot):
            frames.restore(known)
