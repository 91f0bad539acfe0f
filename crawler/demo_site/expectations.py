"""expected.tsv and the outcomes of a crawl -> the differences between them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from crawler.demo_site.tables import read_rows

__all__ = ["Expectation", "Outcome", "differences", "read_expectations"]

Verdict = Literal["kept", "near", "exact", "short", "listing"]

_OUTCOMES: dict[Verdict, tuple[str, ...]] = {
    "kept": ("kept", "new"),
    "near": ("dropped", "near", "exact"),
    "exact": ("dropped", "exact"),
    "short": ("kept", "new", "unjudged"),
    "listing": ("kept", "new", "unjudged"),
}
"""The outcomes that fit each verdict. A crawl that drops duplicates shows only "kept" and
"dropped"; with DEDUP_ACTION="tag" each page has the filter's own outcome."""


@dataclass(frozen=True)
class Expectation:
    """A line of expected.tsv. The file explains the verdicts."""

    verdict: Verdict
    original: str | None
    reason: str


@dataclass(frozen=True)
class Outcome:
    """The outcome of a page: "kept" or "dropped", or the filter's own outcome."""

    name: str
    original: str | None = None


def read_expectations() -> dict[str, Expectation]:
    """Return the expectation of each page, by path."""
    expectations = {}
    for path, verdict, original, reason in read_rows("expected.tsv"):
        if verdict not in get_args(Verdict):
            raise ValueError(f"expected.tsv: {path} has the unknown verdict {verdict!r}")
        expectations[path] = Expectation(verdict, original or None, reason)  # type: ignore[arg-type]
    return expectations


def differences(
    expectations: Mapping[str, Expectation], outcomes: Mapping[str, Outcome]
) -> Iterator[str]:
    """Yield one sentence for each page that did not come out as expected."""
    for path, expected in expectations.items():
        outcome = outcomes.get(path, Outcome("not crawled"))
        if outcome.name in _OUTCOMES[expected.verdict] and outcome.original == expected.original:
            continue
        yield (
            f"{path}: expected {_words(expected.verdict, expected.original)} ({expected.reason}), "
            f"but it is {_words(outcome.name, outcome.original)}"
        )
    for path in outcomes.keys() - expectations.keys():
        yield f"{path}: not expected at all"


def _words(name: str, original: str | None) -> str:
    return f"{name} of {original}" if original else name
