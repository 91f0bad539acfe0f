"""Signs of life of a process, and its counts of what pages were found to be.

A thread renews the lease: a crawl may have nothing to ask for a while, and what it has claimed must
stay its own. A sign that does not get through is given again at the next beat, with the counts.

What repeats a pending page is judged anew if that is released. Until it is known what became of it,
such a page is counted as what it was found to be, and its count can be taken back.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock, Thread

from dedup_filter.errors import StoreError
from dedup_filter.model import Outcome
from dedup_filter.pages.redis.shared_log import LEASE, SharedLog

__all__ = ["Lease", "Tally"]

_BEATS = 3
"""In the time of a lease."""
_MOST_OPEN = 10_000
"""Pending pages for which counts are kept; the caller may never ask for the outcome."""


class Lease:
    """Keeps the lease of a process until it is closed, and brings counts to the totals of all."""

    def __init__(self, log: SharedLog) -> None:
        self._log = log
        self._counts: Counter[str] = Counter()
        self._lock = Lock()
        self._is_over = Event()
        self._thread = Thread(target=self._beat, name="dedup_filter lease", daemon=True)
        self._thread.start()

    def count(self, name: str, more: int) -> None:
        """Add to a total, or take away from it."""
        with self._lock:
            self._counts[name] += more

    def bring(self) -> None:
        """Bring what was counted to the servers.

        Raises:
            StoreError: they cannot be reached; it will be brought another time.
        """
        with self._lock:
            counts, self._counts = self._counts, Counter()
        try:
            self._log.beat(counts)
        except BaseException:
            with self._lock:
                self._counts.update(counts)
            raise

    def close(self) -> None:
        """Give no more signs; the lease is left to run out."""
        self._is_over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._is_over.wait(LEASE / _BEATS):
            with suppress(StoreError):  # the next call of the index raises it
                self.bring()


class Tally:
    """Counts the pages that a process judges, each once."""

    def __init__(self, count: Callable[[Outcome, int], None]) -> None:
        self._count = count
        self._open: OrderedDict[int, Counter[Outcome]] = OrderedDict()
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
        """Take note that a page is gone: what repeats it is judged, and counted, anew."""
        for outcome, count in self._open.pop(page, Counter()).items():
            self._count(outcome, -count)

    def begin_anew(self) -> None:
        """Forget pages by number: what was counted may be lost with them."""
        self._open.clear()
