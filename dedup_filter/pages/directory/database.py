"""The SQLite database of an index: opened or made, told from other files, read, written, verified.

    transaction   one or more statements
    group         transactions of some 200 statements, about 64 pages, which SQLite commits as one:
                  a commit costs more than the transactions themselves
    flush         commit the group now; from here on it outlives this process

A transaction that fails is undone, and earlier ones stay. On a full or failing disk SQLite gives
up everything since its last commit. So the statements of the group are kept in memory, and are
executed again before the next access: a fault costs the transaction that met it and no other.
Executing them again gives the same rows, because statements depend on nothing but earlier ones.

Write-ahead log: readers see the last commit while the writer writes, and a killed writer leaves a
whole file. A commit outlives the process, not a power failure: SQLite does not wait for the disk
("synchronous = NORMAL"). After a power failure the last groups may be gone, and what is there is
whole. `sync` waits for the disk.

SQLite's application id says that a file is an index, its user version says of which format. A new
file is written in one transaction: one whose making was interrupted is empty, and is made again.

Cost: 2 us for a transaction. Committing each by itself would make `see` on disk 1.7 times as slow,
and commits of items 1.4 times (docs/decisions/0004). One thread at a time.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from secrets import token_hex
from typing import Any

from dedup_filter.errors import ConfigError, StoreBusy, StoreCorrupt, StoreError, StoreTooNew
from dedup_filter.fingerprints import MOST_SKETCH_BYTES
from dedup_filter.pages.directory.records import as_column
from dedup_filter.pages.directory.scheme import Scheme

__all__ = ["FORMAT", "Database", "sql_file"]

FORMAT = 3
_APPLICATION = 0x44454455  # "DEDU"
_FULL_GROUP = 200
"""Statements. With more, the time for a transaction hardly falls, and more would be lost with the
process."""
_CACHE_KIB = 65_536
"""So much of the file is held in memory: the entries of a million pages in one SQL index take
some 40 MB, and URLs arrive in no order."""
_LOG_PAGES = 8_192
"""The log is moved into the file when it has so many pages, 32 MB. A page of an SQL index that is
written many times in the meantime is moved once."""
_WAIT_SECONDS = 10
"""How long to wait for another program that has the file locked for a moment."""
_MOST_HOSTS = 100_000
"""Numbers that are remembered, 8 MB; a crawl comes back to a host within so many others."""

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
"""Part of SQLite's message -> what to do. Not its codes: Python 3.10 hides those."""
_KINDS = {"is locked": StoreBusy, "malformed": StoreCorrupt, "not a database": StoreCorrupt}
"""Of these it is a kind of StoreError of its own."""


def sql_file(name: str) -> str:
    """Read a script of SQL that belongs to this package."""
    return files(__package__).joinpath(f"{name}.sql").read_text("utf-8")


_SCHEMA, _INVARIANTS = sql_file("schema"), sql_file("invariants")


