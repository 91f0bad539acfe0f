"""An index at one moment, as the next opening would find it: without pages that are pending.

Everything is read within one transaction of SQLite, so what a writer does meanwhile is not seen.
Until the snapshot is left, SQLite cannot move the writer's log into its file, and the log grows.
"""

from collections.abc import Iterator
from typing import NamedTuple

from dedup_filter.pages.directory.crawls import Crawl
from dedup_filter.pages.directory.frame_store import EarlyForm, FrameStore, HostFrames, Lesson
from dedup_filter.pages.directory.index_entries import Change, Entries, Superseded
from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.records import PageRecord, from_column
from dedup_filter.pages.directory.scheme import Scheme

__all__ = ["KnownHost", "Snapshot"]

_RELEASED = """
    SELECT id FROM pages WHERE is_pending
        AND (is_kept OR original NOT IN (SELECT id FROM pages WHERE is_pending))
"""
"""What the next opening would release."""
_DROPPED_FOR_THEM = """
    SELECT id FROM pages WHERE NOT is_kept
        AND original IN (SELECT id FROM pages WHERE is_pending)
"""
"""What would be gone with that; what such pages taught stays."""


class KnownHost(NamedTuple):
    """What is known of a host's frames, and its pages that wait to be judged again."""

    frames: HostFrames
    early: list[EarlyForm]


class Snapshot:
    """What a reader shows, held still: `with Snapshot(reader) as snapshot: ...`."""

    def __init__(self, reader: PageReader) -> None:
        self.reader = reader
        self._transactions = reader._transactions
        self._released: frozenset[int] = frozenset()
        self._left_out: frozenset[int] = frozenset()

    def __enter__(self) -> "Snapshot":
        self._transactions.rows("BEGIN")
        try:
            self._released = self._numbers(_RELEASED)
            self._left_out = self._released | self._numbers(_DROPPED_FOR_THEM)
        except BaseException:
            self._transactions.rows("ROLLBACK")
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._transactions.rows("ROLLBACK")

    @property
    def scheme(self) -> Scheme:
        """How the fingerprints were made."""
        return self.reader.scheme

    def crawls(self) -> list[Crawl]:
        """List the crawls in their order."""
        return self.reader.crawls.all()

    def records(self) -> Iterator[PageRecord]:
        """Yield the records of all pages in the order of their numbers."""
        return (each for each in self.reader.records() if each.page not in self._left_out)

    def fingerprints(self) -> Entries:
        """Return all entries that an index has by now, those of pending pages too."""
        return Entries.joined(self.reader.fingerprints())

    def digests(self) -> Entries:
        """Return the same of digests."""
        return Entries.joined(self.reader.digests())

    def changed_since(self, revision: int, last_page: int) -> Change | None:
        """Tell how to bring tables up to date: see `Superseded.since`."""
        return Superseded(self._transactions).since(revision, last_page)

    def count(self) -> int:
        """Count them."""
        both = self.reader.count(is_kept=True) + self.reader.count(is_kept=False)
        return both - len(self._left_out)

    def text(self, page: int) -> str | None:
        """Return the text that was kept of a page, None if none was.

        Raises:
            StoreCorrupt: what is there cannot be read.
        """
        return self.reader.text(page)

    def has_texts(self) -> bool:
        """Tell whether the text of any page was kept."""
        return bool(self._transactions.rows("SELECT 1 FROM texts LIMIT 1"))

    def without_text(self) -> int:
        """Count the pages of which no text was kept."""
        sql = "SELECT count(*) FROM pages WHERE id NOT IN (SELECT page FROM texts)"
        without = int(self._transactions.row(sql)[0])
        return without - sum(self.text(page) is None for page in self._left_out)

    def original_url(self, page: int | None) -> str | None:
        """Return the URL of a page; None if it is gone."""
        if page is None:
            return None
        row = self._transactions.row("SELECT url FROM pages WHERE id = ?", (page,))
        return None if row is None else from_column(row[0])

    def hosts(self) -> Iterator[KnownHost]:
        """Yield what is known of each host; the one learnt of last comes last."""
        frames = FrameStore(self._transactions, self.reader._hosts)
        early: dict[str, list[int]] = {}
        for page, host, _ in frames.waiting():
            if page not in self._left_out:
                early.setdefault(host, []).append(page)
        for known in frames.all():
            forms = [self._early(page, known.host) for page in early.get(known.host, ())]
            yield KnownHost(self._without_released(known), forms)

    def _without_released(self, known: HostFrames) -> HostFrames:
        """Take back what pages taught that would be released."""
        lessons = [
            each for each in known.lessons if each.is_unlearnt or each.page not in self._released
        ]
        swallowed = self._transactions.rows(
            "SELECT page, lesson FROM frame_lessons WHERE is_in_state AND host = ? ORDER BY id",
            (self.reader.host_number(known.host),),
        )
        taken_back = [
            Lesson(page, lesson, True) for page, lesson in swallowed if page in self._released
        ]
        return known._replace(lessons=[*taken_back, *lessons])

    def _numbers(self, sql: str) -> frozenset[int]:
        return frozenset(row[0] for row in self._transactions.rows(sql))

    def _early(self, page: int, host: str) -> EarlyForm:
        sql = "SELECT form, note FROM early_pages WHERE page = ?"
        return EarlyForm(page, host, *self._transactions.row(sql, (page,)))
