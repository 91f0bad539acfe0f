"""A page that another repeats -> what has become of it: kept, gone or still pending.

    pending here        whoever claimed it settles it
    pending elsewhere   remembered as what it is, asked for again, or waited for

After a server failed its number may have been given to another page, so it is known by its entry
too: a duplicate is told that its original is gone rather than of one that it never repeated.

Cost: two calls each time that it is asked for; waiting asks at most every 0.25 s in the end.
"""

from collections.abc import Mapping
from time import monotonic, sleep
from typing import TYPE_CHECKING

from dedup_filter.model import Fate
from dedup_filter.pages.comparison import Comparison, Overtaken
from dedup_filter.pages.directory import PageRecord
from dedup_filter.pages.redis.claims import Claims
from dedup_filter.pages.redis.followed_log import FollowedLog
from dedup_filter.pages.redis.log_view import LEASE
from dedup_filter.pages.redis.standing import entry_of

if TYPE_CHECKING:
    from dedup_filter.pages.redis.events import Entry

__all__ = ["Originals"]

_LONGEST_WAIT = 2 * LEASE
"""Seconds for which `see` waits for another process to settle the original of its page."""
_SHORTEST_PAUSE = 0.002
_LONGEST_PAUSE = 0.25
_MOST_AWAITED = 10_000


class Originals:
    """The pages that pages here were found to repeat.

    Raises:
        StoreError: by all methods, when the servers cannot be reached or refuse.
    """

    def __init__(self, followed: FollowedLog, claims: Claims) -> None:
        self._followed = followed
        self._claims = claims
        self._awaited: dict[int, Entry] = {}
        """Pages pending elsewhere that pages here were found to repeat, the last ones."""

    def __contains__(self, number: int | None) -> bool:
        """Tell whether a page is, by all that is known here, pending elsewhere."""
        return number in self._awaited

    def fate(self, number: int) -> Fate:
        """Tell what has become of a page that was recorded, here or by another process."""
        if number not in self._awaited and number in self._claims:
            return "pending"
        is_in_flight = self._followed.log.is_in_flight(number)
        # In this order: what was in no flight, and is there now, was committed. And always: this
        # may be the only call left, and it is calls that release the pages of dead processes.
        self._followed.sync()
        if is_in_flight:
            return "pending"
        awaited = self._awaited.pop(number, None)
        replica = self._followed.replica
        is_there = number in replica
        # After a server failed, the number may have been given to another page.
        is_it = awaited is None or (is_there and replica.entry(number) == awaited)
        return "kept" if is_there and is_it else "gone"

    def settled(
        self, found: Comparison, records: Mapping[int, PageRecord], *, is_pending: bool
    ) -> Comparison:
        """Wait until the original of a page is settled, if nobody else will.

        Raises:
            Overtaken: the original is gone.
        """
        original = found.original_page
        assert original is not None, "a duplicate has an original"
        if original in self._claims.mine or not records[original].is_pending:
            return found
        self._awaited[original] = entry_of(records[original])
        if len(self._awaited) > _MOST_AWAITED:
            del self._awaited[next(iter(self._awaited))]
        return found if is_pending else self._waited_for(original, found)

    def _waited_for(self, original: int, found: Comparison) -> Comparison:
        latest, pause = monotonic() + _LONGEST_WAIT, _SHORTEST_PAUSE
        while (fate := self.fate(original)) == "pending":
            if monotonic() > latest:
                return Comparison("unjudged", "pending", candidates=found.candidates)
            sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        if fate == "gone":
            raise Overtaken
        return found
