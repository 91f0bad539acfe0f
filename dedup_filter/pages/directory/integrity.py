"""Whether a record is whole: what SQLite can tell, and what the schema promises beyond that."""

from dedup_filter.errors import StoreCorrupt
from dedup_filter.fingerprints import MOST_SKETCH_BYTES
from dedup_filter.pages.directory.transactions import Transactions

__all__ = ["check_pages"]

_NEVER = {
    "a page has no host": "SELECT 1 FROM pages WHERE host NOT IN (SELECT id FROM hosts)",
    "a page has no crawl": """
        SELECT 1 FROM pages
        WHERE crawl NOT IN (SELECT id FROM crawls) OR first_crawl NOT IN (SELECT id FROM crawls)""",
    "a page is kept as a duplicate, or dropped as none": """
        SELECT 1 FROM pages WHERE is_kept = (outcome IN ('near', 'exact'))""",
    "a page was seen last before first": "SELECT 1 FROM pages WHERE last_seen < first_seen",
    "a duplicate has no original": """
        SELECT 1 FROM pages WHERE outcome IN ('near', 'exact') AND original IS NULL""",
    "a page is its own original": "SELECT 1 FROM pages WHERE original = id",
    "an original was no page": "SELECT 1 FROM pages WHERE original > id",
    "a sketch or digest has another length": f"""
        SELECT 1 FROM pages WHERE length(digest) != 16
        OR length(sketch) NOT BETWEEN 2 AND {MOST_SKETCH_BYTES} OR length(sketch) % 2""",  # noqa: S608
    "a text has no page": "SELECT 1 FROM texts WHERE page NOT IN (SELECT id FROM pages)",
    "an early page is no page": """
        SELECT 1 FROM early_pages WHERE page NOT IN (SELECT id FROM pages)""",
    "a lesson in a state waits for no page": """
        SELECT 1 FROM frame_lessons WHERE is_in_state
        AND page NOT IN (SELECT id FROM pages WHERE is_pending)""",
}


def check_pages(transactions: Transactions) -> None:
    """Verify a record.

    Raises:
        StoreCorrupt: the file is damaged.
        AssertionError: its parts do not agree.
    """
    report = transactions.row("PRAGMA integrity_check(1)")[0]
    if report != "ok":
        raise StoreCorrupt(
            f"index {transactions.name}: it is damaged ({report}): put back a copy, or move it "
            "away and start a new one"
        )
    for fault, sql in _NEVER.items():
        assert not transactions.rows(f"{sql} LIMIT 1"), fault
