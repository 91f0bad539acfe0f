"""A page and a candidate -> the text that the candidate lacks, if more is missing than may be.

One rule: a page repeats a candidate that has all of the page's text. Text may be missing only if
something is known about it. The candidate's sketch says of each block whether it is there, of a
line only beside one of its neighbours, and of a paragraph which phrases are. A block is prose,
a line (at most `LINE_WORDS` words) or links. With `min_similarity=None` only fingerprints decide
(Manku et al. 2007).

On the same host this may be missing:

    frame             blocks that most pages of the host show, or that two pages showed beyond pages
                      that they repeat otherwise; but lines within the text and rows are values
    beside            blocks in an element that HTML names so: aside, nav, footer ...
    teasers           links outside the prose, each with little text of its own, if the headline is
                      a story's or if they stand outside the `main` element
    one address       links, and all but values outside the body of the text, if both URLs are
                      spellings or views of one, or name one canonical URL
    edits             half of 1 - min_similarity of the words, in a third of the paragraphs, and the
                      sentences between edited paragraphs
    max_missing       as many words as the user allows

What changes by itself (ages, counters, stamps) was masked when the page was read; a line with
nothing else but words may be missing, too. All other text must be there, whatever its size and
place: a row, a price, a reply. If the page is one of a sequence (a pager, or URLs that differ in a
number), only frame may be missing. Pages with another headline are other pages. `min_similarity=1`
and elements that the user named with `content` waive nothing but frame.

On another host may be missing: 1 - min_similarity of the words of the main text, half of that if
the page is a part of a larger page. Links and frames are not compared. One headline must stand in
the other, or the shared text must say half of the words that one has beyond the other, as editors
write headlines from the words of the story; or all prose of an article is there, and the headlines
are not of one form ("Plumber in Thirsk", "Plumber in Ely"). A text that several hosts show is no
article (`_refusal_of_notice`). If two hosts have the same menus, they count as one host until the
frame of the page's host is known; but only one of the two headlines must stand in the other.

Hidden text that is longer than the shown text must be the same as the candidate's. A page with less
text than its original repeats it.

Measures: docs/decisions/0013. Knows no index and no store; the caller brings the candidates.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, takewhile
from typing import NamedTuple

import numpy as np

from dedup_filter.comparison.candidates import Candidate
from dedup_filter.features.analysis import hash_words
from dedup_filter.features.languages import function_words
from dedup_filter.features.tokens import tokens_of_parts
from dedup_filter.fingerprints.block_columns import Places, Shares
from dedup_filter.fingerprints.profile import UNREAD_DIGEST, WAITING_DIGEST, PageProfile
from dedup_filter.fingerprints.sketch import BoolArray, contained
from dedup_filter.model import MissingLine, Refusal, Rule
from dedup_filter.text.headlines import (
    are_within,
    headlines,
    is_headed_alike,
    never_shown,
    title_parts,
)
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
    THIRD,
)


class Examined(NamedTuple):
    """A candidate, the share of the page's phrases in it, and the reason why it is refused."""

    candidate: Candidate
    share: float
    refusal: Refusal | None
    """None: the page repeats it."""


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
    """
    found = []
    for candidate in candidates:
        hashes = page.texts[candidate.text].hashes
        there, sampled, size = (int(each[0]) for each in contained(hashes, [candidate.sketch]))
        share = there / max(sampled, 1) if len(hashes) else 1.0
        refusal = None
        if least is not None:
            is_part = there < HALF * (sampled + size - there)
            shares = page.blocks.shares_in(candidate.sketch)
            allowed = _Allowed(1 - least, max_missing)
            refusal = _Comparison(page, candidate, shares, allowed, without).refusal(share, is_part)
        if refusal is not None:
            refusal = refusal._replace(page=candidate.page, distance=candidate.distance)
        found.append(Examined(candidate, share, refusal))
    return sorted(found, key=lambda each: (each.candidate.distance, -each.share))


class _Allowed(NamedTuple):
    """How much may be missing, by the options."""

    share: float
    """Share of the words."""
    words: int
    """Words of any blocks, on one host."""


@dataclass(frozen=True)
class _Comparison:
    """A page with n blocks, and what a candidate has of each. Masks and columns are (n,)."""

    page: PageProfile
    candidate: Candidate
    shares: Shares
    allowed: _Allowed
    without: Set[str]

    def refusal(self, there: float, is_part: bool) -> Refusal | None:
        """Return the text that the candidate lacks if it is more than allowed.

        `there`: share of the page's phrases in the candidate. `is_part`: the candidate is larger.
        """
        page, candidate = self.page, self.candidate
        around, share, headline = page.around, self.allowed.share, page.headline
        if not are_headed_alike(page, candidate) and (is_part or not self._is_retold()):
            return Refusal("headline", 0, 0, headline.h1 or headline.title)
        compared = self._compared
        on_site = candidate.is_same_host or (candidate.has_same_menus and not around.is_frame_known)
        refusal = self._refusal_on_site(compared) if on_site else None
        if refusal or (on_site and not around.is_plain):
            return refusal
        of_part = HALF * share if is_part or on_site else share
        if around.is_plain:
            # Nothing stands between the lines of a plain text: phrases across line ends count.
            words = self._words(compared)
            most = max(of_part * words, self.allowed.words if on_site else 0)
            return self._beyond("words", (1 - there) * words, most, compared)
        places = self.places
        main = compared & places.in_main
        new = main & (places.times == 0)
        held = compared & self._held
        # A front page repeats none of its articles, whichever of them found it.
        is_more = around.is_frame_known and self._words(held) < HALF * self._words(main)
        return (
            self._over(new, of_part)
            or self._over(held, of_part)
            or (self._over(main, share) if is_more else None)
            or self._refusal_of_notice(compared)
        )

    @property
    def places(self) -> Places:
        return self.page.blocks.places

    @property
    def _held(self) -> BoolArray:
        """The blocks of the text that found the candidate."""
        name = self.page.texts[self.candidate.text].name
        held: BoolArray = getattr(self.places, f"in_{name}")
        return held

    @cached_property
    def _compared(self) -> BoolArray:
        """The blocks that are compared; the headline is compared by itself.

        In the original, other text may follow the headline.
        """
        compared = self._unheaded
        if self.without:
            compared = compared & [text not in self.without for text in self.page.blocks.texts]
        is_view = self.page.around.is_view or self.candidate.kinship == "view"
        return compared & ~self._edges if is_view else compared

    @cached_property
    def _unheaded(self) -> BoolArray:
        """The blocks that are not the headline."""
        headline = self.page.headline
        parts = title_parts(headline.title)
        is_headline = [
            headline.is_made_of(text) or text in parts for text in self.page.blocks.texts
        ]
        return ~np.array(is_headline, np.bool_)

    @cached_property
    def _known_prose(self) -> BoolArray:
        """The paragraphs that the candidate has, or most of their sampled phrases."""
        shares = self.shares
        known: BoolArray = shares.is_there | (2 * shares.there > shares.sampled)
        return known & self.places.is_prose

    @property
    def _edges(self) -> BoolArray:
        """The few lines of a print view above and below all blocks that the candidate has."""
        shares, places, edges = self.shares, self.places, np.zeros(len(self.shares.words), np.bool_)
        are_known = shares.is_there | self._known_prose
        is_named = self.candidate.kinship == "view"
        if is_named:  # the lines may stand below the headline, and links are no part of it
            are_known &= self._unheaded
        known = np.flatnonzero(are_known)
        if len(known):
            edges |= places.is_line if is_named else ~places.is_prose
            edges[known[0] : known[-1] + 1] = False
        are_few = np.count_nonzero(edges & self._unheaded) <= EDGE_LINES
        return edges & (are_few and not (edges & places.has_links).any())

    def _refusal_on_site(self, compared: BoolArray) -> Refusal | None:
        """Return the text that a page of the same host lacks, or of a host with its menus."""
        page, candidate, places, shares = self.page, self.candidate, self.places, self.shares
        is_same, is_known = candidate.is_same_host, page.around.is_frame_known
        # While the frame is not known, any block that other pages have shown may be frame.
        main = compared & places.in_main
        own = main if is_known else main & (places.times == 0)
        # Text that waits for a script may be the only text of the page besides its frame.
        of_waiting = page.waiting_words, WAITING_DIGEST, own
        for hidden, part, shown in (page.unread_words, UNREAD_DIGEST, main), of_waiting:
            if hidden > self._words(shown) and page.digest[part] != candidate.digest[part]:
                return Refusal("hidden", hidden, self._words(shown), "")
        if not is_same:
            # Above the menus of a host stands its banner ("This is a copy of ..."), and what its
            # other pages show is its frame.
            is_value = places.is_line & places.in_span & ~places.is_beside
            compared = compared & ~places.is_above & ((places.times == 0) | is_value)
        left, is_series = compared & ~self._waived(compared), candidate.kinship == "series"
        is_unlike = left & ~shares.is_there & (shares.there < shares.phrases)
        # Sampled phrases show whether a paragraph is there. A line has too few of them, so it is
        # missing, unless the text was cut into other blocks.
        prose = main & places.is_prose & (2 * shares.there > shares.sampled)
        if not is_series and self._words(prose & shares.is_there) < HALF * self._words(prose):
            is_unlike &= shares.missing > 0
        is_unlike &= ~places.is_prose | is_series | (shares.missing > 0)
        is_mostly = shares.there < (1 - MOST) * np.maximum(shares.sampled, 1)
        is_edited = is_unlike & places.is_prose & ~is_mostly & (not is_series)
        if is_edited.any():
            is_edited |= is_unlike & self._within_prose(compared)
        is_gone = is_unlike & ~is_edited
        is_prose = places.is_prose
        missing = np.where(shares.missing > 0, shares.missing, shares.words)
        words = float(missing[is_gone].sum())
        if words > self.allowed.words + 1e-9:
            if not (is_gone & is_prose).any():
                lines = tuple(MissingLine(text) for text in self._texts(is_gone))
                refusal = self._beyond("lines", words, self.allowed.words, is_gone)
                return refusal and refusal._replace(lines=lines)
            refusal = self._beyond("paragraph", words, self.allowed.words, is_gone)
            is_all = is_same and not (is_unlike & ~(is_gone & is_prose)).any()
            paragraphs = page.blocks.hashes[is_gone].tolist() if is_all else ()
            return refusal and refusal._replace(paragraphs=tuple(paragraphs))
        left &= ~is_gone
        if np.count_nonzero(is_edited) > FRAME_TIMES:
            most = THIRD * self._words(left & is_prose & places.in_main)
            if refusal := self._beyond("paragraph", self._words(is_edited), most, is_edited):
                return refusal
        share = HALF * self.allowed.share if is_same else self.allowed.share
        return self._over(left, share)

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
        nothing = np.zeros(len(shares.words), np.bool_)
        is_value = places.is_line & (places.in_span | places.is_row)
        frame = places.is_masked | (places.is_frame & ~is_value)
        if not self.allowed.share or "content" in page.selected:
            return frame
        is_link = ~places.is_prose & ~places.is_line
        is_one = candidate.kinship in ONE_PAGE
        prose = compared & places.is_prose & places.in_main
        shared = float((shares.words - shares.missing)[prose].sum())
        if candidate.kinship == "series" or shared < ARTICLE_WORDS:
            return frame
        is_story = _has_story_headline(page)
        is_item = (is_link | places.is_item) & ~places.in_main
        # Beside the prose stands what its address shares; within it, only links of a story.
        is_teaser = is_item & (is_one | is_story | places.is_outside)
        beside = places.is_beside & (is_teaser | is_one & ~is_value)
        within = is_teaser & ~places.is_beside
        if not is_one and float(shares.missing[within & compared].sum()) > THIRD * shared:
            within = nothing
        return frame | places.is_framed | beside | within

    def _refusal_of_notice(self, compared: BoolArray) -> Refusal | None:
        """Return the text that a candidate lacks if the shared text may be a notice of two hosts.

        It is one if more of the page's own text is missing than there, or if it says nothing of a
        short headline ("Contact") and a line of the article is missing.
        """
        places = self.places
        own = compared & places.in_span & (places.times == 0) & ~places.is_framed
        own &= places.is_prose | places.is_line
        lines = own & ~places.in_main
        lacking, of_lines = self._missing_of(own), self._missing_of(lines)
        shared = self._words(own) - lacking
        if of_lines and shared < LONG_WORDS and not _is_told(self.page, self.candidate):
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
        mine = headlines(page.headline, page.around.times_shown)
        lines = self._compared & places.in_span & places.is_line & ~places.is_masked
        lines &= self.shares.missing > 0
        if any(normalize(text) not in mine for text in self._texts(lines)):
            return False
        theirs = headlines(candidate.headline, never_shown)
        if any(len(each) < HEADLINE_WORDS for each in _words_of(mine | theirs, page)):
            return False
        return not any(_are_of_one_form(one, other) for one in mine for other in theirs)

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
    headline, other, times_shown = page.headline, candidate.headline, page.around.times_shown
    if candidate.is_same_host:
        with_title = candidate.kinship not in ONE_PAGE
        return is_headed_alike(headline, other, times_shown, with_title=with_title)
    # Editions of a plain text begin with another date.
    if (page.around.is_plain and not headline.title) or are_within(headline, other, times_shown):
        return True
    return not candidate.has_same_menus and _are_told_by_shared_text(page, candidate)


def _are_told_by_shared_text(page: PageProfile, candidate: Candidate) -> bool:
    mine = _words_of(headlines(page.headline, page.around.times_shown), page)
    theirs = _words_of(headlines(candidate.headline, never_shown), page)
    words = np.array(sorted(set().union(*mine, *theirs)), np.uint64)
    among = np.array([text != page.headline.h1 for text in page.blocks.texts], np.bool_)
    said, lacking = page.blocks.said_in(candidate.sketch, words, among)
    for one in mine:
        for other in theirs:
            # Words that stand in no sampled phrase beside the headline cannot be compared.
            for beyond in ((one - other) & (said | lacking), (other - one) & (said | lacking)):
                if beyond & said and len(beyond & said) >= HALF * len(beyond):
                    return True
    return False


def _are_of_one_form(headline: str, other: str) -> bool:
    """Return whether half of the shorter headline begins or ends the other, word for word.

    "Warehouse operative in Ely" and "Warehouse operative in Thirsk" are of one form.
    """
    one, two = (tokens_of_parts([each]).words for each in (headline, other))
    both_ways = zip(one, two, strict=False), zip(one[::-1], two[::-1], strict=False)
    alike = sum(len([*takewhile(lambda pair: pair[0] == pair[1], each)]) for each in both_ways)
    return alike >= HALF * min(len(one), len(two))


def _has_story_headline(page: PageProfile) -> bool:
    parts = _words_of(headlines(page.headline, page.around.times_shown), page)
    return any(len(each) >= HEADLINE_WORDS for each in parts)


def _is_told(page: PageProfile, candidate: Candidate) -> bool:
    """Return whether the shared text says a word of the headline, or the headline is long.

    Below "Contact" or "Opening hours" a notice may be all that two pages share.
    """
    mine = _words_of(headlines(page.headline, page.around.times_shown), page)
    theirs = _words_of(headlines(candidate.headline, never_shown), page)
    words = np.array(sorted(set().union(*mine, *theirs)), np.uint64)
    among = page.blocks.places.is_prose
    shared = max((len(one & other) for one in mine for other in theirs), default=0)
    return shared >= HEADLINE_WORDS or bool(page.blocks.said_in(candidate.sketch, words, among)[0])


def _words_of(parts: set[str], page: PageProfile) -> list[set[int]]:
    """Return the hashes of the words of each part of a headline, without function words."""
    little = function_words(page.language)
    words = (tokens_of_parts([part]).words for part in sorted(parts))
    return [set(hash_words([w for w in each if w not in little]).tolist()) for each in words]
