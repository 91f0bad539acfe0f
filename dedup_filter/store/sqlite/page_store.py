"""Writes the records of pages: to one SQLite database, in a file or in memory.

    insert (pending)  ->  commit    the page stays
                      ->  release   the page is deleted

    transaction   one or more statements: all or none
    group         transactions of some 200 statements, about 64 pages, which SQLite commits as one:
                  a commit costs more than the transactions themselves (docs/decisions/0004)
    flush         write the changed frames of hosts, and commit the group; from here on it outlives
                  this process

On a full or failing disk SQLite rolls back everything since its last commit. So the statements of
the group are kept in memory, and are executed again before the next access: a fault undoes only the
transaction in which it occurs. Executed again, the statements give the same rows, because they
depend only on earlier statements.

Write-ahead log: readers see the last commit while the writer writes, and a killed writer leaves a
consistent file. SQLite does not wait for the disk ("synchronous = NORMAL"): after a power failure
the last groups may be lost, but the file is consistent.

A page seen again in a later crawl ("revisit") is pending as a page of its own. Its commit moves its
measures into the record of the revisited page, whose number stays. Its release does not change the
revisited page.

Page numbers are given in order, from 1, and never reused. One thread at a time. Cost of a page: see
`benchmarks/store.py`; 487 bytes on disk.
"""

import json
import logging
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import time as now
from typing import TYPE_CHECKING, Any, NamedTuple

from dedup_filter.errors import StoreError
from dedup_filter.model import Fate
from dedup_filter.store.records import Crawl, PageRecord, Scheme
from dedup_filter.store.sqlite.index_directory import IndexDirectory, OwnerLock
from dedup_filter.store.sqlite.page_reader import (
    COLUMNS,
    ENTRIES,
    HOST,
    MASK,
    PageReader,
    as_column,
    signed,
)
from dedup_filter.text.headlines import Headline
from dedup_filter.text.page_url import url_key

if TYPE_CHECKING:
    from dedup_filter.frames.host_frames import ChangedHost

logger = logging.getLogger(__name__)

BOOKMARK = "bookmark"
_FULL_GROUP = 200
"""Statements in a group. A larger group hardly saves time, and a killed process would lose more
pages."""
_LOG_PAGES = 8_192
"""Size of the log, 32 MB, at which it is moved into the file. A page of an SQL index that is
written many times in the meantime is moved once."""
_MOST_HOSTS = 100_000
"""Host numbers held in memory, 8 MB; a crawl mostly returns to a host before this many others."""
_MOST_REVISITED = 10_000
"""The latest committed revisits stay readable by `fate`: a crawl processes fewer pages at once."""

_PLACES = ", ".join("?" for _ in COLUMNS.split(","))
_INSERT = f"INSERT INTO pages ({COLUMNS}, is_kept, url_key) VALUES ({_PLACES}, ?, ?)"  # noqa: S608
_UPDATE = f"UPDATE pages SET ({COLUMNS}) = ({_PLACES}) WHERE id = ?"  # noqa: S608
_STORED = f"""SELECT id, {HOST}, crawl, url_key, digest, fingerprint, CAST(h1 AS TEXT),
    CAST(title AS TEXT), sketch, CAST(url AS TEXT), canonical_key FROM pages"""  # noqa: S608


Entry = tuple[int, int | None, int, bytes, bytes]
"""Number, fingerprint (signed), number of the host, digest, and keys of the phrases of a page."""
_ENTRY = "SELECT id, fingerprint, host, digest, keys FROM pages WHERE id = ? AND is_kept"


class Stored(NamedTuple):
    """The fields of a stored page that other pages are compared with."""

    host: str
    sketch: bytes
    headline: Headline
    page: int
    crawl: int
    """The last crawl that saw the page."""
    url_key: int
    digest: bytes
    fingerprint: int | None
    url: str
    canonical_key: int | None


