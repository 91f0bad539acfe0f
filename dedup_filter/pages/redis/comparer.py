"""A page, and what the replica and the records tell of others -> which of those it repeats.

    page -> pages within k bits, or with its digest -> their records -> repeats one of them?

A record is read only then, and may be of another time than the replica: so the log is followed
after it, and a record that is not of what the log tells is read again or left out.

Cost: no call if nothing is like the page, two otherwise.
"""

from collections.abc import Collection, Mapping, Sequence
from math import inf
from time import sleep
from typing import NamedTuple

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.pages.comparison import MOST_COMPARED, Candidate, Comparison, choose, compared
from dedup_filter.pages.directory import Matches, PageRecord, Place
from dedup_filter.pages.directory.url_key import url_key
from dedup_filter.pages.redis.events import SHORT, Entry
from dedup_filter.pages.redis.followed_log import FollowedLog

__all__ = ["Comparer"]

_MOST_READINGS = 6
"""Of a page whose measures are being replaced: the last one comes 20 ms after the first."""
_PAUSE = 0.002


class Comparer:
    """Compares pages with those that are kept or pending, here or elsewhere.

    Raises:
        StoreError: by all methods, when the servers cannot be reached or refuse.
    """

    def __init__(self, config: FilterConfig, followed: FollowedLog) -> None:
        self._followed = followed
        self._replica = followed.replica
        self._by_host = config.scope == "host"
        self._min_similarity = config.min_similarity
        self.records: dict[int, PageRecord] = {}
        """Of the pages that were compared last."""
        self.capped = 0
        """Comparisons in which there were more candidates than `MOST_COMPARED`."""
        self._compared_from = 0
        """Number of the last event that is known to come before the page was compared."""

    def compare(self, place: Place, page: PageProfile, before: float = inf) -> Comparison:
        """Compare a page with those whose numbers are lower than one."""
        found = self._found(place, page, before)
        read = self._read(found, place)
        same = self._exact(place, page, read)
        if same is None and not page.texts:
            return Comparison("unjudged", page.reason)
        return same or self._near(place, page, found, read)

    def is_still(self, found: Comparison, place: Place, page: PageProfile, number: int) -> bool:
        """Tell whether a page is still what it was found to be, after all that stands before it.

        Those that stand after it do not matter: they learn of it.
        """
        seen, self._compared_from = self._compared_from, self._replica.end
        if not any(self._replica.has_like(each, seen, number) for each in _entries(place, page)):
            return True
        again = self.compare(place, page, number)
        return (again.outcome, again.original_page) == (found.outcome, found.original_page)

    def go_on(self) -> None:
        """Take note that the next page will be compared with all that is known by now."""
        self._compared_from = self._replica.end

    def begin_anew(self) -> None:
        """Forget what is known of pages by their numbers."""
        self.records.clear()
        self._compared_from = 0

    def _found(self, place: Place, page: PageProfile, before: float) -> dict[int, tuple[int, int]]:
        """Return the pages like this one: the number of the text that found each, and how far."""
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

    def _read(self, pages: Collection[int], place: Place) -> "_Candidates":
        """Read the records of pages that may be repeated; those that are gone are left out."""
        if not pages:
            return _Candidates([], [])
        self.records = self._followed.log.records.read(list(pages))
        # Afterwards: one that was in no flight, and is there now, was committed before.
        self._followed.sync()
        for trial in range(_MOST_READINGS):
            changing = [page for page in self.records if not self._is_as_told(page)]
            if not changing:
                break
            # Another process is giving it other measures: the record is about to follow.
            sleep(trial * _PAUSE)
            self.records.update(self._followed.log.records.read(changing))
            self._followed.sync()
        there = [
            page
            for page in pages
            if page in self.records
            and page in self._replica
            and self._is_as_told(page)
            and not (self._by_host and self.records[page].host != place.host)
        ]
        return _Candidates(there, [self.records[page] for page in there])

    def _is_as_told(self, page: int) -> bool:
        """Tell whether the record of a page, if it is there, is of what the log tells of it.

        After a server failed, the number may have been given to another page.
        """
        return page not in self._replica or self._followed.is_there(page, self.records[page])

    def _exact(self, place: Place, page: PageProfile, found: "_Candidates") -> Comparison | None:
        same = [at for at, record in enumerate(found.records) if record.digest == page.digest]
        if not same:
            return None
        at, is_revisit = self._chosen(same, found, place)
        original, url = found.pages[at], found.records[at].url
        return Comparison("revisit" if is_revisit else "exact", None, original, url, 0, 1.0)

    def _near(
        self,
        place: Place,
        page: PageProfile,
        found: Mapping[int, tuple[int, int]],
        read: "_Candidates",
    ) -> Comparison:
        candidates = [
            Candidate(
                *found[number],
                bool(place.host) and record.host == place.host,
                page.around.is_of_site(record.host),
                record.sketch,
                record.headline,
            )
            for number, record in zip(read.pages, read.records, strict=True)
        ]
        comparison, at = compared(
            page,
            candidates,
            [record.digest for record in read.records],
            self._min_similarity,
            lambda best: self._chosen(best, read, place),
        )
        if at is None:
            return comparison
        return comparison._replace(original_page=read.pages[at], original=read.records[at].url)

    def _chosen(self, best: Sequence[int], read: "_Candidates", place: Place) -> tuple[int, bool]:
        # A crawl that was begun after this one, by processes that are at work too, is no earlier
        # one; a job that is resumed may meet it.
        return choose(best, read.matches, place.key, self._followed.log.crawl.__le__)


class _Candidates(NamedTuple):
    """Pages that another may repeat, side by side, nearest first."""

    pages: list[int]
    records: list[PageRecord]

    @property
    def matches(self) -> Matches:
        """What is chosen by."""
        return Matches(
            [],
            [record.crawl for record in self.records],
            [url_key(record.url) for record in self.records],
            [record.digest for record in self.records],
            [record.headline for record in self.records],
            [record.sketch for record in self.records],
        )


def _entries(place: Place, page: PageProfile) -> list[Entry]:
    """Return what the log would tell of a page, for each text that it is asked for by."""
    fingerprints: list[int | None] = [text.fingerprint for text in page.texts]
    return [Entry.of(each, page.digest, place.host) for each in fingerprints or [None]]
