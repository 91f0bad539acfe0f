"""Layer "transfer": an index -> lines of JSON -> an index; items of a feed -> an index.

    index -> exported ->  header, a line a page, a line a host's frames  -> Restoring -> index
    feed  ->              a line an item                                 -> Items     -> index

Lines are read and written by whoever calls; here they are values. Stands on the filter and the
store; knows nothing of the command line or of Scrapy.
"""

from dedup_filter.transfer.directory_place import DirectoryTarget, directory_source
from dedup_filter.transfer.export import exported
from dedup_filter.transfer.importing import Imported, ImportOptions, import_lines
from dedup_filter.transfer.lines import BadLine, Line, read_lines
from dedup_filter.transfer.places import Source, Target
from dedup_filter.transfer.server_place import ServerTarget, server_source

__all__ = [
    "BadLine",
    "DirectoryTarget",
    "ImportOptions",
    "Imported",
    "Line",
    "ServerTarget",
    "Source",
    "Target",
    "directory_source",
    "exported",
    "import_lines",
    "read_lines",
    "server_source",
]