class Database:
    """A connection, whose writes are grouped. As a context it is a transaction.

    A transaction inside another one is a part of that: an error that leaves it must leave the
    whole, too.

    >>> with Database.in_memory(Scheme({})) as database:
    ...     database.write("INSERT INTO hosts VALUES (7, ?)", ("a.example",))
    7
    >>> database.rows("SELECT id FROM hosts")
    [(7,)]
    >>> database.close()

    Raises:
        StoreError: by all methods, when SQLite fails; `name` is what its message calls the index.
        ConfigError: by those that open one: it belongs to another program, or an older version of
            this package wrote it.
        StoreTooNew: a newer version of this package wrote it.
    """

    def __init__(self, name: str, uri: str, *pragmas: str, scheme: Scheme | None = None) -> None:
        self.name = name
        self._hosts: dict[str, int] = {}
        """Numbers of hosts; forgotten when a transaction is undone, as it may have given some."""
        self._group: list[tuple[str, Sequence[Any]]] = []
        """Statements that SQLite has not committed yet."""
        self._depth = 0
        """Of the transaction that is going on and the parts of it; 0: none is."""
        self._before = 0
        """Statements in the group when it began."""
        try:
            self.connection = sqlite3.connect(
                uri, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False, uri=True
            )
        except sqlite3.Error as error:
            raise self._error(error) from error
        try:
            for pragma in (f"cache_size = -{_CACHE_KIB}", *pragmas):
                self.rows(f"PRAGMA {pragma}")
            if scheme is not None and not self.rows("SELECT 1 FROM sqlite_master LIMIT 1"):
                noted = {"scheme": scheme.to_json(), "trimmed": "0", "identity": token_hex(8)}
                with self.guarded():
                    self.connection.executescript(f"BEGIN IMMEDIATE;\n{_SCHEMA}")
                    self.connection.executemany("INSERT INTO meta VALUES (?, ?)", noted.items())
                    self.connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                    self.connection.execute(f"PRAGMA user_version = {FORMAT}")
                    self.connection.execute("COMMIT")
            self._require_format()
        except BaseException:
            self.close()
            raise

    @classmethod
    def in_memory(cls, scheme: Scheme) -> "Database":
        """Make one that is gone when it is closed."""
        return cls("memory:", ":memory:", scheme=scheme)

    @classmethod
    def to_write(cls, path: Path, name: str, scheme: Scheme) -> "Database":
        """Open a file for writing; make one with this scheme if there is none."""
        return cls(
            name,
            path.absolute().as_uri(),
            "journal_mode = WAL",
            "synchronous = NORMAL",
            f"wal_autocheckpoint = {_LOG_PAGES}",
            f"journal_size_limit = {2 * _LOG_PAGES * 4096}",
            scheme=scheme,
        )

    @classmethod
    def to_read(cls, path: Path, name: str) -> "Database":
        """Open a file for reading only, whether or not somebody writes to it."""
        uri = f"{path.absolute().as_uri()}?mode=ro"
        try:
            return cls(name, uri, "schema_version")
        except StoreError:
            # In a folder that cannot be written to, SQLite cannot make the log's own index, which
            # it needs although there is no log. Without a log nobody can be writing.
            if Path(f"{path}-wal").exists():
                raise
        return cls(name, f"{uri}&immutable=1", "schema_version")

    def rows(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        """Read; what is written and not flushed yet is seen."""
        try:
            if self._group and not self.connection.in_transaction:
                self._begin()
            return self.connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise self._error(error) from error

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Read the first value of the first row, None if there is no row."""
        found = self.rows(sql, values)
        return found[0][0] if found else None

    def write(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Execute a statement, in a transaction; return the number of the row inserted last.

        The values must not be altered afterwards.
        """
        if not self._depth:
            with self:
                return self.write(sql, values)
        try:
            cursor = self.connection.execute(sql, values)
        except sqlite3.Error as error:
            raise self._error(error) from error
        self._group.append((sql, values))
        return cursor.lastrowid or 0

    def __enter__(self) -> "Database":
        if not self._depth:
            if len(self._group) >= _FULL_GROUP:
                self.flush()
            self._begin()
            self._before = len(self._group)
        self._depth += 1
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self._depth -= 1
        if error is not None and not self._depth:
            del self._group[self._before :]
            self._hosts.clear()
            with self.guarded():
                self._roll_back()

    def flush(self) -> None:
        """Commit the group: everything written so far outlives this process.

        Requires: no transaction is going on; half of it would stay.
        """
        assert not self._depth, "a transaction is going on"
        with self.guarded():
            if self._group:
                self._begin()
            if self.connection.in_transaction:
                self.connection.execute("COMMIT")
        self._group.clear()

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

    @contextmanager
    def guarded(self) -> Iterator[sqlite3.Connection]:
        """Leave nothing half done in SQLite, and raise what it reports as a `StoreError`."""
        try:
            yield self.connection
        except BaseException as error:
            with suppress(sqlite3.Error):
                self._roll_back()
            if isinstance(error, sqlite3.Error):
                raise self._error(error) from error
            raise

    def host(self, name: str) -> int:
        """Return the number of a host; it gets one if it has none."""
        number = self._hosts.get(name)
        if number is None:
            column = (as_column(name),)
            self.write("INSERT OR IGNORE INTO hosts (name) VALUES (?)", column)
            number = int(self.value("SELECT id FROM hosts WHERE name = ?", column))
            if len(self._hosts) >= _MOST_HOSTS:
                self._hosts.clear()
            self._hosts[name] = number
        return number

    def noted_of_itself(self, key: str) -> Any:
        """Read what an index says of itself: "scheme", "trimmed", "identity"."""
        return self.value("SELECT value FROM meta WHERE key = ?", (key,))

    def scheme(self) -> Scheme:
        """Return how the fingerprints of an index were made.

        Raises:
            StoreCorrupt: it does not say.
        """
        try:
            return Scheme.from_json(self.noted_of_itself("scheme"))
        except (TypeError, ValueError):  # there is none, or it is no JSON object
            raise StoreCorrupt(
                f"index {self.name} does not say how its fingerprints were made: {_COPY}"
            ) from None

    def check(self) -> None:
        """Verify what SQLite can tell, and what the schema promises beyond that. Reads everything.

        Raises:
            StoreCorrupt: the file is damaged.
            AssertionError: its parts do not agree.
        """
        report = self.value("PRAGMA integrity_check(1)")
        if report != "ok":
            raise StoreCorrupt(f"index {self.name}: it is damaged ({report}): {_COPY}")
        most = {"most_sketch_bytes": MOST_SKETCH_BYTES}
        faults = self.rows(_INVARIANTS, most)
        assert not faults, faults[0][0]

    def close(self) -> None:
        """Let go of it; what was not flushed is lost."""
        self.connection.close()

    def _require_format(self) -> None:
        if self.value("PRAGMA application_id") != _APPLICATION:
            raise ConfigError(
                f"{self.name} holds a database of another program: choose another folder"
            )
        found = self.value("PRAGMA user_version")
        where = f"index {self.name} has format {found}"
        if found > FORMAT:
            raise StoreTooNew(
                f"{where}, and this version of dedup-filter knows formats up to {FORMAT}: install "
                "a newer one"
            )
        if found < FORMAT:
            raise ConfigError(
                f"{where}, of a version of dedup-filter before its first release, and this one "
                f"reads format {FORMAT}: choose another folder"
            )

    def _begin(self) -> None:
        """Let SQLite be in a transaction that holds the whole group."""
        try:
            if not self.connection.in_transaction:
                self.connection.execute("BEGIN IMMEDIATE")
                for sql, values in self._group:
                    self.connection.execute(sql, values)
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._roll_back()
            raise self._error(error) from error

    def _roll_back(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def _error(self, error: sqlite3.Error) -> StoreError:
        """Make one sentence for the user of what SQLite reports."""
        report = str(error).lower()
        for saying, sentence in _SAYINGS.items():
            if saying in report:
                return _KINDS.get(saying, StoreError)(f"index {self.name}: {sentence}")
        return StoreError(f"index {self.name}: SQLite reports {str(error)!r}")
