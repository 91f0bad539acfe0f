"""Verdicts -> the stats of a crawl, and the one line that sums them up.

`STATS` is the list of all of them: numbers only, all below "dedup/".
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from dedup_filter.model import Outcome
from dedup_filter.scrapy_plugin.page_fate import Judgement
from dedup_filter.wording import counted

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
    "dedup/shingles": "runs of three words (shingles) of all judged pages",
    "dedup/shingles_without_stopword": "those with too few function words around them: adverts",
    "dedup/links_not_followed": "requests held back because their page is a duplicate",
    "dedup/opted_out": 'responses passed by because of request.meta["dedup"] = False',
    "dedup/items_dropped": "items dropped as duplicates, or as revisits",
    "dedup/items_not_tagged": "items that have no room for the tag (DEDUP_ACTION=tag)",
    "dedup/bytes_dropped": "size of the pages whose items were dropped",
    "dedup/capped": "look-ups with so many candidates that only the 64 nearest were compared",
    "dedup/all/<outcome>": "with an index on a server: pages it was asked about since it was made",
    "dedup/index_size": "pages in the index at the end",
    "dedup/index_bytes": "memory of the index at the end",
    "dedup/seconds": "time spent on judging, parsing included",
    "dedup/errors": "faults of the filter; they cost no item",
}

_STAT_OF: Mapping[Outcome, str] = {
    "new": "new",
    "near": "near",
    "exact": "exact",
    "revisit": "revisits",
    "unjudged": "unjudged",
}
_LANGUAGE_CODE = re.compile("[a-z]{2,3}")
_ALWAYS_SHOWN = ("pages", "new", "near", "exact", "unjudged", "items_dropped", "errors")


class Figures(NamedTuple):
    """What the index says of itself."""

    index_size: int
    index_bytes: int
    capped: int = 0
    everywhere: Mapping[str, int] | None = None
    """Pages that all crawlers of a shared index have judged since it was made, by outcome."""


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

    def page(self, judgement: Judgement) -> None:
        """Count the verdict on a page, once."""
        if judgement.is_counted:
            return
        judgement.is_counted = True
        verdict = judgement.verdict
        self.add("pages")
        self.add(_STAT_OF[verdict.outcome])
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
            if figures.everywhere is not None:
                for name, count in _by_stat(figures.everywhere).items():
                    self._collector.set_value(f"dedup/all/{name}", count)
        self._collector.set_value("dedup/seconds", round(self.get("seconds"), 3))

    def get(self, name: str) -> float:
        """Return a figure, 0 if nothing was counted."""
        value: float = self._collector.get_value(f"dedup/{name}", 0)
        return value

    def summary(self, figures: Figures | None) -> str:
        """Sum up the crawl so far in one line."""
        pages, failed = self.get("pages"), self.get("unjudged/error")
        each = 1000 * self.get("seconds") / pages if pages else 0.0
        dropped, size = self.get("items_dropped"), _size(self.get("bytes_dropped"))
        parts = [
            _pages({name: self.get(name) for name in ("pages", *_STAT_OF.values())}, failed),
            f"items dropped: {dropped:,.0f} ({size} of pages)",
        ]
        if figures is not None:
            in_index = counted(figures.index_size, "page")
            parts.append(f"index: {in_index}, {_size(figures.index_bytes)}")
        parts.append(f"{each:.1f} ms a page")
        if self.get("errors"):
            parts.append(counted(self.get("errors"), "fault"))
        if figures is not None and figures.everywhere is not None:
            everywhere = _pages(_by_stat(figures.everywhere))
            parts.append(f"all crawlers since the index was made, {everywhere}")
        return "; ".join(parts)


def _by_stat(everywhere: Mapping[str, int]) -> dict[str, int]:
    """Name outcomes as the stats do, those that there were none of too."""
    named = {name: everywhere.get(outcome, 0) for outcome, name in _STAT_OF.items()}
    return {"pages": sum(named.values()), **named}


def _pages(by_stat: Mapping[str, float], failed: float = 0) -> str:
    """Write pages by outcome; `failed` of them are unjudged because of a fault."""
    again = f"{counted(by_stat['revisits'], 'revisit')}, " if by_stat["revisits"] else ""
    why = f" ({failed:,.0f} after a fault)" if failed else ""
    return (
        f"{counted(by_stat['pages'], 'page')}: {by_stat['new']:,.0f} new, "
        f"{by_stat['near']:,.0f} near, {by_stat['exact']:,.0f} exact, "
        f"{again}{by_stat['unjudged']:,.0f} unjudged{why}"
    )


def _size(count: float) -> str:
    """Write a number of bytes.

    >>> _size(37_937), _size(5_069_867)
    ('38 kB', '5.1 MB')
    """
    return f"{count / 1e3:.0f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"
