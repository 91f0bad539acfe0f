"""Pages one by one -> verdicts: the filter joins text, frames, fingerprint, index and store.

    page -> blocks -> own text -> features -> fingerprint (+ sketch) -> index -> verdict

    claim   judged; what is new is kept for the time being, and later pages are compared with it
    commit  the page's item went through: the page is recorded for good
    release its item came to nothing: the page is forgotten, and its like can be kept instead
    see     claim and commit at once

What it promises, and tests cite by number:

1. The first page of its kind is new. Only pages that were kept become originals.
2. Nothing beyond `max_distance` bits, and nothing below `min_similarity`, is a near-duplicate.
3. Every stored page within `max_distance` bits is compared; where there are more than 64, the 64
   nearest are, of equally near ones the earliest. `capped` counts the look-ups with more.
4. A page with too little text repeats another only if everything on them is equal.
5. What cannot be judged is "unjudged" with a reason, never an error.
6. In a directory, verdicts after a restart are those that there would have been without it.
7. No page is a duplicate of one that was released, or was pending when its process ended.

Look-up and insert are one step without a gap. A filter belongs to one thread.
"""

import os
from collections.abc import Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any, NamedTuple

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError, DedupError
from dedup_filter.model import Document, Fate, Verdict
from dedup_filter.pages.directory import Place
from dedup_filter.pages.directory.kept_pages import KeptPages
from dedup_filter.pages.framed_pages import FramedPages
from dedup_filter.pages.location import MEMORY, folder_of, open_log, open_store
from dedup_filter.pages.redis import is_address
from dedup_filter.pages.redis.shared_pages import SharedPages
from dedup_filter.text import NO_PARTS, ImageSource, Page, WantedParts
from dedup_filter.text.reading import Html, read

__all__ = ["NearDuplicateFilter", "ReadPage"]


_NUMBERS = 2**63
"""Pages have lower numbers."""


class ReadPage(NamedTuple):
    """A page taken apart: what of it is judged."""

    url: str
    content: Page | Document | str
    """A str is the reason why it cannot be judged."""


