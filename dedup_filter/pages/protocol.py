"""What the filter asks of an index: the protocol that a directory and servers implement.

    compare   profile -> verdict: which kept or pending page it repeats
    record    that, and what is kept of the page -> verdict with numbers; it is pending or kept
    commit    a pending page -> kept for good
    release   a pending page -> gone, with all pages that were found to repeat it

One contract suite (`tests/pages/durable`) runs against each implementation. To add another kind of
index, write a class with these members and name it in `location`.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.model import Fate, Verdict
from dedup_filter.pages.directory import FrameStore, Place
from dedup_filter.pages.frame_exchange import FrameExchange

__all__ = ["KeptPages"]


class KeptPages(Protocol):
    """The pages that later ones may repeat.

    Raises:
        StoreError: from all methods, if the store or the server cannot be read or written. Then
            nothing was changed.
    """

    @property
    def is_shared(self) -> bool:
        """Whether other processes keep pages in the same index, so that calls wait for a server."""

    @property
    def frames(self) -> FrameStore | None:
        """Where learnt frames are stored; None: they end with this process."""

    @property
    def exchange(self) -> FrameExchange | None:
        """With whom learnt frames are exchanged; None: no other process learns any."""

    @property
    def gone(self) -> list[int]:
        """Numbers of pages whose records were deleted; the caller clears the list."""

    @property
    def capped(self) -> int:
        """Number of look-ups with so many candidates that only the nearest were compared."""

    @property
    def nbytes(self) -> int:
        """Memory of the index in bytes."""

    @property
    def disk_bytes(self) -> int:
        """Size of all files in bytes; 0 if there are none here."""

    def __len__(self) -> int:
        """Count the pages."""

    def totals(self) -> Mapping[str, int] | None:
        """Count what all processes have judged, by outcome; None if the index is not shared."""

    def compare(self, place: Place, page: PageProfile) -> Verdict:
        """Tell whether a page repeats one that is kept or pending.

        One without text is "unjudged" for "no_text", and is not to be recorded.
        """

    def record(
        self,
        place: Place,
        page: PageProfile,
        found: Verdict,
        text: str | None = None,
        *,
        is_pending: bool,
    ) -> Verdict:
        """Record a page and what was found of it, within `transaction`; return the verdict.

        Raises:
            Overtaken: another process has changed what the page repeats; compare it again.
        """

    def replace(self, number: int, page: PageProfile, text: str | None = None) -> None:
        """Give a page another profile, within `transaction`."""

    def fate(self, number: int) -> Fate:
        """Tell what has become of a page that was recorded."""

    def transaction(self) -> AbstractContextManager[object]:
        """Open a transaction: what is done within is written wholly or not at all."""

    def commit(self, number: int) -> None:
        """Keep a pending page for good; do nothing if it is not pending."""

    def release(self, number: int) -> None:
        """Forget a pending page; do nothing if it is not pending."""

    def forget(self, url: str) -> int:
        """Forget all pages at a URL, however it is spelt; return how many there were."""

    def flush(self) -> None:
        """Write everything committed so far, so that it outlives this process."""

    def check(self) -> None:
        """Verify the invariants. Raises AssertionError if one is broken."""

    def close(self) -> None:
        """Write everything and release what is held open."""
