"""The pages of a shared index, as the filter asks for them: compare, record, commit, forget.

    page -> pages within k bits, or with its digest -> their records -> repeats one of them?
    page, and what was found of it -> its own record -> appended, pending -> is it still so?

A record may be newer or older than the replica. So the log is read after it, and a record that does
not fit the log is read again or left out.

The page that another repeats may be pending elsewhere: it is asked for again, or waited for. After
a server failed its number may have been given to another page, so it is known by its entry too.

To stay within its bounds the index forgets the pages not seen for longest, several at once, so that
each costs little. Pending pages stay: their process is about to commit or release them.

Cost: none to compare a page that nothing is like, two calls otherwise; two to ask what became of a
page, and waiting for that asks at most every 0.25 s in the end; three calls for a batch of pages
that are forgotten.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from math import inf
from time import monotonic, sleep
from time import time as now
from typing import NamedTuple

from dedup_filter.config import FilterConfig, expiry_seconds, oldest_kept
from dedup_filter.errors import StoreError
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.model import Fate, Outcome, Verdict
from dedup_filter.pages.comparison import (
    MOST_COMPARED,
    Candidate,
    Overtaken,
    compared,
    relation,
    verdict_on,
)
from dedup_filter.pages.directory import FrameStore, Judged, PageRecord, Place, measures_of
from dedup_filter.pages.directory.records import url_key
from dedup_filter.pages.frame_exchange import FrameExchange, LessonLists
from dedup_filter.pages.redis.formats import Entry, entry_of
from dedup_filter.pages.redis.process import LEASE, Process
from dedup_filter.pages.redis.records import SharedRecords
from dedup_filter.pages.redis.replica import LoggedPages
from dedup_filter.pages.redis.shared_log import MOST_AT_ONCE, SharedLog

__all__ = ["RedisPages"]

_BATCHES = 100
"""An index of `max_pages` gives room for a hundredth of them at a time, or for `MOST_AT_ONCE`."""
_PAGES_BETWEEN = 1_000
"""Pages after which is looked whether others have expired, and what of the log can be deleted."""
_MOST_READINGS = 6
"""Of a page whose measures are being replaced: the last one comes 30 ms after the first."""
_PAUSE = 0.002
_LONGEST_PAUSE = 0.25
_LONGEST_WAIT = 2 * LEASE
"""Seconds for which `see` waits for another process to end its claim of a page's original."""

Found = dict[int, tuple[int, int]]
"""Pages like one that is judged: the number of its first text that found each, and the distance."""


class _Recorded(NamedTuple):
    """What was recorded in a transaction."""

    verdict: Verdict
    is_pending: bool
    """Whether the page is to stay pending."""
    is_open: bool
    """Whether its original was pending when that was read; otherwise it was kept."""


