"""Which pages of a shared index are to be forgotten, that it stays within its bounds.

Those not seen for longest go first, several at once, so that each costs little. Pending pages stay:
somebody is about to settle them. Chunks of the log that tell of no page any more are deleted. The
counterpart of `page_bounds`.

Cost: four calls for a batch of pages, and one in every 65 pages for the log.
"""

from time import time as now

from dedup_filter.config import FilterConfig
from dedup_filter.pages.expiry import oldest_kept
from dedup_filter.pages.redis.claims import Claims
from dedup_filter.pages.redis.followed_log import FollowedLog
from dedup_filter.pages.redis.log_view import LogChanged

__all__ = ["Bounds"]

_MOST_AT_ONCE = 256
_BATCHES = 100
"""An index of `max_pages` gives room for a hundredth of them at a time, or for `_MOST_AT_ONCE`."""
_PAGES_BETWEEN = 64
"""Pages after which is looked whether others are to be forgotten."""


class Bounds:
    """At most `max_pages` pages, none not seen for `expire_days`."""

    def __init__(self, config: FilterConfig, followed: FollowedLog, claims: Claims) -> None:
        self._max_pages = config.max_pages
        self._expire_days = config.expire_days
        self._followed = followed
        self._claims = claims
        self._wait = 0

    def make_room(self, coming: int = 1) -> None:
        """Forget pages beyond the bounds, before more are recorded."""
        bound, replica = self._max_pages, self._followed.replica
        over = 0 if bound is None else len(replica) + coming - bound
        if bound is not None and over > 0:
            most = max(over, min(bound // _BATCHES, _MOST_AT_ONCE))
            self._remove(replica.oldest(most))
        self._wait -= 1
        if self._wait < 0:
            self._wait = _PAGES_BETWEEN
            self._expire()
            self.trim()

    def trim(self) -> None:
        """Delete what of the log tells of no page any more."""
        try:
            self._followed.log.trim(self._followed.replica.first_chunk)
        except LogChanged:
            self._followed.read_anew()

    def _expire(self) -> None:
        if self._expire_days is not None:
            before = oldest_kept(self._expire_days, now())
            self._remove(self._followed.replica.not_seen_since(before, _MOST_AT_ONCE))

    def _remove(self, pages: list[int]) -> None:
        """Take out those that are settled: of the others, somebody is about to settle them."""
        if pages:
            self._claims.remove(sorted(set(pages) - self._followed.log.pages_in_flight()))
