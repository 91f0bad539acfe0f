"""What is remembered of each page, on disk or in memory.

    page_store, page_reader   the database: pages, crawls, what hosts have shown
    page_index                fingerprints and digests, searched; it follows the database
    directory_pages           both as one: profiles of pages in, verdicts out
    table_files               arrays that are derived from the database, and can be made anew
    scheme                    how fingerprints were made
    records                   what goes in and comes out

Pages are known by their numbers, counted from 1. The database knows no tables and no text.
"""

from dedup_filter.pages.comparison import Matches
from dedup_filter.pages.directory.frame_store import EarlyForm, FrameStore, HostFrames
from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.page_store import PageStore
from dedup_filter.pages.directory.records import Judged, Measured, NewPage, PageRecord
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.url_key import Place

__all__ = [
    "EarlyForm",
    "FrameStore",
    "HostFrames",
    "Judged",
    "Matches",
    "Measured",
    "NewPage",
    "PageReader",
    "PageRecord",
    "PageStore",
    "Place",
    "Scheme",
]
