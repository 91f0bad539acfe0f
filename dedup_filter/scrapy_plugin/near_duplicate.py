"""The exception that drops an item, and the one line that tells of it.

Scrapy logs a dropped item whole, at the level that the exception names. A page of 100 KB is
no log line, so the level named here is one that never shows (NOTSET: no logger is enabled
for 0, whatever LOG_LEVEL says), and the pipeline writes `NearDuplicate.line` instead.

URLs come from strangers: characters that would move a cursor, colour a terminal or start a
new line are written as escapes.
"""

from scrapy.exceptions import DropItem

from dedup_filter.model import Verdict
from dedup_filter.wording import counted

__all__ = ["NearDuplicate", "Revisit", "describe", "printable"]

_LONGEST_URL = 500
_NEVER_SHOWN = "NOTSET"
_NO_URL = "(a page without URL)"


class NearDuplicate(DropItem):
    """Drop an item because its page repeats one that was seen before.

    `url` is the item's page, `original` the page that it repeats, `distance` the number of
    differing bits and `similarity` the share of common phrases, as in `verdict`.
    """

    def __init__(self, url: str, verdict: Verdict) -> None:
        super().__init__(describe(url, verdict), log_level=_NEVER_SHOWN)
        self.url = url
        self.verdict = verdict

    @property
    def original(self) -> str | None:
        """URL of the page that this one repeats."""
        return self.verdict.original

    @property
    def distance(self) -> int | None:
        """Differing bits of the two fingerprints."""
        return self.verdict.distance

    @property
    def similarity(self) -> float | None:
        """Estimated Jaccard similarity of the two pages."""
        return self.verdict.similarity


class Revisit(NearDuplicate):
    """Drop an item because its page was kept in an earlier crawl (`revisit="drop"`)."""


def describe(url: str, verdict: Verdict) -> str:
    """Say in one line what a duplicate repeats, and how closely.

    >>> describe("http://a/2", Verdict("near", "http://a/1", distance=3, similarity=0.92))
    '(near, 3 bits, 92 % similar): http://a/2 repeats http://a/1'
    """
    kind: list[str] = [verdict.outcome]
    if verdict.outcome != "exact" and verdict.distance is not None:
        kind.append(counted(verdict.distance, "bit"))
    if verdict.outcome != "exact" and verdict.similarity is not None:
        kind.append(f"{100 * verdict.similarity:.0f} % similar")
    page = printable(url) or _NO_URL
    if verdict.outcome == "revisit":
        return f"({', '.join(kind)}): {page} was kept in an earlier crawl"
    return f"({', '.join(kind)}): {page} repeats {printable(verdict.original or '') or _NO_URL}"


def printable(url: str) -> str:
    r"""Make a URL fit for a log: no control characters, no endless length.

    >>> printable("http://a/\x1b[31m\n")
    'http://a/\\x1b[31m\\n'
    """
    shown = "".join(
        character if character.isprintable() else ascii(character)[1:-1]
        for character in url[:_LONGEST_URL]
    )
    return shown if len(url) <= _LONGEST_URL else shown + "..."
