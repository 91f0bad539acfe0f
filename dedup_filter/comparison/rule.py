"""A page and a candidate -> the text that the candidate lacks, if it lacks more than is allowed.

One rule: a page repeats a candidate that lacks next to nothing of the page's blocks, without the
frame of its host. A block is prose, a line (at most `LINE_WORDS` words) or links. With
`min_similarity=None` only fingerprints decide (Manku et al. 2007). Allowed differences:

                  another host                         the same host
    headline      one stands in the other, or the      nothing but a section number or a cut-off
                  shared text says what differs        end
    prose         1 - min_similarity of the words;     half of that, and no paragraph
    lines         half of that for a part of a         none, or max_missing words, or 1 -
                  larger page                          min_similarity of words past `LONG_WORDS`
    beside        not compared                         links; once the frame is known, any text:
                                                       half as many words as the article's prose,
                                                       a third for links within the article
    hidden text   not compared                         the same as the candidate's, or less than is
                                                       shown (than is its own, if it awaits scripts)

Editors write a headline of their own from the words of the story. So at least half of the words
that one headline has beyond the other must stand in phrases that both pages have. The town in
"Plumber in Thirsk" is not in the text that the page shares with "Plumber in Ely".

If two hosts have the same menus, they count as one host until the frame of the page's host is
known; but only one of the two headlines must stand in the other. An article has `ARTICLE_WORDS`
words of prose that both pages have; text outside its body is beside it. Text that other pages of
the host have shown counts as missing only if it is a line of the article: a size, a price. A page
with less text than its original repeats it.

Measures: docs/decisions/0013. Knows no index and no store; the caller brings the candidates.
"""

from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

import numpy as np

