"""Figures of an index, counted in one pass over its pages."""

from collections import Counter
from typing import NamedTuple

from dedup_filter.store.crawls import Crawl
from dedup_filter.store.page_reader import PageReader

__all__ = ["CrawlStatistics", "IndexStatistics", "statistics"]


class CrawlStatistics(NamedTuple):
    """A crawl, and the pages that were seen last in it."""

    crawl: Crawl
    outcomes: dict[str, int]


class IndexStatistics(NamedTuple):
    """How much of what is recorded."""

    outcomes: dict[str, int]
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


def statistics(reader: PageReader) -> IndexStatistics:
    """Count what an index holds; another process may be writing to it.

    Cost: reads all pages, half a kilobyte each.
    """
    row = reader._transactions.row
    groups = reader._transactions.rows(
        """SELECT crawl, outcome, is_kept, is_pending, count(*), min(first_seen), max(last_seen)
        FROM pages GROUP BY crawl, outcome, is_kept, is_pending"""
    )
    by_crawl: dict[int, Counter[str]] = {}
    for crawl, outcome, _, _, pages, _, _ in groups:
        by_crawl.setdefault(crawl, Counter())[outcome] += pages
    return IndexStatistics(
        outcomes=dict(sum(by_crawl.values(), Counter())),
        pending=sum(group[4] for group in groups if group[3]),
        kept=sum(group[4] for group in groups if group[2]),
        hosts=int(row("SELECT count(*) FROM hosts WHERE id IN (SELECT host FROM pages)")[0]),
        texts=int(row("SELECT count(*) FROM texts")[0]),
        first_seen=min((group[5] for group in groups), default=None),
        last_seen=max((group[6] for group in groups), default=None),
        crawls=[
            CrawlStatistics(crawl, dict(by_crawl.get(crawl.number, {})))
            for crawl in reader.crawls.all()
        ],
    )
