"""A page and a candidate -> the text that the candidate lacks, if more is missing than may be.

One rule: a page repeats a candidate that has all of the page's text. Text may be missing only if
something is known about it. The candidate's sketch says of each block whether it is there, of a
line only beside one of its neighbours, and of a paragraph which phrases are. A block is prose,
a line (at most `LINE_WORDS` words) or links. With `min_similarity=None` only fingerprints decide
(Manku et al. 2007).

On the same host this may be missing:

    frame             blocks that most pages of the host show, or that two pages showed beyond pages
                      that they repeat otherwise; but rows, and lines in `main`, are values
    beside            blocks in an element that HTML names so (aside, nav, footer, form ...), but
                      lines only outside `main`
    teasers           links outside the prose, each with little text of its own, if the headline is
                      a story's or if they stand outside the `main` element. Within it, a link that
                      stands alone, or is too short for a headline, is a value
    one address       links, and all but values and lines with a label ("Colour: red") outside the
                      body of the text, and text in places where it changes at each visit, if
                      both URLs are spellings or views of one, or name one canonical URL
    edits             half of 1 - min_similarity of the words but at most 60, in a third of the
                      paragraphs, and the sentences between edited paragraphs
    max_missing       as many words as the user allows

If there is no `main` element, the largest element that holds the text and no menu takes its place.
What changes by itself (ages, counters, stamps) was masked when the page was read; a line with
nothing else but words may be missing, too. All other text must be there, whatever its size and
place: a row, a price, a reply. If the page is one of a sequence (a pager, or URLs that differ in a
number), only frame may be missing. Pages with another headline are other pages. `min_similarity=1`
and elements that the user named with `content` waive nothing but frame.

On another host may be missing: 1 - min_similarity of the words of the main text, half of that if
the page is a part of a larger page. Links and frames are not compared. The headlines must be of one
text (`headings`); or all prose of an article is there, and one headline may be written anew. A text
that several hosts show is no article (`_refusal_of_notice`). If two hosts have the same menus, they
count as one host until the frame of the page's host is known; but one headline may stand in the
other.

Hidden text that is longer than the shown text must be the same as the candidate's. A page with less
text than its original repeats it.

Measures: docs/decisions/0013. Knows no index and no store; the caller brings the candidates.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import NamedTuple

import numpy as np

from dedup_filter.comparison.candidates import Candidate, counts_in
from dedup_filter.comparison.headings import are_of_one_text, are_rewritten, are_told_by_prose
from dedup_filter.comparison.loss import known_prose, unlike
from dedup_filter.features.analysis import hash_words
from dedup_filter.features.languages import function_words
from dedup_filter.features.tokens import tokens_of_parts
from dedup_filter.fingerprints.block_columns import Shares
from dedup_filter.fingerprints.places import Places
from dedup_filter.fingerprints.profile import UNREAD_DIGEST, WAITING_DIGEST, PageProfile
from dedup_filter.fingerprints.sketch import BoolArray
from dedup_filter.model import MissingLine, Refusal, Rule
from dedup_filter.text.headlines import headlines, is_headed_alike, title_parts
from dedup_filter.text.page_url import ONE_PAGE
from dedup_filter.text.plain_text import normalize
from dedup_filter.thresholds import (
    ARTICLE_WORDS,
    EDGE_LINES,
    FRAME_TIMES,
    HALF,
    HEADLINE_WORDS,
    LONG_WORDS,
    MOST,
    MOST_EDITED,
    THIRD,
)


class Examined(NamedTuple):
    """A candidate, the share of the page's phrases in it, and the reason why it is refused."""

    candidate: Candidate
    share: float
    refusal: Refusal | None
    """None: the page repeats it."""
    shares: Shares | None = None
    """What it has of each block; None: it was not compared by blocks."""


