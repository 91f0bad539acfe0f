"""Crawls and hosts: what has a name, and a number that rows of pages have in its place.

A crawl is pages that were seen together, and so may repeat one another. One without a name is
over when its process is; one with a name (a job that can be resumed) goes on whenever it is
started again by that name.
"""

from typing import NamedTuple

from dedup_filter.pages.directory.records import as_column, from_column
from dedup_filter.pages.directory.transactions import Transactions

__all__ = ["Crawl", "Crawls", "Hosts"]

_MOST_REMEMBERED = 100_000
"""Hosts. About 15 MB; a crawl comes back to a host within so many others."""


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
        known = next((each for each in self.all() if name is not None and each.name == name), None)
        if known is None:
            number = self.add(Crawl(0, name, moment, None))
        else:
            number = known.number
            self._transactions.write("UPDATE crawls SET ended = NULL WHERE id = ?", (number,))
        self._transactions.flush()
        self.current = number
        return number

    def add(self, crawl: Crawl) -> int:
        """Record a crawl under its number if that is free, else under the next; return it."""
        known = {each.number for each in self.all()}
        is_free = crawl.number and crawl.number not in known
        number = crawl.number if is_free else max(known, default=0) + 1
        name = None if crawl.name is None else as_column(crawl.name)
        self._transactions.write(
            "INSERT INTO crawls (id, name, started, ended) VALUES (?, ?, ?, ?)",
            (number, name, crawl.started, crawl.ended),
        )
        return number

    def end(self, moment: int) -> None:
        """Note when the crawl that is going on was over; with none this does nothing."""
        if self.current:
            sql = "UPDATE crawls SET ended = ? WHERE id = ?"
            self._transactions.write(sql, (moment, self.current))

    def all(self) -> list[Crawl]:
        """List the crawls in their order."""
        rows = self._transactions.rows("SELECT id, name, started, ended FROM crawls ORDER BY id")
        return [
            Crawl(number, None if name is None else from_column(name), started, ended)
            for number, name, started, ended in rows
        ]


class Hosts:
    """The hosts that pages were recorded of."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._numbers: dict[str, int] = transactions.cache()
        self._names: dict[int, str] = transactions.cache()

    def number(self, name: str) -> int | None:
        """Look a host up; None: no page of it was recorded."""
        known = self._numbers.get(name)
        if known is None:
            sql = "SELECT id FROM hosts WHERE name = ?"
            row = self._transactions.row(sql, (as_column(name),))
            if row is None:
                return None
            known = int(row[0])
            self._remember(known, name)
        return known

    def name(self, number: int) -> str:
        """Return the name of the host that has this number."""
        known = self._names.get(number)
        if known is None:
            row = self._transactions.row("SELECT name FROM hosts WHERE id = ?", (number,))
            known = from_column(row[0])
            self._remember(number, known)
        return known

    def number_for(self, name: str) -> int:
        """Look a host up; give it a number if it has none."""
        known = self.number(name)
        if known is None:
            sql = "INSERT INTO hosts (name) VALUES (?)"
            self._transactions.write(sql, (as_column(name),))
            known = self.number(name)
            assert known is not None
        return known

    def _remember(self, number: int, name: str) -> None:
        if len(self._names) >= _MOST_REMEMBERED:
            self._names.clear()
            self._numbers.clear()
        self._names[number], self._numbers[name] = name, number
