"""An index, only read -> the URLs of its pages, and which pages were judged the same."""

from collections.abc import Iterator

from dedup_filter.fingerprints.sketch import jaccard
from dedup_filter.store.protocol import Recorded, all_entries
from dedup_filter.urls.mining import ALIKE, Page


def judged_pages(recorded: Recorded, most: int | None = None) -> Iterator[Page]:
    """Yield the pages of an index that have a URL, each with the number of the page it repeats.

    Only the `most` pages that were recorded last are read; None: all.

    A new page also repeats an earlier page like it if one of them names the other as its canonical
    page, or both name the same URL. Cost: two passes over the records, 20 us a page.
    """
    numbers = all_entries(recorded).pages.tolist()[-(most or 0) :]
    named = {record.canonical_key for record in recorded.records(numbers)} - {None}
    named_at: dict[int | None, tuple[int, bytes]] = {}
    """For each URL named as canonical: number and sketch of its page, or of a page naming it."""
    original_of: dict[int, int] = {}
    for record in recorded.records(numbers):
        original, key = record.original, record.canonical_key
        own_key = record.url_key if named and record.url else None
        if original is None:
            other = named_at.get(own_key if key is None else key)
            if other is not None and jaccard(record.sketch, other[1]) >= ALIKE:
                original = other[0]
        if key is not None:
            named_at.setdefault(key, (record.page, record.sketch))
        if own_key in named:
            named_at[own_key] = record.page, record.sketch
        if original is not None:
            # The original comes earlier, and repeats no page unless it was replaced since.
            original_of[record.page] = original_of.get(original, original)
        if record.url:
            same = original_of.get(record.page, record.page)
            yield Page(record.url, same, record.first_crawl, record.crawl)
