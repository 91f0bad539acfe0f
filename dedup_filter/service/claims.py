"""Pages of many clients -> verdicts that stay true; claims with a time limit -> commits, releases.

    judge    a page -> its verdict; the page is kept, or pending, with a token for its claim
    end      a token -> its page is kept or released
    expire   claims whose time is over -> their pages are released

A duplicate of a pending page has no final verdict, because the claim of that page may yet be
released. It is not recorded, and is to be judged again. Calls come from one thread at a time.
"""

from collections import Counter
from secrets import token_hex
from time import monotonic

from dedup_filter.judge import Claim, Judge
from dedup_filter.model import Fate, Verdict
from dedup_filter.workers import Reading

_MOST_ENDED = 10_000


class Claims:
    """Claims, each released after `lease` seconds; all methods may raise StoreError."""

    def __init__(self, judge: Judge, lease: float) -> None:
        self.lease = lease
        self.outcomes: Counter[str] = Counter()
        """Outcome -> final verdicts so far."""
        self._judge = judge
        self._open: dict[str, tuple[Claim, float]] = {}
        """Token of a client -> its claim and the end of its time, the earliest first."""
        self._kept: dict[str, None] = {}
        """The last tokens whose claims were committed: an answer to a commit may have been lost."""

    def __len__(self) -> int:
        return len(self._open)

    def judge(self, page: Reading, *, is_claim: bool) -> tuple[Verdict, str | None, bool]:
        """Judge a page; return its verdict, a token, and whether the verdict is final.

        With `is_claim`, a page that is no duplicate is pending, and a token stands for its claim.
        """
        claim = self._judge.claim(page.place, page.result())
        verdict = claim.verdict
        if verdict.is_duplicate and self._judge.fate_of_original(claim) != "kept":
            self._judge.release(claim)
            return verdict, None, False
        self.outcomes[verdict.outcome] += 1
        if not is_claim or verdict.is_duplicate or claim.state != "pending":
            self._judge.commit(claim)
            return verdict, None, True
        token = token_hex(8)
        self._open[token] = claim, monotonic() + self.lease
        return verdict, token, True

    def end(self, token: str, *, is_kept: bool) -> Fate:
        """Keep or release the page of a claim; return the state of the page.

        A claim that has ended stays as it is: "kept" if it was committed, else "gone".
        """
        if token in self._open:
            (self._judge.commit if is_kept else self._judge.release)(self._open[token][0])
            del self._open[token]
            if is_kept:
                self._kept[token] = None
            if len(self._kept) > _MOST_ENDED:
                del self._kept[next(iter(self._kept))]
        return "kept" if token in self._kept else "gone"

    def expire(self) -> None:
        """Release the pages of claims whose time is over."""
        for token, (_, end) in list(self._open.items()):
            if end <= monotonic():
                self.end(token, is_kept=False)