def examined(
    page: PageProfile,
    candidates: Sequence[Candidate],
    least: float | None,
    max_missing: int = 0,
    *,
    without: Set[str] = frozenset(),
) -> list[Examined]:
    """Compare a page with each candidate, as if the page had no block whose text is in `without`.

    The nearest comes first; among equally near ones the one with the larger share, then the
    earlier. Distance comes before share, because the largest page has the largest share of any.

    Cost: 5 us a candidate; 0.2 ms for the first, and for each that has enough of the page's phrases
    to be compared by blocks.
    """
    sketches = [candidate.sketch for candidate in candidates]
    counts = counts_in(page, [candidate.text for candidate in candidates], sketches)
    found = [
        (candidate, there / max(sampled, 1), there < HALF * (sampled + size - there))
        for candidate, (there, sampled, size) in zip(candidates, counts, strict=True)
    ]
    nearest = sorted(found, key=lambda each: (each[0].distance, -each[1]))
    judged, allowed = _Judged(page, without), _Allowed(1 - (least or 0), max_missing)
    looked_at = []
    for number, (candidate, share, is_part) in enumerate(nearest):
        words, refusal, shares = page.texts[candidate.text].word_count, None, None
        if least is not None and number and not _may_be_enough(share, words, allowed):
            missing, at = (1 - share) * words, (candidate.page, candidate.distance)
            refusal = Refusal("words", missing, allowed.share * words, "", *at)
        elif least is not None:
            shares = page.blocks.shares_in(candidate.sketch)
            refusal = _Comparison(judged, candidate, shares, allowed).refusal(share, is_part)
            if refusal is not None:
                refusal = refusal._replace(page=candidate.page, distance=candidate.distance)
        looked_at.append(Examined(candidate, share, refusal, shares))
    return looked_at


def _may_be_enough(share: float, words: int, allowed: "_Allowed") -> bool:
    """Return whether a candidate with a share of the phrases of a text may have all of the page.

    It may have blocks of it outside its own texts, and others may be known to be frame. No copy in
    the measured sets has less than .6 of the phrases.
    """
    return share * words + allowed.words >= HALF * min(HALF, 1 - allowed.share) * words


@dataclass(frozen=True)
class _Judged:
    """The page that is compared, without the blocks whose text is in `without`."""

    page: PageProfile
    without: Set[str]

    @cached_property
    def unheaded(self) -> BoolArray:
        """The blocks that are not the headline, (n,)."""
        headline = self.page.headline
        parts = title_parts(headline.title)
        texts = self.page.blocks.texts
        return ~np.array([headline.is_made_of(text) or text in parts for text in texts], np.bool_)

    @cached_property
    def compared(self) -> BoolArray:
        """The blocks that are compared, (n,); the headline is compared by itself.

        In the original, other text may follow the headline.
        """
        if not self.without:
            return self.unheaded
        return self.unheaded & [text not in self.without for text in self.page.blocks.texts]


class _Allowed(NamedTuple):
    """How much may be missing, by the options."""

    share: float
    """Share of the words."""
    words: int
    """Words of any blocks, on one host."""


