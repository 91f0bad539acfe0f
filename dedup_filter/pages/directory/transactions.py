"""Statements -> changes -> groups: all that is written passes here.

    change    one or more statements, whole or not at all
    group     up to 64 changes in one transaction of SQLite, which costs more than they do
    flush     the end of a group: from here on it outlives the process

A change that fails is undone and leaves the group as it was. When the disk is full or fails,
SQLite gives up the whole transaction, so the statements of a group are remembered until it is
on disk, and written again before the next access: a fault costs the change that met it,
never those before. A change that fails for another reason is undone in the same way, which
spares every change that does not a savepoint. All this holds because statements depend on
nothing but what was written before them.

Outlives the process, not the machine: SQLite does not wait for the disk at each flush
("synchronous=NORMAL"), only in `sync`. After a power failure the last groups may be gone, but
what is there is whole.

Cost: 2 us for a change. One thread at a time.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from dedup_filter.pages.directory.sqlite_errors import store_error

__all__ = ["Statement", "Transactions"]

MOST_CHANGES = 64
"""In a group. With more, the time for a change hardly falls, and more would be lost."""

Statement = tuple[str, Sequence[Any]]


class Transactions:
    """Reads and grouped writes of one connection, which must be in autocommit mode.

    Raises:
        StoreError: by all methods, when SQLite fails; `name` is what its message calls the file.
    """

    def __init__(
        self, connection: sqlite3.Connection, name: str, most_changes: int = MOST_CHANGES
    ) -> None:
        self.connection = connection
        self.name = name
        self.undone = 0
        """How many changes were undone: who remembers what was written looks whether it was."""
        self.summary: Callable[[Iterable[Statement]], list[Statement]] = _nothing
        """Makes, of all statements of a group, what is to be written with them at its end: what
        would cost more if each of them wrote it."""
        self._most_changes = most_changes
        self._group: list[list[Statement]] = []
        self._change: _Change | None = None

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Read; changes that are not flushed yet are seen."""
        try:
            if self._group and not self.connection.in_transaction:
                self._write_again()
            return self.connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise store_error(self.name, error) from error

    def row(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Read the first row, None if there is none."""
        found = self.rows(sql, values)
        return found[0] if found else None

    def change(self) -> "_Change":
        """Begin a change, to be used as `with ... as write`; inside another it is a part of it.

        An error that leaves a part must leave the whole too.

        >>> database = sqlite3.connect(":memory:", isolation_level=None)
        >>> transactions = Transactions(database, "example")
        >>> with transactions.change() as write:
        ...     write("CREATE TABLE numbers (number)")
        ...     write("INSERT INTO numbers VALUES (?)", (7,))
        >>> transactions.rows("SELECT * FROM numbers")
        [(7,)]
        >>> transactions.flush()
        >>> database.close()
        """
        return _Change(self)

    def flush(self) -> None:
        """End the group: all changes so far outlive this process.

        Requires: no change is going on; half of it would stay.
        """
        assert self._change is None, "a change is going on"
        if not self._group:
            return
        with self._reported():
            if not self.connection.in_transaction:
                self._write_again()
            self._commit()
        self._group.clear()

    def sync(self) -> None:
        """Flush, and wait until the disk has everything: it outlives a power failure."""
        self.flush()
        self.rows("PRAGMA wal_checkpoint(FULL)")

    def statements(self) -> Iterator[Statement]:
        """Yield what was written and is not flushed yet, without the summary."""
        for statements in self._group:
            yield from statements
        if self._change is not None:
            yield from self._change.statements

    @property
    def is_clean(self) -> bool:
        """Whether every change is flushed."""
        return not self._group

    def _enter(self, change: "_Change") -> None:
        try:
            if not self.connection.in_transaction:
                self._write_again()
        except sqlite3.Error as error:
            raise store_error(self.name, error) from error
        self._change = change

    def _leave(self, change: "_Change") -> None:
        self._change = None
        self._group.append(change.statements)
        if len(self._group) < self._most_changes:
            return
        try:
            self.flush()
        except BaseException:
            self._group.pop()
            self.undone += 1
            raise

    def _undo(self) -> None:
        self._change = None
        self.undone += 1
        with self._reported():
            self._roll_back()

    def _write_again(self) -> None:
        """Begin a transaction with what an earlier one should have written, if it was lost."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            for statements in self._group:
                for sql, values in statements:
                    self.connection.execute(sql, values)
        except BaseException:
            self._roll_back()
            raise

    def _commit(self) -> None:
        try:
            for sql, values in self.summary(self.statements()):
                self.connection.execute(sql, values)
            self.connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise store_error(self.name, error) from error


def _nothing(_: Iterable[Statement]) -> list[Statement]:
    return []


class _Change:
    """One change: called with each of its statements."""

    __slots__ = ("_is_part", "_transactions", "statements")

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._is_part = False
        self.statements: list[Statement] = []

    def __enter__(self) -> "_Change":
        outer = self._transactions._change
        if outer is not None:
            self._is_part = True
            self.statements = outer.statements
        else:
            self._transactions._enter(self)
        return self

    def __call__(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Write; `values` must not be altered afterwards."""
        try:
            self._transactions.connection.execute(sql, values)
        except sqlite3.Error as error:
            raise store_error(self._transactions.name, error) from error
        self.statements.append((sql, values))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._is_part:
            return
        if error is None:
            self._transactions._leave(self)
        else:
            self._transactions._undo()
