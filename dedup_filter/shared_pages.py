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
commits after its lease was over. Of frames, what the first pages of each host showed is shared
(`frame_exchange`). Records of dropped pages are not kept.

Cost: one call for a page that is new, two where others are at work, and one for its commit, two
on a cluster; two or three for a duplicate. All the work on fingerprints is done here.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from math import inf
from time import monotonic, sleep
from time import time as now
from typing import NamedTuple

from dedup_filter.comparison import (
    MOST_COMPARED,
    Comparison,
    Overtaken,
    choose,
    similar_enough,
)
from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints import similarities
from dedup_filter.frame_exchange import FrameExchange
from dedup_filter.index import Neighbours
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
    SharedLog,
    host_hash,
)
from dedup_filter.store import FrameStore, Judged, Matches, PageRecord, Place
from dedup_filter.store.records import sketch_rows
from dedup_filter.store.url_key import url_key

__all__ = ["SharedPages"]

logger = logging.getLogger(__name__)

_LONGEST_WAIT = 2 * LEASE
"""Seconds for which `see` waits for another process to settle the original of its page."""
_SHORTEST_PAUSE = 0.002
_LONGEST_PAUSE = 0.25
_MOST_AWAITED = 10_000
_MOST_TRIALS = 3
_MOST_READINGS = 6
"""Of a page whose measures are being replaced: the last one comes 20 ms after the first."""
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
    """Each process learns them anew, or from others."""
    is_durable = False
    disk_bytes = 0

    def __init__(self, config: FilterConfig, log: SharedLog) -> None:
        self._config = config
        self._log = log
        self._by_host = config.scope == "host"
        self._replica = Replica(config.max_distance, by_host=self._by_host)
        self.exchange = FrameExchange(log.lessons())
        """With which what hosts have shown is told to other processes."""
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
        self._lost: dict[int, PageRecord] = {}
        """Pages that were pending here, and of which the servers know nothing any more."""
        self._lost_to = 0
        """Up to which number pages may have been lost, and numbers given again."""
        self._in_doubt: dict[int, Entry] = {}
        """Pages of which it is not known whether they were committed, and that nobody asks for."""
        self._is_anew = False
        """Whether the log is being read from its beginning again."""
        self._compared_from = 0
        """Number of the last event that is known to come before the page was compared."""
        self._until_tended = 0
        self._sync()
        self._compared_from = self._replica.end
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
        self._withdraw()
        return self._compared(place, page)

    def _compared(self, place: Place, page: PageProfile, before: float = inf) -> Comparison:
        """Compare a page with those whose numbers are lower than one."""
        host = host_hash(place.host)
        if not page.is_long_enough:
            rows = self._replica.with_digest(_start(page.digest), host, MOST_COMPARED)
            rows = [row for row in rows if row < before]
            found = self._read(rows, [0] * len(rows), place)
            same = self._exact(place, page, found)
            return same or Comparison("unjudged", "too_short")
        near = self._replica.neighbours(page.fingerprint, host, MOST_COMPARED + 1)
        if before < inf:
            kept = near.rows < before
            near = Neighbours(near.rows[kept], near.fingerprints[kept], near.distances[kept])
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
        if number not in self._awaited and (number in self._mine or number in self._lost):
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
        try:
            if found.is_duplicate:
                return self._told(self._settled(found, is_pending=is_pending)).verdict(page)
            self._tend()
            number = self._append(place, page, found)
            if found.outcome == "revisit" and found.original_page is not None:
                self._revisited[number] = found.original_page
            if not is_pending:
                self._keep(number)
        finally:
            self._compared_from = self._replica.end
        return self._told(found).verdict(page, number)

    def replace(self, number: int, page: PageProfile, text: str | None = None) -> None:  # noqa: ARG002
        """Give a page another profile; one that is gone is left so."""
        for _ in range(_MOST_TRIALS):
            record = self._mine.get(number) or self._log.records([number]).get(number)
            if record is None or number not in self._replica or number <= self._lost_to:
                return
            record = record._replace(
                digest=page.digest,
                fingerprint=page.fingerprint if page.is_long_enough else None,
                sketch=page.sketch.tobytes(),
                words=page.word_count,
                language=page.language,
            )
            if self._replaced(number, record):
                return

    def commit(self, number: int) -> None:
        """Keep a pending page for good; one that is not pending here is left as it is."""
        lost = self._lost.get(number)
        if lost is not None:
            self._commit_anew(lost)
            del self._lost[number]
            return
        record = self._mine.get(number)
        if record is None:
            return
        if not self._committed(number, record):
            self._sync()
            if self._is_there(number, record):  # it was, and the answer was lost
                self._log.put_record(number, record)
            else:  # its lease was over, or a server failed
                self._commit_anew(record)
        self._forget_claim(number)

    def release(self, number: int) -> None:
        """Forget a pending page; one that is not pending here is left as it is."""
        if number in self._lost:
            del self._lost[number]
            self.gone.append(number)
        elif number in self._mine:
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
        wanted = url_key(url)
        while True:
            self._sync()
            found = [
                number
                for pages in self._replica.pages()
                for number, record in self._log.records(pages).items()
                if url_key(record.url) == wanted
            ]
            if self._remove(found):
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
        number = self._appended(entry, record, unless_news=True)
        while not number:
            # What is learnt before the page stands in the log needs no event to take it back.
            if not self._is_still(found, place, page, entry):
                raise Overtaken
            number = self._appended(entry, record, unless_news=False)
        if number in self._lost:
            # Both would go by one number here. The next page gets another one.
            self._log.release(number, int(now()))
            raise Overtaken
        try:
            is_still = self._is_still(found, place, page, entry, number)
        except BaseException:
            self._log.abandon(number)
            raise
        if not is_still:
            self._log.release(number, int(now()))
            raise Overtaken
        self._mine[number] = record
        return number

    def _appended(self, entry: Entry, record: PageRecord, *, unless_news: bool) -> int:
        try:
            number, news = self._log.append(entry, record, int(now()), unless_news=unless_news)
        except LogChanged:
            self._read_anew()
            self._sync()
            raise Overtaken from None
        self._replica.follow(news)
        return number

    def _is_still(
        self, found: Comparison, place: Place, page: PageProfile, entry: Entry, number: int = 0
    ) -> bool:
        """Tell whether a page is still what it was found to be, after all that has come since.

        With its number, those that came after it do not matter: they learn of it.
        """
        seen, self._compared_from = self._compared_from, self._replica.end
        if not self._replica.has_like(entry, seen, number):
            return True
        again = self._compared(place, page, number or inf)
        return (again.outcome, again.original_page) == (found.outcome, found.original_page)

    def _replaced(self, number: int, record: PageRecord) -> bool:
        """Give a page another record; return whether there is nothing left to do."""
        try:
            done = self._log.replace(number, _entry_of(record), record, int(now()))
        except LogChanged:
            self._read_anew()
            done = True
        else:
            if done and number in self._mine:
                self._mine[number] = record
        self._sync()
        return done

    def _withdraw(self) -> None:
        """Take back what was recorded here and told to nobody, because an answer was lost."""
        self._log.disown(int(now()))
        if self._in_doubt:
            self._sync()
            there = self._in_doubt.items()
            self._remove(
                [
                    number
                    for number, entry in there
                    if number in self._replica and self._replica.entry(number) == entry
                ]
            )
            self._in_doubt.clear()

    def _committed(self, number: int, record: PageRecord) -> bool:
        """Commit a page; return whether it was pending."""
        replaced = self._revisited.get(number, 0)
        was_pending = self._log.commit(number, record, replaced, int(now()))
        if was_pending and replaced:
            self._log.remove_records([replaced])
        return was_pending

    def _keep(self, number: int) -> None:
        """Commit a page that is told to nobody before.

        Raises:
            Overtaken: its lease was over, or a server failed: it must be compared anew.
        """
        record = self._mine[number]
        try:
            was_pending = self._committed(number, record)
        except BaseException:
            self._in_doubt[number] = _entry_of(record)
            self._log.abandon(number)
            raise
        finally:
            self._forget_claim(number)
        if not was_pending:
            raise Overtaken

    def _commit_anew(self, record: PageRecord) -> None:
        """Commit a page of which the servers know nothing, without a look at what came since."""
        number = 0
        while not number:
            with suppress(Overtaken):
                number = self._appended(_entry_of(record), record, unless_news=False)
        try:
            self._log.commit(number, record, 0, int(now()))
        except BaseException:
            self._log.abandon(number)
            raise

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
        for trial in range(_MOST_READINGS):
            changing = [page for page in self._records if not self._is_as_told(page)]
            if not changing:
                break
            # Another process is giving it other measures: the record is about to follow.
            sleep(trial * _SHORTEST_PAUSE)
            self._records.update(self._log.records(changing))
            self._sync()
        there = [
            (page, distance, self._records[page])
            for page, distance in zip(pages, distances, strict=True)
            if page in self._records
            and page in self._replica
            and self._is_as_told(page)
            and not (self._by_host and self._records[page].host != place.host)
        ]
        return (
            _Candidates(*map(list, zip(*there, strict=True))) if there else _Candidates([], [], [])
        )

    def _is_as_told(self, page: int) -> bool:
        """Tell whether the record of a page, if it is there, is of what the log tells of it.

        After a server failed, the number may have been given to another page.
        """
        return page not in self._replica or self._is_there(page, self._records[page])

    def _is_there(self, number: int, record: PageRecord) -> bool:
        """Tell whether this very page is there."""
        return number in self._replica and self._replica.entry(number) == _entry_of(record)

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
        latest, pause = monotonic() + _LONGEST_WAIT, _SHORTEST_PAUSE
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
            self._trim()

    def _trim(self) -> None:
        try:
            self._log.trim(self._replica.first_chunk)
        except LogChanged:
            self._read_anew()
            self._sync()

    def _expire(self) -> None:
        if self._config.expire_days is not None:
            before = int(now() - self._config.expire_days * _DAY_SECONDS)
            due = self._replica.not_seen_since(before, _MOST_AT_ONCE)
            self._remove(self._settled_ones(due))

    def _settled_ones(self, pages: list[int]) -> list[int]:
        """Leave out those that are pending: somebody is about to settle them."""
        return sorted(set(pages) - self._log.pages_in_flight()) if pages else []

    def _remove(self, pages: list[int]) -> bool:
        """Take pages out; return False if the log is another one, with other numbers."""
        if not pages:
            return True
        try:
            self._log.remove(pages, int(now()))
        except LogChanged:
            self._read_anew()
            self._sync()
            return False
        for page in pages:
            self._mine.pop(page, None)
        self.gone += pages
        self._sync()
        return True

    def _sync(self) -> None:
        """Follow the log to its end."""
        while not self._follow():
            pass
        if self._is_anew:
            self._is_anew = False
            self._part_lost()

    def _follow(self) -> bool:
        """Follow the log for a while; return whether that was its end."""
        try:
            news = self._log.news(int(now()))
        except LogChanged:
            self._read_anew()
            return False
        self._replica.follow(news)
        return news.is_last

    def _read_anew(self) -> None:
        """Begin to read another log than was read up to here. Requires: `_sync` goes on."""
        lost_to = self._log.offset
        self._log.rewind(int(now()))
        logger.warning("%s: a server has lost a part of it; it is read anew", self._log)
        self._is_anew = True
        self._lost_to = max(self._lost_to, lost_to)
        self._replica.clear()
        self.exchange.read_anew()
        for known in (self._records, self._revisited, self._in_doubt):
            known.clear()
        self._compared_from = 0

    def _part_lost(self) -> None:
        """Part the pages pending here from those that are not pending there any more."""
        lost = {
            number: record
            for number, record in self._mine.items()
            if not self._is_there(number, record)
        }
        for number in lost:
            del self._mine[number]
        self._log.pending.difference_update(lost)
        self._lost.update(lost)


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