from dedup_filter.comparison.candidates import Candidate
from dedup_filter.features.analysis import hash_words
from dedup_filter.features.languages import function_words
from dedup_filter.features.tokens import tokens_of_parts
from dedup_filter.fingerprints.profile import (
    UNREAD_DIGEST,
    WAITING_DIGEST,
    CountedPassage,
    PageProfile,
)
from dedup_filter.fingerprints.sketch import contained
from dedup_filter.model import MissingLine, Refusal, Rule
from dedup_filter.text.headlines import are_within, headlines, is_headed_alike, never_shown
from dedup_filter.thresholds import (
    ARTICLE_WORDS,
    EDGE_LINES,
    FRAME_TIMES,
    HALF,
    LONG_WORDS,
    MOST,
    PARAGRAPH_WORDS,
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
            allowed = _Allowed(1 - least, max_missing)
            blocks = page.passages.counted_in(candidate.sketch)
            kept = [each for each in blocks if each.passage.text not in without]
            refusal = _refusal(page, candidate, kept, share, allowed, is_part=is_part)
        if refusal is not None:
            refusal = refusal._replace(page=candidate.page, distance=candidate.distance)
        found.append(Examined(candidate, share, refusal))
    return sorted(found, key=lambda each: (each.candidate.distance, -each.share))


class _Allowed(NamedTuple):
    """How much may be missing, by the options."""

    share: float
    """Share of the words."""
    words: int
    """Words of lines and links, on one host."""


def _refusal(
    page: PageProfile,
    candidate: Candidate,
    blocks: list[CountedPassage],
    there: float,
    allowed: _Allowed,
    *,
    is_part: bool,
) -> Refusal | None:
    """Return the text of some blocks that a candidate lacks if it is more than allowed.

    `there`: share of the page's phrases in the candidate. `is_part`: the candidate is larger.
    """
    headline, around, share = page.headline, page.around, allowed.share
    if not are_headed_alike(page, candidate):
        return Refusal("headline", 0, 0, headline.h1 or headline.title)
    if around.is_view:
        blocks = _without_edges(blocks)
    # The headline is compared by itself; in the original other text may follow it.
    blocks = [each for each in blocks if not headline.is_made_of(each.passage.text)]
    on_site = candidate.is_same_host or (candidate.has_same_menus and not around.is_frame_known)
    refusal = _refusal_on_site(page, candidate, blocks, allowed) if on_site else None
    if refusal or (on_site and not around.is_plain):
        return refusal
    of_part = HALF * share if is_part or on_site else share
    if around.is_plain:
        # Nothing stands between the lines of a plain text: phrases across line ends count.
        words = _words(blocks)
        most = max(of_part * words, allowed.words if on_site else 0)
        return _beyond("words", (1 - there) * words, most, blocks)
    main = [each for each in blocks if each.passage.in_main]
    new = [each for each in main if not each.passage.times]
    held = [each for each in blocks if page.texts[candidate.text].holds(each.passage)]
    # A front page repeats none of its articles, whichever of them found it.
    is_more = around.is_frame_known and _words(held) < HALF * _words(main)
    return _over(new, of_part) or _over(held, of_part) or (_over(main, share) if is_more else None)


def _refusal_on_site(
    page: PageProfile, candidate: Candidate, blocks: Sequence[CountedPassage], allowed: _Allowed
) -> Refusal | None:
    """Return the text that a candidate lacks: one of the same host, or of one with its menus."""
    is_same, is_known = candidate.is_same_host, page.around.is_frame_known
    # While the frame is not known, any block that other pages have shown may be frame.
    main = [each for each in blocks if each.passage.in_main]
    own = {each for each in main if is_known or not each.passage.times}
    # Text that waits for a script may be the only text of the page besides its frame.
    of_waiting = page.waiting_words, WAITING_DIGEST, own
    for hidden, part, shown in (page.unread_words, UNREAD_DIGEST, main), of_waiting:
        if hidden > _words(shown) and page.digest[part] != candidate.digest[part]:
            return Refusal("hidden", hidden, _words(shown), "")
    blocks = [
        each
        for each in blocks
        if (each.passage.times < FRAME_TIMES or each.passage.is_value)
        and (is_same or each.passage.is_compared_elsewhere)
    ]
    blocks = _without_beside(blocks, own, is_frame_known=is_known)
    new = [each for each in blocks if not each.passage.times]
    told = [each for each in blocks if not each.passage.times or each.passage.is_value]
    are_few = _words(new) < ARTICLE_WORDS
    lost = {each: words for each in told if (words := _lost_words(each, are_few=are_few))}
    if paragraph := next((each for each in lost if each.words >= PARAGRAPH_WORDS), None):
        return Refusal("paragraph", paragraph.words, 0, paragraph.passage.text)
    article = [each for each in blocks if each in own and each.passage.kind != "link"]
    share, words = allowed.share, sum(lost.values())
    of_long = share * max(sum(e.words - e.missing for e in article) - LONG_WORDS, 0)
    if refusal := _beyond("lines", words, max(of_long, allowed.words), list(lost)):
        return refusal._replace(lines=tuple(MissingLine(each.passage.text) for each in lost))
    if lost and words <= allowed.words:
        blocks, new = ([each for each in some if each not in lost] for some in (blocks, new))
    held = page.texts[candidate.text].holds
    said = [each for each in blocks if held(each.passage) or not each.passage.times]
    if is_same:
        return _over(said, HALF * share)
    return _beyond("words", _missing_of(new), share * _words(said), new)


def _without_beside(
    blocks: Sequence[CountedPassage], own: Set[CountedPassage], *, is_frame_known: bool
) -> list[CountedPassage]:
    """Leave out new text beside an article, up to a share of the article's prose.

    Links within its body count against prose in `own`: the introduction of a list is no article.
    """
    prose = [each for each in blocks if each.passage.kind == "prose" and each.passage.in_main]
    shared, of_own = (sum(e.words - e.missing for e in some) for some in (prose, own & {*prose}))
    if shared < ARTICLE_WORDS:
        return [*blocks]
    left_out = {
        each
        for each in blocks
        if not each.passage.times
        and (each.passage.kind == "link" or (each.passage.is_beside and is_frame_known))
    }
    unframed = {each for each in left_out if not each.passage.is_framed}
    outside = {each for each in unframed if each.passage.is_beside}
    for some, most in (outside, HALF * shared), (unframed - outside, THIRD * of_own):
        if sum(each.missing for each in some) > most:
            left_out -= some
    return [each for each in blocks if each not in left_out]


def _lost_words(block: CountedPassage, *, are_few: bool) -> float:
    """Count the words of a block that a candidate lacks; of prose only if nearly all is missing.

    `are_few`: few words of the page are new. Then a new line may be the only difference from other
    pages, and its phrases that the sketch does not sample count as missing.
    """
    if block.passage.kind == "prose":
        return block.missing if block.there < (1 - MOST) * block.sampled else 0
    known = block.phrases if are_few and not block.passage.times else block.sampled
    return block.words * (1 - block.there / known) if known else 0


def _words(blocks: Iterable[CountedPassage]) -> int:
    return sum(each.words for each in blocks)


def _beyond(
    rule: Rule, words: float, allowed: float, blocks: Sequence[CountedPassage]
) -> Refusal | None:
    """Return the missing words of some blocks if they are more than allowed."""
    if words <= allowed + 1e-9:
        return None
    text = next((each.passage.text for each in blocks if each.missing), "")
    return Refusal(rule, words, allowed, text)


def _over(blocks: Sequence[CountedPassage], share: float) -> Refusal | None:
    """Return the missing words of some blocks if they are more than a share of all their words."""
    return _beyond("words", _missing_of(blocks), share * _words(blocks), blocks)


def _missing_of(blocks: Sequence[CountedPassage]) -> float:
    """Estimate the words of some blocks that a candidate lacks, from all sampled phrases."""
    sampled = sum(each.sampled for each in blocks)
    there = sum(each.there for each in blocks)
    return _words(blocks) * (1 - there / sampled if sampled else 1)


def _without_edges(blocks: list[CountedPassage]) -> list[CountedPassage]:
    """Leave out the few lines of a print view above and below all blocks that the candidate has."""
    known = [number for number, each in enumerate(blocks) if 2 * each.there > each.sampled]
    edges = {
        number
        for number, each in enumerate(blocks)
        if known and not known[0] <= number <= known[-1] and each.passage.kind != "prose"
    }
    if len(edges) > EDGE_LINES or any(blocks[number].passage.has_links for number in edges):
        return blocks
    return [each for number, each in enumerate(blocks) if number not in edges]


def are_headed_alike(page: PageProfile, candidate: Candidate) -> bool:
    """Whether a page and a candidate may be one text, by their headlines.

    Cost: 0.1 ms for 1,000 words if they differ.
    """
    headline, other, times_shown = page.headline, candidate.headline, page.around.times_shown
    if candidate.is_same_host:
        return is_headed_alike(headline, other, times_shown)
    # Editions of a plain text begin with another date.
    if (page.around.is_plain and not headline.title) or are_within(headline, other, times_shown):
        return True
    return not candidate.has_same_menus and _are_told_by_shared_text(page, candidate)


def _are_told_by_shared_text(page: PageProfile, candidate: Candidate) -> bool:
    mine = _words_of(headlines(page.headline, page.around.times_shown), page)
    theirs = _words_of(headlines(candidate.headline, never_shown), page)
    words = np.array(sorted(set().union(*mine, *theirs)), np.uint64)
    said, lacking = page.passages.said_in(candidate.sketch, words, page.headline.h1)
    for one in mine:
        for other in theirs:
            # Words that stand in no sampled phrase beside the headline cannot be compared.
            for beyond in ((one - other) & (said | lacking), (other - one) & (said | lacking)):
                if beyond & said and len(beyond & said) >= HALF * len(beyond):
                    return True
    return False


def _words_of(parts: set[str], page: PageProfile) -> list[set[int]]:
    """Return the hashes of the words of each part of a headline, without function words."""
    little = function_words(page.language)
    words = (tokens_of_parts([part]).words for part in sorted(parts))
    return [set(hash_words([w for w in each if w not in little]).tolist()) for each in words]
