"""The records of pages: one SQLite database in a file, or the same in memory.

    insert (pending)  ->  commit    it stays for good
                      ->  release   as if it had never been

Each method that writes is one transaction: whole, or not at all; `flush` is when it outlives the
process. An index of the entries follows by what the database says of itself (`page_index`).

A page seen again in a later crawl ("revisit") is pending as a page of its own. Its commit
gives what was measured of it to the record of the page it revisits, whose number stays; its
release leaves that one as it was.

Numbers of pages are given in order, from 1, and never again after they are gone. Of texts
and frames the store knows only the bytes, and of tables nothing. One thread at a time.

Cost: 13 us for a page inserted in a group into a million; 487 bytes on disk. See
`benchmarks/store.py`.
"""

import weakref
import zlib
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from dedup_filter.model import Fate
from dedup_filter.pages.directory.database import Database
from dedup_filter.pages.directory.frame_store import HostFrames
from dedup_filter.pages.directory.index_directory import IndexDirectory, OwnerLock
from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.records import (
    COLUMNS,
    Crawl,
    PageRecord,
    as_column,
    signed,
    url_key,
)
from dedup_filter.pages.directory.scheme import Scheme

__all__ = ["PageStore"]

_PLACES = ", ".join("?" for _ in COLUMNS.split(","))
_INSERT = f"INSERT INTO pages ({COLUMNS}, is_kept, url_key) VALUES ({_PLACES}, ?, ?)"  # noqa: S608
_UPDATE = f"UPDATE pages SET ({COLUMNS}) = ({_PLACES}) WHERE id = ?"  # noqa: S608
_MOST_REVISITED = 10_000
"""Revisits committed last, of which somebody may still ask: no more are under way at a time."""


