"""What is remembered of each page, on disk or in memory.

    index_directory   the folder: its files, whose it is, table files
    page_reader       SQLite's database, opened; rows -> records
    page_store        records -> rows: transactions, grouped
    frame_store       what hosts have shown
    page_index        fingerprints and digests, searched; it follows the database
    directory_pages   all of it as one: profiles of pages in, verdicts out
    records           what goes in and comes out, and how its fingerprints were made

Pages are known by their numbers, counted from 1. The database knows no tables and no text.
"""

from dedup_filter.pages.directory.frame_store import EarlyForm, FrameStore
from dedup_filter.pages.directory.page_store import PageStore
from dedup_filter.pages.directory.records import PageRecord, Place, Scheme, measures_of

__all__ = [
    "EarlyForm",
    "FrameStore",
    "PageRecord",
    "PageStore",
    "Place",
    "Scheme",
    "measures_of",
]
