"""Layer "upkeep": what is done to an index between crawls.

    check      is the record whole, and do the tables hold what it says?
    forget     a URL -> its pages are gone
    compact    files without the room that was left in them
    migrate    fingerprints made anew, in another way; the index as it was is kept as a backup

None of them starts a crawl. Those that write hold the lock of the index.
"""

from dedup_filter.upkeep.check import Findings, check_index
from dedup_filter.upkeep.compact import Sizes, compact, sizes
from dedup_filter.upkeep.forget import forget
from dedup_filter.upkeep.migrate import Migration, migrate, start_fresh

__all__ = [
    "Findings",
    "Migration",
    "Sizes",
    "check_index",
    "compact",
    "forget",
    "migrate",
    "sizes",
    "start_fresh",
]
