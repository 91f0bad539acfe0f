"""Layer "upkeep": what is done to an index between crawls.

    figures    how much of what it holds
    check      is the record whole, and do the tables hold what it says?
    forget     a URL -> its pages are gone
    compact    files without the room that was left in them
    migrate    fingerprints made anew, in another way; the index as it was is kept as a backup

The modules `server_...` do it to a shared index, beside the processes that are at work there. None
of the others starts a crawl; those that write hold the lock of the index.
"""

from dedup_filter.upkeep.check import Findings, check_index
from dedup_filter.upkeep.compact import Compaction, Sizes, compact, sizes
from dedup_filter.upkeep.figures import figures
from dedup_filter.upkeep.forget import forget
from dedup_filter.upkeep.migrate import Migration, migrate, start_fresh
from dedup_filter.upkeep.server_check import check_server
from dedup_filter.upkeep.server_compact import compact_server
from dedup_filter.upkeep.server_figures import server_figures
from dedup_filter.upkeep.server_forget import forget_on_server

__all__ = [
    "Compaction",
    "Findings",
    "Migration",
    "Sizes",
    "check_index",
    "check_server",
    "compact",
    "compact_server",
    "figures",
    "forget",
    "forget_on_server",
    "migrate",
    "server_figures",
    "sizes",
    "start_fresh",
]
