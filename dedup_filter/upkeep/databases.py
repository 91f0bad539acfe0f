"""Records of an index -> a table of pages in a database, or a Parquet file, for queries in SQL.

    sqlite:FILE                                          a table in an SQLite database
    postgresql://[user[:password]@]host[:port]/database  a table there, in the first schema of the
                                                         search path; options as libpq has them
    FILE.parquet                                         a Parquet file

All have the columns of `COLUMNS`, which `docs/sql.md` describes. 64-bit fingerprints are signed, as
SQL has no unsigned integers. b0 to b3 are their blocks of 16 bits, the highest first, each with an
SQL index that also has the fingerprint and the page.

A table or file appears whole or not at all, and replaces another only if forced. Records pass one
by one, so memory does not grow with their number. User, password and options of a location are
never shown. Databases cannot hold null characters and halves of surrogate pairs in texts: U+FFFD
replaces each.
"""

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import lru_cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from dedup_filter.errors import ConfigError, DedupError
from dedup_filter.store.records import PageRecord
from dedup_filter.store.sqlite.page_reader import APPLICATION, MASK, signed
from dedup_filter.upkeep.whole_file import require_free, require_place, whole_file
from dedup_filter.wording import as_time

COLUMNS = {
    "page": "number",
    "url": "text",
    "host": "text",
    "outcome": "text",
    "reason": "text",
    "original_page": "number",
    "distance": "number",
    "similarity": "share",
    "language": "text",
    "words": "number",
    "first_seen": "time",
    "last_seen": "time",
    "first_crawl": "number",
    "crawl": "number",
    "fingerprint": "number",
    "b0": "block",
    "b1": "block",
    "b2": "block",
    "b3": "block",
    "digest": "bytes",
    "h1": "text",
    "title": "text",
}
"""Name -> kind."""
DEFAULT_TABLE = "pages"

_BLOCKS = ("b0", "b1", "b2", "b3")
_OPTIONAL = {"reason", "original_page", "distance", "similarity", "language", "fingerprint"}
_OPTIONAL |= {*_BLOCKS}
_TEXTS = [name for name, kind in COLUMNS.items() if kind == "text"]
_TYPES = {
    "number": ("INTEGER", "bigint", "int64"),
    "block": ("INTEGER", "integer", "int32"),
    "text": ("TEXT", "text", "string"),
    "time": ("TEXT", "timestamptz", "timestamp"),
    "share": ("REAL", "double precision", "float64"),
    "bytes": ("BLOB", "bytea", "binary"),
}
"""Kind -> type in SQLite, in PostgreSQL and in Arrow."""
_SQLITE, _POSTGRESQL, _ARROW = (
    {kind: types[place] for kind, types in _TYPES.items()} for place in range(3)
)

_ROWS_AT_ONCE = 20_000
"""Rows in a group of a Parquet file, which are in memory together."""
_SECONDS_TO_CONNECT = 10
_SECONDS_LOCKED = 10
"""Longest wait for another program that has locked an SQLite database."""
_HOST = r"(?:[\w.%-]*|\[[\w.:%]*\])(?::\d+)?"
_URL = re.compile(
    rf"postgres(?:ql)?://(?:[^/?#@]*@)?(?P<hosts>{_HOST}(?:,{_HOST})*)"
    r"(?:/(?P<database>[^/?#@]*))?(?:\?[^#@]*)?",
    re.ASCII,
)
_WRONG_URL = (
    "--to: the address of a PostgreSQL database is postgresql://user:password@host:port/database, "
    "special characters of each part as %XX, and behind a question mark options that libpq has"
)
_as_time = lru_cache(maxsize=1_000)(as_time)  # pages that were seen together pass together
_UNFIT = re.compile("[\0\ud800-\udfff]")


class Target(Protocol):
    """A destination of records; `str` names it without user and password."""

    def write(self, records: Iterable[PageRecord], *, is_forced: bool) -> int:
        """Write all records; return their number.

        Raises:
            ConfigError: the table or file exists and is not forced, or a library is missing.
            DedupError: the database reports an error; it is unchanged.
            OSError: the file cannot be written; an earlier file is still there.
        """


