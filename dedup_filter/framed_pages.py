"""Page -> verdict: judge a page by what is its own, not by the frame of its host.

    page -> blocks not shown before on its host -> main content -> compared     first look
                 or shown once, if nothing was found                            second look

First look. What earlier pages of the host have shown is left out before the main content is
chosen. A page that is mostly links (a table of contents) is judged with its links: the few
sentences on it may be those of many such pages.

Second look. What one earlier page has shown may be frame, or may be the very text that this
page repeats: a print view, another session. So it is forgiven, on two conditions that keep
apart the pages of one template. Whatever is new on the page must be in the text that is
compared: a caption above a notice that all pages share is not repeated by it. And the phrases
of the new text must be found in the original: an article above an earlier one's comments is
not repeated by them. Half of the second looks find what the first one saw, but for a line or
two; there is no other verdict to be had from that.

Edited pages. Of a page that repeats nothing, and of which most was shown before, but not as frame,
paragraphs were rewritten beyond likeness: it is kept with all of its text, for that is what its
copies elsewhere have. In the same way a page whose new text repeats another page is compared as
a whole if it shows much more that is no frame: the front page of a blog shows several articles,
and repeats none of them.

Early pages. The first pages of a host, or of one of its templates, are judged with their
frame, and judged again when the next ones have shown what repeats (see `frames`).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dedup_filter.comparison import Comparison, Overtaken
from dedup_filter.config import FilterConfig
from dedup_filter.early_pages import EarlyPage
from dedup_filter.kept_pages import KeptPages
from dedup_filter.learnt_frames import LearntFrames
from dedup_filter.model import Document, Verdict
from dedup_filter.profile import PageProfile, profile
from dedup_filter.shared_pages import SharedPages
from dedup_filter.store import Place
from dedup_filter.text import Block, Page, main_content, own_content, word_sum

__all__ = ["FramedPages"]

_LEFT_OUT = 0.1
"""Of what is compared in a second look, how much may be new on the page and not be in it."""
_LITTLE = 0.02
"""Of what is compared in a second look, how much does not count: a date, a counter. So much may
be new on the page and not be looked up, for of so little a sketch could not tell whether it is
in the original; and a text that differs by no more from that of the first look is the same."""
_EDITED = 0.5
"""Of a page, how much may be new for it to be an edited one. With more, what was shown before may
be a notice that has come to be shown just now."""
_MORE = 0.3
"""Of a page, how much may have been shown before, and not as frame, for it to repeat what its new
text repeats. With more it is another page, such as a front page that shows several articles."""
_IN_ORIGINAL = 0.25
"""Of what is new on the page, how much must be in the original. Paragraphs that differ in a few
words from those of the original share half of their phrases with it or more; other texts none."""


_FRAME_TIMES = (2, 3)
"""On how many pages what is frame was shown when an early page is judged again. If that leaves it
next to nothing, one of them may have shown all of its text: the front page of a blog."""


class _Look(NamedTuple):
    """Blocks of a page taken for its text, and what that is like."""

    content: Sequence[Block]
    document: Document
    profile: PageProfile
    was_shown: bool = False
    """Whether earlier pages of the host have shown the text, and it is no duplicate."""
    is_edit: bool = False
    """Whether an earlier page has shown most of it, and it is no duplicate."""


class FramedPages:
    """Judges pages of hosts whose frames it learns."""

    def __init__(self, config: FilterConfig, kept: KeptPages | SharedPages) -> None:
        self._config = config
        self._kept = kept
        self._frames = LearntFrames(kept.frames, kept.exchange)

    @property
    def nbytes(self) -> int:
        """Memory of what is known of the hosts, in bytes."""
        return self._frames.nbytes

    def check(self) -> None:
        """Verify the invariants of the frames."""
        self._frames.check()

    def claim(self, place: Place, page: Page, *, is_pending: bool) -> Verdict:
        """Judge a page, learn from it, and record it, for good or for the time being."""
        if not place.host or not self._config.learn_frames:
            look = self._look(page, main_content(page.blocks))
            return self.claim_document(place, look.document, look.profile, is_pending=is_pending)
        while True:
            self._take_news(place.host)
            found, look = self._judge(place, page)
            if found.reason == "no_text":
                return found.verdict(look.profile)
            try:
                with self._frames.change(), self._kept.change():
                    verdict = self._kept.record(
                        place, look.profile, found, self._text(look.document), is_pending=is_pending
                    )
                    self._learn(place.host, page, look, verdict, is_pending=is_pending)
            except Overtaken:
                continue
            self._let_go()
            return verdict

    def claim_document(
        self, place: Place, document: Document, measured: PageProfile, *, is_pending: bool
    ) -> Verdict:
        """Judge and record what has no frame."""
        text = self._text(document)
        verdict = self._kept.claim(place, measured, text, is_pending=is_pending)
        self._let_go()
        return verdict

    def commit(self, page: int) -> None:
        """Keep a pending page for good."""
        self._kept.commit(page)
        self._frames.settle(page)

    def release(self, page: int) -> None:
        """Forget a pending page, and what it taught."""
        self._kept.release(page)
        self._frames.unlearn(page)
        self._let_go()

    def forget(self, url: str) -> int:
        """Forget all pages at a URL; what they taught of their host stays."""
        forgotten = self._kept.forget(url)
        self._let_go()
        return forgotten

    def save(self) -> None:
        """Write down what is known of the hosts."""
        with self._kept.change():
            self._frames.save()

    def _take_news(self, host: str) -> None:
        """Learn of a host what other processes have, and judge its early pages again."""
        due = self._frames.take_news(host)
        if due:
            with self._kept.change():
                for early in due:
                    self._judge_again(host, early)

    def _judge(self, place: Place, page: Page) -> tuple[Comparison, _Look]:
        sightings = self._frames.sightings(place.host, page.blocks)
        own = _shown_less_than(1, page.blocks, sightings)
        is_known = any(sightings)
        first = self._look(page, own_content(own) if is_known else main_content(own))
        found = self._kept.compare(place, first.profile)
        # On a page whose every block was shown before, the first look is at next to nothing.
        is_repeat = found.original_page is not None and first.profile.is_long_enough
        if not is_known or (is_repeat and found.outcome == "revisit"):
            return found, first
        content = main_content(_shown_less_than(2, page.blocks, sightings))
        if is_repeat:
            return self._look_at_all(place, page, content, first) or (found, first)
        return self._look_again(place, page, content, own, first) or (found, first)

    def _look_at_all(
        self, place: Place, page: Page, content: Sequence[Block], first: _Look
    ) -> tuple[Comparison, _Look] | None:
        """Look at all of a page whose new text is a repeat, if much more of it is no frame."""
        more = self._not_frame(place.host, set(content).difference(first.content))
        if word_sum(more) <= _MORE * word_sum(content):
            return None
        look = self._look(page, content)._replace(is_edit=True)
        return self._kept.compare(place, look.profile), look

    def _look_again(
        self,
        place: Place,
        page: Page,
        content: Sequence[Block],
        own: Sequence[Block],
        first: _Look,
    ) -> tuple[Comparison, _Look] | None:
        """Look at what one earlier page may have shown, if the first look found nothing."""
        if _is_nearly(content, first):
            return None
        are_new = set(own)
        new = [block for block in content if block in are_new]
        words, new_words = word_sum(content), word_sum(new)
        leaves_out = word_sum(own) - new_words > _LEFT_OUT * words
        if leaves_out and not self._kept.knows_earlier_crawls:
            return None
        look = self._look(page, content)
        found = self._kept.compare(place, look.profile)
        if found.outcome == "revisit":  # what is new was added to this very page
            return found, look
        if leaves_out:
            return None
        if found.original_page is None:
            whole = self._taken_whole(place.host, new, first, look)
            return (found, whole) if whole else None
        is_other = new_words > _LITTLE * words and not self._is_in(
            found.original_page, self._look(page, new).profile, look.profile
        )
        return None if is_other else (found, look)

    def _taken_whole(
        self, host: str, new: Sequence[Block], first: _Look, second: _Look
    ) -> _Look | None:
        """Return the second look at a page that repeats nothing, if it is to be kept with that."""
        if first.profile.is_long_enough:
            is_edit = self._is_edit(host, new, second.content)
            return second._replace(is_edit=True) if is_edit else None
        # It has no other text: the page that showed this before is not in the index any more, or
        # is not there yet, or several pages showed parts.
        return second._replace(was_shown=True) if second.profile.is_long_enough else None

    def _is_edit(self, host: str, new: Sequence[Block], content: Sequence[Block]) -> bool:
        """Tell whether a page with some new text is an earlier one, edited: new, but as a whole.

        Its copies elsewhere have all of it. Most of it was shown before, and not as frame.
        """
        shown = set(content).difference(new)
        words = word_sum(content)
        frame_words = word_sum(shown) - word_sum(self._not_frame(host, shown))
        return word_sum(new) <= _EDITED * words and frame_words <= _LEFT_OUT * words

    def _not_frame(self, host: str, shown: Iterable[Block]) -> list[Block]:
        """Return those of some blocks, each shown by one page, that are what it was about."""
        return [block for block in shown if not self._frames.may_be_frame(host, block)]

    def _is_in(self, original: int, new: PageProfile, compared: PageProfile) -> bool:
        """Tell whether what is new on a page is in the original that its second look found."""
        # Similarity is shared / (new + original - shared); the original has about as many
        # shingles as the text that was found to be like it.
        similarity = self._kept.similarity(new, original)
        shared = similarity / (1 + similarity) * (new.shingles + compared.shingles)
        return shared >= _IN_ORIGINAL * new.shingles

    def _learn(
        self, host: str, page: Page, look: _Look, verdict: Verdict, *, is_pending: bool
    ) -> None:
        if verdict.original_page is not None:
            # A page that is visited again has shown its text before, as a duplicate has. What
            # repeats a pending page may yet be judged anew, and must not have taught its own text.
            if self._kept.fate(verdict.original_page) == "kept":
                self._frames.learn_from_duplicate(host, page)
            return
        if verdict.page is None:
            return  # what came of its original is not known, so nothing was recorded
        if look.was_shown:  # counted once more it would be frame, and the page never judged again
            self._frames.learn_from_duplicate(host, page)
            return
        due = self._frames.learn(
            host, verdict.page, page, is_pending=is_pending, is_edit=look.is_edit
        )
        for early in due:
            self._judge_again(host, early)

    def _judge_again(self, host: str, early: EarlyPage) -> None:
        """Replace the fingerprint of a page that was taken with its host's frame."""
        page = self._frames.page_of(early)
        if page is None:
            return
        sightings = self._frames.sightings(host, page.blocks)
        for times in _FRAME_TIMES:
            look = self._look(page, own_content(_shown_less_than(times, page.blocks, sightings)))
            if look.profile.is_long_enough:
                break
        self._kept.replace(early.row, look.profile, self._text(look.document))
        self._frames.told(early)

    def _look(self, page: Page, content: Sequence[Block]) -> _Look:
        document = page.document(content)
        return _Look(content, document, profile(document, self._config))

    def _text(self, document: Document) -> str | None:
        return document.text if self._config.keep_text else None

    def _let_go(self) -> None:
        """Let pages whose records are gone wait no more."""
        if self._kept.gone:
            self._frames.let_go(self._kept.gone)
            self._kept.gone.clear()


def _is_nearly(content: Sequence[Block], first: _Look) -> bool:
    """Tell whether a second look is at the text of the first one, so that it will find the same.

    Of short texts, every word counts.
    """
    difference = word_sum(set(content).symmetric_difference(first.content))
    return difference <= (_LITTLE * word_sum(content) if first.profile.is_long_enough else 0)


def _shown_less_than(times: int, blocks: Sequence[Block], sightings: Sequence[int]) -> list[Block]:
    return [block for block, shown in zip(blocks, sightings, strict=True) if shown < times]
