"""Signs of life: a thread that renews a process's lease, and brings its counts to the totals.

A crawl may have nothing to ask for a while, and what it has claimed must stay its own; so this
cannot wait for its next call. A sign that does not get through is given again at the next beat.
"""

from collections import Counter
from contextlib import suppress
from threading import Event, Lock, Thread

from dedup_filter.errors import StoreError
from dedup_filter.pages.redis.log_view import LEASE
from dedup_filter.pages.redis.shared_log import SharedLog

__all__ = ["Lease"]

_BEATS = 3
"""In the time of a lease."""


class Lease:
    """Keeps the lease of a process until it is closed."""

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
            with suppress(StoreError):  # whoever asks the index next learns of it
                self.bring()
