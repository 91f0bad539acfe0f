"""Name of a host -> its number, which rows of pages and of frames have in its place."""

from dedup_filter.pages.directory.records import as_column, from_column
from dedup_filter.pages.directory.transactions import Transactions

__all__ = ["Hosts"]

_MOST_REMEMBERED = 100_000
"""About 15 MB; a crawl comes back to a host within so many others."""


class Hosts:
    """The hosts that pages were recorded of."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._undone = transactions.undone

    def number(self, name: str) -> int | None:
        """Look a host up; None: no page of it was recorded."""
        self._forget()
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
        self._forget()
        known = self._names.get(number)
        if known is None:
            row = self._transactions.row("SELECT name FROM hosts WHERE id = ?", (number,))
            known = self._names[number] = from_column(row[0])
        return known

    def number_for(self, name: str) -> int:
        """Look a host up; give it a number if it has none."""
        known = self.number(name)
        if known is None:
            with self._transactions.change() as write:
                write("INSERT INTO hosts (name) VALUES (?)", (as_column(name),))
            known = self.number(name)
            assert known is not None
        return known

    def _forget(self) -> None:
        """Forget what was undone, with the change that gave a number, and what is too much."""
        is_full = max(len(self._numbers), len(self._names)) > _MOST_REMEMBERED
        if is_full or self._undone != self._transactions.undone:
            self._numbers.clear()
            self._names.clear()
            self._undone = self._transactions.undone
