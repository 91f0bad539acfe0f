"""A page and the stored pages that are like it -> which of them it repeats, if any.

    candidates within k bits -> those that hold what the page says, nearest first -> its original

A page may be dropped only if nothing is lost by it: what it says is in the page that was kept.

    1. Of the text that found the candidate, the candidate has at least `min_similarity` of the
       shingles: more of a short text, and where the page is only a part of the candidate.
    2. On one host the headlines are the same, the candidate has as much of all text of the page,
       and blocks that it lacks are next to nothing: pages of one host share a template and much of
       their text, and nearly every pair that is alike is two pages. The same holds on another host
       that shows the page's menus.
    3. On any other host the candidate has as much of all text that is no frame. Under another
       headline it has nearly all of a long text: a wire story with a headline of its own.

Which of several pages that it repeats a page is said to repeat:

    1. one that was seen in this crawl      it is a duplicate of that
    2. one of an earlier crawl at its URL   it is that page, seen again: "revisit"
    3. another of an earlier crawl          it is a duplicate of that

Every constant here, with its measure: docs/decisions/0008. Knows no index and no store: who asks
brings what they have.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.fingerprints import contained, sketch_size
from dedup_filter.fingerprints.profile import (
    FRAME_TIMES,
    LONG_WORDS,
    MAIN_DIGEST,
    MIN_WORDS,
    PageProfile,
    Passage,
    Text,
)
from dedup_filter.model import Outcome, Verdict
from dedup_filter.text import Headline, is_headed_alike, is_headed_as_elsewhere

__all__ = [
    "MOST_COMPARED",
    "Candidate",
    "Comparison",
    "Matches",
    "Overtaken",
    "choose",
    "compared",
    "ranked",
    "similarities",
]

FloatArray = npt.NDArray[np.float64]
Counted = tuple[Passage, int, int, int]
"""What `MeasuredPassages.counted_in` yields of a passage."""

MOST_COMPARED = 64
"""Candidates of one text whose sketches are compared: 1.5 ms. Real near-duplicates are among the
nearest; elsewhere pages have a handful of candidates."""

_SHORT_BOUND = 0.95
"""Of a text of fewer than `LONG_WORDS` words, the share that its original must have."""
_PART, _PART_BOUND = 0.5, 0.9
"""Jaccard similarity below which a page is a part of a larger one, or the larger one was kept with
its frame; and the share that the larger one must have. Sketches are compared at the scale of the
larger page, so few shingles of the smaller are."""
_LOST = 0.75
"""Share of a block's shingles that a page lacks from which it lacks the block. Of a sentence in
which some words were edited half is there or more; of other sentences nothing."""
_LINE = 16
"""Words up to which a new block of a page that is no story is lost if any of it is: a name, a
number, a price, "There is no page /map on this site". (Kohlschuetter et al. 2010: a line.)"""
_MOST = 0.7
"""Of all text that is no frame, the share that a page of another host must have, where the text of
new blocks found it. A front page shows other articles, too, that its host has shown before."""
_STORY_WORDS = 200
"""Of a shorter text a name, a number, a headline may be all that it is about."""
_FRAME_WORDS = 800
"""So much of a text may be frame that is not known yet: a longer one is needed for a story."""
_LITTLE = 0.06
"""Of a story, how much in blocks that the candidate lacks is next to nothing: a date, a counter, a
sentence that was added."""
_STORY_BOUND = 0.99
"""Of a longer text on another host, the share that the original must have under another headline.
"""


class Overtaken(Exception):  # noqa: N818 - no fault: it says what to do
    """Since a page was compared, another process has changed what it repeats: compare it anew."""


class Comparison(NamedTuple):
    """What a page is found to be, before it is recorded."""

    outcome: Outcome
    reason: str | None = None
    original_page: int | None = None
    original: str | None = None
    distance: int | None = None
    similarity: float | None = None
    candidates: int = 0

    @property
    def is_duplicate(self) -> bool:
        """Whether the page repeats one that was seen before it."""
        return self.outcome in ("near", "exact")

    def verdict(self, page: PageProfile, number: int | None = None) -> Verdict:
        """Tell it of a page, and its number if it was recorded."""
        return Verdict(
            self.outcome,
            self.original,
            self.distance,
            self.similarity,
            self.reason,
            page.language,
            self.candidates,
            page.shingles,
            page.shingles_without_stopword,
            number,
            self.original_page,
        )


class Candidate(NamedTuple):
    """A stored page within k bits of a text of the page that is judged."""

    text: int
    """The number of the first such text in its profile."""
    distance: int
    is_same_host: bool
    has_same_menus: bool
    """Whether its host shows, on a page at least, the menus of the page that is judged."""
    sketch: bytes
    headline: Headline


class Matches(NamedTuple):
    """Pages that another may repeat, side by side."""

    hosts: list[int]
    crawls: list[int]
    """The last one that each was seen in."""
    url_keys: list[int]
    digests: list[bytes]
    headlines: list[Headline]
    sketches: list[bytes]

    def part(self, numbers: Sequence[int]) -> "Matches":
        """Return some of them, by their numbers."""
        return Matches._make([column[number] for number in numbers] for column in self)


def similarities(
    page: PageProfile, candidates: Sequence[Candidate], least: float | None
) -> list[float | None]:
    """Return the share of a page that each candidate has; None of one that it does not repeat.

    With `least` None the fingerprints alone decide (Manku et al. 2007).

    Cost: 20 us a candidate for each text; of one that passes up to 0.2 ms.
    """
    if not candidates:
        return []
    sketches = [each.sketch for each in candidates]
    # The texts of most pages are the same set: it is compared once.
    sets = {id(each): each for each in (page.own, page.not_frame, *(t.hashes for t in page.texts))}
    measured = {key: _Shares.of(each, sketches) for key, each in sets.items()}
    own, not_frame = measured[id(page.own)], measured[id(page.not_frame)]
    shares = [measured[id(text.hashes)] for text in page.texts]
    found: list[float | None] = []
    for number, candidate in enumerate(candidates):
        text, of_text = page.texts[candidate.text], shares[candidate.text]
        share = float(of_text.share[number])
        is_repeated = least is None or (
            share >= _bound(text, of_text.jaccard[number], least)
            and (
                _is_same_page(page, candidate, least)
                if candidate.is_same_host or candidate.has_same_menus
                else own.share[number] >= least
                and not_frame.share[number] >= min(least, _MOST)
                and _is_same_story(page, candidate)
            )
        )
        found.append(share if is_repeated else None)
    return found


def ranked(candidates: Sequence[Candidate], shares: Sequence[float | None]) -> list[int]:
    """Return the numbers of the candidates that a page repeats, the nearest first.

    Of those that are as near the one that holds most of it, then the earliest. The largest page
    holds most, and need not be the most like it.
    """
    found = [
        (candidates[number].distance, -share, number)
        for number, share in enumerate(shares)
        if share is not None
    ]
    return [number for *_, number in sorted(found)]


def choose(
    best: Sequence[int], matches: Matches, url_key: int, is_ours: Callable[[int], bool]
) -> tuple[int, bool]:
    """Choose one of the matches, given best first; tell whether it is the page itself.

    `is_ours` tells of a crawl whether it is the one that is going on.
    """
    for number in best:
        if is_ours(matches.crawls[number]):
            return number, False
    for number in best:
        if matches.url_keys[number] == url_key:
            return number, True
    return best[0], False


def compared(
    page: PageProfile,
    candidates: Sequence[Candidate],
    digests: Sequence[bytes],
    least: float | None,
    chosen: Callable[[Sequence[int]], tuple[int, bool]],
) -> tuple[Comparison, int | None]:
    """Return what a page is found to be, and the number of the candidate that it repeats.

    The digests are those of the candidates; `chosen` chooses one of them, see `choose`. Which page
    the candidate is, the caller adds.
    """
    shares = similarities(page, candidates, least)
    best = ranked(candidates, shares)
    new = Comparison("new", candidates=len(candidates))
    if not best:
        return new, None
    number, is_revisit = chosen(best)
    is_exact = page.digest[MAIN_DIGEST:] == digests[number][MAIN_DIGEST:]
    found = new._replace(
        outcome="revisit" if is_revisit else "exact" if is_exact else "near",
        distance=candidates[number].distance,
        similarity=shares[number],
    )
    return found, number


class _Shares(NamedTuple):
    """How a set of hashes compares with each of n sketches, (n,)."""

    share: FloatArray
    """Of the hashes, those that are in the sketch, 0 to 1; of none, all."""
    jaccard: FloatArray

    @classmethod
    def of(cls, hashes: npt.NDArray[np.uint32], sketches: Sequence[bytes]) -> "_Shares":
        there, asked = contained(hashes, sketches)
        union = asked + np.array([sketch_size(each) for each in sketches], np.intp) - there
        share = there / np.maximum(asked, 1) if len(hashes) else np.ones(len(sketches))
        return cls(share, there / np.maximum(union, 1))


def _bound(text: Text, jaccard: float, least: float) -> float:
    """Return the share of a text that a candidate with this Jaccard similarity must have."""
    if text.word_count < LONG_WORDS:
        return max(least, _SHORT_BOUND)
    return max(least, _PART_BOUND) if jaccard < _PART else least


def _is_same_page(page: PageProfile, candidate: Candidate, least: float) -> bool:
    """Tell whether a page of the same host or site says nothing that the candidate does not say."""
    if not is_headed_alike(page.headline, candidate.headline, page.around.times_shown):
        return False
    if _Shares.of(page.whole, [candidate.sketch]).share[0] < least:
        return False
    text, frame_words = page.texts[candidate.text], _frame_words(page, candidate)
    most_new = _little_of(text, frame_words)
    lost = _Lost.of(page, text, candidate, is_short=most_new == 0)
    # All that is in sight may be frame, and the page's own text the one that was not read.
    is_hull = lost.new_words < MIN_WORDS and frame_words > 0
    if page.unread_words > (lost.new_words if is_hull else text.own_word_count):
        return False
    if candidate.is_same_host and lost.words > _little_of(text):
        return False
    return lost.new <= most_new


def _frame_words(page: PageProfile, candidate: Candidate) -> int:
    """Return how many words of a text may be frame that is not known to be so.

    In a frame without the menus of the candidate (a print view) nothing is frame of both.
    """
    is_apart = page.around.is_frame_known or not candidate.has_same_menus
    return 0 if is_apart else _FRAME_WORDS


def _little_of(text: Text, frame_words: int = 0) -> float:
    """Return how many words of a text are next to nothing; of a short one none."""
    is_story = text.own_word_count >= _STORY_WORDS + frame_words
    return _LITTLE * text.own_word_count if is_story else 0


class _Lost(NamedTuple):
    """The words of blocks that are no frame, and that a page with some sketch lacks."""

    words: float
    new: float
    """Of these, the words of blocks that the host never showed before."""
    new_words: float
    """All words of such blocks, lost or not."""

    @classmethod
    def of(cls, page: PageProfile, text: Text, candidate: Candidate, *, is_short: bool) -> "_Lost":
        """Count what of a page a candidate lacks; of a short text each line counts wholly.

        Where next to nothing of a page is no frame, nothing is: other pages show parts of it. What
        stands above the menus is the banner of another host ("This is a copy of ..."), what stands
        above and below all that the candidate has is that of a view ("Printed on ..."). What the
        sketch of a long page cannot tell of, because it has no shingle of a short block, is taken
        to be lost in the same share as the other new blocks are; if there are none, wholly.
        """
        lost = lost_new = sampled = unsure = 0.0
        counted = list(page.passages.counted_in(candidate.sketch))
        for passage, words, asked, there in _inner(counted) if page.around.is_view else counted:
            is_frame = passage.times >= FRAME_TIMES and text.own_word_count >= MIN_WORDS
            is_banner = passage.is_above and not candidate.is_same_host
            if is_frame or is_banner or not text.has(passage):
                continue
            is_new = passage.times == 0
            if not asked:
                unsure += words * is_new  # what was shown before is on the host as it is
                continue
            is_line = words <= _LINE and is_new and is_short
            is_lost = there < asked if is_line else there < (1 - _LOST) * asked
            lost += words * is_lost
            lost_new += words * (is_lost and is_new)
            sampled += words * is_new
        lost_unsure = unsure * (lost_new / sampled if sampled else 1.0)
        return cls(lost + lost_unsure, lost_new + lost_unsure, sampled + unsure)


def _inner(counted: list[Counted]) -> list[Counted]:
    """Leave out the first and the last passages, as far as they are not there."""
    known = [number for number, (_, _, asked, there) in enumerate(counted) if 2 * there > asked]
    return counted[known[0] : known[-1] + 1] if known else counted


def _is_same_story(page: PageProfile, candidate: Candidate) -> bool:
    """Tell whether a page of another host is headed by the same, or is a long story retold."""
    if is_headed_as_elsewhere(page.headline, candidate.headline, page.around.times_shown):
        return True
    text = page.texts[candidate.text]
    if text.word_count < _STORY_WORDS:
        return False
    margins = [
        (1 - _STORY_BOUND) * asked - (asked - there)
        for passage, _, asked, there in page.passages.counted_in(candidate.sketch)
        if passage.times < FRAME_TIMES
        and text.has(passage)
        and not page.headline.is_made_of(passage.text)
    ]
    return sum(margins) >= 0
