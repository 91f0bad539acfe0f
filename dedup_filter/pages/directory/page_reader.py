"""Reads of the database: digests, numbers and URLs in, what is recorded of pages out.

A writer also sees what it has written and not flushed yet. Opened by itself, a reader shows the
last commit of a process that may be writing at the same time, and a snapshot always the same.

Cost, in a million pages: 7 us to read a page's sketch; an index is filled from 1.4 million entries
a second.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar
from zlib import error as ZlibError  # noqa: N812 - it is a class

from dedup_filter.errors import StoreCorrupt
from dedup_filter.model import Fate
from dedup_filter.pages.comparison import Matches
from dedup_filter.pages.directory import database
from dedup_filter.pages.directory.crawls import Crawls, Hosts
from dedup_filter.pages.directory.frame_store import FrameStore
from dedup_filter.pages.directory.index_directory import IndexDirectory
from dedup_filter.pages.directory.index_entries import PageEntries
from dedup_filter.pages.directory.records import (
    PageRecord,
    from_column,
    signed,
    unpacked_text,
    unsigned,
)
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.transactions import Transactions
from dedup_filter.pages.directory.url_key import canonical, url_key
from dedup_filter.text import Headline

__all__ = ["PageReader", "Snapshot"]

Self = TypeVar("Self", bound="PageReader")

_RECORD = """
    SELECT pages.id, url, hosts.name, digest, fingerprint, sketch, words, language,
        first_seen, last_seen, first_crawl, crawl, is_pending,
        outcome, reason, original, distance, similarity, h1, title
    FROM pages JOIN hosts ON hosts.id = pages.host
"""
_MATCHES = "SELECT id, host, crawl, url_key, digest, h1, title, sketch FROM pages WHERE id IN ({})"
_VIEWS = """
    PRAGMA temp_store = MEMORY;
    BEGIN;

    -- Keys, because every read below looks a number up in these tables.
    CREATE TEMP TABLE released (id INTEGER PRIMARY KEY);
    INSERT INTO released
        SELECT id FROM main.pages WHERE is_pending
            AND (is_kept OR original NOT IN (SELECT id FROM main.pages WHERE is_pending));

    -- What is dropped for a page goes with it; what such pages taught stays.
    CREATE TEMP TABLE gone (id INTEGER PRIMARY KEY);
    INSERT INTO gone
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
_CHUNK = 1_000
_LATEST = 2**63 - 1


