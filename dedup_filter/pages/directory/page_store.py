"""The record of every page that was judged: one SQLite file, or the same in memory.

    insert (pending)  ->  commit    it stays for good
                      ->  release   as if it had never been

Each method that writes is one change: whole, or not at all; `flush` is when it outlives the
process. What it does to the entries that an index holds it returns as a `Change`, and nothing
else alters them.

A page seen again in a later crawl ("revisit") is pending as a page of its own. Its commit
gives what was measured of it to the record of the page it revisits, whose number stays; its
release leaves that one as it was.

Numbers of pages are given in order, from 1, and never again after they are gone. Of texts
and frames the store knows only the bytes, and of tables nothing. One thread at a time.

Cost: 13 us for a page inserted in a group into a million; 487 bytes on disk. See
`benchmarks/store.py`.
"""

import weakref
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

from dedup_filter.model import Fate
from dedup_filter.pages.directory.connection import connect_memory, connect_writer
from dedup_filter.pages.directory.file_format import create, is_empty, read_scheme, require_format
from dedup_filter.pages.directory.frame_store import FrameStore
from dedup_filter.pages.directory.index_directory import IndexDirectory
from dedup_filter.pages.directory.owner_lock import OwnerLock
from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.page_rows import (
    INSERT,
    REFRESH,
    REPLACE,
    counted,
    insert_values,
    inserted,
    packed_text,
    replace_values,
)
from dedup_filter.pages.directory.records import Change, Entries, Measured, NewPage
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.superseded import Superseded
from dedup_filter.pages.directory.transactions import Transactions

__all__ = ["PageStore"]

Self = TypeVar("Self", bound="PageStore")

_MOST_REVISITED = 10_000
"""Revisits committed last, of which somebody may still ask: no more are under way at a time."""


