"""What hosts have shown, kept as bytes whose meaning belongs to the frames.

    state     all that is known of a host, written now and then
    lesson    what one page taught, written in the transaction that records the page
    early     a page that waits to be judged again: its form, and a note that changes

A host is known by its state and the lessons since. When a page is released, its lesson is deleted;
if the state includes that lesson already, it is marked to be unlearnt instead. For this, lessons
of pending pages are kept although the state includes them, until commit or release.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from dedup_filter.pages.directory.database import Database
from dedup_filter.pages.directory.records import from_column

__all__ = ["EarlyForm", "FrameStore", "HostFrames", "Lesson"]


class Lesson(NamedTuple):
    """What a page taught of its host, or what is to be unlearnt of it."""

    page: int
    lesson: bytes
    is_unlearnt: bool


class EarlyForm(NamedTuple):
    """A page that waits to be judged again."""

    page: int
    host: str
    form: bytes
    """It is large, and left out (b"") until it is asked for."""
    note: bytes


class HostFrames(NamedTuple):
    """What is known of a host."""

    host: str
    state: bytes | None
    lessons: list[Lesson]
    """What came after the state, in its order."""
    early: list[EarlyForm]
    """Pages that wait, the earliest first."""


class FrameStore:
    """States, lessons and early pages by host."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def learn(self, host: str, page: int, lesson: bytes, *, is_unlearnt: bool = False) -> None:
        """Write down what a page taught, or is to be unlearnt; page 0: nobody will take it back."""
        with self._database as database:
            database.write(
                """INSERT INTO frame_lessons (host, page, lesson, is_unlearnt, is_in_state)
                VALUES (?, ?, ?, ?, 0)""",
                (database.host(host), page, lesson, is_unlearnt),
            )

    def commit(self, page: int) -> None:
        """Keep what a page taught for good: it is committed."""
        self._database.write("DELETE FROM frame_lessons WHERE page = ? AND is_in_state", (page,))

    def unlearn(self, page: int) -> None:
        """Take back what a pending page taught: it is released."""
        with self._database as database:
            database.write("DELETE FROM frame_lessons WHERE page = ? AND NOT is_in_state", (page,))
            database.write(
                "UPDATE frame_lessons SET is_unlearnt = 1, is_in_state = 0 WHERE page = ?", (page,)
            )

    def save(self, host: str, state: bytes) -> None:
        """Write down all that is known of a host; its lessons so far are in it."""
        with self._database as database:
            number = database.host(host)
            database.write(
                """REPLACE INTO host_frames (host, state, latest) VALUES (?1, ?2, max(
                    ifnull((SELECT max(id) FROM frame_lessons WHERE host = ?1), 0),
                    ifnull((SELECT latest FROM host_frames WHERE host = ?1), 0)
                ))""",
                (number, state),
            )
            database.write(
                """DELETE FROM frame_lessons WHERE host = ?
                AND (is_unlearnt OR page NOT IN (SELECT id FROM pages WHERE is_pending))""",
                (number,),
            )
            database.write("UPDATE frame_lessons SET is_in_state = 1 WHERE host = ?", (number,))

    def all(self) -> list[HostFrames]:
        """Return what is known of each host, without forms; the one learnt of last comes last."""
        rows = self._database.rows
        known: dict[str | bytes, HostFrames] = {}
        latest: Counter[str | bytes] = Counter()
        for name, state, last in rows(
            "SELECT name, state, latest FROM host_frames JOIN hosts ON hosts.id = host"
        ):
            known[name], latest[name] = HostFrames(from_column(name), state, [], []), last

        def of(name: str | bytes) -> HostFrames:
            return known.setdefault(name, HostFrames(from_column(name), None, [], []))

        for number, name, page, lesson, is_unlearnt in rows(
            """SELECT frame_lessons.id, name, page, lesson, is_unlearnt
            FROM frame_lessons JOIN hosts ON hosts.id = host
            WHERE NOT is_in_state ORDER BY frame_lessons.id"""
        ):
            of(name).lessons.append(Lesson(page, lesson, bool(is_unlearnt)))
            latest[name] = max(latest[name], number)
        for page, name, note in rows(
            "SELECT page, name, note FROM early_pages JOIN hosts ON hosts.id = host ORDER BY page"
        ):
            of(name).early.append(EarlyForm(page, from_column(name), b"", note))
        return [known[name] for name in sorted(known, key=latest.__getitem__)]

    def with_forms(self) -> Iterator[HostFrames]:
        """Yield the same with the forms of the pages that wait."""
        for known in self.all():
            early = [each._replace(form=self.form(each.page) or b"") for each in known.early]
            yield known._replace(early=early)

    def restore(self, known: HostFrames) -> None:
        """Put back what was known of a host; there must be nothing of it here."""
        with self._database:
            if known.state is not None:
                # A lesson that the state takes in: hosts are forgotten in the order of those.
                self.learn(known.host, 0, b"")
                self.save(known.host, known.state)
            for page, lesson, is_unlearnt in known.lessons:
                self.learn(known.host, page, lesson, is_unlearnt=is_unlearnt)
            for early in known.early:
                self.wait(early)

    def forget(self, host: str) -> None:
        """Forget a host and its early pages."""
        with self._database as database:
            number = (database.host(host),)
            database.write("DELETE FROM host_frames WHERE host = ?", number)
            database.write("DELETE FROM frame_lessons WHERE host = ?", number)
            database.write("DELETE FROM early_pages WHERE host = ?", number)

    def wait(self, early: EarlyForm) -> None:
        """Keep a page that is to be judged again; it is gone when its record is."""
        with self._database as database:
            database.write(
                "REPLACE INTO early_pages (page, host, form, note) VALUES (?, ?, ?, ?)",
                (early.page, database.host(early.host), early.form, early.note),
            )

    def note(self, page: int, note: bytes) -> None:
        """Change the note of a waiting page."""
        self._database.write("UPDATE early_pages SET note = ? WHERE page = ?", (note, page))

    def wait_no_more(self, page: int) -> None:
        """Let go of a page that need not be judged again."""
        self._database.write("DELETE FROM early_pages WHERE page = ?", (page,))

    def form(self, page: int) -> bytes | None:
        """Return the form of a waiting page, None if it waits no more."""
        form: bytes | None = self._database.value(
            "SELECT form FROM early_pages WHERE page = ?", (page,)
        )
        return form
