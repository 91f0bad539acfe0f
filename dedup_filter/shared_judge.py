"""Page -> verdict, for an index that several processes share: a `Judge` whose pages are on servers.

Pages are compared, recorded and settled by `RedisPages`. Each process counts the frames of hosts
itself, in memory, and receives the updates of the other processes (`frame_exchange`): so a host
that was forgotten gets its first pages again.
"""

from collections.abc import Mapping, Sequence

from dedup_filter.comparison.near_pages import Query
from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import PageProfile, profile_of
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.judge import FULL_BATCH, Claim, Judge, _Change, _Judged
from dedup_filter.model import Fate, Unjudged, Verdict
from dedup_filter.store.location import scheme_of
from dedup_filter.store.records import PageRecord
from dedup_filter.store.redis.redis_pages import RedisPages
from dedup_filter.store.redis.shared_log import Overtaken
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.text.page_url import Place


class SharedJudge(Judge):
    """The conductor of a process that shares its index; see `Judge`."""

    is_shared = True

    def __init__(self, config: FilterConfig, pages: RedisPages, *, with_text: bool = False) -> None:
        self._pages = pages
        super().__init__(config, SqliteStore.in_memory(scheme_of(config)), with_text=with_text)

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def nbytes(self) -> int:
        """Memory of the replica and the frames, in bytes."""
        return self._pages.nbytes + self._pages.exchange.nbytes + super().nbytes

    def totals(self) -> Mapping[str, int] | None:
        """Count the pages that all processes have judged, by outcome."""
        return self._pages.totals()

    def claim(self, place: Place, page: ReadPage | Unjudged) -> Claim:
        """Judge a page and record it as pending."""
        return self._shared_claim(place, page, is_pending=True)

    def see(self, place: Place, page: ReadPage | Unjudged) -> Verdict:
        """Judge a page, and keep it for good."""
        return self._shared_claim(place, page, is_pending=False).verdict

    def judge(self, place: Place, page: ReadPage | Unjudged) -> Verdict:
        """Return the verdict of `claim` on a page now; record and count nothing."""
        if not isinstance(page, Unjudged):
            self._receive(place, page)
        return super().judge(place, page)

    def commit(self, claim: Claim) -> None:
        """Keep the page of a claim for good, or drop it for good; then count it."""
        number, counting, change = claim.verdict.page, claim.counting, None
        if number is None or not self._is_pending(claim):
            return
        with self._pages.transaction():
            if counting is not None:
                context = self._hosts.context(counting.host, counting.shown)
                if counting.page is not None and context.frame_times != counting.times:
                    self._pages.replace(number, profile_of(counting.page, context, self._config))
                change = self._change(number, counting, context)
                self._replace_all(change)
            self._pages.commit(number)  # last: until then it is pending if a call fails
        claim.state = "kept"
        self._claims.pop(number, None)
        if change is not None:
            self._apply(number, change)

    def release(self, claim: Claim) -> None:
        """Forget the page of a pending claim of this judge, and its repeats; else do nothing."""
        if self._is_pending(claim) and claim.verdict.page is not None:
            self._pages.release(claim.verdict.page)
            self._end(claim.verdict.page)
            self._end_gone()

    def find(self, query: Query) -> Sequence[PageRecord]:
        """Return the records of pages within k bits, with a digest, or that share keys."""
        return self._pages.find(query)

    def fate_of_original(self, claim: Claim) -> Fate:
        """Return the state of the page that a claimed page repeats; "kept" if it repeats none."""
        original = claim.verdict.original_page
        return "kept" if original is None else self.fate(original)

    def fate(self, number: int) -> Fate:
        """Return the state of a page."""
        return self._pages.fate(number)

    def sketches(self, pages: Sequence[int]) -> Mapping[int, bytes]:
        """Return the sketches of pages by their numbers; pages that are gone are left out."""
        return self._pages.sketches(pages)

    def forget(self, url: str) -> int:
        """Forget all pages at a URL in any spelling; they stay counted. Return their number."""
        forgotten = self._pages.forget(url)
        self._end_gone()
        return forgotten

    def flush(self) -> None:
        """Make everything committed so far outlive this process."""
        self._write()
        self._pages.flush()

    def close(self) -> None:
        """Release pending pages, flush, and leave the index."""
        self.store.close()
        self._pages.close()

    def check(self) -> None:
        """Raise AssertionError if the parts of the index do not agree."""
        self._hosts.check()
        self._pages.check()

    def _shared_claim(self, place: Place, page: ReadPage | Unjudged, *, is_pending: bool) -> Claim:
        if isinstance(page, Unjudged):
            return Claim.unrecorded(page)
        while True:
            self._make_room()
            self._receive(place, page)
            judged = self._judged(place, page)
            if judged.verdict.reason == "no_text":
                return Claim(self._pages.compare(place, judged.profile), state="kept")
            if judged.verdict.outcome == "same_template":
                return Claim(judged.verdict, state="kept")
            try:
                claim, change = self._record(place, page, judged, is_pending=is_pending)
            except Overtaken:
                continue
            break
        self._end_gone()
        if change is not None:
            self._apply(0, change)
            claim.counting = None
        elif claim.counting is not None:
            updates = self._updates(claim.counting, judged.expected)
            number = claim.verdict.page or 0
            self._hosts.expect(number, {host.name: update for host, update in updates})
        if is_pending and claim.verdict.page is not None:
            self._claims[claim.verdict.page] = claim
        return claim

    def _record(
        self, place: Place, page: ReadPage, judged: _Judged, *, is_pending: bool
    ) -> tuple[Claim, _Change | None]:
        """Record a page; return its claim, and what changes if it is counted at once."""
        counted, found_by, found = judged.counted, judged.profile, judged.verdict
        with self._pages.transaction():
            verdict = self._pages.record(place, found_by, found, is_pending=is_pending)
            claim, original, number = Claim(verdict), verdict.original_page, verdict.page or 0
            # Of another original the fate is not known yet, so nothing is counted.
            if number > 0 if original is None else self.fate(original) == "kept":
                claim.counting = self._counting(place, page, judged._replace(verdict=verdict))
            if claim.counting is None or (is_pending and original is None):
                return claim, None
            change = self._change(number if original is None else 0, claim.counting, counted)
            self._replace_all(change)
            return claim, change

    def _compared(self, place: Place, page: PageProfile, visit: object = None) -> Verdict:  # noqa: ARG002 - servers do not know visits yet
        found = self._pages.compare(place, page)
        self.capped = self._pages.capped
        return found

    def _receive(self, place: Place, page: ReadPage) -> None:
        """Count the updates from other processes for the host of a page and for its sites."""
        host = self._host(place, page)
        if not host:
            return
        self._receive_for(host)
        for site in self._hosts.context(host, page.shown).sites:
            self._receive_for(site.name)

    def _receive_for(self, name: str) -> None:
        for added in self._pages.exchange.received(name):
            host = self._hosts.host(name)
            update = host.update_of(added.shown, is_kept=added.is_kept)
            change = self._counted([(host, update)])
            with self._pages.transaction():
                self._replace_all(change)
            super()._apply(0, change)

    def _replace_all(self, change: _Change) -> None:
        for waiting, _, found_by in change.again:
            self._pages.replace(waiting.page, found_by)

    def _recorded(self, pages: Sequence[int]) -> Mapping[int, None]:
        return dict.fromkeys(pages)

    def _apply(self, number: int, change: _Change) -> None:
        super()._apply(number, change)
        for host, update in change.updates:
            self._pages.exchange.send(host.name, update)

    def _make_room(self) -> None:
        if len(self._batch.hosts) >= FULL_BATCH:
            self._write()
        self._shrink()

    def _shrink(self) -> None:
        for name in self._hosts.shrink():
            self._pages.exchange.forget(name)

    def _end(self, number: int) -> None:
        claim = self._claims.pop(number, None)
        if claim is not None:
            claim.state = "gone"
        self._hosts.settle(number)
        self._hosts.discard(number)

    def _end_gone(self) -> None:
        """Forget pages whose records were deleted."""
        for number in self._pages.gone:
            self._end(number)
        self._pages.gone.clear()
