"""Pages of an index -> the effects of `max_distance` and `min_similarity`; a suggestion.

    nearest    the distance of the nearest earlier page of each page: near 0 for copies, else given
               by chance, about 15 to 25 bits
    steps      for each k, its effects: more pairs, their similarity, pages dropped, chance matches
    shares     for each `min_similarity`, the pages dropped
    border     pairs that a slightly different setting would include or exclude
    suggested  a setting, and the reasons in words: see `suggestion`

Cost: see `record_pairs`; 10 s for 100,000 pages with 160,000 pairs.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dedup_filter.comparison.candidates import MOST_COMPARED
from dedup_filter.hamming.layout import MAX_DISTANCE
from dedup_filter.hamming.pairs import FINGERPRINT_BITS
from dedup_filter.review.tuning.chance import Chance, chance_of, fair_rate
from dedup_filter.review.tuning.record_pairs import (
    BoolArray,
    FloatArray,
    Pages,
    Pairs,
    originals_at,
)
from dedup_filter.review.tuning.suggestion import (
    Suggestion,
    count_dropped,
    exact_copies,
    suggestion,
)

SHARES = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
"""Values of `min_similarity` that are tried."""
_SAMPLE = 1_000
"""Pages whose nearest one is searched among all beyond `MAX_DISTANCE`: 0.5 s for 100,000 pages."""
_SEED = 20_070_508


class Step(NamedTuple):
    """The effect of one more bit of `max_distance`, at the suggested `min_similarity`."""

    max_distance: int
    pairs: int
    """Pairs of pages that differ in exactly `max_distance` bits."""
    mean_similarity: float | None
    """Mean share of the later page that the earlier one has in these pairs; None: no pair."""
    confirmed: int
    """Pairs in which the later page repeats the earlier one."""
    dropped: int
    """Pages dropped with this `max_distance`."""
    by_chance: float
    """Unrelated pages that a look-up finds among the planned number of pages."""
    is_counted: bool
    """Whether `by_chance` was counted, not extrapolated."""
    by_fair_bits: float
    """`by_chance` if bits were fair coin tosses: a lower bound."""


class Border(NamedTuple):
    """A pair of pages at the border of the suggested setting."""

    kind: str
    """Which border, and on which side: "max_distance, inside"."""
    page: int
    """The number of the later page."""
    original: int
    """The number of the earlier page."""
    distance: int
    similarity: float


class Tuning(NamedTuple):
    """The effects of settings on the pages of an index."""

    pages: int
    long: int
    """Pages that have a fingerprint; the others have too little text to be near another."""
    exact: int
    """Pages that repeat an earlier one exactly: dropped at every setting."""
    planned: int
    """The number of pages for which chance matches are computed."""
    nearest: dict[int, float]
    """Distance -> how many pages have their nearest earlier page there; beyond `MAX_DISTANCE`
    estimated by a sample."""
    chance: Chance | None
    steps: list[Step]
    shares: dict[float, int]
    """By `min_similarity`, the pages dropped with the suggested `max_distance`."""
    border: list[Border]
    suggested: Suggestion
    notes: list[str]


def tune(pages: Pages, pairs: Pairs, *, planned: int | None = None, examples: int = 3) -> Tuning:
    """Compute the effects of settings on the pages of an index.

    `planned`: how many pages the next index will have; None: as many. `examples`: number of pairs
    of each kind at the border.
    """
    planned = pages.size if planned is None else planned
    chance = chance_of(pages, pairs)
    suggested = suggestion(pages, pairs, chance, planned)
    k, share = suggested[:2]
    found = {
        bits: count_dropped(originals_at(pages, pairs, bits, share))
        for bits in range(MAX_DISTANCE + 1)
    }
    return Tuning(
        pages.size,
        int(pages.are_long.sum()),
        exact_copies(pages),
        planned,
        _nearest(pages, pairs),
        chance,
        [_step(pairs, bits, share, found[bits], chance, planned) for bits in found],
        {each: count_dropped(originals_at(pages, pairs, k, each)) for each in SHARES},
        list(_border(pages, pairs, suggested, examples)),
        suggested,
        list(_notes(pairs)),
    )


def _notes(pairs: Pairs) -> Iterator[str]:
    if pairs.most_of_page < MOST_COMPARED:
        yield (
            f"there are many pairs: of each page only the {pairs.most_of_page} nearest earlier "
            "ones were compared"
        )
    if pairs.by_host:
        yield "compared are pages of one host only, as in the crawl (scope)"


def _nearest(pages: Pages, pairs: Pairs) -> dict[int, float]:
    """Count pages by the distance of the nearest earlier page; the first of all has none."""
    counts = np.zeros(FINGERPRINT_BITS + 1)
    counts[0] = exact_copies(pages)
    places = np.flatnonzero(pages.are_long & (pages.twins == np.arange(pages.size)))
    least = np.full(pages.size, FINGERPRINT_BITS + 1)
    np.minimum.at(least, pairs.later, pairs.distances)
    near = least[places]
    counts += np.bincount(near[near <= MAX_DISTANCE], minlength=FINGERPRINT_BITS + 1)
    far = np.flatnonzero(near > MAX_DISTANCE)
    far = far[far > 0]  # the first has no earlier page
    chosen = np.random.default_rng(_SEED).permutation(far)[:_SAMPLE]
    prints, hosts = pages.fingerprints[places], pages.hosts[places]
    found = []
    for here in chosen.tolist():
        distances = np.bitwise_count(prints[:here] ^ prints[here])
        if pairs.by_host:
            distances = distances[hosts[:here] == hosts[here]]
        found += [int(distances.min())] if len(distances) else []
    if found:
        counts += np.bincount(found, minlength=FINGERPRINT_BITS + 1) * (len(far) / len(chosen))
    return {bits: float(count) for bits, count in enumerate(counts) if count}


def _step(
    pairs: Pairs, bits: int, share: float, dropped: int, chance: Chance | None, planned: int
) -> Step:
    added = pairs.distances == bits
    similarities = pairs.shares[added]
    return Step(
        bits,
        len(similarities),
        float(similarities.mean()) if len(similarities) else None,
        int(np.count_nonzero(pairs.limits[added] >= share)),
        dropped,
        0.0 if chance is None else chance.candidates(bits, planned),
        chance is not None and chance.are_counted[bits],
        fair_rate(bits) * planned,
    )


def _border(pages: Pages, pairs: Pairs, suggested: Suggestion, examples: int) -> Iterator[Border]:
    """Yield pairs just inside and just outside the setting, at most one for each later page."""
    bits, share = suggested[:2]
    originals = originals_at(pages, pairs, bits, share)
    is_named = originals[pairs.later] == pairs.earlier
    is_kept = originals[pairs.later] < 0
    # A page that was dropped is no original, wherever the border is.
    is_kept_pair = is_kept & (originals[pairs.earlier] < 0)
    near, enough = pairs.distances <= bits, pairs.limits >= share
    kinds: dict[str, tuple[BoolArray, FloatArray]] = {
        "max_distance, inside": (is_named & near, -pairs.distances.astype(np.float64)),
        "max_distance, outside": (
            is_kept_pair & ~near & enough,
            pairs.distances.astype(np.float64),
        ),
        "min_similarity, inside": (is_named, pairs.limits),
        "min_similarity, outside": (
            is_kept_pair & near & ~enough & (pairs.limits >= 0),
            -pairs.limits,
        ),
    }
    for kind, (are_meant, order) in kinds.items():
        places = np.flatnonzero(are_meant)
        shown: set[int] = set()
        for pair in places[np.argsort(order[places], kind="stable")].tolist():
            later = int(pairs.later[pair])
            if len(shown) < examples and later not in shown:
                shown.add(later)
                yield Border(
                    kind,
                    int(pages.numbers[later]),
                    int(pages.numbers[pairs.earlier[pair]]),
                    int(pairs.distances[pair]),
                    float(pairs.shares[pair]),
                )