class PageStore(PageReader):
    """Reads and writes what is recorded of pages.

    Raises:
        StoreError: by all methods, when the file cannot be read or written.
    """

    def __init__(
        self,
        transactions: Transactions,
        directory: IndexDirectory | None = None,
        lock: OwnerLock | None = None,
    ) -> None:
        super().__init__(transactions, directory)
        self._lock = lock
        transactions.summary = counted
        self.frames = FrameStore(transactions, self._hosts)
        self.superseded = Superseded(transactions)
        self._revisited: dict[int, int] = {}
        """Numbers of revisits that were committed -> the pages that they have become."""
        self._read_last_page()

    @classmethod
    def in_memory(cls: type[Self], scheme: Scheme) -> Self:
        """Make a store that is gone when it is closed, or when nobody has it any more."""
        transactions = Transactions(connect_memory(), "memory:")
        create(transactions, scheme)
        store = cls(transactions)
        weakref.finalize(store, transactions.connection.close)
        return store

    @classmethod
    def open(cls: type[Self], directory: str | Path, scheme: Scheme) -> Self:
        """Open the index in a folder for writing, or make one there.

        Pages that a dead process left pending are released.

        Raises:
            ConfigError: something else is in the folder, or at its path.
            StoreBusy: another process writes to the index.
            SchemeMismatch: its fingerprints were made in another way.
            StoreTooNew, StoreCorrupt, StoreError: it cannot be read, or not be written to.
        """
        files = IndexDirectory.at(directory)
        files.prepare()
        lock = OwnerLock(files)
        try:
            return cls._opened(files, scheme, lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def _opened(cls: type[Self], files: IndexDirectory, scheme: Scheme, lock: OwnerLock) -> Self:
        transactions = Transactions(connect_writer(files.pages), str(files))
        try:
            if is_empty(transactions):
                create(transactions, scheme)
            require_format(transactions)
            scheme.require(read_scheme(transactions), str(files))
            store = cls(transactions, files, lock)
            store._release_all()
        except BaseException:
            transactions.connection.close()
            raise
        return store

    @property
    def last_page(self) -> int:
        """The highest number that was given to a page."""
        if self._undone != self._transactions.undone:
            # The page that had it may have been undone; tables are said to hold all up to here.
            self._read_last_page()
        return self._last_page

    def change(self) -> AbstractContextManager[object]:
        """Make one change of several: `with store.change(): ...` is whole or not at all.

        An error inside must leave it; then what an index has followed must be undone there too.
        """
        return self._transactions.change()

    def insert(self, new: NewPage, *, is_pending: bool = False) -> int:
        """Record a page and return its number.

        Requires: a crawl is going on (`crawls.start`).
        """
        page = self.last_page + 1
        assert self.crawls.current, "no crawl was started"
        with self._transactions.change() as write:
            host = self._hosts.number_for(new.place.host)
            values = insert_values(page, new, host, self.crawls.current, is_pending=is_pending)
            write(INSERT, values)
            if new.text is not None:
                write("INSERT INTO texts VALUES (?, ?)", (page, packed_text(new.text)))
        self._last_page = page
        return page

    def commit(self, page: int) -> Change:
        """Keep a pending page for good; one that is not pending is left as it is."""
        row = self._transactions.row(
            "SELECT outcome, original FROM pages WHERE id = ? AND is_pending", (page,)
        )
        if row is None:
            return Change()
        outcome, original = row
        if outcome == "revisit" and self._entry_row(original):
            return self._refresh(original, page)
        with self._transactions.change() as write:
            write("UPDATE pages SET is_pending = 0 WHERE id = ?", (page,))
            self.frames.settle(page)
        return Change()

    def release(self, page: int) -> Change:
        """Forget a pending page and the pages dropped for it; others are left as they are."""
        if not self.is_pending(page):
            return Change()
        repeats = "SELECT id FROM pages WHERE original = ? AND NOT is_kept"
        with self._transactions.change():
            self.frames.unlearn(page)
            return self.delete([page, *self._numbers(repeats, (page,))])

    def replace(self, page: int, measured: Measured, text: str | None = None) -> Change:
        """Give a kept page other measures, and another text if one is kept of it.

        One that is gone is left so.
        """
        before = self._entries([page])
        with self._transactions.change() as write:
            write(REPLACE, replace_values(page, measured))
            if text is not None:
                write("UPDATE texts SET text = ? WHERE page = ?", (packed_text(text), page))
            return Change.of(before, self._entries([page]))

    def delete(self, pages: Iterable[int]) -> Change:
        """Forget pages for good, with all that is kept of them. Those that are gone are left so."""
        pages = list(pages)
        before = self._entries(pages)
        with self._transactions.change() as write:
            for page in pages:
                write("DELETE FROM pages WHERE id = ?", (page,))
        return Change.of(before)

    def fate(self, page: int) -> Fate:
        """Tell what has become of a page; a revisit that is committed is the page it revisits."""
        return super().fate(self._revisited.get(page, page))

    def count(self, *, is_kept: bool) -> int:
        """Count the pages kept, or those dropped, pending ones too. Cost: 10 us."""
        waiting = inserted(self._transactions.statements(), is_kept=is_kept)
        return super().count(is_kept=is_kept) + waiting

    def flush(self) -> None:
        """Make all that was written so far outlive this process."""
        self._transactions.flush()

    def sync(self) -> None:
        """Make all that was written so far outlive a power failure, too. Cost: waits for disk."""
        self._transactions.sync()

    def close(self) -> None:
        """Flush, and let go of the file; the second time this does nothing.

        Raises:
            StoreError: what was not flushed could not be written, and is lost.
        """
        if self._is_closed:
            return
        try:
            self.flush()
        finally:
            super().close()
            if self._lock:
                self._lock.release()

    def _read_last_page(self) -> None:
        self._undone = self._transactions.undone
        row = self._transactions.row("SELECT seq FROM sqlite_sequence WHERE name = 'pages'")
        self._last_page = int(row[0]) if row else 0

    def _release_all(self) -> None:
        with self._transactions.change():
            # Left to itself, SQLite passes over all pages in the order of their numbers.
            pending = "SELECT id FROM pages INDEXED BY page_pending WHERE is_pending ORDER BY id"
            for page in self._numbers(pending, ()):
                self.release(page)
        self.flush()

    def _refresh(self, page: int, newer: int) -> Change:
        before = self._entries([newer, page])
        with self._transactions.change() as write:
            write(REFRESH, (newer, page))
            write("UPDATE pages SET original = ? WHERE original = ?", (page, newer))
            write("DELETE FROM texts WHERE page = ?", (page,))  # of the page as it was
            write("UPDATE texts SET page = ? WHERE page = ?", (page, newer))
            self.frames.settle(newer)
            write("DELETE FROM pages WHERE id = ?", (newer,))
            change = Change.of(before, self._entries([page]))
        self._revisited[newer] = page
        if len(self._revisited) > _MOST_REVISITED:
            del self._revisited[next(iter(self._revisited))]
        return change

    def _entries(self, pages: Iterable[int]) -> Entries:
        """Return what an index has of some pages."""
        return Entries.of(row for row in map(self._entry_row, pages) if row)

    def _entry_row(self, page: int) -> Any:
        return self._transactions.row(
            "SELECT id, fingerprint, host, digest FROM pages WHERE id = ? AND is_kept", (page,)
        )