class PageStore(PageReader):
    """Reads and writes the records of pages; reads include records that are not flushed yet.

    Raises:
        StoreError: by all methods, when the file cannot be read or written.
    """

    def __init__(
        self, uri: str, directory: IndexDirectory | None, *pragmas: str, scheme: Scheme
    ) -> None:
        self.crawl = 0
        """The number of the current crawl; 0: no crawl was started here."""
        self._lock: OwnerLock | None = None
        self._is_closed = False
        self._group: list[tuple[str, Sequence[Any]]] = []
        """Statements that SQLite has not committed yet."""
        self._is_writing = False
        """Whether a transaction is open."""
        self._hosts: dict[str, int] = {}
        """Host -> number; cleared when a transaction is undone, because it may have added hosts."""
        self._revisited: dict[int, int] = {}
        """Number of a committed revisit -> number of the page that it revisited."""
        self.gone: list[int] = []
        """Pages that were deleted; the owner reads and clears this list."""
        self.hosts_gone: list[str] = []
        """Hosts and sites whose frames were deleted; the owner reads and clears this list."""
        self.changed_frames: dict[str, ChangedHost] = {}
        """Name -> host or site whose frame is to be written with the group."""
        self.changes: list[tuple[bool, Entry]] | None = None
        """Entries of kept pages that were added (True) or removed, in this order; the owner of an
        index reads and clears this list. None: no index follows this store."""
        self.bookmark: Callable[[], str] | None = None
        """Returns the value stored as `BOOKMARK` by each commit; if it raises, the commit fails."""
        super().__init__(uri, directory, *pragmas, scheme=scheme)

    @classmethod
    def in_memory(cls, scheme: Scheme) -> "PageStore":
        """Make a store in memory, freed when it is closed or no longer referenced."""
        # Smaller pages waste a tenth of their room; and no second copy of the entries is needed.
        store = cls(":memory:", None, "page_size = 16384", scheme=scheme)
        store.rows("DROP INDEX page_entry")
        weakref.finalize(store, store.connection.close)
        return store

    @classmethod
    def open(cls, directory: str | Path, scheme: Scheme) -> "PageStore":
        """Open the index in a folder for writing, or make one there.

        Pages that a dead process left pending are released.

        Raises:
            ConfigError: the folder has other files, or its path is a file.
            StoreBusy: another process writes to the index.
            SchemeMismatch: the fingerprints of the index have another scheme.
            StoreTooNew, StoreCorrupt, StoreError: the index cannot be read or written.
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
            store.write("DELETE FROM meta WHERE key = ?", (ENTRIES,))
            store.release_pending()
            store.flush()
            store._lock = lock
            undo.pop_all()
        return store

    def rows(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        """Return the rows of a statement."""
        if self._group and not self.connection.in_transaction:
            self._begin()
        return self.execute(sql, values)[0]

    def write(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Execute a statement in a transaction; return the number of the row inserted last.

        Requires: the caller does not change the values afterwards.
        """
        if not self._is_writing:
            with self.transaction():
                return self.write(sql, values)
        _, number = self.execute(sql, values)
        self._group.append((sql, values))
        return number

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all statements of the block, or none.

        A nested transaction is part of the outer one: an error that leaves the inner block must
        leave the outer block, too.
        """
        if self._is_writing:
            yield
            return
        if len(self._group) >= _FULL_GROUP:
            self.flush()
        self._begin()
        self._is_writing = True
        undone: list[list[Any]] = [self._group, self.gone, self.hosts_gone]
        undone += [] if self.changes is None else [self.changes]
        lengths = [*map(len, undone)]
        try:
            yield
        except BaseException:
            for each, length in zip(undone, lengths, strict=True):
                del each[length:]
            self._hosts.clear()
            self._roll_back()
            raise
        finally:
            self._is_writing = False

    def flush(self) -> None:
        """Commit the group: everything written so far outlives this process.

        Requires: no open transaction, because half of it would be committed.
        """
        assert not self._is_writing, "a transaction is going on"
        with self.guarded() as connection:
            if self._group or self.changed_frames:
                self._begin()
                if self.bookmark is not None:
                    row = BOOKMARK, self.bookmark()
                    connection.execute("REPLACE INTO meta VALUES (?, ?)", row)
                for host, (counted, packed) in self.changed_frames.items():
                    for statement in _frame_written(host, counted, packed()):
                        connection.execute(*statement)
            if connection.in_transaction:
                connection.execute("COMMIT")
        self._group.clear()
        self.changed_frames.clear()

    def host(self, name: str) -> int:
        """Return the number of a host; a new host gets a number."""
        number = self._hosts.get(name) or self.known_host(name)
        if number is None:
            number = self.write("INSERT INTO hosts (name) VALUES (?)", (as_column(name),))
        if len(self._hosts) >= _MOST_HOSTS:
            self._hosts.clear()
        self._hosts[name] = number
        return number

    def write_frame(self, host: str, record: bytes) -> None:
        """Write the frame of a host, with the present as the time of its last counted page."""
        with self.transaction():
            for statement in _frame_written(host, int(now()), record):
                self.write(*statement)

    def stored(self, pages: Sequence[int]) -> list[Stored]:
        """Return the fields of pages for the comparison with another page, in the order given.

        Pages that are gone are left out. Cost: 4 us plus 2 us a page.
        """
        if not pages:
            return []
        # One statement for each power of two: with one for each count, SQLite would prepare most.
        places = 1 << (len(pages) - 1).bit_length()
        padded = [*pages, *[pages[-1]] * (places - len(pages))]
        rows = self.rows(f"{_STORED} WHERE id IN ({', '.join('?' * places)})", padded)
        found = {}
        for page, host, crawl, key, digest, value, h1, title, sketch, url, named in rows:
            near, canonical = (None if each is None else each & MASK for each in (value, named))
            rest = page, crawl, key & MASK, digest, near, url, canonical
            found[page] = Stored(host, sketch, Headline(h1, title), *rest)
        return [found[page] for page in pages if page in found]

    def index_urls(self, *, is_wanted: bool) -> None:
        """Make the SQL index that `kept_at` needs, or drop it.

        Cost: a new index scans all pages; then some 20 bytes a page, written in no order.
        """
        sql = "CREATE INDEX IF NOT EXISTS page_url ON pages (url_key) WHERE is_kept"
        self.write(sql if is_wanted else "DROP INDEX IF EXISTS page_url")
        self.flush()

    def kept_at(self, key: int, most: int) -> list[int]:
        """Return the latest `most` pages at a URL that are kept or pending.

        Pages without a fingerprint are left out. Requires: `index_urls`. Cost: 10 us.
        """
        found = self.rows(
            """SELECT id FROM pages INDEXED BY page_url
            WHERE url_key = ? AND is_kept AND fingerprint IS NOT NULL ORDER BY id DESC LIMIT ?""",
            (signed(key), most),
        )
        return [page for (page,) in found]

    def oldest(self, most: int, *, is_kept: bool, before: float = 2**63 - 1) -> list[int]:
        """Return up to `most` least recently seen pages, among the kept or the dropped pages.

        Pending pages are left out, and pages last seen at or after `before`, in Unix seconds.
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
        """Begin a crawl, or resume the crawl of this name; return its number.

        `options`: plain JSON, the options that judge its pages from now on.
        """
        self.crawl = self.restore_crawl(Crawl(0, name, moment, None))
        sql = "UPDATE crawls SET ended = NULL, options = ? WHERE id = ?"
        self.write(sql, (_json(options), self.crawl))
        self.flush()
        return self.crawl

    def end_crawl(self, moment: int) -> None:
        """Record when the current crawl ended; without a crawl do nothing."""
        self.write("UPDATE crawls SET ended = ? WHERE id = ?", (moment, self.crawl))

    def insert(self, record: PageRecord, text: str | None = None, form: bytes | None = None) -> int:
        """Record a page; return its number: the record's own, or the next if that is 0.

        `text` and `form` are stored with the page if they are given.
        """
        is_kept = record.is_kept
        with self.transaction():
            row = self._row(record)
            page = self.write(_INSERT, (*row, is_kept, signed(url_key(record.url))))
            if is_kept:
                _, _, host, digest, fingerprint, *_, keys = row
                self._changed([(True, (page, fingerprint, host, digest, keys))])
            # A trigger would make recording a page a third slower.
            self.write("UPDATE counts SET pages = pages + 1 WHERE is_kept = ?", (is_kept,))
            if text is not None:
                self.write("INSERT INTO texts VALUES (?, ?)", (page, _packed(text)))
            if form is not None:
                self.write("INSERT INTO forms VALUES (?, ?)", (page, form))
        self._revisited.pop(page, None)
        return page

    def commit(self, page: int) -> None:
        """Commit a pending page; do nothing for any other."""
        found = self.rows(
            """SELECT (SELECT id FROM pages AS older
                WHERE older.id = pages.original AND pages.outcome = 'revisit' AND older.is_kept)
            FROM pages WHERE id = ? AND is_pending""",
            (page,),
        )
        for (revisited,) in found:
            with self.transaction():
                if revisited is not None:
                    self._revisit(revisited, page)
                else:
                    self.write("UPDATE pages SET is_pending = 0 WHERE id = ?", (page,))

    def release(self, page: int) -> None:
        """Forget a pending page and its duplicates; do nothing for any other."""
        if self.fate(page) == "pending":
            sql = "SELECT id FROM pages WHERE original = ? AND NOT is_kept"
            repeats = [repeat for (repeat,) in self.rows(sql, (page,))]
            self.delete([page, *repeats])

    def release_pending(self) -> None:
        """Forget all pending pages and their duplicates."""
        with self.transaction():
            # Without INDEXED BY, SQLite scans all pages in the order of their numbers.
            pending = "FROM pages INDEXED BY page_pending WHERE is_pending ORDER BY id"
            for (page,) in self.rows(f"SELECT id {pending}"):
                self.release(page)

    def replace(self, page: int, measures: Mapping[str, Any], text: str | None = None) -> None:
        """Replace the measures of a page, and its text if one is stored.

        If the page is gone, do nothing.
        """
        if self.value("SELECT 1 FROM pages WHERE id = ?", (page,)):
            with self.transaction():
                self._update(self.record(page)._replace(**measures))
                if text is not None:
                    self.write("UPDATE texts SET text = ? WHERE page = ?", (_packed(text), page))

    def delete(self, pages: Iterable[int]) -> None:
        """Delete pages with their texts and forms; ignore pages that are gone."""
        with self.transaction():
            for page in pages:
                self._delete(page)
                self._revisited.pop(page, None)
                self.gone.append(page)

    def trim_frames(self) -> None:
        """Delete the frames whose last page was counted before the oldest page was last seen.

        All pages counted in these frames are gone. Cost: 10 us, plus 20 us for each frame.
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
        """Return the fate of a page; a committed revisit has the fate of the page it revisits."""
        sql = "SELECT CASE WHEN is_pending THEN 'pending' ELSE 'kept' END FROM pages WHERE id = ?"
        found: Fate | None = self.value(sql, (page,))
        if found is None and page in self._revisited:
            return self.fate(self._revisited[page])
        return found or "gone"

    def restore_crawl(self, crawl: Crawl) -> int:
        """Record a new crawl or a crawl of another index; return its number here.

        If a crawl with the same name, or without names the same number and start, is already here,
        its number is returned. Otherwise the crawl keeps its number if the number is free.
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
        """Restore the record of a page that is not pending; return its number here.

        The number is the record's own, or the next free one if a number as high was given already.
        """
        return self.insert(record._replace(page=max(record.page, self.last_page + 1)), text, form)

    def close(self) -> None:
        """Flush and close the file; a second call does nothing.

        If more than half of the file is free, it is rewritten without its free room: the cost is in
        proportion to the pages that were deleted, 2 s for 100 MB that stay. Meanwhile this needs at
        most the size of the file again; without that room on disk the file stays as it is.

        Raises:
            StoreError: the last group could not be written, and is lost.
        """
        if self._is_closed:
            return
        self._is_closed = True
        try:
            if self.saved_entries is not None:
                self.write("REPLACE INTO meta VALUES (?, ?)", (ENTRIES, self.saved_entries))
            self.flush()
            if self.directory is not None:
                self._vacuum()
        finally:
            super().close()
            if self._lock:
                self._lock.release()

    def _begin(self) -> None:
        """Open a transaction of SQLite, if none is open, and execute the group in it again."""
        if not self.connection.in_transaction:
            with self.guarded() as connection:
                connection.execute("BEGIN IMMEDIATE")
                for sql, values in self._group:
                    connection.execute(sql, values)

    def _revisit(self, page: int, newer: int) -> None:
        """Give a page the measures of its revisit `newer`; the page's number and URL stay."""
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
        self._update(renewed)
        self.write("UPDATE pages SET original = ? WHERE original = ?", (page, newer))
        # The text and the form of the revisit replace those from the earlier visit.
        for table in ("texts", "forms"):
            self.write(f"DELETE FROM {table} WHERE page = ?", (page,))  # noqa: S608
            self.write(f"UPDATE {table} SET page = ? WHERE page = ?", (page, newer))  # noqa: S608
        self._delete(newer)
        self._revisited[newer] = page
        if len(self._revisited) > _MOST_REVISITED:
            del self._revisited[next(iter(self._revisited))]

    def _update(self, record: PageRecord) -> None:
        before = self.rows(_ENTRY, (record.page,))
        self.write(_UPDATE, (*self._row(record), record.page))
        after = self.rows(_ENTRY, (record.page,))
        if before != after:
            self._changed([(False, each) for each in before] + [(True, each) for each in after])

    def _delete(self, page: int) -> None:
        if entries := self.rows(_ENTRY, (page,)):
            self._changed([(False, each) for each in entries])
        self.write("DELETE FROM pages WHERE id = ?", (page,))

    def _changed(self, changes: list[tuple[bool, Entry]]) -> None:
        """Record changes of entries; the saved entries are no longer the present ones."""
        self.saved_entries = None
        if self.changes is not None:
            self.changes += changes

    def _vacuum(self) -> None:
        if 2 * self.value("PRAGMA freelist_count") <= self.value("PRAGMA page_count"):
            return
        try:
            self.rows("VACUUM")
            self.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        except StoreError as error:
            logger.warning("the free room in the file was not given back: %s", error)

    def _row(self, record: PageRecord) -> tuple[Any, ...]:
        """Return a record as a row of `COLUMNS`."""
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
    """Yield the statements that write the frame of a host, or of a site, whose name may be new."""
    name = as_column(host)
    yield "INSERT OR IGNORE INTO hosts (name) VALUES (?)", (name,)
    sql = "REPLACE INTO host_frames SELECT id, ?, ? FROM hosts WHERE name = ?"
    yield sql, (counted, record, name)


def _json(options: Mapping[str, Any] | None) -> str | None:
    return None if options is None else json.dumps(dict(options), sort_keys=True)


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"))
