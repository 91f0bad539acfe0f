"""Layer "scrapy_plugin": one line in a Scrapy project -> repeated pages are dropped as they come.

    ADDONS = {"dedup_filter.Addon": 500}

The only layer that imports Scrapy. It chooses the text of an item's page, calls the filter, acts on
the verdict and counts: `pipeline` shows the way of an item. It knows neither text extraction nor
fingerprints nor the index.

A wrong setting must stop the crawl, with one sentence and exit code 1. Scrapy calls an add-on
twice: when the process is set up (settings of project and command line), and for each crawl
(settings of the spider, too). At set-up nothing runs yet, so the error may end the program, and
Python shows its message; a `try` around CrawlerProcess still catches a ConfigError. For a crawl,
ending the program tears down the event loop. This is right under the `scrapy` command, which runs
one crawl. In a program of the user other crawls would end, so there it is a plain ConfigError.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings
from scrapy.utils.defer import deferred_from_coro

from dedup_filter.errors import ConfigError, StoreError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.scrapy_plugin.outputs import DuplicatesFile, NearDuplicate, require_report_path
from dedup_filter.scrapy_plugin.pipeline import NearDuplicateMiddleware, NearDuplicatePipeline
from dedup_filter.scrapy_plugin.settings import PluginSettings, in_settings
from dedup_filter.scrapy_plugin.stats import CrawlStats
from dedup_filter.store.location import folder_of

__all__ = ["Addon", "NearDuplicate"]

T = TypeVar("T")


class SettingsError(SystemExit, ConfigError):
    """A wrong setting, or under the `scrapy` command an index that cannot be opened.

    If it is not caught, it ends the program with the error's message.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.code = f"dedup_filter: {message}"


class Addon:
    """Put the near-duplicate filter into a crawl."""

    pipeline: NearDuplicatePipeline
    """The pipeline of the crawl, which its middlewares share."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Raise SettingsError if settings of project or command line are wrong."""
        _checked(partial(PluginSettings.read, settings), ends_program=True)

    def update_settings(self, settings: BaseSettings) -> None:
        """Add pipeline and spider middleware, unless the project did, or raise a ConfigError."""
        read = _checked(partial(PluginSettings.read, settings))
        if read.enabled:
            add = settings.setdefault_in_component_priority_dict
            # Before all others (images have 1), so that they only see kept items.
            add("ITEM_PIPELINES", NearDuplicatePipeline, 0)
            if read.url_rules != "off":
                from dedup_filter.scrapy_plugin.url_rules import UrlRulesMiddleware

                # After the middleware for off-site requests.
                add("DOWNLOADER_MIDDLEWARES", UrlRulesMiddleware, 60)
            # Next to the engine: the objects that pass here are the ones that reach the pipelines.
            add("SPIDER_MIDDLEWARES", NearDuplicateMiddleware, 10)

    @classmethod
    def of(cls, crawler: Crawler) -> "Addon":
        """Return the add-on of a crawl; the first call opens the index and the files.

        Raises:
            ConfigError, StoreError: the crawl has no add-on, or a file or the index cannot be
                opened.
        """
        addon = crawler.get_addon(cls)
        if addon is None:
            raise ConfigError('dedup_filter needs its add-on: ADDONS = {"dedup_filter.Addon": 500}')
        if not hasattr(addon, "pipeline"):
            addon._open(crawler)
        return addon

    def _open(self, crawler: Crawler) -> None:
        settings = PluginSettings.read(crawler.settings)
        end_crawl = partial(_end_crawl, crawler) if settings.on_error == "close" else None
        has_texts = folder_of(settings.index) and settings.options.get("keep_text")
        stats = CrawlStats(crawler.stats, end_crawl, settings.index if has_texts else None)
        duplicates = rules = None
        # Before the index is opened, and locked.
        if settings.duplicates is not None:
            open_file = partial(DuplicatesFile, settings.duplicates)
            duplicates = _checked(open_file, "DEDUP_DUPLICATES")
        if settings.report is not None:
            _checked(partial(require_report_path, settings.report), "DEDUP_REPORT")
        if settings.url_rules != "off":
            from dedup_filter.scrapy_plugin.url_rules import UrlRules

            rules = _checked(partial(UrlRules, settings, stats), "DEDUP_URL_RULES")
        # Before anything is crawled, and before a feed is begun.
        pages = _checked(partial(_open_index, settings, crawler), "DEDUP_INDEX")
        self.pipeline = NearDuplicatePipeline(
            settings,
            pages,
            stats,
            rules=rules,
            duplicates=duplicates,
            summary_interval=crawler.settings.getfloat("LOGSTATS_INTERVAL"),
        )
        crawler.signals.connect(self.pipeline.item_scraped, signals.item_scraped)
        crawler.signals.connect(self.pipeline.item_lost, signals.item_dropped)
        crawler.signals.connect(self.pipeline.item_lost, signals.item_error)


def _checked(make: Callable[[], T], setting: str = "", *, ends_program: bool = False) -> T:
    """Make what settings stand for; an error names the setting, and may end the program."""
    try:
        return make()
    except (ConfigError, StoreError) as error:
        message = in_settings(str(error))
        if setting and not message.startswith("DEDUP_"):
            message = f"{setting}: {message}"
        is_scrapy_command = "scrapy.cmdline" in sys.modules
        kind = SettingsError if ends_program or is_scrapy_command else type(error)
        raise kind(message) from None


def _open_index(settings: PluginSettings, crawler: Crawler) -> NearDuplicateFilter:
    crawl = _crawl_of_job(crawler) if crawler.settings.get("JOBDIR") else None
    with_text = settings.text_out is not None
    return NearDuplicateFilter.open(
        settings.index, crawl=crawl, with_text=with_text, **settings.options
    )


def _crawl_of_job(crawler: Crawler) -> str:
    """Return the name of the crawl of a job; the next run of the job is the same crawl.

    The name is in JOBDIR between the runs: a run takes it, and puts it back when all is written. So
    the run after a killed run is another crawl. The killed run has lost the items that its feed had
    not written; their pages come again as revisits, and are kept.
    """
    file = Path(str(crawler.settings["JOBDIR"]), "dedup_filter.crawl")
    try:
        name = file.read_text("ascii") if file.exists() else ""
        file.unlink(missing_ok=True)
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"the name of the crawl in {file} cannot be read: {error}") from error
    name = name or uuid4().hex

    def put_back() -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name, "ascii")

    crawler.signals.connect(put_back, signals.engine_stopped, weak=False)
    return name


def _end_crawl(crawler: Crawler) -> None:
    """Close the spider without waiting: closing itself waits for the items under way."""
    if hasattr(crawler.engine, "close_spider_async"):  # since Scrapy 2.14
        deferred_from_coro(crawler.engine.close_spider_async(reason="dedup_error"))
    else:
        crawler.engine.close_spider(crawler.spider, "dedup_error")  # type: ignore[arg-type]
