"""What hosts have shown, kept as bytes whose meaning belongs to the frames.

    state     all that is known of a host, written now and then
    lesson    what one page taught, written in the transaction that records the page
    early     a page that waits to be judged again: its form, and a note that changes

A host is known by its state and the lessons since. When a page is released, its lesson is deleted;
if the state includes that lesson already, it is marked to be unlearnt instead. For this, lessons
of pending pages are kept although the state includes them, until commit or release.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dedup_filter.pages.directory.crawls import Hosts
from dedup_filter.pages.directory.records import from_column
from dedup_filter.pages.directory.transactions import Transactions

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
    early: Sequence[EarlyForm] = ()
    """Pages that wait, where they are asked for."""


class FrameStore:
    """States, lessons and early pages by host."""

    def __init__(self, transactions: Transactions, hosts: Hosts) -> None:
        self._transactions = transactions
        self._hosts = hosts

    def learn(self, host: str, page: int, lesson: bytes, *, is_unlearnt: bool = False) -> None:
        """Write down what a page taught, or is to be unlearnt; page 0: nobody will take it back."""
        with self._transactions.transaction() as write:
            number = self._hosts.number_for(host)
            write(
                """INSERT INTO frame_lessons (host, page, lesson, is_unlearnt, is_in_state)
                VALUES (?, ?, ?, ?, 0)""",
                (number, page, lesson, is_unlearnt),
            )

    def commit(self, page: int) -> None:
        """Keep what a page taught for good: it is committed."""
        sql = "DELETE FROM frame_lessons WHERE page = ? AND is_in_state"
        self._transactions.write(sql, (page,))

    def unlearn(self, page: int) -> None:
        """Take back what a pending page taught: it is released."""
        with self._transactions.transaction() as write:
            write("DELETE FROM frame_lessons WHERE page = ? AND NOT is_in_state", (page,))
            write(
                "UPDATE frame_lessons SET is_unlearnt = 1, is_in_state = 0 WHERE page = ?", (page,)
            )

    def save(self, host: str, state: bytes) -> None:
        """Write down all that is known of a host; its lessons so far are in it."""
        with self._transactions.transaction() as write:
            number = self._hosts.number_for(host)
            write(
                """REPLACE INTO host_frames (host, state, latest) VALUES (?1, ?2, max(
                    ifnull((SELECT max(id) FROM frame_lessons WHERE host = ?1), 0),
                    ifnull((SELECT latest FROM host_frames WHERE host = ?1), 0)
                ))""",
                (number, state),
            )
            write(
                """DELETE FROM frame_lessons WHERE host = ?
                AND (is_unlearnt OR page NOT IN (SELECT id FROM pages WHERE is_pending))""",
                (number,),
            )
            write("UPDATE frame_lessons SET is_in_state = 1 WHERE host = ?", (number,))

    def all(self) -> list[HostFrames]:
        """Return what is known of each host; the one learnt of last comes last."""
        known, latest = {}, {}
        for host, name, state, last in self._transactions.rows(
            """SELECT host, hosts.name, state, latest FROM host_frames
            JOIN hosts ON hosts.id = host"""
        ):
            known[host], latest[host] = HostFrames(from_column(name), state, []), last
        for number, host, name, page, lesson, is_unlearnt in self._transactions.rows(
            """SELECT frame_lessons.id, host, hosts.name, page, lesson, is_unlearnt
            FROM frame_lessons JOIN hosts ON hosts.id = host
            WHERE NOT is_in_state ORDER BY frame_lessons.id"""
        ):
            of_host = known.setdefault(host, HostFrames(from_column(name), None, []))
            of_host.lessons.append(Lesson(page, lesson, bool(is_unlearnt)))
            latest[host] = max(latest.get(host, 0), number)
        return [known[host] for host in sorted(known, key=lambda host: (latest[host], host))]

    def with_early_pages(self) -> Iterator[HostFrames]:
        """Yield the same with the pages that wait."""
        waiting: dict[str, list[EarlyForm]] = {}
        for each in self.waiting():
            waiting.setdefault(each.host, []).append(each)
        for known in self.all():
            early = waiting.get(known.host, ())
            forms = [each._replace(form=self.form(each.page) or b"") for each in early]
            yield known._replace(early=forms)

    def restore(self, known: HostFrames) -> None:
        """Put back what was known of a host; there must be nothing of it here."""
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
        number = self._hosts.number(host)
        with self._transactions.transaction() as write:
            write("DELETE FROM host_frames WHERE host = ?", (number,))
            write("DELETE FROM frame_lessons WHERE host = ?", (number,))
            write("DELETE FROM early_pages WHERE host = ?", (number,))

    def wait(self, early: EarlyForm) -> None:
        """Keep a page that is to be judged again; it is gone when its record is."""
        with self._transactions.transaction() as write:
            number = self._hosts.number_for(early.host)
            write(
                "REPLACE INTO early_pages (page, host, form, note) VALUES (?, ?, ?, ?)",
                (early.page, number, early.form, early.note),
            )

    def note(self, page: int, note: bytes) -> None:
        """Change the note of a waiting page."""
        self._transactions.write("UPDATE early_pages SET note = ? WHERE page = ?", (note, page))

    def wait_no_more(self, page: int) -> None:
        """Let go of a page that need not be judged again."""
        self._transactions.write("DELETE FROM early_pages WHERE page = ?", (page,))

    def waiting(self) -> list[EarlyForm]:
        """Return the waiting pages without their forms, the earliest first."""
        rows = self._transactions.rows(
            """SELECT page, hosts.name, note FROM early_pages JOIN hosts ON hosts.id = host
            ORDER BY page"""
        )
        return [EarlyForm(page, from_column(name), b"", note) for page, name, note in rows]

    def form(self, page: int) -> bytes | None:
        """Return the form of a waiting page, None if it waits no more."""
        row = self._transactions.row("SELECT form FROM early_pages WHERE page = ?", (page,))
        return None if row is None else bytes(row[0])
