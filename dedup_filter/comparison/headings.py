"""A page and a candidate on another host -> whether their headlines may be of one text.

They may if they are the same, but for a section number, a cut-off end or an opening ("Opinion: ..."
or the name of the paper), or if the shared text says the words that one has beyond the other:
editors write headlines from the words of a story. Other words may be values: the size of a shelf,
the town of a job. Of these there may be, if one headline

    stands in the other and has `HEADLINE_WORDS`    any, but no number
    has the form of the other                       none ("Plumber in Thirsk", "Plumber in Ely")
    is another one                                  half of the words of either, no number in each

If the candidate's host has the menus of the page, only the first is allowed, because pages of one
template may say in their text what tells them apart. Function words never count.

Knows no index and no rule. Cost: 0.1 ms for 1,000 words if the headlines differ.
"""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import product, takewhile

import numpy as np

from dedup_filter.comparison.candidates import Candidate
from dedup_filter.features.analysis import hash_words
from dedup_filter.features.languages import function_words
from dedup_filter.features.tokens import tokens_of_parts
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.fingerprints.sketch import BoolArray
from dedup_filter.text.headlines import headlines, is_same, is_within, without_section
from dedup_filter.thresholds import HALF, HEADLINE_WORDS

_KICKER = re.compile(r"[^\W\d]{1,16}:\s*(?=\w)")
"""One word in front of a headline: "Opinion: ..."."""
_OPENING = re.compile(r"[^\d:]{1,24}?(?::\s*|\s[-\u2010-\u2015|]\s)(?=\w)")
"""A few words in front of a headline, such as the name of the paper: "The Post - ..."."""


def are_of_one_text(page: PageProfile, candidate: Candidate) -> bool:
    """Return whether both headlines may be of one text. A page without a headline has any."""
    mine, theirs = headlines(page.headline, page.counts), headlines(candidate.headline, ())
    if not mine or not theirs:
        return True
    # The frame of the other host is not known, and may have an h1 of its own.
    others = theirs if len(theirs) == 1 else {*theirs, *candidate.headline.everything()}
    if any(_are_same(one, other) for one in mine for other in others):
        return True
    heads = np.array([text == page.headline.h1 for text in page.blocks.texts], np.bool_)
    # The text may begin with the words of the headline.
    pairs = [*_pairs(page, candidate, ~heads | (np.cumsum(heads) > 1))]
    nearest = max(len(pair.shared) for pair in pairs)
    return any(pair.is_told for pair in pairs if len(pair.shared) == nearest)


def are_rewritten(page: PageProfile, candidate: Candidate) -> bool:
    """Return whether either may be the headline that an editor wrote in place of the other."""
    return all(
        min(map(len, pair.words)) >= HEADLINE_WORDS
        and not (pair.are_of_one_form or pair.differ_in_numbers)
        for pair in _pairs(page, candidate, page.blocks.places.is_prose)
    )


def are_told_by_prose(page: PageProfile, candidate: Candidate) -> bool:
    """Return whether the shared prose says a word of the headlines, or they share a long one.

    Below "Contact" or "Opening hours" a notice may be all that two pages share.
    """
    pairs = _pairs(page, candidate, page.blocks.places.is_prose)
    return any(len(pair.shared) >= HEADLINE_WORDS or pair.said for pair in pairs)


def _are_same(one: str, other: str) -> bool:
    one, other = without_section(one), without_section(other)
    return (
        is_same(one, other)
        or is_same(_without_opening(one), other)
        or is_same(one, _without_opening(other))
    )


def _without_opening(text: str) -> str:
    opening = _OPENING.match(text)
    return text[opening.end() :] if opening else text