class PageStore(PageReader):
    """Reads and writes what is recorded of pages.

    Raises:
        StoreError: by all methods, when the file cannot be read or written.
    """

    def __init__(
        self,
        database: Database,
        directory: IndexDirectory | None = None,
        lock: OwnerLock | None = None,
    ) -> None:
        super().__init__(database, directory)
        self._lock = lock
        self._is_closed = False
        self.crawl = 0
        """The number of the crawl that is going on; 0: none was started here."""
        self._revisited: dict[int, int] = {}
        """Numbers of revisits that were committed -> the pages that they have become."""

    @classmethod
    def in_memory(cls, scheme: Scheme) -> "PageStore":
        """Make a store that is gone when it is closed, or when nobody has it any more."""
        store = cls(Database.in_memory(scheme))
        weakref.finalize(store, store.database.connection.close)
        return store

    @classmethod
    def open(cls, directory: str | Path, scheme: Scheme) -> "PageStore":
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
            database = Database.to_write(files.pages, str(files), scheme)
            undo.callback(database.close)
            scheme.require(database.scheme(), str(files))
            store = cls(database, files, lock)
            store._release_all()
            undo.pop_all()
        return store

    def start_crawl(self, moment: int, name: str | None = None) -> int:
        """Begin a crawl, or go on with the one of this name; return its number."""
        self.crawl = self.restore_crawl(Crawl(0, name, moment, None))
        self.database.write("UPDATE crawls SET ended = NULL WHERE id = ?", (self.crawl,))
        self.flush()
        return self.crawl

    def end_crawl(self, moment: int) -> None:
        """Note when the crawl that is going on was over; with none this does nothing."""
        self.database.write("UPDATE crawls SET ended = ? WHERE id = ?", (moment, self.crawl))

    def insert(self, record: PageRecord, text: str | None = None) -> int:
        """Record a page; return its number, which is the record's own or the next."""
        with self.database as database:
            is_kept = record.judged.is_kept
            row = record.row(database.host(record.host))
            page = database.write(_INSERT, (*row, is_kept, signed(url_key(record.url))))
            # A trigger would make recording a page a third slower.
            database.write("UPDATE counts SET pages = pages + 1 WHERE is_kept = ?", (is_kept,))
            if text is not None:
                database.write("INSERT INTO texts VALUES (?, ?)", (page, _packed(text)))
        self._revisited.pop(page, None)
        return page

    def commit(self, page: int) -> None:
        """Keep a pending page for good; one that is not pending is left as it is."""
        found = self.database.rows(
            """SELECT (SELECT id FROM pages AS older
                WHERE older.id = pages.original AND pages.outcome = 'revisit' AND older.is_kept)
            FROM pages WHERE id = ? AND is_pending""",
            (page,),
        )
        for (revisited,) in found:
            with self.database as database:
                if revisited is not None:
                    self._renew(revisited, page)
                else:
                    database.write("UPDATE pages SET is_pending = 0 WHERE id = ?", (page,))
                self.frames.commit(page)

    def release(self, page: int) -> None:
        """Forget a pending page and the pages dropped for it; others are left as they are."""
        if self.fate(page) == "pending":
            repeats = "SELECT id FROM pages WHERE original = ? AND NOT is_kept"
            with self.database:
                self.frames.unlearn(page)
                self.delete([page, *self._numbers(repeats, (page,))])

    def replace(self, page: int, measures: Mapping[str, Any], text: str | None = None) -> None:
        """Give a page other measures, and another text if one is kept of it.

        A page that is gone stays gone.
        """
        if super().fate(page) != "gone":
            with self.database as database:
                self._write(self.record(page)._replace(**measures))
                if text is not None:
                    packed = _packed(text)
                    database.write("UPDATE texts SET text = ? WHERE page = ?", (packed, page))

    def delete(self, pages: Iterable[int]) -> None:
        """Forget pages for good, with all that is kept of them. Those that are gone are left so."""
        with self.database as database:
            for page in pages:
                database.write("DELETE FROM pages WHERE id = ?", (page,))
                self._revisited.pop(page, None)

    def fate(self, page: int) -> Fate:
        """Tell what has become of a page; a revisit that is committed is the page it revisits."""
        found = super().fate(page)
        if found == "gone" and page in self._revisited:
            return super().fate(self._revisited[page])
        return found

    def restore_crawl(self, crawl: Crawl) -> int:
        """Record a crawl, of another index or a new one; return its number here.

        It keeps its number if that is free. One that is here already, by its name or else by its
        number and start, is that one.
        """
        known = {each.number: each for each in self.crawls()}
        for number, each in known.items():
            is_named = crawl.name is not None and each.name == crawl.name
            if is_named or each._replace(ended=None) == crawl._replace(ended=None):
                return number
        is_free = crawl.number and crawl.number not in known
        number = crawl.number if is_free else max(known, default=0) + 1
        name = None if crawl.name is None else as_column(crawl.name)
        self.database.write(
            "INSERT INTO crawls (id, name, started, ended) VALUES (?, ?, ?, ?)",
            (number, name, crawl.started, crawl.ended),
        )
        return number

    def restore(self, record: PageRecord, text: str | None = None) -> int:
        """Put the record of a page that is not pending back; return its number here.

        That is its own, or the next that is free if others were given since.
        """
        return self.insert(record._replace(page=max(record.page, self.last_page + 1)), text)

    def known_hosts(self) -> set[str]:
        """Return the hosts whose frames are known here."""
        return {known.host for known in self.frames.all()}

    def restore_host(self, known: HostFrames) -> bool:
        """Put back what was known of a host's frames; there must be nothing of it here."""
        self.frames.restore(known)
        return True

    def trim(self, revision: int) -> None:
        """Forget what was superseded up to a revision: tables written there know it."""
        with self.database as database:
            database.write("DELETE FROM superseded WHERE revision <= ?", (revision,))
            database.write("UPDATE meta SET value = ? WHERE key = 'trimmed'", (str(revision),))

    def flush(self) -> None:
        """Make all that was written so far outlive this process."""
        self.database.flush()

    def vacuum(self) -> None:
        """Write the file anew without the room that forgotten pages have left in it.

        Cost: reads and writes everything; takes as much room again while it lasts.
        """
        self.flush()
        with self.database.guarded() as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Flush, and let go of the file; the second time this does nothing.

        Raises:
            StoreError: what was not flushed could not be written, and is lost.
        """
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self.flush()
        finally:
            super().close()
            if self._lock:
                self._lock.release()

    def _release_all(self) -> None:
        with self.database:
            # Left to itself, SQLite passes over all pages in the order of their numbers.
            pending = "SELECT id FROM pages INDEXED BY page_pending WHERE is_pending ORDER BY id"
            for page in self._numbers(pending, ()):
                self.release(page)
        self.flush()

    def _renew(self, page: int, newer: int) -> None:
        """Give a page what was measured when it was visited again; its number and URL stay."""
        old, new = self.record(page), self.record(newer)
        renewed = new._replace(
            page=page,
            url=old.url,
            host=old.host,
            first_seen=old.first_seen,
            last_seen=max(new.last_seen, old.last_seen),
            first_crawl=old.first_crawl,
            is_pending=old.is_pending,
            judged=new.judged._replace(original=None),
        )
        with self.database as database:
            self._write(renewed)
            database.write("UPDATE pages SET original = ? WHERE original = ?", (page, newer))
            database.write("DELETE FROM texts WHERE page = ?", (page,))  # of the page as it was
            database.write("UPDATE texts SET page = ? WHERE page = ?", (page, newer))
            database.write("DELETE FROM pages WHERE id = ?", (newer,))
        self._revisited[newer] = page
        if len(self._revisited) > _MOST_REVISITED:
            del self._revisited[next(iter(self._revisited))]

    def _write(self, record: PageRecord) -> None:
        row = record.row(self.database.host(record.host))
        self.database.write(_UPDATE, (*row, record.page))


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"))
