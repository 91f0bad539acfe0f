"""The records of pages: one SQLite database in a file, or the same in memory.

    insert (pending)  ->  commit    it stays for good
                      ->  release   as if it had never been

Each method that writes is one transaction: whole, or not at all; `flush` is when it outlives the
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
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, TypeVar

from dedup_filter.model import Fate
from dedup_filter.pages.directory import database
from dedup_filter.pages.directory.crawls import Crawl
from dedup_filter.pages.directory.frame_store import HostFrames
from dedup_filter.pages.directory.index_directory import IndexDirectory, OwnerLock
from dedup_filter.pages.directory.index_entries import Change
from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.records import (
    Measured,
    NewPage,
    PageRecord,
    as_column,
    packed_text,
    signed,
)
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.transactions import Transactions
from dedup_filter.pages.directory.url_key import Place, url_key

__all__ = ["PageStore", "StoreKeeper"]

Self = TypeVar("Self", bound="PageStore")

_INSERT = """
    INSERT INTO pages (id, is_pending, is_kept, host, url, url_key, first_seen, last_seen,
        first_crawl, crawl, outcome, reason, original, distance, similarity,
        digest, fingerprint, words, language, h1, title, sketch)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_REPLACE = """
    UPDATE pages SET digest = ?, fingerprint = ?, words = ?, language = ?, h1 = ?, title = ?,
        sketch = ?
    WHERE id = ?
"""
# Its URL and host stay: the number of a page belongs to them.
_REFRESH = """
    UPDATE pages SET (digest, fingerprint, words, language, h1, title, sketch, last_seen, crawl,
        outcome, reason, original, distance, similarity) = (
        SELECT digest, fingerprint, words, language, h1, title, sketch,
            max(last_seen, pages.last_seen), crawl, outcome, reason, NULL, distance, similarity
        FROM pages AS newer WHERE newer.id = ?
    ) WHERE id = ?
"""
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
        self._revisited: dict[int, int] = transactions.cache()
        """Numbers of revisits that were committed -> the pages that they have become."""
        self._given: dict[str, int] = transactions.cache()
        """The highest number that was given to a page, once it was read."""

    @classmethod
    def in_memory(cls: type[Self], scheme: Scheme) -> Self:
        """Make a store that is gone when it is closed, or when nobody has it any more."""
        transactions = Transactions(database.connect_memory(), "memory:")
        database.create_if_empty(transactions, scheme)
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
        with ExitStack() as undo:
            lock = OwnerLock(files)
            undo.callback(lock.release)
            transactions = Transactions(database.connect_writer(files.pages), str(files))
            undo.callback(transactions.connection.close)
            database.create_if_empty(transactions, scheme)
            database.require_format(transactions)
            scheme.require(database.read_scheme(transactions), str(files))
            store = cls(transactions, files, lock)
            store._release_all()
            undo.pop_all()
        return store

    @property
    def last_page(self) -> int:
        """The highest number that was given to a page."""
        if not self._given:
            self._given["pages"] = super().last_page
        return self._given["pages"]

    def transaction(self) -> AbstractContextManager[object]:
        """Join several writes: `with store.transaction(): ...` is whole or not at all.

        Let errors out of the block: the writes are undone. The caller must undo in the index what
        it followed.
        """
        return self._transactions.transaction()

    def insert(self, new: NewPage, *, is_pending: bool = False) -> int:
        """Record a page and return its number.

        Requires: a crawl is going on (`crawls.start`).
        """
        assert self.crawls.current, "no crawl was started"
        crawl = self.crawls.current
        return self._insert(self.last_page + 1, new, (new.seen, crawl, crawl), is_pending)

    def commit(self, page: int) -> Change:
        """Keep a pending page for good; one that is not pending is left as it is."""
        row = self._transactions.row(
            "SELECT outcome, original FROM pages WHERE id = ? AND is_pending", (page,)
        )
        if row is None:
            return Change()
        outcome, original = row
        if outcome == "revisit" and self._entry_rows([original]):
            return self._refresh(original, page)
        with self._transactions.transaction() as write:
            write("UPDATE pages SET is_pending = 0 WHERE id = ?", (page,))
            self.frames.commit(page)
        return Change()

    def release(self, page: int) -> Change:
        """Forget a pending page and the pages dropped for it; others are left as they are."""
        if not self.is_pending(page):
            return Change()
        repeats = "SELECT id FROM pages WHERE original = ? AND NOT is_kept"
        with self.transaction():
            self.frames.unlearn(page)
            return self.delete([page, *self._numbers(repeats, (page,))])

    def replace(self, page: int, measured: Measured, text: str | None = None) -> Change:
        """Give a kept page other measures, and another text if one is kept of it.

        A page that is gone stays gone.
        """
        before = self._entry_rows([page])
        with self._transactions.transaction() as write:
            write(_REPLACE, (*measured.columns(), page))
            if text is not None:
                write("UPDATE texts SET text = ? WHERE page = ?", (packed_text(text), page))
            return Change.of(before, self._entry_rows([page]))

    def delete(self, pages: Iterable[int]) -> Change:
        """Forget pages for good, with all that is kept of them. Those that are gone are left so."""
        pages = list(pages)
        before = self._entry_rows(pages)
        with self._transactions.transaction() as write:
            for page in pages:
                write("DELETE FROM pages WHERE id = ?", (page,))
        return Change.of(before)

    def fate(self, page: int) -> Fate:
        """Tell what has become of a page; a revisit that is committed is the page it revisits."""
        return super().fate(self._revisited.get(page, page))

    def flush(self) -> None:
        """Make all that was written so far outlive this process."""
        self._transactions.flush()

    def sync(self) -> None:
        """Make all that was written so far outlive a power failure, too.

        Cost: waits for the disk, and for nobody who reads.
        """
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

    def _insert(
        self, page: int, new: NewPage, first: tuple[int, int, int], is_pending: bool = False
    ) -> int:
        """Record a page; `first` is when it was seen first, in which crawl, and in which last."""
        first_seen, *crawls = first
        url, key, judged = as_column(new.place.url), signed(new.place.key), new.judged
        with self._transactions.transaction() as write:
            state = page, is_pending, judged.is_kept, self.hosts.number_for(new.place.host)
            seen = first_seen, new.seen, *crawls
            write(_INSERT, (*state, url, key, *seen, *judged, *new.measured.columns()))
            # A trigger would make recording a page a third slower.
            write("UPDATE counts SET pages = pages + 1 WHERE is_kept = ?", (judged.is_kept,))
            if new.text is not None:
                write("INSERT INTO texts VALUES (?, ?)", (page, packed_text(new.text)))
            self._given["pages"] = page
        return page

    def _release_all(self) -> None:
        with self.transaction():
            # Left to itself, SQLite passes over all pages in the order of their numbers.
            pending = "SELECT id FROM pages INDEXED BY page_pending WHERE is_pending ORDER BY id"
            for page in self._numbers(pending, ()):
                self.release(page)
        self.flush()

    def _refresh(self, page: int, newer: int) -> Change:
        before = self._entry_rows([newer, page])
        with self._transactions.transaction() as write:
            write(_REFRESH, (newer, page))
            write("UPDATE pages SET original = ? WHERE original = ?", (page, newer))
            write("DELETE FROM texts WHERE page = ?", (page,))  # of the page as it was
            write("UPDATE texts SET page = ? WHERE page = ?", (page, newer))
            self.frames.commit(newer)
            write("DELETE FROM pages WHERE id = ?", (newer,))
            self._revisited[newer] = page
        if len(self._revisited) > _MOST_REVISITED:
            del self._revisited[next(iter(self._revisited))]
        return Change.of(before, self._entry_rows([page]))

    def _entry_rows(self, pages: Iterable[int]) -> list[Any]:
        """Return the rows of the entries of some pages; those that are not kept have none."""
        sql = "SELECT id, fingerprint, host, digest FROM pages WHERE id = ? AND is_kept"
        return [row for page in pages for row in self._transactions.rows(sql, (page,))]


