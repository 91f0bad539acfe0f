"""The pages of a shared index, as the filter asks for them: compare, record, commit, forget.

    page -> pages within k bits, or with its digest -> their records -> repeats one of them?
    if not -> pages that share phrases with it -> their records -> repeats one of them?
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
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from math import inf
from time import monotonic, sleep
from time import time as now
from typing import NamedTuple

from dedup_filter.config import FilterConfig, expiry_seconds
from dedup_filter.errors import StoreError
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.model import Fate, Outcome, Source, Verdict
from dedup_filter.pages.candidates import (
    MOST_COMPARED,
    Candidate,
    Found,
    found_by_phrases,
    found_by_texts,
    relation,
)
from dedup_filter.pages.directory.frame_store import FrameStore
from dedup_filter.pages.directory.records import PageRecord, Place, measures_of, url_key
from dedup_filter.pages.frame_exchange import FrameExchange, LessonLists
from dedup_filter.pages.near_pages import Asked
from dedup_filter.pages.original import compared, verdict_on
from dedup_filter.pages.redis.process import LEASE, Process
from dedup_filter.pages.redis.replica import Entry
from dedup_filter.pages.redis.shared_log import MOST_AT_ONCE, Overtaken, SharedLog

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


class _Like(NamedTuple):
    """What the replica has that a page may repeat."""

    near: Found
    """Pages near its texts, or with its digest."""
    sharing: Mapping[int, int]
    """How many keys others share with it, if pages are found by phrases."""


class RedisPages:
    """The pages that later ones may repeat. `DirectoryPages` has the same members.

    A page that was being recorded when a call failed is not in the index, or is released.
    """

    is_shared = True
    frames: FrameStore | None = None
    """Each process learns them anew, or from others."""

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
        self.exchange = FrameExchange(LessonLists(process.connection, process.name, seconds))
        """With which what hosts have shown is told to other processes."""
        self.capped = 0
        """Comparisons in which there were more candidates than `MOST_COMPARED`."""
        self._read: dict[int, PageRecord] = {}
        """Records of the pages that were compared last."""
        self._looked_up: tuple[int, _Like] | None = None
        """The end of the log when a page was compared last, and what was like it then."""
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
            return verdict_on(page, "unjudged", "no_text")
        self._log.withdraw()
        like = self._like(place, page)
        self._looked_up = self._replica.end, like
        return self._compared(place, page, like)

    def find(self, asked: Asked) -> list[PageRecord]:
        """Return the records of pages within k bits, with a digest, or that share keys.

        Pending pages may be among them. Nothing is changed.
        """
        self._log.withdraw()
        self._log.sync()
        of_texts: list[int | None] = [*asked.fingerprints] or [None]
        digest = asked.digest or b""
        entries = [Entry.of(each, digest, asked.host) for each in of_texts]
        near = {match.row for each in entries for match in self._replica.near(each)}
        self._read_fitting(near | self._sharing(asked.keys).keys())
        return sorted(self._in_scope(asked.host), key=lambda each: each.page)

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

    def _compared(self, place: Place, page: PageProfile, like: _Like) -> Verdict:
        # A crawl that was begun after this one, by processes that are at work too, is no earlier
        # one; a job that is resumed may meet it.
        is_ours, config = self._process.crawl.__le__, self._config
        options = config.min_similarity, place.key, is_ours, config.max_missing
        self._read_fitting(like.near)
        candidates = self._candidates(place, page, like.near)
        verdict = compared(page, candidates, *options)
        if verdict.outcome == "new" and (others := like.sharing.keys() - like.near.keys()):
            near = self._read
            self._read_fitting(others)
            found = found_by_phrases(page, place.host, like.sharing, self._in_scope(place.host))
            candidates += self._candidates(place, page, found, "shared_phrases")
            verdict = compared(page, candidates, *options) if found else verdict
            self._read |= near
        return verdict.named(lambda number: self._read[number].url)

    def _candidates(
        self, place: Place, page: PageProfile, found: Found, source: Source | None = None
    ) -> list[Candidate]:
        return [
            Candidate(
                *found[record.page],
                *relation(page, place.host, record.host),
                record.sketch,
                record.headline,
                record.page,
                record.crawl,
                url_key(record.url),
                record.digest,
                source,
            )
            for record in self._in_scope(place.host)
            if record.page in found
        ]

    def _in_scope(self, host: str) -> list[PageRecord]:
        """Return what was read; of other hosts, found by chance, nothing if they do not count."""
        is_any = self._config.scope != "host"
        return [each for each in self._read.values() if is_any or each.host == host]

    def _is_still(self, found: Verdict, place: Place, page: PageProfile, number: int) -> bool:
        """Tell whether a page is still what it was found to be, after all that stands before it."""
        end, like_before = self._looked_up or (0, None)
        if self._replica.end == end + 1:
            return True
        like = self._like(place, page, before=number)
        if like == like_before:
            return True
        again = self._compared(place, page, like)
        return (again.outcome, again.original_page) == (found.outcome, found.original_page)

    def _like(self, place: Place, page: PageProfile, before: float = inf) -> _Like:
        """Find pages near the texts of one, or with its digest or keys; those before a number."""
        fingerprints: list[int | None] = [text.fingerprint for text in page.texts]
        entries = (Entry.of(each, page.digest, place.host) for each in fingerprints or [None])
        near = (self._replica.near(entry, MOST_COMPARED + 1) for entry in entries)
        found, capped = found_by_texts(near, before)
        self.capped += capped
        return _Like(found, self._sharing([text.keys for text in page.texts], before))

    def _sharing(self, texts: Sequence[bytes], before: float = inf) -> Mapping[int, int]:
        """Find pages that share keys with texts, if pages are found by phrases."""
        return self._replica.sharing(texts, before) if self._config.looks_for_phrases else {}

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
        self._read = {
            page: record
            for page, record in self._read.items()
            if fits.get(page) and page not in self._lost
        }

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
