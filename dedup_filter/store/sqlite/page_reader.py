"""Opens the SQLite database of an index, refuses other files, and reads the records.

While another process writes, a reader sees the last commit, and a snapshot always the same commit.
The writer is a reader, too (`page_store`).

SQLite's application id marks a file as an index, and its user version is the format. A new file is
written in one transaction: if that is interrupted, the file is empty and is made again.

SQLite's integers are signed, so 64-bit values are stored as their two's complement. Its text is
UTF-8, which cannot hold half of a surrogate pair. Texts on the web have lone surrogates: such texts
are stored as bytes, and read by "CAST ... AS TEXT".
"""

import json
import sqlite3
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.resources import files
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dedup_filter.errors import ConfigError, StoreBusy, StoreCorrupt, StoreError, StoreTooNew
from dedup_filter.fingerprints.sketch import KEYS_BYTES, MOST_SKETCH_BYTES
from dedup_filter.store.records import Crawl, PageRecord, Scheme
from dedup_filter.store.sqlite.index_directory import IndexDirectory
from dedup_filter.text.page_url import canonical, url_key

Self = TypeVar("Self", bound="PageReader")

FORMAT = 9
ENTRIES = "entries"
APPLICATION = 0x44454455
"""SQLite's application id of an index: "DEDU"."""
_CACHE_KIB = 65_536
"""Size of SQLite's page cache: the entries of a million pages in one SQL index take some 40 MB,
and URLs arrive in no order."""
_WAIT_SECONDS = 10
"""Time limit to wait for another program that has the file locked."""
_CHUNK = 1_000
_ENTRIES_AT_ONCE = 100_000
ENTRY = np.dtype(
    [
        ("page", np.int64),
        ("is_kept", np.bool_),
        ("has_fingerprint", np.bool_),
        ("fingerprint", "<i8"),
        ("host", np.int64),
        ("digest", "V8"),
        ("keys", f"S{KEYS_BYTES}"),
    ]
)
"""The entry of a page: the number of its host, and the first 8 bytes of its digest."""

MASK = 2**64 - 1
"""`signed & MASK` is the unsigned integer with the same 64 bits."""
COLUMNS = ", ".join(("id", *PageRecord._fields[1:]))
"""The columns of a record, in the order of its fields."""
HOST = "CAST((SELECT name FROM hosts WHERE hosts.id = host) AS TEXT)"
_AS_READ = (
    COLUMNS.replace(" url,", " CAST(url AS TEXT),")
    .replace(" host,", f" {HOST},")
    .replace("h1, title", "CAST(h1 AS TEXT), CAST(title AS TEXT)")
)
_RECORD = f"SELECT {_AS_READ} FROM pages"  # noqa: S608

_COPY = "put back a copy, or move it away and start a new one"
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


def read_sql(name: str) -> str:
    """Return the statements in a file of this package."""
    return files(__package__).joinpath(f"{name}.sql").read_text("utf-8")


def signed(value: int) -> int:
    """Return the signed integer with the same 64 bits."""
    return value - (1 << 64) if value >> 63 else value


