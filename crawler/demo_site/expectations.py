"""expected.tsv and the outcomes of a crawl -> the differences between them."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from crawler.demo_site.pages import read_rows

_OUTCOMES = {
    "kept": ("kept", "new"),
    "near": ("dropped", "near", "exact"),
    "exact": ("dropped", "exact"),
    "short": ("kept", "new", "unjudged"),
    "listing": ("kept", "new", "unjudged"),
}
"""The outcomes that fit each verdict. A crawl that drops duplicates shows only "kept" and
"dropped"; with DEDUP_ACTION="tag" each page has the filter's own outcome."""


class Outcome(NamedTuple):
    """The outcome of a page: "kept" or "dropped", or the filter's own outcome."""

    name: str
    original: str | None = None

    def __str__(self) -> str:
        return f"{self.name} of {self.original}" if self.original else self.name


def differences(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield one sentence for each page that did not come out as expected; pages by their paths."""
    unexpected = {**outcomes}
    for path, verdict, original, reason in read_rows("expected.tsv"):
        expected = Outcome(verdict, original or None)
        outcome = unexpected.pop(path, Outcome("not crawled"))
        if outcome.name not in _OUTCOMES[verdict] or outcome.original != expected.original:
            yield f"{path}: expected {expected} ({reason}), but it is {outcome}"
    for path in unexpected:
        yield f"{path}: not expected at all"
