"""An index -> objects of JSON, one for each page recorded; another process may write to it.

What is pending is left out: a page counts as seen when its item has gone through. The frames
of hosts come last, so that an index made of the lines judges later pages as this one would.

Cost: 20 us a page without text; the writer's log grows while it lasts.
"""

from collections.abc import Generator

from dedup_filter.store.page_reader import PageReader
from dedup_filter.store.snapshot import Snapshot
from dedup_filter.transfer.page_lines import Object, frames_line, header_line, page_line

__all__ = ["exported"]


def exported(reader: PageReader) -> Generator[Object, None, None]:
    """Yield the header, the pages in the order of their numbers, and what is known of hosts.

    Requires: the reader stays open until this has ended or is closed.

    Raises:
        StoreError: the index cannot be read.
    """
    with Snapshot(reader) as snapshot:
        has_texts = snapshot.has_texts()
        yield header_line(reader.scheme, snapshot.crawls())
        for record in snapshot.records():
            text = snapshot.text(record.page) if has_texts else None
            yield page_line(record, snapshot.original_url(record.judged.original), text)
        for known in snapshot.hosts():
            yield frames_line(known)
