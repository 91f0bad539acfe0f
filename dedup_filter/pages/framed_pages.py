"""Page -> verdict: a page is judged by its own text, not by the frame of its host.

    page, frames -> profile (see `measured`) -> compared, recorded -> the frames learn from the page

Blocks that earlier pages of the host have shown are left out before the main content is chosen. A
block shown once before may be frame, or may be the text that this page repeats (a print view,
another session id). So the index is asked with both texts, `own` and `rare`, and `comparison` finds
out which candidate holds what the page says. A page of mostly links (a table of contents) is judged
with its links, as the few sentences on it may stand on many such pages.

Sites. Hosts whose pages have the same menus form one site, such as shops run with the same
software. A host whose own frame is not known yet borrows that of its sites: blocks that two pages
of any of their hosts have shown. The frames keep a site like a host, under the name of its menu.

Early pages. The first pages of a host, or of one of its templates, are judged with their frame, and
judged again when the next pages have shown what repeats (see `frames`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import FRAME_TIMES, PageProfile, Surroundings
from dedup_filter.frames.early_pages import EarlyPage
from dedup_filter.frames.host_frames import Host, host_hash, times_shown
from dedup_filter.model import Verdict
from dedup_filter.pages.comparison import Overtaken
from dedup_filter.pages.directory import Place
from dedup_filter.pages.learnt_frames import LearntFrames
from dedup_filter.pages.location import KeptPages
from dedup_filter.text import ANY_MENU, MOST_OF_HEADLINE, Headline, Page, Shown, part_hash
from dedup_filter.workers.measured import FrameTimes, MeasurablePage, Measured, PageHere

__all__ = ["FramedPages"]


class FramedPages:
    """Judges pages of hosts whose frames it learns."""

    def __init__(
        self,
        config: FilterConfig,
        kept: KeptPages,
        unpack: Callable[[bytes], MeasurablePage] | None = None,
    ) -> None:
        self._config = config
        self._unpack = unpack or partial(PageHere.unpacked, config=config)
        self._kept = kept
        self._frames = LearntFrames(kept.frames, kept.exchange)

    @property
    def nbytes(self) -> int:
        """Memory of the frames, in bytes."""
        return self._frames.nbytes

    def check(self) -> None:
        """Verify the invariants of the frames."""
        self._frames.check()

    def claim(
        self, place: Place, content: MeasurablePage | Measured, *, is_pending: bool
    ) -> Verdict:
        """Judge a page, record it as kept or pending, and learn from it.

        Of what is measured already, a document, nothing is learnt: it has no frame.
        """
        while True:
            hosts = self._hosts(place.host, content)
            profile, text = content if isinstance(content, Measured) else _measured(hosts, content)
            found = self._kept.compare(place, profile)
            if found.reason == "no_text":
                return found
            try:
                with self._frames.transaction(), self._kept.transaction():
                    verdict = self._kept.record(place, profile, found, text, is_pending=is_pending)
                    if hosts[0].name and not isinstance(content, Measured):
                        self._learn(hosts, content, profile, verdict, is_pending=is_pending)
            except Overtaken:
                continue
            self._let_go()
            return verdict

    def commit(self, page: int) -> None:
        """Keep a pending page for good."""
        self._kept.commit(page)
        self._frames.commit(page)

    def release(self, page: int) -> None:
        """Forget a pending page and what was learnt from it."""
        self._kept.release(page)
        self._frames.unlearn(page)
        self._let_go()

    def forget(self, url: str) -> int:
        """Forget all pages at a URL; what was learnt from them stays."""
        forgotten = self._kept.forget(url)
        self._let_go()
        return forgotten

    def save(self) -> None:
        """Write the frames to the store."""
        with self._kept.transaction():
            self._frames.save()

    def frame_times(self, place: Place, page: MeasurablePage) -> FrameTimes:
        """Return what is known of the frame around a page now, as `claim` will ask for it."""
        is_learnt = place.host and self._config.learn_frames
        hosts = self._known(place.host, page.shown) if is_learnt else [Host("")]
        return _frame_times(hosts, page.shown)

    def _hosts(self, host: str, content: MeasurablePage | Measured) -> list[Host]:
        """Return what is known of a page's host and its sites, other processes' news included.

        If nothing is to be learnt from it: a host without a name, of which nothing is known.
        """
        if not (host and self._config.learn_frames) or isinstance(content, Measured):
            return [Host("")]
        due = self._frames.take_news(host)
        if due:
            with self._kept.transaction():
                self._judge_again(host, due)
        for site in _sites(self._frames.of(host), content.shown):
            self._frames.take_news(site)
        return self._known(host, content.shown)

    def _known(self, host: str, shown: Shown) -> list[Host]:
        """Return what is known here of a page's host and its sites."""
        known = self._frames.of(host)
        return [known, *map(self._frames.of, _sites(known, shown))]

    def _learn(
        self,
        hosts: Sequence[Host],
        page: MeasurablePage,
        measured: PageProfile,
        verdict: Verdict,
        *,
        is_pending: bool,
    ) -> None:
        if verdict.original_page is not None:
            # The text of a revisit was shown before, like that of a duplicate. If the original is
            # pending, the page may be judged again and must not have taught its own text.
            if self._kept.fate(verdict.original_page) == "kept":
                self._frames.learn(hosts, page)
        elif verdict.page is None:
            pass  # the fate of its original is unknown, so nothing was recorded
        elif measured.was_shown:
            # Counted a second time it would be frame, and the page could never be found again.
            self._frames.learn(hosts, page)
        else:
            due = self._frames.learn(hosts, page, verdict.page, is_pending=is_pending)
            self._judge_again(hosts[0].name, due)

    def _judge_again(self, host: str, due: Iterable[EarlyPage]) -> None:
        """Replace the profiles of pages that were judged with their host's frame."""
        for early in due:
            found = self._frames.page_of(early, self._unpack)
            if found is not None:
                page = PageHere(found, self._config) if isinstance(found, Page) else found
                hosts = self._known(host, page.shown)
                self._kept.replace(early.row, *_measured(hosts, page, seen_itself=1))
                page.drop()
            self._frames.told(early)

    def _let_go(self) -> None:
        """Stop waiting for pages whose records are gone."""
        if self._kept.gone:
            self._frames.let_go(self._kept.gone)
            self._kept.gone.clear()


