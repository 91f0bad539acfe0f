"""A page, and what the replica and the records tell of others -> which of those it repeats.

    page -> pages within k bits, or with its digest -> their records -> repeats one of them?
    page, and what was found of it -> its own record

A record may be newer or older than the replica. So the log is read after it, and a record that does
not fit the log is read again or left out.

Cost: no call if nothing is like the page, two otherwise.
"""

from collections.abc import Collection, Mapping, Sequence
from math import inf
from time import sleep
from time import time as now

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.model import Verdict
from dedup_filter.pages.comparison import MOST_COMPARED, Candidate, choose, compared, verdict_on
from dedup_filter.pages.directory import Judged, Matches, PageRecord, Place, measures_of
from dedup_filter.pages.directory.records import url_key
from dedup_filter.pages.redis.followed_log import FollowedLog
from dedup_filter.pages.redis.formats import SHORT, Entry
from dedup_filter.pages.redis.records import SharedRecords

__all__ = ["Comparer", "record_of", "remeasured"]

_MOST_READINGS = 6
"""Of a page whose measures are being replaced: the last one comes 30 ms after the first."""
_PAUSE = 0.002


class Comparer:
    """Compares pages with those that are kept or pending, here or elsewhere."""

    def __init__(self, config: FilterConfig, log: FollowedLog, records: SharedRecords) -> None:
        self._log = log
        self._replica = log.replica
        self._stored = records
        self._by_host = config.scope == "host"
        self._min_similarity = config.min_similarity
        self.records: dict[int, PageRecord] = {}
        """Of the pages that were compared last."""
        self.capped = 0
        """Comparisons in which there were more candidates than `MOST_COMPARED`."""
        self._compared_from = 0
        """Number of the last event that is known to come before the page was compared."""

    def compare(self, place: Place, page: PageProfile, before: float = inf) -> Verdict:
        """Compare a page with those whose numbers are lower than one."""
        found = self._found(place, page, before)
        read = self._read(found, place)
        same = {number: each for number, each in read.items() if each.digest == page.digest}
        if same:
            at, is_revisit = self._chosen(range(len(same)), same, place)
            number, record = list(same.items())[at]
            exact = verdict_on(page, "revisit" if is_revisit else "exact")
            return exact._replace(
                original_page=number, original=record.url, distance=0, similarity=1.0
            )
        if not page.texts:
            return verdict_on(page, "unjudged", page.reason)
        return self._near(place, page, found, read)

    def is_still(self, found: Verdict, place: Place, page: PageProfile, number: int) -> bool:
        """Tell whether a page is still what it was found to be, after all that stands before it.

        Those that stand after it do not matter: they learn of it.
        """
        seen = self._compared_from
        if not any(self._replica.has_like(each, seen, number) for each in _entries(place, page)):
            return True
        again = self.compare(place, page, number)
        return (again.outcome, again.original_page) == (found.outcome, found.original_page)

    def go_on(self) -> None:
        """Note that the next page is compared with all that is known by now."""
        self._compared_from = self._replica.end

    def begin_anew(self) -> None:
        """Forget what is known of pages by their numbers."""
        self.records.clear()
        self._compared_from = 0

    def _found(self, place: Place, page: PageProfile, before: float) -> dict[int, tuple[int, int]]:
        """Return pages like this one: the number of the text that found each, and its distance."""
        found: dict[int, tuple[int, int]] = {}
        for number, entry in enumerate(_entries(place, page)):
            if entry.kind == SHORT:
                rows = self._replica.with_digest(entry.value, entry.host, MOST_COMPARED)
                distances = [0] * len(rows)
            else:
                near = self._replica.neighbours(entry.value, entry.host, MOST_COMPARED + 1)
                if len(near.rows) > MOST_COMPARED:
                    self.capped += 1
                    near = near.first(MOST_COMPARED)
                rows, distances = near.rows.tolist(), near.distances.tolist()
            for row, distance in zip(rows, distances, strict=True):
                if row < before:
                    found.setdefault(row, (number, distance))
        return found

    def _read(self, pages: Collection[int], place: Place) -> dict[int, PageRecord]:
        """Read the records of pages that may be repeated; those that are gone are left out."""
        if not pages:
            return {}
        self.records, changing = {}, list(pages)
        for trial in range(_MOST_READINGS):
            sleep(trial * _PAUSE)
            self.records.update(self._stored.read(changing))
            # Afterwards: a page that was not in flight, and is there now, was committed before.
            self._log.sync()
            # Another process gives them other measures: the record is about to follow. Or a server
            # failed, and the number was given to another page.
            changing = [
                page
                for page, record in self.records.items()
                if page in self._replica and not self._log.is_there(page, record)
            ]
            if not changing:
                break
        return {
            page: record
            for page, record in self.records.items()
            if self._log.is_there(page, record)
            and not (self._by_host and record.host != place.host)
        }

    def _near(
        self,
        place: Place,
        page: PageProfile,
        found: Mapping[int, tuple[int, int]],
        read: Mapping[int, PageRecord],
    ) -> Verdict:
        is_of_site = page.around.is_of_site
        candidates = [
            Candidate(
                *found[number],
                bool(place.host) and record.host == place.host,
                is_of_site is not None and is_of_site(record.host),
                record.sketch,
                record.headline,
            )
            for number, record in read.items()
        ]
        verdict, at = compared(
            page,
            candidates,
            [record.digest for record in read.values()],
            self._min_similarity,
            lambda best: self._chosen(best, read, place),
        )
        if at is None:
            return verdict
        number, record = list(read.items())[at]
        return verdict._replace(original_page=number, original=record.url)

    def _chosen(
        self, best: Sequence[int], read: Mapping[int, PageRecord], place: Place
    ) -> tuple[int, bool]:
        """Choose one of the best candidates, by its place; tell whether it is the page itself."""
        crawls = [record.crawl for record in read.values()]
        keys = [url_key(record.url) for record in read.values()]
        matches = Matches([], crawls, keys, [], [], [])  # these two decide
        # A crawl that was begun after this one, by processes that are at work too, is no earlier
        # one; a job that is resumed may meet it.
        return choose(best, matches, place.key, self._log.process.crawl.__le__)


def record_of(
    place: Place, page: PageProfile, found: Verdict, crawl: int, renewed: PageRecord | None
) -> PageRecord:
    """Return the record of a page, pending; one that is seen again is as old as it was."""
    moment = int(now())
    first = moment, crawl
    if found.outcome == "revisit" and renewed is not None:
        first = renewed.first_seen, renewed.first_crawl
    return PageRecord(
        page=0,
        url=place.url,
        host=place.host,
        **measures_of(page),
        first_seen=first[0],
        last_seen=moment,
        first_crawl=first[1],
        crawl=crawl,
        is_pending=True,
        judged=Judged(found.outcome, found.reason, None, found.distance, found.similarity),
    )


def remeasured(record: PageRecord, page: PageProfile) -> PageRecord:
    """Return a record with the measures of another profile."""
    return record._replace(**measures_of(page))


def _entries(place: Place, page: PageProfile) -> list[Entry]:
    """Return what the log would tell of a page, for each text that it is asked for by."""
    fingerprints: list[int | None] = [text.fingerprint for text in page.texts]
    return [Entry.of(each, page.digest, place.host) for each in fingerprints or [None]]
