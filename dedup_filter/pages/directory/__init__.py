"""What is remembered of each page, on disk or in memory.

    PageReader, PageStore   the record: pages, crawls, what hosts have shown
    TableFiles              arrays that are derived from it, and can be made anew
    Scheme                  how fingerprints were made
    NewPage ...             what goes in and comes out

Pages are known by their numbers, counted from 1. The record knows no index and no text;
`page_index` keeps an index in step with it, and `directory_pages` joins both.
"""

from dedup_filter.pages.comparison import Matches
from dedup_filter.pages.directory.crawls import Crawl
from dedup_filter.pages.directory.frame_store import (
    EarlyForm,
    FrameStore,
    HostFrames,
    KnownHost,
    Lesson,
)
from dedup_filter.pages.directory.index_directory import IndexDirectory, OwnerLock
from dedup_filter.pages.directory.index_entries import Change, Entries, Entry, digest_head
from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.page_store import PageStore, StoreKeeper
from dedup_filter.pages.directory.records import Judged, Measured, NewPage, PageRecord
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.snapshot import Snapshot
from dedup_filter.pages.directory.table_files import TableFiles
from dedup_filter.pages.directory.url_key import Place

__all__ = [
    "Change",
    "Crawl",
    "EarlyForm",
    "Entries",
    "Entry",
    "FrameStore",
    "HostFrames",
    "IndexDirectory",
    "Judged",
    "KnownHost",
    "Lesson",
    "Matches",
    "Measured",
    "NewPage",
    "OwnerLock",
    "PageReader",
    "PageRecord",
    "PageStore",
    "Place",
    "Scheme",
    "Snapshot",
    "StoreKeeper",
    "TableFiles",
    "digest_head",
]