def target_at(location: str, table: str | None = None) -> Target:
    """Return the target of an export; nothing is opened yet. `table`: `DEFAULT_TABLE` if None.

    Raises:
        ConfigError: the location or the name is wrong. The message shows no password.
    """
    scheme, is_named, path = location.partition(":")
    if scheme in ("postgresql", "postgres"):
        return PostgresTable(location, table)
    if scheme == "sqlite" and is_named:
        return SqliteTable(path, table)
    if "://" in location or not location.lower().endswith(".parquet"):
        # It may be a mistyped address, and have a password in it.
        raise ConfigError(
            "--to must be postgresql://user@host/database, sqlite:FILE or FILE.parquet, not "
            f"{scheme!r}{':...' if is_named else ''}"
        )
    if table is not None:
        raise ConfigError("--table: a Parquet file has no tables")
    return ParquetFile(location)


class _Table:
    """A table in a database: the common part for SQLite and PostgreSQL."""

    def __init__(self, name: str | None) -> None:
        self._name = DEFAULT_TABLE if name is None else name
        # PostgreSQL cuts longer names, so another table could be taken for this one.
        if not self._name.isprintable() or not 0 < len(self._name.encode()) <= 63:
            raise ConfigError("--table: a name has 1 to 63 bytes, and no control characters")
        self._quoted = _quoted(self._name)

    def _definition(self, types: dict[str, str]) -> str:
        columns = (
            f"{name} {types[kind]}{'' if name in _OPTIONAL else ' NOT NULL'}"
            for name, kind in COLUMNS.items()
        )
        return f"({', '.join(columns)}, PRIMARY KEY (page))"

    def _there_already(self) -> ConfigError:
        return ConfigError(
            f"{self} has a table {self._name!r}, which is not replaced without --force: choose "
            "another name with --table"
        )


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


class SqliteTable(_Table):
    """A table in an SQLite database, which is made if there is none."""

    def __init__(self, path: str, table: str | None) -> None:
        super().__init__(table)
        if not path or path.startswith("//"):
            raise ConfigError("--to: an SQLite database is named by its file alone: sqlite:FILE")
        self._path = Path(path)

    def __str__(self) -> str:
        return f"sqlite:{self._path}"

    def write(self, records: Iterable[PageRecord], *, is_forced: bool) -> int:
        """Write all records in one transaction; for errors see `Target`."""
        require_place(self._path)
        try:
            self._path.open("xb").close()
            is_new = True
        except FileExistsError:
            is_new = False
        try:
            uri = f"{self._path.absolute().as_uri()}?mode=rwc"
            with closing(
                sqlite3.connect(uri, _SECONDS_LOCKED, uri=True, isolation_level=None)
            ) as connection:
                return self._write(connection.execute, records, is_forced)
        except BaseException as error:
            if is_new:
                for suffix in ("", "-journal"):  # SQLite would replay a journal
                    self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            if isinstance(error, sqlite3.Error):
                raise DedupError(f"{self}: SQLite reports: {error}") from error
            raise

    def _write(
        self, run: Callable[..., sqlite3.Cursor], records: Iterable[PageRecord], is_forced: bool
    ) -> int:
        if run("PRAGMA application_id").fetchone() == (APPLICATION,):
            raise ConfigError(f"{self} is the database of an index itself: choose another file")
        run("BEGIN IMMEDIATE")
        if run(f"PRAGMA table_info({self._quoted})").fetchone():
            if not is_forced:
                raise self._there_already()
            run(f"DROP TABLE {self._quoted}")
        run(f"CREATE TABLE {self._quoted} {self._definition(_SQLITE)}")
        insert = f"INSERT INTO {self._quoted} VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608
        pages = run("SELECT 1").executemany(insert, _rows(records, _as_time)).rowcount
        for block in _BLOCKS:
            name = _quoted(f"{self._name}_{block}")
            run(f"CREATE INDEX {name} ON {self._quoted} ({block}, fingerprint, page)")
        run("COMMIT")
        return pages


