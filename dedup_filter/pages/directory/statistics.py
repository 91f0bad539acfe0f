"""Figures of an index, counted in one pass over its pages.

A record tells in which crawl its page was seen first and last, and what was said of it then. So a
page that is seen again counts as revisited for the latest crawl only. A repeat is recorded each
time that it comes.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from dedup_filter.pages.directory.page_reader import PageReader

__all__ = ["statistics"]


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


def statistics(reader: PageReader) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Count what an index holds, in all and by crawl; another process may be writing to it.

    Of the kept pages of a crawl, those are counted that no earlier crawl has seen, those that no
    later one has, and of these, those that an earlier one has, too. Repeats were not kept. Pending
    pages are only among the outcomes.

    Cost: reads all pages, half a kilobyte each.
    """
    row = reader._transactions.row
    found = reader._transactions.rows(
        """SELECT first_crawl, crawl, outcome, is_kept, is_pending,
            count(*), min(first_seen), max(last_seen)
        FROM pages GROUP BY first_crawl, crawl, outcome, is_kept, is_pending"""
    )
    groups = [_Group(*each) for each in found]
    by_crawl, first_seen = defaultdict(list), Counter[int]()
    for group in groups:
        by_crawl[group.crawl].append(group)
        if group.is_kept and not group.is_pending:
            first_seen[group.first_crawl] += group.pages
    crawls = []
    for number, name, started, ended in reader.crawls.all():
        here = by_crawl[number]
        done = [group for group in here if not group.is_pending]
        kept = [group for group in done if group.is_kept]
        crawls.append(
            {
                "crawl": number,
                "name": name,
                "started": started,
                "ended": ended,
                "outcomes": _outcomes(here),
                "kept": {
                    "first_seen": first_seen[number],
                    "last_seen": _pages(kept),
                    "revisited": _pages(each for each in kept if each.first_crawl != number),
                },
                "repeats": _outcomes(each for each in done if not each.is_kept),
            }
        )
    in_all = {
        "pages": _pages(groups),
        "kept": _pages(group for group in groups if group.is_kept),
        "pending": _pages(group for group in groups if group.is_pending),
        "outcomes": _outcomes(groups),
        "hosts": row("SELECT count(*) FROM hosts WHERE id IN (SELECT host FROM pages)")[0],
        "texts": row("SELECT count(*) FROM texts")[0],
        "first_seen": min((group.first_seen for group in groups), default=None),
        "last_seen": max((group.last_seen for group in groups), default=None),
    }
    return in_all, crawls


def _pages(groups: Iterable[_Group]) -> int:
    return sum(group.pages for group in groups)


def _outcomes(groups: Iterable[_Group]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for group in groups:
        counts[group.outcome] += group.pages
    return dict(counts)
