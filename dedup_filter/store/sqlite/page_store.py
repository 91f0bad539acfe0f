"""The records of pages, written: one SQLite database in a file, or the same in memory.

    insert (pending)  ->  commit    it stays for good
                      ->  release   as if it had never been

    transaction   one or more statements: whole, or not at all
    group         transactions of some 200 statements, about 64 pages, which SQLite commits as one:
                  a commit costs more than the transactions themselves (docs/decisions/0004)
    flush         write the frames of hosts that have changed, and commit the group; from here on
                  it outlives this process

On a full or failing disk SQLite gives up everything since its last commit. So the statements of the
group are kept in memory, and are executed again before the next access: a fault costs the
transaction that met it and no other. They give the same rows again, because statements depend on
nothing but earlier ones.

Write-ahead log: readers see the last commit while the writer writes, and a killed writer leaves a
whole file. SQLite does not wait for the disk ("synchronous = NORMAL"): after a power failure the
last groups may be gone, and what is there is whole. `sync` waits.

A page seen again in a later crawl ("revisit") is pending as a page of its own. Its commit
gives what was measured of it to the record of the page it revisits, whose number stays; its
release leaves that one as it was.

Numbers of pages are given in order, from 1, and never again after they are gone. One thread at a
time. Cost of a page: see `benchmarks/store.py`; 487 bytes on disk.
"""

import json
import sqlite3
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import time as now
from typing import TYPE_CHECKING, Any, NamedTuple

from dedup_filter.model import Fate
from dedup_filter.store.records import Crawl, PageRecord, Scheme
from dedup_filter.store.sqlite.index_directory import IndexDirectory, OwnerLock
from dedup_filter.store.sqlite.page_reader import (
    COLUMNS,
    FORMAT,
    HOST,
    MASK,
    PageReader,
    as_column,
    signed,
)
from dedup_filter.text.headlines import Headline
from dedup_filter.text.page_url import canonical, url_key

if TYPE_CHECKING:
    from dedup_filter.frames.host_frames import ChangedHost

BOOKMARK = "bookmark"
_FULL_GROUP = 200
"""Statements. With more, the time for a transaction hardly falls, and more would be lost with the
process."""
_LOG_PAGES = 8_192
"""The log is moved into the file when it has so many pages, 32 MB. A page of an SQL index that is
written many times in the meantime is moved once."""
_MOST_HOSTS = 100_000
"""Numbers that are remembered, 8 MB; a crawl comes back to a host within so many others."""
_MOST_REVISITED = 10_000
"""Revisits committed last, of which somebody may still ask: no more are under way at a time."""

_PLACES = ", ".join("?" for _ in COLUMNS.split(","))
_INSERT = f"INSERT INTO pages ({COLUMNS}, is_kept, url_key) VALUES ({_PLACES}, ?, ?)"  # noqa: S608
_UPDATE = f"UPDATE pages SET ({COLUMNS}) = ({_PLACES}) WHERE id = ?"  # noqa: S608
_STORED = f"""SELECT id, {HOST}, crawl, url_key, digest, fingerprint, CAST(h1 AS TEXT),
    CAST(title AS TEXT), sketch FROM pages"""  # noqa: S608


class Stored(NamedTuple):
    """What tells whether another page repeats a stored one."""

    host: str
    sketch: bytes
    headline: Headline
    page: int
    crawl: int
    """The last one that it was seen in."""
    url_key: int
    digest: bytes
    fingerprint: int | None


