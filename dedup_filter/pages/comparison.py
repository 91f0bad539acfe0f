"""A page and its candidates within k bits -> which of them it repeats, if any.

A page may be dropped only if nothing is lost by it: what it says is in the page that was kept. With
`min_similarity=None` the fingerprints alone decide; otherwise a candidate must meet these rules:

    1. The candidate has at least `min_similarity` of the shingles of the text by which it was
       found. The bound is higher for a short text, and for a page that is a part of the candidate.
    2. If both are of one host, or the candidate's host shows the page's menus: each part of the
       page's headline is in the candidate's (a section number or a cut-off end aside), the
       candidate has `min_similarity` of the span of the main content, frame included, and the
       blocks that it lacks are next to nothing. Pages of one host share a template and much of
       their text, so nearly every pair of similar ones are two different pages.
    3. Otherwise: it has `min_similarity` of the blocks that the page's host never showed, and 0.7
       (or `min_similarity`, if that is less) of all text that is no frame; of a print view only the
       blocks within count. And the headlines agree, or the text is a story (200 words) of which it
       has 99 %: a wire story under a headline of its own.

If a page repeats several, its original is the first of these:

    1. a page seen in this crawl               the page is a duplicate of it
    2. one of an earlier crawl at the same URL the page is that one, seen again: "revisit"
    3. another of an earlier crawl             the page is a duplicate of it

Among several of a kind, first the page that it names as canonical, then the nearest. With the
option `canonical` that page is a candidate at any distance; it must meet the same rules, as many
sites name one page on all of theirs.

The first rule that a candidate does not meet is named (`Refusal`): it says why a page was kept.

Every constant with its measure: docs/decisions/0008. Knows no index and no store; the caller brings
the candidates.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.fingerprints.profile import (
    FRAME_TIMES,
    LONG_WORDS,
    MAIN_DIGEST,
    MIN_WORDS,
    CountedPassage,
    PageProfile,
    Passage,
    Text,
)
from dedup_filter.fingerprints.sketch import contained
from dedup_filter.model import Match, Outcome, Reason, Refusal, Rule, Verdict
from dedup_filter.text.headlines import Headline, is_headed_alike, is_headed_as_elsewhere

FloatArray = npt.NDArray[np.float64]
Unmet = tuple[Rule, float | None, float | None]
"""A rule that is not met, what was found, and what is wanted: see `Refusal`."""
Found = dict[int, tuple[int, int]]
"""Pages like one that is judged: the number of its first text that found each, and the distance."""

MOST_COMPARED = 64
"""Candidates of one text that are compared at most, the nearest: 1.5 ms. Most pages have a handful;
only templates and empty shells have more."""

_SHORT_BOUND = 0.95
"""Share of a text of fewer than `LONG_WORDS` words that its original must have."""
_PART, _PART_BOUND = 0.5, 0.9
"""If the Jaccard similarity is below the first, a page is only a part of a larger candidate (or the
candidate was kept with its frame). Then the candidate must have the second as its share: sketches
are compared at the scale of the larger page, which leaves few shingles of the smaller."""
_LOST = 0.75
"""A candidate lacks a block if it lacks this share of its shingles. Of an edited sentence it has
half or more, of another one nothing."""
_LINE = 16
"""Words of a line (Kohlschuetter et al. 2010). On a page that is no story a new block of at most so
many is lost if any shingle of it is: a name, a number, a price, "There is no page /map"."""
_MOST = 0.7
"""Share of all text that is no frame which a candidate of another host must have. It is lower than
`min_similarity`: a front page also shows articles that its host has shown before."""
STORY_WORDS = 200
"""Words of a story. A shorter text may be about nothing but a name, a number or a headline."""
_FRAME_WORDS = 800
"""Words that may be frame while the frame is not known: a story must have so many more."""
_LITTLE = 0.06
"""Share of a story's words in blocks that the candidate lacks which is next to nothing: a date, a
counter, an added sentence."""
_LEAST_ASKED = 32
"""Shingles of a page that the sketch of its canonical page must tell of, if it has so many and the
two may differ in any number of bits. Of pages that share half of their text with the other, one in
800,000 has 29 of 32 there by chance. A page of less than an eighth of its canonical one is kept."""
_LEAST_FAR = 0.8
"""Share of them that must be there, whatever `min_similarity` allows where bits agree."""
STORY_BOUND = 0.99
"""Share of a story on another host that the candidate must have under another headline."""


class Overtaken(Exception):  # noqa: N818 - no fault: it says what to do
    """Another process has changed what the page repeats; compare it again."""


class Candidate(NamedTuple):
    """A stored page that the page which is judged may repeat."""

    text: int
    """The number of the first of its texts, in its profile, that is within k bits of this one."""
    distance: int
    is_same_host: bool
    has_same_menus: bool
    """Whether a page of its host has shown the menus of the page that is judged."""
    sketch: bytes
    headline: Headline
    page: int = 0
    """Its number."""
    crawl: int = 0
    """The last one that it was seen in."""
    url_key: int = 0
    digest: bytes = b""
    is_canonical: bool = False
    """Whether the page that is judged names it as canonical; then it may be beyond k bits."""


class Examined(NamedTuple):
    """A candidate, the share of the page's text that it has, and why it is not the original."""

    candidate: Candidate
    share: float
    unmet: Unmet | None
    """None: the page repeats it."""

    @property
    def refusal(self) -> Refusal | None:
        """Why it is not the original, for a verdict."""
        at = self.candidate.page, self.candidate.distance
        return None if self.unmet is None else Refusal(*self.unmet, *at)


