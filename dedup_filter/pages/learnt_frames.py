"""Frames that outlive their process: what is learnt of hosts is written to a store.

    page learnt from       -> its lesson, in the transaction that records the page
    page that waits        -> the packed page and a note; the note again when it changes
    enough lessons         -> the state of the host, which replaces its lessons
    page released          -> its lesson is taken back, here and in the store

After a restart the frames are as before: the states, then the lessons written since, in order.
Pages that wait are loaded from the store when they are judged again.

In memory nothing is written; the lessons of pending pages are remembered, so that a release can
take them back. Other processes of a shared index get a lesson when its page is committed
(`frame_exchange`).

Cost: 8 bytes for each block of a page, until the state of its host replaces the lesson. A million
blocks of 1,000 hosts take 8.4 MB on disk and are loaded in 0.12 s, at the first page.
"""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from dedup_filter.frames.early_pages import EarlyPage
from dedup_filter.frames.frame_bytes import EarlyNote, HostState, Lesson
from dedup_filter.frames.host_frames import Frames, Host, host_hash
from dedup_filter.pages.directory import EarlyForm, FrameStore
from dedup_filter.pages.frame_exchange import FrameExchange
from dedup_filter.text import Page
from dedup_filter.wording import counted
from dedup_filter.workers.measured import MeasurablePage

__all__ = ["LearntFrames"]

logger = logging.getLogger(__name__)

_LEAST_BYTES = 65_536
"""Bytes of lessons of a host from which its state is written in their place: some 50 pages."""
_BLOCK_BYTES = 9
"""Bytes of a state for each block. A state is written only when its lessons take more than it."""
_ROW_BYTES = 40
"""What SQLite takes for a row besides its lesson."""

_Lessons = list[tuple[str, Lesson]]
"""What one page taught, of its host and of sites."""


@dataclass
class _Taught:
    page: int = 0
    lessons: _Lessons = field(default_factory=list)
    is_pending: bool = False


