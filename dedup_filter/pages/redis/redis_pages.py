"""The pages of a shared index, as the filter asks for them: compare, record, commit, forget.

Joins the other modules of this package, and what is kept of frames; each method is one of their
steps or a few in a row. Guarantees and costs are told at the head of the package.

Which pages are forgotten that the index stays within its bounds: those not seen for longest go
first, several at once, so that each costs little. Pending pages stay: their process is about to
commit or release them. The log is bounded by the pages that are there: chunks of it that tell of no
page are deleted, and if most of its events tell of none, those of its first chunk that do are
appended once more.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from time import time as now
from typing import NamedTuple

from dedup_filter.config import FilterConfig
from dedup_filter.errors import StoreError
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.model import Fate, Outcome, Verdict
from dedup_filter.pages.comparison import verdict_on
from dedup_filter.pages.directory import FrameStore, Place
from dedup_filter.pages.directory.url_key import url_key
from dedup_filter.pages.expiry import oldest_kept
from dedup_filter.pages.frame_exchange import FrameExchange
from dedup_filter.pages.redis.claims import Claims
from dedup_filter.pages.redis.comparer import Comparer, record_of, remeasured
from dedup_filter.pages.redis.formats import CHUNK, entry_of
from dedup_filter.pages.redis.lease import Lease, Tally
from dedup_filter.pages.redis.replica import FollowedLog, Replica
from dedup_filter.pages.redis.shared_log import LogChanged, SharedLog

__all__ = ["RedisPages"]

_MOST_TRIALS = 3
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

    Raises:
        StoreError: by all methods, when the servers cannot be reached or refuse. A page that was
            being recorded is then not in the index, or is released.
    """

    is_shared = True
    frames: FrameStore | None = None
    """Each process learns them anew, or from others."""
    disk_bytes = 0

    def __init__(self, config: FilterConfig, log: SharedLog) -> None:
        self._log = log
        self._replica = Replica(config.max_distance, by_host=config.scope == "host")
        self._followed = FollowedLog(log, self._replica)
        self._comparer = Comparer(config, self._followed)
        self._claims = Claims(self._followed)
        self._bounds = _Bounds(config, self._followed, self._claims)
        self._tally = Tally(self._count)
        self.exchange = FrameExchange(log.lessons())
        """With which what hosts have shown is told to other processes."""
        self._recorded: _Recorded | None = None
        """The page that was recorded in the present transaction."""
        self._followed.tell(self._begin_anew, self._claims.part_lost)
        try:
            self._followed.sync()
            self._comparer.go_on()
            self._bounds.make_room(coming=0)
        except BaseException:
            with suppress(StoreError):  # then its lease runs out
                log.leave()
            raise
        self._lease = Lease(log)

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
        self._lease.bring()
        counts = self._log.totals()
        return {"pages": sum(counts.values()), **counts}

    def compare(self, place: Place, page: PageProfile) -> Verdict:
        """Tell whether a page repeats one that was kept, or is pending.

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
        fate = self._claims.fate(number)
        if fate != "pending":
            (self._tally.is_kept if fate == "kept" else self._tally.is_gone)(number)
        return fate

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Take back the page that is recorded within, if anything after that fails."""
        self._recorded = None
        try:
            yield
        except BaseException:
            if self._recorded is not None:
                self._take_back(self._recorded)
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
        """Record a page and what was found of it; return the verdict.

        Raises:
            Overtaken: another process kept a page like it, or released the one that it repeats:
                it must be compared anew.
        """
        try:
            if found.is_duplicate:
                records = self._comparer.records
                found = self._claims.await_original(found, records, is_pending=is_pending)
                original = found.original_page
                is_open = original in self._claims.mine or (
                    is_pending and original is not None and records[original].is_pending
                )
                self._tally.told(found.outcome, original if is_open and is_pending else None)
                self._recorded = _Recorded(found.outcome, 0, original, is_open=is_open)
                return found
            # A page that comes again takes the place of what it was.
            self._bounds.make_room(coming=0 if found.outcome == "revisit" else 1)
            renewed = self._comparer.records.get(found.original_page or 0)
            record = record_of(place, page, found, self._log.crawl, renewed)
            is_still = partial(self._comparer.is_still, found, place, page)
            number = self._claims.append(record, is_still)
            if found.outcome == "revisit" and found.original_page is not None:
                self._claims.revisit(number, found.original_page)
            if not is_pending:
                self._claims.keep(number)
        finally:
            self._comparer.go_on()
        self._tally.told(found.outcome)
        self._recorded = _Recorded(found.outcome, number)
        return found._replace(page=number)

    def replace(self, number: int, page: PageProfile, text: str | None = None) -> None:  # noqa: ARG002
        """Give a page another profile; one that is gone is left so."""
        for _ in range(_MOST_TRIALS):
            pending = self._claims.mine.get(number)
            record = pending or self._log.records.read([number]).get(number)
            if record is None or number not in self._replica or number <= self._followed.lost_to:
                return
            if self._claims.replace(number, remeasured(record, page)):
                return

    def commit(self, number: int) -> None:
        """Keep a pending page for good; one that is not pending here is left as it is."""
        self._claims.commit(number)
        self._tally.is_kept(number)

    def release(self, number: int) -> None:
        """Forget a pending page; one that is not pending here is left as it is."""
        if number in self._claims:
            self._tally.is_gone(number)
        self._claims.release(number)

    def flush(self) -> None:
        """Do nothing: what was committed is with the servers."""

    def forget(self, url: str) -> int:
        """Forget all pages at a URL, however it is spelt; return how many there were.

        Cost: reads the record of every page.
        """
        wanted = url_key(url)
        while True:
            self._followed.sync()
            found = [
                number
                for pages in self._replica.pages()
                for number, record in self._log.records.read(pages).items()
                if url_key(record.url) == wanted
            ]
            if self._claims.remove(found):
                return len(found)

    def close(self) -> None:
        """Release what is pending, and take part no more.

        Raises:
            StoreError: the servers cannot be reached; what is pending is released by others.
        """
        self._lease.close()
        try:
            self._claims.withdraw()
            self._lease.bring()
            self._log.leave()
        finally:
            self._log.close()

    def check(self) -> None:
        """Verify that replica, log and records agree. Requires: no other process is at work.

        Raises:
            AssertionError: they do not.
        """
        self._followed.sync()
        self._replica.check()
        in_flight = self._log.pages_in_flight()
        assert set(self._claims.mine) <= in_flight, "a page pending here is not in flight"
        for page in in_flight:
            assert page in self._replica, f"page {page} is in flight, and gone"
        for pages in self._replica.pages():
            records = self._log.records.read(pages)
            for number in pages:
                assert number in records, f"there is no record of page {number}"
                entry, record = self._replica.entry(number), records[number]
                assert record.is_pending == (number in in_flight)
                assert entry == entry_of(record), f"page {number} is known as another"

    def _begin_anew(self) -> None:
        """Forget what is known by numbers: the log is read from its beginning again."""
        self._comparer.begin_anew()
        self._claims.begin_anew()
        self._tally.begin_anew()
        self.exchange.read_anew()

    def _take_back(self, recorded: "_Recorded") -> None:
        pending = recorded.original if recorded.is_open else None
        self._tally.take_back(recorded.outcome, pending)
        if recorded.number:
            self._claims.take_back(recorded.number)

    def _count(self, outcome: str, more: int) -> None:
        self._lease.count(outcome, more)


