"""Pairs that people have judged, the clusters of a crawl -> its precision and recall.

A line of a file of labels is a JSON object {"a": URL, "b": URL, "same": true or false}. A pair
whose "same" is null is not judged yet. A crawl calls a pair the same if one page was dropped for
the other, or both for one page.

    precision   the share of pairs labelled "same" among the pairs called the same
    recall      the share of pairs called the same among the pairs labelled "same"

Each has a 95 % confidence interval, by Wilson's score (1927).
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from dedup_filter.errors import DedupError
from dedup_filter.estimate import Estimate, wilson
from dedup_filter.text.page_url import canonical


class Label(NamedTuple):
    """A pair of pages with the judgement of a person."""

    a: str
    """URL."""
    b: str
    same: bool


class Scores(NamedTuple):
    """The scores of a crawl on labelled pairs."""

    same: int
    """Pairs labelled "same" whose pages were both judged."""
    different: int
    unknown: int
    """Labels with a URL at which no page was judged, or that pair a page with itself."""
    precision: Estimate | None
    """None: no pair is called the same."""
    recall: Estimate | None
    """None: no pair is labelled "same"."""


def labels_in(lines: Iterable[bytes]) -> Iterator[Label]:
    """Read labels, one a line; blank lines, and pairs that are not judged yet, are skipped.

    Raises:
        DedupError: a line is no label.
    """
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        try:
            match json.loads(line):
                case {"a": str(a), "b": str(b), "same": bool(same)}:
                    yield Label(a, b, same)
                    continue
                case {"a": str(), "b": str(), "same": None}:
                    continue
        except (ValueError, RecursionError):
            pass
        raise DedupError(
            f'line {number} of the labels is not like {{"a": URL, "b": URL, "same": true}}'
        )


def scores(labels: Iterable[Label], clusters: Mapping[str, int | None]) -> Scores:
    """Score a crawl. `clusters`: canonical URL of each page -> the number of its cluster.

    Two labels on one pair count as one: the last.
    """
    judged: dict[frozenset[str], bool] = {}
    unknown = 0
    for label in labels:
        pair = frozenset(canonical(url) for url in (label.a, label.b))
        if len(pair) == 2 and pair <= clusters.keys():
            judged[pair] = label.same
        else:
            unknown += 1
    called = {pair for pair in judged if len({clusters[url] for url in pair}) == 1}
    same = {pair for pair, is_same in judged.items() if is_same}
    precision, recall = (wilson(len(called & same), len(of)) for of in (called, same))
    return Scores(len(same), len(judged) - len(same), unknown, precision, recall)