class PostgresTable(_Table):
    """A table in a PostgreSQL database."""

    def __init__(self, url: str, table: str | None) -> None:
        super().__init__(table)
        found = _URL.fullmatch(url)
        if not found:
            # No part of it is shown: an unescaped "/" may have cut a password in two.
            raise ConfigError(_WRONG_URL)
        self._url = url
        self._shown = f"postgresql://{found['hosts']}/{found['database'] or ''}"

    def __str__(self) -> str:
        return self._shown

    def write(self, records: Iterable[PageRecord], *, is_forced: bool) -> int:
        """Write all records in one transaction; for errors see `Target`."""
        psycopg = _library("psycopg", "postgresql")
        try:
            given = psycopg.conninfo.conninfo_to_dict(self._url)
        except psycopg.Error:  # its message has parts of the address
            raise ConfigError(_WRONG_URL) from None
        options = {"connect_timeout": _SECONDS_TO_CONNECT, **given, "client_encoding": "utf-8"}
        try:
            with psycopg.connect(**options) as connection, connection.cursor() as cursor:
                return self._write(cursor, records, is_forced)
        except psycopg.errors.DuplicateTable:
            raise self._there_already() from None
        except psycopg.Error as error:
            report = error.diag.message_primary or " ".join(str(error).split())
            raise DedupError(f"{self}: PostgreSQL reports: {report[:400]}") from None

    def _write(self, cursor: Any, records: Iterable[PageRecord], is_forced: bool) -> int:
        # Name the schema in which the table is made: names are looked up in others, too.
        found = cursor.execute("SELECT coalesce(quote_ident(current_schema()) || '.', '')")
        table = f"{found.fetchone()[0]}{self._quoted}"
        if is_forced:
            cursor.execute(f"DROP TABLE IF EXISTS {table}")
        cursor.execute(f"CREATE TABLE {table} {self._definition(_POSTGRESQL)}")
        with cursor.copy(f"COPY {table} FROM STDIN") as copy:
            for row in _rows(records, _as_time):
                copy.write_row(row)
        pages: int = cursor.rowcount
        for block in _BLOCKS:
            cursor.execute(f"CREATE INDEX ON {table} ({block}, fingerprint, page)")
        cursor.execute(f"ANALYZE {table}")
        return pages


class ParquetFile:
    """A Parquet file."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def __str__(self) -> str:
        return str(self._path)

    def write(self, records: Iterable[PageRecord], *, is_forced: bool) -> int:
        """Write all records, in groups; for errors see `Target`."""
        (require_place if is_forced else require_free)(self._path)
        arrow = _library("pyarrow", "parquet")
        parquet = _library("pyarrow.parquet", "parquet")
        types = {
            kind: arrow.timestamp("s", "UTC") if name == "timestamp" else getattr(arrow, name)()
            for kind, name in _ARROW.items()
        }
        schema = arrow.schema(
            [arrow.field(name, types[kind], name in _OPTIONAL) for name, kind in COLUMNS.items()]
        )
        rows, pages = _rows(records, int), 0
        with (
            whole_file(self._path) as file,
            parquet.ParquetWriter(file, schema, compression="zstd") as writer,
        ):
            while group := list(islice(rows, _ROWS_AT_ONCE)):
                columns = map(arrow.array, zip(*group, strict=True), schema.types)
                writer.write_batch(arrow.RecordBatch.from_arrays(list(columns), schema=schema))
                pages += len(group)
        return pages


def _library(name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ConfigError(
            f'--to: this needs a library that is not installed: pip install "dedup-filter[{extra}]"'
        ) from None


def _rows(
    records: Iterable[PageRecord], as_moment: Callable[[int], Any]
) -> Iterator[tuple[Any, ...]]:
    """Yield the values of the columns; `as_moment` converts Unix seconds."""
    for record in records:
        bits = record.fingerprint
        values = record._asdict() | {
            "original_page": record.original,
            "fingerprint": None if bits is None else signed(bits),
            "first_seen": as_moment(record.first_seen),
            "last_seen": as_moment(record.last_seen),
        }
        for place, block in enumerate(_BLOCKS):
            values[block] = None if bits is None else bits >> 48 - 16 * place & 0xFFFF
        for name in _TEXTS:
            values[name] = values[name] and _UNFIT.sub("\ufffd", values[name])
        yield tuple(map(values.__getitem__, COLUMNS))


def add_hamming_distance(connection: sqlite3.Connection) -> None:
    """Let statements on an SQLite connection call `hamming_distance(a, b)`, 0 to 64 bits.

    The arguments are signed fingerprints, as in SQL; NULL gives NULL. Cost: 2 us a scanned row
    (`benchmarks/sql.py`).

    >>> connection = sqlite3.connect(":memory:")
    >>> add_hamming_distance(connection)
    >>> connection.execute("SELECT hamming_distance(-1, 7), hamming_distance(NULL, 7)").fetchone()
    (61, None)
    """
    connection.create_function("hamming_distance", 2, _distance, deterministic=True)


def _distance(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else ((a ^ b) & MASK).bit_count()
