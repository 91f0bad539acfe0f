"""Layer "upkeep": what is done to an index between crawls.

    figures    how much of what it holds
    check      is the record whole, and do the tables hold what it says?
    forget     a URL -> its pages are gone
    compact    files without the room that was left in them
    migrate    fingerprints made anew, in another way; the index as it was is kept as a backup

The modules `server_...` do it to a shared index, beside the processes that are at work there. None
of the others starts a crawl; those that write hold the lock of the index.

Layer "transfer": an index -> lines of JSON -> an index; items of a feed -> an index.

    index -> exported ->  header, a line a page, a line a host's frames  -> Restoring -> index
    feed  ->              a line an item                                 -> Items     -> index

Lines are read and written by whoever calls; here they are values. Stands on the filter and the
store; knows nothing of the command line or of Scrapy.
"""

from dedup_filter.upkeep.check import Findings, check_index
from dedup_filter.upkeep.compact import Compaction, Sizes, compact, sizes
from dedup_filter.upkeep.directory_place import DirectoryTarget, directory_source
from dedup_filter.upkeep.export import exported
from dedup_filter.upkeep.figures import figures
from dedup_filter.upkeep.forget import forget
from dedup_filter.upkeep.importing import Imported, ImportOptions, import_lines
from dedup_filter.upkeep.lines import BadLine, Line, read_lines
from dedup_filter.upkeep.migrate import Migration, migrate, start_fresh
from dedup_filter.upkeep.places import Source, Target
from dedup_filter.upkeep.server_check import check_server
from dedup_filter.upkeep.server_compact import compact_server
from dedup_filter.upkeep.server_figures import server_figures
from dedup_filter.upkeep.server_forget import forget_on_server
from dedup_filter.upkeep.server_place import ServerTarget, server_source

__all__ = [
    "BadLine",
    "Compaction",
    "DirectoryTarget",
    "Findings",
    "ImportOptions",
    "Imported",
    "Line",
    "Migration",
    "ServerTarget",
    "Sizes",
    "Source",
    "Target",
    "check_index",
    "check_server",
    "compact",
    "compact_server",
    "directory_source",
    "exported",
    "figures",
    "forget",
    "forget_on_server",
    "import_lines",
    "migrate",
    "read_lines",
    "server_figures",
    "server_source",
    "sizes",
    "start_fresh",
]
