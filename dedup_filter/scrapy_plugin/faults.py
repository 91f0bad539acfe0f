"""Faults of the filter -> a stat, a line in the log, and the spider closed if so wished.

The only place where the plugin ends an exception: a fault of the filter costs no item.
"""

import logging
from collections.abc import Callable
from typing import TypeVar

from dedup_filter.errors import DedupError, StoreAway
from dedup_filter.scrapy_plugin.near_duplicate import printable
from dedup_filter.scrapy_plugin.outage import Outage
from dedup_filter.scrapy_plugin.stats import CrawlStats

__all__ = ["NOT_JUDGED", "NOT_RECORDED", "Faults"]

NOT_JUDGED = "A page could not be judged; its items are kept"
NOT_RECORDED = "What became of a page could not be recorded"

logger = logging.getLogger("dedup_filter")

Result = TypeVar("Result")


class Faults:
    """Counts the faults of one crawl; `end_crawl`, if there is one, is called after the first."""

    def __init__(self, stats: CrawlStats, end_crawl: Callable[[], None] | None = None) -> None:
        self._stats = stats
        self._end_crawl = end_crawl
        self._told = 0
        """Faults that are none of an outage."""
        self.outage = Outage()

    def guard(
        self,
        work: Callable[[], Result],
        otherwise: Callable[[], Result],
        message: str = NOT_RECORDED,
    ) -> Result:
        """Do some work of the filter; if it fails, report that and do something else."""
        try:
            return work()
        except Exception as fault:  # the one place: no fault may cost an item
            self._report(fault, message)
            return otherwise()

    def _report(self, fault: Exception, message: str) -> None:
        self._stats.add("errors")
        what = printable(f"{type(fault).__name__}: {fault}")
        if isinstance(fault, StoreAway):
            self.outage.fault(what)
        else:
            self._tell(fault, message, what)
        if self._end_crawl is not None:
            end_crawl, self._end_crawl = self._end_crawl, None
            logger.error("The spider is closed (DEDUP_ON_ERROR); items still under way are kept")
            end_crawl()

    def _tell(self, fault: Exception, message: str, what: str) -> None:
        """Tell of the 1st, 2nd, 4th, 8th, ... fault: one of every page must fill no disk."""
        self._told += 1
        if self._told == 1 and isinstance(fault, DedupError):
            logger.error("%s: %s", message, what)  # its sentence says all
        elif self._told == 1:
            logger.error(message, exc_info=fault)
        elif self._told & (self._told - 1) == 0:
            logger.error("%d faults so far; the last: %s: %s", self._told, message, what)
