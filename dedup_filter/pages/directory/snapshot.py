"""An index at one moment, as the next opening would find it: without pages that are pending.

Everything is read within one transaction of SQLite, so what a writer does meanwhile is not seen.
Until the snapshot is closed, SQLite cannot move the writer's log into its file, and the log grows.

Temporary views have the names of the tables and show what opening for writing would leave of them.
Entries are read from the tables themselves: an index has those of pending pages, too.
"""

import sqlite3

from dedup_filter.pages.directory.index_directory import IndexDirectory
from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.records import PageRecord
from dedup_filter.pages.directory.transactions import Transactions, store_error

__all__ = ["Snapshot"]

_VIEWS = """
    PRAGMA temp_store = MEMORY;
    BEGIN;

    CREATE TEMP TABLE released AS
        SELECT id FROM main.pages WHERE is_pending
            AND (is_kept OR original NOT IN (SELECT id FROM main.pages WHERE is_pending));

    -- What is dropped for a page goes with it; what such pages taught stays.
    CREATE TEMP TABLE gone AS
        SELECT id FROM temp.released UNION
        SELECT id FROM main.pages WHERE NOT is_kept
            AND original IN (SELECT id FROM main.pages WHERE is_pending);

    CREATE TEMP VIEW pages AS
        SELECT * FROM main.pages WHERE id NOT IN (SELECT id FROM temp.gone);
    CREATE TEMP VIEW texts AS
        SELECT * FROM main.texts WHERE page NOT IN (SELECT id FROM temp.gone);
    CREATE TEMP VIEW early_pages AS
        SELECT * FROM main.early_pages WHERE page NOT IN (SELECT id FROM temp.gone);
    CREATE TEMP VIEW counts AS
        SELECT is_kept, (SELECT count(*) FROM temp.pages WHERE pages.is_kept = counts.is_kept)
            AS pages FROM main.counts;
    CREATE TEMP VIEW frame_lessons AS
        SELECT id, host, page, lesson,
            is_unlearnt OR (is_in_state AND page IN (SELECT id FROM temp.released)) AS is_unlearnt,
            is_in_state AND page NOT IN (SELECT id FROM temp.released) AS is_in_state
        FROM main.frame_lessons
        WHERE is_in_state OR is_unlearnt OR page NOT IN (SELECT id FROM temp.released);
"""


class Snapshot(PageReader):
    """What a reader shows, held still: `with Snapshot.open_to_read(folder) as snapshot: ...`."""

    def __init__(self, transactions: Transactions, directory: IndexDirectory | None) -> None:
        super().__init__(transactions, directory)
        try:
            transactions.connection.executescript(_VIEWS)
        except sqlite3.Error as error:
            raise store_error(transactions.name, error) from error

    def without_text(self) -> int:
        """Count the pages of which no text was kept."""
        sql = "SELECT count(*) FROM pages WHERE id NOT IN (SELECT page FROM texts)"
        return int(self._transactions.row(sql)[0])

    def original_url(self, record: PageRecord) -> str | None:
        """Return the URL of the page that one repeats; None if it repeats none, or that is gone."""
        try:
            return None if record.judged.original is None else self.url(record.judged.original)
        except KeyError:
            return None