class Lost(NamedTuple):
    """What a candidate lacks of a page's blocks, frame left out."""

    words: float
    new_words: float
    """How many of them are in blocks that the host has not shown before."""
    of_new: float
    """How many words such blocks have, there or lost."""
    passages: list[Passage]
    """Those that are lost for sure."""


def found_by_texts(look_ups: Iterable[Sequence[Match]], before: float = inf) -> tuple[Found, int]:
    """Join what is near the texts of a page, the `MOST_COMPARED` nearest to each.

    Returns the pages, those before a number, and how many look-ups found more.
    """
    found: Found = {}
    capped = 0
    for number, near in enumerate(look_ups):
        capped += len(near) > MOST_COMPARED
        for match in near[:MOST_COMPARED]:
            if match.row < before:
                found.setdefault(match.row, (number, match.distance))
    return found, capped


def found_by_url(page: PageProfile, stored: Mapping[int, tuple[int, bytes]]) -> Found:
    """Take pages with these fingerprints and sketches for found, whatever their distance.

    Each by the text of the page that is nearest. Where bits do not agree a sketch must tell more:
    of `_LEAST_ASKED` shingles of the text, or of all, and have `_LEAST_FAR` of them.
    """
    found: Found = {}
    for number, (value, sketch) in stored.items() if page.texts else ():
        distances = [(text.fingerprint ^ value).bit_count() for text in page.texts]
        nearest = distances.index(min(distances))
        hashes = page.texts[nearest].hashes
        there, asked, _ = (int(each[0]) for each in contained(hashes, [sketch]))
        if asked >= min(_LEAST_ASKED, len(hashes)) and there >= _LEAST_FAR * asked:
            found[number] = nearest, distances[nearest]
    return found


def relation(page: PageProfile, own_host: str, host: str) -> tuple[bool, bool]:
    """Tell how a page's host, "" for none, and that of a stored page are related.

    Returns whether they are the same, and whether the other has shown the menus of the page: see
    `Candidate`.
    """
    is_of_site = page.around.is_of_site
    return bool(own_host) and host == own_host, is_of_site is not None and is_of_site(host)


def verdict_on(page: PageProfile, outcome: Outcome, reason: Reason | None = None) -> Verdict:
    """Return a verdict on a page, with what was measured of it."""
    return Verdict(
        outcome,
        reason=reason,
        language=page.language,
        shingles=page.shingles,
        shingles_without_stopword=page.shingles_without_stopword,
        fingerprint=page.fingerprint,
        frame_share=page.frame_share,
        words=max((text.word_count for text in page.texts), default=page.word_count),
    )


def compared(
    page: PageProfile,
    candidates: Sequence[Candidate],
    least: float | None,
    url_key: int,
    is_ours: Callable[[int], bool],
) -> Verdict:
    """Return the verdict on a page; for the URL that belongs to it see `named`.

    The candidates are pages with its digest, if there are any, or those near its texts and the one
    that it names as canonical. `least` is
    `min_similarity`. With None every candidate is an original (Manku et al. 2007). `is_ours` tells
    whether a crawl is the present one.

    Cost: 20 us a candidate for each text; of one that passes up to 0.2 ms.
    """
    same = [candidate for candidate in candidates if candidate.digest == page.digest]
    if not (same or page.texts):
        return verdict_on(page, "unjudged", page.reason)
    verdict = verdict_on(page, "new")
    if same:
        best = [(candidate._replace(distance=0), 1.0) for candidate in same]
    else:
        looked_at = examined(page, candidates, least)
        best = [(candidate, share) for candidate, share, unmet in looked_at if unmet is None]
        refused = None if best or not looked_at else looked_at[0].refusal
        verdict = verdict._replace(candidates=len(candidates), refused=refused)
    if not best:
        return verdict
    best.sort(key=lambda each: not each[0].is_canonical)
    itself = next((each for each in best if each[0].url_key == url_key), best[0])
    original, share = next((each for each in best if is_ours(each[0].crawl)), itself)
    is_revisit = original.url_key == url_key and not is_ours(original.crawl)
    is_exact = page.digest[MAIN_DIGEST:] == original.digest[MAIN_DIGEST:]
    return verdict._replace(
        outcome="revisit" if is_revisit else "exact" if is_exact else "near",
        original_page=original.page,
        distance=original.distance,
        similarity=share,
        reason="canonical" if original.is_canonical else None,
    )


