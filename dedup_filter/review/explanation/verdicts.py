"""Two pages, each read or recorded -> the filter's verdict on the second at each distance.

    without an index     for each distance, a new filter sees the first page, then the second
    with an index        the record of the first page is put into an index in memory; the second
                         page is profiled with the index's frame of its host, and compared

Nothing is decided here. With an index the second page comes in a later crawl, so at the URL of the
first page it is a revisit.
"""

from dataclasses import replace

from dedup_filter.comparison.look_ups import verdict_on
from dedup_filter.config import FilterConfig
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.hamming.layout import MAX_DISTANCE
from dedup_filter.judging import FramedPages
from dedup_filter.model import Unjudged, Verdict
from dedup_filter.review.explanation.judged_page import JudgedPage, judged_page
from dedup_filter.review.given_page import GivenPage
from dedup_filter.store.location import MEMORY, open_index, scheme_of
from dedup_filter.store.records import Crawl, PageRecord
from dedup_filter.store.sqlite.page_store import PageStore
from dedup_filter.store.sqlite.sqlite_pages import SqlitePages
from dedup_filter.text.page_url import Place

DISTANCES = range(MAX_DISTANCE + 1)


def seen_one_by_one(first: GivenPage, second: GivenPage, config: FilterConfig) -> list[Verdict]:
    """For each distance, let a filter see a page, then another; return the verdicts on that."""
    verdicts = []
    with NearDuplicateFilter(_at(config, 0)) as reader:
        pages = [reader.read(each.url, **each.page._asdict()) for each in (first, second)]
    for distance in DISTANCES:
        with NearDuplicateFilter(_at(config, distance)) as here:
            for page in pages:
                verdict = here.claim_read(page)
                here.commit(verdict)
        verdicts.append(verdict)
    return verdicts


def judged_one_by_one(
    first: GivenPage, second: GivenPage, config: FilterConfig
) -> tuple[JudgedPage | Unjudged, JudgedPage | Unjudged]:
    """Profile a page as the first that a filter sees, and another as the second."""
    config = _at(config, config.max_distance)
    pages = FramedPages(config, open_index(MEMORY, config, None))

    def judged(page: GivenPage) -> JudgedPage | Unjudged:
        host = Place.of(page.url).host
        return judged_page(page.url, page.page, config, lambda _, shown: pages.context(host, shown))

    found = judged(first)
    if isinstance(found, JudgedPage):
        pages.claim(found.place, found.page, is_pending=False)
    return found, judged(second)


def compared_with_record(
    record: PageRecord | None, second: JudgedPage, config: FilterConfig
) -> list[Verdict]:
    """Compare a page with a recorded page, as if that were kept; None: it has no record."""
    store = PageStore.in_memory(scheme_of(config))
    try:
        if record is not None:
            store.restore_crawl(Crawl(record.crawl, None, 0, 0))
            store.restore(record._replace(outcome="new", first_crawl=record.crawl))
        store.start_crawl(0)
        indexes = (SqlitePages(_at(config, distance), store) for distance in DISTANCES)
        return [index.compare(second.place, second.profile) for index in indexes]
    finally:
        store.close()


def as_recorded(page: JudgedPage) -> PageRecord | None:
    """Return the record that a page would have if it were new; None: it has no text."""
    if page.profile.is_blank:
        return None
    return PageRecord.of(page.place, page.profile, verdict_on(page.profile, "new"), 0, 1)


def _at(config: FilterConfig, distance: int) -> FilterConfig:
    """Return the same options for an index in memory, with another distance."""
    return replace(
        config, max_distance=distance, layout=None, keep_text=False, workers=0, expire_days=None
    )
