"""Stream precision, recall and F1 of verdicts, against labelled pairs.

Of the pages that have an earlier true near-duplicate, how many were dropped (recall); of the
dropped, how many named a true one (precision). A pair that is "grey" is never scored: neither
a drop that names it nor, where a true one exists, the naming of a grey one instead.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

__all__ = ["Labels", "Score", "score", "score_by"]


class Labels:
    """Which pairs of pages are near-duplicates ("dup"), which in between ("grey")."""

    def __init__(self, pairs: Iterable[tuple[str, str, str]]) -> None:
        self._labels: dict[str, dict[str, str]] = defaultdict(dict)
        for one, other, label in pairs:
            self._labels[one][other] = self._labels[other][one] = label

    def of(self, one: str, other: str) -> str:
        """Give the label of a pair; one that is not listed is "non"."""
        return self._labels.get(one, {}).get(other, "non")

    def duplicates(self, page: str) -> list[str]:
        """List the true near-duplicates of a page."""
        return [other for other, label in self._labels.get(page, {}).items() if label == "dup"]


class Score(NamedTuple):
    """The figures of one run, or of one kind of page in it."""

    due: int
    caught: int
    right: int
    wrong: int

    @property
    def precision(self) -> float:
        """Share of right ones among the drops that are scored; 1 if there are none."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Share of the pages with an earlier near-duplicate that were dropped for it."""
        return self.caught / self.due if self.due else float("nan")

    @property
    def f1(self) -> float:
        """Harmonic mean of the two."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def score(
    stream: Sequence[str],
    labels: Labels,
    originals: Mapping[str, str],
    pages: Iterable[str] | None = None,
) -> Score:
    """Score the originals named for dropped pages; `pages`: only these of the stream."""
    position = {page: number for number, page in enumerate(stream)}
    due = caught = right = wrong = 0
    for page in stream if pages is None else pages:
        has_earlier = any(
            position.get(other, len(stream)) < position[page] for other in labels.duplicates(page)
        )
        due += has_earlier
        if page not in originals:
            continue
        original = originals[page]
        is_earlier = position.get(original, len(stream)) < position[page]
        label = labels.of(page, original) if is_earlier else "non"
        right += label == "dup"
        wrong += label == "non"
        caught += has_earlier and label != "non"
    return Score(due, caught, right, wrong)


def score_by(
    kinds: Mapping[str, str], stream: Sequence[str], labels: Labels, originals: Mapping[str, str]
) -> dict[str, Score]:
    """Score each kind of page by itself."""
    of_kind: dict[str, list[str]] = defaultdict(list)
    for page in stream:
        of_kind[kinds[page]].append(page)
    return {
        kind: score(stream, labels, originals, pages) for kind, pages in sorted(of_kind.items())
    }
