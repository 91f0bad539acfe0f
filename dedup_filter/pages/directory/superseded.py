"""What has changed since tables were written: a revision -> what to remove from and add to them.

Tables written at a revision hold the entries of all kept pages up to some number. Of each page
whose entry changed later the log has what it was before; the first such row since the
revision is what the tables hold. The log is written by triggers of the schema, so nothing
that writes pages can forget it. What tables on disk know already is trimmed.
"""

from dedup_filter.pages.directory.records import Change, Entries
from dedup_filter.pages.directory.transactions import Transactions

__all__ = ["Superseded"]


class Superseded:
    """The log of entries that are no longer so."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    @property
    def revision(self) -> int:
        """The number of changes so far."""
        row = self._transactions.row("SELECT seq FROM sqlite_sequence WHERE name = 'superseded'")
        return int(row[0]) if row else 0

    def since(self, revision: int, last_page: int) -> Change | None:
        """Tell how to bring tables up to date that hold the pages up to a number.

        None: the log does not reach back so far, or the tables are of another index.
        """
        if not self._trimmed() <= revision <= self.revision:
            return None
        earliest = """
            SELECT page, fingerprint, host, digest FROM superseded WHERE revision IN (
                SELECT min(revision) FROM superseded WHERE revision > ? GROUP BY page
            ) AND page <= ? ORDER BY page
        """
        now = """
            SELECT id, fingerprint, host, digest FROM pages
            WHERE is_kept AND id IN (SELECT page FROM superseded WHERE revision > ?) AND id <= ?
            ORDER BY id
        """
        rows, where = self._transactions.rows, (revision, last_page)
        return Change.of(Entries.of(rows(earliest, where)), Entries.of(rows(now, where)))

    def trim(self, revision: int) -> None:
        """Forget what tables written at a revision know."""
        with self._transactions.change() as write:
            write("DELETE FROM superseded WHERE revision <= ?", (revision,))
            write("UPDATE meta SET value = ? WHERE key = 'trimmed'", (str(revision),))

    def _trimmed(self) -> int:
        return int(self._transactions.row("SELECT value FROM meta WHERE key = 'trimmed'")[0])
