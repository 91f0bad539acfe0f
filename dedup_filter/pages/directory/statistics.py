"""Figures of an index, counted in one pass over its pages.

A record tells in which crawl its page was seen first and last, and what was said of it then. So a
page that is seen again counts as revisited for the latest crawl only. A repeat is recorded each
time that it comes.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from dedup_filter.pages.directory.crawls import Crawl
from dedup_filter.pages.directory.page_reader import PageReader

__all__ = ["CrawlStatistics", "IndexStatistics", "statistics"]

Outcomes = dict[str, int]


class CrawlStatistics(NamedTuple):
    """A crawl and its pages; pending ones are only among the outcomes."""

    crawl: Crawl
    outcomes: Outcomes
    """Of all pages seen last in it."""
    first_seen: int
    """Kept pages that no earlier crawl has seen."""
    last_seen: int
    """Kept pages that no later crawl has seen."""
    revisited: int
    """Of those seen last in it, how many an earlier crawl has seen too."""
    repeats: Outcomes
    """Pages that were not kept."""


class IndexStatistics(NamedTuple):
    """How much of what is recorded."""

    outcomes: Outcomes
    pending: int
    """Of these, how many wait for their items."""
    kept: int
    hosts: int
    texts: int
    first_seen: int | None
    last_seen: int | None
    crawls: list[CrawlStatistics]

    @property
    def pages(self) -> int:
        """All pages recorded."""
        return sum(self.outcomes.values())


class _Group(NamedTuple):
    """Pages that are alike in this, and how many."""

    first_crawl: int
    crawl: int
    outcome: str
    is_kept: int
    is_pending: int
    pages: int
    first_seen: int
    last_seen: int


def statistics(reader: PageReader) -> IndexStatistics:
    """Count what an index holds; another process may be writing to it.

    Cost: reads all pages, half a kilobyte each.
    """
    row = reader._transactions.row
    found = reader._transactions.rows(
        """SELECT first_crawl, crawl, outcome, is_kept, is_pending,
            count(*), min(first_seen), max(last_seen)
        FROM pages GROUP BY first_crawl, crawl, outcome, is_kept, is_pending"""
    )
    groups = [_Group(*each) for each in found]
    return IndexStatistics(
        outcomes=_outcomes(groups),
        pending=sum(group.pages for group in groups if group.is_pending),
        kept=sum(group.pages for group in groups if group.is_kept),
        hosts=int(row("SELECT count(*) FROM hosts WHERE id IN (SELECT host FROM pages)")[0]),
        texts=int(row("SELECT count(*) FROM texts")[0]),
        first_seen=min((group.first_seen for group in groups), default=None),
        last_seen=max((group.last_seen for group in groups), default=None),
        crawls=list(_of_crawls(reader.crawls.all(), groups)),
    )


def _of_crawls(crawls: list[Crawl], groups: list[_Group]) -> Iterator[CrawlStatistics]:
    by_crawl: dict[int, list[_Group]] = {}
    first_seen: Counter[int] = Counter()
    for group in groups:
        by_crawl.setdefault(group.crawl, []).append(group)
        if group.is_kept and not group.is_pending:
            first_seen[group.first_crawl] += group.pages
    for crawl in crawls:
        here = by_crawl.get(crawl.number, [])
        done = [group for group in here if not group.is_pending]
        kept = [group for group in done if group.is_kept]
        yield CrawlStatistics(
            crawl,
            outcomes=_outcomes(here),
            first_seen=first_seen[crawl.number],
            last_seen=sum(group.pages for group in kept),
            revisited=sum(group.pages for group in kept if group.first_crawl != crawl.number),
            repeats=_outcomes([group for group in done if not group.is_kept]),
        )


def _outcomes(groups: list[_Group]) -> Outcomes:
    counts: Counter[str] = Counter()
    for group in groups:
        counts[group.outcome] += group.pages
    return dict(counts)
