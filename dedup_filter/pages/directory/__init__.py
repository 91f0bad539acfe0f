"""What is remembered of each page, on disk or in memory.

    database                  SQLite: transactions, grouped; rows in and out
    page_reader, page_store   the records: pages, crawls
    frame_store               what hosts have shown
    page_index                fingerprints and digests, searched; it follows the database
    table_files               its arrays, which can be made anew from the database
    directory_pages           all of it as one: profiles of pages in, verdicts out
    scheme                    how fingerprints were made
    records                   what goes in and comes out

Pages are known by their numbers, counted from 1. The database knows no tables and no text.
"""

from dedup_filter.pages.directory.frame_store import EarlyForm, FrameStore, HostFrames
from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.page_store import PageStore
from dedup_filter.pages.directory.records import Crawl, Judged, PageRecord, Place, measures_of
from dedup_filter.pages.directory.scheme import Scheme

__all__ = [
    "Crawl",
    "EarlyForm",
    "FrameStore",
    "HostFrames",
    "Judged",
    "PageReader",
    "PageRecord",
    "PageStore",
    "Place",
    "Scheme",
    "measures_of",
]