class PageReader:
    """What is recorded of pages.

    Raises:
        StoreError: by all methods, when the file cannot be read.
    """

    def __init__(self, transactions: Transactions, directory: IndexDirectory | None) -> None:
        self._transactions = transactions
        self.hosts = Hosts(transactions)
        self._is_closed = False
        self.crawls = Crawls(transactions)
        self.frames = FrameStore(transactions, self.hosts)
        self.entries = PageEntries(transactions)
        self.directory = directory
        """None: it is in memory."""

    @classmethod
    def open_to_read(cls: type[Self], directory: str | Path) -> Self:
        """Open an index for reading only; another process may be writing to it.

        Raises:
            ConfigError: there is no index at this path.
        """
        files = IndexDirectory.at(directory)
        files.require_index()
        transactions = Transactions(database.connect_reader(files.pages), str(files))
        try:
            database.require_format(transactions)
            return cls(transactions, files)
        except BaseException:
            transactions.connection.close()
            raise

    def of_digest(self, pages: Sequence[int], digest: bytes) -> list[int]:
        """Return those of some pages that are kept and have a digest, in their order."""
        sql = "SELECT 1 FROM pages WHERE id = ? AND is_kept AND digest = ?"
        return [page for page in pages if self._transactions.row(sql, (page, digest))]

    def at_url(self, url: str) -> list[int]:
        """Find all pages at a URL, however it is spelt, the earliest first.

        Cost: passes over an entry of each page, 0.1 s for a million.
        """
        sql = "SELECT id FROM pages INDEXED BY page_entry WHERE url_key = ? ORDER BY id"
        wanted = canonical(url)
        found = self._numbers(sql, (signed(url_key(url)),))
        return [page for page in found if canonical(self.url(page)) == wanted]

    def matches(self, pages: Sequence[int]) -> Matches:
        """Return what tells which of some pages another repeats, in their order.

        Cost: 4 us and 2 us a page. Raises KeyError: there is no such page.
        """
        if not pages:
            return Matches([], [], [], [], [], [])
        # A statement for each power of two: one for each count would be prepared anew each time.
        places = 1 << (len(pages) - 1).bit_length()
        asked = [*pages, *[pages[-1]] * (places - len(pages))]
        sql = _MATCHES.format(", ".join("?" * places))
        found = {row[0]: row for row in self._transactions.rows(sql, asked)}
        columns = zip(*(found[page] for page in pages), strict=True)
        _, hosts, crawls, keys, digests, h1s, titles, sketches = columns
        return Matches(
            list(hosts),
            list(crawls),
            list(map(unsigned, keys)),
            list(digests),
            list(map(Headline, map(from_column, h1s), map(from_column, titles))),
            list(sketches),
        )

    def url(self, page: int) -> str:
        """Return the URL of a page. Raises KeyError: there is none."""
        return from_column(self._row("SELECT url FROM pages WHERE id = ?", page)[0])

    def record(self, page: int) -> PageRecord:
        """Return all that is recorded of a page. Raises KeyError: there is none."""
        return PageRecord.of(self._row(f"{_RECORD} WHERE pages.id = ?", page))

    def records(self, after: int = 0) -> Iterator[PageRecord]:
        """Yield all records in the order of their numbers, from after a number on."""
        sql = f"{_RECORD} WHERE pages.id > ? ORDER BY pages.id LIMIT {_CHUNK}"
        while rows := self._transactions.rows(sql, (after,)):
            yield from map(PageRecord.of, rows)
            after = rows[-1][0]

    def text(self, page: int) -> str | None:
        """Return the text that was kept of a page, None if none was.

        Raises:
            StoreCorrupt: what is there cannot be read.
        """
        row = self._transactions.row("SELECT text FROM texts WHERE page = ?", (page,))
        try:
            return unpacked_text(row[0]) if row else None
        except (ZlibError, UnicodeDecodeError) as error:
            raise StoreCorrupt(
                f"index {self.directory}: the text of page {page} is damaged: put back a copy, or "
                "forget that page"
            ) from error

    def is_pending(self, page: int) -> bool:
        """Tell whether a page waits for its commit or release."""
        return self.fate(page) == "pending"

    def fate(self, page: int) -> Fate:
        """Tell what has become of a page."""
        row = self._transactions.row("SELECT is_pending FROM pages WHERE id = ?", (page,))
        if row is None:
            return "gone"
        return "pending" if row[0] else "kept"

    def oldest(self, most: int, *, is_kept: bool, before: int = _LATEST) -> list[int]:
        """Return so many of the pages not seen for longest, of those kept or those dropped.

        Pending pages are left out, and those last seen at a Unix second or later.
        """
        return self._numbers(
            """SELECT id FROM pages WHERE is_kept = ? AND last_seen < ? AND NOT is_pending
            ORDER BY last_seen LIMIT ?""",
            (is_kept, before, most),
        )

    def count(self, *, is_kept: bool | None = None) -> int:
        """Count the pages kept, or those dropped, or both, pending ones too. Cost: one look-up."""
        sql = "SELECT sum(pages) FROM counts WHERE is_kept = ifnull(?, is_kept)"
        return int(self._transactions.row(sql, (is_kept,))[0])

    def __len__(self) -> int:
        """Count the pages kept."""
        return self.count(is_kept=True)

    @property
    def last_page(self) -> int:
        """The highest number that was given to a page."""
        row = self._transactions.row("SELECT seq FROM sqlite_sequence WHERE name = 'pages'")
        return int(row[0]) if row else 0

    @property
    def scheme(self) -> Scheme:
        """How the fingerprints were made."""
        return database.read_scheme(self._transactions)

    @property
    def identity(self) -> str:
        """What no other index has."""
        return str(self._transactions.row("SELECT value FROM meta WHERE key = 'identity'")[0])

    @property
    def nbytes(self) -> int:
        """Size of the files, or of what is held in memory, in bytes."""
        if self.directory is None:
            rows = self._transactions.rows
            return int(rows("PRAGMA page_count")[0][0] * rows("PRAGMA page_size")[0][0])
        return self.directory.page_bytes()

    def check(self) -> None:
        """Verify that the file is whole and its parts agree; raise as `check_pages` does."""
        database.check_pages(self._transactions)

    def close(self) -> None:
        """Let go of the file; the second time this does nothing."""
        self._is_closed = True
        self._transactions.connection.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _numbers(self, sql: str, values: Sequence[Any]) -> list[int]:
        return [row[0] for row in self._transactions.rows(sql, values)]

    def _row(self, sql: str, page: int) -> Any:
        row = self._transactions.row(sql, (page,))
        if row is None:
            raise KeyError(page)
        return row


class Snapshot(PageReader):
    """An index at one moment, as the next opening would find it: without pages that are pending.

    Everything is read within one transaction of SQLite, so what a writer does meanwhile is not
    seen. Until the snapshot is closed, SQLite cannot move the writer's log into its file, and the
    log grows. Temporary views have the names of the tables and show what opening for writing would
    leave of them. Entries are read from the tables themselves: an index has those of pending pages,
    too.
    """

    def __init__(self, transactions: Transactions, directory: IndexDirectory | None) -> None:
        super().__init__(transactions, directory)
        with transactions.guarded() as connection:
            connection.executescript(_VIEWS)

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
