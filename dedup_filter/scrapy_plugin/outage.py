"""Faults and answers of a server -> one line when it goes away, and one when it is back.

Every page that cannot be judged meanwhile is counted; a line on each would only hide the two.
A server that answers some calls and refuses others (its memory is full, a node of a cluster is
down) is away until there was no fault for a while.
"""

import logging
from time import monotonic

from dedup_filter.wording import counted

__all__ = ["Outage"]

_CALM = 1.0
"""Seconds without a fault after which an answer means that the server is back."""

logger = logging.getLogger("dedup_filter")


class Outage:
    """Whether the server of one crawl's index is away."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._last_fault = 0.0
        self._faults = 0
        self._was_answered = False
        """Whether the last thing heard of it was an answer."""

    def fault(self, what: str) -> None:
        """Note that the server could not be reached."""
        self._last_fault = monotonic()
        self._was_answered = False
        self._faults += 1
        if self._began is None:
            self._began = self._last_fault
            logger.error("The index is away; while it is, items are kept unjudged: %s", what)

    def answered(self) -> None:
        """Note that the server did what it was asked to."""
        self._was_answered = True
        if self._began is not None and monotonic() - self._last_fault >= _CALM:
            self.end()

    def end(self) -> None:
        """Tell that the server is back, if it is; no calm is waited for at the end of a crawl."""
        if self._began is not None and self._was_answered:
            seconds = monotonic() - self._began
            logger.warning(
                "The index is back after %.0f s and %s; pages are judged again",
                seconds,
                counted(self._faults, "fault"),
            )
            self._began, self._faults = None, 0
