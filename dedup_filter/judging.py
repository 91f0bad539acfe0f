"""Page -> verdict: a page is judged by its own text, not by the frame of its host.

    page, frames -> profile -> compared, recorded -> counted for its host

Blocks that earlier pages of the host have shown are left out before the main content is chosen. If
only one page has shown a block, the block is either frame or text that this page repeats (a print
view, another session id). So both texts, `new` and `main`, are looked up, and `comparison` decides
which candidate contains the page's text. A page of mostly links (a table of contents) is judged
with its links, because its few sentences may stand on many such pages.

A kept page is counted when it is committed, a duplicate of a kept page at once. Until its commit, a
pending page is in memory with its blocks, and its release drops them:

    claim    page -> judged as if pending pages had been committed (`expected_hosts`) -> pending
    commit   pending page -> judged again if its frame was not known and is not as expected
             -> counted; waiting pages of its template are judged again; it may wait itself
    release  pending page -> deleted, not counted

Frames outlive their process in a directory: memory is a cache of a store with one record a host.
Waiting pages are written in the transaction that commits the page, records of hosts when SQLite
commits it. Memory changes after the transaction, so a fault changes nothing.

For an index in memory or on servers no frames are written: hosts beyond the memory bound are
forgotten (in memory the log says so). Other processes of a shared index receive the update of each
counted page (`frame_exchange`), and from there a forgotten host gets its first pages again.

Cost: 0.1 ms for 1,000 blocks to load a host, and the same to write it.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from time import time as now
from typing import NamedTuple

import numpy as np

from dedup_filter.comparison.look_ups import verdict_on
from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import PageProfile, profile_of
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.frames import provisional_pages
from dedup_filter.frames.expected_hosts import ExpectedHosts
from dedup_filter.frames.host_frames import (
    SITE,
    Frames,
    FrameUpdate,
    Host,
    HostContext,
    Stored,
    frame_mark,
    no_context,
    pack,
    unpack,
)
from dedup_filter.frames.provisional_pages import ProvisionalPage
from dedup_filter.model import Verdict
from dedup_filter.store.protocol import KeptPages, Overtaken
from dedup_filter.store.records import KEPT_AS_TEXT
from dedup_filter.store.sqlite.frame_store import FrameStore, HostFrames, ProvisionalForm
from dedup_filter.text.headlines import canonical_marks, part_hash
from dedup_filter.text.page_url import Place, canonical_of, url_key
from dedup_filter.text.reading import Shown, clean_text
from dedup_filter.thresholds import FRAME_TIMES

logger = logging.getLogger(__name__)

_UNREADABLE = (
    "the frames of some hosts were written by another version of dedup_filter; counting them anew"
)
_FORGETTING = (
    "the frames of hosts take more than frame_memory=%s MB, so those of hosts not met for longest "
    "are forgotten, and copies there may be missed: raise it (DEDUP_FRAME_MEMORY), or keep the "
    "index in a directory (DEDUP_INDEX), which has room for all"
)


class _Countable(NamedTuple):
    """A judged page that is to be counted."""

    number: int
    """0: the page is dropped."""
    host: str
    shown: Shown
    is_kept: bool
    """False also for a kept page whose text was shown before."""
    page: ReadPage | None
    """None: the page need not be judged again."""
    times: tuple[bytes, bool] | None
    """The expected counts of its frame when the page was judged, if it may be judged again."""
    evidence: Sequence[int] = ()
    """Hashes that count beside its blocks: see `HostContext.updates`."""


class _Change(NamedTuple):
    """The changes in memory when a page is counted."""

    updates: list[tuple[Host, FrameUpdate]]
    """Updates of its host and of sites."""
    ready: list[ProvisionalPage]
    """Pages that were judged again."""
    provisional: ProvisionalPage | None
    """The page itself, if it is to wait."""
    discarded: list[int]
    """Numbers of pages that no longer wait, because too many pages wait."""


class PageJudge:
    """Judges pages of hosts whose frames it counts."""

    def __init__(self, config: FilterConfig, kept: KeptPages, *, with_text: bool = False) -> None:
        self._config = config
        self._with_text = with_text
        self._kept = kept
        self._store = kept.frames
        self._exchange = kept.exchange
        self._load = None if self._store is None else loading(self._store.of)
        changed = None if self._store is None else self._store.changed
        self._frames = Frames(config.frame_memory * 1e6, self._load, changed)
        self.forgotten = 0
        """Number of hosts whose frames were forgotten to stay within `frame_memory`."""
        self._pending: dict[int, _Countable] = {}
        """Number -> page to be counted when it is committed."""
        self._expected = ExpectedHosts()

    @property
    def nbytes(self) -> int:
        """Memory of the frames, in bytes."""
        return self._frames.nbytes + (0 if self._exchange is None else self._exchange.nbytes)

    def check(self) -> None:
        """Verify the invariants of the frames, and that the store has the same frames."""
        frames, load = self._frames, self._load
        frames.check()
        if load is None:
            return
        for host in frames:
            stored, waiting = load(host.name) or (Host(host.name), ())
            assert stored == host, "the store has other counts"
            there = {each.row: each.pages_of_template for each in waiting}
            here = {each.row: each.pages_of_template for each in frames.provisional.of(host.name)}
            assert there == here, "other pages wait in the store"

    def claim(self, place: Place, page: ReadPage, *, is_pending: bool) -> Verdict:
        """Judge a page, record it as kept or pending, and count it if it is not pending.

        A plain text is not counted: it has no frame.
        """
        host, shown = _framed(place, page), page.shown
        while True:
            self._receive(host, shown)
            counted = self._counted(host, shown)
            expected = self._expected.context(counted)
            found_by = profile_of(page, expected, self._config)
            found = self._compared(place, page, found_by, expected)
            if found.reason == "no_text" or found.outcome == "same_template":
                return found
            if was_counted := _is_at_its_url(place, found):
                # Its own earlier visit has shown these blocks, not another page.
                found_by = profile_of(page, replace(expected, own_count=1), self._config)
            kept = (found_by.text, _form_of(page)) if self._config.keep_text else (None, None)
            change = None
            try:
                with self._kept.transaction():
                    verdict = self._kept.record(
                        place, found_by, found, *kept, is_pending=is_pending
                    )
                    was_shown = was_counted or found_by.was_shown
                    countable = self._countable(
                        counted, expected, page, verdict, was_shown=was_shown
                    )
                    if countable is not None and not (is_pending and countable.number):
                        change = self._count(countable, counted)
            except Overtaken:
                continue
            self._discard_gone()
            if change is not None:
                self._apply(change)
            elif countable is not None:
                number, updates = countable.number, self._updates(countable, expected)
                self._pending[number] = countable
                self._expected.add(number, {each.name: update for each, update in updates})
            self._make_room()
            return verdict

    def judge(self, place: Place, page: ReadPage) -> Verdict:
        """Return the verdict of `claim` on a page now; record and count nothing."""
        self._receive(_framed(place, page), page.shown)
        context = self.context(_framed(place, page), page.shown)
        found_by = profile_of(page, context, self._config)
        if found_by.is_blank:  # a store may count such a page
            return verdict_on(found_by, "unjudged", "no_text")
        return self._compared(place, page, found_by, context)

    def _compared(
        self, place: Place, page: ReadPage, found_by: PageProfile, context: HostContext
    ) -> Verdict:
        found = self._kept.compare(place, found_by)
        if found.reason == "no_text":
            return found
        if found_by.canonical:
            found = found._replace(canonical=canonical_of(place, found_by.canonical))
        if self._with_text:
            found = found._replace(text=clean_text(page.content, context.times))
        most = self._config.same_template
        repeats_none = found.outcome in ("new", "unjudged")
        if most is not None and repeats_none and context.is_thin and context.thin_pages >= most:
            found = found._replace(outcome="same_template", reason=None, refused=None)
        return found

    def _updates(
        self, countable: _Countable, context: HostContext
    ) -> list[tuple[Host, FrameUpdate]]:
        """Return the updates of a counted page; a thin page counts if it is recorded as kept."""
        counts_thin = self._config.same_template is not None and countable.number > 0
        return context.updates(
            is_kept=countable.is_kept, counts_thin=counts_thin, evidence=countable.evidence
        )

    def profile(self, place: Place, page: ReadPage) -> PageProfile:
        """Profile a page as `claim` would now; count nothing."""
        return profile_of(page, self.context(_framed(place, page), page.shown), self._config)

    def commit(self, number: int) -> None:
        """Keep a pending page for good, and count it."""
        countable, change = self._pending.get(number), None
        with self._kept.transaction():
            if countable is not None:
                context = self._frames.context(countable.host, countable.shown)
                if countable.page is not None and context.frame_times != countable.times:
                    self._judge_again(number, countable.page, context)
                change = self._count(countable, context)
            self._kept.commit(number)  # last: until then it is pending if a call fails
        if change is not None:
            del self._pending[number]
            self._apply(change, number)
        self._make_room()

    def release(self, number: int) -> None:
        """Forget a pending page."""
        self._kept.release(number)
        self._forget_pending(number)
        self._discard_gone()

    def forget(self, url: str) -> int:
        """Forget all pages at a URL; they stay counted in their frames."""
        forgotten = self._kept.forget(url)
        self._discard_gone()
        return forgotten

    def context(self, host: str, shown: Shown) -> HostContext:
        """Return the expected context of a page: its host and its sites, pending pages counted.

        If the page is not counted for any host, the context is empty: its host has no name.
        """
        context = self._expected.context(self._counted(host, shown))
        self._make_room()
        return context

    def _counted(self, host: str, shown: Shown) -> HostContext:
        """Return the counted context; host and sites stay in memory until `_make_room`."""
        if not (host and self._config.learn_frames):
            return no_context(shown)
        return self._frames.context(host, shown)

    def _receive(self, host: str, shown: Shown) -> None:
        """Count the updates from other processes for the host of a page and for its sites."""
        if self._exchange is None or not (host and self._config.learn_frames):
            return
        ready = self._received(host)
        if ready:
            with self._kept.transaction():
                self._judge_waiting(ready, self._frames.of(host))
        for site in self._frames.context(host, shown).sites:
            self._received(site.name)

    def _received(self, name: str) -> Collection[ProvisionalPage]:
        """Count the updates from other processes for a name; return pages to be judged again."""
        frames, found = self._frames, {}
        for added in () if self._exchange is None else self._exchange.received(name):
            host = frames.of(name)
            update = host.update_of(added.shown, is_kept=added.is_kept)
            ready = frames.ready(host, update)
            found.update({each.row: each for each in ready})
            frames.provisional.count(ready)
            frames.add_page(host, update)
            self._expected.settle(0, {name: update})
        return found.values()

    def _countable(
        self,
        counted: HostContext,
        expected: HostContext,
        page: ReadPage,
        verdict: Verdict,
        *,
        was_shown: bool,
    ) -> _Countable | None:
        """Return how a recorded page is to be counted; None: the page is not counted."""
        original, number = verdict.original_page, verdict.page or 0
        if not counted.host.name or (original is None and not number):
            return None  # the fate of its original is unknown, so nothing was recorded
        if original is not None and self._kept.fate(original) != "kept":
            # The page may be judged again, and its own text must not be counted before.
            return None
        # A text that was shown before is not counted a second time: otherwise it would be taken for
        # frame, and the page would never be found again.
        is_kept = original is None and not was_shown
        waits = is_kept and counted.pages_of_template < FRAME_TIMES
        number = number if original is None else 0
        refused = verdict.refused
        evidence = [] if refused is None else [*map(frame_mark, refused.paragraphs)]
        if verdict.canonical is not None:
            named = canonical_marks(url_key(verdict.canonical), expected.headline)
            evidence += map(part_hash, named)
        again, times = (page, expected.frame_times) if waits else (None, None)
        host, shown = counted.host.name, counted.shown
        return _Countable(number, host, shown, is_kept, again, times, evidence)

    def _count(self, countable: _Countable, context: HostContext) -> _Change:
        """Write the changes by a counted page, within a transaction; return the changes."""
        updates = self._updates(countable, context)
        host, update = updates[0]
        ready = self._frames.ready(host, update)
        if ready:
            self._judge_waiting(ready, host.with_pages(update))
        page, provisional = countable.page, None
        if page is not None and (times := context.pages_of_template) < FRAME_TIMES:
            number, new = countable.number, context.new
            provisional = ProvisionalPage(number, page, new, times, host.name)
        discarded: list[int] = []
        if self._store is not None:
            form = page.pack() if page is not None and provisional is not None else None
            discarded = self._write_waiting(self._store, host.name, ready, provisional, form)
        return _Change(updates, ready, provisional, discarded)

    def _apply(self, change: _Change, number: int = 0) -> None:
        """Apply changes in memory after the transaction; no step of this can fail.

        `number`: the number of the page, if the page was pending.
        """
        frames = self._frames
        self._expected.settle(number, {each.name: update for each, update in change.updates})
        frames.provisional.count(change.ready)
        for host, update in change.updates:
            frames.add_page(host, update, int(now()))
            if self._exchange is not None:
                self._exchange.send(host.name, update)
        if change.provisional is not None:
            frames.provisional.add(change.provisional)
        frames.provisional.discard(change.discarded)

    def _write_waiting(
        self,
        store: FrameStore,
        host: str,
        ready: Collection[ProvisionalPage],
        page: ProvisionalPage | None,
        form: bytes | None,
    ) -> list[int]:
        """Write the notes of pages that were judged again, and the new waiting page, if any.

        Returns the numbers of pages that no longer wait, because too many pages wait.
        """
        over = [each.row for each in ready if each.is_last_time]
        for each in ready:
            store.note(each.row, pack(each.pages_of_template + 1, each.new))
        if page is not None and form is not None:
            over += self._frames.provisional.crowded_out(host, over)
            note = pack(page.pages_of_template, page.new)
            store.wait(host, ProvisionalForm(page.row, form, note))
        for row in over:
            store.discard(row)
        return store.bound_waiting(provisional_pages.MOST_WAITING)

    def _judge_waiting(self, ready: Collection[ProvisionalPage], host: Host) -> None:
        """Judge waiting pages of a host again. Requires: the host's counts include the pages."""
        for each in ready:
            page = self._page_of(each)
            if page is not None:
                context = HostContext(page.shown, host, 1, self._frames.sisters(page.shown))
                self._judge_again(each.row, page, context)

    def _judge_again(self, number: int, page: ReadPage, context: HostContext) -> None:
        found_by = profile_of(page, context, self._config)
        text = found_by.text if self._config.keep_text else None
        self._kept.replace(number, found_by, text)

    def _page_of(self, waiting: ProvisionalPage) -> ReadPage | None:
        """Return a waiting page; None if it cannot be loaded any more."""
        content = waiting.content
        if isinstance(content, ReadPage):
            return content
        if content is None and self._store is not None:
            content = self._store.form(waiting.row)
        try:
            return None if content is None else ReadPage.unpacked(content, self._config)
        except ValueError:  # another version of this package packed it
            return None

    def _make_room(self) -> None:
        """Evict frames to stay within the memory bound."""
        self._frames.shrink()
        gone = self._frames.forgotten
        for host in gone:
            self._expected.forget(host)
        if self._exchange is not None:
            for host in gone:
                self._exchange.forget(host)
        elif self._store is None and (hosts := sum(not name.startswith(SITE) for name in gone)):
            if not self.forgotten:
                logger.warning(_FORGETTING, self._config.frame_memory)
            self.forgotten += hosts
        gone.clear()

    def _forget_pending(self, page: int) -> None:
        self._pending.pop(page, None)
        self._expected.settle(page)

    def _discard_gone(self) -> None:
        """Forget pages and hosts whose records were deleted."""
        self._frames.provisional.discard(self._kept.gone)
        for page in self._kept.gone:
            self._forget_pending(page)
        self._kept.gone.clear()
        if self._store is not None:
            for host in self._store.gone:
                self._frames.discard(host)
                self._expected.forget(host)
            self._store.gone.clear()


