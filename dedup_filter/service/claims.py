"""Pages of many clients -> verdicts that stay true; claims with a time limit -> commits, releases.

    see      a page -> its verdict; the page is kept
    claim    a page -> its verdict; a page that is no duplicate is pending, and has a claim
    end      a claim -> its page is kept or released
    expire   claims whose time is over -> their pages are released

A duplicate of a pending page has no final verdict, because the claim of that page may yet be
released. It is not recorded, and is to be judged again.

All calls are made by one thread (`index_thread`). Knows nothing of HTTP.
"""

from collections import Counter
from collections.abc import Callable
from secrets import token_hex
from time import monotonic
from typing import NamedTuple

from dedup_filter.crawl_filter import CrawlFilter
from dedup_filter.filter import PlacedPage
from dedup_filter.model import Fate, Verdict

_MOST_ENDED = 10_000


class Claimed(NamedTuple):
    """A verdict and what becomes of the page."""

    verdict: Verdict
    claim: str | None = None
    """The name of the claim; None: there is nothing to commit."""
    is_final: bool = True
    """False: the page repeats a pending page, and is to be judged again."""


class Claims:
    """The claims on pages of an index; each is released after `lease` seconds.

    Raises:
        StoreError: by all methods: the index cannot be read or written.
    """

    def __init__(
        self, pages: CrawlFilter, lease: float, clock: Callable[[], float] = monotonic
    ) -> None:
        self.lease = lease
        self.outcomes: Counter[str] = Counter()
        """Outcome -> final verdicts so far."""
        self._pages = pages
        self._clock = clock
        self._open: dict[str, tuple[Verdict, float]] = {}
        """Claim -> its verdict and the end of its time, the earliest first."""
        self._kept: dict[str, None] = {}
        """The last claims that were committed: the answer to a commit may have been lost."""

    def __len__(self) -> int:
        return len(self._open)

    def see(self, page: PlacedPage) -> Claimed:
        """Judge a page; if the verdict is final, keep the page."""
        claimed = self._judged(page)
        if claimed.is_final:
            self._pages.commit(claimed.verdict)
        return claimed

    def claim(self, page: PlacedPage) -> Claimed:
        """Judge a page; if it is no duplicate, keep it pending under a claim."""
        claimed = self._judged(page)
        verdict = claimed.verdict
        if verdict.is_duplicate or verdict.page is None:
            if claimed.is_final:
                self._pages.commit(verdict)
            return claimed
        claim = token_hex(8)
        self._open[claim] = verdict, self._clock() + self.lease
        return claimed._replace(claim=claim)

    def end(self, claim: str, *, is_kept: bool) -> Fate:
        """Keep or release the page of a claim; return the state of the page.

        A claim that has ended is not ended again: "kept" if it was committed, else "gone".
        """
        if claim in self._open:
            verdict, _ = self._open[claim]
            (self._pages.commit if is_kept else self._pages.release)(verdict)
            del self._open[claim]
            if is_kept:
                self._kept[claim] = None
                if len(self._kept) > _MOST_ENDED:
                    del self._kept[next(iter(self._kept))]
        return "kept" if claim in self._kept else "gone"

    def expire(self) -> None:
        """Release the pages of claims whose time is over."""
        for claim, (_, end) in list(self._open.items()):
            if end > self._clock():
                return
            self.end(claim, is_kept=False)

    def _judged(self, page: PlacedPage) -> Claimed:
        verdict = self._pages.claim_read(page)
        original = verdict.original_page
        if verdict.is_duplicate and original and self._pages.fate(original) != "kept":
            self._pages.release(verdict)
            return Claimed(verdict, is_final=False)
        self.outcomes[verdict.outcome] += 1
        return Claimed(verdict)
