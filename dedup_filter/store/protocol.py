"""The contract between the filter and its stores, `SqlitePages` and `RedisPages`.

    compare   page -> verdict, by look-ups (`comparison.look_ups`)
    record    page, verdict -> a pending record
    commit    a pending record stays for good; for a duplicate: as the record of a dropped page
    release   a pending record is deleted with the duplicates of its page
    replace   a record -> the same with another profile, when more of its host's frame is known

Guarantees, held by one suite of tests (`tests/store/durable`) for memory, a directory, a server and
a cluster:

- `compare` finds pages that are kept or pending, within the bounds `expire_days` and `max_pages`.
- Records that were committed and flushed outlive the process, except in memory.
- Pages that are pending when their process ends are released: in a directory when it is opened
  again, on servers when the lease of the process is over.
- A transaction is carried out whole or not at all, and after a StoreError nothing has changed.
- Numbers of pages ascend and are never given twice, unless a server lost writes.

One thread at a time, unless a method says otherwise.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from dedup_filter.comparison.near_pages import Asked
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.model import Fate, Verdict
from dedup_filter.store.records import PageRecord
from dedup_filter.store.redis.frame_exchange import FrameExchange
from dedup_filter.store.sqlite.frame_store import FrameStore
from dedup_filter.text.page_url import Place


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

    def find(self, asked: Asked) -> Sequence[PageRecord]:
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