class StoreKeeper(PageStore):
    """A store that records can be put back into, with their times, crawls and numbers.

    They come from another record: an export, or an index whose fingerprints are made anew.
    For what a method raises see `PageStore`.
    """

    def restore_crawl(self, crawl: Crawl) -> int:
        """Put a crawl back and return its number here.

        It keeps its number if that is free. One that is here already, by its name or else by its
        number and start, is that one.
        """
        for each in self.crawls.all():
            is_named = crawl.name is not None and each.name == crawl.name
            if is_named or each._replace(ended=None) == crawl._replace(ended=None):
                return each.number
        return self.crawls.add(crawl)

    def restore(self, record: PageRecord, text: str | None = None) -> int:
        """Put the record of a page that is not pending back; return its number here.

        That is its own, or the next that is free if others were given since.
        """
        place = Place(record.url, record.host, url_key(record.url))
        new = NewPage(place, record.measured, record.judged, record.last_seen, text)
        first = record.first_seen, record.first_crawl, record.crawl
        return self._insert(max(record.page, self.last_page + 1), new, first)

    def known_hosts(self) -> set[str]:
        """Return the hosts whose frames are known here."""
        return {known.host for known in self.frames.all()}

    def restore_host(self, known: HostFrames) -> bool:
        """Put back what was known of a host's frames; there must be nothing of it here."""
        with self.transaction():
            self.frames.restore(known)
        return True

    def vacuum(self) -> None:
        """Write the file anew without the room that forgotten pages have left in it.

        Cost: reads and writes everything; takes as much room again while it lasts.
        """
        self.flush()
        with self._transactions.guarded() as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
