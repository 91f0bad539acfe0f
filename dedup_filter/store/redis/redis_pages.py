"""The pages of a shared index, as the filter asks for them: compare, record, commit, forget.

    page -> look-ups in the replica -> records of what they find -> verdict (`comparison.look_ups`)
    page, and what was found of it -> its own record -> appended, pending -> is it still so?

A record may be newer or older than the replica. So the log is read after it, and a record that does
not fit the log is read again or left out.

The page that another repeats may be pending: it is asked for again, or waited for. When a server
has lost a part of the log its number may have been given to another page, so it counts as gone.

To stay within its bounds the index forgets the pages not seen for longest, several at once; pending
ones stay. Cost: no call to compare a page that nothing is like, two otherwise, and two more if it
repeats none of these and shares phrases with others; two to ask what became of a page; three for a
batch of pages that are forgotten.
"""

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from math import inf
from time import monotonic, sleep
from time import time as now
from typing import Any

from dedup_filter.comparison.look_ups import Judged, judge, pages_like
from dedup_filter.comparison.near_pages import Asked
from dedup_filter.config import FilterConfig, expiry_seconds
from dedup_filter.errors import StoreError
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.model import Fate, Match, Outcome, Verdict
from dedup_filter.store.protocol import Overtaken
from dedup_filter.store.records import PageRecord, measures_of
from dedup_filter.store.redis.frame_exchange import FrameExchange, UpdateLists
from dedup_filter.store.redis.process import LEASE, Process
from dedup_filter.store.redis.replica import Entry, LoggedPages
from dedup_filter.store.redis.shared_log import MOST_AT_ONCE, SharedLog
from dedup_filter.store.sqlite.frame_store import FrameStore
from dedup_filter.text.page_url import Place, url_key

_BATCHES = 100
"""An index of `max_pages` gives room for a hundredth of them at a time, or for `MOST_AT_ONCE`."""
_PAGES_BETWEEN = 1_000
"""Pages after which is looked whether others have expired, and what of the log can be deleted."""
_MOST_READINGS = 6
"""Of a page whose measures are being replaced, within 30 ms."""
_PAUSE = 0.002
_LONGEST_PAUSE = 0.25
_LONGEST_WAIT = 2 * LEASE
"""Seconds for which `see` waits for another process to end its claim of a page's original."""