class _Recorded(NamedTuple):
    """What was recorded, until the caller has its verdict."""

    outcome: Outcome
    number: int
    """Its page; 0 for none."""
    original: int | None = None
    """What a duplicate repeats."""
    is_open: bool = False
    """Whether that was pending when its record was read; otherwise it was kept."""


class _Bounds:
    """At most `max_pages` pages, none not seen for `expire_days`, and a log in proportion to them.

    Cost: four calls for a batch of pages, and one in every 65 pages for the log.
    """

    def __init__(self, config: FilterConfig, followed: FollowedLog, claims: Claims) -> None:
        self._max_pages = config.max_pages
        self._expire_days = config.expire_days
        self._followed = followed
        self._log, self._replica = followed.log, followed.replica
        self._claims = claims
        self._wait = 0

    def make_room(self, coming: int = 1) -> None:
        """Forget pages beyond the bounds, before more are recorded."""
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
        try:
            first = self._replica.first_chunk
            events = self._replica.end - first * CHUNK
            if events > 2 * len(self._replica) + _SPARE_EVENTS:
                told = self._replica.told_by(first)
                for at in range(0, len(told), _MOST_AT_ONCE):
                    self._log.repeat_events(told[at : at + _MOST_AT_ONCE])
                self._followed.sync()
            self._log.trim(self._replica.first_chunk)
        except LogChanged:
            self._followed.read_anew()

    def _remove(self, pages: list[int]) -> None:
        """Take out those that are not pending: of the others, their processes decide."""
        if pages:
            self._claims.remove(sorted(set(pages) - self._log.pages_in_flight()))
