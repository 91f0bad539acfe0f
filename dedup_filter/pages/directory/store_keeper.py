"""What is done to a record between crawls: pages put back as they were, the file packed.

A crawl records pages as it sees them, now; here they come with their times, crawls and numbers
from another record: an export, or an index whose fingerprints are made anew.
"""

import sqlite3

from dedup_filter.pages.directory.crawls import Crawl
from dedup_filter.pages.directory.page_rows import INSERT, headline_values, packed_text
from dedup_filter.pages.directory.page_store import PageStore
from dedup_filter.pages.directory.records import PageRecord, as_column, signed
from dedup_filter.pages.directory.snapshot import KnownHost
from dedup_filter.pages.directory.sqlite_errors import store_error
from dedup_filter.pages.directory.url_key import url_key

__all__ = ["StoreKeeper"]


class StoreKeeper(PageStore):
    """A store that records can be put back into. For what a method raises see `PageStore`."""

    def restore_crawl(self, crawl: Crawl) -> int:
        """Put a crawl back and return its number here.

        It keeps its number if that is free. One that is here already, by its name or else by its
        number and start, is that one.
        """
        known = {each.number: each for each in self.crawls.all()}
        for each in known.values():
            is_named = crawl.name is not None and each.name == crawl.name
            if is_named or each._replace(ended=None) == crawl._replace(ended=None):
                return each.number
        number = max(known, default=0) + 1 if crawl.number in known else crawl.number
        name = None if crawl.name is None else as_column(crawl.name)
        with self._transactions.change() as write:
            write(
                "INSERT INTO crawls (id, name, started, ended) VALUES (?, ?, ?, ?)",
                (number, name, crawl.started, crawl.ended),
            )
        return number

    def restore(self, record: PageRecord, text: str | None = None) -> None:
        """Put the record of a settled page back under its number.

        Requires: the number is higher than all that were given here (`last_page`).
        """
        assert record.page > self.last_page, "the number was given to another page"
        with self._transactions.change() as write:
            write(INSERT, self._values(record))
            if text is not None:
                write("INSERT INTO texts VALUES (?, ?)", (record.page, packed_text(text)))
        self._last_page = record.page

    def restore_host(self, known: KnownHost) -> None:
        """Put back what was known of a host's frames; there must be nothing of it here."""
        frames = known.frames
        with self._transactions.change() as write:
            if frames.state is not None:
                # A lesson that the state takes in: hosts are forgotten in the order of those.
                self.frames.learn(frames.host, 0, b"")
                self.frames.save(frames.host, frames.state)
            number = self._hosts.number_for(frames.host)
            for page, lesson, is_unlearnt in frames.lessons:
                write(
                    """INSERT INTO frame_lessons (host, page, lesson, is_unlearnt, is_in_state)
                    VALUES (?, ?, ?, ?, 0)""",
                    (number, page, lesson, is_unlearnt),
                )
            for early in known.early:
                self.frames.wait(early)

    def vacuum(self) -> None:
        """Write the file anew without the room that forgotten pages have left in it.

        Cost: reads and writes everything; takes as much room again while it lasts.
        """
        self.flush()
        try:
            self._transactions.connection.execute("VACUUM")
            self._transactions.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            raise store_error(self._transactions.name, error) from error

    def _values(self, record: PageRecord) -> tuple[object, ...]:
        return (
            record.page,
            False,
            record.judged.is_kept,
            self._hosts.number_for(record.host),
            as_column(record.url),
            signed(url_key(record.url)),
            record.digest,
            None if record.fingerprint is None else signed(record.fingerprint),
            record.words,
            record.language,
            record.first_seen,
            record.last_seen,
            record.first_crawl,
            record.crawl,
            *record.judged,
            *headline_values(record.headline),
            record.sketch,
        )