class RedisPages:
    """The pages that later ones may repeat, kept by all processes of a shared index.

    A page that was being recorded when a call failed is not in the index, or is released.
    """

    is_shared = True
    frames: FrameStore | None = None
    """Each process learns them anew, or from others."""
    disk_bytes = 0

    def __init__(self, config: FilterConfig, process: Process) -> None:
        days = config.expire_days
        seconds = None if days is None else expiry_seconds(days)
        self._config = config
        self._process = process
        self._replica = LoggedPages(config.max_distance, by_host=config.scope == "host")
        self._records = SharedRecords(process.connection, seconds)
        self._log = SharedLog(process, self._replica, self._records, self._begin_anew)
        self.gone = self._log.gone
        """Pages of this process that are gone; for the owner to take note of, and to clear."""
        self._repeated = _Repeated(process)
        self.exchange = FrameExchange(LessonLists(process.connection, process.name, seconds))
        """With which what hosts have shown is told to other processes."""
        self.capped = 0
        """Comparisons in which there were more candidates than `MOST_COMPARED`."""
        self._read: dict[int, PageRecord] = {}
        """Records of the pages that were compared last."""
        self._looked_up: tuple[int, Found] | None = None
        """The end of the log when a page was compared last, and what was like it then."""
        self._recorded: _Recorded | None = None
        self._wait = 0
        try:
            self._log.sync()
            self._make_room(coming=0)
        except BaseException:
            with suppress(StoreError):  # then its lease runs out
                process.leave()
            raise

    def __len__(self) -> int:
        return len(self._replica)

    @property
    def nbytes(self) -> int:
        """Memory of this process's replica, in bytes."""
        return self._replica.nbytes

    def totals(self) -> dict[str, int]:
        """Count the pages that all processes have judged, by outcome."""
        counts = self._process.totals()
        return {"pages": sum(counts.values()), **counts}

    def compare(self, place: Place, page: PageProfile) -> Verdict:
        """Tell whether a page repeats one that is kept or pending."""
        if page.is_blank:
            self._process.count("unjudged")  # here, as nothing is recorded of it
            return verdict_on(page, "unjudged", "no_text")
        self._log.withdraw()
        found, capped = self._like(place, page)
        self.capped += capped
        self._looked_up = self._replica.end, found
        return self._compared(place, page, found)

    def fate(self, number: int) -> Fate:
        """Tell what has become of a page that was recorded, here or by another process."""
        recorded = self._recorded
        if recorded is not None and number == recorded.verdict.original_page:
            return "pending" if recorded.is_open else "kept"
        held, awaited = self._log.held.get(number), self._repeated.entry(number)
        if held is not None and awaited in (None, entry_of(held)):
            return "pending"
        is_pending = self._records.is_pending(number)
        # In this order: a page that was not pending, and is there now, was committed. And always:
        # calls release the pages of dead processes, and there may be no other call left.
        self._log.sync()
        if is_pending:
            return "pending"
        told = self._replica.entry(number)
        is_kept = told is not None and awaited in (None, told)
        self._repeated.end(number, is_kept=is_kept)
        return "kept" if is_kept else "gone"

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Count the page that is recorded within, and commit it if it is not to stay pending.

        If anything fails, that included, the page is taken back.

        Raises:
            Overtaken: its lease is over, or a server failed: it must be compared anew.
        """
        self._recorded = None
        try:
            yield
            if self._recorded is not None:
                verdict, is_pending, is_open = self._recorded
                if verdict.page is not None and not is_pending:
                    self._log.keep(verdict.page)
                is_waiting = verdict.page is None and is_pending and is_open
                original = verdict.original_page if is_waiting else None
                self._repeated.told(verdict.outcome, original)
        except BaseException:
            if self._recorded is not None and self._recorded.verdict.page is not None:
                self._log.abandon(self._recorded.verdict.page)
            raise
        finally:
            self._recorded = None

    def record(
        self,
        place: Place,
        page: PageProfile,
        found: Verdict,
        text: str | None = None,  # noqa: ARG002
        *,
        is_pending: bool,
    ) -> Verdict:
        """Record a page, pending, and what was found of it; return the verdict.

        Raises:
            Overtaken: another process kept a page like it, or released the one that it repeats:
                it must be compared anew.
        """
        original = self._read.get(found.original_page or 0)
        if found.original_page is not None and original is None:
            raise Overtaken  # the log was read anew since
        is_open = original is not None and original.is_pending
        if original is not None and found.is_duplicate:
            if is_open and original.page not in self._log.held:
                self._repeated.expect(original.page, entry_of(original))
                if not is_pending:
                    found, is_open = self._waited_for(original.page, found), False
            self._recorded = _Recorded(found, is_pending, is_open)
            return found
        # A page that comes again takes the place of what it was.
        self._make_room(coming=1 if original is None else 0)
        record = _record_of(place, page, found, self._process.crawl, original)
        number = self._log.append(record, found.original_page or 0)
        self._recorded = _Recorded(found._replace(page=number), is_pending, is_open)
        if not self._is_still(found, place, page, number):
            self._log.release(number)
            raise Overtaken
        return self._recorded.verdict

    def replace(self, number: int, page: PageProfile, text: str | None = None) -> None:  # noqa: ARG002
        """Give a page another profile; one that is gone is left so."""
        self._log.replace(number, measures_of(page))

    def commit(self, number: int) -> None:
        """Keep a pending page for good; one that is not pending here is left as it is."""
        self._log.commit(number)
        self._repeated.end(number, is_kept=True)

    def release(self, number: int) -> None:
        """Forget a pending page; one that is not pending here is left as it is."""
        if number in self._log.held:
            self._repeated.end(number, is_kept=False)
            self._log.release(number)
            self._log.sync()

    def flush(self) -> None:
        """Do nothing: what was committed is with the servers."""

    def forget(self, url: str) -> int:
        """Forget all pages at a URL, however it is spelt; return how many there were.

        Those that are pending elsewhere stay. Cost: reads the record of every page.
        """
        wanted, removed = url_key(url), None
        while removed is None:
            self._log.sync()
            records = self._records.records(list(self._replica))
            removed = self._log.remove(
                [each.page for each in records if url_key(each.url) == wanted]
            )
        return len(removed)

    def close(self) -> None:
        """Release what is pending, and take part no more.

        Raises:
            StoreError: the servers cannot be reached; what is pending is released by others.
        """
        try:
            self._log.withdraw()
            self._process.bring()
            self._process.leave()
        finally:
            self._process.close()

    def check(self) -> None:
        """Verify that replica, log and records agree. Requires: no other process is at work."""
        self._log.sync()
        self._replica.check()
        in_flight, there = self._records.in_flight(), list(self._replica)
        assert set(self._log.held) <= in_flight <= set(there), "other pages are in flight"
        records = {record.page: record for record in self._records.records(there)}
        for number in there:
            assert number in records, f"there is no record of page {number}"
            assert records[number].is_pending == (number in in_flight)
            assert self._log.is_there(number, records[number]), f"page {number} is another"

    def _compared(self, place: Place, page: PageProfile, found: Found) -> Verdict:
        """Compare a page with those that are like it."""
        self._read_fitting(found)
        candidates = [
            Candidate(
                *found[number],
                *relation(page, place.host, record.host),
                record.sketch,
                record.headline,
                number,
                record.crawl,
                url_key(record.url),
                record.digest,
            )
            for number, record in self._read.items()
            # Those of another host are near by chance.
            if self._config.scope != "host" or record.host == place.host
        ]
        # A crawl that was begun after this one, by processes that are at work too, is no earlier
        # one; a job that is resumed may meet it.
        is_ours = self._process.crawl.__le__
        verdict = compared(page, candidates, self._config.min_similarity, place.key, is_ours)
        original = verdict.original_page
        return verdict if original is None else verdict._replace(original=self._read[original].url)

    def _is_still(self, found: Verdict, place: Place, page: PageProfile, number: int) -> bool:
        """Tell whether a page is still what it was found to be, after all that stands before it.

        Those that stand after it do not matter: they learn of it.
        """
        end, like_before = self._looked_up or (0, None)
        if self._replica.end == end + 1:
            return True
        like, _ = self._like(place, page, before=number)
        if like == like_before:
            return True
        again = self._compared(place, page, like)
        return (again.outcome, again.original_page) == (found.outcome, found.original_page)

    def _like(self, place: Place, page: PageProfile, before: float = inf) -> tuple[Found, int]:
        """Return the pages near the texts of a page, or with its digest if it has no text.

        Only those whose numbers are lower than one; and for how many texts there were too many.
        """
        found: Found = {}
        capped = 0
        fingerprints: list[int | None] = [text.fingerprint for text in page.texts]
        for number, fingerprint in enumerate(fingerprints or [None]):
            entry = Entry.of(fingerprint, page.digest, place.host)
            near = self._replica.near(entry, MOST_COMPARED + 1)
            capped += len(near.rows) > MOST_COMPARED
            near = near.first(MOST_COMPARED)
            for row, distance in zip(near.rows.tolist(), near.distances.tolist(), strict=True):
                if row < before:
                    found.setdefault(row, (number, distance))
        return found, capped

    def _read_fitting(self, pages: Collection[int]) -> None:
        """Read the records of pages that may be repeated; those that are gone are left out."""
        self._read, changing = {}, list(pages)
        for trial in range(_MOST_READINGS if pages else 0):
            sleep(trial * _PAUSE)
            self._read.update((each.page, each) for each in self._records.records(changing))
            # Afterwards: a page that was not in flight, and is there now, was committed before.
            self._log.sync()
            fits = {page: self._log.is_there(page, record) for page, record in self._read.items()}
            # Another process gives them other measures: the record is about to follow. Or a server
            # failed, and the number was given to another page.
            changing = [page for page in fits if page in self._replica and not fits[page]]
            if not changing:
                break
        self._read = {page: record for page, record in self._read.items() if fits.get(page)}

    def _waited_for(self, original: int, found: Verdict) -> Verdict:
        """Wait until the original of a page is not pending any more.

        Raises:
            Overtaken: it is gone.
        """
        latest, pause = monotonic() + _LONGEST_WAIT, _PAUSE
        while (fate := self.fate(original)) == "pending":
            if monotonic() > latest:
                return found.as_unjudged("pending")._replace(original_page=None)
            sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        if fate == "gone":
            raise Overtaken
        return found

    def _make_room(self, coming: int) -> None:
        """Forget pages beyond the bounds, before so many more are recorded."""
        bound, days = self._config.max_pages, self._config.expire_days
        over = 0 if bound is None else len(self._replica) + coming - bound
        if bound is not None and over > 0:
            self._forget_oldest(max(over, min(bound // _BATCHES, MOST_AT_ONCE)))
        self._wait -= 1
        if self._wait < 0:
            self._wait = _PAGES_BETWEEN
            if days is not None:
                self._forget_oldest(len(self._replica), oldest_kept(days, now()))
            self._log.tend()

    def _forget_oldest(self, most: int, before: float = inf) -> None:
        oldest = self._replica.oldest(most, before)
        self._log.remove([page for page in oldest if page not in self._log.held])

    def _begin_anew(self) -> None:
        """Forget what is known by numbers: the log is read from its beginning again."""
        self._read.clear()
        self._looked_up = None
        self._repeated.begin_anew()
        self.exchange.read_anew()


class _Repeated:
    """Pending pages that pages here repeat; and counts of the pages that this process judges.

    What repeats a pending page is judged anew if that is released. Until it is known what became of
    it, such a page is counted as what it was found to be, and its count can be taken back.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self._pages: dict[int, tuple[Entry | None, Counter[Outcome]]] = {}
        """What the log told of each that is pending elsewhere, and what was said of the pages that
        repeat it."""

    def expect(self, page: int, entry: Entry | None = None) -> Counter[Outcome]:
        """Remember a page until its end; return what was said of those that repeat it."""
        known, told = self._pages.pop(page, (None, Counter()))
        self._pages[page] = entry or known, told
        return told

    def entry(self, page: int) -> Entry | None:
        """Return what the log told of a page that is pending elsewhere."""
        return self._pages[page][0] if page in self._pages else None

    def told(self, outcome: Outcome, original: int | None = None) -> None:
        """Count a page, which may repeat one that is pending."""
        self._process.count(outcome)
        if original is not None:
            self.expect(original)[outcome] += 1

    def end(self, page: int, *, is_kept: bool) -> None:
        """Take note that a page is not pending: what repeats it is judged for good, or anew."""
        _, told = self._pages.pop(page, (None, Counter()))
        for outcome, count in told.items() if not is_kept else ():
            self._process.count(outcome, -count)

    def begin_anew(self) -> None:
        """Take nothing back: what was counted may be lost."""
        for _, told in self._pages.values():
            told.clear()


def _record_of(
    place: Place, page: PageProfile, found: Verdict, crawl: int, visited: PageRecord | None
) -> PageRecord:
    """Return the record of a page, pending; one that was visited before is as old as it was."""
    moment = int(now())
    first = (visited.first_seen, visited.first_crawl) if visited else (moment, crawl)
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
