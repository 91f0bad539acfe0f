"""Judgement -> item kept, marked or dropped, with one line in the log for each page dropped.

Scrapy runs `process_item` for many items at once, and two pages must not both be new because each
was looked up before the other was inserted: between a verdict and what is done about it nothing
is awaited. What is awaited, before, is the fate of the page's original.

Scrapy logs a dropped item whole, at the level that the exception names. A page of 100 KB is no
log line, so the level named here is one that never shows (NOTSET: no logger is enabled for 0,
whatever LOG_LEVEL says), and the pipeline writes its own line instead.
"""

import logging
from time import monotonic
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy import signals, version_info
from scrapy.exceptions import DropItem
from scrapy.utils.defer import deferred_from_coro

from dedup_filter.model import Verdict
from dedup_filter.scrapy_plugin.judge import Judge
from dedup_filter.scrapy_plugin.stats import Figures
from dedup_filter.scrapy_plugin.visits import Judgement
from dedup_filter.wording import counted, printable

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

__all__ = ["NearDuplicate", "NearDuplicatePipeline", "Revisit", "describe", "tag"]

_LONGEST_URL = 500

logger = logging.getLogger("dedup_filter")


class NearDuplicate(DropItem):
    """Drop an item because its page repeats one that was seen before.

    `url` is that of the item's page, `original` that of the page that it repeats; `distance` and
    `similarity` are those of the `verdict`.
    """

    def __init__(self, url: str, verdict: Verdict) -> None:
        super().__init__(describe(url, verdict), log_level="NOTSET")
        self.url = url
        self.verdict = verdict
        self.original = verdict.original
        self.distance = verdict.distance
        self.similarity = verdict.similarity


class Revisit(NearDuplicate):
    """Drop an item because its page was kept in an earlier crawl (`revisit="drop"`)."""


class NearDuplicatePipeline:
    """Drop the items of pages that repeat an earlier page."""

    def __init__(self, judge: Judge, summary_interval: float) -> None:
        self._judge = judge
        self._settings = judge.settings
        self._stats = judge.stats
        self._summary_interval = summary_interval
        self._summary_at = monotonic() + summary_interval

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "NearDuplicatePipeline":
        """Make the pipeline of a crawl, and let Scrapy tell it what becomes of items."""
        from dedup_filter.scrapy_plugin.addon import Addon  # which adds this to the crawl

        pipeline = cls(Addon.judge_of(crawler), crawler.settings.getfloat("LOGSTATS_INTERVAL"))
        crawler.signals.connect(pipeline.item_scraped, signals.item_scraped)
        crawler.signals.connect(pipeline.item_dropped, signals.item_dropped)
        crawler.signals.connect(pipeline.item_error, signals.item_error)
        return pipeline

    async def process_item(self, item: Any, spider: "Spider | None" = None) -> Any:  # noqa: ARG002
        """Return the item, or raise NearDuplicate if its page repeats an earlier one."""
        await self._sum_up_now_and_then()
        passage = await self._judge.item(item)
        judgement = passage.judgement
        if judgement is not None and passage.is_dropped:
            raise self._dropped(judgement)
        if judgement is not None and self._settings.action == "tag":
            self._tag(item, judgement)
        return item

    def item_scraped(self, item: Any, response: Any) -> None:
        """Note an item that went through all pipelines."""
        self._judge.fates.came_out(item, response, went_through=True)

    def item_dropped(self, item: Any, response: Any, exception: Any) -> None:
        """Note an item that was dropped, by this pipeline or another."""
        is_repeat = isinstance(exception, NearDuplicate)
        self._judge.fates.came_out(item, response, went_through=None if is_repeat else False)

    def item_error(self, item: Any, response: Any) -> None:
        """Note an item that a pipeline failed on."""
        self._judge.fates.came_out(item, response, went_through=False)

    def close_spider(self, spider: "Spider | None" = None) -> Any:  # noqa: ARG002
        """Release what is claimed, sum up and close the index; what this returns is awaited."""
        closing = self._close()
        return closing if version_info >= (2, 14) else deferred_from_coro(closing)

    async def _close(self) -> None:
        try:
            figures = await self._judge.finish()
            self._stats.close(figures)
            self._sum_up(figures)
        finally:
            await self._judge.close()

    def _dropped(self, judgement: Judgement) -> NearDuplicate:
        kind = Revisit if judgement.verdict.outcome == "revisit" else NearDuplicate
        dropped = kind(judgement.url, judgement.verdict)
        self._stats.add("items_dropped")
        self._stats.add("bytes_dropped", judgement.size)
        judgement.size = 0  # further items of the same page add nothing
        self._log(judgement, "Dropped %s", dropped)
        return dropped

    def _tag(self, item: Any, judgement: Judgement) -> None:
        field = self._settings.tag_field
        if not tag(item, field, judgement.verdict):
            self._stats.add("items_not_tagged")
            if self._stats.get("items_not_tagged") == 1:
                logger.warning(
                    "%s items cannot be tagged: they have no field %r that takes a dict "
                    "(DEDUP_TAG_FIELD)",
                    type(item).__name__,
                    field,
                )
        if judgement.verdict.is_duplicate:
            self._log(judgement, "Found %s", describe(judgement.url, judgement.verdict))

    def _log(self, judgement: Judgement, message: str, what: object) -> None:
        """Write one line a page, however many items were made of it."""
        if not judgement.is_logged:
            judgement.is_logged = True
            logger.log(self._settings.log_level, message, what)

    async def _sum_up_now_and_then(self) -> None:
        """Sum up every LOGSTATS_INTERVAL.

        Checked at each item instead of by a timer: without items there is no news, and there
        is no timer that works on every supported Scrapy, with and without a reactor.
        """
        if self._summary_interval > 0 and monotonic() >= self._summary_at:
            self._summary_at = monotonic() + self._summary_interval
            self._sum_up(await self._judge.figures())

    def _sum_up(self, figures: Figures) -> None:
        if self._stats.get("pages"):
            logger.info(self._stats.summary(figures))


def describe(url: str, verdict: Verdict) -> str:
    """Say in one line what a duplicate repeats, and how closely. URLs are made fit for a log.

    >>> describe("http://a/2", Verdict("near", "http://a/1", distance=3, similarity=0.92))
    '(near, 3 bits, 92 % similar): http://a/2 repeats http://a/1'
    """
    kind: list[str] = [verdict.outcome]
    if verdict.outcome != "exact" and verdict.distance is not None:
        kind.append(counted(verdict.distance, "bit"))
    if verdict.outcome != "exact" and verdict.similarity is not None:
        kind.append(f"{100 * verdict.similarity:.0f} % similar")
    page, original = (
        printable(each or "", _LONGEST_URL) or "(a page without URL)"
        for each in (url, verdict.original)
    )
    if verdict.outcome == "revisit":
        return f"({', '.join(kind)}): {page} was kept in an earlier crawl"
    return f"({', '.join(kind)}): {page} repeats {original}"


def tag(item: Any, field: str, verdict: Verdict) -> bool:
    """Write the verdict into a field of the item; return whether the item has room for it.

    Dicts always have. Other kinds of items need the field, or must allow extra ones (pydantic).
    """
    names = ("outcome", "original", "distance", "similarity", "reason")
    mark = {name: getattr(verdict, name) for name in names}
    try:
        if getattr(item, "model_config", {}).get("extra") == "allow":
            setattr(item, field, mark)
        else:
            ItemAdapter(item)[field] = mark
    except Exception:
        # No such field, no item at all, frozen, or whatever else its class objects to: the
        # caller counts and warns. An item must not be lost because it cannot be marked.
        return False
    return True
