"""Index and store as one: profiles of pages in, verdicts out (see `comparison.look_ups`).

The profile of a kept page can be replaced when more is known of its host (`judging`).

On disk every page with text is recorded. In memory only kept and pending pages are recorded,
because records of dropped pages could not be read later. Each look-up first updates the index.
"""

from collections.abc import Sequence
from time import time as now

from dedup_filter.comparison.look_ups import judge, pages_like
from dedup_filter.comparison.near_pages import Query
from dedup_filter.config import FilterConfig, expiry_seconds
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.model import Match, Verdict
from dedup_filter.store.records import MOST_AT_URL, PageRecord, measures_of
from dedup_filter.store.redis.frame_exchange import FrameExchange
from dedup_filter.store.sqlite.frame_store import FrameStore
from dedup_filter.store.sqlite.page_index import PageIndex, head
from dedup_filter.store.sqlite.page_store import PageStore
from dedup_filter.text.page_url import Place

_MOST_AT_ONCE = 256
_BATCHES = 100
"""A full index forgets a hundredth of `max_pages` at once, but at most `_MOST_AT_ONCE` pages."""


class SqlitePages:
    """The pages that later pages may repeat. `RedisPages` has the same members.

    Raises:
        StoreError: by all methods, when the store cannot be read or written; nothing has changed
            then.
    """

    is_shared = False
    """Whether other processes keep pages in the same index, so that calls wait for a server."""
    exchange: FrameExchange | None = None
    """The exchange of frame updates; None: no other process counts frames."""

    def __init__(self, config: FilterConfig, store: PageStore) -> None:
        self._config = config
        self.store = store
        self._is_durable = store.directory is not None
        """Whether records outlive this process."""
        self.frames = FrameStore(store) if self._is_durable else None
        """The store of frames that outlive this process; None: none do."""
        self._by_host = config.scope == "host"
        store.index_urls(is_wanted=config.canonical or config.changes)
        self._index = PageIndex.opened(store, config.max_distance, by_host=self._by_host)
        self.gone = store.gone
        """Pages whose records were deleted; the owner reads and clears this list."""
        self.transaction, self.flush = store.transaction, store.flush
        self.commit, self.release, self.fate = store.commit, store.release, store.fate
        self.capped = 0
        """Number of comparisons with more candidates than `MOST_COMPARED`."""
        while due := self._beyond_bounds(now()):
            self._delete(due)

    def __len__(self) -> int:
        return len(self.store)

    def totals(self) -> None:
        """Return None: no other process judges pages of this index."""

    @property
    def nbytes(self) -> int:
        """Memory of the index and of the records, in bytes.

        The memory of a store on disk is left out, because it is bounded.
        """
        return self._index.nbytes + (0 if self._is_durable else self.store.nbytes)

    def compare(self, place: Place, page: PageProfile) -> Verdict:
        """Return whether a page repeats a kept or pending page.

        Cost: a look-up by digest; unless the page is an exact repeat, one by each of its texts; if
        the page repeats none of these candidates, one by the keys of its phrases.
        """
        self._index.follow(self.store)
        host = self.store.host(place.host) if self._by_host else 0
        look_ups = LookUps(self.store, self._index, host)
        verdict, capped = judge(place, page, look_ups, self._config, self.store.crawl.__eq__)
        self.capped += capped
        return verdict.named(self.store.url)

    def find(self, query: Query) -> list[PageRecord]:
        """Return the records of pages within k bits, with a digest, or that share keys.

        Pending pages may be among them. Nothing is changed.
        """
        self._index.follow(self.store)
        host = self.store.known_host(query.host) if self._by_host else 0
        if host is None:
            return []
        look_ups = LookUps(self.store, self._index, host)
        pages = pages_like(query, look_ups, by_phrases=self._config.looks_for_phrases)
        records = map(self.store.record, pages)
        return [each for each in records if not self._by_host or each.host == query.host]

    def sketches(self, pages: Sequence[int]) -> dict[int, bytes]:
        """Return the sketches of pages by their numbers; pages that are gone are left out."""
        return {each.page: each.sketch for each in self.store.stored(pages)}

    def record(
        self,
        place: Place,
        page: PageProfile,
        found: Verdict,
        text: str | None = None,
        form: bytes | None = None,
        *,
        is_pending: bool,
    ) -> Verdict:
        """Record a page and its verdict, within `transaction`; return the verdict.

        `text` and `form` are stored with the page if they are given.
        """
        is_repeat, is_revisit = found.original_page is not None, found.outcome == "revisit"
        if is_repeat and not (is_revisit or self._is_durable):
            return found
        moment = now()
        due = self._beyond_bounds(moment, None if is_revisit else not is_repeat)
        # The original of this page stays, or the next page like it would be new.
        if due:
            self._delete(due - {found.original_page})
        record = PageRecord.of(place, page, found, int(moment), self.store.crawl)
        record = record._replace(is_pending=is_pending or is_revisit)
        number = self.store.insert(record, text, form)
        if is_revisit and not is_pending:
            self.store.commit(number)
            return found._replace(page=found.original_page)
        return found._replace(page=number)

    def replace(self, number: int, page: PageProfile, text: str | None = None) -> None:
        """Replace the profile of a page, within `transaction`."""
        self.store.replace(number, measures_of(page), text)

    def forget(self, url: str) -> int:
        """Forget all pages at a URL, however it is spelt; return how many there were."""
        pages = self.store.at_url(url)
        self.store.delete(pages)
        return len(pages)

    def close(self) -> None:
        """Release pending pages, write the entries, and close the store."""
        try:
            self.store.end_crawl(int(now()))
            self.store.release_pending()
            self._index.follow(self.store)
            self._index.save(self.store)
        finally:
            self.store.close()

    def check(self) -> None:
        """Verify the invariants of index and store, and that they agree."""
        self.store.check()
        self._index.follow(self.store)
        faults = self._index.faults(self.store)
        assert not faults, faults[0]

    def _delete(self, due: set[int]) -> None:
        """Delete pages beyond the bounds, and the frames in which no remaining page is counted."""
        with self.store.transaction():
            self.store.delete(due)
            self.store.trim_frames()

    def _beyond_bounds(self, moment: float, coming: bool | None = None) -> set[int]:
        """Return a batch of pages to forget before a page is recorded; empty if none is beyond.

        The least recently seen pages go first; kept and dropped pages have separate bounds.
        `coming`: whether the new page is kept (True) or dropped (False); None: it needs no room.
        """
        due: set[int] = set()
        days, bound = self._config.expire_days, self._config.max_pages
        for is_kept in (True, False):
            if days is not None:
                before = int(moment) - expiry_seconds(days)
                due.update(self.store.oldest(_MOST_AT_ONCE, is_kept=is_kept, before=before))
            if bound is not None:
                over = self.store.count(is_kept=is_kept) + (coming is is_kept) - bound
                most = min(max(over, bound // _BATCHES), _MOST_AT_ONCE)
                due.update(self.store.oldest(most, is_kept=is_kept) if over > 0 else ())
        return due


class LookUps:
    """The look-ups of a page on a host, given by its number; 0 if pages of all hosts are compared.

    With `scope` "host" they may by chance return a page of another host.
    """

    def __init__(self, store: PageStore, index: PageIndex, host: int) -> None:
        self.stored, self.sharing = store.stored, index.phrases.sharing
        self._store, self._index, self._mask = store, index, index.mask(host)
        self.inner_rings = index.fingerprints.rings[:-1]

    def equal(self, digest: bytes) -> list[int]:
        """Return the pages with the same first 64 bits of digest, the earliest first."""
        return self._index.digests.rows_of(head(digest) ^ self._mask)

    def near(
        self, fingerprint: int, most: int | None = None, distance: int | None = None
    ) -> list[Match]:
        """Return the pages within a distance, or the `most` nearest."""
        return self._index.fingerprints.within(fingerprint ^ self._mask, distance, most)

    def at_url(self, key: int) -> list[int]:
        """Return the latest kept pages at a URL."""
        return self._store.kept_at(key, MOST_AT_URL)
