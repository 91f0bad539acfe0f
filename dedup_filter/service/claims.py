"""Pages of many clients -> verdicts that stay true; claims with a time limit -> commits, releases.

    judge    a page -> its verdict; the page is kept, or pending under a claim
    end      a claim -> its page is kept or released
    expire   claims whose time is over -> their pages are released

A duplicate of a pending page has no final verdict, because the claim of that page may yet be
released. It is not recorded, and is to be judged again. Calls come from one thread at a time.
"""

from collections import Counter
from secrets import token_hex
from time import monotonic

from dedup_filter.crawl_filter import CrawlFilter
from dedup_filter.filter import PlacedPage
from dedup_filter.model import Fate, Verdict

_MOST_ENDED = 10_000


class Claims:
    """Claims, each released after `lease` seconds; all methods may raise StoreError."""

    def __init__(self, pages: CrawlFilter, lease: float) -> None:
        self.lease = lease
        self.outcomes: Counter[str] = Counter()
        """Outcome -> final verdicts so far."""
        self._pages = pages
        self._open: dict[str, tuple[Verdict, float]] = {}
        """Claim -> its verdict and the end of its time, the earliest first."""
        self._kept: dict[str, None] = {}
        """The last claims that were committed: the answer to a commit may have been lost."""

    def __len__(self) -> int:
        return len(self._open)

    def judge(self, page: PlacedPage, *, is_claim: bool) -> tuple[Verdict, str | None, bool]:
        """Judge a page; return its verdict, its claim, and whether the verdict is final.

        With `is_claim`, a page that is no duplicate is pending and has a claim.
        """
        verdict = self._pages.claim_read(page)
        original = verdict.original_page
        if verdict.is_duplicate and original and self._pages.fate(original) != "kept":
            self._pages.release(verdict)
            return verdict, None, False
        self.outcomes[verdict.outcome] += 1
        if not is_claim or verdict.is_duplicate or verdict.page is None:
            self._pages.commit(verdict)
            return verdict, None, True
        claim = token_hex(8)
        self._open[claim] = verdict, monotonic() + self.lease
        return verdict, claim, True

    def end(self, claim: str, *, is_kept: bool) -> Fate:
        """Keep or release the page of a claim; return the state of the page.

        A claim that has ended stays as it is: "kept" if it was committed, else "gone".
        """
        if claim in self._open:
            (self._pages.commit if is_kept else self._pages.release)(self._open[claim][0])
            del self._open[claim]
            if is_kept:
                self._kept[claim] = None
            if len(self._kept) > _MOST_ENDED:
                del self._kept[next(iter(self._kept))]
        return "kept" if claim in self._kept else "gone"

    def expire(self) -> None:
        """Release the pages of claims whose time is over."""
        for claim, (_, end) in list(self._open.items()):
            if end <= monotonic():
                self.end(claim, is_kept=False)
