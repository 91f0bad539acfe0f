"""Page -> verdict: a page is judged by its own text, not by the frame of its host.

    page -> three texts -> profile -> compared, recorded -> the host's frame is learnt from the page

    own    the main content of the blocks that its host has not shown yet
    rare   the main content of those that it has shown at most once
    whole  everything from the headline to the end of the main content of all blocks

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

from collections.abc import Sequence
from functools import partial

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import (
    FRAME_TIMES,
    MIN_WORDS,
    PageProfile,
    PageTexts,
    Passage,
    Surroundings,
    profile,
)
from dedup_filter.frames.early_pages import EarlyPage
from dedup_filter.frames.host_frames import Host, host_hash, times_shown
from dedup_filter.model import Document, Verdict
from dedup_filter.pages.comparison import Overtaken
from dedup_filter.pages.directory import Place
from dedup_filter.pages.learnt_frames import LearntFrames
from dedup_filter.pages.protocol import KeptPages
from dedup_filter.text import (
    ANY_MENU,
    MOST_OF_HEADLINE,
    Block,
    Headline,
    Page,
    find_content,
    first_link,
    part_hash,
    whole_content,
    word_sum,
)

__all__ = ["FramedPages"]


class FramedPages:
    """Judges pages of hosts whose frames it learns."""

    def __init__(self, config: FilterConfig, kept: KeptPages) -> None:
        self._config = config
        self._kept = kept
        self._frames = LearntFrames(kept.frames, kept.exchange)

    @property
    def nbytes(self) -> int:
        """Memory of the frames, in bytes."""
        return self._frames.nbytes

    def check(self) -> None:
        """Verify the invariants of the frames."""
        self._frames.check()

    def claim(self, place: Place, content: Page | Document, *, is_pending: bool) -> Verdict:
        """Judge a page or document, record it as kept or pending, and learn from it.

        Of a document nothing is learnt, as it has no frame.
        """
        while True:
            hosts = self._hosts(place.host, content)
            texts = _texts(hosts, content) if isinstance(content, Page) else PageTexts.of(content)
            measured = profile(texts, self._config)
            found = self._kept.compare(place, measured)
            if found.reason == "no_text":
                return found
            try:
                with self._frames.transaction(), self._kept.transaction():
                    verdict = self._kept.record(
                        place, measured, found, self._text(texts), is_pending=is_pending
                    )
                    if hosts[0].name and isinstance(content, Page):
                        self._learn(hosts, content, measured, verdict, is_pending=is_pending)
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

    def _hosts(self, host: str, content: Page | Document) -> list[Host]:
        """Return what is known of a page's host and its sites, other processes' news included.

        If nothing is to be learnt from it: a host without a name, of which nothing is known.
        """
        if not (host and self._config.learn_frames and isinstance(content, Page)):
            return [Host("")]
        due = self._frames.take_news(host)
        if due:
            with self._kept.transaction():
                for early in due:
                    self._judge_again(host, early)
        known = self._frames.of(host)
        sites = _sites(known, content)
        for site in sites:
            self._frames.take_news(site)
        return [known, *map(self._frames.of, sites)]

    def _learn(
        self,
        hosts: Sequence[Host],
        page: Page,
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
            for early in self._frames.learn(hosts, page, verdict.page, is_pending=is_pending):
                self._judge_again(hosts[0].name, early)

    def _judge_again(self, host: str, early: EarlyPage) -> None:
        """Replace the profile of a page that was judged with its host's frame."""
        page = self._frames.page_of(early)
        if page is None:
            return
        known = self._frames.of(host)
        texts = _texts([known, *map(self._frames.of, _sites(known, page))], page, seen_itself=1)
        self._kept.replace(early.row, profile(texts, self._config), self._text(texts))
        self._frames.told(early)

    def _text(self, texts: PageTexts) -> str | None:
        return texts.document.text if self._config.keep_text else None

    def _let_go(self) -> None:
        """Stop waiting for pages whose records are gone."""
        if self._kept.gone:
            self._frames.let_go(self._kept.gone)
            self._kept.gone.clear()


def _sites(host: Host, page: Page) -> list[str]:
    """Return the sites of a host by the menus of a page; none if its own frame is known."""
    return [] if host.is_frame_known else [f"menu {menu:016x}" for menu in page.menus]


def _texts(hosts: Sequence[Host], page: Page, seen_itself: int = 0) -> PageTexts:
    """Choose the three texts of a page, given its host and its sites.

    `seen_itself` is 1 if the host has learnt from this page already.
    """
    blocks = page.blocks
    times = times_shown(hosts, [block.hash for block in blocks])
    if seen_itself:
        times = [shown - seen_itself for shown in times]
    own, rare, whole = _contents(page, times)
    known_by = own if word_sum(own) >= MIN_WORDS else rare
    host, *sites = hosts
    return PageTexts(
        page.document(known_by, rare),
        _passages(blocks, times, (own, rare, whole)),
        _headline(hosts, page, seen_itself),
        Surroundings(
            partial(_times_headed, hosts),
            # A site's frame does not count: its other hosts may show other notices.
            host.is_frame_known,
            _is_view(host, page, seen_itself),
            partial(_is_of_site, sites) if sites else None,
        ),
    )


def _contents(
    page: Page, times: Sequence[int]
) -> tuple[Sequence[Block], Sequence[Block], Sequence[Block]]:
    """Choose the blocks of the three texts, finding the content of equal lists once."""
    blocks = page.blocks
    new = [block for block, shown in zip(blocks, times, strict=True) if shown < 1]
    not_frame = [block for block, shown in zip(blocks, times, strict=True) if shown < FRAME_TIMES]
    of_all = page.content
    of_rare = of_all if len(not_frame) == len(blocks) else find_content(not_frame)
    of_own = of_rare if len(new) == len(not_frame) else find_content(new)
    own = of_own.own if any(times) else of_own.main
    return own, of_rare.main, whole_content(blocks, of_all.main)


def _passages(
    blocks: Sequence[Block], times: Sequence[int], texts: Sequence[Sequence[Block]]
) -> list[Passage]:
    own, rare, whole = ({block.position for block in text} for text in texts)
    shown_in = own | rare | whole
    below = first_link(blocks)
    return [
        Passage(
            block.text,
            shown,
            place in own,
            place in rare,
            place in whole,
            place < below and place not in whole,
        )
        for block, shown in zip(blocks, times, strict=True)
        if (place := block.position) in shown_in
    ]


def _headline(hosts: Sequence[Host], page: Page, seen_itself: int) -> Headline:
    """Return the title, and the last h1 that other pages of the host do not show."""
    h1 = [block.text for block in page.blocks if block.kind == "headline"]
    own = [text for text in h1 if _times_headed(hosts, text) - seen_itself < FRAME_TIMES]
    return Headline((own or [""])[-1][:MOST_OF_HEADLINE], page.title[:MOST_OF_HEADLINE])


def _times_headed(hosts: Sequence[Host], part: str) -> int:
    """Count the pages of a host that were headed by an h1, or by a part of a title."""
    return times_shown(hosts, [part_hash(part)])[0]


def _is_view(host: Host, page: Page, seen_itself: int) -> bool:
    """Tell whether all kept pages of the host have menus, and this page has none of these."""
    times = host.sightings
    return times.get(ANY_MENU, 0) >= host.pages > seen_itself and all(
        times.get(menu, 0) <= seen_itself for menu in page.menus
    )


def _is_of_site(sites: Sequence[Host], host: str) -> bool:
    """Tell whether a page of a host was seen that is of one of these sites."""
    return any(times_shown(sites, [host_hash(host)]))
