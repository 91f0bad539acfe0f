"""Layer "upkeep": what is done to an index between crawls, wherever it is kept.

    figures    how much of what it holds
    check      is the record whole, and do tables or log agree with it?
    forget     URLs -> their pages are gone
    compact    less room on disk or servers
    migrate    fingerprints made anew, in another way; the index as it was is kept as a backup
    export     index -> lines of JSON
    import     lines of an export, or items of a feed -> index

Nothing here starts a crawl but the import of items. Knows nothing of the command line or Scrapy.
"""

from dedup_filter.upkeep.export_lines import exported
from dedup_filter.upkeep.importing import Imported, ImportOptions, import_lines, read_lines
from dedup_filter.upkeep.index import Index, index_at

__all__ = [
    "ImportOptions",
    "Imported",
    "Index",
    "exported",
    "import_lines",
    "index_at",
    "read_lines",
]