@dataclass(frozen=True)
class _Comparison:
    """A page with n blocks, and what a candidate has of each. Masks and columns are (n,)."""

    judged: _Judged
    candidate: Candidate
    shares: Shares
    allowed: _Allowed

    def refusal(self, there: float, is_part: bool) -> Refusal | None:
        """Return the text that the candidate lacks if it is more than allowed.

        `there`: share of the page's phrases in the candidate. `is_part`: the candidate is larger.
        """
        page, candidate = self.page, self.candidate
        share, headline = self.allowed.share, page.headline
        if not are_headed_alike(page, candidate) and (is_part or not self._is_retold()):
            is_of_title = not headline.h1 or headline.h1 == candidate.headline.h1
            return Refusal("headline", 0, 0, headline.title if is_of_title else headline.h1)
        compared = self._compared
        on_site = candidate.is_same_host or (candidate.has_same_menus and not page.is_frame_known)
        refusal = self._refusal_on_site(compared) if on_site else None
        if refusal or (on_site and not page.is_plain):
            return refusal
        of_part = HALF * share if is_part or on_site else share
        if page.is_plain:
            # Nothing stands between the lines of a plain text: phrases across line ends count.
            words = self._words(compared)
            most = max(of_part * words, self.allowed.words if on_site else 0)
            return self._beyond("words", (1 - there) * words, most, compared)
        places = self.places
        main = compared & places.in_main
        new = main & (places.times == 0)
        # The text that found the candidate.
        held = compared & getattr(places, f"in_{page.texts[candidate.text].name}")
        # A front page repeats none of its articles, whichever of them found it.
        is_more = page.is_frame_known and self._words(held) < HALF * self._words(main)
        return (
            self._over(new, of_part)
            or self._over(held, of_part)
            or (self._over(main, share) if is_more else None)
            or self._refusal_of_notice(compared)
        )

    @property
    def page(self) -> PageProfile:
        return self.judged.page

    @property
    def places(self) -> Places:
        return self.page.blocks.places

    @cached_property
    def _compared(self) -> BoolArray:
        """The blocks that are compared: of a print view without the lines around its text."""
        is_view = self.page.is_view or self.candidate.kinship == "view"
        return self.judged.compared & ~self._edges if is_view else self.judged.compared

    @cached_property
    def _known_prose(self) -> BoolArray:
        """The paragraphs that the candidate has, or most of their sampled phrases."""
        return known_prose(self.places, self.shares)

    @property
    def _edges(self) -> BoolArray:
        """The few lines of a print view above and below all blocks that the candidate has."""
        shares, places, edges = self.shares, self.places, np.zeros(len(self.shares.words), np.bool_)
        are_known = shares.is_there | self._known_prose
        is_named = self.candidate.kinship == "view"
        if is_named:  # the lines may stand below the headline, and links are no part of it
            are_known &= self.judged.unheaded
        known = np.flatnonzero(are_known)
        if len(known):
            edges |= places.is_line if is_named else ~places.is_prose
            edges[known[0] : known[-1] + 1] = False
        are_few = np.count_nonzero(edges & self.judged.unheaded) <= EDGE_LINES
        return edges & (are_few and not (edges & places.has_links).any())

    def _refusal_on_site(self, compared: BoolArray) -> Refusal | None:
        """Return the text that a page of the same host lacks, or of a host with its menus."""
        if refusal := self._refusal_of_hidden(compared):
            return refusal
        if not self.candidate.is_same_host:
            # Above the menus of a host stands its banner ("This is a copy of ..."), and what its
            # other pages show is its frame.
            places = self.places
            compared = compared & ~places.is_above & ((places.times == 0) | places.are_values)
        left = compared & ~self._waived(compared)
        unlike = self._unlike(left)
        edited = self._edited(compared, unlike)
        gone = unlike & ~edited
        return self._refusal_of_missing(unlike, gone) or self._refusal_of_edits(
            left & (edited | ~unlike), edited, self.allowed.words - self._gone_words(gone)
        )

    def _refusal_of_hidden(self, compared: BoolArray) -> Refusal | None:
        """Return the words that a page hides, if they are more than its own and not the other's."""
        page, main = self.page, compared & self.places.in_main
        # While the frame is not known, any block that other pages have shown may be frame.
        own = main if page.is_frame_known else main & (self.places.times == 0)
        # Text that waits for a script may be the only text of the page besides its frame.
        of_unread = page.unread_words, UNREAD_DIGEST, main
        for hidden, part, shown in of_unread, (page.waiting_words, WAITING_DIGEST, own):
            if hidden > self._words(shown) and page.digest[part] != self.candidate.digest[part]:
                return Refusal("hidden", hidden, self._words(shown), "")
        return None

    def _unlike(self, left: BoolArray) -> BoolArray:
        """Return the blocks, of some, that the candidate lacks or has with other words."""
        places, shares = self.places, self.shares
        if self.candidate.kinship == "series":
            return left & ~shares.is_there & (places.are_lines | (shares.there < shares.phrases))
        return unlike(places, shares, left, self._compared & places.in_main & self._known_prose)

    def _edited(self, compared: BoolArray, unlike: BoolArray) -> BoolArray:
        """Return the paragraphs that the candidate has in other words, and lines between them."""
        shares, is_series = self.shares, self.candidate.kinship == "series"
        is_mostly = shares.there < (1 - MOST) * np.maximum(shares.sampled, 1)
        edited = unlike & self.places.is_prose & ~is_mostly & (not is_series)
        return edited | (unlike & self._within_prose(compared)) if edited.any() else edited

    def _refusal_of_missing(self, unlike: BoolArray, gone: BoolArray) -> Refusal | None:
        """Return the words of the blocks that are `gone`, of those `unlike`, if any may not be."""
        is_prose, most, words = self.places.is_prose, self.allowed.words, self._gone_words(gone)
        lines = tuple(map(MissingLine, self._texts(gone)))
        if not (gone & is_prose).any():
            refusal = self._beyond("lines", words, most, gone)
            return refusal and refusal._replace(lines=lines)
        refusal = self._beyond("paragraph", words, most, gone)
        is_all = self.candidate.is_same_host and not (unlike & ~(gone & is_prose)).any()
        paragraphs = self.page.blocks.hashes[gone].tolist() if is_all else ()
        return refusal and refusal._replace(paragraphs=tuple(paragraphs), lines=lines)

    def _gone_words(self, gone: BoolArray) -> float:
        """Return how many words of some blocks are missing: of a block without phrases all."""
        missing = np.where(self.shares.missing > 0, self.shares.missing, self.shares.words)
        return float(missing[gone].sum())

    def _refusal_of_edits(
        self, left: BoolArray, edited: BoolArray, allowed: float
    ) -> Refusal | None:
        """Return the words of edited blocks, and of all blocks that are `left`, if too many.

        `allowed`: as many words may be missing in any case.
        """
        if 0 < self._missing_of(left) <= allowed:
            return None
        if np.count_nonzero(edited) > FRAME_TIMES:
            most = THIRD * self._words(left & self.places.is_prose & self.places.in_main)
            if refusal := self._beyond("paragraph", self._words(edited), most, edited):
                return refusal
        if not self.candidate.is_same_host:
            return self._over(left, self.allowed.share)
        most = max(min(HALF * self.allowed.share * self._words(left), MOST_EDITED), allowed)
        return self._beyond("words", self._missing_of(left), most, left)

    def _within_prose(self, compared: BoolArray) -> BoolArray:
        """Return the lines of sentences that stand between paragraphs that the candidate has.

        If paragraphs were edited, these lines were edited with them. Rows and items are values.
        """
        places, known = self.places, compared & self._known_prose
        numbers = np.flatnonzero(known)
        within = places.is_line & places.in_main & ~places.is_row & self.page.blocks.are_sentences
        if not len(numbers):
            return known
        within[: numbers[0]] = within[numbers[-1] :] = False
        return within

    def _waived(self, compared: BoolArray) -> BoolArray:
        """Return the blocks that may be missing on one host, by what is known of them."""
        page, candidate, places, shares = self.page, self.candidate, self.places, self.shares
        is_one = candidate.kinship in ONE_PAGE
        own = places.are_main_lines & (not is_one)
        frame = places.is_masked | (places.is_frame & ~(places.are_values | own))
        if not self.allowed.share or "content" in page.selected:
            return frame
        if is_one:
            frame |= places.is_learnt
        prose = compared & places.is_prose & (places.in_main | places.in_span)
        shared = float((shares.words - shares.missing)[prose].sum())
        if candidate.kinship == "series" or shared < ARTICLE_WORDS:
            return frame
        heads = _words_of(headlines(page.headline, page.counts), page)
        is_story = any(len(each) >= HEADLINE_WORDS for each in heads)
        is_item = (places.is_link | places.is_item) & ~(places.in_main | own)
        # Beside the prose stands what its address shares; within it, only links of a story.
        is_teaser = is_item & (is_one | is_story | places.is_outside)
        labelled = places.is_line & self.page.blocks.are_labelled
        beside = places.is_beside & (is_teaser | (is_one & ~places.are_values & ~labelled))
        within = is_teaser & ~places.is_beside
        if not is_one and float(shares.missing[within & compared].sum()) > THIRD * shared:
            within = np.zeros_like(within)
        return frame | (places.is_framed & ~own) | beside | within

    def _refusal_of_notice(self, compared: BoolArray) -> Refusal | None:
        """Return the text that a candidate lacks if the shared text may be a notice of two hosts.

        It is one if more of the page's own text is missing than there, or if it says nothing of a
        short headline ("Contact") and a line of the article is missing.
        """
        places = self.places
        own = compared & places.in_span & (places.times == 0) & ~places.is_framed
        own &= ~places.is_link
        lines = own & ~places.in_main
        lacking, of_lines = self._missing_of(own), self._missing_of(lines)
        shared = self._words(own) - lacking
        if of_lines and shared < LONG_WORDS and not are_told_by_prose(self.page, self.candidate):
            return self._beyond("lines", of_lines, 0, lines)
        return self._beyond("lines", lacking, shared, own)

    def _is_retold(self) -> bool:
        """Return whether the page is a story of another host under a headline written anew."""
        page, candidate, places = self.page, self.candidate, self.places
        if candidate.is_same_host or candidate.has_same_menus:
            return False
        prose = self._compared & places.in_main & places.is_prose
        own = prose & (places.times == 0)
        if self._words(own) < ARTICLE_WORDS or self.shares.missing[prose].any():
            return False
        lines = self._compared & places.in_span & places.is_line & ~places.is_masked
        lines &= self.shares.missing > 0
        mine = headlines(page.headline, page.counts)
        are_told = all(normalize(text) in mine for text in self._texts(lines))
        return are_told and are_rewritten(page, candidate)

    def _texts(self, chosen: BoolArray) -> list[str]:
        return list(compress(self.page.blocks.texts, chosen.tolist()))

    def _words(self, chosen: BoolArray) -> int:
        return int(self.shares.words[chosen].sum())

    def _beyond(
        self, rule: Rule, words: float, allowed: float, chosen: BoolArray
    ) -> Refusal | None:
        """Return the missing words of some blocks if they are more than allowed."""
        if words <= allowed + 1e-9:
            return None
        texts = self._texts(chosen & ~self.shares.is_there)
        return Refusal(rule, words, allowed, texts[0] if texts else "")

    def _over(self, chosen: BoolArray, share: float) -> Refusal | None:
        """Return the missing words of some blocks if they are more than a share of all words."""
        return self._beyond("words", self._missing_of(chosen), share * self._words(chosen), chosen)

    def _missing_of(self, chosen: BoolArray) -> float:
        """Estimate the words of some blocks that a candidate lacks, from all sampled phrases."""
        shares, unlike = self.shares, chosen & ~self.shares.is_there
        sampled = int(shares.sampled[chosen].sum())
        lacking = int((shares.sampled - shares.there)[unlike].sum())
        missing = self._words(chosen) * (lacking / sampled if sampled else 1)
        return min(missing, self._words(unlike))


def are_headed_alike(page: PageProfile, candidate: Candidate) -> bool:
    """Whether a page and a candidate may be one text, by their headlines.

    Cost: 0.1 ms for 1,000 words if they differ.
    """
    headline, other, counts = page.headline, candidate.headline, page.counts
    if candidate.is_same_host:
        with_title = candidate.kinship not in ONE_PAGE
        return is_headed_alike(headline, other, counts, with_title=with_title)
    # Editions of a plain text begin with another date.
    return (page.is_plain and not headline.title) or are_of_one_text(page, candidate)


def _words_of(parts: set[str], page: PageProfile) -> list[set[int]]:
    """Return the hashes of the words of each part of a headline, without function words."""
    little = function_words(page.language)
    words = (tokens_of_parts([part]).words for part in sorted(parts))
    return [set(hash_words([w for w in each if w not in little]).tolist()) for each in words]
