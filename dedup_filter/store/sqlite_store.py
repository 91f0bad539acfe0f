"""An index in one SQLite database, in a folder or in memory: the store of one process.

    SqliteStore   facts are read; batches of facts are written (`store.protocol`)
    open          the index of a folder, to write: one process at a time has the folder's lock
    open_to_read  the same, to read: as it is now, whatever a writer does meanwhile

A batch is one transaction of SQLite. Write-ahead log: readers see the last commit while the writer
writes, and a killed writer leaves a consistent file. SQLite does not wait for the disk
("synchronous = NORMAL"): after a power failure the last batches may be lost, but the file is
consistent. Until a reader closes, SQLite cannot move the log into the file, and the log grows.

SQLite's application id marks a file as an index, and its user version is the format. A new file is
written in one transaction: if that is interrupted, the file is empty and is made again.

SQLite's integers are signed, so 64-bit values are stored as their two's complement. Its text is
UTF-8, which cannot hold half of a surrogate pair. Texts on the web have lone surrogates: such texts
are stored as bytes.

One thread at a time. Cost of a page: see `benchmarks/store.py`.
"""

import json
import logging
import sqlite3
import weakref
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib.resources import files
from pathlib import Path
from secrets import token_hex
from time import time as now
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dedup_filter.errors import ConfigError, StoreBusy, StoreCorrupt, StoreError, StoreTooNew
from dedup_filter.fingerprints.sketch import KEYS, KEYS_BYTES, MOST_SKETCH_BYTES
from dedup_filter.frames.host_frames import Host
from dedup_filter.store.entry_file import UnusableEntries
from dedup_filter.store.folder import IndexFolder, OwnerLock
from dedup_filter.store.key_table import short_keys
from dedup_filter.store.protocol import CRAWLS, LOGS, Batch, Entries, KeptContent, Waiting
from dedup_filter.store.records import Crawl, PageRecord, Scheme, crawls_from_json
from dedup_filter.text.page_url import canonical, url_key

if TYPE_CHECKING:
    from typing_extensions import Self

logger = logging.getLogger(__name__)

Facts = Mapping[Any, Sequence[Any] | None]
"""Key -> the other columns of a row; None: the row is deleted."""

FORMAT = 11
APPLICATION = 0x44454455
"""SQLite's application id of an index: "DEDU"."""
_ENTRIES = "entries"
"""The note with the checksum of the file of entries; missing after a page was written."""
MOST_WAITING = 20_000
"""Waiting pages of all hosts: if 10,000 hosts take turns, the third page of each host still finds
its first page waiting. Packed they take 200 MB."""
_CACHE_KIB = 65_536
"""Size of SQLite's page cache: URLs and hosts arrive in no order."""
_LOG_PAGES = 8_192
"""Size of the log, 32 MB, at which it is moved into the file."""
_WAIT_SECONDS = 10
"""Time limit to wait for another program that has the file locked."""
_AT_ONCE = 512
_ENTRIES_AT_ONCE = 100_000
_MASK = 2**64 - 1
"""`signed & _MASK` is the unsigned integer with the same 64 bits."""

_SIGNED = ("url_key", "fingerprint", "canonical_key")
_TEXTS = ("url", "host", "h1", "title")
_FIELDS = [name for name in PageRecord._fields if name != "is_pending"]
_PENDING = PageRecord._fields.index("is_pending")
_COLUMNS = [name for name in _FIELDS if name not in ("sketch", "visit")]
_WRITE_PAGE = f"""REPLACE INTO pages ({", ".join(_COLUMNS)}, is_kept)
    VALUES ({", ".join(f":{name}" for name in _COLUMNS)}, :is_kept)"""  # noqa: S608
