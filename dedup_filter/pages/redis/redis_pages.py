"""The pages of a shared index, as the filter asks for them: compare, record, commit, forget.

Joins the other modules of this package, and what is kept of frames; each method is one of their
steps or a few in a row. Guarantees and costs are told at the head of the package.

To stay within its bounds the index forgets the pages not seen for longest, several at once, so that
each costs little. Pending pages stay: their process is about to commit or release them. The log is
bounded by the pages that are there: chunks of it that tell of no page are deleted, and if most of
its events tell of none, those of its first chunk that do are appended once more.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from time import time as now
from typing import NamedTuple

from dedup_filter.config import FilterConfig
from dedup_filter.errors import StoreError
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.model import Fate, Outcome, Verdict
from dedup_filter.pages.comparison import verdict_on
from dedup_filter.pages.directory import FrameStore, Place
from dedup_filter.pages.directory.records import url_key
from dedup_filter.pages.expiry import expiry_seconds, oldest_kept
from dedup_filter.pages.frame_exchange import FrameExchange
from dedup_filter.pages.redis.claims import Claims, Tally
from dedup_filter.pages.redis.comparer import Comparer, record_of, remeasured
from dedup_filter.pages.redis.followed_log import FollowedLog
from dedup_filter.pages.redis.formats import CHUNK, entry_of
from dedup_filter.pages.redis.process import Process
from dedup_filter.pages.redis.records import LessonLists, SharedRecords
from dedup_filter.pages.redis.replica import Replica

__all__ = ["RedisPages"]

_MOST_AT_ONCE = 256
"""Pages that are forgotten, or events that are appended once more, in one call."""
_BATCHES = 100
"""An index of `max_pages` gives room for a hundredth of them at a time, or for `_MOST_AT_ONCE`."""
_PAGES_BETWEEN = 64
"""Pages after which the bounds are looked at again."""
_SPARE_EVENTS = 4 * CHUNK
"""Events that may tell of no page, beside as many as tell of one."""


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
        self._process = process
        self._replica = Replica(config.max_distance, by_host=config.scope == "host")
        self._log = FollowedLog(process, self._replica, self._begin_anew)
        self._records = SharedRecords(process.connection, seconds)
        self._comparer = Comparer(config, self._log, self._records)
        self._tally = Tally(process.count)
        self._claims = Claims(self._log, self._records, self._tally)
        self._bounds = _Bounds(config, self._log, self._records, self._claims)
        lists = LessonLists(process.connection, bytes.fromhex(process.name), seconds)
        self.exchange = FrameExchange(lists)
        """With which what hosts have shown is told to other processes."""
        self._recorded: _Recorded | None = None
        """The page that was recorded in the present transaction."""
        try:
            self._log.sync()
            self._comparer.go_on()
            self._bounds.make_room(coming=0)
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

    @property
    def capped(self) -> int:
        """Comparisons in which there were more candidates than are compared."""
        return self._comparer.capped

    @property
    def gone(self) -> list[int]:
        """Pages of this process that are gone; for the owner to take note of, and to clear."""
        return self._claims.gone

    def totals(self) -> dict[str, int]:
        """Count the pages that all processes have judged, by outcome."""
        counts = self._process.totals()
        return {"pages": sum(counts.values()), **counts}

    def compare(self, place: Place, page: PageProfile) -> Verdict:
        """Tell whether a page repeats one that is kept or pending.

        Cost: no call if nothing is like it, two otherwise.
        """
        if page.is_blank:
            self._tally.told("unjudged")  # here, as nothing is recorded of it
            return verdict_on(page, "unjudged", "no_text")
        self._claims.withdraw()
        return self._comparer.compare(place, page)

    def fate(self, number: int) -> Fate:
        """Tell what has become of a page that was recorded, here or by another process.

        Cost: two calls; none within `transaction` for the page that was just found to be repeated.
        """
        if self._recorded is not None and number == self._recorded.original:
            return "pending" if self._recorded.is_open else "kept"
        return self._claims.fate(number)

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
                self._end(self._recorded)
        except BaseException:
            if self._recorded is not None:
                self._claims.abandon(self._recorded.number)
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
        try:
            if found.is_duplicate:
                records = self._comparer.records
                found = self._claims.await_original(found, records, is_pending=is_pending)
                original = found.original_page
                is_open = original in self._claims.held or (
                    is_pending and original is not None and records[original].is_pending
                )
                self._recorded = _Recorded(found.outcome, is_pending, 0, original, is_open)
                return found
            # A page that comes again takes the place of what it was.
            revisited = found.original_page or 0
            self._bounds.make_room(coming=0 if revisited else 1)
            renewed = self._comparer.records.get(revisited)
            record = record_of(place, page, found, self._process.crawl, renewed)
            is_still = partial(self._comparer.is_still, found, place, page)
            number = self._claims.append(record, is_still, revisited)
        finally:
            self._comparer.go_on()
        self._recorded = _Recorded(found.outcome, is_pending, number)
        return found._replace(page=number)

    def replace(self, number: int, page: PageProfile, text: str | None = None) -> None:  # noqa: ARG002
        """Give a page another profile; one that is gone is left so."""
        self._claims.replace(number, lambda record: remeasured(record, page))

    def commit(self, number: int) -> None:
        """Keep a pending page for good; one that is not pending here is left as it is."""
        self._claims.commit(number)

    def release(self, number: int) -> None:
        """Forget a pending page; one that is not pending here is left as it is."""
        self._claims.release(number)

    def flush(self) -> None:
        """Do nothing: what was committed is with the servers."""

    def forget(self, url: str) -> int:
        """Forget all pages at a URL, however it is spelt; return how many there were.

        Cost: reads the record of every page.
        """
        wanted = url_key(url)
        while True:
            self._log.sync()
            found = [
                number
                for pages in self._replica.pages()
                for number, record in self._records.read(pages).items()
                if url_key(record.url) == wanted
            ]
            if self._claims.remove(found):
                return len(found)

    def close(self) -> None:
        """Release what is pending, and take part no more.

        Raises:
            StoreError: the servers cannot be reached; what is pending is released by others.
        """
        try:
            self._claims.withdraw()
            self._process.bring()
            self._process.leave()
        finally:
            self._process.close()

    def check(self) -> None:
        """Verify that replica, log and records agree. Requires: no other process is at work."""
        self._log.sync()
        self._replica.check()
        in_flight = self._records.pending()
        assert set(self._claims.held) <= in_flight, "a page pending here is not in flight"
        for page in in_flight:
            assert page in self._replica, f"page {page} is in flight, and gone"
        for pages in self._replica.pages():
            records = self._records.read(pages)
            for number in pages:
                assert number in records, f"there is no record of page {number}"
                entry, record = self._replica.entry(number), records[number]
                assert record.is_pending == (number in in_flight)
                assert entry == entry_of(record), f"page {number} is known as another"

    def _begin_anew(self) -> None:
        """Forget what is known by numbers: the log is read from its beginning again."""
        self._comparer.begin_anew()
        self._claims.begin_anew()
        self.exchange.read_anew()

    def _end(self, recorded: "_Recorded") -> None:
        """End a transaction in which a page was recorded."""
        if recorded.number and not recorded.is_pending:
            self._claims.keep(recorded.number)
        waits_for = recorded.original if recorded.is_pending and recorded.is_open else None
        self._tally.told(recorded.outcome, waits_for)


class _Recorded(NamedTuple):
    """What was recorded in a transaction."""

    outcome: Outcome
    is_pending: bool
    """Whether the page is to stay pending."""
    number: int
    """Its own; 0 for none."""
    original: int | None = None
    """What a duplicate repeats."""
    is_open: bool = False
    """Whether that was pending when its record was read; otherwise it was kept."""


class _Bounds:
    """At most `max_pages` pages, none not seen for `expire_days`, and a log in proportion to them.

    Cost: four calls for a batch of pages, and one in every 65 pages for the log.
    """

    def __init__(
        self, config: FilterConfig, log: FollowedLog, records: SharedRecords, claims: Claims
    ) -> None:
        self._max_pages = config.max_pages
        self._expire_days = config.expire_days
        self._log, self._replica = log, log.replica
        self._records = records
        self._claims = claims
        self._wait = 0

    def make_room(self, coming: int) -> None:
        """Forget pages beyond the bounds, before so many more are recorded."""
        bound = self._max_pages
        over = 0 if bound is None else len(self._replica) + coming - bound
        if bound is not None and over > 0:
            most = max(over, min(bound // _BATCHES, _MOST_AT_ONCE))
            self._remove(self._replica.oldest(most))
        self._wait -= 1
        if self._wait < 0:
            self._wait = _PAGES_BETWEEN
            if self._expire_days is not None:
                before = oldest_kept(self._expire_days, now())
                self._remove(self._replica.oldest(_MOST_AT_ONCE, before))
            self.trim()

    def trim(self) -> None:
        """Delete what of the log tells of no page any more."""
        first = self._replica.first_chunk
        if self._replica.end - first * CHUNK > 2 * len(self._replica) + _SPARE_EVENTS:
            self.repeat(self._replica.told_by(first))
        self._log.step("trim", self._replica.first_chunk)

    def repeat(self, told: list[tuple[int, bytes, int, int, int]]) -> None:
        """Append once more what is told of pages, but for those of which more has come since."""
        for at in range(0, len(told), _MOST_AT_ONCE):
            some = chain.from_iterable(told[at : at + _MOST_AT_ONCE])
            if self._log.step("repeat_events", *some) is None:
                return
        self._log.sync()

    def _remove(self, pages: list[int]) -> None:
        """Take out those that are not pending: of the others, their processes decide."""
        if pages:
            self._claims.remove(sorted(set(pages) - self._records.pending()))