def as_column(text: str) -> str | bytes:
    """Return a text in the form in which SQLite takes it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


class PageReader:
    """Reads the records of an index, in a directory or in memory.

    Raises:
        StoreError: by all methods, when SQLite fails.
        ConfigError: by opening: the database belongs to another program, or an older version of
            this package wrote it.
        StoreTooNew: by opening: a newer version of this package wrote the database.
    """

    def __init__(
        self,
        uri: str,
        directory: IndexDirectory | None,
        *pragmas: str,
        scheme: Scheme | None = None,
    ) -> None:
        self.directory = directory
        """None: the index is in memory."""
        self.by_entry = "" if directory is None else "INDEXED BY page_entry"
        """SQL clause to read the entries of pages without their sketches."""
        try:
            self.connection = sqlite3.connect(
                uri, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False, uri=True
            )
        except sqlite3.Error as error:
            raise self._error(error) from error
        try:
            self.connection.text_factory = partial(str, encoding="utf-8", errors="surrogatepass")
            for pragma in (f"cache_size = -{_CACHE_KIB}", *pragmas):
                self.rows(f"PRAGMA {pragma}")
            if scheme is not None and not self.rows("SELECT 1 FROM sqlite_master LIMIT 1"):
                self._make(scheme)
            self._require_format()
            self.saved_entries: str | None = self.noted(ENTRIES)
            """The checksum of the file with the present entries; None: there is none."""
        except BaseException:
            self.connection.close()
            raise

    @classmethod
    def open_to_read(cls: type[Self], directory: str | Path) -> Self:
        """Open an index for reading only; another process may be writing to it.

        Raises:
            ConfigError: there is no index at this path.
        """
        where = IndexDirectory(directory)
        where.require_index()
        uri = f"{where.pages.absolute().as_uri()}?mode=ro"
        try:
            return cls(uri, where, "schema_version")
        except StoreError:
            # In a read-only folder SQLite cannot make the shared-memory file of the write-ahead
            # log, which it needs even if there is no log. Without a log there is no writer.
            if where.log.exists():
                raise
        return cls(f"{uri}&immutable=1", where, "schema_version")

    def rows(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        """Return the rows of a statement."""
        return self.execute(sql, values)[0]

    def execute(
        self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()
    ) -> tuple[list[Any], int]:
        """Execute a statement; return its rows, and the number of the row that it inserted."""
        try:  # `guarded` takes longer
            cursor = self.connection.execute(sql, values)
            return cursor.fetchall(), cursor.lastrowid or 0
        except sqlite3.Error as error:
            self._roll_back()
            raise self._error(error) from error

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Return the first value of the first row, None if there is no row."""
        found = self.rows(sql, values)
        return found[0][0] if found else None

    @contextmanager
    def guarded(self) -> Iterator[sqlite3.Connection]:
        """On an error of SQLite, roll back and raise the error as a `StoreError`."""
        try:
            yield self.connection
        except sqlite3.Error as error:
            self._roll_back()
            raise self._error(error) from error

    def url(self, page: int) -> str:
        """Return the URL of a page. Raises KeyError: there is no such page."""
        url: str = self._first("SELECT CAST(url AS TEXT) FROM pages WHERE id = ?", page)[0]
        return url

    def known_host(self, name: str) -> int | None:
        """Return the number of a host, None if it has none."""
        found = self.value("SELECT id FROM hosts WHERE name = ?", (as_column(name),))
        return None if found is None else int(found)

    def record(self, page: int) -> PageRecord:
        """Return the record of a page. Raises KeyError: there is no such page."""
        return _record(self._first(f"{_RECORD} WHERE id = ?", page))

    def records(self, pages: Iterable[int] | None = None) -> Iterator[PageRecord]:
        """Yield the records of all pages by ascending number; or of some pages, in their order.

        Pages that are gone are left out.
        """
        for page in () if pages is None else pages:
            with suppress(KeyError):
                yield self.record(page)
        sql, last = f"{_RECORD} WHERE id > ? ORDER BY id LIMIT {_CHUNK}", 0
        while pages is None and (rows := self.rows(sql, (last,))):
            yield from map(_record, rows)
            last = rows[-1][0]

    def entry_arrays(self) -> Iterator[npt.NDArray[np.void]]:
        """Yield the entries of all pages, pending ones too, as arrays of `ENTRY` by ascending page.

        Cost: 1 us a page; no sketch is read.
        """
        sql = f"""SELECT id, is_kept, fingerprint IS NOT NULL, ifnull(fingerprint, 0), host,
            substr(digest, 1, 8), keys
            FROM main.pages {self.by_entry} WHERE id > ? ORDER BY id LIMIT ?"""  # noqa: S608
        last = 0
        while rows := self.rows(sql, (last, _ENTRIES_AT_ONCE)):
            last = rows[-1][0]
            yield np.fromiter(rows, ENTRY, len(rows))

    def at_url(self, url: str, *, is_kept: bool | None = None) -> list[int]:
        """Return the kept or the dropped pages at a URL in any spelling, or both (None).

        The earliest come first. Cost: scans an entry of each page, 0.1 s for a million.
        """
        sql = f"""SELECT id FROM pages WHERE is_kept = ifnull(?, is_kept) AND id IN (
            SELECT id FROM main.pages {self.by_entry} WHERE url_key = ?) ORDER BY id"""  # noqa: S608
        found = self.rows(sql, (is_kept, signed(url_key(url))))
        return [page for (page,) in found if canonical(self.url(page)) == canonical(url)]

    def text(self, page: int) -> str | None:
        """Return the stored text of a page, None if no text was stored.

        Raises:
            StoreCorrupt: the stored text is damaged.
        """
        packed = self.value("SELECT text FROM texts WHERE page = ?", (page,))
        try:
            return packed and zlib.decompress(packed).decode("utf-8", "surrogatepass")
        except (zlib.error, UnicodeDecodeError) as error:
            raise StoreCorrupt(
                f"{self}: the text of page {page} is damaged: put back a copy, or forget that page"
            ) from error

    def form(self, page: int) -> bytes | None:
        """Return the stored form of a page, see `records.KEPT_AS_TEXT`; None if none was stored."""
        form: bytes | None = self.value("SELECT form FROM forms WHERE page = ?", (page,))
        return form

    def crawls(self) -> list[Crawl]:
        """List the crawls in their order, numbered from 1."""
        sql = "SELECT id, CAST(name AS TEXT), started, ended, options FROM crawls ORDER BY id"
        return [
            Crawl(number, name, started, ended, options and json.loads(options))
            for number, name, started, ended, options in self.rows(sql)
        ]

    def count(self, *, is_kept: bool | None = None) -> int:
        """Count the kept or the dropped pages, or both (None), pending ones too: one look-up."""
        sql = "SELECT sum(pages) FROM counts WHERE is_kept = ifnull(?, is_kept)"
        return int(self.value(sql, (is_kept,)))

    def __len__(self) -> int:
        """Count the kept pages."""
        return self.count(is_kept=True)

    @property
    def last_page(self) -> int:
        """The highest page number given so far."""
        return self.value("SELECT seq FROM sqlite_sequence WHERE name = 'pages'") or 0

    def noted(self, key: str) -> Any:
        """Return a value of the metadata, None if there is none: see `meta` in `schema.sql`."""
        return self.value("SELECT value FROM meta WHERE key = ?", (key,))

    @property
    def scheme(self) -> Scheme:
        """The scheme of the fingerprints.

        Raises:
            StoreCorrupt: the index has no readable scheme.
        """
        try:
            return Scheme.from_json(self.noted("scheme"))
        except (TypeError, ValueError):  # no scheme, or no JSON object
            raise StoreCorrupt(
                f"{self} does not say how its fingerprints were made: {_COPY}"
            ) from None

    @property
    def nbytes(self) -> int:
        """Size of the database in bytes, in memory or in its file."""
        return int(self.value("PRAGMA page_count") * self.value("PRAGMA page_size"))

    def check(self) -> None:
        """Run SQLite's integrity check, and verify `invariants.sql`. Cost: reads everything.

        Raises:
            StoreCorrupt: the file is damaged.
            AssertionError: an invariant is broken.
        """
        report = self.value("PRAGMA integrity_check(1)")
        if report != "ok":
            raise StoreCorrupt(f"{self}: it is damaged ({report}): {_COPY}")
        sizes = {"most_sketch_bytes": MOST_SKETCH_BYTES, "keys_bytes": KEYS_BYTES}
        faults = self.rows(read_sql("invariants"), sizes)
        assert not faults, faults[0][0]

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self.connection.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __str__(self) -> str:
        return f"index {self.directory or 'memory:'}"

    def _first(self, sql: str, page: int) -> Any:
        for row in self.rows(sql, (page,)):
            return row
        raise KeyError(page)

    def _make(self, scheme: Scheme) -> None:
        meta = {"scheme": scheme.to_json(), "identity": token_hex(8)}
        with self.guarded() as connection:
            connection.executescript(f"BEGIN IMMEDIATE;\n{read_sql('schema')}")
            connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
            connection.execute("COMMIT")

    def _require_format(self) -> None:
        if self.value("PRAGMA application_id") != APPLICATION:
            raise ConfigError(
                f"{self.directory} holds a database of another program: choose another folder"
            )
        found = self.value("PRAGMA user_version")
        if found > FORMAT:
            raise StoreTooNew(
                f"{self} has format {found}, and this version of dedup-filter knows formats up to "
                f"{FORMAT}: install a newer one"
            )
        if found < FORMAT:
            raise ConfigError(
                f"{self} has format {found}, of an older version of dedup-filter, and this one "
                f"reads format {FORMAT}: go on with that version, or choose another folder and "
                "fill it with `dedup-filter index import` from the feeds of earlier crawls"
            )

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def _error(self, error: sqlite3.Error) -> StoreError:
        """Return SQLite's error as one sentence for the user."""
        report = str(error).lower()
        for saying, sentence in _SAYINGS.items():
            if saying in report:
                return _KINDS.get(saying, StoreError)(f"{self}: {sentence}")
        return StoreError(f"{self}: SQLite reports {str(error)!r}")


