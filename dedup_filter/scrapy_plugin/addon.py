"""The add-on: `ADDONS = {"dedup_filter.Addon": 500}` puts the filter into a crawl.

A wrong setting must stop the crawl, with one sentence. Scrapy asks an add-on twice: when
the process is set up (settings of the project and of the command line), and for each crawl
(those of the spider too). Both times settings are only checked; the index is opened when the
crawl begins. The first time nothing runs yet, so the error may at once be the end of the
program, which Python shows as a bare message; a `try` around CrawlerProcess still catches a
ConfigError. In a running event loop the same tears the loop down: under the `scrapy` command,
which runs one crawl, that is what is wanted; in a program of the user it would end other
crawls too, so there it is a plain ConfigError. Scrapy 2.13 wraps errors of the second kind
into a Deferred and shows a traceback. The exit code is 1 in every case.

What the pipeline and the spider middleware share, the judge, belongs to the add-on: Scrapy
makes one add-on per crawl, and both can ask the crawler for it.
"""

import sys
from functools import partial
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.defer import deferred_from_coro

from dedup_filter.errors import ConfigError, StoreError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.scrapy_plugin.job import crawl_name
from dedup_filter.scrapy_plugin.judge import Judge
from dedup_filter.scrapy_plugin.settings import PluginSettings, in_settings, is_enabled
from dedup_filter.scrapy_plugin.settlement import Settlement
from dedup_filter.scrapy_plugin.stats import CrawlStats

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from scrapy.signalmanager import SignalManager

__all__ = ["Addon", "OpeningError", "SettingsError", "judge_of"]

PIPELINE_ORDER = 0
"""Before all others, so that images and databases only see what is kept: 1 is the order that
Scrapy's documentation gives its image pipeline."""
MIDDLEWARE_ORDER = 10
"""Next to the engine: an item that passes here is the very object that reaches the pipelines."""
CLOSE_REASON = "dedup_error"


class SettingsError(ConfigError, SystemExit):
    """A wrong setting of the project: an error to catch, or else the program's last words."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.code = f"dedup_filter: {message}"


class OpeningError(StoreError, SystemExit):
    """An index that cannot be opened: the last words of the `scrapy` command."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.code = f"dedup_filter: {message}"


class Addon:
    """Put the near-duplicate filter into a crawl."""

    def __init__(self) -> None:
        self._judge: Judge | None = None

    @classmethod
    def update_pre_crawler_settings(cls, settings: "BaseSettings") -> None:
        """Refuse wrong settings of project and command line.

        Raises:
            SettingsError: a setting is wrong.
        """
        try:
            if is_enabled(settings):
                PluginSettings.read(settings)
        except ConfigError as error:
            raise SettingsError(str(error)) from None

    def update_settings(self, settings: "BaseSettings") -> None:
        """Add the pipeline and the spider middleware, unless the project placed them itself.

        Raises:
            ConfigError: a setting is wrong.
        """
        # Both ask for the add-on's judge, so they import this module.
        from dedup_filter.scrapy_plugin.pipeline import NearDuplicatePipeline
        from dedup_filter.scrapy_plugin.spider_middleware import NearDuplicateMiddleware

        try:
            if not is_enabled(settings):
                return
            PluginSettings.read(settings)
        except ConfigError as error:
            if "scrapy.cmdline" in sys.modules:
                raise SettingsError(str(error)) from None
            raise
        settings.setdefault_in_component_priority_dict(
            "ITEM_PIPELINES", NearDuplicatePipeline, PIPELINE_ORDER
        )
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", NearDuplicateMiddleware, MIDDLEWARE_ORDER
        )

    def judge(self, crawler: "Crawler") -> Judge:
        """Return the judge of this crawl, made when it is first asked for.

        Raises:
            ConfigError, StoreError: the index cannot be opened.
        """
        if self._judge is None:
            settings = PluginSettings.read(crawler.settings)
            end_crawl = partial(_close, crawler) if settings.on_error == "close" else None
            pages = _open(settings)
            self._judge = Judge(settings, pages, CrawlStats(crawler.stats), end_crawl)
            _connect(self._judge.settlement, crawler.signals)
        return self._judge


def _open(settings: PluginSettings) -> NearDuplicateFilter:
    """Open the index, before anything of the crawl has begun.

    It can be refused as a wrong setting can; then nothing was crawled, and no feed begun.
    """
    try:
        crawl = None if settings.job_folder is None else crawl_name(settings.job_folder)
        return NearDuplicateFilter.open(settings.index, crawl=crawl, **settings.options)
    except (ConfigError, StoreError) as error:
        message = in_settings(str(error))
        if not message.startswith("DEDUP_"):
            message = f"DEDUP_INDEX: {message}"
        if "scrapy.cmdline" in sys.modules:
            raise OpeningError(message) from None
        raise type(error)(message) from None


def _connect(settlement: Settlement, connected: "SignalManager") -> None:
    connected.connect(settlement.item_scraped, signals.item_scraped)
    connected.connect(settlement.item_dropped, signals.item_dropped)
    connected.connect(settlement.item_error, signals.item_error)


def judge_of(crawler: "Crawler") -> Judge:
    """Return what the pipeline and the spider middleware of a crawl share.

    Raises:
        ConfigError: the crawl has no add-on.
    """
    addon = crawler.get_addon(Addon)
    if addon is None:
        raise ConfigError('dedup_filter needs its add-on: ADDONS = {"dedup_filter.Addon": 500}')
    return addon.judge(crawler)


def _close(crawler: "Crawler") -> None:
    """Close the spider without waiting: closing itself waits for the items under way."""
    if hasattr(crawler.engine, "close_spider_async"):  # since Scrapy 2.14
        deferred_from_coro(crawler.engine.close_spider_async(reason=CLOSE_REASON))
    else:
        crawler.engine.close_spider(crawler.spider, CLOSE_REASON)  # type: ignore[arg-type]