_RECORD = f"SELECT {', '.join(_FIELDS)} FROM pages JOIN sketches USING (page)"  # noqa: S608
_ENTRY = np.dtype(
    [
        ("page", np.int64),
        ("is_kept", np.bool_),
        ("has_fingerprint", np.bool_),
        ("fingerprint", "<i8"),
        ("digest", "V8"),
        ("url_key", "<i8"),
        ("keys", f"S{KEYS_BYTES}"),
    ]
)
_BOUND_WAITING = """DELETE FROM waiting WHERE page IN (
    SELECT page FROM waiting ORDER BY page LIMIT max((SELECT count(*) FROM waiting) - ?, 0))"""
_HOSTS_WITHOUT_PAGES = """SELECT name FROM hosts WHERE counted < ifnull((
    SELECT min(oldest) FROM (
        SELECT min(last_seen) AS oldest FROM pages WHERE is_kept = 1
        UNION ALL SELECT min(last_seen) FROM pages WHERE is_kept = 0
    )), ?) LIMIT ?"""
_OF_PAGE = ("pages", "sketches", "contents", "waiting")
"""The tables whose rows are deleted with a page."""

_COPY = "put back a copy, or move it away and start a new one"
_UNREADABLE = (
    "the frames of some hosts were written by another version of dedup_filter; counting them anew"
)
_SAYINGS = {
    "disk is full": "the disk is full: make room and go on; all that was recorded is still there",
    "disk i/o error": (
        "the disk does not write or read: look at its health, its quota and its mount, and go on"
    ),
    "readonly database": "it cannot be written to: give this user the right to write in its folder",
    "unable to open": (
        "it cannot be opened: give this user the right to read and write in its folder"
    ),
    "closed database": "it is closed: open it again",
    "is locked": "another program holds it locked: close what has it open in another program",
    "malformed": f"it is damaged: {_COPY}",
    "not a database": f"it is no SQLite database any more: {_COPY}",
}
"""Part of SQLite's message -> advice. Error codes are not available in Python 3.10."""
_KINDS = {"is locked": StoreBusy, "malformed": StoreCorrupt, "not a database": StoreCorrupt}
"""Part of SQLite's message -> subclass of StoreError, if there is one."""


