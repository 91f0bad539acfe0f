"""The pages of a shared index, as the filter uses them: compare, record, commit, forget.

    page -> look-ups in the replica -> records of the candidates -> verdict (`comparison.look_ups`)
    page, verdict -> its own record -> appended, pending -> does the verdict still hold?

A record may be newer or older than the replica. So the log is read after the record, and a record
that does not match the log is read again or left out.

A dropped page is recorded in the same way, but no look-up finds it, so nothing is compared again.
If its original is pending, it is committed or released with the original.

If the original of a page is pending, its fate is looked up later, or waited for. When a server has
lost a part of the log, the original's number may belong to another page, so it counts as gone.

To stay within its bounds the index forgets the least recently seen pages, several at once; pending
pages stay. Cost: no call to compare a page without candidates, two calls otherwise, and two more if
it repeats no candidate and shares phrases with other pages; two calls for the fate of a page; three
for a batch of pages that are forgotten. With `canonical` one more to add a page to its URL, and one
to three for a page that names another as canonical.
"""

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from math import inf
from time import monotonic, sleep
from time import time as now
from typing import Any

from dedup_filter.comparison.look_ups import Judged, judge, pages_like
from dedup_filter.comparison.near_pages import Query
from dedup_filter.config import FilterConfig, expiry_seconds
from dedup_filter.errors import StoreError
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.fingerprints.sketch import thinned
from dedup_filter.model import Fate, Match, Verdict
from dedup_filter.store.records import MOST_AT_URL, PageRecord, measures_of
from dedup_filter.store.redis.frame_exchange import FrameExchange, UpdateLists
from dedup_filter.store.redis.process import LEASE, Process
from dedup_filter.store.redis.replica import Entry
from dedup_filter.store.redis.shared_log import MOST_AT_ONCE, Overtaken, SharedLog
from dedup_filter.text.page_url import Place, url_key

_BATCHES = 100
"""A full index forgets a hundredth of `max_pages` at once, but at most `MOST_AT_ONCE` pages."""
_PAGES_BETWEEN = 1_000
"""Number of pages between two checks for expired pages and for chunks of the log to delete."""
_MOST_READINGS = 6
"""Reads of a record while another process replaces the page's measures, within 30 ms."""
_SKETCH_OF_DROPPED = 130
"""Bytes, 64 hashes: no page is compared with a dropped page. An estimate of similarity from so many
has a standard error of .06 at most. A whole sketch takes 380 bytes more."""
_PAUSE = 0.002
_LONGEST_PAUSE = 0.25
_LONGEST_WAIT = 2 * LEASE
"""Seconds for which `see` waits for another process to end its claim of a page's original."""