def loading(frames_of: Callable[[str], HostFrames | None]) -> Callable[[str], Stored | None]:
    """Return a function that loads hosts for `Frames`, from a function that reads stored frames.

    Hosts written by another version of this package load as None, and the log says so once.
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


def _is_at_its_url(place: Place, found: Verdict) -> bool:
    """Return whether a page is a later version of a page at its URL, near or not near enough."""
    nearest = found.refused.url if found.refused is not None else None
    # Pages without a URL are not at one.
    return found.outcome == "revisit" or (bool(nearest) and url_key(nearest or "") == place.key)


def _framed(place: Place, page: ReadPage) -> str:
    """Return the host whose frame surrounds a page; "" for a plain text, which has no frame."""
    return "" if page.is_plain else place.host


def _form_of(page: ReadPage) -> bytes:
    """Return the stored form of a page."""
    return KEPT_AS_TEXT if page.is_plain else page.pack()


def restored(stored: HostFrames) -> Stored:
    """Return a host and its waiting pages. Raises ValueError: another version wrote them."""
    name, record, waiting = stored
    provisional = []
    for page, _, note in waiting:
        times, new, _ = unpack(note)
        provisional.append(ProvisionalPage(page, None, np.array(new, np.uint64), times, name))
    return Host.from_bytes(name, record), provisional
