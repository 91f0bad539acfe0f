"""Page -> verdict: a page is judged by its own text, not by the frame of its host.

    page, frames -> profile                  -> compared, recorded -> the frames learn from the page

Blocks that earlier pages of the host have shown are left out before the main content is chosen. If
only one has shown a block, it is either frame or the text that this page repeats (a print view,
another session id). So the index is asked with both texts, `new` and `main`, and `comparison` finds
out which candidate holds what the page says. A page of mostly links (a table of contents) is judged
with its links, as the few sentences on it may stand on many such pages.

Frames outlive their process: in a directory, what is learnt is written to a store, and memory is a
cache of it.

    page learnt from       -> its lesson, in the transaction that records the page
    page that waits        -> the packed page and a note; the note again when it changes
    enough lessons         -> the state of the host, which replaces its lessons
    page released          -> its lesson is taken back, here and in the store
    page of a host that    -> the state, then the lessons written since, in order; notes of pages
    is not in memory          that wait, which themselves are loaded when they are judged again

In memory, and on servers, nothing is written: hosts that there is no room for are forgotten, and a
line in the log says so. Other processes of a shared index get a lesson when its page is committed
(`frame_exchange`), and a host that was forgotten learns its first lessons again.

Cost: 8 bytes for each block of a page, until the state of its host replaces the lesson. To load a
host takes 0.1 ms for 1,000 blocks.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.own_texts import texts_of
from dedup_filter.fingerprints.profile import PageProfile, profile
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.frames import early_pages
from dedup_filter.frames.early_pages import EarlyPage
from dedup_filter.frames.host_frames import SITE, Frames, Host, Known, Lesson, Stored, pack, unpack
from dedup_filter.model import Verdict
from dedup_filter.pages.directory.frame_store import EarlyForm, HostFrames
from dedup_filter.pages.directory.records import KEPT_AS_TEXT, Place, canonical_of
from dedup_filter.pages.location import KeptPages
from dedup_filter.pages.redis.shared_log import Overtaken
from dedup_filter.text.reading import Shown
from dedup_filter.thresholds import FRAME_TIMES

logger = logging.getLogger(__name__)

_LEAST_BYTES = 16_384
"""Bytes of lessons of a host from which its state is written in their place: some ten pages."""
_BLOCK_BYTES = 9
"""Bytes of a state for each block. A state is written only when its lessons take more than it."""
_UNREADABLE = (
    "what was learnt of some hosts was written by another version of dedup_filter; learning anew"
)
_FORGETTING = (
    "the frames of hosts take more than frame_memory=%s MB, so those of hosts not met for longest "
    "are forgotten, and copies there may be missed: raise it (DEDUP_FRAME_MEMORY), or keep the "
    "index in a directory (DEDUP_INDEX), which has room for all"
)


@dataclass
class _Taught:
    """What one page taught."""

    page: int = 0
    """Its number; 0: it is dropped. A release never takes back what it taught, as its host does
    show it."""
    lessons: list[tuple[str, Lesson]] = field(default_factory=list)
    """Of its host and of sites, by name."""


class FramedPages:
    """Judges pages of hosts whose frames it learns."""

    def __init__(self, config: FilterConfig, kept: KeptPages) -> None:
        self._config = config
        self._kept = kept
        self._store = kept.frames
        self._exchange = kept.exchange
        self._load = None if self._store is None else loading(self._store.of)
        self._frames = self._new_frames()
        self.forgotten = 0
        """Hosts whose frames were forgotten, as there was no room for them."""
        self._pending: dict[int, _Taught] = {}
        """What pending pages taught, by their numbers."""
        self._taught = _Taught()
        """What was learnt in the present transaction."""

    @property
    def nbytes(self) -> int:
        """Memory of the frames, in bytes."""
        return self._frames.nbytes + (0 if self._exchange is None else self._exchange.nbytes)

    def check(self) -> None:
        """Verify the invariants of the frames, and that the store would load those in memory."""
        frames, load = self._frames, self._load
        frames.check()
        if load is None:
            return
        for host in frames:
            stored, waiting = load(host.name) or (Host(host.name), ())
            assert stored == host, "other blocks are known in the store"
            there = {each.row: each.tellings for each in waiting}
            here = {each.row: each.tellings for each in frames.early.of(host.name)}
            assert there == here, "other pages wait in the store"

    def claim(self, place: Place, page: ReadPage, *, is_pending: bool) -> Verdict:
        """Judge a page, record it as kept or pending, and learn from it.

        From a plain text nothing is learnt: it has no frame.
        """
        shown = page.shown
        while True:
            self._take_news(_framed(place, page), shown)
            known = self.known(_framed(place, page), shown)
            found_by = profile_of(page, known, self._config)
            found = self._kept.compare(place, found_by)
            if found.reason == "no_text":
                return found
            if found_by.canonical:
                found = found._replace(canonical=canonical_of(place, found_by.canonical))
            kept = (found_by.text, _form_of(page)) if self._config.keep_text else (None, None)
            try:
                with self._transaction(), self._kept.transaction():
                    verdict = self._kept.record(
                        place, found_by, found, *kept, is_pending=is_pending
                    )
                    if known.host.name:
                        self._learn(known, page, found_by, verdict)
            except Overtaken:
                continue
            if is_pending and self._taught.page:
                self._pending[self._taught.page] = self._taught
            else:
                self._tell(self._taught)
            self._let_go()
            return verdict

    def profile(self, place: Place, page: ReadPage) -> PageProfile:
        """Measure a page as `claim` would now, and learn nothing from it."""
        return profile_of(page, self.known(_framed(place, page), page.shown), self._config)

    def commit(self, page: int) -> None:
        """Keep a pending page for good."""
        self._kept.commit(page)
        self._tell(self._pending.pop(page, _Taught()))

    def release(self, page: int) -> None:
        """Forget a pending page and what was learnt from it."""
        self._kept.release(page)
        self._unlearn(self._pending.pop(page, _Taught()))
        self._let_go()

    def forget(self, url: str) -> int:
        """Forget all pages at a URL; what was learnt from them stays."""
        forgotten = self._kept.forget(url)
        self._let_go()
        return forgotten

    def known(self, host: str, shown: Shown) -> Known:
        """Return what is known now of the host of a page that shows this, and of its sites.

        Nothing is known of pages from which nothing is to be learnt: their host has no name.
        """
        if not (host and self._config.learn_frames):
            return nothing_known(shown)
        return self._frames.known(host, shown)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Learn nothing if the transaction within fails."""
        self._taught = taught = _Taught()
        try:
            yield
        except BaseException:
            # What was learnt is mixed with what was known: load it from the store, or undo it.
            if self._store is not None:
                self._frames = self._new_frames()
            else:
                self._unlearn(taught)
                self._frames.early.let_go([taught.page])
            raise

    def _take_news(self, host: str, shown: Shown) -> None:
        """Learn what other processes have learnt of the host of a page, and of its sites."""
        if self._exchange is None or not (host and self._config.learn_frames):
            return
        due = self._news_of(host)
        if due:
            with self._kept.transaction():
                self._judge_again(host, due)
        for site in self._frames.known(host, shown).sites:
            self._news_of(site.name)

    def _news_of(self, host: str) -> Collection[EarlyPage]:
        due = {}
        for lesson in () if self._exchange is None else self._exchange.news(host):
            _, told = self._frames.learn(host, lesson.shown, is_kept=lesson.is_kept)
            due.update({early.row: early for early in told})
        self._follow_bounds()
        return due.values()

    def _learn(self, known: Known, page: ReadPage, found_by: PageProfile, verdict: Verdict) -> None:
        """Learn from a page, and judge others again."""
        original, number = verdict.original_page, verdict.page or 0
        if original is None and not number:
            return  # the fate of its original is unknown, so nothing was recorded
        if original is not None and self._kept.fate(original) != "kept":
            # The page may be judged again and must not have taught its own text.
            return
        # The text of a revisit was shown before, like that of a duplicate. If it were counted a
        # second time, it would be taken for frame, and the page never found again.
        is_kept = original is None and not found_by.was_shown
        self._taught.page = number if is_kept else 0
        (host, shown), *of_sites = known.teaches
        early = None
        if is_kept and known.tellings < FRAME_TIMES:
            early = EarlyPage(number, page, known.new, known.tellings, host)
        due = self._learn_of(host, shown, early)
        if self._store is not None:  # all of it, before sites may take the room of the host
            for each in due:
                self._store.note(each.row, _note(each))
            if early is not None and early.is_waiting:
                self._store.wait(host, EarlyForm(number, page.pack(), _note(early)))
        for site, shown_there in of_sites:
            self._learn_of(site, shown_there)
        self._judge_again(host, due)
        if self._store is not None:
            self._frames.early.let_go(self._store.bound_waiting(early_pages.MOST_WAITING))

    def _learn_of(
        self, host: str, shown: Collection[int], early: EarlyPage | None = None
    ) -> list[EarlyPage]:
        """Learn what a host, or a site, has shown; write it to the store."""
        page, store = self._taught.page, self._store
        lesson, due = self._frames.learn(host, shown, is_kept=page > 0, early=early)
        self._taught.lessons.append((host, lesson))
        if store is None:
            self._follow_bounds()
            return due
        unsaved = store.learn(host, page, lesson.to_bytes())
        self._follow_bounds(due)
        known = self._frames.of(host)
        if unsaved > max(_LEAST_BYTES, _BLOCK_BYTES * len(known.sightings)):
            store.save(host, known.to_bytes())
        return due

    def _judge_again(self, host: str, due: Iterable[EarlyPage]) -> None:
        """Replace the profiles of pages that were judged with their host's frame."""
        for early in due:
            page = self._page_of(early)
            if page is not None:
                known = self._frames.known(host, page.shown, seen_itself=1)
                found_by = profile_of(page, known, self._config)
                text = found_by.text if self._config.keep_text else None
                self._kept.replace(early.row, found_by, text)
            if self._store is not None and not early.is_waiting:
                self._store.wait_no_more(early.row)

    def _page_of(self, early: EarlyPage) -> ReadPage | None:
        """Return a page that waits; None if it cannot be loaded any more."""
        content = early.content
        if isinstance(content, ReadPage):
            return content
        if content is None and self._store is not None:
            content = self._store.form(early.row)
        try:
            return None if content is None else ReadPage.unpacked(content, self._config)
        except ValueError:  # another version of this package packed it
            return None

    def _follow_bounds(self, due: Iterable[EarlyPage] = ()) -> None:
        """Take note of what is no longer in memory.

        Pages that are due stay in the store, which has yet to load them; see `_judge_again`.
        """
        gone, given_up = self._frames.forgotten, self._frames.early.given_up
        if self._store is not None:
            for number in set(given_up).difference([early.row for early in due]):
                self._store.wait_no_more(number)
        elif self._exchange is not None:
            for host in gone:
                self._exchange.forget(host)
        elif forgotten := sum(not name.startswith(SITE) for name in gone):
            if not self.forgotten:
                logger.warning(_FORGETTING, self._config.frame_memory)
            self.forgotten += forgotten
        gone.clear()
        given_up.clear()

    def _tell(self, taught: _Taught) -> None:
        if self._exchange is not None:
            for host, lesson in taught.lessons:
                is_known = bool(self._frames.of(host).sightings)
                self._exchange.tell(host, lesson, is_known=is_known)

    def _unlearn(self, taught: _Taught) -> None:
        for host, lesson in taught.lessons:
            self._frames.unlearn(host, lesson)

    def _let_go(self) -> None:
        """Stop waiting for pages whose records are gone."""
        if self._kept.gone:
            self._frames.early.let_go(self._kept.gone)
            for page in self._kept.gone:
                self._pending.pop(page, None)
            self._kept.gone.clear()

    def _new_frames(self) -> Frames:
        return Frames(self._config.frame_memory * 1e6, self._load)


