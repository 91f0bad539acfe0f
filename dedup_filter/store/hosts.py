"""Name of a host -> its number, which rows of pages and of frames have in its place."""

from dedup_filter.store.records import as_column, from_column
from dedup_filter.store.transactions import Transactions

__all__ = ["Hosts"]

_MOST_REMEMBERED = 100_000
"""About 15 MB; a crawl comes back to a host within so many others."""


class Hosts:
    """The hosts that pages were recorded of."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._numbers: dict[str, int] = {}
        self._undone = transactions.undone

    def number(self, name: str) -> int | None:
        """Look a host up; None: no page of it was recorded."""
        if self._undone != self._transactions.undone or len(self._numbers) > _MOST_REMEMBERED:
            # A number may have been undone with the change that gave it.
            self._numbers.clear()
            self._undone = self._transactions.undone
        known = self._numbers.get(name)
        if known is None:
            sql = "SELECT id FROM hosts WHERE name = ?"
            row = self._transactions.row(sql, (as_column(name),))
            if row is None:
                return None
            known = self._numbers[name] = int(row[0])
        return known

    def name(self, number: int) -> str:
        """Return the name of a host that has this number."""
        row = self._transactions.row("SELECT name FROM hosts WHERE id = ?", (number,))
        return from_column(row[0])

    def number_for(self, name: str) -> int:
        """Look a host up; give it a number if it has none."""
        known = self.number(name)
        if known is None:
            with self._transactions.change() as write:
                write("INSERT INTO hosts (name) VALUES (?)", (as_column(name),))
            known = self.number(name)
            assert known is not None
        return known
