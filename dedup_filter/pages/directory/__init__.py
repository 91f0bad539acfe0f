"""Layer "store": what is remembered of each page, on disk or in memory.

    PageStore     the record: pages, crawls, what hosts have shown
    TableFiles    arrays that are derived from it, and can be made anew
    Scheme        how fingerprints were made
    NewPage ...   what goes in and comes out

Pages are known by their numbers, counted from 1. Knows no index and no text; `page_index` keeps
an index in step with it.
"""

from dedup_filter.pages.directory.frame_store import EarlyForm, FrameStore, HostFrames
from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.page_store import PageStore
from dedup_filter.pages.directory.records import (
    Change,
    DigestEntry,
    Entries,
    IndexEntry,
    Judged,
    Matches,
    Measured,
    NewPage,
    PageRecord,
    digest_head,
)
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.table_files import TableFiles
from dedup_filter.pages.directory.url_key import Place

__all__ = [
    "Change",
    "DigestEntry",
    "EarlyForm",
    "Entries",
    "FrameStore",
    "HostFrames",
    "IndexEntry",
    "Judged",
    "Matches",
    "Measured",
    "NewPage",
    "PageReader",
    "PageRecord",
    "PageStore",
    "Place",
    "Scheme",
    "TableFiles",
    "digest_head",
]