def named(verdict: Verdict, url_of: Callable[[int], str]) -> Verdict:
    """Add the URL of the page's original, or of the page that was refused as such."""
    if verdict.original_page is not None:
        return verdict._replace(original=url_of(verdict.original_page))
    if verdict.refused is not None:
        return verdict._replace(refused=verdict.refused._replace(url=url_of(verdict.refused.page)))
    return verdict


def examined(
    page: PageProfile, candidates: Sequence[Candidate], least: float | None
) -> list[Examined]:
    """Tell of each candidate whether the page repeats it, and which rule is not met if not.

    The nearest comes first; of equally near ones that with the larger share, then the earlier. The
    share does not come before the distance, as the largest page has the largest share of any page.
    """
    if not candidates:
        return []
    sketches = [each.sketch for each in candidates]
    # The texts of most pages are the same set: it is compared once.
    sets = {id(each): each for each in (page.own, page.not_frame, *(t.hashes for t in page.texts))}
    measured = {key: _shares(each, sketches) for key, each in sets.items()}
    own, not_frame = measured[id(page.own)][0], measured[id(page.not_frame)][0]
    found = []
    for number, candidate in enumerate(candidates):
        text = page.texts[candidate.text]
        share, jaccard = (float(each[number]) for each in measured[id(text.hashes)])
        unmet: Unmet | None = None
        if least is not None:
            bound = least_share(text.word_count, jaccard, least)
            if share < bound:
                unmet = "similarity", share, bound
            elif candidate.is_same_host or candidate.has_same_menus:
                unmet = _unmet_here(page, candidate, least)
            else:
                shares = own[number], not_frame[number]
                unmet = _unmet_elsewhere(page, candidate, shares, least)
        found.append(Examined(candidate, share, unmet))
    return sorted(found, key=lambda each: (each.candidate.distance, -each.share))


def _shares(
    hashes: npt.NDArray[np.uint32], sketches: Sequence[bytes]
) -> tuple[FloatArray, FloatArray]:
    """Return, of n sketches, the share of some hashes in each (of none: 1), and their Jaccard."""
    there, asked, sizes = contained(hashes, sketches)
    share = there / np.maximum(asked, 1) if len(hashes) else np.ones(len(sketches))
    return share, there / np.maximum(asked + sizes - there, 1)


def least_share(word_count: int, jaccard: float, least: float) -> float:
    """Return the share of a text that a candidate with this Jaccard similarity must have."""
    if word_count < LONG_WORDS:
        return max(least, _SHORT_BOUND)
    return max(least, _PART_BOUND) if jaccard < _PART else least


def _unmet_here(page: PageProfile, candidate: Candidate, least: float) -> Unmet | None:
    """Find what a page says that a candidate of the same host or site does not say."""
    if not is_headed_alike(page.headline, candidate.headline, page.around.times_shown):
        return "headline", None, None
    span = float(_shares(page.whole, [candidate.sketch])[0][0])
    if span < least:
        return "span", span, least
    text = page.texts[candidate.text]
    frame_words = _words_of_frame(page, candidate)
    most_new = _little_of(text, frame_words)
    lost = _lost(page, text, candidate, is_short=most_new == 0)
    # If all that was read is frame, the page's own text is among what was not read.
    is_hull = lost.of_new < MIN_WORDS and frame_words > 0
    most_unread = lost.of_new if is_hull else text.own_word_count
    if page.unread_words > most_unread:
        return "unread", page.unread_words, most_unread
    if lost.new_words > most_new:
        return "new_blocks", lost.new_words, most_new
    most_lost = _little_of(text)
    if candidate.is_same_host and lost.words > most_lost:
        return "blocks", lost.words, most_lost
    return None


def lost_blocks(page: PageProfile, candidate: Candidate) -> list[Passage]:
    """Return the blocks of a page that a candidate of its host or site lacks for sure.

    There may be more in a long page, of which a sketch can tell nothing: see `_lost`.
    """
    text = page.texts[candidate.text]
    is_short = _little_of(text, _words_of_frame(page, candidate)) == 0
    return _lost(page, text, candidate, is_short=is_short).passages


def _words_of_frame(page: PageProfile, candidate: Candidate) -> int:
    """Return how many words may be frame. Without the same menus (a print view) they share none."""
    is_apart = page.around.is_frame_known or not candidate.has_same_menus
    return 0 if is_apart else _FRAME_WORDS


