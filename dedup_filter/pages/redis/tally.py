"""What pages were found to be -> the totals of all processes, each page counted once.

What repeats a pending page is judged anew if that comes to nothing. Until it is known what came of
it, such a page is counted as what it was found to be, and its count can be taken back.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable

from dedup_filter.model import Outcome

__all__ = ["Tally"]

_MOST_OPEN = 10_000
"""Pending pages that others repeat: of whose fate nobody asks is not known."""


class Tally:
    """Counts the pages that this process judges."""

    def __init__(self, count: Callable[[str, int], None]) -> None:
        self._count = count
        self._open: OrderedDict[int, Counter[str]] = OrderedDict()
        """By pending page, what was said of the pages that repeat it."""

    def told(self, outcome: Outcome, pending: int | None = None) -> None:
        """Count a page, which may repeat one that is pending."""
        self._count(outcome, 1)
        if pending is not None:
            self._open.setdefault(pending, Counter())[outcome] += 1
            if len(self._open) > _MOST_OPEN:
                self._open.popitem(last=False)

    def take_back(self, outcome: Outcome, pending: int | None = None) -> None:
        """Count a page no more that was told last: its caller is told of a fault."""
        self._count(outcome, -1)
        if pending is not None and pending in self._open:
            self._open[pending][outcome] -= 1

    def is_kept(self, page: int) -> None:
        """Take note that a page was committed: what repeats it was judged for good."""
        self._open.pop(page, None)

    def is_gone(self, page: int) -> None:
        """Take note that a page came to nothing: what repeats it is judged, and counted, anew."""
        for outcome, count in self._open.pop(page, Counter()).items():
            self._count(outcome, -count)

    def begin_anew(self) -> None:
        """Forget pages by number: what was counted may be lost with them."""
        self._open.clear()
