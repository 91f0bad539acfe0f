"""An index -> objects of JSON, one for each page recorded; another process may write to it.

What is pending is left out: a page counts as seen when its item has gone through. The frames
of hosts come last, so that an index made of the lines judges later pages as this one would. Of a
shared index there are lines of kept pages only.

Cost: 20 us a page without text; the writer's log grows while it lasts.
"""

from collections.abc import Generator

from dedup_filter.upkeep.page_lines import Object, frames_line, header_line, page_line
from dedup_filter.upkeep.places import Source

__all__ = ["exported"]


def exported(source: Source) -> Generator[Object, None, None]:
    """Yield the header, the pages in the order of their numbers, and what is known of hosts.

    Requires: the source stays open until this has ended or is closed.

    Raises:
        StoreError: the index cannot be read.
    """
    has_texts = source.has_texts()
    yield header_line(source.scheme, source.crawls())
    for record in source.records():
        text = source.text(record.page) if has_texts else None
        yield page_line(record, source.original_url(record.judged.original), text)
    for known in source.hosts():
        yield frames_line(known)
