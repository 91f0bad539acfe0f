"""An index that is only read -> URLs of its pages, and which pages were judged the same."""

from collections.abc import Iterator

from dedup_filter.config import FilterConfig
from dedup_filter.errors import DedupError
from dedup_filter.fingerprints.sketch import shared
from dedup_filter.pages.directory.records import PageRecord
from dedup_filter.upkeep.results import Recorded
from dedup_filter.urls.mining import AreAlike, Page

_LEAST_SHARE = FilterConfig.min_similarity or 1.0
"""Of the shingles of either of two pages that both sketches can tell of; the other must have it."""


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


def alike_in(recorded: Recorded) -> AreAlike:
    """Return what tells of two pages of an index whether each has what the other says.

    Their titles are equal, their h1 too if both have one, and each has as much of the other's text
    as `min_similarity` asks for by default. Cost: 100 us.
    """

    def are_alike(one: int, other: int) -> bool:
        try:
            here, there = recorded.records((one, other))
        except (KeyError, ValueError):  # one of them is gone
            return False
        if not _are_headed_alike(here, there):
            return False
        both, *each = (int(counts[0]) for counts in shared([here.sketch], [there.sketch]))
        return both > 0 and both >= _LEAST_SHARE * max(each)

    return are_alike


def _are_headed_alike(one: PageRecord, other: PageRecord) -> bool:
    return one.title == other.title and (one.h1 == other.h1 or not (one.h1 and other.h1))
