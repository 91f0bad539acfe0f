"""Pages of an index -> a suggested `max_distance` and `min_similarity`, and the reasons in words.

There are no labels of the pages that a reader would call the same. So the suggestion uses only the
pages themselves:

    max_distance     the least k beyond which fingerprints find hardly another page, if it does not
                     find too many by chance
    min_similarity   the similarity with the fewest pages near it, whose verdict is uncertain

The suggestion differs from the defaults only if the difference is clear; with too few pages or
duplicates it is the defaults. `benchmarks/tune.py` measures how near it is to the best setting.
"""

from typing import NamedTuple

import numpy as np

from dedup_filter.comparison.candidates import MOST_COMPARED
from dedup_filter.config import FilterConfig
from dedup_filter.hamming.layout import MAX_DISTANCE
from dedup_filter.hamming.pairs import IntpArray
from dedup_filter.review.tuning.chance import Chance
from dedup_filter.review.tuning.record_pairs import FloatArray, Pages, Pairs, originals_at
from dedup_filter.wording import counted

DISTANCE, SIMILARITY = FilterConfig.max_distance, 0.8
"""The defaults."""
_CHOICES = (0.75, 0.8, 0.85)
"""Values of `min_similarity` that may be suggested. Below, an original may lack more than a quarter
of a dropped page; above, pages that were edited in a few places are kept."""
_NEAR_IT = 0.025
"""Pages whose similarity is this near to a bound may change sides by chance."""
_NEARLY_ALL = 0.995
"""Share of the pages dropped at `MAX_DISTANCE` that a smaller k must find."""
_LEAST_PAGES, _LEAST_NEAR = 100, 20
"""With fewer pages, or near-duplicates among them, the defaults are suggested."""
_MOST_BY_CHANCE = MOST_COMPARED / 4
"""Unrelated pages that a look-up may find: with more, they push out candidates."""


class Suggestion(NamedTuple):
    """A setting, and why."""

    max_distance: int
    min_similarity: float
    is_told: bool
    """Whether the pages are enough for a suggestion; if not, these are the defaults."""
    reasons: list[str]


def suggestion(pages: Pages, pairs: Pairs, chance: Chance | None, planned: int) -> Suggestion:
    """Suggest a setting for `planned` pages like these."""
    # Pages that phrases find at any distance do not depend on `max_distance`.
    pairs = pairs._replace(reach=pairs.distances)
    default = originals_at(pages, pairs, DISTANCE, SIMILARITY)
    exact = exact_copies(pages)
    near = count_dropped(default) - exact
    if pages.size < _LEAST_PAGES or near < _LEAST_NEAR:
        return Suggestion(
            DISTANCE, SIMILARITY, is_told=False, reasons=[_nothing(pages.size, exact, near)]
        )
    share, why_share = _similarity(pages, pairs)
    bits, why_bits = _distance(pages, pairs, share, chance, planned)
    return Suggestion(bits, share, is_told=True, reasons=[why_bits, why_share])


def _nothing(size: int, exact: int, near: int) -> str:
    what = "no duplicates" if not (exact or near) else f"{counted(near, 'near-duplicate')}"
    also = f" (and {counted(exact, 'exact copy').replace('copys', 'copies')})" if exact else ""
    return (
        f"these are the defaults: {counted(size, 'page')} with {what}{also} tell nothing; "
        f"{_LEAST_PAGES} pages with {_LEAST_NEAR} near-duplicates are the least"
    )


def _similarity(pages: Pages, pairs: Pairs) -> tuple[float, str]:
    """Choose the similarity with the fewest pages near it, if the difference is clear."""
    best = _best_limits(pages, pairs)
    beside = {each: int(np.count_nonzero(abs(best - each) <= _NEAR_IT + 1e-9)) for each in _CHOICES}
    here = beside[SIMILARITY]
    fewest = min(_CHOICES, key=lambda each: (beside[each], round(abs(each - SIMILARITY), 9)))
    # Twice the standard error of a difference of two counts.
    is_clear = beside[fewest] + 2 * (beside[fewest] + here) ** 0.5 < here
    pages_beside = ", ".join(f"{beside[each]:,} beside {each:g}" for each in _CHOICES)
    if is_clear:
        return fewest, (
            f"min_similarity {fewest:g}: fewest pages lie near it, where a little would decide "
            f"({pages_beside})"
        )
    return SIMILARITY, (
        f"min_similarity {SIMILARITY:g}, the default: no other from {_CHOICES[0]:g} to "
        f"{_CHOICES[-1]:g} has clearly fewer pages near it, where a little would decide "
        f"({pages_beside})"
    )


def _best_limits(pages: Pages, pairs: Pairs) -> FloatArray:
    """Return the largest `min_similarity` at which each page repeats any earlier one."""
    best = np.full(pages.size, -1.0)
    np.maximum.at(best, pairs.later, pairs.limits)
    return best


def _distance(
    pages: Pages, pairs: Pairs, share: float, chance: Chance | None, planned: int
) -> tuple[int, str]:
    """Choose the least distance that finds nearly all; a smaller one if chance finds too many."""
    found = [
        count_dropped(originals_at(pages, pairs, bits, share)) for bits in range(MAX_DISTANCE + 1)
    ]
    most = found[-1]
    bits = next(each for each, count in enumerate(found) if count >= _NEARLY_ALL * most)
    by_chance = [
        0.0 if chance is None else chance.candidates(k, planned) for k in range(len(found))
    ]
    reason = (
        f"max_distance {bits}: it finds {found[bits]:,} of the {most:,} pages that {MAX_DISTANCE} "
        f"bits find"
        + (f", and {bits - 1} bits {found[bits - 1]:,}" if bits else "")
        + f"; of {counted(planned, 'page')}, {by_chance[bits]:.2g} unrelated ones are that near to "
        f"each, and {by_chance[-1]:.2g} within {MAX_DISTANCE} bits"
    )
    allowed = bits
    while allowed and by_chance[allowed] > _MOST_BY_CHANCE:
        allowed -= 1
    if allowed == bits:
        return bits, reason
    return allowed, (
        f"max_distance {allowed}: {bits} would find more ({found[bits]:,} instead of "
        f"{found[allowed]:,} pages here), but of {counted(planned, 'page')} {by_chance[bits]:,.0f} "
        f"unrelated ones are that near to each by chance, and only the {MOST_COMPARED} nearest are "
        "compared"
    )


def count_dropped(originals: IntpArray) -> int:
    """Count the pages that repeat another, in the result of `originals_at`."""
    return int(np.count_nonzero(originals >= 0))


def exact_copies(pages: Pages) -> int:
    """Count the pages that equal an earlier one: dropped at every setting."""
    return int(np.count_nonzero(pages.twins != np.arange(pages.size)))
