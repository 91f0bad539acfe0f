"""Pairs that people have judged, and pages -> the scores of each setting, and the best setting.

A line of a file of labels is a JSON object {"a": URL, "b": URL, "same": true or false}. A setting
calls a pair "same" if the later page repeats the earlier one with it: exactly, or with
`min_similarity` and within `max_distance` bits, or enough shared phrases. So each pair is judged
by itself, independently of other pages.

    precision   the share of pairs labelled "same" among the pairs called "same"
    recall      the share of pairs called "same" among the pairs labelled "same"
    f1          the harmonic mean of the two

Each score has a 95 % confidence interval, by Wilson's score (1927). F1 is 2 s / (1 + s), where s
is the share of pairs both labelled and called "same" among the pairs labelled or called "same". So
the ends of the interval of s give the ends of the interval of F1.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from dedup_filter.errors import DedupError
from dedup_filter.estimate import Estimate, wilson
from dedup_filter.hamming.layout import MAX_DISTANCE
from dedup_filter.hamming.pairs import IntpArray
from dedup_filter.review.tuning.record_pairs import Alike, FloatArray, Pages
from dedup_filter.review.tuning.suggestion import DISTANCE, SIMILARITY
from dedup_filter.review.tuning.tune import SHARES
from dedup_filter.store.sqlite.page_reader import PageReader
from dedup_filter.text.page_url import canonical

_URLS = "SELECT id, CAST(url AS TEXT) FROM pages ORDER BY id"


class Label(NamedTuple):
    """A pair of pages with the judgement of a person."""

    a: str
    """URL."""
    b: str
    same: bool


class Rightness(NamedTuple):
    """The scores of a setting on labelled pairs; None: there is no pair to count."""

    max_distance: int
    min_similarity: float
    precision: Estimate | None
    recall: Estimate | None
    f1: Estimate | None


class Labelled(NamedTuple):
    """The scores of all settings on labelled pairs."""

    same: int
    """Pairs labelled "same" whose pages are both in the index."""
    different: int
    unknown: int
    """Labels with a URL that has no page in the index, or that pair a page with itself."""
    settings: list[Rightness]
    """By `max_distance`, then `min_similarity`."""
    best: Rightness | None
    """The setting with the largest F1; of several the nearest to the defaults. None: no result."""
    reason: str


def labels_in(lines: Iterable[bytes]) -> Iterator[Label]:
    """Read labels, one a line; blank lines are skipped. Raises DedupError: a line is no label."""
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        try:
            read: Any = json.loads(line)
            label = Label(read["a"], read["b"], read["same"])
        except (ValueError, LookupError, TypeError, RecursionError):
            label = None
        types = (str, str, bool)
        if label is None or any(type(v) is not of for v, of in zip(label, types, strict=True)):
            raise DedupError(
                f'line {number} of the labels is not like {{"a": URL, "b": URL, "same": true}}'
            )
        yield label


def rightness(called: int, right: int, same: int) -> tuple[Estimate | None, ...]:
    """Return precision, recall and F1; `right`: pairs labelled and called the same."""
    share = wilson(right, called + same - right)
    f1 = None if share is None else Estimate(*(2 * each / (1 + each) for each in share))
    return wilson(right, called), wilson(right, same), f1


def labelled(reader: PageReader, pages: Pages, labels: Iterable[Label]) -> Labelled:
    """Score every setting by labelled pairs. A URL with several pages means its first page."""
    places: dict[str, int] = {}
    for place, (_, url) in enumerate(reader.rows(_URLS)):
        places.setdefault(canonical(url), place)
    found: dict[tuple[int, int], bool] = {}
    unknown = 0
    for label in labels:
        one, other = (places.get(canonical(url)) for url in (label.a, label.b))
        if one is None or other is None or one == other:
            unknown += 1
        else:
            found[max(one, other), min(one, other)] = label.same
    pairs = np.array(list(found), np.intp).reshape(-1, 2)
    later, earlier = pairs[:, 0], pairs[:, 1]
    are_same = np.array(list(found.values()), np.bool_)
    reach, limits = _measured(reader, pages, later, earlier)
    settings = []
    for bits in range(MAX_DISTANCE + 1):
        for share in SHARES:
            called = (reach <= bits) & (limits >= share)
            right = int(np.count_nonzero(called & are_same))
            scores = rightness(int(called.sum()), right, int(are_same.sum()))
            settings.append(Rightness(bits, share, *scores))
    same = int(are_same.sum())
    best, reason = _best(settings, same, len(are_same) - same)
    return Labelled(same, len(are_same) - same, unknown, settings, best, reason)


def _measured(
    reader: PageReader, pages: Pages, later: IntpArray, earlier: IntpArray
) -> tuple[IntpArray, FloatArray]:
    """Return the least k at which pages are compared, and the largest `min_similarity` to match."""
    distances = np.bitwise_count(pages.fingerprints[later] ^ pages.fingerprints[earlier])
    was_found = (pages.originals[later] == earlier) & (pages.distances[later] >= 0)
    distances = np.where(was_found, pages.distances[later], distances).astype(np.intp)
    alike = Alike(reader, pages, np.unique(np.concatenate([later, earlier])))
    _, limits, reach = alike.measure(later, earlier, distances)
    are_long = pages.are_long[later] & pages.are_long[earlier]
    are_twins = pages.twins[later] == pages.twins[earlier]
    return np.where(are_twins, 0, reach), np.where(
        are_twins, 1.0, np.where(are_long | was_found, limits, -1.0)
    )


def _best(settings: list[Rightness], same: int, different: int) -> tuple[Rightness | None, str]:
    if not (same and different):
        which = "the same" if not same else "different"
        return None, f"no labelled pair whose pages are here is {which}: nothing is told"
    best = max(
        settings,
        key=lambda each: (
            each.f1.value if each.f1 else 0.0,
            -abs(each.min_similarity - SIMILARITY),
            each.max_distance,
        ),
    )
    usual = next(each for each in settings if each[:2] == (DISTANCE, SIMILARITY))
    if best.f1 is None or usual.f1 is None or best is usual:
        return best, "no other setting does better than the defaults"
    if usual.f1.high < best.f1.low:
        return best, "the defaults do worse, beyond what chance makes of so few labels"
    return best, (
        f"so few labels do not tell it from the defaults: F1 {best.f1.value:.3f} and "
        f"{usual.f1.value:.3f}, and the intervals overlap"
    )