class NearDuplicateFilter:
    """Tell of each page whether its like was seen before.

    >>> with NearDuplicateFilter.open() as pages:
    ...     text = "A crawler that meets the same article again has no need of it. " * 8
    ...     pages.see("https://example.com/a", text=text).outcome
    ...     pages.see("https://example.org/b", text=text.upper()).original
    'new'
    'https://example.com/a'
    """

    def __init__(
        self,
        config: FilterConfig | None = None,
        location: str | os.PathLike[str] = MEMORY,
        *,
        crawl: str | None = None,
    ) -> None:
        if crawl is not None and (not isinstance(crawl, str) or not crawl):
            raise ConfigError(f"crawl must be the name of a crawl, or None, not {crawl!r}")
        self.config = config or FilterConfig()
        self._kept = _opened(location, self.config, crawl)
        self._framed = FramedPages(self.config, self._kept)
        self._is_closed = False

    @classmethod
    def open(
        cls,
        location: str | os.PathLike[str] = MEMORY,
        *,
        crawl: str | None = None,
        **options: Any,
    ) -> "NearDuplicateFilter":
        """Open the index at a location; the options are the fields of `FilterConfig`.

        "memory:" is an index that ends with this filter; a path is that of a directory, which is
        made if there is none. Any number of processes can share one on a server or a cluster; with
        rediss:// and rediss+cluster:// the connection is encrypted:

            redis://[user:password@]host[:port][/database][?name=NAME]
            redis+cluster://[user:password@]host:port[,host:port ...][?name=NAME]

        Every opening is a new crawl, unless `crawl` names one that can be resumed: within a crawl
        pages repeat one another, and in a later one they are visited again. Processes that share
        an index at the same time are in one crawl.

        Raises:
            ConfigError: an option is unknown or out of range, the location is none, something
                else is there, or others share the index at present with another `scope`.
            StoreBusy: another process has opened the directory.
            SchemeMismatch: its fingerprints were made in another way.
            StoreAway: the server cannot be reached, or takes no writes.
            StoreError: it cannot be read or written, or is damaged, or of a newer version.
        """
        return cls(cls.check_options(location, **options), location, crawl=crawl)

    @classmethod
    def check_options(
        cls, location: str | os.PathLike[str] = MEMORY, **options: Any
    ) -> FilterConfig:
        """Refuse options that `open` would refuse, without opening anything; return them.

        Raises:
            ConfigError: an option is unknown or out of range, or the location is none. The
                message begins with the name of the argument at fault.
        """
        config = FilterConfig.of(options)
        if folder_of(location) is None and config.keep_text:
            raise ConfigError(
                "keep_text is for an index in a directory; with another location it must be False"
            )
        return config

    def see(
        self,
        url: str,
        *,
        html: Html | None = None,
        text: str | None = None,
        content_type: str | None = None,
        images: Mapping[str, bytes] | None = None,
    ) -> Verdict:
        """Judge a page and remember it, for good.

        Give either `html` (str, bytes or a parsed tree, which is not changed) or `text`;
        `content_type` is the HTTP header, it helps to decode bytes. The host in the URL is
        what frames are learnt by. `images` gives the bytes of some of the page's images by their
        URL (absolute, or as the page has it); others are known by their URL alone. They count
        with `image_weight`, and only where they stand in the main content.

        Cost: 3 to 5 ms for a page of 100 KB, a third of it parsing. Of a shared index also one to
        a few calls; and while another process has the page that this one repeats pending, this
        waits: usually not for long, until that process's lease is over if it died (30 s), and for
        at most a minute. Who cannot wait calls `claim`.

        Writing is grouped: what was seen last outlives the process from the next `flush` on.

        Raises:
            TypeError: an argument is of a type that cannot be meant.
            StoreError: the index cannot be read or written; it is as before.
            DedupError: the filter is closed.
        """
        page = self.read(url, html=html, text=text, content_type=content_type, images=images)
        return self._judge(page, is_pending=False)

    def claim(
        self,
        url: str,
        *,
        html: Html | None = None,
        text: str | None = None,
        content_type: str | None = None,
        images: Mapping[str, bytes] | None = None,
    ) -> Verdict:
        """Judge a page as `see` does, and keep it pending until it is committed or released.

        What repeats a page that is itself pending (`fate` of the verdict's `original_page`) is
        not settled before that one is: if it is released, claim the other one again. `see` waits
        for it, if another process has it.

        Raises:
            TypeError, StoreError, DedupError: as for `see`.
        """
        page = self.read(url, html=html, text=text, content_type=content_type, images=images)
        return self._judge(page, is_pending=True)

    def read(
        self,
        url: str,
        *,
        html: Html | None = None,
        text: str | None = None,
        content_type: str | None = None,
        images: Mapping[str, bytes] | None = None,
    ) -> ReadPage:
        """Take a page apart as `claim` does, and leave judging it to `claim_read`.

        For who calls those in another thread: only this touches a tree that was given.

        Raises:
            TypeError: as for `see`.
            DedupError: the filter is closed.
        """
        self._require_open()
        if not isinstance(url, str):
            raise TypeError(f"a URL is a str, not {type(url).__name__}")
        return ReadPage(url, read(html, text, content_type, self._wanted(url, images)))

    def claim_read(self, page: ReadPage) -> Verdict:
        """Judge a page that was read, and keep it pending.

        Raises:
            StoreError, DedupError: as for `see`.
        """
        return self._judge(page, is_pending=True)

    def commit(self, verdict: Verdict) -> None:
        """Record the page of a verdict for good. If it is not pending this does nothing.

        Raises:
            TypeError: this is no verdict.
            StoreError: the index cannot be written; the page is still pending.
            DedupError: the filter is closed.
        """
        page = self._page(verdict)
        if page is not None:
            self._framed.commit(page)

    def release(self, verdict: Verdict) -> None:
        """Forget the page of a verdict. If it is not pending this does nothing.

        Pages that were found to repeat it are forgotten too; what is like it can be kept.

        Raises:
            TypeError, StoreError, DedupError: as for `commit`.
        """
        page = self._page(verdict)
        if page is not None:
            self._framed.release(page)

    @property
    def is_shared(self) -> bool:
        """Whether calls wait for a server; then a crawl makes them in a thread of their own."""
        return self._kept.is_shared

    def totals(self) -> Mapping[str, int] | None:
        """Count the pages that all processes have judged by outcome; None if it is not shared.

        Raises:
            StoreError: the index cannot be read.
        """
        return self._kept.totals()

    def is_pending(self, page: int) -> bool:
        """Tell whether the page with this number is claimed, and not yet settled."""
        return self.fate(page) == "pending"

    def fate(self, page: int) -> Fate:
        """Tell what has become of the page with this number: "pending", "kept" or "gone".

        Raises:
            StoreError: the index cannot be read.
            DedupError: the filter is closed.
        """
        self._require_open()
        return self._kept.fate(page) if 0 < page < _NUMBERS else "gone"

    def forget(self, url: str) -> int:
        """Forget all pages at a URL, however it is spelt; return how many there were.

        Cost: passes over all pages, 0.1 s for a million.

        Raises:
            TypeError: the URL is no str.
            StoreError: the index cannot be read or written.
            DedupError: the filter is closed.
        """
        self._require_open()
        if not isinstance(url, str):
            raise TypeError(f"a URL is a str, not {type(url).__name__}")
        return self._framed.forget(url)

    def flush(self) -> None:
        """See to it that everything committed so far outlives this process.

        Raises:
            StoreError: it cannot be written.
            DedupError: the filter is closed.
        """
        self._require_open()
        self._kept.flush()

    def _judge(self, page: ReadPage, *, is_pending: bool) -> Verdict:
        self._require_open()
        content = page.content
        if isinstance(content, str):
            return Verdict("unjudged", reason=content)
        place = Place.of(page.url)
        if isinstance(content, Document):
            return self._framed.claim_document(place, content, is_pending=is_pending)
        return self._framed.claim(place, content, is_pending=is_pending)

    def _page(self, verdict: Verdict) -> int | None:
        self._require_open()
        if not isinstance(verdict, Verdict):
            raise TypeError(f"a verdict is wanted, not {type(verdict).__name__}")
        return verdict.page

    def _require_open(self) -> None:
        if self._is_closed:
            raise DedupError("the filter is closed; open another one")

    def _wanted(self, url: str, images: Mapping[str, bytes] | None) -> WantedParts:
        """Say what of a page is to be read besides its text."""
        images = {} if images is None else images
        if not isinstance(images, Mapping) or not all(map(_is_image, images.items())):
            raise TypeError("images maps URLs (str) to contents (bytes)")
        weights = self.config.part_weights
        if not (weights.heading or weights.image):
            return NO_PARTS
        source = ImageSource(url, images) if weights.image else None
        return WantedParts(bool(weights.heading), source)

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        """Memory of the index, of what is kept of each page and of frames, in bytes.

        Of an index in a directory, without what the system and SQLite hold of its files.
        """
        return self._kept.nbytes + self._framed.nbytes

    @property
    def capped(self) -> int:
        """Look-ups that found so many pages within k bits that only the nearest were compared."""
        return self._kept.capped

    @property
    def disk_bytes(self) -> int:
        """Size of all files of the index in bytes; 0 for one in memory."""
        return self._kept.disk_bytes

    def check(self) -> None:
        """Verify the invariants of index, store and frames, and that they agree.

        Raises:
            AssertionError: they do not.
            StoreCorrupt: a file is damaged.
        """
        self._kept.check()
        self._framed.check()

    def close(self) -> None:
        """Save everything and take no more pages; closing twice is no error.

        Pages that are still pending are released when the index is opened again.

        Raises:
            StoreError: not everything could be written; what was flushed before is there.
        """
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._framed.save()
        finally:
            self._kept.close()

    def __enter__(self) -> "NearDuplicateFilter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _is_image(given: tuple[object, object]) -> bool:
    address, content = given
    return isinstance(address, str) and isinstance(content, bytes)


def _opened(
    location: str | os.PathLike[str], config: FilterConfig, crawl: str | None
) -> KeptPages | SharedPages:
    """Open what is at a location; if that fails, nothing stays open."""
    kept: KeptPages | SharedPages
    with ExitStack() as undo:
        if isinstance(location, str) and is_address(location):
            log = open_log(location, config, crawl)
            undo.callback(log.close)
            kept = SharedPages(config, log)
        else:
            store = open_store(location, config, crawl)
            undo.callback(store.close)
            kept = KeptPages(config, store)
        undo.pop_all()
    return kept