def loading(frames_of: Callable[[str], HostFrames | None]) -> Callable[[str], Stored | None]:
    """Return what loads a host of a store for `Frames`, made of what reads it.

    Of hosts that another version of this package wrote nothing is known, and the log says so once.
    """
    warnings = iter([_UNREADABLE])

    def load(host: str) -> Stored | None:
        stored = frames_of(host)
        try:
            return None if stored is None else restored(stored)
        except ValueError:
            for warning in warnings:
                logger.warning("%s", warning)
            return None

    return load


def nothing_known(shown: Shown) -> Known:
    """Return what is known where no frames are learnt."""
    return Known(shown, Host(""))


def profile_of(page: ReadPage, known: Known, config: FilterConfig) -> PageProfile:
    """Measure a page with what is known of its host and its sites."""
    times = known.times_shown().tolist()
    return profile(texts_of(page, times, known.headline, known.around), config)


def _framed(place: Place, page: ReadPage) -> str:
    """Return the name of the host whose frame is around a page, "" if there is none."""
    return "" if page.is_plain else place.host


def _form_of(page: ReadPage) -> bytes:
    """Return the form that is kept of a page."""
    return KEPT_AS_TEXT if page.is_plain else page.pack()


def _note(early: EarlyPage) -> bytes:
    return pack(early.tellings, early.new)


def restored(stored: HostFrames) -> Stored:
    """Return a host, and its pages that wait. Raises ValueError: another version wrote them."""
    name, packed, taught, waiting = stored
    host = Host(name) if packed is None else Host.from_bytes(name, packed)
    for each in taught:
        lesson = Lesson.from_bytes(each.lesson)
        (host.unlearn if each.is_unlearnt else host.learn)(lesson)
    early = []
    for page, _, note in waiting:
        tellings, new, _ = unpack(note)
        early.append(EarlyPage(page, None, np.array(new, np.uint64), tellings, name))
    return host, [each for each in early if each.is_waiting]
