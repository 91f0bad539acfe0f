"""All writes to the database pass here, as transactions that are whole or not at all.

    transaction   one or more statements
    group         up to 64 transactions, which SQLite commits as one: a commit costs more than the
                  transactions themselves
    flush         commit the group now; from here on it outlives this process

A transaction that fails is undone, and earlier ones stay. On a full or failing disk SQLite gives
up everything since its last commit. So the statements of the group are kept in memory, and are
executed again before the next access: a fault costs the transaction that met it and no other.
Executing them again gives the same rows, because statements depend on nothing but earlier ones.

A commit outlives the process, not a power failure: SQLite does not wait for the disk
("synchronous = NORMAL"). After a power failure the last groups may be gone, and what is there is
whole. `sync` waits for the disk.

Cost: 2 us for a transaction. Committing each by itself would make `see` on disk 1.7 times as slow,
and commits of items 1.4 times (docs/decisions/0004). One thread at a time.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

from dedup_filter.errors import StoreBusy, StoreCorrupt, StoreError

__all__ = ["Transactions", "Write", "store_error"]

MOST_IN_GROUP = 64
"""With more, the time for a transaction hardly falls, and more would be lost with the process."""

Write = Callable[..., None]
"""Takes SQL, and the values of its parameters, which must not be altered afterwards."""

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
    "malformed": "it is damaged: put back a copy, or move it away and start a new one",
    "not a database": (
        "it is no SQLite database any more: put back a copy, or move it away and start a new one"
    ),
}
"""Part of SQLite's message -> what to do. Not its codes: Python 3.10 hides those."""
_KINDS = {"is locked": StoreBusy, "malformed": StoreCorrupt, "not a database": StoreCorrupt}
"""Of these it is a kind of StoreError of its own."""


class Transactions:
    """Reads and grouped writes of one connection, which must be in autocommit mode.

    Raises:
        StoreError: by all methods, when SQLite fails; `name` is what its message calls the file.
    """

    def __init__(
        self, connection: sqlite3.Connection, name: str, most_in_group: int = MOST_IN_GROUP
    ) -> None:
        self.connection = connection
        self.name = name
        self._most_in_group = most_in_group
        self._group: list[tuple[str, Sequence[Any]]] = []
        """Statements that SQLite has not committed yet."""
        self._count = 0
        """Whole transactions in the group."""
        self._depth = 0
        """Of the transaction that is going on and the parts of it; 0: none is."""
        self._before = 0
        """Statements in the group when it began."""
        self._caches: list[dict[Any, Any]] = []

    def cache(self) -> dict[Any, Any]:
        """Make a dict for what is known of rows; it is emptied whenever a transaction is undone.

        What is noted within a transaction may be untrue once that is undone.
        """
        made: dict[Any, Any] = {}
        self._caches.append(made)
        return made

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Read; what is written and not flushed yet is seen."""
        try:
            if self._group and not self.connection.in_transaction:
                self._begin()
            return self.connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise store_error(self.name, error) from error

    def row(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Read the first row, None if there is none."""
        found = self.rows(sql, values)
        return found[0] if found else None

    def write(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Make a transaction of one statement."""
        with self.transaction() as write:
            write(sql, values)

    def transaction(self) -> AbstractContextManager[Write]:
        """Begin a transaction, as `with ... as write`; inside another one it is a part of that.

        An error that leaves a part must leave the whole too.

        >>> database = sqlite3.connect(":memory:", isolation_level=None)
        >>> transactions = Transactions(database, "example")
        >>> with transactions.transaction() as write:
        ...     write("CREATE TABLE numbers (number)")
        ...     write("INSERT INTO numbers VALUES (?)", (7,))
        >>> transactions.rows("SELECT * FROM numbers")
        [(7,)]
        >>> transactions.flush()
        >>> database.close()
        """
        return self  # as there is one at a time, it needs no object of its own: that takes 1 us

    def __enter__(self) -> Write:
        if not self._depth:
            try:
                if not self.connection.in_transaction:
                    self._begin()
            except sqlite3.Error as error:
                raise store_error(self.name, error) from error
            self._before = len(self._group)
        self._depth += 1
        return self._write

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self._depth -= 1
        if self._depth:
            return
        if error is not None:
            self._undo()
        elif self._count + 1 < self._most_in_group:
            self._count += 1
        else:
            try:
                self.flush()
            except BaseException:
                self._undo()
                raise

    def flush(self) -> None:
        """Commit the group: everything written so far outlives this process.

        Requires: no transaction is going on; half of it would stay.
        """
        assert not self._depth, "a transaction is going on"
        with self.guarded():
            if self._group and not self.connection.in_transaction:
                self._begin()
            if self.connection.in_transaction:
                self.connection.execute("COMMIT")
        self._group.clear()
        self._count = 0

    def sync(self) -> None:
        """Flush, and return when everything is on disk: it outlives a power failure.

        A commit with "synchronous = FULL" waits until the write-ahead log is on disk, with all
        earlier commits in it. Unlike a checkpoint, it does not wait for processes that read.
        """
        self.flush()
        version = self.row("PRAGMA user_version")[0]
        self.rows("PRAGMA synchronous = FULL")
        try:
            with self.guarded():
                self._begin()
                # Nothing is committed unless something is written: the same number again.
                self.connection.execute(f"PRAGMA user_version = {version}")
                self.connection.execute("COMMIT")
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
                raise store_error(self.name, error) from error
            raise

    def _write(self, sql: str, values: Sequence[Any] = ()) -> None:
        try:
            self.connection.execute(sql, values)
        except sqlite3.Error as error:
            raise store_error(self.name, error) from error
        self._group.append((sql, values))

    def _undo(self) -> None:
        del self._group[self._before :]
        for cache in self._caches:
            cache.clear()
        with self.guarded():
            self._roll_back()

    def _begin(self) -> None:
        """Open a transaction of SQLite that holds the whole group. Requires: none is open."""
        with self.guarded():
            self.connection.execute("BEGIN IMMEDIATE")
            for sql, values in self._group:
                self.connection.execute(sql, values)

    def _roll_back(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")


def store_error(name: str, error: sqlite3.Error) -> StoreError:
    """Make one sentence for the user of what SQLite reports about a file of this name."""
    report = str(error).lower()
    for saying, sentence in _SAYINGS.items():
        if saying in report:
            return _KINDS.get(saying, StoreError)(f"index {name}: {sentence}")
    return StoreError(f"index {name}: SQLite reports {str(error)!r}")
