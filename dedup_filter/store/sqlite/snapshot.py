"""An index in a directory at one moment, as the next writer would leave it: see `Recorded`.

Everything is read in one transaction of SQLite, so later changes by a writer are not seen. Until
the snapshot is closed, SQLite cannot move the writer's log into the file, and the log grows.

Pending pages and their duplicates are left out: temporary views hide the tables of the same names.
Entries are read from the table itself and filtered, because the SQL index has all of them.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from dedup_filter.fingerprints.sketch import KEY, KEYS
from dedup_filter.store.protocol import Entries, KeptContent
from dedup_filter.store.records import PageRecord
from dedup_filter.store.sqlite.frame_store import HostFrames, all_frames, frames_of
from dedup_filter.store.sqlite.index_directory import IndexDirectory
from dedup_filter.store.sqlite.page_reader import ENTRIES, ENTRY, PageReader, read_sql


class Snapshot(PageReader):
    """Reads the records of pages that are not pending."""

    def __init__(self, uri: str, directory: IndexDirectory | None, *pragmas: str) -> None:
        super().__init__(uri, directory, *pragmas)
        with self.guarded() as connection:
            connection.executescript(read_sql("snapshot"))
        self.saved_entries = self.noted(ENTRIES)

    @cached_property
    def entries(self) -> Entries:
        """The entries of all pages. Cost: 1 us a page at the first call; 58 bytes a page."""
        found = np.concatenate([np.empty(0, ENTRY), *self.entry_arrays()])
        gone = [page for (page,) in self.rows("SELECT id FROM temp.gone")]
        found = found[~np.isin(found["page"], gone)]
        return Entries(
            found["page"],
            found["is_kept"],
            found["has_fingerprint"],
            found["fingerprint"].view("<u8"),
            found["digest"].copy().view("<u8"),
            found["keys"].copy().view(KEY).reshape(-1, KEYS),
        )

    @property
    def identity(self) -> str:
        """The unique name of the index."""
        return str(self.noted("identity"))

    def content(self, record: PageRecord) -> KeptContent:
        """Return what was kept beside the record of a page."""
        return KeptContent(
            self.text(record.page), self.form(record.page), self.url_of_original(record)
        )

    def url_of_original(self, record: PageRecord) -> str | None:
        """Return the URL of a page's original; None if there is none, or if it is gone."""
        sql = "SELECT CAST(url AS TEXT) FROM pages WHERE id = ?"
        url: str | None = self.value(sql, (record.original,))
        return url

    def repeats(self) -> list[tuple[int, int, int]]:
        """Return number, number of the original, and distance of each dropped page.

        Pages whose original is gone are left out.
        """
        return self.rows(
            """SELECT id, original, ifnull(distance, 0) FROM pages
            WHERE NOT is_kept AND original IN (SELECT id FROM pages) ORDER BY id"""
        )

    def without_form(self) -> int:
        """Count the pages without a stored form."""
        sql = "SELECT count(*) FROM pages WHERE id NOT IN (SELECT page FROM forms)"
        return int(self.value(sql))

    def with_text(self) -> set[int]:
        """Return the numbers of the pages with a stored text."""
        return {page for (page,) in self.rows("SELECT page FROM texts")}

    def frames(self, host: str) -> HostFrames | None:
        """Return the frame of a host; None: not known."""
        return frames_of(self, host)

    def hosts(self) -> Iterator[HostFrames]:
        """Yield the known frames of all hosts."""
        return all_frames(self)
