"""What hosts have shown, kept as bytes whose meaning belongs to the frames.

    state     all that is known of a host, written now and then
    lesson    what one page taught, written in the transaction that records the page
    early     a page that waits to be judged again: its form, and a note that changes

A host is known by its state and the lessons since. It is read when it is needed, in 0.03 ms and 0.1
ms for each 1,000 blocks. When a page is released, its lesson is deleted; if the state includes that
lesson already, it is marked to be unlearnt instead. For this, lessons of pending pages are kept
although the state includes them, until commit or release (`page_store`).
"""

import sys
from collections.abc import Iterator
from typing import NamedTuple

from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.page_store import PageStore

_ROW_BYTES = 40
"""What SQLite takes for a row besides its lesson."""
_MOST_UNSAVED = 100_000
_BATCHES = 100
"""Of too many pages that wait, a hundredth goes at a time, as to count them takes 0.1 ms."""


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
    SELECT CAST(name AS TEXT) FROM hosts WHERE id IN (SELECT host FROM host_frames)
        OR id IN (SELECT host FROM frame_lessons WHERE NOT is_in_state)
        OR id IN (SELECT host FROM early_pages)
    ORDER BY name
"""


def frames_of(reader: PageReader, host: str) -> HostFrames | None:
    """Return what is known of a host, without forms; None if that is nothing. Cost: 20 us."""
    number = reader.known_host(host)
    if number is None:
        return None
    state = reader.value("SELECT state FROM host_frames WHERE host = ?", (number,))
    lessons = reader.rows(
        """SELECT page, lesson, is_unlearnt FROM frame_lessons
        WHERE host = ? AND NOT is_in_state ORDER BY id""",
        (number,),
    )
    early = reader.rows(
        "SELECT page, note FROM early_pages WHERE host = ? ORDER BY page", (number,)
    )
    if state is None and not lessons and not early:
        return None
    taught = [Lesson(page, lesson, bool(is_unlearnt)) for page, lesson, is_unlearnt in lessons]
    return HostFrames(host, state, taught, [EarlyForm(page, b"", note) for page, note in early])


def all_frames(reader: PageReader) -> Iterator[HostFrames]:
    """Yield what is known of each host, with the forms of the pages that wait."""
    for (host,) in reader.rows(_KNOWN):
        known = frames_of(reader, host)
        assert known is not None
        sql = "SELECT form FROM early_pages WHERE page = ?"
        early = [each._replace(form=reader.value(sql, (each.page,))) for each in known.early]
        yield known._replace(early=early)


class FrameStore:
    """States, lessons and early pages by host, written; what is not flushed yet is read, too."""

    def __init__(self, store: PageStore) -> None:
        self._store = store
        self._unsaved: dict[int, int] = {}
        """By number of a host, the bytes of its lessons since its state; those asked for lately."""
        self._waiting = sys.maxsize
        """How many early pages there are, at most; they are counted when that is too many."""

    def of(self, host: str) -> HostFrames | None:
        """Return what is known of a host, as `frames_of` does."""
        return frames_of(self._store, host)

    def learn(self, host: str, page: int, lesson: bytes, *, is_unlearnt: bool = False) -> int:
        """Write down what a page taught, or is to be unlearnt; page 0: nobody will take it back.

        Returns the bytes that the lessons since the state of the host take.
        """
        with self._store.transaction():
            number = self._store.host(host)
            self._store.write(
                """INSERT INTO frame_lessons (host, page, lesson, is_unlearnt, is_in_state)
                VALUES (?, ?, ?, ?, 0)""",
                (number, page, lesson, is_unlearnt),
            )
        if len(self._unsaved) >= _MOST_UNSAVED:
            self._unsaved.clear()
        known = self._unsaved.get(number)
        if known is None:
            sql = """SELECT sum(length(lesson) + ?) FROM frame_lessons
                WHERE host = ? AND NOT is_in_state"""
            unsaved = int(self._store.value(sql, (_ROW_BYTES, number)))
        else:
            unsaved = known + len(lesson) + _ROW_BYTES
        self._unsaved[number] = unsaved
        return unsaved

    def save(self, host: str, state: bytes) -> None:
        """Write down all that is known of a host; its lessons so far are in it."""
        with self._store.transaction():
            number = self._store.host(host)
            self._store.write(
                "REPLACE INTO host_frames (host, state) VALUES (?, ?)", (number, state)
            )
            self._store.write(
                """DELETE FROM frame_lessons WHERE host = ?
                AND (is_unlearnt OR page NOT IN (SELECT id FROM pages WHERE is_pending))""",
                (number,),
            )
            self._store.write("UPDATE frame_lessons SET is_in_state = 1 WHERE host = ?", (number,))
        self._unsaved[number] = 0

    def restore(self, known: HostFrames) -> None:
        """Put back what was known of a host; there must be nothing of it here."""
        with self._store.transaction():
            if known.state is not None:
                self.save(known.host, known.state)
            for page, lesson, is_unlearnt in known.lessons:
                self.learn(known.host, page, lesson, is_unlearnt=is_unlearnt)
            for early in known.early:
                self.wait(known.host, early)

    def wait(self, host: str, early: EarlyForm) -> None:
        """Keep a page that is to be judged again; it is gone when its record is."""
        with self._store.transaction():
            self._store.write(
                "REPLACE INTO early_pages (host, page, note, form) VALUES (?, ?, ?, ?)",
                (self._store.host(host), early.page, early.note, early.form),
            )
        self._waiting += 1

    def bound_waiting(self, most: int) -> list[int]:
        """Let go of the earliest pages if more than `most` wait; return their numbers."""
        if self._waiting <= most:
            return []
        # Those that are gone are still among them: a page takes its own with it.
        self._waiting = self._store.value("SELECT count(*) FROM early_pages")
        if self._waiting <= most:
            return []
        sql = "SELECT page FROM early_pages ORDER BY page LIMIT ?"
        gone = self._store.rows(sql, (self._waiting - most + most // _BATCHES,))
        with self._store.transaction():
            for page in gone:
                self.wait_no_more(*page)
        self._waiting -= len(gone)
        return [page for (page,) in gone]

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