class RedisPages:
    """The pages that later pages may repeat.

    If a call fails while a page is recorded, the page is not in the index, or is released.
    """

    def __init__(self, config: FilterConfig, process: Process) -> None:
        self._config = config
        self._process = process
        self._log = SharedLog(process, config, self._begin_anew)
        self._replica, self._records = self._log.replica, self._log.records
        self.gone = self._log.gone
        """Pages of this process that are gone; the owner reads and clears this list."""
        self._awaited: dict[int, list[tuple[Verdict, bool]]] = {}
        """Pending original -> verdicts on its duplicates, and whether each is claimed still. If the
        original is committed, the others are committed. If the original is released, all are
        released; the outcomes of claimed ones are subtracted, because they are judged again."""
        self._lost: set[int] = set()
        """Originals that duplicates waited for, and that were released here or may have been lost
        by a server. Their numbers may be reused: never match them."""
        seconds = self._records.seconds
        self.exchange = FrameExchange(UpdateLists(process.connection, process.name, seconds))
        """The exchange of frame updates with other processes."""
        self.capped = 0
        """Number of comparisons with more candidates than `MOST_COMPARED`."""
        self._looked_up: _LookUps | None = None
        """The look-ups of the latest comparison; None: the log was read anew since."""
        self._recorded: tuple[Verdict, bool] | None = None
        """Verdict of the page in this transaction, and whether the page is to stay pending."""
        self._wait = 0
        try:
            self._log.sync()
            self._make_room()
        except BaseException:
            with suppress(StoreError):  # if this fails, its lease runs out
                process.leave()
            raise

    def __len__(self) -> int:
        return self._replica.count(is_kept=True)

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
        """Return whether a page repeats a kept or pending page."""
        if page.is_blank:
            self._process.count("unjudged")  # counted here, because no record is written
        else:
            self._log.withdraw()
        look_ups = self._looked_up = _LookUps(self._log, self._fitting, place.host)
        verdict, capped = self._judged(place, page, look_ups)
        self.capped += capped
        return verdict.named(lambda number: look_ups.read[number].url)

    def find(self, query: Query) -> list[PageRecord]:
        """Return the records of pages within k bits, with a digest, or that share keys.

        Pending pages may be among them. Nothing is changed.
        """
        self._log.withdraw()
        self._log.sync()
        look_ups = _LookUps(self._log, self._fitting, query.host)
        pages = pages_like(query, look_ups, by_phrases=self._config.looks_for_phrases)
        is_any = self._config.scope != "host"
        return [each for each in self._fitting(pages) if is_any or each.host == query.host]

    def sketches(self, pages: Sequence[int]) -> dict[int, bytes]:
        """Return the sketches of pages by their numbers; pages that are gone are left out."""
        there = [page for page in pages if page in self._replica]
        return {record.page: record.sketch for record in self._records.records(there)}

    def fate(self, number: int) -> Fate:
        """Return the fate of a page that this or another process recorded."""
        if self._recorded is not None and number == self._recorded[0].original_page:
            return "pending" if number in self._awaited else "kept"
        if number in self._log.held:
            return "pending"
        is_pending = self._records.is_pending(number)
        # The log is read last: a page that was not pending and is in the log now was committed.
        # Sync always: calls release the pages of dead processes, and no other call may follow.
        self._log.sync()
        if is_pending and number not in self._lost:
            return "pending"
        is_kept = number in self._replica and number not in self._lost
        self._end(number, is_kept=is_kept)
        return "kept" if is_kept else "gone"

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Count the page recorded in the block, and commit it unless it is to stay pending.

        If the block or the commit fails, the page is undone. Raises Overtaken if its lease is
        over, or if a server failed: the page must be compared again.
        """
        self._recorded = None
        try:
            yield
            if self._recorded is not None:
                verdict, is_pending = self._recorded
                of_page = self._awaited.get(verdict.original_page or 0)
                awaited = of_page if verdict.is_duplicate else None
                if verdict.page is not None and not is_pending and awaited is None:
                    self._log.keep(verdict.page)
                self._process.count(verdict.outcome)
                if awaited is not None:
                    awaited.append(self._recorded)
        except BaseException:
            if self._recorded is not None and self._recorded[0].page is not None:
                # If the page is pending on the server but not here, the next call releases it.
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
        """Record a page as pending, with its verdict; return the verdict.

        Raises:
            Overtaken: another process kept a page like it, or released its original.
        """
        if self._looked_up is None:
            raise Overtaken
        original = self._looked_up.read.get(found.original_page or 0)
        if original is not None and found.is_duplicate:
            if not original.is_pending:
                self._end(original.page, is_kept=True)
            else:
                self._awaited.setdefault(original.page, [])
                if not is_pending and original.page not in self._log.held:
                    found = self._waited_for(original.page, found)
            if found.original_page is None:
                self._recorded = found, is_pending
                return found
        # A revisited page replaces its earlier version, so it needs no room.
        self._make_room(*([] if found.outcome == "revisit" else [not found.is_duplicate]))
        record = PageRecord.of(place, page, found, int(now()), self._process.crawl)
        if original is not None and found.is_duplicate:
            # A revisit gives the original another number; its URL stays.
            sketch = thinned(record.sketch, _SKETCH_OF_DROPPED)
            record = record._replace(canonical_key=original.url_key, sketch=sketch)
        elif original is not None:
            stays = ("url", "host", "first_seen", "first_crawl")
            record = record._replace(**{name: getattr(original, name) for name in stays})
        number = self._log.append(record)
        self._recorded = found._replace(page=number), is_pending
        is_still = found.is_duplicate or self._is_still(found, place, page, number)
        if number in self._lost or not is_still:
            self._log.release(number)
            raise Overtaken
        return self._recorded[0]

    def replace(self, number: int, page: PageProfile, text: str | None = None) -> None:  # noqa: ARG002
        """Replace the profile of a page; do nothing if the page is gone."""
        self._log.replace(number, measures_of(page))

    def commit(self, number: int) -> None:
        """Commit a page that this process has pending; do nothing for any other.

        A page that repeats a pending page is committed with that page.
        """
        record = self._log.held.get(number)
        original = 0 if record is None or record.is_kept else record.original or 0
        if original in self._awaited:
            self._awaited[original] = [
                (verdict, is_claimed and verdict.page != number)
                for verdict, is_claimed in self._awaited[original]
            ]
            return
        self._log.commit(number)
        self._end(number, is_kept=True)

    def release(self, number: int) -> None:
        """Forget a page that this process has pending; do nothing for any other."""
        if number in self._log.held:
            if number in self._awaited:
                self._lost.add(number)
            self._end(number, is_kept=False)
            self._log.release(number)
            self._log.sync()

    def flush(self) -> None:
        """Do nothing: the servers have every committed page."""

    def forget(self, url: str) -> int:
        """Forget all pages at a URL, however it is spelt; return how many there were.

        Pages that other processes have pending stay. Cost: reads the record of every page.
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
        """Release pending pages; if the servers cannot be reached, other processes release them."""
        try:
            for original in list(self._awaited):  # another process may have committed it
                self.fate(original)
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

    def _judged(self, place: Place, page: PageProfile, look_ups: "_LookUps") -> Judged:
        # Running processes may have begun a crawl after this one, which a resumed job may meet.
        # Such a crawl is not an earlier one.
        return judge(place, page, look_ups, self._config, self._process.crawl.__le__)

    def _is_still(self, found: Verdict, place: Place, page: PageProfile, number: int) -> bool:
        """Return whether a verdict holds with all pages that precede the page in the log."""
        before = self._looked_up
        if before is None:
            return False
        if self._replica.end == before.end + 1:
            return True
        look_ups = _LookUps(self._log, self._fitting, place.host, number)
        if all(look_ups.answer(*each) == answer for each, answer in before.answers.items()):
            return True
        again, _ = self._judged(place, page, look_ups)
        return (again.outcome, again.original_page) == (found.outcome, found.original_page)

    def _fitting(self, pages: Collection[int]) -> list[PageRecord]:
        """Read the records of candidates; pages that are gone are left out."""
        read: dict[int, PageRecord] = {}
        fits, changing = dict[int, bool](), list(pages)
        for trial in range(_MOST_READINGS if pages else 0):
            sleep(trial * _PAUSE)
            read.update((each.page, each) for each in self._records.records(changing))
            # After the records: a page that was not pending and is in the log now was committed.
            self._log.sync()
            fits = {page: self._log.is_there(page, record) for page, record in read.items()}
            # Either another process replaces the page's measures and has yet to write the record,
            # or a server failed and the number was given to another page.
            changing = [page for page in fits if page in self._replica and not fits[page]]
            if not changing:
                break
        return [read[page] for page in read if fits[page] and page not in self._lost]

    def _waited_for(self, original: int, found: Verdict) -> Verdict:
        """Wait while the original is pending. Raises Overtaken if the original is gone."""
        latest, pause = monotonic() + _LONGEST_WAIT, _PAUSE
        while (fate := self.fate(original)) == "pending":
            if monotonic() > latest:
                return found.as_unjudged("pending")._replace(original_page=None)
            sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        if fate == "gone":
            raise Overtaken
        return found

    def _make_room(self, *coming: bool) -> None:
        """Forget pages beyond the bounds. `coming`: whether a page to be recorded is kept."""
        bound, days = self._config.max_pages or sys.maxsize, self._config.expire_days
        for is_kept in (True, False):
            over = self._replica.count(is_kept=is_kept) + coming.count(is_kept) - bound
            if over > 0:
                most = max(over, min(bound // _BATCHES, MOST_AT_ONCE))
                self._forget(self._replica.oldest(most, is_kept=is_kept))
        self._wait -= 1
        if self._wait < 0:
            self._wait = _PAGES_BETWEEN
            for is_kept in (True, False) if days is not None else ():
                before, most = int(now()) - expiry_seconds(days or 0), len(self._replica)
                self._forget(self._replica.oldest(most, before, is_kept=is_kept))
            self._log.tend()

    def _forget(self, oldest: Sequence[int]) -> None:
        self._log.remove([page for page in oldest if page not in self._log.held])

    def _end(self, page: int, *, is_kept: bool) -> None:
        """End the wait for an original: see `_awaited`."""
        for verdict, is_claimed in self._awaited.pop(page, ()):
            number = verdict.page or 0
            if is_kept and not is_claimed:
                self._log.commit(number)
            elif not is_kept:
                self._process.count(verdict.outcome, -is_claimed)
                if number in self._log.held:
                    self._log.release(number)

    def _begin_anew(self) -> None:
        """Forget all page numbers, because the log is read from its beginning again."""
        self._looked_up = None
        # The counts of duplicates of these pages may be lost, so none are subtracted.
        self._lost.update(self._awaited)
        self._awaited.clear()
        self.exchange.read_anew()


class _LookUps:
    """The look-ups of one page, among pages before number `before`; their answers and records.

    `fitting` reads the records of candidates.
    """

    def __init__(
        self,
        log: SharedLog,
        fitting: Callable[[Collection[int]], Sequence[PageRecord]],
        host: str,
        before: float = inf,
    ) -> None:
        self._log, self._fitting, self._host, self._before = log, fitting, host, before
        self.end = log.replica.end
        """The end of the log before the look-ups."""
        self.inner_rings = ()
        """None: `near` finds also the pages with an equal digest, if they have a fingerprint."""
        self.read: dict[int, PageRecord] = {}
        self.answers: dict[tuple[str, Any], Any] = {}
        """(name of look-up, argument) -> answer."""

    def stored(self, pages: Sequence[int]) -> list[PageRecord]:
        unread = [page for page in pages if page not in self.read]
        self.read.update((each.page, each) for each in self._fitting(unread))
        return [self.read[page] for page in pages if page in self.read]

    def equal(self, digest: bytes) -> list[int]:
        return [match.row for match in self.answer("near", (None, digest, None))]

    def near(
        self,
        fingerprint: int,
        most: int | None = None,
        distance: int | None = None,  # noqa: ARG002 - always None or k
    ) -> list[Match]:
        found: list[Match] = self.answer("near", (fingerprint, b"", most))
        return found

    def at_url(self, key: int) -> list[int]:
        found: list[int] = self.answer("at_url", key)
        return found

    def sharing(self, texts: Sequence[bytes]) -> Mapping[int, int]:
        found: Mapping[int, int] = self.answer("sharing", tuple(texts))
        return found

    def answer(self, look_up: str, argument: Any) -> Any:
        """Return the answer of a look-up; repeated look-ups use the first answer."""
        key = look_up, argument
        if key not in self.answers:
            self.answers[key] = getattr(self, f"_{look_up}")(argument)
        return self.answers[key]

    def _near(self, argument: tuple[int | None, bytes, int | None]) -> list[Match]:
        fingerprint, digest, most = argument
        found = self._log.replica.near(Entry.of(fingerprint, digest, self._host), most)
        return [match for match in found if match.row < self._before]

    def _at_url(self, key: int) -> list[int]:
        pages = [page for page in self._log.records.pages_at(key) if page < self._before]
        # A server may have lost writes, and a number may belong to another page since.
        found = [
            each.page
            for each in self.stored(pages)
            if each.url_key == key and each.fingerprint is not None
        ]
        return sorted(found, reverse=True)[:MOST_AT_URL]

    def _sharing(self, texts: Sequence[bytes]) -> Mapping[int, int]:
        return self._log.replica.sharing(texts, self._before)
