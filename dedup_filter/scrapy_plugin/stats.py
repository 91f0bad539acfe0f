"""Verdicts -> the stats of a crawl, and the one line that sums them up.

`STATS` is the list of all of them: numbers only, all below "dedup/".
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from dedup_filter.model import Verdict

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

__all__ = ["STATS", "CrawlStats", "Figures"]

STATS: Mapping[str, str] = {
    "dedup/pages": "pages that came up for judgement; the five outcomes below add up to it",
    "dedup/new": "pages unlike all before them; they are in the index",
    "dedup/near": "near-duplicates of an earlier page",
    "dedup/exact": "pages with the very text of an earlier page",
    "dedup/revisits": "pages kept in an earlier crawl, come again at the same URL",
    "dedup/unjudged": "pages that could not be judged; their items are kept",
    "dedup/unjudged/<reason>": "the same by reason: no_field, no_response, no_text, not_html, ...",
    "dedup/released": "pages forgotten again because nothing came of their items",
    "dedup/distance/<bits>": "duplicates by the number of bits between them and their original",
    "dedup/candidates": "stored pages that were near enough to be compared, over all pages",
    "dedup/language/<code>": "judged pages by language",
    "dedup/shingles": "word runs of all judged pages",
    "dedup/shingles_without_stopword": "those without a stopword, taken for menus and adverts",
    "dedup/links_not_followed": "requests held back because their page is a duplicate",
    "dedup/opted_out": 'responses passed by because of request.meta["dedup"] = False',
    "dedup/items_dropped": "items dropped as duplicates, or as revisits",
    "dedup/items_not_tagged": "items that have no room for the tag (DEDUP_ACTION=tag)",
    "dedup/bytes_dropped": "size of the pages whose items were dropped",
    "dedup/capped": "look-ups with so many candidates that only the 64 nearest were compared",
    "dedup/all/<outcome>": "with an index on a server: pages of all its crawlers, by outcome",
    "dedup/index_size": "pages in the index at the end",
    "dedup/index_bytes": "memory of the index at the end",
    "dedup/seconds": "time spent on judging, parsing included where nobody had parsed before",
    "dedup/errors": "faults of the filter; they cost no item",
}

_OUTCOMES = {"new": "new", "near": "near", "exact": "exact", "revisit": "revisits"}
_LANGUAGE_CODE = re.compile("[a-z]{2,3}")
_ALWAYS_SHOWN = ("pages", "new", "near", "exact", "unjudged", "items_dropped", "errors")
_SHOWN_EVERYWHERE = ("pages", "new", "near", "exact")


class Figures(NamedTuple):
    """What the index says of itself."""

    index_size: int
    index_bytes: int
    capped: int = 0
    everywhere: Mapping[str, int] | None = None
    """Pages that all crawlers of a shared index have judged, by outcome."""


class CrawlStats:
    """Count into the stats collector of a crawl."""

    def __init__(self, collector: "StatsCollector") -> None:
        self._collector = collector

    def open(self) -> None:
        """Let the main figures show even where they are 0."""
        for name in _ALWAYS_SHOWN:
            self.add(name, 0)

    def add(self, name: str, count: float = 1) -> None:
        """Add to a figure."""
        self._collector.inc_value(f"dedup/{name}", count)  # type: ignore[arg-type]

    @contextmanager
    def clock(self) -> Iterator[None]:
        """Count the time that something takes."""
        started = perf_counter()
        try:
            yield
        finally:
            self.add("seconds", perf_counter() - started)

    def page(self, verdict: Verdict) -> None:
        """Count a verdict."""
        self.add("pages")
        self.add(_OUTCOMES.get(verdict.outcome, "unjudged"))
        if verdict.outcome == "unjudged":
            self.add(f"unjudged/{verdict.reason}")
        if verdict.distance is not None:
            self.add(f"distance/{verdict.distance}")
        # The page itself tells its language: no strange code may become a stat of its own.
        if verdict.language is not None and _LANGUAGE_CODE.fullmatch(verdict.language):
            self.add(f"language/{verdict.language}")
        self.add("candidates", verdict.candidates)
        self.add("shingles", verdict.shingles)
        self.add("shingles_without_stopword", verdict.shingles_without_stopword)

    def close(self, figures: Figures | None) -> None:
        """Set the figures that are known at the end; None: the index does not tell them."""
        if figures is not None:
            self._collector.set_value("dedup/capped", figures.capped)
            self._collector.set_value("dedup/index_size", figures.index_size)
            self._collector.set_value("dedup/index_bytes", figures.index_bytes)
            for outcome, count in (figures.everywhere or {}).items():
                self._collector.set_value(f"dedup/all/{outcome}", count)
        self._collector.set_value("dedup/seconds", round(self.get("seconds"), 3))

    def get(self, name: str) -> float:
        """Return a figure, 0 if nothing was counted."""
        value: float = self._collector.get_value(f"dedup/{name}", 0)
        return value

    def summary(self, figures: Figures | None) -> str:
        """Sum up the crawl so far in one line."""
        pages, revisits = self.get("pages"), self.get("revisits")
        again = f"{revisits:.0f} revisits, " if revisits else ""
        each = 1000 * self.get("seconds") / pages if pages else 0.0
        return (
            f"{pages:.0f} pages: {self.get('new'):.0f} new, {self.get('near'):.0f} near, "
            f"{self.get('exact'):.0f} exact, {again}{self.get('unjudged'):.0f} unjudged; "
            f"items dropped: {self.get('items_dropped'):.0f} "
            f"({_size(self.get('bytes_dropped'))} of pages); "
            f"{_index(figures)}{each:.1f} ms a page{_everywhere(figures)}"
        )


def _index(figures: Figures | None) -> str:
    if figures is None:
        return ""
    return f"index: {figures.index_size} pages, {_size(figures.index_bytes)}; "


def _everywhere(figures: Figures | None) -> str:
    if figures is None or figures.everywhere is None:
        return ""
    shown = (f"{figures.everywhere.get(name, 0)} {name}" for name in _SHOWN_EVERYWHERE)
    return f"; all crawlers: {', '.join(shown)}"


def _size(count: float) -> str:
    """Write a number of bytes.

    >>> _size(37_937), _size(5_069_867)
    ('38 kB', '5.1 MB')
    """
    return f"{count / 1e3:.0f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"
