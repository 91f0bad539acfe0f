"""Faults of the index -> a stat, a line in the log, and the spider closed if so wished.

No fault may cost an item: what `Judge` and `Claims` catch they report here, and go on. While a
server cannot be reached, each page that is not judged is counted; the log has one line when the
outage begins and one when it ends. A server that answers some calls and refuses others (its memory
is full, a node of a cluster is down) is out until it has had no fault for a while.
"""

import logging
from collections.abc import Callable
from time import monotonic

from dedup_filter.errors import DedupError, StoreAway
from dedup_filter.scrapy_plugin.stats import CrawlStats
from dedup_filter.wording import counted, printable

__all__ = ["NOT_JUDGED", "NOT_RECORDED", "Faults"]

NOT_JUDGED = "A page could not be judged; its items are kept"
NOT_RECORDED = "What became of a page could not be recorded in the index"
_LONGEST_FAULT = 500
_CALM = 1.0
"""Seconds without a fault after which an answer ends an outage."""

logger = logging.getLogger("dedup_filter")


class Faults:
    """Counts the faults of one crawl; `end_crawl`, if there is one, is called after the first."""

    def __init__(self, stats: CrawlStats, end_crawl: Callable[[], None] | None = None) -> None:
        self._stats = stats
        self._end_crawl = end_crawl
        self._logged = 0
        """Faults other than outages."""
        self.outage_began: float | None = None
        """When the outage that is going on began; None: there is none."""
        self._outage_faults = 0
        self._last_outage_fault = 0.0
        self._was_answered = False
        """Whether the last call of the index was answered."""

    def report(self, fault: BaseException, message: str = NOT_RECORDED) -> None:
        """Count a fault and log it; one that is meant to end the program is raised."""
        if not isinstance(fault, Exception):
            raise fault
        self._stats.add("errors")
        what = printable(f"{type(fault).__name__}: {fault}", _LONGEST_FAULT)
        if isinstance(fault, StoreAway):
            self._note_outage(what)
        else:
            self._log(fault, message, what)
        self._close_spider()

    def note_answer(self) -> None:
        """Note that the index did what it was asked to; after a while this ends an outage."""
        self._was_answered = True
        if monotonic() - self._last_outage_fault >= _CALM:
            self.end_outage()

    def end_outage(self) -> None:
        """Log the end of an outage, if there was one and the last call was answered."""
        if self.outage_began is not None and self._was_answered:
            logger.warning(
                "Index server reachable again after %.0f s and %s; pages are judged again",
                monotonic() - self.outage_began,
                counted(self._outage_faults, "fault"),
            )
            self.outage_began, self._outage_faults = None, 0

    def _note_outage(self, what: str) -> None:
        self._last_outage_fault = monotonic()
        self._was_answered = False
        self._outage_faults += 1
        if self.outage_began is None:
            self.outage_began = self._last_outage_fault
            logger.error("Index server unreachable; items are kept unjudged meanwhile: %s", what)

    def _log(self, fault: Exception, message: str, what: str) -> None:
        """Log the 1st, 2nd, 4th, 8th, ... fault: one on every page must not fill the disk."""
        self._logged += 1
        if self._logged == 1 and isinstance(fault, DedupError):
            logger.error("%s: %s", message, what)  # its message says all, without a traceback
        elif self._logged == 1:
            logger.error(message, exc_info=fault)
        elif self._logged & (self._logged - 1) == 0:
            logger.error("%d faults so far; the last: %s: %s", self._logged, message, what)

    def _close_spider(self) -> None:
        if self._end_crawl is not None:
            end_crawl, self._end_crawl = self._end_crawl, None
            logger.error(
                "Spider closed after a fault (DEDUP_ON_ERROR); items still under way are kept"
            )
            end_crawl()
