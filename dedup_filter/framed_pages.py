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

Early pages. The first pages of a host, or of one of its templates, are judged with their
frame, and judged again when the next ones have shown what repeats (see `frames`).
"""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from dedup_filter.config import FilterConfig
from dedup_filter.frames import EarlyPage, Frames
from dedup_filter.kept_pages import KeptPages
from dedup_filter.model import Verdict
from dedup_filter.profile import PageProfile, profile
from dedup_filter.text import Block, Page, main_content, own_content, word_sum

__all__ = ["FramedPages"]

_LEFT_OUT = 0.1
"""Of what is compared in a second look, how much may be new on the page and not be in it."""
_LITTLE = 0.02
"""Of what is compared in a second look, how much does not count: a date, a counter. So much may
be new on the page and not be looked up, for of so little a sketch could not tell whether it is
in the original; and a text that differs by no more from that of the first look is the same."""
_IN_ORIGINAL = 0.25
"""Of what is new on the page, how much must be in the original. Paragraphs that differ in a few
words from those of the original share half of their phrases with it or more; other texts none."""


class _Look(NamedTuple):
    """Blocks of a page taken for its text, and what that is like."""

    content: Sequence[Block]
    profile: PageProfile


class FramedPages:
    """Judges pages of hosts whose frames it learns."""

    def __init__(self, config: FilterConfig, kept: KeptPages) -> None:
        self._config = config
        self._kept = kept
        self._frames = Frames()

    @property
    def nbytes(self) -> int:
        """Memory of what is known of the hosts, in bytes."""
        return self._frames.nbytes

    def check(self) -> None:
        """Verify the invariants of the frames."""
        self._frames.check()

    def see(self, url: str, page: Page) -> Verdict:
        """Judge a page, learn from it, and keep it if it is new."""
        host = _host(url) if self._config.learn_frames else ""
        if not host:
            return self._kept.see(url, self._look(page, main_content(page.blocks)).profile)
        sightings = self._frames.sightings(host, page.blocks)
        own = _shown_less_than(1, page.blocks, sightings)
        is_known = any(sightings)
        first = self._look(page, own_content(own) if is_known else main_content(own))
        verdict = self._kept.compare(first.profile).verdict
        if not verdict.is_duplicate and is_known:
            verdict = self._look_again(page, sightings, first) or verdict
        if verdict.is_duplicate:
            self._frames.learn_from_duplicate(host, page)
        elif verdict.reason != "no_text":
            kept = EarlyPage(self._kept.add(url, first.profile), page, first.profile)
            for earlier in self._frames.learn(host, kept):
                self._judge_again(host, earlier)
        return verdict

    def _look_again(self, page: Page, sightings: Sequence[int], first: _Look) -> Verdict | None:
        content = main_content(_shown_less_than(2, page.blocks, sightings))
        if _is_nearly(content, first):
            return None
        own = _shown_less_than(1, page.blocks, sightings)
        are_new = set(own)
        new = [block for block in content if block in are_new]
        words, new_words = word_sum(content), word_sum(new)
        if word_sum(own) - new_words > _LEFT_OUT * words:
            return None
        compared = self._look(page, content).profile
        verdict, row = self._kept.compare(compared)
        if row is None:
            return None
        if new_words > _LITTLE * words and not self._is_in(
            row, self._look(page, new).profile, compared
        ):
            return None
        return verdict

    def _is_in(self, original: int, new: PageProfile, compared: PageProfile) -> bool:
        """Tell whether what is new on a page is in the original that its second look found."""
        # Similarity is shared / (new + original - shared); the original has about as many
        # shingles as the text that was found to be like it.
        similarity = self._kept.similarity(new, original)
        shared = similarity / (1 + similarity) * (new.shingles + compared.shingles)
        return shared >= _IN_ORIGINAL * new.shingles

    def _judge_again(self, host: str, early: EarlyPage) -> None:
        """Replace the fingerprint of a page that was taken with its host's frame."""
        sightings = self._frames.sightings(host, early.page.blocks)
        own = _shown_less_than(2, early.page.blocks, sightings)
        before, early.profile = early.profile, self._look(early.page, own_content(own)).profile
        self._kept.replace(early.row, before, early.profile)

    def _look(self, page: Page, content: Sequence[Block]) -> _Look:
        return _Look(content, profile(page.document(content), self._config))


def _is_nearly(content: Sequence[Block], first: _Look) -> bool:
    """Tell whether a second look is at the text of the first one, so that it will find the same.

    Of short texts, every word counts.
    """
    difference = word_sum(set(content).symmetric_difference(first.content))
    return difference <= (_LITTLE * word_sum(content) if first.profile.is_long_enough else 0)


def _shown_less_than(times: int, blocks: Sequence[Block], sightings: Sequence[int]) -> list[Block]:
    return [block for block, shown in zip(blocks, sightings, strict=True) if shown < times]


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc
    except ValueError:  # "http://[1/": no host that could have a frame
        return ""