class SqliteStore:
    """The facts of an index; implements `Store` and `Recorded`.

    Raises:
        StoreError: by all methods, when SQLite fails.
        ConfigError: by opening: the database belongs to another program, or an older version of
            this package wrote it.
        StoreTooNew: by opening: a newer version of this package wrote the database.
    """

    def __init__(
        self,
        uri: str,
        folder: IndexFolder | None,
        *pragmas: str,
        scheme: Scheme | None = None,
    ) -> None:
        self.folder = folder
        """None: the index is in memory."""
        self.is_durable = folder is not None
        self._lock: OwnerLock | None = None
        self._is_closed = self._has_warned = False
        try:
            self._connection = sqlite3.connect(
                uri, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False, uri=True
            )
        except sqlite3.Error as error:
            raise self._error(error) from error
        try:
            self._connection.text_factory = partial(str, encoding="utf-8", errors="surrogatepass")
            is_new = scheme is not None and not self.rows("SELECT 1 FROM sqlite_master LIMIT 1")
            if not is_new:
                self._require_format()  # first, as a pragma changes the file
            for pragma in (f"cache_size = -{_CACHE_KIB}", *pragmas):
                self.rows(f"PRAGMA {pragma}")
            if scheme is not None and is_new:
                self._make(scheme)
        except BaseException:
            self._connection.close()
            raise

    @classmethod
    def in_memory(cls, scheme: Scheme) -> "Self":
        """Make a store in memory, freed when it is closed or no longer referenced."""
        # Smaller pages waste a tenth of their room.
        store = cls(":memory:", None, "page_size = 16384", scheme=scheme)
        weakref.finalize(store, store._connection.close)
        return store

    @classmethod
    def open(cls, path: str | Path, scheme: Scheme | None = None) -> "Self":
        """Open the index in a folder for writing, or make one there; None: of any scheme.

        Raises:
            ConfigError: the folder has other files, or its path is a file.
            StoreBusy: another process writes to the index.
            SchemeMismatch: the fingerprints of the index have another scheme.
            StoreTooNew, StoreCorrupt, StoreError: the index cannot be read or written.
        """
        folder = IndexFolder(path)
        if scheme is None:
            folder.require_index()
        folder.prepare()
        with ExitStack() as undo:
            lock = OwnerLock(folder)
            undo.callback(lock.release)
            store = cls(
                folder.pages.absolute().as_uri(),
                folder,
                "journal_mode = WAL",
                "synchronous = NORMAL",
                f"wal_autocheckpoint = {_LOG_PAGES}",
                f"journal_size_limit = {2 * _LOG_PAGES * 4096}",
                scheme=scheme,
            )
            undo.callback(store._connection.close)
            if scheme is not None:
                scheme.require(store.scheme, str(folder))
            store._lock = lock
            undo.pop_all()
        return store

    @classmethod
    def open_to_read(cls, path: str | Path) -> "Self":
        """Open an index for reading only; another process may be writing to it.

        Raises:
            ConfigError: there is no index at this path.
        """
        folder = IndexFolder(path)
        folder.require_index()
        uri = f"{folder.pages.absolute().as_uri()}?mode=ro"
        try:
            store = cls(uri, folder, "schema_version")
        except StoreError:
            # In a read-only folder SQLite cannot make the shared-memory file of the write-ahead
            # log, which it needs even if there is no log. Without a log there is no writer.
            if folder.log.exists():
                raise
            store = cls(f"{uri}&immutable=1", folder, "schema_version")
        store.rows("BEGIN")  # from the first read on, every read sees the same commit
        return store

    def rows(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        """Return the rows of a statement."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise self._error(error) from error

    def entries(self) -> Iterator[Entries]:
        """Yield the search keys of all pages by ascending number, in parts."""
        sql = """SELECT page, is_kept, fingerprint IS NOT NULL, ifnull(fingerprint, 0),
            substr(digest, 1, 8), url_key, keys FROM pages WHERE page > ? ORDER BY page LIMIT ?"""
        last, rows = 0, list[Any]([()])
        while rows:
            rows = self.rows(sql, (last, _ENTRIES_AT_ONCE))
            found = np.fromiter(rows, _ENTRY, len(rows))
            last = rows[-1][0] if rows else last
            if rows or not last:
                yield Entries(
                    found["page"],
                    found["is_kept"],
                    found["has_fingerprint"],
                    found["fingerprint"].view("<u8"),
                    found["digest"].copy().view("<u8"),
                    found["url_key"].view("<u8"),
                    short_keys(found["keys"].tobytes()).reshape(-1, KEYS),
                )

    def records(self, pages: Iterable[int] | None = None) -> Iterator[PageRecord]:
        """Yield the records of all pages by ascending number; or of some pages, in their order.

        Pages that are gone are left out. Cost: 10 us plus 5 us a page.
        """
        if pages is None:
            last = 0
            sql = f"{_RECORD} WHERE page > ? ORDER BY page LIMIT ?"
            while rows := self.rows(sql, (last, _AT_ONCE)):
                yield from map(_record, rows)
                last = rows[-1][0]
            return
        numbers = [*pages]
        for start in range(0, len(numbers), _AT_ONCE):
            some = numbers[start : start + _AT_ONCE]
            # One statement for each power of two: SQLite prepares few.
            padded = some + some[-1:] * ((1 << (len(some) - 1).bit_length()) - len(some))
            rows = self.rows(f"{_RECORD} WHERE page IN ({_places(len(padded))})", padded)
            found = {row[0]: row for row in rows}
            yield from (_record(found[page]) for page in some if page in found)

    def at_url(self, url: str) -> list[int]:
        """Return the pages at a URL in any spelling, the earliest first.

        Cost: scans all pages, 0.2 s for a million.
        """
        return self.at_urls([url])[url]

    def at_urls(self, urls: Sequence[str]) -> dict[str, list[int]]:
        """Return the pages at each of some URLs. Cost: as `at_url` for each 1,000 URLs."""
        spellings = {url: canonical(url) for url in urls}
        found: dict[str, list[int]] = {spelling: [] for spelling in spellings.values()}
        keys = [signed(url_key(spelling)) for spelling in found]
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            sql = f"SELECT page, url FROM pages WHERE url_key IN ({_places(len(some))})"  # noqa: S608
            for page, url in self.rows(f"{sql} ORDER BY page", some):
                found.get(canonical(_text(url)), []).append(page)
        return {url: found[spelling] for url, spelling in spellings.items()}

    def oldest(self, most: int, *, is_kept: bool, before: float | None = None) -> list[int]:
        """Return up to `most` least recently seen pages, among the kept or the dropped pages.

        `before`: only pages that were last seen before this Unix second.
        """
        found = self.rows(
            """SELECT page FROM pages WHERE is_kept = ? AND last_seen < ?
            ORDER BY last_seen LIMIT ?""",
            (is_kept, 2**63 - 1 if before is None else before, most),
        )
        return [page for (page,) in found]

    def host(self, name: str) -> Host | None:
        """Return the counted blocks of a host or a site; None: no page of it was counted."""
        found = self.rows("SELECT frame FROM hosts WHERE name = ?", (_column(name),))
        return self._host(name, found[0][0]) if found else None

    def hosts_without_pages(self, most: int) -> list[str]:
        """Return up to `most` hosts and sites that were counted last before any page was seen."""
        return [_text(name) for (name,) in self.rows(_HOSTS_WITHOUT_PAGES, (int(now()), most))]

    def waiting(self, host: str) -> list[Waiting]:
        """Return the waiting pages of a host, the earliest first. Cost: 20 us if there are none."""
        sql = "SELECT page, times, new, form FROM waiting WHERE host = ? ORDER BY page"
        return [
            Waiting(page, host, times, np.frombuffer(new, "<u8"), form)
            for page, times, new, form in self.rows(sql, (_column(host),))
        ]

    def hosts(self) -> Iterator[Host]:
        """Yield the known frames of all hosts and sites, by name."""
        for (name,) in self.rows("SELECT name FROM hosts ORDER BY name"):
            if (host := self.host(_text(name))) is not None:
                yield host

    def content(self, record: PageRecord) -> KeptContent:
        """Return what was kept beside the record of a page.

        Raises:
            StoreCorrupt: the stored text is damaged.
        """
        found = self.rows("SELECT text, form FROM contents WHERE page = ?", (record.page,))
        packed, form = found[0] if found else (None, None)
        try:
            text = packed and zlib.decompress(packed).decode("utf-8", "surrogatepass")
        except (zlib.error, UnicodeDecodeError) as error:
            raise StoreCorrupt(
                f"{self}: the text of page {record.page} is damaged: put back a copy, or forget "
                "that page"
            ) from error
        return KeptContent(text, form, self.url_of_original(record))

    def with_text(self) -> set[int]:
        """Return the numbers of the pages with a stored text."""
        return {page for (page,) in self.rows("SELECT page FROM contents WHERE text IS NOT NULL")}

    def url_of_original(self, record: PageRecord) -> str | None:
        """Return the URL of a page's original; None if there is none, or if it is gone."""
        found = self.rows("SELECT url FROM pages WHERE page = ?", (record.original,))
        return _text(found[0][0]) if found else None

    def count(self, *, is_kept: bool | None = None) -> int:
        """Count the kept or the dropped pages, or both (None). Cost: 30 ms for a million."""
        sql = "SELECT count(*) FROM pages WHERE is_kept = ?"
        return sum(self.rows(sql, (each,))[0][0] for each in (0, 1) if is_kept in (None, each))

    def note(self, key: str) -> str | None:
        """Return a note: see `notes` in `schema.sql`."""
        found = self.rows("SELECT value FROM notes WHERE key = ?", (key,))
        return found[0][0] if found else None

    def crawls(self) -> list[Crawl]:
        """List the crawls in their order, numbered from 1."""
        return crawls_from_json(self.note(CRAWLS))

    @property
    def options(self) -> dict[str, Any]:
        """The options that the last crawl recorded."""
        return next((each.options for each in reversed(self.crawls()) if each.options), {})

    @property
    def scheme(self) -> Scheme:
        """The scheme of the fingerprints.

        Raises:
            StoreCorrupt: the index has no readable scheme.
        """
        try:
            return Scheme.from_json(self.note("scheme") or "")
        except (TypeError, ValueError):  # no scheme, or no JSON object
            raise StoreCorrupt(
                f"{self} does not say how its fingerprints were made: {_COPY}"
            ) from None

    @property
    def memory(self) -> int:
        """Memory of an index in memory, in bytes; 0 for one on disk."""
        return 0 if self.is_durable else self.nbytes

    @property
    def nbytes(self) -> int:
        """Size of the database in bytes, in memory or in its file."""
        sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        return int(self.rows(sql)[0][0])

    def write(self, batch: Batch) -> None:
        """Write all facts of a batch, or none. Cost: 40 us a page."""
        records = [record for record in batch.pages.values() if record is not None]
        gone = [(page,) for page, record in batch.pages.items() if record is None]
        moment = int(now())
        tables: list[tuple[str, str, Facts]] = [
            ("sketches", "page", {each.page: (each.sketch, each.visit) for each in records}),
            ("contents", "page", {page: _of(each) for page, each in batch.contents.items()}),
            ("waiting", "page", {page: _as_row(each) for page, each in batch.waiting.items()}),
            (
                "hosts",
                "name",
                {
                    _column(name): None if host is None else (moment, host.to_bytes())
                    for name, host in batch.hosts.items()
                },
            ),
        ]
        with self._transaction() as connection:
            write = connection.executemany
            if batch.pages:
                connection.execute("DELETE FROM notes WHERE key = ?", (_ENTRIES,))
            write(_WRITE_PAGE, map(_row, records))
            for table, key, facts in tables:
                write(f"DELETE FROM {table} WHERE {key} = ?", [(each,) for each in facts])  # noqa: S608
                rows = [(each, *row) for each, row in facts.items() if row is not None]
                if rows:
                    write(f"INSERT INTO {table} VALUES ({_places(len(rows[0]))})", rows)  # noqa: S608
            for table in _OF_PAGE:
                write(f"DELETE FROM {table} WHERE page = ?", gone)  # noqa: S608
            write("REPLACE INTO notes VALUES (?, ?)", batch.notes.items())
            connection.execute(_BOUND_WAITING, (MOST_WAITING,))

    def saved_arrays(self) -> list[npt.NDArray[Any]] | None:
        """Return the arrays that were saved of these very facts; None: there are none.

        The database has the checksum of their file until a page is written.
        """
        checksum = self.note(_ENTRIES)
        if self.folder is None or checksum is None:
            return None
        try:
            return self.folder.entries.load(checksum)
        except UnusableEntries as reason:
            logger.warning(
                "%s: its entries are read from the record; nothing is lost: %s", self, reason
            )
            self.rows("DELETE FROM notes WHERE key = ?", (_ENTRIES,))
            return None

    def save_arrays(self, arrays: Callable[[], Sequence[npt.NDArray[Any]]]) -> None:
        """Save arrays derived from the facts, unless they are saved already.

        If writing fails, the log says so, and the next opening takes longer.
        """
        if self.folder is None or self.note(_ENTRIES) is not None:
            return
        try:
            self.write(Batch(notes={_ENTRIES: self.folder.entries.save(arrays())}))
        except StoreError as error:
            logger.warning("%s", error)

    def check(self) -> None:
        """Run SQLite's integrity check, and verify `invariants.sql`. Cost: reads everything.

        Raises:
            StoreCorrupt: the file is damaged.
            AssertionError: an invariant is broken.
        """
        report = self.rows("PRAGMA integrity_check(1)")[0][0]
        if report != "ok":
            raise StoreCorrupt(f"{self}: it is damaged ({report.splitlines()[-1]}): {_COPY}")
        sizes = {"most_sketch_bytes": MOST_SKETCH_BYTES, "keys_bytes": KEYS_BYTES}
        faults = self.rows(_sql("invariants"), sizes)
        assert not faults, faults[0][0]

    def close(self) -> None:
        """Close the file; a second call does nothing.

        If more than half of the file is free, it is rewritten without its free room: the cost is in
        proportion to the pages that were deleted, 2 s for 100 MB that stay. Meanwhile this needs at
        most the size of the file again; without that room on disk the file stays as it is.
        """
        if self._is_closed:
            return
        self._is_closed = True
        try:
            if self._lock is not None:
                self._vacuum()
        finally:
            self._connection.close()
            if self._lock is not None:
                self._lock.release()

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __str__(self) -> str:
        return f"index {self.folder or 'memory:'}"

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Make one transaction of a block; undo all of it on an error."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection
            self._connection.execute("COMMIT")
        except BaseException as error:
            with suppress(sqlite3.Error):
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise self._error(error) from error
            raise

    def _make(self, scheme: Scheme) -> None:
        notes = {"scheme": scheme.to_json(), "identity": token_hex(8)}
        try:
            self._connection.executescript(f"BEGIN IMMEDIATE;\n{_sql('schema')}")
            self._connection.executemany("INSERT INTO notes VALUES (?, ?)", notes.items())
            self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
            self._connection.execute(f"PRAGMA user_version = {FORMAT}")
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:  # the caller closes the connection, which rolls back
            raise self._error(error) from error

    def _require_format(self) -> None:
        if self.rows("PRAGMA application_id")[0][0] != APPLICATION:
            raise ConfigError(
                f"{self.folder} holds a database of another program: choose another folder"
            )
        found = self.rows("PRAGMA user_version")[0][0]
        if found > FORMAT:
            raise StoreTooNew(
                f"{self} has format {found}, and this version of dedup-filter knows formats up to "
                f"{FORMAT}: install a newer one"
            )
        if found < FORMAT:
            raise ConfigError(
                f"{self} has format {found}, of an older version of dedup-filter, and this one "
                f"reads format {FORMAT}: export it with that version (dedup-filter index export) "
                "and import the export here, or choose another folder and fill it from the feeds "
                "of earlier crawls"
            )

    def _host(self, name: str, frame: bytes) -> Host | None:
        try:
            return Host.from_bytes(name, frame)
        except (ValueError, zlib.error):
            if not self._has_warned:
                logger.warning(_UNREADABLE)
            self._has_warned = True
            return None

    def _vacuum(self) -> None:
        free = """SELECT 2 * freelist_count > page_count
            FROM pragma_freelist_count, pragma_page_count"""
        try:
            if self.rows(free)[0][0]:
                self.rows("VACUUM")
                self.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        except StoreError as error:
            logger.warning("the free room in the file was not given back: %s", error)

    def _error(self, error: sqlite3.Error) -> StoreError:
        """Return SQLite's error as one sentence for the user."""
        report = str(error).lower()
        for saying, sentence in _SAYINGS.items():
            if saying in report:
                return _KINDS.get(saying, StoreError)(f"{self}: {sentence}")
        return StoreError(f"{self}: SQLite reports {str(error)!r}")


def _sql(name: str) -> str:
    """Return the statements in a file of this package."""
    return files(__package__).joinpath(f"{name}.sql").read_text("utf-8")


def _row(record: PageRecord) -> dict[str, Any]:
    """Return a record as the values of `_WRITE_PAGE`."""
    row = record._asdict() | {"is_kept": record.is_kept}
    row |= {name: row[name] if row[name] is None else signed(row[name]) for name in _SIGNED}
    return row | {name: _column(row[name]) for name in _TEXTS}


def _record(row: Sequence[Any]) -> PageRecord:
    record = PageRecord._make((*row[:_PENDING], False, *row[_PENDING:]))
    near, named = record.fingerprint, record.canonical_key
    return record._replace(
        url_key=record.url_key & _MASK,
        fingerprint=None if near is None else near & _MASK,
        canonical_key=None if named is None else named & _MASK,
        url=_text(record.url),
        host=_text(record.host),
        h1=_text(record.h1),
        title=_text(record.title),
    )


def _of(content: KeptContent | None) -> Sequence[Any] | None:
    return None if content is None else (_packed(content.text), content.form)


def _as_row(waiting: Waiting | None) -> Sequence[Any] | None:
    if waiting is None:
        return None
    return _column(waiting.host), waiting.times, waiting.new.tobytes(), waiting.form


def signed(value: int) -> int:
    """Return the signed integer with the same 64 bits."""
    return value - (1 << 64) if value >> 63 else value


def _column(text: str) -> str | bytes:
    """Return a text in the form in which SQLite takes it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def _text(column: str | bytes) -> str:
    """Return the text of a column."""
    return column if isinstance(column, str) else column.decode("utf-8", "surrogatepass")


def _packed(text: str | None) -> bytes | None:
    return None if text is None else zlib.compress(text.encode("utf-8", "surrogatepass"))


def _places(count: int) -> str:
    return ", ".join("?" * count)


def add_hamming_distance(connection: sqlite3.Connection) -> None:
    """Let statements on an SQLite connection call `hamming_distance(a, b)`, 0 to 64 bits.

    The arguments are signed fingerprints, as in the view `judged_pages`; NULL gives NULL. Cost: 2
    us a call.

    >>> connection = sqlite3.connect(":memory:")
    >>> add_hamming_distance(connection)
    >>> connection.execute("SELECT hamming_distance(-1, 7), hamming_distance(NULL, 7)").fetchone()
    (61, None)
    """
    connection.create_function("hamming_distance", 2, _distance, deterministic=True)


def _distance(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else ((a ^ b) & _MASK).bit_count()


def statistics(store: SqliteStore) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Count the pages of an index, in all and by crawl; another process may be writing to it.

    A record has the first and the last crawl that saw its page, and the outcome in the last one. So
    a page that is seen again counts as revisited for the latest crawl only. Each occurrence of a
    duplicate has its own record. For each crawl, the kept pages first seen in it are counted, the
    kept pages last seen in it, and the latter pages that an earlier crawl saw too (revisited).
    `log` has what the log of a crawl counted, if it had one and has ended.

    Cost: reads all pages without their sketches, a third of a kilobyte each.
    """
    groups = store.rows(
        """SELECT first_crawl, crawl, outcome, is_kept, count(*) FROM pages
        GROUP BY first_crawl, crawl, outcome, is_kept"""
    )
    in_all = Counter[str]()
    none_kept = {"first_seen": 0, "last_seen": 0, "revisited": 0}
    counts: defaultdict[int, dict[str, Counter[str]]] = defaultdict(
        lambda: {"outcomes": Counter(), "kept": Counter(none_kept), "repeats": Counter()}
    )
    logs = json.loads(store.note(LOGS) or "{}")
    for first_crawl, crawl, outcome, is_kept, pages in groups:
        in_all[outcome] += pages
        counts[crawl]["outcomes"][outcome] += pages
        if is_kept:
            counts[first_crawl]["kept"]["first_seen"] += pages
            counts[crawl]["kept"]["last_seen"] += pages
            counts[crawl]["kept"]["revisited"] += pages * (crawl != first_crawl)
        else:
            counts[crawl]["repeats"][outcome] += pages
    crawls = [
        {
            "crawl": each.number,
            "name": each.name,
            "started": each.started,
            "ended": each.ended,
            **counts[each.number],
            **({"log": logs[str(each.number)]} if str(each.number) in logs else {}),
        }
        for each in store.crawls()
    ]
    [(hosts, first_seen, last_seen)] = store.rows(
        "SELECT count(DISTINCT host), min(first_seen), max(last_seen) FROM pages"
    )
    return {
        "pages": in_all.total(),
        "kept": sum(group[4] for group in groups if group[3]),
        "outcomes": in_all,
        "hosts": hosts,
        "texts": len(store.with_text()),
        "first_seen": first_seen,
        "last_seen": last_seen,
    }, crawls
