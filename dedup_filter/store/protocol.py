"""The contracts of stores: `KeptPages` for the filter, and `Recorded` for everything that reads.

`KeptPages`, implemented by `SqlitePages` and `RedisPages`:

    compare   page -> verdict, by look-ups (`comparison.look_ups`)
    record    page, verdict -> a pending record
    commit    a pending record stays for good; for a duplicate: as the record of a dropped page
    release   a pending record is deleted with the duplicates of its page
    replace   a record -> the same with another profile, when more of its host's frame is known

`Recorded`, an index in a directory or on servers, only read: records and their contents, and the
entries by which pages are found.

Guarantees of `KeptPages`, held by one suite of tests (`tests/store/durable`) for memory, a
directory, a server and a cluster:

- `compare` finds pages that are kept or pending, within the bounds `expire_days` and `max_pages`.
- Records that were committed and flushed outlive the process, except in memory.
- Pages that are pending when a store is closed are released. If the process is killed, they are
  released in a directory when it is opened again, on servers when the lease of the process is over.
- A transaction is carried out whole or not at all, and after a StoreError nothing has changed.
- Numbers of pages ascend and are never given twice, unless a server lost writes.

One thread at a time, unless a method says otherwise.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dedup_filter.comparison.near_pages import Query
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.model import Fate, Verdict
from dedup_filter.store.records import KEPT_AS_TEXT, Crawl, PageRecord, Scheme
from dedup_filter.store.redis.frame_exchange import FrameExchange
from dedup_filter.store.sqlite.frame_store import FrameStore, HostFrames
from dedup_filter.text.page_bytes import unpack_page
from dedup_filter.text.page_url import Place
from dedup_filter.text.reading import Page


class Overtaken(Exception):  # noqa: N818 - no fault: the caller compares again
    """Another process has made a verdict invalid: the page must be compared again."""


class KeptPages(Protocol):
    """The pages that later pages may repeat.

    Raises:
        StoreError: by all methods, when the store cannot be read or written.
    """

    gone: list[int]
    """Pages whose records were deleted, by number; the owner reads and clears this."""
    capped: int
    """Look-ups that found more pages than are compared."""

    @property
    def is_shared(self) -> bool:
        """Whether other processes keep pages in the same index, so that calls wait for a server."""

    @property
    def frames(self) -> FrameStore | None:
        """The store of frames that outlive this process; None: none do."""

    @property
    def exchange(self) -> FrameExchange | None:
        """The exchange of frames with other processes; None: no other process has any."""

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""

    def __len__(self) -> int:
        """Count the kept pages, pending ones included."""

    def totals(self) -> Mapping[str, int] | None:
        """Count the pages that all processes have judged, by outcome; None: this one is alone."""

    def compare(self, place: Place, page: PageProfile) -> Verdict:
        """Judge a page by kept and pending pages; record nothing."""

    def find(self, query: Query) -> Sequence[PageRecord]:
        """Return the records of pages within k bits, with a digest, or that share keys."""

    def fate(self, number: int) -> Fate:
        """Return whether a recorded page is pending, kept or gone."""

    def sketches(self, pages: Sequence[int]) -> Mapping[int, bytes]:
        """Return the sketches of pages by their numbers; pages that are gone are left out."""

    def transaction(self) -> AbstractContextManager[None]:
        """Carry out all changes of the block, or none."""

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
        """Record a page and its verdict, within `transaction`; return the verdict with its number.

        `text` and `form` are kept with the record where the store can keep them.

        Raises:
            Overtaken: the verdict no longer holds, because another process was faster.
        """

    def replace(self, number: int, page: PageProfile, text: str | None = None) -> None:
        """Give a page another profile, within `transaction`; do nothing if its record is gone."""

    def commit(self, number: int) -> None:
        """Keep a pending page for good; do nothing for any other."""

    def release(self, number: int) -> None:
        """Forget a pending page and its duplicates; do nothing for any other."""

    def forget(self, url: str) -> int:
        """Forget all pages at a URL in any spelling; return their number."""

    def flush(self) -> None:
        """Make everything committed so far outlive this process."""

    def close(self) -> None:
        """Flush, release pending pages, and close the store."""

    def check(self) -> None:
        """Raise AssertionError if the parts of the store do not agree."""


class Entries(NamedTuple):
    """The search keys of all recorded pages that are not pending; arrays of equal length."""

    pages: npt.NDArray[np.int64]
    """Numbers, ascending."""
    are_kept: npt.NDArray[np.bool_]
    have_fingerprints: npt.NDArray[np.bool_]
    fingerprints: npt.NDArray[np.uint64]
    """0 for a page without fingerprint."""
    digest_heads: npt.NDArray[np.uint64]
    """The first 8 bytes of digests, little-endian; on servers only of pages without fingerprint."""
    keys: npt.NDArray[np.uint32]
    """Keys of their phrases, (n, `KEYS`); 0 for none."""


class KeptContent(NamedTuple):
    """The content of a page that was kept beside its record."""

    text: str | None = None
    """The main text, with `keep_text`; None: it was not kept."""
    form: bytes | None = None
    """The packed blocks of the page, see `records.KEPT_AS_TEXT`; None: they were not kept."""
    url_of_original: str | None = None
    """URL of the page that it repeats; None: it repeats none, or that page is gone."""

    def page(self) -> Page | None:
        """Unpack the blocks; None: there are none, or they cannot be read here.

        Another version of this package may have packed them.
        """
        if self.form is None or self.form == KEPT_AS_TEXT:
            return None
        try:
            return unpack_page(self.form)
        except ValueError:
            return None


class Recorded(Protocol):
    """An index, only read. Pending pages are left out.

    A directory is read as it was at the opening; of servers, changes by crawlers meanwhile may be
    seen or not.

    Raises:
        StoreError: by all methods, when the index cannot be read.
    """

    @property
    def scheme(self) -> Scheme:
        """The scheme of the fingerprints."""

    @property
    def identity(self) -> str:
        """The unique name of the index; "" for none."""

    @property
    def entries(self) -> Entries:
        """The entries of all pages. Cost: 1 us a page at the first call; 58 bytes a page."""

    def crawls(self) -> list[Crawl]:
        """List the crawls in their order, numbered from 1."""

    def count(self) -> int:
        """Count the pages; on servers pending pages, too."""

    def records(self, pages: Iterable[int] | None = None) -> Iterator[PageRecord]:
        """Yield the records of all pages by ascending number; or of some pages, in their order.

        Pages that are gone are left out.
        """

    def at_url(self, url: str, *, is_kept: bool) -> Sequence[int]:
        """Return the kept or the dropped pages at a URL in any spelling, the earliest first."""

    def content(self, record: PageRecord) -> KeptContent:
        """Return what was kept beside the record of a page."""

    def with_text(self) -> set[int]:
        """Return the numbers of the pages with a stored text; servers store none."""

    def url_of_original(self, record: PageRecord) -> str | None:
        """Return the URL of the page that a page repeats; None: there is none, or it is gone."""

    def repeats(self) -> Sequence[tuple[int, int, int]]:
        """Return each dropped page: its number, the number of its original, and the distance.

        The distance is of the text by which the page was found. Pages whose original is gone are
        left out.
        """

    def frames(self, host: str) -> HostFrames | None:
        """Return the frame of a host; None: not known."""

    def hosts(self) -> Iterable[HostFrames]:
        """Return the known frames of all hosts."""
