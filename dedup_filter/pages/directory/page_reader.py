"""Reads of the database: digests, numbers and URLs in, what is recorded of pages out.

A writer also sees what it has written and not flushed yet. Opened by itself, a reader shows the
last commit of a process that may be writing at the same time, and a snapshot always the same.

Cost, in a million pages: 7 us to read a page's sketch.
"""

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from dedup_filter.errors import StoreCorrupt
from dedup_filter.model import Fate
from dedup_filter.pages.directory.database import Database, sql_file
from dedup_filter.pages.directory.frame_store import FrameStore
from dedup_filter.pages.directory.index_directory import IndexDirectory
from dedup_filter.pages.directory.records import (
    COLUMNS,
    Crawl,
    PageRecord,
    canonical,
    from_column,
    signed,
    unsigned,
    url_key,
)
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.text import Headline

__all__ = ["PageReader", "Snapshot", "statistics"]

Self = TypeVar("Self", bound="PageReader")

_HOST_NAME = "(SELECT name FROM hosts WHERE hosts.id = host)"
_RECORD = f"SELECT {COLUMNS.replace(' host,', f' {_HOST_NAME},')} FROM pages"  # noqa: S608
_MATCHES = f"SELECT id, {_HOST_NAME}, crawl, url_key, digest, h1, title, sketch FROM pages"  # noqa: S608
_SNAPSHOT = sql_file("snapshot")
_CHUNK = 1_000