def _sites(host: Host, shown: Shown) -> list[str]:
    """Return the sites of a host by the menus of a page; none if its own frame is known."""
    return [] if host.is_frame_known else [f"menu {menu:016x}" for menu in shown.menus]


def _frame_times(hosts: Sequence[Host], shown: Shown, seen_itself: int = 0) -> FrameTimes:
    """Say what is known of the frame around a page, given its host and its sites.

    `seen_itself` is 1 if the host has learnt from this page already.
    """
    times = [each - seen_itself for each in times_shown(hosts, shown.blocks)]
    # A site's frame does not count: its other hosts may show other notices.
    return FrameTimes(times, hosts[0].is_frame_known)


def _measured(hosts: Sequence[Host], page: MeasurablePage, seen_itself: int = 0) -> Measured:
    """Measure a page, given its host and its sites."""
    shown, known = page.shown, _frame_times(hosts, page.shown, seen_itself)
    measured = page.measure(known)
    host, *sites = hosts
    around = Surroundings(
        partial(_times_headed, hosts),
        known.is_frame_known,
        _is_view(host, shown, seen_itself),
        # Whether a page of another host was seen that is of one of these sites.
        (lambda other: any(times_shown(sites, [host_hash(other)]))) if sites else None,
    )
    # The title, and the last h1 that other pages of the host do not show.
    own = [text for text in shown.h1 if _times_headed(hosts, text) - seen_itself < FRAME_TIMES]
    headline = Headline((own or [""])[-1][:MOST_OF_HEADLINE], shown.title[:MOST_OF_HEADLINE])
    return measured._replace(profile=replace(measured.profile, headline=headline, around=around))


def _times_headed(hosts: Sequence[Host], part: str) -> int:
    """Count the pages of a host that were headed by an h1, or by a part of a title."""
    return times_shown(hosts, [part_hash(part)])[0]


def _is_view(host: Host, shown: Shown, seen_itself: int) -> bool:
    """Tell whether all other kept pages of the host have menus, and this page has none of these.

    Where all pages of the host were dropped, one of them must have menus.
    """
    times = host.sightings
    others = max(host.pages - seen_itself, 1)
    with_menus = times.get(ANY_MENU, 0) - (seen_itself if shown.menus else 0)
    return with_menus >= others and all(times.get(menu, 0) <= seen_itself for menu in shown.menus)
