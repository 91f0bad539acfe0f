"""A page and the stored pages that are like it -> which of them it repeats, if any.

    candidates within k bits -> those similar enough, best first -> the one it is said to repeat

Which of several pages that it repeats a page is said to repeat, and whether it does at all:

    1. one that was seen in this crawl      it is a duplicate of that
    2. one of an earlier crawl at its URL   it is that page, seen again: "revisit"
    3. another of an earlier crawl          it is a duplicate of that

Knows no index and no store: who asks brings what they have.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dedup_filter.model import Outcome, Verdict
from dedup_filter.profile import PageProfile
from dedup_filter.store import Matches

__all__ = ["MOST_COMPARED", "Comparison", "Overtaken", "choose", "similar_enough"]

MOST_COMPARED = 64
"""Candidates of one page whose sketches are compared: 0.2 ms. Real near-duplicates are among the
nearest; elsewhere pages have a handful of candidates."""


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


def similar_enough(
    near: Sequence[int], estimates: Sequence[float], least: float | None
) -> Sequence[int]:
    """Return those of some candidates that are similar enough, the most similar first.

    They are given nearest first, as numbers in the list of estimates. With `least` None all are
    similar enough, in the order that they had.
    """
    if least is None:
        return near
    alike = (number for number in near if estimates[number] >= least)
    # The sort is stable: of equally similar ones the nearest, then the earliest.
    return sorted(alike, key=lambda number: -estimates[number])


def choose(
    ranked: Sequence[int], matches: Matches, url_key: int, is_ours: Callable[[int], bool]
) -> tuple[int, bool]:
    """Choose one of the matches, given best first; tell whether it is the page itself.

    `is_ours` tells of a crawl whether it is the one that is going on.
    """
    for number in ranked:
        if is_ours(matches.crawls[number]):
            return number, False
    for number in ranked:
        if matches.url_keys[number] == url_key:
            return number, True
    return ranked[0], False