class PageReader:
    """What is recorded of pages.

    Raises:
        StoreError: by all methods, when the file cannot be read.
    """

    def __init__(self, database: Database, directory: IndexDirectory | None) -> None:
        self.database = database
        self.frames = FrameStore(database)
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
        database = Database.to_read(files.pages, str(files))
        try:
            return cls(database, files)
        except BaseException:
            database.close()
            raise

    def of_digest(self, pages: Sequence[int], digest: bytes) -> list[int]:
        """Return those of some pages that are kept and have a digest, in their order."""
        sql = "SELECT 1 FROM pages WHERE id = ? AND is_kept AND digest = ?"
        return [page for page in pages if self.database.rows(sql, (page, digest))]

    def at_url(self, url: str) -> list[int]:
        """Find all pages at a URL, however it is spelt, the earliest first.

        Cost: passes over an entry of each page, 0.1 s for a million.
        """
        sql = "SELECT id FROM pages INDEXED BY page_entry WHERE url_key = ? ORDER BY id"
        wanted = canonical(url)
        found = self._numbers(sql, (signed(url_key(url)),))
        return [page for page in found if canonical(self.url(page)) == wanted]

    def matches(self, pages: Sequence[int]) -> list[tuple[str, int, int, bytes, Headline, bytes]]:
        """Return host, crawl, URL key, digest, headline and sketch of some pages, in their order.

        Cost: 4 us and 2 us a page. Raises KeyError: there is no such page.
        """
        if not pages:
            return []
        # A statement for each power of two: one for each count would be prepared anew each time.
        places = 1 << (len(pages) - 1).bit_length()
        asked = [*pages, *[pages[-1]] * (places - len(pages))]
        sql = f"{_MATCHES} WHERE id IN ({', '.join('?' * places)})"
        found = {
            page: (
                from_column(host),
                crawl,
                unsigned(key),
                digest,
                Headline(from_column(h1), from_column(title)),
                sketch,
            )
            for page, host, crawl, key, digest, h1, title, sketch in self.database.rows(sql, asked)
        }
        return [found[page] for page in pages]

    def url(self, page: int) -> str:
        """Return the URL of a page. Raises KeyError: there is none."""
        return from_column(self._row("SELECT url FROM pages WHERE id = ?", page)[0])

    def record(self, page: int) -> PageRecord:
        """Return all that is recorded of a page. Raises KeyError: there is none."""
        return PageRecord.of(self._row(f"{_RECORD} WHERE id = ?", page))

    def records(self, after: int = 0) -> Iterator[PageRecord]:
        """Yield all records in the order of their numbers, from after a number on."""
        sql = f"{_RECORD} WHERE id > ? ORDER BY id LIMIT {_CHUNK}"
        while rows := self.database.rows(sql, (after,)):
            yield from map(PageRecord.of, rows)
            after = rows[-1][0]

    def text(self, page: int) -> str | None:
        """Return the text that was kept of a page, None if none was.

        Raises:
            StoreCorrupt: what is there cannot be read.
        """
        packed = self.database.value("SELECT text FROM texts WHERE page = ?", (page,))
        try:
            return None if packed is None else from_column(zlib.decompress(packed))
        except (zlib.error, UnicodeDecodeError) as error:
            raise StoreCorrupt(
                f"index {self.directory}: the text of page {page} is damaged: put back a copy, or "
                "forget that page"
            ) from error

    def fate(self, page: int) -> Fate:
        """Tell what has become of a page."""
        sql = "SELECT CASE WHEN is_pending THEN 'pending' ELSE 'kept' END FROM pages WHERE id = ?"
        found: Fate = self.database.value(sql, (page,)) or "gone"
        return found

    def crawls(self) -> list[Crawl]:
        """List the crawls in their order, numbered from 1."""
        return [
            Crawl(number, None if name is None else from_column(name), started, ended)
            for number, name, started, ended in self.database.rows(
                "SELECT id, name, started, ended FROM crawls ORDER BY id"
            )
        ]

    def oldest(self, most: int, *, is_kept: bool, before: float = 2**63 - 1) -> list[int]:
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
        return int(self.database.value(sql, (is_kept,)))

    def __len__(self) -> int:
        """Count the pages kept."""
        return self.count(is_kept=True)

    @property
    def last_page(self) -> int:
        """The highest number that was given to a page."""
        return self._given("pages")

    @property
    def revision(self) -> int:
        """How many entries of kept pages were ever replaced or removed."""
        return self._given("superseded")

    @property
    def scheme(self) -> Scheme:
        """How the fingerprints were made."""
        return self.database.scheme()

    @property
    def nbytes(self) -> int:
        """Size of the files, or of what is held in memory, in bytes."""
        if self.directory is None:
            value = self.database.value
            return int(value("PRAGMA page_count") * value("PRAGMA page_size"))
        return self.directory.page_bytes()

    def check(self) -> None:
        """Verify that the file is whole and its parts agree; raise as `Database.check` does."""
        self.database.check()

    def close(self) -> None:
        """Let go of the file; the second time this does nothing."""
        self.database.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _given(self, table: str) -> int:
        return self.database.value("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)) or 0

    def _numbers(self, sql: str, values: Sequence[Any]) -> list[int]:
        return [row[0] for row in self.database.rows(sql, values)]

    def _row(self, sql: str, page: int) -> Any:
        for row in self.database.rows(sql, (page,)):
            return row
        raise KeyError(page)


class Snapshot(PageReader):
    """An index at one moment, as the next opening would find it: without pages that are pending.

    Everything is read within one transaction of SQLite, so what a writer does meanwhile is not
    seen. Until the snapshot is closed, SQLite cannot move the writer's log into its file, and the
    log grows. Temporary views have the names of the tables and show what opening for writing would
    leave of them. Entries are read from the tables themselves: an index has those of pending pages,
    too.
    """

    def __init__(self, database: Database, directory: IndexDirectory | None) -> None:
        super().__init__(database, directory)
        with database.guarded() as connection:
            connection.executescript(_SNAPSHOT)

    def without_text(self) -> int:
        """Count the pages of which no text was kept."""
        sql = "SELECT count(*) FROM pages WHERE id NOT IN (SELECT page FROM texts)"
        return int(self.database.value(sql))

    def original_url(self, record: PageRecord) -> str | None:
        """Return the URL of the page that one repeats; None if it repeats none, or that is gone."""
        try:
            return None if record.judged.original is None else self.url(record.judged.original)
        except KeyError:
            return None


def statistics(reader: PageReader) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Count what an index holds, in all and by crawl; another process may be writing to it.

    A record tells in which crawl its page was seen first and last, and what was said of it then. So
    a page that is seen again counts as revisited for the latest crawl only. A repeat is recorded
    each time that it comes. Of the kept pages of a crawl, those are counted that no earlier crawl
    has seen, those that no later one has, and of these, those that an earlier one has, too. Pending
    pages are only among the outcomes.

    Cost: reads all pages, half a kilobyte each.
    """
    groups = reader.database.rows(
        """SELECT first_crawl, crawl, outcome, is_kept, is_pending, count(*) FROM pages
        GROUP BY first_crawl, crawl, outcome, is_kept, is_pending"""
    )
    in_all = Counter[str]()
    outcomes: defaultdict[int, Counter[str]] = defaultdict(Counter)
    repeats: defaultdict[int, Counter[str]] = defaultdict(Counter)
    kept: defaultdict[int, dict[str, int]] = defaultdict(
        lambda: {"first_seen": 0, "last_seen": 0, "revisited": 0}
    )
    for first_crawl, crawl, outcome, is_kept, is_pending, pages in groups:
        in_all[outcome] += pages
        outcomes[crawl][outcome] += pages
        if is_pending:
            continue
        if is_kept:
            kept[first_crawl]["first_seen"] += pages
            kept[crawl]["last_seen"] += pages
            kept[crawl]["revisited"] += pages * (crawl != first_crawl)
        else:
            repeats[crawl][outcome] += pages
    crawls = [
        {
            **dict(zip(("crawl", "name", "started", "ended"), crawl, strict=True)),
            "outcomes": dict(outcomes[crawl.number]),
            "kept": kept[crawl.number],
            "repeats": dict(repeats[crawl.number]),
        }
        for crawl in reader.crawls()
    ]
    [(hosts, first_seen, last_seen)] = reader.database.rows(
        "SELECT count(DISTINCT host), min(first_seen), max(last_seen) FROM pages"
    )
    return {
        "pages": in_all.total(),
        "kept": sum(group[5] for group in groups if group[3]),
        "pending": sum(group[5] for group in groups if group[4]),
        "outcomes": dict(in_all),
        "hosts": hosts,
        "texts": reader.database.value("SELECT count(*) FROM texts"),
        "first_seen": first_seen,
        "last_seen": last_seen,
    }, crawls
