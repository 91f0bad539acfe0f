"""A page, and what was found of it -> the record that the servers keep of it."""

from time import time as now

from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.pages.comparison import Comparison
from dedup_filter.pages.directory import Judged, PageRecord, Place

__all__ = ["record_of", "remeasured"]


def record_of(
    place: Place, page: PageProfile, found: Comparison, crawl: int, original: PageRecord | None
) -> PageRecord:
    """Return the record of a page, pending; one that is seen again is as old as it was."""
    moment = int(now())
    record = PageRecord(
        page=0,
        url=place.url,
        host=place.host,
        digest=page.digest,
        fingerprint=page.fingerprint,
        sketch=page.sketch,
        words=page.word_count,
        language=page.language,
        first_seen=moment,
        last_seen=moment,
        first_crawl=crawl,
        crawl=crawl,
        is_pending=True,
        judged=Judged(found.outcome, found.reason, None, found.distance, found.similarity),
        headline=page.headline,
    )
    if found.outcome == "revisit" and original is not None:
        return record._replace(first_seen=original.first_seen, first_crawl=original.first_crawl)
    return record


def remeasured(record: PageRecord, page: PageProfile) -> PageRecord:
    """Return a record with the measures of another profile."""
    return record._replace(
        digest=page.digest,
        fingerprint=page.fingerprint,
        sketch=page.sketch,
        words=page.word_count,
        language=page.language,
        headline=page.headline,
    )