@dataclass(frozen=True)
class _Pair:
    """A headline of a page and one of a candidate, and what is known of their words."""

    texts: tuple[str, str]
    """Without section numbers, and without a kicker that only one has."""
    all_words: tuple[list[str], list[str]]
    words: tuple[list[str], list[str]]
    """The words of each but function words."""
    said: Set[str]
    """Words in phrases that the text of both has."""
    lacking: Set[str]
    """Words in phrases that the candidate lacks."""
    unknown: Set[str]
    """Words in phrases that the candidate's sketch does not sample."""
    has_same_menus: bool

    @property
    def is_told(self) -> bool:
        """Whether enough is known of the words that one has beyond the other."""
        untold = set[str]().union(*self._untold)
        if not (untold or self.has_same_menus) and any(self._beyond):
            return True
        if is_within(*sorted(self.texts, key=len)):
            return min(map(len, self.words)) >= HEADLINE_WORDS and not _has_number(untold)
        if self.has_same_menus or self.are_of_one_form or self.differ_in_numbers:
            return False
        # Words that stand in no sampled phrase beside the headline cannot be compared.
        known = (each & (self.said | self.lacking) for each in self._beyond)
        return any(each & self.said and len(each & self.said) >= HALF * len(each) for each in known)

    @cached_property
    def shared(self) -> Set[str]:
        """Words that both have."""
        return {*self.words[0]} & {*self.words[1]}

    @property
    def are_of_one_form(self) -> bool:
        """Whether half of the shorter begins or ends the other, or a word has the same place.

        "Warehouse operative in Ely" and "Warehouse operative in Thirsk" are of one form, and so are
        "Ely beat Thirsk" and "York beat Selby".
        """
        one, other = self.all_words
        both_ways = zip(one, other, strict=False), zip(one[::-1], other[::-1], strict=False)
        ends = (takewhile(lambda pair: pair[0] == pair[1], each) for each in both_ways)
        alike = sum(len([*each]) for each in ends)
        if len(one) == len(other):
            in_place = {each for each, there in zip(one, other, strict=True) if each == there}
            return bool(in_place & self.shared)
        return bool(self.shared) and alike >= HALF * min(len(one), len(other))

    @property
    def differ_in_numbers(self) -> bool:
        """Whether each has a number that the shared text does not say."""
        return all(map(_has_number, self._untold))

    @cached_property
    def _beyond(self) -> tuple[Set[str], Set[str]]:
        """Words that one has beyond the other."""
        one, other = ({*each} - self.shared for each in self.words)
        return one, other

    @cached_property
    def _untold(self) -> tuple[Set[str], Set[str]]:
        """Of these, the words that the shared text does not say.

        If one headline begins the other, its last word may be cut off.
        """
        one, other = (
            {word for word in beyond if _has_number({word}) or not whole.startswith(text)}
            - self.said
            - self.unknown
            for beyond, text, whole in zip(self._beyond, self.texts, self.texts[::-1], strict=True)
        )
        return one, other


def _has_number(words: Set[str]) -> bool:
    return any(character.isdigit() for word in words for character in word)


def _pairs(page: PageProfile, candidate: Candidate, among: BoolArray) -> Iterator[_Pair]:
    """Compare each headline of a page with each of a candidate, by the words of some blocks."""
    little = function_words(page.language)

    def words_of(text: str) -> list[str]:
        return [word for word in tokens_of_parts([text]).words if word not in little]

    def without_kickers(*texts: str) -> tuple[str, ...]:
        kickers = [begun[0] if (begun := _KICKER.match(text)) else "" for text in texts]
        rest = (*map(str.removeprefix, texts, kickers),)
        is_short = min(len(words_of(text)) for text in rest) < HEADLINE_WORDS
        are_values = all(kickers) and (is_short or len(set(kickers)) == 1)
        return texts if are_values else rest

    mine, theirs = (
        sorted(map(without_section, texts))
        for texts in (headlines(page.headline, page.counts), headlines(candidate.headline, ()))
    )
    words = sorted({word for text in (*mine, *theirs) for word in words_of(text)})
    hashes = hash_words(words)
    of_words = dict(zip(words, hashes.tolist(), strict=True))
    said, lacking, unknown = (
        {word for word, number in of_words.items() if number in found}
        for found in page.blocks.said_in(candidate.sketch, np.sort(hashes), among)
    )
    for texts in product(mine, theirs):
        one, other = without_kickers(*texts)
        all_words = tokens_of_parts([one]).words, tokens_of_parts([other]).words
        content = words_of(one), words_of(other)
        menus = candidate.has_same_menus
        yield _Pair((one, other), all_words, content, said, lacking, unknown, menus)
