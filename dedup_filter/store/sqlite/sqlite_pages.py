"""Index and store as one: profiles of pages in, verdicts out (see `comparison.look_ups`).

What a page was kept with can be replaced when more is known of its host (`judging`).

On disk every page with text is recorded; in memory only those that are kept or pending, as nobody
could read of the others later. The index follows the store whenever it is asked.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from time import time as now

from dedup_filter.comparison.look_ups import judge, pages_like
from dedup_filter.comparison.near_pages import Asked
from dedup_filter.config import FilterConfig, expiry_seconds
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.model import Fate, Match, Verdict
from dedup_filter.store.records import PageRecord, measures_of
from dedup_filter.store.redis.frame_exchange import FrameExchange
from dedup_filter.store.sqlite.frame_store import FrameStore
from dedup_filter.store.sqlite.page_index import PageIndex
from dedup_filter.store.sqlite.page_store import PageStore
from dedup_filter.text.page_url import Place

_MOST_AT_URL = 4
"""Pages at one URL, of several crawls, that are compared with one that names it as canonical."""
_MOST_AT_ONCE = 256
_BATCHES = 100
"""An index of `max_pages` gives room for a hundredth of them at a time, or for `_MOST_AT_ONCE`."""


class SqlitePages:
    """The pages that later ones may repeat. `RedisPages` has the same members.

    Raises:
        StoreError: by all methods, when the store cannot be read or written; then nothing is
            changed.
    """

    is_shared = False
    """Whether other processes keep pages in the same index, so that calls wait for a server."""
    exchange: FrameExchange | None = None
    """By which processes share what hosts have shown; None: no other process counts it."""

    def __init__(self, config: FilterConfig, store: PageStore) -> None:
        self._config = config
        self.store = store
        self._is_durable = store.directory is not None
        """Whether what is recorded outlives this process."""
        self.frames = FrameStore(store) if self._is_durable else None
        """Where frames are kept that outlive this process; None: nowhere."""
        self._by_host = config.scope == "host"
        store.index_urls(is_wanted=config.canonical)
        k, layout = config.max_distance, config.tables
        self._index = PageIndex.opened(store, k, layout, by_host=self._by_host)
        self.gone = store.gone
        """Pages whose records were deleted; for the owner to take note of, and to clear."""
        self.capped = 0
        """Comparisons in which there were more candidates than `MOST_COMPARED`."""
        while due := self._beyond_bounds(now()):
            self._delete(due)

    def __len__(self) -> int:
        return len(self.store)

    def totals(self) -> None:
        """Return nothing: no other process judges pages of this index."""

    @property
    def nbytes(self) -> int:
        """Memory of the index and of what is kept of each page, in bytes.

        What a store on disk holds in memory is left out: it is bounded.
        """
        return self._index.nbytes + (0 if self._is_durable else self.store.nbytes)

    def compare(self, place: Place, page: PageProfile) -> Verdict:
        """Tell whether a page repeats one that is kept or pending.

        Cost: a look-up by digest and, unless it is an exact repeat, one by each of its texts; if it
        repeats none of what they find, one by the keys of its phrases.
        """
        self._index.follow(self.store)
        host = self.store.host(place.host) if self._by_host else 0
        look_ups = _LookUps(self.store, self._index, host)
        verdict, capped = judge(place, page, look_ups, self._config, self.store.crawl.__eq__)
        self.capped += capped
        return verdict.named(self.store.url)

    def find(self, asked: Asked) -> list[PageRecord]:
        """Return the records of pages within k bits, with a digest, or that share keys.

        Pending pages may be among them. Nothing is changed.
        """
        self._index.follow(self.store)
        host = self.store.known_host(asked.host) if self._by_host else 0
        if host is None:
            return []
        look_ups = _LookUps(self.store, self._index, host)
        pages = pages_like(asked, look_ups, by_phrases=self._config.looks_for_phrases)
        records = map(self.store.record, pages)
        return [each for each in records if not self._by_host or each.host == asked.host]

    def fate(self, number: int) -> Fate:
        """Tell what has become of a page that was recorded."""
        return self.store.fate(number)

    def sketches(self, pages: Sequence[int]) -> dict[int, bytes]:
        """Return the sketches of pages by their numbers; of those that are gone there is none."""
        found = {}
        for page in pages:
            with suppress(KeyError):
                found[page] = self.store.stored([page])[0].sketch
        return found

    def transaction(self) -> AbstractContextManager[None]:
        """Do all that is done within, or nothing."""
        return self.store.transaction()

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
        """Record a page and what was found of it, within `transaction`; return the verdict.

        `text` and `form` are kept with it if they are given.
        """
        is_repeat, is_revisit = found.original_page is not None, found.outcome == "revisit"
        if is_repeat and not (is_revisit or self._is_durable):
            return found
        moment = now()
        due = self._beyond_bounds(moment, None if is_revisit else not is_repeat)
        # The page that this one repeats stays, or the next one like it would be new.
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
        """Give a page another profile, within `transaction`."""
        self.store.replace(number, measures_of(page), text)

    def commit(self, number: int) -> None:
        """Keep a pending page for good; one that is not pending is left as it is."""
        self.store.commit(number)

    def release(self, number: int) -> None:
        """Forget a pending page; one that is not pending is left as it is."""
        self.store.release(number)

    def flush(self) -> None:
        """Make everything committed so far outlive this process."""
        self.store.flush()

    def forget(self, url: str) -> int:
        """Forget all pages at a URL, however it is spelt; return how many there were."""
        pages = self.store.at_url(url)
        self.store.delete(pages)
        return len(pages)

    def close(self) -> None:
        """Write down all there is, and let go of the store."""
        try:
            self.store.end_crawl(int(now()))
            self.store.flush()
            self._index.follow(self.store, is_last=True)
        finally:
            self.store.close()

    def check(self) -> None:
        """Verify the invariants of index and store, and that they agree."""
        self.store.check()
        self._index.follow(self.store)
        faults = self._index.faults(self.store)
        assert not faults, faults[0]

    def _delete(self, due: set[int]) -> None:
        """Forget pages beyond the bounds, and the frames that none of the others count in."""
        with self.store.transaction():
            self.store.delete(due)
            self.store.trim_frames()

    def _beyond_bounds(self, moment: float, coming: bool | None = None) -> set[int]:
        """Return some pages to be forgotten before another is recorded; none if there are no more.

        Those not seen for longest go first, kept ones and records of dropped ones by themselves.
        `coming`: whether the other is kept (True) or dropped (False); None: it needs no room.
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


class _LookUps:
    """The look-ups of one page, by the number of its host."""

    def __init__(self, store: PageStore, index: PageIndex, host: int) -> None:
        self.stored = store.stored
        self._store, self._index, self._host = store, index, host

    def equal(self, digest: bytes) -> list[int]:
        return self._index.of_digest(digest, self._host)

    def near(self, fingerprint: int, most: int | None = None) -> list[Match]:
        return self._index.near(fingerprint, self._host, most)

    def at_url(self, key: int) -> list[int]:
        return self._store.kept_at(key, _MOST_AT_URL)

    def sharing(self, texts: Sequence[bytes]) -> Mapping[int, int]:
        return self._index.sharing(texts)
