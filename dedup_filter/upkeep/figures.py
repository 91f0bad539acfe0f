"""An index in a directory -> how much of what it holds."""

from typing import Any

from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.statistics import CrawlStatistics, statistics
from dedup_filter.pages.directory.table_files import TableFiles
from dedup_filter.upkeep.compact import sizes

__all__ = ["figures"]


def figures(reader: PageReader) -> dict[str, Any]:
    """Count what is there. Times are Unix seconds.

    Cost: reads all pages, half a kilobyte each.
    """
    found = statistics(reader)
    return {
        "index": str(reader.directory),
        "pages": found.pages,
        "kept": found.kept,
        "pending": found.pending,
        "outcomes": found.outcomes,
        "hosts": found.hosts,
        "texts": found.texts,
        "first_seen": found.first_seen,
        "last_seen": found.last_seen,
        "bytes": sizes(str(reader.directory))._asdict(),
        "tables": _tables(reader),
        "scheme": dict(reader.scheme.parts),
        "crawls": [_crawl(each) for each in found.crawls],
    }


def _tables(reader: PageReader) -> dict[str, Any] | None:
    assert reader.directory is not None, "an index in memory has no tables"
    saved = TableFiles(reader.directory.tables).load()
    if isinstance(saved, str):
        return None
    return {
        "max_distance": saved.about.get("max_distance"),
        "scope": "host" if saved.about.get("by_host") else "all",
        "entries": len(saved.arrays.get("rows", ())),
    }


def _crawl(each: CrawlStatistics) -> dict[str, Any]:
    return {
        "crawl": each.crawl.number,
        "name": each.crawl.name,
        "started": each.crawl.started,
        "ended": each.crawl.ended,
        "outcomes": each.outcomes,
        "kept": {
            "first_seen": each.first_seen,
            "last_seen": each.last_seen,
            "revisited": each.revisited,
        },
        "repeats": each.repeats,
    }