def _unmet_elsewhere(
    page: PageProfile, candidate: Candidate, shares: tuple[float, float], least: float
) -> Unmet | None:
    """Find what a page's own host has not shown before that a candidate of another has not.

    `shares` are those of the new blocks, and of all that are not known to be frame. Of a print view
    the blocks within count: if its article was dropped, only "Printed on ..." is new on its host.
    """
    own, not_frame = map(float, shares)
    if page.around.is_view:
        counted = _inner(list(page.passages.counted_in(candidate.sketch)))
        own = not_frame = _share_of([each for each in counted if each.passage.in_own])
        if page.around.is_frame_known:
            not_frame = _share_of([each for each in counted if each.passage.in_rare])
    if own < least:
        return "own", own, least
    if not_frame < min(least, _MOST):
        return "not_frame", not_frame, min(least, _MOST)
    return _unmet_of_story(page, candidate)


def _share_of(counted: Sequence[CountedPassage]) -> float:
    """Return the share of some passages that a candidate has; 1 if there is nothing in them."""
    asked = sum(each.asked for each in counted)
    return sum(each.there for each in counted) / asked if asked else 1.0


def _little_of(text: Text, frame_words: int = 0) -> float:
    """Return how many words of a text are next to nothing: 0 for one that is no story."""
    is_story = text.own_word_count >= STORY_WORDS + frame_words
    return _LITTLE * text.own_word_count if is_story else 0


def _lost(page: PageProfile, text: Text, candidate: Candidate, *, is_short: bool) -> Lost:
    """Count the words of the page's blocks, frame left out, that a candidate lacks.

    In a short text a line is lost if any of it is.

    - Blocks shown `FRAME_TIMES` times are frame, unless nearly all of the text is such blocks.
    - A block above the menus on another host is its banner ("This is a copy of ...").
    - The headline of a part of its canonical page is followed by other text there, so shingles that
      begin in it differ; both pages are headed alike, or would not come here.
    - Blocks before the first and after the last that the candidate has are those of a print view
      ("Printed on ...").
    - The sketch of a long page may hold no shingle of a short block. Such blocks are taken to be
      lost in the same share as the other new ones, and wholly if there are no others.
    - If few words of a page are new on its host, a new line may be all that tells it from others,
      and a sample is not enough: what the sketch cannot tell of is lost. No page of the host has
      shown that line before, so the candidate hardly has.
    """
    lost = lost_new = sampled = unsure = 0.0
    passages = []
    counted = list(page.passages.counted_in(candidate.sketch))
    new_words = sum(each.words for each in counted if each.passage.times == 0)
    for each in _inner(counted) if page.around.is_view else counted:
        passage, words, shingles, asked, there = each
        is_frame = passage.times >= FRAME_TIMES and text.own_word_count >= MIN_WORDS
        is_banner = passage.is_above and not candidate.is_same_host
        is_headline = candidate.is_canonical and page.headline.is_made_of(passage.text)
        if is_frame or is_banner or is_headline or not text.has(passage):
            continue
        is_new = passage.times == 0
        is_line = words <= _LINE and is_new and is_short
        if is_line and new_words < LONG_WORDS:
            asked = shingles
        if not asked:
            unsure += words * is_new  # a block shown before is on the host anyway
            continue
        sampled += words * is_new
        if there < asked if is_line else there < (1 - _LOST) * asked:
            lost += words
            lost_new += words * is_new
            passages.append(passage)
    lost_unsure = unsure * (lost_new / sampled if sampled else 1.0)
    return Lost(lost + lost_unsure, lost_new + lost_unsure, sampled + unsure, passages)


def _inner(counted: list[CountedPassage]) -> list[CountedPassage]:
    """Leave out the passages before the first and after the last that the candidate has."""
    known = [number for number, each in enumerate(counted) if 2 * each.there > each.asked]
    return counted[known[0] : known[-1] + 1] if known else counted


def _unmet_of_story(page: PageProfile, candidate: Candidate) -> Unmet | None:
    """Find out whether a page of another host has the same headline, or is the same long story."""
    if is_headed_as_elsewhere(page.headline, candidate.headline, page.around.times_shown):
        return None
    text = page.texts[candidate.text]
    if text.word_count < STORY_WORDS:
        return "headline", None, None
    counted = [
        each
        for each in page.passages.counted_in(candidate.sketch)
        if each.passage.times < FRAME_TIMES
        and text.has(each.passage)
        and not page.headline.is_made_of(each.passage.text)
    ]
    margins = [(1 - STORY_BOUND) * each.asked - (each.asked - each.there) for each in counted]
    return None if sum(margins) >= 0 else ("story", _share_of(counted), STORY_BOUND)
