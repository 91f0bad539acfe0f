"""Crawls: which pages were seen together, and so may repeat one another.

A crawl without a name is over when its process is; one with a name (a job that can be
resumed) goes on whenever it is started again by that name.
"""

from typing import NamedTuple

from dedup_filter.pages.directory.records import as_column, from_column
from dedup_filter.pages.directory.transactions import Transactions

__all__ = ["Crawl", "Crawls"]


class Crawl(NamedTuple):
    """A crawl; times are Unix seconds."""

    number: int
    name: str | None
    started: int
    ended: int | None
    """None: it runs, or its process was killed."""


class Crawls:
    """The crawls of an index, numbered from 1."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self.current = 0
        """The number of the crawl that is going on; 0: none was started here."""

    def start(self, moment: int, name: str | None = None) -> int:
        """Begin a crawl, or go on with the one of this name; return its number."""
        column = None if name is None else as_column(name)
        row = self._transactions.row("SELECT id FROM crawls WHERE name = ?", (column,))
        with self._transactions.change() as write:
            if row:
                write("UPDATE crawls SET ended = NULL WHERE id = ?", row)
                number = int(row[0])
            else:
                sql = "SELECT ifnull(max(id), 0) + 1 FROM crawls"
                number = int(self._transactions.row(sql)[0])
                write(
                    "INSERT INTO crawls (id, name, started) VALUES (?, ?, ?)",
                    (number, column, moment),
                )
        self._transactions.flush()
        self.current = number
        return number

    def end(self, moment: int) -> None:
        """Note when the crawl that is going on was over; with none this does nothing."""
        if self.current:
            with self._transactions.change() as write:
                write("UPDATE crawls SET ended = ? WHERE id = ?", (moment, self.current))

    def all(self) -> list[Crawl]:
        """List the crawls in their order."""
        rows = self._transactions.rows("SELECT id, name, started, ended FROM crawls ORDER BY id")
        return [
            Crawl(number, None if name is None else from_column(name), started, ended)
            for number, name, started, ended in rows
        ]