class LearntFrames:
    """The frames of all hosts, kept in step with a store and with other processes, if any.

    Methods that learn must be called within a transaction of the store and within `transaction`.
    """

    def __init__(self, store: FrameStore | None, exchange: FrameExchange | None = None) -> None:
        self._store = store
        self._exchange = exchange
        self._frames = Frames()
        self._is_stale = store is not None
        self._unsaved: Counter[str] = Counter()
        """By host, the bytes of the lessons that were written after its state."""
        self._pending: dict[int, _Lessons] = {}
        """What pending pages taught, by their numbers."""
        self._taught = _Taught()
        """What was learnt in the present transaction."""

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self._frames.nbytes + (0 if self._exchange is None else self._exchange.nbytes)

    def check(self) -> None:
        """Verify the invariants of the frames, and that the store would restore them."""
        self._refresh()
        self._frames.check()
        if self._store is not None:
            again, here = _restored(self._store)[0], self._frames
            assert again.early.waiting() == here.early.waiting(), "other pages wait in the store"
            assert len(again) == len(here), "other blocks are known in the store"

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Learn nothing if the transaction within fails."""
        self._taught = taught = _Taught()
        try:
            yield
        except BaseException:
            # What was learnt is mixed with what was known: restore it from the store, or undo it.
            if self._store is not None:
                self._is_stale = True
            else:
                self._unlearn(taught.lessons)
                self._frames.early.let_go([taught.page])
            raise
        if taught.is_pending:
            self._pending[taught.page] = taught.lessons
        else:
            self._tell(taught.lessons)

    def take_news(self, host: str) -> list[EarlyPage]:
        """Learn what other processes have learnt of a host; return pages to be judged again.

        Raises:
            StoreError: nothing can be read; nothing was learnt.
        """
        if self._exchange is None:
            return []
        due = {}
        for lesson in self._exchange.news(host):
            due.update({early.row: early for early in self._frames.learn_of(host, lesson)})
        self._follow_bounds()
        return list(due.values())

    def of(self, host: str) -> Host:
        """Return what is known of a host or a site."""
        self._refresh()
        return self._frames.of(host)

    def learn(
        self,
        hosts: Sequence[Host],
        page: MeasurablePage,
        number: int = 0,
        *,
        is_pending: bool = False,
    ) -> list[EarlyPage]:
        """Learn from a page, given its host and its sites; return pages to be judged again.

        `number` is that of a page that is kept. With 0 it is dropped: a release never takes back
        what it taught, as the host does show it.

        If it is the first page of its host its sites learn, too: only then, because blocks learnt
        of sites take the room of those of hosts.
        """
        host, frames, shown = hosts[0].name, self._frames, page.shown.hashes
        sites = () if hosts[0].sightings else hosts[1:]
        lesson = frames.lesson(host, shown, is_kept=bool(number))
        due: list[EarlyPage] = []
        if number:
            early = None
            if frames.is_early(host, page.shown):
                is_packed = page.here is None and self._store is None
                early = EarlyPage(number, page.here, packed=page.pack() if is_packed else None)
            due = frames.learn(host, page.shown, lesson, early)
            if self._store is not None and early and early in frames.early.of(host):
                note = EarlyNote(early.tellings, early.new).to_bytes()
                self._store.wait(EarlyForm(number, host, page.pack(), note))
        else:
            frames.take_lesson(host, lesson)
        self._taught.page, self._taught.is_pending = number, is_pending
        self._note(host, lesson, due)
        for site in sites:  # one after the other, as learning of one can evict another
            lesson = frames.lesson(site.name, [*shown, host_hash(host)], is_kept=bool(number))
            frames.take_lesson(site.name, lesson)
            self._note(site.name, lesson)
        return due

    def page_of(
        self, early: EarlyPage, unpack: Callable[[bytes], MeasurablePage]
    ) -> Page | MeasurablePage | None:
        """Return a page that is to be judged again; None if it cannot be loaded any more."""
        if early.page is not None:
            return early.page
        form = early.packed if self._store is None else self._store.form(early.row)
        try:
            return None if form is None else unpack(form)
        except ValueError:  # another version of this package packed it
            return None

    def told(self, early: EarlyPage) -> None:
        """Note that a page was judged again."""
        if self._store is not None and early.is_waiting:
            self._store.note(early.row, EarlyNote(early.tellings, early.new).to_bytes())
        elif self._store is not None:
            self._store.wait_no_more(early.row)

    def commit(self, page: int) -> None:
        """Keep what a committed page taught."""
        self._tell(self._pending.pop(page, []))

    def unlearn(self, page: int) -> None:
        """Take back what a released page taught."""
        self._unlearn(self._pending.pop(page, []))

    def let_go(self, pages: list[int]) -> None:
        """Stop waiting for pages whose records are gone."""
        self._frames.early.let_go(pages)
        for page in pages:
            self._pending.pop(page, None)

    def save(self) -> None:
        """Write the states of all hosts with new lessons. Requires: a transaction of the store."""
        if self._store is not None and not self._is_stale:
            for host in list(self._unsaved):
                self._save(self._store, host)

    def _note(self, host: str, lesson: Lesson, due: Collection[EarlyPage] = ()) -> None:
        """Note what the page of this transaction taught; write it to the store."""
        self._taught.lessons.append((host, lesson))
        if self._store is not None:
            packed = lesson.to_bytes()
            self._store.learn(host, self._taught.page, packed)
            self._unsaved[host] += len(packed) + _ROW_BYTES
        self._follow_bounds(due)
        least = max(_LEAST_BYTES, _BLOCK_BYTES * len(self._frames.of(host).sightings))
        if self._store is not None and self._unsaved[host] > least:
            self._save(self._store, host)

    def _follow_bounds(self, due: Collection[EarlyPage] = ()) -> None:
        """Delete from store and exchange what was evicted here.

        Pages that are due stay in the store, which has yet to load them; see `told`.
        """
        forgotten, given_up = self._frames.take_bounded()
        for host in forgotten:
            if self._exchange is not None:
                self._exchange.forget(host)
            if self._store is not None:
                self._store.forget(host)
                del self._unsaved[host]
        if self._store is not None:
            for number in set(given_up).difference(early.row for early in due):
                self._store.wait_no_more(number)

    def _tell(self, lessons: _Lessons) -> None:
        if self._exchange is not None:
            for host, lesson in lessons:
                is_known = bool(self._frames.of(host).sightings)
                self._exchange.tell(host, lesson, is_known=is_known)

    def _unlearn(self, lessons: _Lessons) -> None:
        for host, lesson in lessons:
            self._frames.unlearn(host, lesson)

    def _save(self, store: FrameStore, host: str) -> None:
        store.save(host, self._frames.state(host).to_bytes())
        del self._unsaved[host]

    def _refresh(self) -> None:
        if self._is_stale and self._store is not None:
            self._frames, self._unsaved = _restored(self._store)
            self._is_stale = False


def _restored(store: FrameStore) -> tuple[Frames, Counter[str]]:
    """Load the frames; return with them the bytes of lessons by host."""
    frames, unsaved, unreadable = Frames(early_are_stored=True), Counter[str](), 0
    for known in store.all():
        try:
            state = None if known.state is None else HostState.from_bytes(known.state)
            lessons = [(Lesson.from_bytes(each.lesson), each.is_unlearnt) for each in known.lessons]
            notes = [(each.page, EarlyNote.from_bytes(each.note)) for each in known.early]
        except ValueError:
            unreadable += 1
            continue
        if state is not None:
            frames.put_state(known.host, state)
        for lesson, is_unlearnt in lessons:
            (frames.unlearn if is_unlearnt else frames.take_lesson)(known.host, lesson)
        for page, note in notes:
            frames.early.wait(known.host, EarlyPage(page, None, note.new, note.tellings))
        unsaved[known.host] = sum(len(each.lesson) + _ROW_BYTES for each in known.lessons)
    if unreadable:
        logger.warning(
            "what was learnt of %s was written by another version of dedup_filter; learning anew",
            counted(unreadable, "host"),
        )
    return frames, +unsaved