class RedisPages:
    """The pages that later ones may repeat. `SqlitePages` has the same members.

    A page that was being recorded when a call failed is not in the index, or is released.
    """

    is_shared = True
    frames: FrameStore | None = None
    """Each process counts them anew, or gets them from others."""

    def __init__(self, config: FilterConfig, process: Process) -> None:
        self._config = config
        self._process = process
        self._log = SharedLog(process, config, self._begin_anew)
        self._replica, self._records = self._log.replica, self._log.records
        self.gone = self._log.gone
        """Pages of this process that are gone; for the owner to take note of, and to clear."""
        self._awaited: dict[int, Counter[Outcome]] = {}
        """Pending pages that others repeat, and what was counted of those: taken back if a page is
        released, as they are judged anew then."""
        self._lost: set[int] = set()
        """Pages that others waited for, and that were released here or may have been lost by a
        server: it can give their numbers again, so nothing repeats a page so numbered."""
        seconds = self._records.seconds
        self.exchange = FrameExchange(UpdateLists(process.connection, process.name, seconds))
        """By which processes share what hosts have shown."""
        self.capped = 0
        """Comparisons in which there were more candidates than `MOST_COMPARED`."""
        self._read: dict[int, PageRecord] = {}
        """Records of the pages that were compared last."""
        self._looked_up: tuple[int, _LookUps] | None = None
        """The end of the log when a page was compared last, and the look-ups with their answers."""
        self._recorded: tuple[Verdict, bool] | None = None
        """Of the page in a transaction, and whether that is to stay pending."""
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
        """Memory of the replica, in bytes."""
        return self._replica.nbytes

    def totals(self) -> dict[str, int]:
        """Count the pages that all processes have judged, by outcome."""
        self._process.bring()
        counts = self._process.connection.counts("totals")
        return {"pages": sum(counts.values()), **counts}

    def compare(self, place: Place, page: PageProfile) -> Verdict:
        """Tell whether a page repeats one that is kept or pending."""
        if page.is_blank:
            self._process.count("unjudged")  # here, as nothing is recorded of it
        else:
            self._log.withdraw()
        self._read = {}
        look_ups = self._look_ups(place.host)
        self._looked_up = self._replica.end, look_ups
        verdict, capped = self._judged(place, page, look_ups)
        self.capped += capped
        return verdict.named(lambda number: self._read[number].url)

    def find(self, asked: Asked) -> list[PageRecord]:
        """Return the records of pages within k bits, with a digest, or that share keys.

        Pending pages may be among them. Nothing is changed.
        """
        self._log.withdraw()
        self._log.sync()
        look_ups = self._look_ups(asked.host)
        pages = pages_like(asked, look_ups, by_phrases=self._config.looks_for_phrases)
        is_any = self._config.scope != "host"
        return [each for each in self._fitting(pages) if is_any or each.host == asked.host]

    def sketches(self, pages: Sequence[int]) -> dict[int, bytes]:
        """Return the sketches of pages by their numbers; of those that are gone there is none."""
        there = [page for page in pages if page in self._replica]
        return {record.page: record.sketch for record in self._records.records(there)}

    def fate(self, number: int) -> Fate:
        """Tell what has become of a page that was recorded, here or by another process."""
        if self._recorded is not None and number == self._recorded[0].original_page:
            return "pending" if number in self._awaited else "kept"
        if number in self._log.held:
            return "pending"
        is_pending = self._records.is_pending(number)
        # In this order: a page that was not pending, and is there now, was committed. And always:
        # calls release the pages of dead processes, and there may be no other call left.
        self._log.sync()
        if is_pending and number not in self._lost:
            return "pending"
        is_kept = number in self._replica and number not in self._lost
        self._end(number, is_kept=is_kept)
        return "kept" if is_kept else "gone"

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Count the page that is recorded within, and commit it if it is not to stay pending.

        If anything fails, that included, the page is taken back. Raises Overtaken if its lease is
        over, or a server failed: it must be compared anew.
        """
        self._recorded = None
        try:
            yield
            if self._recorded is not None:
                verdict, is_pending = self._recorded
                if verdict.page is not None and not is_pending:
                    self._log.keep(verdict.page)
                self._process.count(verdict.outcome)
                told = self._awaited.get(verdict.original_page or 0)
                if verdict.is_duplicate and is_pending and told is not None:
                    told[verdict.outcome] += 1
        except BaseException:
            if self._recorded is not None and self._recorded[0].page is not None:
                # If it is pending and unknown here, the next call releases it.
                self._log.held.pop(self._recorded[0].page, None)
            raise
        finally:
            self._recorded = None

    def record(
        self,
        place: Place,
        page: PageProfile,
        found: Verdict,
        text: str | None = None,  # noqa: ARG002
        form: bytes | None = None,  # noqa: ARG002
        *,
        is_pending: bool,
    ) -> Verdict:
        """Record a page, pending, and what was found of it; return the verdict.

        Raises:
            Overtaken: another process kept a page like it, or released the one that it repeats.
        """
        original = self._read.get(found.original_page or 0)
        if found.original_page is not None and original is None:
            raise Overtaken  # the log was read anew since
        if original is not None and found.is_duplicate:
            if not original.is_pending:
                self._end(original.page, is_kept=True)
            else:
                self._awaited.setdefault(original.page, Counter())
                if not is_pending and original.page not in self._log.held:
                    found = self._waited_for(original.page, found)
            self._recorded = found, is_pending
            return found
        # A page that comes again takes the place of what it was.
        self._make_room(coming=1 if original is None else 0)
        record = PageRecord.of(place, page, found, int(now()), self._process.crawl)
        if original is not None:
            stays = ("url", "host", "first_seen", "first_crawl")
            record = record._replace(**{name: getattr(original, name) for name in stays})
        number = self._log.append(record)
        self._recorded = found._replace(page=number), is_pending
        if number in self._lost or not self._is_still(found, place, page, number):
            self._log.release(number)
            raise Overtaken
        return self._recorded[0]

    def replace(self, number: int, page: PageProfile, text: str | None = None) -> None:  # noqa: ARG002
        """Give a page another profile; one that is gone is left so."""
        self._log.replace(number, measures_of(page))

    def commit(self, number: int) -> None:
        """Keep a pending page for good; one that is not pending here is left as it is."""
        self._log.commit(number)
        self._end(number, is_kept=True)

    def release(self, number: int) -> None:
        """Forget a pending page; one that is not pending here is left as it is."""
        if number in self._log.held:
            if number in self._awaited:
                self._lost.add(number)
            self._end(number, is_kept=False)
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
        """Release what is pending; if the servers cannot be reached, others do."""
        try:
            self._log.withdraw()
            self._process.leave()
        finally:
            self._process.close()

    def check(self) -> None:
        """Verify that replica, log and records agree. Requires: no other process is at work."""
        self._log.sync()
        self._replica.check()
        in_flight, there = self._records.in_flight(), list(self._replica)
        assert set(self._log.held) <= in_flight <= set(there), "other pages are in flight"
        records = list(self._records.records(there))
        assert [record.page for record in records] == there, "there are other records"
        for record in records:
            assert record.is_pending == (record.page in in_flight)
            assert self._log.is_there(record.page, record), f"page {record.page} is another"

    def _look_ups(self, host: str, before: float = inf) -> "_LookUps":
        return _LookUps(self._replica, self._fitting, host, before)

    def _judged(self, place: Place, page: PageProfile, look_ups: "_LookUps") -> Judged:
        # A crawl that was begun after this one, by processes that are at work too, is no earlier
        # one; a job that is resumed may meet it.
        return judge(place, page, look_ups, self._config, self._process.crawl.__le__)

    def _is_still(self, found: Verdict, place: Place, page: PageProfile, number: int) -> bool:
        """Tell whether a page is still what it was found to be, after all that stands before it."""
        end, before = self._looked_up or (0, self._look_ups(place.host))
        if self._replica.end == end + 1:
            return True
        look_ups = self._look_ups(place.host, number)
        if all(look_ups.answer(*each) == answer for each, answer in before.answers.items()):
            return True
        again, _ = self._judged(place, page, look_ups)
        return (again.outcome, again.original_page) == (found.outcome, found.original_page)

    def _fitting(self, pages: Collection[int]) -> list[PageRecord]:
        """Read the records of pages that may be repeated; pages that are gone are left out."""
        read: dict[int, PageRecord] = {}
        fits, changing = dict[int, bool](), list(pages)
        for trial in range(_MOST_READINGS if pages else 0):
            sleep(trial * _PAUSE)
            read.update((each.page, each) for each in self._records.records(changing))
            # Afterwards: a page that was not in flight, and is there now, was committed before.
            self._log.sync()
            fits = {page: self._log.is_there(page, record) for page, record in read.items()}
            # Another process gives them other measures: the record is about to follow. Or a server
            # failed, and the number was given to another page.
            changing = [page for page in fits if page in self._replica and not fits[page]]
            if not changing:
                break
        read = {
            page: record for page, record in read.items() if fits[page] and page not in self._lost
        }
        self._read |= read
        return list(read.values())

    def _waited_for(self, original: int, found: Verdict) -> Verdict:
        """Wait until the original of a page is not pending. Raises Overtaken if it is gone."""
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
        bound, days = self._config.max_pages or sys.maxsize, self._config.expire_days
        over = len(self._replica) + coming - bound
        if over > 0:
            self._forget_oldest(max(over, min(bound // _BATCHES, MOST_AT_ONCE)))
        self._wait -= 1
        if self._wait < 0:
            self._wait = _PAGES_BETWEEN
            if days is not None:
                self._forget_oldest(len(self._replica), int(now()) - expiry_seconds(days))
            self._log.tend()

    def _forget_oldest(self, most: int, before: float = inf) -> None:
        oldest = self._replica.oldest(most, before)
        self._log.remove([page for page in oldest if page not in self._log.held])

    def _end(self, page: int, *, is_kept: bool) -> None:
        """Take note that a page is not pending: what repeats it is judged for good, or anew."""
        for outcome, count in self._awaited.pop(page, Counter()).items():
            if not is_kept:
                self._process.count(outcome, -count)

    def _begin_anew(self) -> None:
        """Forget what is known by numbers: the log is read from its beginning again."""
        self._read.clear()
        self._looked_up = None
        # What was counted of pages that repeat these may be lost; nothing is taken back.
        self._lost.update(self._awaited)
        self._awaited.clear()
        self.exchange.read_anew()


class _LookUps:
    """The look-ups of one page in the replica, and their answers; only pages before a number count.

    `fitting` reads records.
    """

    def __init__(
        self,
        replica: LoggedPages,
        fitting: Callable[[Sequence[int]], Sequence[PageRecord]],
        host: str,
        before: float,
    ) -> None:
        self._replica, self.stored, self._host, self._before = replica, fitting, host, before
        self.answers: dict[tuple[str, Any], Any] = {}
        """By the names of look-ups and their arguments."""

    def equal(self, digest: bytes) -> list[int]:
        return [match.row for match in self.answer("near", (None, digest, None))]

    def near(self, fingerprint: int, most: int | None = None) -> list[Match]:
        found: list[Match] = self.answer("near", (fingerprint, b"", most))
        return found

    def at_url(self, key: int) -> list[int]:  # noqa: ARG002
        """Return nothing: the replica does not know URLs."""
        return []

    def sharing(self, texts: Sequence[bytes]) -> Mapping[int, int]:
        found: Mapping[int, int] = self.answer("sharing", tuple(texts))
        return found

    def answer(self, look_up: str, argument: Any) -> Any:
        """Look something up, unless its answer is known."""
        key = look_up, argument
        if key not in self.answers:
            self.answers[key] = getattr(self, f"_{look_up}")(argument)
        return self.answers[key]

    def _near(self, argument: tuple[int | None, bytes, int | None]) -> list[Match]:
        fingerprint, digest, most = argument
        found = self._replica.near(Entry.of(fingerprint, digest, self._host), most)
        return [match for match in found if match.row < self._before]

    def _sharing(self, texts: Sequence[bytes]) -> Mapping[int, int]:
        return self._replica.sharing(texts, self._before)
