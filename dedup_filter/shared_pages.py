"""What was kept by several processes: profiles in, verdicts out. The counterpart of `kept_pages`.

    profile -> replica -> candidates -> their records -> repeats one of them?      compare
            -> appended to the log -> what came before it there -> repeats one?    record

Guarantee, for any number of processes and interleavings, each with the same options:

A. Of two pages that are like each other at most one is kept. The one that stands second in the
   log has seen the first, at the latest in the answer to its own `append`.
B. What is dropped repeats a page that was kept. While its original is pending, a duplicate's
   fate is open: `see` waits for it, and who claims is told by `fate`.
C. No page is a duplicate of one that is gone. Pages that a dead process had pending are
   released when its lease is over. What a server loses when it fails is forgotten; a page like
   it can be kept again.

Two things can be let through twice: what is kept while the server is away, and what a process
commits after its lease was over. Frames are learnt by each process for itself; only fingerprints
of kept pages are shared. Records of dropped pages are not kept.

Cost: one call for a page that is new, two where others are at work, and one for its commit, two
on a cluster; two or three for a duplicate. All the work on fingerprints is done here.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic, sleep
from time import time as now
from typing import NamedTuple

import numpy as np

from dedup_filter.comparison import (
    MOST_COMPARED,
    Comparison,
    Overtaken,
    choose,
    similar_enough,
)
from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints import similarities
from dedup_filter.model import Fate, Outcome, Verdict
from dedup_filter.profile import PageProfile
from dedup_filter.replica import Replica
from dedup_filter.shared import (
    LEASE,
    LONG,
    SHORT,
    Entry,
    Lease,
    LogChanged,
    News,
    SharedLog,
    decode,
    host_hash,
    kinds,
)
from dedup_filter.store import FrameStore, Judged, Matches, PageRecord, Place
from dedup_filter.store.records import sketch_rows
from dedup_filter.store.url_key import url_key

__all__ = ["SharedPages"]

logger = logging.getLogger(__name__)

_LONGEST_WAIT = 2 * LEASE
"""Seconds for which `see` waits for another process to settle the original of its page."""
_LONGEST_PAUSE = 0.25
_MOST_AWAITED = 10_000
_DAY_SECONDS = 86_400
_MOST_AT_ONCE = 256
_BATCHES = 100
"""An index of `max_pages` gives room for a hundredth of them at a time, or for `_MOST_AT_ONCE`."""
_PAGES_BETWEEN = 64
"""Pages after which is looked whether others are to be forgotten."""


class SharedPages:
    """The pages that later ones may repeat, kept by all processes of a shared index.

    Raises:
        StoreError: by all methods, when the servers cannot be reached or refuse. A page that was
            being recorded is then not in the index, or is released.
    """

    is_shared = True
    frames: FrameStore | None = None
    """Each process learns them anew."""
    is_durable = False
    disk_bytes = 0

    def __init__(self, config: FilterConfig, log: SharedLog) -> None:
        self._config = config
        self._log = log
        self._by_host = config.scope == "host"
        self._replica = Replica(config.max_distance, by_host=self._by_host)
        self.gone: list[int] = []
        """Pages of this process that are gone; for the owner to take note of, and to clear."""
        self.capped = 0
        """Comparisons in which there were more candidates than `MOST_COMPARED`."""
        self._records: dict[int, PageRecord] = {}
        """Of the pages that were compared last."""
        self._mine: dict[int, PageRecord] = {}
        """Pages that are pending here."""
        self._revisited: dict[int, int] = {}
        """Of those, which stand for a page that is visited again, and for which one."""
        self._awaited: dict[int, Entry] = {}
        """Pages pending elsewhere that pages here were found to repeat, the last ones."""
        self._until_tended = 0
        self._sync()
        self._tend(coming=0)
        self._lease = Lease(log)

    def __len__(self) -> int:
        return len(self._replica)

    @property
    def knows_earlier_crawls(self) -> bool:
        """Whether there were crawls before this one."""
        return self._log.crawl > 1

    @property
    def nbytes(self) -> int:
        """Memory of this process's replica, in bytes."""
        return self._replica.nbytes

    def totals(self) -> dict[str, int]:
        """Count the pages that all processes have judged, by outcome."""
        self._lease.bring()
        counts = self._log.totals()
        return {"pages": sum(counts.values()), **counts}

    def compare(self, place: Place, page: PageProfile) -> Comparison:
        """Tell whether a page repeats one that was kept, or is pending.

        Cost: no call if nothing is like it, two otherwise.
        """
        if page.is_blank:
            return Comparison("unjudged", "no_text")
        host = host_hash(place.host)
        if not page.is_long_enough:
            rows = self._replica.with_digest(_start(page.digest), host, MOST_COMPARED)
            found = self._read(rows, [0] * len(rows), place)
            same = self._exact(place, page, found)
            return same or Comparison("unjudged", "too_short")
        near = self._replica.neighbours(page.fingerprint, host, MOST_COMPARED + 1)
        if len(near.rows) > MOST_COMPARED:
            self.capped += 1
            near = near.first(MOST_COMPARED)
        found = self._read(near.rows.tolist(), near.distances.tolist(), place)
        return self._exact(place, page, found) or self._near(place, page, found)

    def claim(
        self, place: Place, page: PageProfile, text: str | None = None, *, is_pending: bool
    ) -> Verdict:
        """Compare a page, and record it, for good or for the time being."""
        while True:
            found = self.compare(place, page)
            if found.reason == "no_text":
                return self._told(found).verdict(page)
            try:
                return self.record(place, page, found, text, is_pending=is_pending)
            except Overtaken:
                continue

    def similarity(self, page: PageProfile, number: int) -> float:
        """Estimate the similarity of a page to one that was kept; 0 if that is gone."""
        record = self._records.get(number) or self._log.records([number]).get(number)
        if record is None:
            return 0.0
        return float(similarities(page.sketch, sketch_rows([record.sketch]))[0])

    def fate(self, number: int) -> Fate:
        """Tell what has become of a page that was recorded, here or by another process."""
        if number in self._mine:
            return "pending"
        is_in_flight = self._log.is_in_flight(number)
        # In this order: what was in no flight, and is there now, was committed. And always: this
        # may be the only call left, and it is calls that release the pages of dead processes.
        self._sync()
        if is_in_flight:
            return "pending"
        awaited = self._awaited.pop(number, None)
        is_there = number in self._replica
        # After a server failed, the number may have been given to another page.
        is_it = awaited is None or (is_there and self._replica.entry(number) == awaited)
        return "kept" if is_there and is_it else "gone"

    @contextmanager
    def change(self) -> Iterator[None]:
        """Do what is done within; each step of it is a change by itself."""
        yield

    def record(
        self,
        place: Place,
        page: PageProfile,
        found: Comparison,
        text: str | None = None,  # noqa: ARG002
        *,
        is_pending: bool,
    ) -> Verdict:
        """Record a page and what was found of it; return the verdict.

        Raises:
            Overtaken: another process kept a page like it, or let go of the one that it repeats:
                it must be compared anew.
        """
        if found.is_duplicate:
            return self._told(self._settled(found, is_pending=is_pending)).verdict(page)
        self._tend()
        number = self._append(place, page, found)
        if found.outcome == "revisit" and found.original_page is not None:
            self._revisited[number] = found.original_page
        if not is_pending:
            self.commit(number)
        return self._told(found).verdict(page, number)

    def replace(self, number: int, page: PageProfile, text: str | None = None) -> None:  # noqa: ARG002
        """Give a page another profile; one that is gone is left so."""
        record = self._mine.get(number) or self._log.records([number]).get(number)
        if record is None or number not in self._replica:
            return
        record = record._replace(
            digest=page.digest,
            fingerprint=page.fingerprint if page.is_long_enough else None,
            sketch=page.sketch.tobytes(),
            words=page.word_count,
            language=page.language,
        )
        if number in self._mine:
            self._mine[number] = record
        entry = _entry(page, self._replica.entry(number).host)
        self._log.replace(number, entry, record, int(now()))
        self._sync()

    def commit(self, number: int) -> None:
        """Keep a pending page for good; one that is not pending here is left as it is."""
        record = self._mine.get(number)
        if record is None:
            return
        replaced = self._revisited.get(number, 0)
        was_pending = self._log.commit(number, record, replaced, int(now()))
        if not was_pending:
            self._commit_anew(number, record, replaced)
        elif replaced:
            self._log.remove_records([replaced])
        self._forget_claim(number)

    def release(self, number: int) -> None:
        """Forget a pending page; one that is not pending here is left as it is."""
        if number in self._mine:
            del self._mine[number]
            self._revisited.pop(number, None)
            self.gone.append(number)
            self._log.release(number, int(now()))
            self._sync()

    def flush(self) -> None:
        """Do nothing: what was committed is with the servers."""

    def forget(self, url: str) -> int:
        """Forget all pages at a URL, however it is spelt; return how many there were.

        Cost: reads the record of every page.
        """
        self._sync()
        wanted, found = url_key(url), []
        for pages in self._replica.pages():
            for number, record in self._log.records(pages).items():
                if url_key(record.url) == wanted:
                    found.append(number)
        self._remove(found)
        return len(found)

    def close(self) -> None:
        """Release what is pending, and take part no more.

        Raises:
            StoreError: the servers cannot be reached; what is pending is released by others.
        """
        self._lease.close()
        try:
            self._lease.bring()
            self._log.leave(int(now()))
        finally:
            self._log.close()

    def check(self) -> None:
        """Verify that replica, log and records agree. Requires: no other process is at work.

        Raises:
            AssertionError: they do not.
        """
        self._sync()
        self._replica.check()
        in_flight = self._log.pages_in_flight()
        assert set(self._mine) <= in_flight, "a page pending here is not in flight"
        for page in in_flight:
            assert page in self._replica, f"page {page} is in flight, and gone"
        for pages in self._replica.pages():
            records = self._log.records(pages)
            for number in pages:
                assert number in records, f"there is no record of page {number}"
                entry, record = self._replica.entry(number), records[number]
                assert record.is_pending == (number in in_flight)
                assert entry == _entry_of(record), f"page {number} is known as another"

    def _append(self, place: Place, page: PageProfile, found: Comparison) -> int:
        """Append a page to the log; return its number.

        Raises:
            Overtaken: something stands before it for which it is not what it was found to be.
        """
        entry, record = _entry(page, host_hash(place.host)), self._record_of(place, page, found)
        number, news = self._appended(entry, record, unless_news=True)
        while not number:
            # What is learnt before the page stands in the log needs no event to take it back.
            self._replica.follow(news)
            if self._is_within(entry, news) and not self._is_still(found, place, page):
                raise Overtaken
            number, news = self._appended(entry, record, unless_news=False)
        before, own = news.parted(number)
        self._replica.follow(before)
        try:
            is_overtaken = self._is_within(entry, before) and not self._is_still(found, place, page)
        except BaseException:
            self._log.abandon(number)
            raise
        finally:
            self._replica.follow(own)
        if is_overtaken:
            self._log.release(number, int(now()))
            raise Overtaken
        self._mine[number] = record
        return number

    def _appended(self, entry: Entry, record: PageRecord, *, unless_news: bool) -> tuple[int, News]:
        try:
            return self._log.append(entry, record, int(now()), unless_news=unless_news)
        except LogChanged:
            self._read_anew()
            raise Overtaken from None

    def _is_within(self, entry: Entry, news: News) -> bool:
        """Tell whether an event may be of a page that one with this entry repeats."""
        events = decode(news.events)
        alike = kinds(events) == entry.kind
        if self._by_host:
            alike &= events["host"] == entry.host
        bits = np.bitwise_count(events["value"] ^ np.uint64(entry.value))
        most = self._config.max_distance if entry.kind == LONG else 0
        return bool((alike & (bits <= most)).any())

    def _is_still(self, found: Comparison, place: Place, page: PageProfile) -> bool:
        """Tell whether a page is still what it was found to be."""
        again = self.compare(place, page)
        return (again.outcome, again.original_page) == (found.outcome, found.original_page)

    def _commit_anew(self, number: int, record: PageRecord, replaced: int) -> None:
        """Commit a page that is not pending any more.

        Either it was committed, and the answer was lost; or its lease was over, or a server
        failed and knows nothing of it. Then it is put in without a look at what came since.
        """
        self._sync()
        if number in self._replica and self._replica.entry(number) == _entry_of(record):
            return
        again = 0
        while not again:
            again, news = self._appended(_entry_of(record), record, unless_news=False)
            self._replica.follow(news)
        self._log.commit(again, record, replaced, int(now()))

    def _record_of(self, place: Place, page: PageProfile, found: Comparison) -> PageRecord:
        moment = int(now())
        record = PageRecord(
            page=0,
            url=place.url,
            host=place.host,
            digest=page.digest,
            fingerprint=page.fingerprint if page.is_long_enough else None,
            sketch=page.sketch.tobytes(),
            words=page.word_count,
            language=page.language,
            first_seen=moment,
            last_seen=moment,
            first_crawl=self._log.crawl,
            crawl=self._log.crawl,
            is_pending=True,
            judged=Judged(found.outcome, found.reason, None, found.distance, found.similarity),
        )
        before = self._records.get(found.original_page or 0)
        if found.outcome == "revisit" and before is not None:
            return record._replace(first_seen=before.first_seen, first_crawl=before.first_crawl)
        return record

    def _read(self, pages: list[int], distances: list[int], place: Place) -> "_Candidates":
        """Read the records of pages that may be repeated; those that are gone are left out."""
        if not pages:
            return _Candidates([], [], [])
        self._records = self._log.records(pages)
        # Afterwards: one that was in no flight, and is there now, was committed before.
        self._sync()
        there = [
            (page, distance, self._records[page])
            for page, distance in zip(pages, distances, strict=True)
            if page in self._records
            and page in self._replica
            # After a server failed, the number may have been given to another page.
            and self._replica.entry(page) == _entry_of(self._records[page])
            and not (self._by_host and self._records[page].host != place.host)
        ]
        return (
            _Candidates(*map(list, zip(*there, strict=True))) if there else _Candidates([], [], [])
        )

    def _exact(self, place: Place, page: PageProfile, found: "_Candidates") -> Comparison | None:
        same = [at for at, record in enumerate(found.records) if record.digest == page.digest]
        if not same:
            return None
        at, is_revisit = self._chosen(same, found, place)
        outcome: Outcome = "revisit" if is_revisit else "exact"
        return Comparison(outcome, None, found.pages[at], found.records[at].url, 0, 1.0)

    def _near(self, place: Place, page: PageProfile, found: "_Candidates") -> Comparison:
        new = Comparison("new", candidates=len(found.pages))
        if not found.pages:
            return new
        estimates: list[float] = similarities(page.sketch, found.matches.sketches).tolist()
        near = similar_enough(range(len(found.pages)), estimates, self._config.min_similarity)
        if not near:
            return new
        at, is_revisit = self._chosen(near, found, place)
        return new._replace(
            outcome="revisit" if is_revisit else "near",
            original_page=found.pages[at],
            original=found.records[at].url,
            distance=found.distances[at],
            similarity=estimates[at],
        )

    def _chosen(
        self, ranked: Sequence[int], found: "_Candidates", place: Place
    ) -> tuple[int, bool]:
        # A crawl that was begun after this one, by processes that are at work too, is no earlier
        # one; a job that is resumed may meet it.
        return choose(ranked, found.matches, place.key, self._log.crawl.__le__)

    def _settled(self, found: Comparison, *, is_pending: bool) -> Comparison:
        """Wait until the original of a page is settled, if nobody else will.

        Raises:
            Overtaken: the original is gone.
        """
        original = found.original_page
        assert original is not None, "a duplicate has an original"
        if original in self._mine or not self._records[original].is_pending:
            return found
        self._awaited[original] = _entry_of(self._records[original])
        if len(self._awaited) > _MOST_AWAITED:
            del self._awaited[next(iter(self._awaited))]
        if is_pending:
            return found
        latest, pause = monotonic() + _LONGEST_WAIT, 0.002
        while (fate := self.fate(original)) == "pending":
            if monotonic() > latest:
                return Comparison("unjudged", "pending", candidates=found.candidates)
            sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        if fate == "gone":
            raise Overtaken
        return found

    def _told(self, found: Comparison) -> Comparison:
        self._lease.count(found.outcome)
        return found

    def _forget_claim(self, number: int) -> None:
        self._mine.pop(number, None)
        if self._revisited.pop(number, None) is not None:
            self._sync()

    def _tend(self, coming: int = 1) -> None:
        """Forget pages beyond the bounds, before more are recorded."""
        bound = self._config.max_pages
        over = 0 if bound is None else len(self._replica) + coming - bound
        if bound is not None and over > 0:
            most = max(over, min(bound // _BATCHES, _MOST_AT_ONCE))
            self._remove(self._settled_ones(self._replica.oldest(most)))
        self._until_tended -= 1
        if self._until_tended < 0:
            self._until_tended = _PAGES_BETWEEN
            self._expire()
            self._log.trim(self._replica.first_chunk)

    def _expire(self) -> None:
        if self._config.expire_days is not None:
            before = int(now() - self._config.expire_days * _DAY_SECONDS)
            due = self._replica.not_seen_since(before, _MOST_AT_ONCE)
            self._remove(self._settled_ones(due))

    def _settled_ones(self, pages: list[int]) -> list[int]:
        """Leave out those that are pending: somebody is about to settle them."""
        return sorted(set(pages) - self._log.pages_in_flight()) if pages else []

    def _remove(self, pages: list[int]) -> None:
        if pages:
            self._log.remove(pages, int(now()))
            for page in pages:
                self._mine.pop(page, None)
            self.gone += pages
            self._sync()

    def _sync(self) -> None:
        """Follow the log to its end."""
        while True:
            try:
                news = self._log.news(int(now()))
            except LogChanged:
                self._read_anew()
                continue
            self._replica.follow(news)
            if news.is_last:
                return

    def _read_anew(self) -> None:
        logger.warning("%s: a server has lost a part of it; it is read anew", self._log)
        self._replica.clear()
        self._log.rewind()


class _Candidates(NamedTuple):
    """Pages that another may repeat, side by side, nearest first."""

    pages: list[int]
    distances: list[int]
    records: list[PageRecord]

    @property
    def matches(self) -> Matches:
        """What is chosen by."""
        return Matches(
            [],
            [record.crawl for record in self.records],
            [url_key(record.url) for record in self.records],
            sketch_rows([record.sketch for record in self.records]),
        )


def _entry(page: PageProfile, host: int) -> Entry:
    if page.is_long_enough:
        return Entry(page.fingerprint, LONG, host)
    return Entry(_start(page.digest), SHORT, host)


def _entry_of(record: PageRecord) -> Entry:
    host = host_hash(record.host)
    if record.fingerprint is not None:
        return Entry(record.fingerprint, LONG, host)
    return Entry(_start(record.digest), SHORT, host)


def _start(digest: bytes) -> int:
    return int.from_bytes(digest[:8], "little")