def _record(row: Sequence[Any]) -> PageRecord:
    record = PageRecord._make(row)
    return record._replace(
        fingerprint=_unsigned(record.fingerprint),
        canonical_key=_unsigned(record.canonical_key),
        is_pending=bool(record.is_pending),
    )


def _unsigned(bits: int | None) -> int | None:
    return None if bits is None else bits & MASK


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
    return None if a is None or b is None else ((a ^ b) & MASK).bit_count()


def statistics(reader: PageReader) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Count the pages of an index, in all and by crawl; another process may be writing to it.

    A record has the first and the last crawl that saw its page, and the outcome in the last one. So
    a page that is seen again counts as revisited for the latest crawl only. Each occurrence of a
    duplicate has its own record. For each crawl, the kept pages first seen in it are counted, the
    kept pages last seen in it, and the latter pages that an earlier crawl saw too (revisited).
    Pending pages count only in the outcomes.

    Cost: reads all pages, half a kilobyte each.
    """
    groups = reader.rows(
        """SELECT first_crawl, crawl, outcome, is_kept, is_pending, count(*) FROM pages
        GROUP BY first_crawl, crawl, outcome, is_kept, is_pending"""
    )
    in_all = Counter[str]()
    none_kept = {"first_seen": 0, "last_seen": 0, "revisited": 0}
    counts: defaultdict[int, dict[str, Counter[str]]] = defaultdict(
        lambda: {"outcomes": Counter(), "kept": Counter(none_kept), "repeats": Counter()}
    )
    for first_crawl, crawl, outcome, is_kept, is_pending, pages in groups:
        in_all[outcome] += pages
        counts[crawl]["outcomes"][outcome] += pages
        if is_kept and not is_pending:
            counts[first_crawl]["kept"]["first_seen"] += pages
            counts[crawl]["kept"]["last_seen"] += pages
            counts[crawl]["kept"]["revisited"] += pages * (crawl != first_crawl)
        elif not is_pending:
            counts[crawl]["repeats"][outcome] += pages
    crawls = [
        {"crawl": number, "name": name, "started": started, "ended": ended, **counts[number]}
        for number, name, started, ended, _ in reader.crawls()
    ]
    [(hosts, first_seen, last_seen)] = reader.rows(
        "SELECT count(DISTINCT host), min(first_seen), max(last_seen) FROM pages"
    )
    return {
        "pages": in_all.total(),
        "kept": sum(group[5] for group in groups if group[3]),
        "pending": sum(group[5] for group in groups if group[4]),
        "outcomes": in_all,
        "hosts": hosts,
        "texts": reader.value("SELECT count(*) FROM texts"),
        "first_seen": first_seen,
        "last_seen": last_seen,
    }, crawls
