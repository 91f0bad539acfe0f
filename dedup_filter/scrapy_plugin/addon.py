"""The add-on: `ADDONS = {"dedup_filter.Addon": 500}` puts the filter into a crawl.

A wrong setting must stop the crawl, with one sentence and exit code 1. Scrapy asks an add-on twice:
when the process is set up (settings of the project and of the command line), and for each crawl
(those of the spider too). Both times settings are only checked; the index is opened when the crawl
begins. The first time nothing runs yet, so the error may at once be the end of the program, which
Python shows as a bare message; a `try` around CrawlerProcess still catches a ConfigError. In a
running event loop the same tears the loop down: wanted under the `scrapy` command, which runs one
crawl; in a program of the user it would end other crawls too, so there it is a plain ConfigError.

With a JOBDIR the crawl gets a name when it first begins, kept in the job's folder. A job that is
resumed is the same crawl: its pages are compared with those of the earlier runs as pages of one
crawl, not as pages of an earlier one. Without a JOBDIR every crawl is a new one.
"""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from scrapy.utils.defer import deferred_from_coro

from dedup_filter.errors import ConfigError, StoreError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.scrapy_plugin.judge import Judge
from dedup_filter.scrapy_plugin.pipeline import NearDuplicatePipeline
from dedup_filter.scrapy_plugin.settings import PluginSettings, in_settings, is_enabled
from dedup_filter.scrapy_plugin.spider_middleware import NearDuplicateMiddleware
from dedup_filter.scrapy_plugin.stats import CrawlStats

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

__all__ = ["Addon", "SettingsError", "crawl_name"]

PIPELINE_ORDER = 0
"""Before all others, so that images and databases only see what is kept: 1 is the order that
Scrapy's documentation gives its image pipeline."""
MIDDLEWARE_ORDER = 10
"""Next to the engine: an item that passes here is the very object that reaches the pipelines."""


class SettingsError(SystemExit, ConfigError):
    """A wrong setting, or under the `scrapy` command an index that cannot be opened.

    It can be caught, or else is the end of the program with the error's message.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.code = f"dedup_filter: {message}"


class Addon:
    """Put the near-duplicate filter into a crawl."""

    def __init__(self) -> None:
        self._judge: Judge | None = None

    @classmethod
    def update_pre_crawler_settings(cls, settings: "BaseSettings") -> None:
        """Refuse wrong settings of project and command line with a SettingsError."""
        _check(settings, ends_program=True)

    def update_settings(self, settings: "BaseSettings") -> None:
        """Add pipeline and spider middleware, unless the project did, or raise a ConfigError."""
        _check(settings, ends_program=_is_scrapy_command())
        if is_enabled(settings):
            add = settings.setdefault_in_component_priority_dict
            add("ITEM_PIPELINES", NearDuplicatePipeline, PIPELINE_ORDER)
            add("SPIDER_MIDDLEWARES", NearDuplicateMiddleware, MIDDLEWARE_ORDER)

    @classmethod
    def judge_of(cls, crawler: "Crawler") -> Judge:
        """Return what the pipeline and the spider middleware of a crawl share.

        Raises:
            ConfigError, StoreError: the crawl has no add-on, or the index cannot be opened.
        """
        addon = crawler.get_addon(cls)
        if addon is None:
            raise ConfigError('dedup_filter needs its add-on: ADDONS = {"dedup_filter.Addon": 500}')
        if addon._judge is None:
            settings = PluginSettings.read(crawler.settings)
            end_crawl = partial(_close, crawler) if settings.on_error == "close" else None
            pages = _open(settings)
            addon._judge = Judge(settings, pages, CrawlStats(crawler.stats), end_crawl)
        return addon._judge


def crawl_name(folder: str) -> str:
    """Return the name of a job's crawl, given the first time. A StoreError: it cannot be kept."""
    path = Path(folder) / "dedup_filter.crawl"
    try:
        name = path.read_text("ascii").strip() if path.exists() else ""
        if not name:  # the first time, or a crash of the system has emptied it
            name = uuid4().hex
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh = path.with_name(f"{path.name}.new")
            fresh.write_text(name, "ascii")
            fresh.replace(path)
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"the name of the crawl cannot be kept in {path}: {error}") from error
    return name


def _check(settings: "BaseSettings", *, ends_program: bool) -> None:
    try:
        if is_enabled(settings):
            PluginSettings.read(settings)
    except ConfigError as error:
        raise SettingsError(str(error)) if ends_program else error from None


def _open(settings: PluginSettings) -> NearDuplicateFilter:
    """Open the index before anything is crawled and before a feed is begun."""
    try:
        crawl = None if settings.job_folder is None else crawl_name(settings.job_folder)
        return NearDuplicateFilter.open(settings.index, crawl=crawl, **settings.options)
    except (ConfigError, StoreError) as error:
        message = in_settings(str(error))
        if not message.startswith("DEDUP_"):
            message = f"DEDUP_INDEX: {message}"
        kind = SettingsError if _is_scrapy_command() else type(error)
        raise kind(message) from None


def _close(crawler: "Crawler") -> None:
    """Close the spider without waiting: closing itself waits for the items under way."""
    if hasattr(crawler.engine, "close_spider_async"):  # since Scrapy 2.14
        deferred_from_coro(crawler.engine.close_spider_async(reason="dedup_error"))
    else:
        crawler.engine.close_spider(crawler.spider, "dedup_error")  # type: ignore[arg-type]


def _is_scrapy_command() -> bool:
    return "scrapy.cmdline" in sys.modules
