"""Judgement -> item kept, marked or dropped, with one line in the log for each drop.

Scrapy runs `process_item` for many items at once, and two pages must not both be new because
each was looked up before the other was inserted: between a verdict and what is done about it
nothing is awaited. What is awaited, before, is the fate of the page's original.
"""

import logging
from time import monotonic
from typing import TYPE_CHECKING, Any

from scrapy import version_info
from scrapy.utils.defer import deferred_from_coro

from dedup_filter.scrapy_plugin.addon import judge_of
from dedup_filter.scrapy_plugin.desk import at_once
from dedup_filter.scrapy_plugin.judgement import Judgement
from dedup_filter.scrapy_plugin.near_duplicate import NearDuplicate, Revisit, describe
from dedup_filter.scrapy_plugin.stats import Figures
from dedup_filter.scrapy_plugin.tag import tag

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

    from dedup_filter.scrapy_plugin.judge import Judge

__all__ = ["NearDuplicatePipeline"]

logger = logging.getLogger("dedup_filter")


class NearDuplicatePipeline:
    """Drop the items of pages that repeat an earlier page."""

    def __init__(self, judge: "Judge", summary_interval: float) -> None:
        self._judge = judge
        self._settings = judge.settings
        self._stats = judge.stats
        self._summary_interval = summary_interval
        self._summary_at = monotonic() + summary_interval

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "NearDuplicatePipeline":
        """Make the pipeline of a crawl."""
        return cls(judge_of(crawler), crawler.settings.getfloat("LOGSTATS_INTERVAL"))

    def open_spider(self, spider: "Spider | None" = None) -> None:  # noqa: ARG002
        """Begin to count."""
        self._stats.open()

    async def process_item(self, item: Any, spider: "Spider | None" = None) -> Any:  # noqa: ARG002
        """Return the item, or drop it.

        Raises:
            NearDuplicate: the item's page repeats an earlier one.
        """
        passage = await self._judge.item(item)
        judgement = passage.judgement
        self._sum_up_now_and_then()
        if judgement is not None:
            if self._settings.action == "tag":
                self._tag(item, judgement)
            elif self._judge.drops(judgement.verdict):
                raise self._drop(judgement)
        self._judge.keep(passage)
        return item

    def close_spider(self, spider: "Spider | None" = None) -> Any:  # noqa: ARG002
        """Release what is still pending, set the final figures, sum up and close the index.

        What this returns is to be awaited, if an index on a server is.
        """
        closing = self._judge.close(self._set_final_figures)
        if not self._judge.pages.is_shared:
            return at_once(closing)
        return closing if version_info >= (2, 14) else deferred_from_coro(closing)

    def _drop(self, judgement: Judgement) -> NearDuplicate:
        self._judge.drop(judgement)
        kind = Revisit if judgement.verdict.outcome == "revisit" else NearDuplicate
        dropped = kind(judgement.url, judgement.verdict)
        self._stats.add("items_dropped")
        self._stats.add("bytes_dropped", judgement.size)
        judgement.size = 0  # further items of the same page add nothing
        self._tell(judgement, "Dropped %s", dropped)
        return dropped

    def _tag(self, item: Any, judgement: Judgement) -> None:
        if not tag(item, self._settings.tag_field, judgement.verdict):
            self._warn_of_missing_field(item)
        if judgement.verdict.is_duplicate:
            self._tell(judgement, "Found %s", describe(judgement.url, judgement.verdict))

    def _tell(self, judgement: Judgement, message: str, what: object) -> None:
        """Write one line a page, however many items were made of it."""
        if not judgement.is_told:
            judgement.is_told = True
            logger.log(self._settings.log_level, message, what)

    def _warn_of_missing_field(self, item: Any) -> None:
        self._stats.add("items_not_tagged")
        if self._stats.get("items_not_tagged") == 1:
            logger.warning(
                "%s items cannot be tagged: they have no field %r that takes a dict "
                "(DEDUP_TAG_FIELD)",
                type(item).__name__,
                self._settings.tag_field,
            )

    def _set_final_figures(self, figures: Figures | None) -> None:
        self._stats.close(figures)
        self._sum_up(figures)

    def _sum_up_now_and_then(self) -> None:
        """Sum up every LOGSTATS_INTERVAL.

        Asked at each item instead of by a timer: without items there is no news, and there
        is no timer that works on every supported Scrapy, with and without a reactor.
        """
        if self._summary_interval > 0 and monotonic() >= self._summary_at:
            self._summary_at = monotonic() + self._summary_interval
            self._judge.tell_figures(self._sum_up)

    def _sum_up(self, figures: Figures | None) -> None:
        if self._stats.get("pages"):
            logger.info(self._stats.summary(figures))