class PageStore(PageReader):
    """Reads and writes what is recorded of pages; what is not flushed yet is read, too.

    Raises:
        StoreError: by all methods, when the file cannot be read or written.
    """

    def __init__(
        self, uri: str, directory: IndexDirectory | None, *pragmas: str, scheme: Scheme
    ) -> None:
        self.crawl = 0
        """The number of the crawl that is going on; 0: none was started here."""
        self._lock: OwnerLock | None = None
        self._is_closed = False
        self._group: list[tuple[str, Sequence[Any]]] = []
        """Statements that SQLite has not committed yet."""
        self._is_writing = False
        """Whether a transaction is going on."""
        self._hosts: dict[str, int] = {}
        """Numbers of hosts; forgotten when a transaction is undone, as it may have given some."""
        self._revisited: dict[int, int] = {}
        """Numbers of revisits that were committed -> the pages that they have become."""
        self.gone: list[int] = []
        """Pages that were deleted; for who follows them to take note of, and to clear."""
        self.hosts_gone: list[str] = []
        """Hosts and sites whose frames were deleted; to clear, too."""
        self.changed_frames: dict[str, ChangedHost] = {}
        """By name, the hosts and sites whose frames are to be written with the group."""
        self.bookmark: Callable[[], str] | None = None
        """What is noted under `BOOKMARK` with each commit; if it fails, so does the commit."""
        super().__init__(uri, directory, *pragmas, scheme=scheme)

    @classmethod
    def in_memory(cls, scheme: Scheme) -> "PageStore":
        """Make a store that is gone when it is closed, or when nobody has it any more."""
        # Of smaller pages a tenth is left over at their ends; and no copy of the entries is needed.
        store = cls(":memory:", None, "page_size = 16384", scheme=scheme)
        store.rows("DROP INDEX page_entry")
        weakref.finalize(store, store.connection.close)
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
        files = IndexDirectory(directory)
        files.prepare()
        with ExitStack() as undo:
            lock = OwnerLock(files)
            undo.callback(lock.release)
            store = cls(
                files.pages.absolute().as_uri(),
                files,
                "journal_mode = WAL",
                "synchronous = NORMAL",
                f"wal_autocheckpoint = {_LOG_PAGES}",
                f"journal_size_limit = {2 * _LOG_PAGES * 4096}",
                scheme=scheme,
            )
            undo.callback(store.connection.close)
            scheme.require(store.scheme, str(files))
            with store.transaction():
                # Left to itself, SQLite passes over all pages in the order of their numbers.
                pending = "FROM pages INDEXED BY page_pending WHERE is_pending ORDER BY id"
                for (page,) in store.rows(f"SELECT id {pending}"):
                    store.release(page)
            store.flush()
            store._lock = lock
            undo.pop_all()
        return store

    def rows(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        """Read the rows that a statement gives."""
        try:
            if self._group and not self.connection.in_transaction:
                self._begin()
            return self.connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise self._error(error) from error

    def write(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Execute a statement, in a transaction; return the number of the row inserted last.

        The values must not be altered afterwards.
        """
        if not self._is_writing:
            with self.transaction():
                return self.write(sql, values)
        try:
            cursor = self.connection.execute(sql, values)
        except sqlite3.Error as error:
            raise self._error(error) from error
        self._group.append((sql, values))
        return cursor.lastrowid or 0

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all that is written within, or nothing.

        A transaction inside another one is a part of that: an error that leaves it must leave the
        whole, too.
        """
        if self._is_writing:
            yield
            return
        if len(self._group) >= _FULL_GROUP:
            self.flush()
        self._begin()
        before, self._is_writing = len(self._group), True
        gone, hosts_gone = len(self.gone), len(self.hosts_gone)
        try:
            yield
        except BaseException:
            del self._group[before:], self.gone[gone:], self.hosts_gone[hosts_gone:]
            self._hosts.clear()
            self._roll_back()
            raise
        finally:
            self._is_writing = False

    def flush(self) -> None:
        """Commit the group: everything written so far outlives this process.

        Requires: no transaction is going on; half of it would stay.
        """
        assert not self._is_writing, "a transaction is going on"
        with self.guarded() as connection:
            if self._group or self.changed_frames:
                self._begin()
                if self.bookmark is not None:
                    noted = BOOKMARK, self.bookmark()
                    connection.execute("REPLACE INTO meta VALUES (?, ?)", noted)
                for host, (counted, packed) in self.changed_frames.items():
                    for statement in _frame_written(host, counted, packed()):
                        connection.execute(*statement)
            if connection.in_transaction:
                connection.execute("COMMIT")
        self._group.clear()
        self.changed_frames.clear()

    def sync(self) -> None:
        """Flush, and return when everything is on disk: it outlives a power failure.

        A commit with "synchronous = FULL" waits until the write-ahead log is on disk, with all
        earlier commits in it. Unlike a checkpoint, it does not wait for processes that read.
        """
        self.flush()
        self.rows("PRAGMA synchronous = FULL")
        try:
            # Nothing is committed unless something is written: the same number again.
            self.write(f"PRAGMA user_version = {FORMAT}")
            self.flush()
        finally:
            self.rows("PRAGMA synchronous = NORMAL")

    def host(self, name: str) -> int:
        """Return the number of a host; it gets one if it has none."""
        number = self._hosts.get(name)
        if number is None:
            column = (as_column(name),)
            self.write("INSERT OR IGNORE INTO hosts (name) VALUES (?)", column)
            [(number,)] = self.rows("SELECT id FROM hosts WHERE name = ?", column)
            if len(self._hosts) >= _MOST_HOSTS:
                self._hosts.clear()
            self._hosts[name] = number
        return number

    def write_frame(self, host: str, record: bytes) -> None:
        """Write the frame of a host, as if it were counted now."""
        with self.transaction():
            for statement in _frame_written(host, int(now()), record):
                self.write(*statement)

    def at_url(self, url: str) -> list[int]:
        """Find all pages at a URL, however it is spelt, the earliest first.

        Cost: passes over an entry of each page, 0.1 s for a million.
        """
        sql = f"SELECT id FROM pages {self.entries} WHERE url_key = ? ORDER BY id"  # noqa: S608
        found = self.rows(sql, (signed(url_key(url)),))
        return [page for (page,) in found if canonical(self.url(page)) == canonical(url)]

    def stored(self, pages: Sequence[int]) -> list[Stored]:
        """Return what tells which of some pages another repeats, in their order.

        Cost: 4 us and 2 us a page. Raises KeyError: there is no such page.
        """
        if not pages:
            return []
        # A statement for each power of two: one for each count would be prepared anew each time.
        places = 1 << (len(pages) - 1).bit_length()
        asked = [*pages, *[pages[-1]] * (places - len(pages))]
        rows = self.rows(f"{_STORED} WHERE id IN ({', '.join('?' * places)})", asked)
        found = {}
        for page, host, crawl, key, digest, value, h1, title, sketch in rows:
            near = None if value is None else value & MASK
            told = page, crawl, key & MASK, digest, near
            found[page] = Stored(host, sketch, Headline(h1, title), *told)
        return [found[page] for page in pages]

    def index_urls(self, *, is_wanted: bool) -> None:
        """Let `kept_at` find pages by URL, or stop keeping what it needs for that.

        Cost: passes over all pages if that changes; then some 20 bytes a page, in no order.
        """
        sql = "CREATE INDEX IF NOT EXISTS page_url ON pages (url_key) WHERE is_kept"
        self.write(sql if is_wanted else "DROP INDEX IF EXISTS page_url")
        self.flush()

    def kept_at(self, key: int, most: int) -> list[int]:
        """Return the last pages at a URL that are kept or pending.

        Those without a fingerprint are left out. Requires: `index_urls`. Cost: 10 us.
        """
        found = self.rows(
            """SELECT id FROM pages INDEXED BY page_url
            WHERE url_key = ? AND is_kept AND fingerprint IS NOT NULL ORDER BY id DESC LIMIT ?""",
            (signed(key), most),
        )
        return [page for (page,) in found]

    def oldest(self, most: int, *, is_kept: bool, before: float = 2**63 - 1) -> list[int]:
        """Return so many of the pages not seen for longest, of those kept or those dropped.

        Pending pages are left out, and those last seen at a Unix second or later.
        """
        found = self.rows(
            """SELECT id FROM pages WHERE is_kept = ? AND last_seen < ? AND NOT is_pending
            ORDER BY last_seen LIMIT ?""",
            (is_kept, before, most),
        )
        return [page for (page,) in found]

    def start_crawl(
        self, moment: int, name: str | None = None, options: Mapping[str, Any] | None = None
    ) -> int:
        """Begin a crawl, or go on with the one of this name; return its number.

        `options`, plain JSON: by which its pages are judged from now on.
        """
        self.crawl = self.restore_crawl(Crawl(0, name, moment, None))
        sql = "UPDATE crawls SET ended = NULL, options = ? WHERE id = ?"
        self.write(sql, (_json(options), self.crawl))
        self.flush()
        return self.crawl

    def end_crawl(self, moment: int) -> None:
        """Note when the crawl that is going on was over; with none this does nothing."""
        self.write("UPDATE crawls SET ended = ? WHERE id = ?", (moment, self.crawl))

    def insert(self, record: PageRecord, text: str | None = None, form: bytes | None = None) -> int:
        """Record a page; return its number, which is the record's own or the next.

        `text` and `form` are kept of it if they are given.
        """
        is_kept = record.is_kept
        with self.transaction():
            values = (*self._row(record), is_kept, signed(url_key(record.url)))
            page = self.write(_INSERT, values)
            # A trigger would make recording a page a third slower.
            self.write("UPDATE counts SET pages = pages + 1 WHERE is_kept = ?", (is_kept,))
            if text is not None:
                self.write("INSERT INTO texts VALUES (?, ?)", (page, _packed(text)))
            if form is not None:
                self.write("INSERT INTO forms VALUES (?, ?)", (page, form))
        self._revisited.pop(page, None)
        return page

    def commit(self, page: int) -> None:
        """Keep a pending page for good; one that is not pending is left as it is."""
        found = self.rows(
            """SELECT (SELECT id FROM pages AS older
                WHERE older.id = pages.original AND pages.outcome = 'revisit' AND older.is_kept)
            FROM pages WHERE id = ? AND is_pending""",
            (page,),
        )
        for (revisited,) in found:
            with self.transaction():
                if revisited is not None:
                    self._renew(revisited, page)
                else:
                    self.write("UPDATE pages SET is_pending = 0 WHERE id = ?", (page,))

    def release(self, page: int) -> None:
        """Forget a pending page and the pages dropped for it; others are left as they are."""
        if self.fate(page) == "pending":
            sql = "SELECT id FROM pages WHERE original = ? AND NOT is_kept"
            repeats = [repeat for (repeat,) in self.rows(sql, (page,))]
            self.delete([page, *repeats])

    def replace(self, page: int, measures: Mapping[str, Any], text: str | None = None) -> None:
        """Give a page other measures, and another text if one is kept of it.

        A page that is gone stays gone.
        """
        if self.value("SELECT 1 FROM pages WHERE id = ?", (page,)):
            with self.transaction():
                self._write(self.record(page)._replace(**measures))
                if text is not None:
                    self.write("UPDATE texts SET text = ? WHERE page = ?", (_packed(text), page))

    def delete(self, pages: Iterable[int]) -> None:
        """Forget pages for good, with all that is kept of them. Those that are gone are left so."""
        with self.transaction():
            for page in pages:
                self.write("DELETE FROM pages WHERE id = ?", (page,))
                self._revisited.pop(page, None)
                self.gone.append(page)

    def trim_frames(self) -> None:
        """Delete the frames of hosts and sites that were counted last before any page was seen.

        No page that counts in them is left. Cost: 10 us, and 20 for each that is deleted.
        """
        oldest = [
            self.value("SELECT min(last_seen) FROM pages WHERE is_kept = ?", (is_kept,))
            for is_kept in (True, False)
        ]
        before = min((moment for moment in oldest if moment is not None), default=int(now()))
        sql = """SELECT CAST(name AS TEXT) FROM host_frames JOIN hosts ON id = host
            WHERE counted < ?"""
        written = {name for (name,) in self.rows(sql, (before,))}
        changed = {name: host.counted for name, host in self.changed_frames.items()}
        gone = [name for name in {*written, *changed} if changed.get(name, 0) < before]
        delete = "DELETE FROM host_frames WHERE host = (SELECT id FROM hosts WHERE name = ?)"
        with self.transaction():
            for name in gone:
                self.write(delete, (as_column(name),))
            self.hosts_gone += gone

    def fate(self, page: int) -> Fate:
        """Tell what has become of a page; a revisit that is committed is the page it revisits."""
        sql = "SELECT CASE WHEN is_pending THEN 'pending' ELSE 'kept' END FROM pages WHERE id = ?"
        found: Fate | None = self.value(sql, (page,))
        if found is None and page in self._revisited:
            return self.fate(self._revisited[page])
        return found or "gone"

    def restore_crawl(self, crawl: Crawl) -> int:
        """Record a crawl, of another index or a new one; return its number here.

        It keeps its number if that is free. One that is here already, by its name or else by its
        number and start, is that one.
        """
        number, name, started, ended, options = crawl
        column = None if name is None else as_column(name)
        known = self.value(
            """SELECT id FROM crawls
            WHERE name = ?2 OR (id = ?1 AND started = ?3 AND name IS NULL AND ?2 IS NULL)""",
            (number, column, started),
        )
        if known is not None:
            return int(known)
        is_free = number and not self.rows("SELECT 1 FROM crawls WHERE id = ?", (number,))
        return self.write(
            "INSERT INTO crawls (id, name, started, ended, options) VALUES (?, ?, ?, ?, ?)",
            (number if is_free else None, column, started, ended, _json(options)),
        )

    def restore(
        self, record: PageRecord, text: str | None = None, form: bytes | None = None
    ) -> int:
        """Put the record of a page that is not pending back; return its number here.

        That is its own, or the next that is free if others were given since.
        """
        return self.insert(record._replace(page=max(record.page, self.last_page + 1)), text, form)

    def trim(self, revision: int) -> None:
        """Forget what was superseded up to a revision: tables written there know it."""
        with self.transaction():
            self.write("DELETE FROM superseded WHERE revision <= ?", (revision,))
            self.write("UPDATE meta SET value = ? WHERE key = 'trimmed'", (str(revision),))

    def vacuum(self) -> None:
        """Write the file anew without the room that forgotten pages have left in it.

        Cost: reads and writes everything; takes as much room again while it lasts.
        """
        self.flush()
        with self.guarded() as connection:
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

    def _begin(self) -> None:
        """Let SQLite be in a transaction that holds the whole group."""
        try:
            if not self.connection.in_transaction:
                self.connection.execute("BEGIN IMMEDIATE")
                for sql, values in self._group:
                    self.connection.execute(sql, values)
        except sqlite3.Error as error:
            self._roll_back()
            raise self._error(error) from error

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
            original=None,
        )
        self._write(renewed)
        self.write("UPDATE pages SET original = ? WHERE original = ?", (page, newer))
        # Of the page as it was; what was kept of it as it is now takes that place.
        self.write("DELETE FROM texts WHERE page = ?", (page,))
        self.write("UPDATE texts SET page = ? WHERE page = ?", (page, newer))
        self.write("DELETE FROM forms WHERE page = ?", (page,))
        self.write("UPDATE forms SET page = ? WHERE page = ?", (page, newer))
        self.write("DELETE FROM pages WHERE id = ?", (newer,))
        self._revisited[newer] = page
        if len(self._revisited) > _MOST_REVISITED:
            del self._revisited[next(iter(self._revisited))]

    def _write(self, record: PageRecord) -> None:
        self.write(_UPDATE, (*self._row(record), record.page))

    def _row(self, record: PageRecord) -> tuple[Any, ...]:
        """Write a record as a row of `COLUMNS`."""
        page, url, host, digest, fingerprint, *plain, h1, title, canonical_key, keys = record
        return (
            page or None,
            as_column(url),
            self.host(host),
            digest,
            None if fingerprint is None else signed(fingerprint),
            *plain,
            as_column(h1),
            as_column(title),
            None if canonical_key is None else signed(canonical_key),
            keys,
        )


def _frame_written(host: str, counted: int, record: bytes) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield the statements that write the frame of a host, or of a site, which has no page."""
    name = as_column(host)
    yield "INSERT OR IGNORE INTO hosts (name) VALUES (?)", (name,)
    sql = "REPLACE INTO host_frames SELECT id, ?, ? FROM hosts WHERE name = ?"
    yield sql, (counted, record, name)


def _json(options: Mapping[str, Any] | None) -> str | None:
    return None if options is None else json.dumps(dict(options), sort_keys=True)


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"))
