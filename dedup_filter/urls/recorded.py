"""An index that is only read -> URLs of its pages, and which pages were judged the same."""

from collections.abc import Iterator

from dedup_filter.errors import DedupError
from dedup_filter.upkeep.results import Recorded
from dedup_filter.urls.mining import Page


def judged_pages(recorded: Recorded) -> Iterator[Page]:
    """Yield the pages of an index that have a URL, with the number of the page that they repeat.

    Cost: 10 us a page.

    Raises:
        DedupError: no page in it repeats another, so nothing is to be learnt of it: a shared index
            does not record what it drops.
    """
    original_of: dict[int, int] = {}
    for record in recorded.records(recorded.entries.pages.tolist()):
        if record.original is not None:
            # The original comes earlier, and repeats none unless it was replaced since.
            original_of[record.page] = original_of.get(record.original, record.original)
        if record.url:
            same = original_of.get(record.page, record.page)
            yield Page(record.url, same, record.first_crawl, record.crawl)
    if not original_of:
        raise DedupError("no page in the index repeats another, so its URLs tell nothing")
