"""What hosts have shown, kept as bytes whose meaning belongs to the frames.

    state     all that is known of a host, written now and then
    lesson    what one page taught, written in the transaction that records the page
    early     a page that waits to be judged again: its form, and a note that changes

A host is known by its state and the lessons since. When a page is released, its lesson is deleted;
if the state includes that lesson already, it is marked to be unlearnt instead. For this, lessons
of pending pages are kept although the state includes them, until commit or release (`page_store`).
"""

from collections.abc import Iterator
from typing import NamedTuple

from dedup_filter.pages.directory.page_reader import HOST, PageReader
from dedup_filter.pages.directory.page_store import PageStore


class Lesson(NamedTuple):
    """What a page taught of its host, or what is to be unlearnt of it."""

    page: int
    lesson: bytes
    is_unlearnt: bool


class EarlyForm(NamedTuple):
    """A page that waits to be judged again."""

    page: int
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


_KNOWN = """
    SELECT CAST(name AS TEXT), state FROM hosts LEFT JOIN host_frames ON host = hosts.id
    WHERE state IS NOT NULL
        OR hosts.id IN (SELECT host FROM frame_lessons WHERE NOT is_in_state)
        OR hosts.id IN (SELECT host FROM early_pages)
    ORDER BY max(ifnull(latest, 0), ifnull(
        (SELECT max(id) FROM frame_lessons WHERE host = hosts.id AND NOT is_in_state), 0))
"""


def known_frames(reader: PageReader) -> list[HostFrames]:
    """Return what is known of each host, without forms; the one learnt of last comes last."""
    known = {name: HostFrames(name, state, [], []) for name, state in reader.rows(_KNOWN)}
    for host, page, lesson, is_unlearnt in reader.rows(
        f"""SELECT {HOST}, page, lesson, is_unlearnt FROM frame_lessons
        WHERE NOT is_in_state ORDER BY id"""  # noqa: S608
    ):
        known[host].lessons.append(Lesson(page, lesson, bool(is_unlearnt)))
    sql = f"SELECT page, {HOST}, note FROM early_pages ORDER BY page"  # noqa: S608
    for page, host, note in reader.rows(sql):
        known[host].early.append(EarlyForm(page, b"", note))
    return list(known.values())


def frames_with_forms(reader: PageReader) -> Iterator[HostFrames]:
    """Yield the same with the forms of the pages that wait."""
    for known in known_frames(reader):
        sql = "SELECT form FROM early_pages WHERE page = ?"
        early = [each._replace(form=reader.value(sql, (each.page,))) for each in known.early]
        yield known._replace(early=early)


class FrameStore:
    """States, lessons and early pages by host, written; what is not flushed yet is read, too."""

    def __init__(self, store: PageStore) -> None:
        self._store = store

    def all(self) -> list[HostFrames]:
        """Return what is known of each host, as `known_frames` does."""
        return known_frames(self._store)

    def learn(self, host: str, page: int, lesson: bytes, *, is_unlearnt: bool = False) -> None:
        """Write down what a page taught, or is to be unlearnt; page 0: nobody will take it back."""
        with self._store.transaction():
            self._store.write(
                """INSERT INTO frame_lessons (host, page, lesson, is_unlearnt, is_in_state)
                VALUES (?, ?, ?, ?, 0)""",
                (self._store.host(host), page, lesson, is_unlearnt),
            )

    def save(self, host: str, state: bytes) -> None:
        """Write down all that is known of a host; its lessons so far are in it."""
        with self._store.transaction():
            number = self._store.host(host)
            self._store.write(
                """REPLACE INTO host_frames (host, state, latest) VALUES (?1, ?2, max(
                    ifnull((SELECT max(id) FROM frame_lessons WHERE host = ?1), 0),
                    ifnull((SELECT latest FROM host_frames WHERE host = ?1), 0)
                ))""",
                (number, state),
            )
            self._store.write(
                """DELETE FROM frame_lessons WHERE host = ?
                AND (is_unlearnt OR page NOT IN (SELECT id FROM pages WHERE is_pending))""",
                (number,),
            )
            self._store.write("UPDATE frame_lessons SET is_in_state = 1 WHERE host = ?", (number,))

    def restore(self, known: HostFrames) -> None:
        """Put back what was known of a host; there must be nothing of it here."""
        with self._store.transaction():
            if known.state is not None:
                # A lesson that the state takes in: hosts are forgotten in the order of those.
                self.learn(known.host, 0, b"")
                self.save(known.host, known.state)
            for page, lesson, is_unlearnt in known.lessons:
                self.learn(known.host, page, lesson, is_unlearnt=is_unlearnt)
            for early in known.early:
                self.wait(known.host, early)

    def forget(self, host: str) -> None:
        """Forget a host and its early pages."""
        with self._store.transaction():
            number = (self._store.host(host),)
            self._store.write("DELETE FROM host_frames WHERE host = ?", number)
            self._store.write("DELETE FROM frame_lessons WHERE host = ?", number)
            self._store.write("DELETE FROM early_pages WHERE host = ?", number)

    def wait(self, host: str, early: EarlyForm) -> None:
        """Keep a page that is to be judged again; it is gone when its record is."""
        with self._store.transaction():
            self._store.write(
                "REPLACE INTO early_pages (host, page, form, note) VALUES (?, ?, ?, ?)",
                (self._store.host(host), *early),
            )

    def note(self, page: int, note: bytes) -> None:
        """Change the note of a waiting page."""
        self._store.write("UPDATE early_pages SET note = ? WHERE page = ?", (note, page))

    def wait_no_more(self, page: int) -> None:
        """Let go of a page that need not be judged again."""
        self._store.write("DELETE FROM early_pages WHERE page = ?", (page,))

    def form(self, page: int) -> bytes | None:
        """Return the form of a waiting page, None if it waits no more."""
        sql = "SELECT form FROM early_pages WHERE page = ?"
        form: bytes | None = self._store.value(sql, (page,))
        return form
