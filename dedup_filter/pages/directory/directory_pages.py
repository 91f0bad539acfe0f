"""Index and store as one: profiles of pages in, verdicts out.

    profile -> same digest                                                  exact
            -> index -> candidates within k bits -> the one that holds it   near

What it takes to repeat a page, and which of several it is said to repeat: see `comparison`.

What a page was kept with can be replaced when more is known of its host (`framed_pages`).

A template or an empty shell can put thousands of pages within k bits of one another that are no
near-duplicates. Of so many the `MOST_COMPARED` nearest are compared (of equally near ones those
that came first), and `capped` counts the look-ups for which there were more.

On disk every page with text is recorded; in memory only those that are kept or pending, as nobody
could read of the others later. What the store fails to write is not done in the index either.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import time as now

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.model import Fate, Verdict
from dedup_filter.pages.comparison import MOST_COMPARED, Candidate, compared, verdict_on
from dedup_filter.pages.directory.frame_store import FrameStore
from dedup_filter.pages.directory.index_entries import Change, Entry
from dedup_filter.pages.directory.page_index import PageIndex
from dedup_filter.pages.directory.page_store import PageStore
from dedup_filter.pages.directory.records import Judged, Measured, NewPage
from dedup_filter.pages.directory.url_key import Place
from dedup_filter.pages.expiry import PageBounds
from dedup_filter.pages.frame_exchange import FrameExchange
from dedup_filter.pages.location import MEMORY, open_store

__all__ = ["DirectoryPages", "measured_of"]


class DirectoryPages:
    """The pages that later ones may repeat.

    Raises:
        StoreError: by all methods, when the store cannot be read or written; then nothing is
            changed.
    """

    def __init__(self, config: FilterConfig, store: PageStore | None = None) -> None:
        self._config = config
        self.store = open_store(MEMORY, config, None) if store is None else store
        self._by_host = config.scope == "host"
        self._index = PageIndex(self.store, config.max_distance, by_host=self._by_host)
        self._bounds = PageBounds(self.store, config.max_pages, config.expire_days)
        self._due: list[Change] = []
        """What the index must follow once the transaction that is going on is whole."""
        self.gone: list[int] = []
        """Pages whose records were deleted; for the owner to take note of, and to clear."""
        self.capped = 0
        """Comparisons in which there were more candidates than `MOST_COMPARED`."""
        while due := self._bounds.expired(now()) or self._bounds.too_many():
            with self.transaction():
                self._delete(due)

    def __len__(self) -> int:
        return len(self.store)

    @property
    def is_durable(self) -> bool:
        """Whether what is recorded outlives this process."""
        return self.store.directory is not None

    is_shared = False
    """Whether other processes keep pages in the same index."""

    exchange: FrameExchange | None = None
    """With whom frames are exchanged; None: nobody else learns any."""

    def totals(self) -> None:
        """Return nothing: no other process judges pages of this index."""

    @property
    def frames(self) -> FrameStore | None:
        """Where frames are kept that outlive this process; None: nowhere."""
        return self.store.frames if self.is_durable else None

    @property
    def nbytes(self) -> int:
        """Memory of the index and of what is kept of each page, in bytes.

        What a store on disk holds in memory is left out: it is bounded.
        """
        return self._index.nbytes + (0 if self.is_durable else self.store.nbytes)

    @property
    def disk_bytes(self) -> int:
        """Size of all files in bytes."""
        return self._index.disk_bytes + self.store.nbytes if self.is_durable else 0

    def compare(self, place: Place, page: PageProfile) -> Verdict:
        """Tell whether a page repeats one that is kept or pending.

        Cost: a look-up by digest and, unless it is an exact repeat, one by each of its texts.
        """
        if page.is_blank:
            return verdict_on(page, "unjudged", "no_text")
        host = self.store.hosts.number(place.host) if self._by_host else None
        found = dict.fromkeys(self._index.of_digest(page.digest, host), (0, 0))
        verdict = compared(
            page,
            self._candidates(place, page, found or self._near(page, host), host),
            self._config.min_similarity,
            place.key,
            self.store.crawls.current.__eq__,
        )
        original = verdict.original_page
        return verdict if original is None else verdict._replace(original=self.store.url(original))

    def fate(self, number: int) -> Fate:
        """Tell what has become of a page that was recorded."""
        return self.store.fate(number)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make one transaction of all that is done within. Not to be used inside another.

        What the store refuses to write does not happen for the index and for `gone` either.
        """
        self._due.clear()
        before = len(self.gone)
        try:
            with self.store.transaction():
                yield
        except BaseException:
            del self.gone[before:]
            raise
        for change in self._due:
            self._index.follow(change)
        self._index.tend()

    def record(
        self,
        place: Place,
        page: PageProfile,
        found: Verdict,
        text: str | None = None,
        *,
        is_pending: bool,
    ) -> Verdict:
        """Record a page and what was found of it, within `transaction`; return the verdict."""
        if found.is_duplicate and not self.is_durable:
            return found
        moment = now()
        is_revisit = found.outcome == "revisit"
        due = self._bounds.due(moment, None if is_revisit else not found.is_duplicate)
        # The page that this one repeats stays, or the next one like it would be new.
        self._delete([number for number in due if number != found.original_page])
        measured = measured_of(page)
        judged = Judged(
            found.outcome, found.reason, found.original_page, found.distance, found.similarity
        )
        new = NewPage(place, measured, judged, int(moment), text)
        number = self.store.insert(new, is_pending=is_pending or is_revisit)
        if judged.is_kept:
            host = self.store.hosts.number(place.host)
            assert host is not None, "it was given one with the page"
            entry = Entry(number, measured.fingerprint, host, measured.digest)
            self._due.append(Change(added=(entry,)))
        if is_revisit and not is_pending:
            self._due.append(self.store.commit(number))
            return found._replace(page=found.original_page)
        return found._replace(page=number)

    def replace(self, number: int, page: PageProfile, text: str | None = None) -> None:
        """Give a page another profile, within `transaction`."""
        self._due.append(self.store.replace(number, measured_of(page), text))

    def commit(self, number: int) -> None:
        """Keep a pending page for good; one that is not pending is left as it is."""
        with self.transaction():
            self._due.append(self.store.commit(number))

    def release(self, number: int) -> None:
        """Forget a pending page; one that is not pending is left as it is."""
        if self.store.is_pending(number):
            with self.transaction():
                self._due.append(self.store.release(number))
                self.gone.append(number)

    def flush(self) -> None:
        """Make everything committed so far outlive this process."""
        self.store.flush()

    def forget(self, url: str) -> int:
        """Forget all pages at a URL, however it is spelt; return how many there were."""
        with self.transaction():
            pages = self.store.at_url(url)
            self._delete(pages)
        return len(pages)

    def close(self) -> None:
        """Write down all there is, and let go of the store."""
        try:
            self.store.crawls.end(int(now()))
            self.store.flush()
            self._index.close()
        finally:
            self.store.close()

    def check(self) -> None:
        """Verify the invariants of index and store, and that they agree."""
        self.store.check()
        self._index.check()

    def _near(self, page: PageProfile, host: int | None) -> dict[int, tuple[int, int]]:
        """Return pages within k bits: the number of the text that found each, and its distance."""
        found: dict[int, tuple[int, int]] = {}
        for number, text in enumerate(page.texts):
            near = self._index.neighbours(text.fingerprint, host, most=MOST_COMPARED + 1)
            if len(near.rows) > MOST_COMPARED:
                self.capped += 1
                near = near.first(MOST_COMPARED)
            for row, distance in zip(near.rows.tolist(), near.distances.tolist(), strict=True):
                found.setdefault(row, (number, distance))
        return found

    def _candidates(
        self,
        place: Place,
        page: PageProfile,
        found: Mapping[int, tuple[int, int]],
        host: int | None,
    ) -> list[Candidate]:
        own_host = self.store.hosts.number(place.host) if place.host else None
        is_of_site = page.around.is_of_site
        stored = self.store.matches(list(found))
        return [
            Candidate(
                *found[number],
                of_host == own_host,
                is_of_site is not None and is_of_site(self.store.hosts.name(of_host)),
                sketch,
                headline,
                number,
                crawl,
                key,
                digest,
            )
            for number, of_host, crawl, key, digest, headline, sketch in zip(
                found, *stored, strict=True
            )
            # Those of another host are near by chance.
            if not self._by_host or of_host == host
        ]

    def _delete(self, pages: list[int]) -> None:
        if pages:
            self._due.append(self.store.delete(pages))
            self.gone += pages


def measured_of(page: PageProfile) -> Measured:
    """Return what the store records of a profile."""
    return Measured(
        page.digest, page.fingerprint, page.sketch, page.word_count, page.language, page.headline
    )
