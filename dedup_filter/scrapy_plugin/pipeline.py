"""What Scrapy calls: the add-on, the spider middleware and the item pipeline.

    ADDONS = {"dedup_filter.Addon": 500}    the filter takes part in a crawl
    output of a response                    items are registered, links of a repeated page held back
    item                                    kept, marked or dropped, with a line in the log

A wrong setting must stop the crawl, with one sentence and exit code 1. Scrapy calls an add-on
twice: when the process is set up (settings of project and command line), and for each crawl
(settings of the spider, too). At set-up nothing runs yet, so the error may end the program, and
Python shows its message; a `try` around CrawlerProcess still catches a ConfigError. For a crawl,
ending the program tears down the event loop. This is right under the `scrapy` command, which runs
one crawl. In a program of the user other crawls would end, so there it is a plain ConfigError.
"""

import logging
import sys
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from itemadapter import ItemAdapter
from scrapy import Request, Spider, signals, version_info
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, IgnoreRequest
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils.defer import deferred_from_coro

from dedup_filter.crawl_filter import CrawlFilter
from dedup_filter.errors import ConfigError, StoreError
from dedup_filter.model import DROPPED, Refusal, Verdict
from dedup_filter.review.refusals import why
from dedup_filter.scrapy_plugin.judge import Judge
from dedup_filter.scrapy_plugin.outputs import (
    DuplicatesFile,
    require_report_path,
    write_crawl_report,
)
from dedup_filter.scrapy_plugin.page_fates import Judgement
from dedup_filter.scrapy_plugin.settings import PluginSettings, in_settings
from dedup_filter.scrapy_plugin.stats import CrawlStats
from dedup_filter.wording import counted, printable

if TYPE_CHECKING:
    from dedup_filter.scrapy_plugin.url_rules import UrlRules

T = TypeVar("T")

_LONGEST_URL = 500

logger = logging.getLogger("dedup_filter")


class _Lazy:
    """A text that is made only when a handler writes it.

    Under Scrapy each logger is enabled for all levels, and only the handlers filter.
    """

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make

    def __str__(self) -> str:
        return self._make()


class NearDuplicate(DropItem):
    """Drop an item because its page repeats one that was seen before.

    `url` is the URL of the item's page, `original` the URL of the page that it repeats; `distance`
    and `similarity` are the verdict's. Scrapy would log the whole item at `log_level`, so this
    level never shows, and the pipeline writes its own line.
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


class SameTemplate(NearDuplicate):
    """Drop an item because its host has shown enough pages like it (`same_template`)."""


class SettingsError(SystemExit, ConfigError):
    """A wrong setting, or under the `scrapy` command an index that cannot be opened.

    If it is not caught, it ends the program with the error's message.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.code = f"dedup_filter: {message}"


class Addon:
    """Put the near-duplicate filter into a crawl."""

    judge: Judge
    """Judges the pages of the crawl."""
    duplicates: DuplicatesFile | None = None
    """The file of the crawl's duplicates, if DEDUP_DUPLICATES is set."""
    url_rules: "UrlRules | None" = None
    """The URL rules of the crawl, unless DEDUP_URL_RULES is off."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Raise SettingsError if settings of project or command line are wrong."""
        _read(settings, ends_program=True)

    def update_settings(self, settings: BaseSettings) -> None:
        """Add pipeline and spider middleware, unless the project did, or raise a ConfigError."""
        read = _read(settings, ends_program=_is_scrapy_command())
        if read.enabled:
            add = settings.setdefault_in_component_priority_dict
            # Before all others (images have 1), so that they only see kept items.
            add("ITEM_PIPELINES", NearDuplicatePipeline, 0)
            if read.url_rules != "off":
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
        if not hasattr(addon, "judge"):
            addon._open(crawler)
        return addon

    def _open(self, crawler: Crawler) -> None:
        settings = PluginSettings.read(crawler.settings)
        end_crawl = partial(_end_crawl, crawler) if settings.on_error == "close" else None
        stats = CrawlStats(crawler.stats, end_crawl)
        # Before the index is opened, and locked.
        if settings.duplicates is not None:
            open_file = partial(DuplicatesFile, settings.duplicates)
            self.duplicates = _checked("DEDUP_DUPLICATES", open_file)
        if settings.report is not None:
            _checked("DEDUP_REPORT", partial(require_report_path, settings.report))
        if settings.url_rules != "off":
            from dedup_filter.scrapy_plugin.url_rules import UrlRules

            self.url_rules = _checked("DEDUP_URL_RULES", partial(UrlRules, settings, stats))
        pages = _checked("DEDUP_INDEX", partial(_open_index, settings, crawler))
        self.judge = Judge(settings, pages, stats, self.url_rules)


class NearDuplicateMiddleware:
    """Register the items of each response; if set so, hold back links of repeated pages."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "NearDuplicateMiddleware":
        """Make the spider middleware of a crawl."""
        return cls(Addon.of(crawler).judge)

    async def process_spider_output(
        self,
        response: Response,
        result: AsyncIterable[Any],
        spider: Spider | None = None,  # noqa: ARG002
    ) -> AsyncIterator[Any]:
        """Pass on the output of a callback."""
        judge = self._judge
        try:
            async for output in result:
                if isinstance(output, Request):
                    if not judge.settings.follow_links and await judge.holds_back(output, response):
                        continue
                elif output is not None:
                    judge.expect(output, response)
                yield output
        except Exception:
            judge.output_ended(response, has_failed=True)
            raise
        judge.output_ended(response, has_failed=False)


class UrlRulesMiddleware:
    """Hold back requests whose page would repeat a kept page (downloader middleware)."""

    def __init__(self, rules: "UrlRules") -> None:
        self._rules = rules

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "UrlRulesMiddleware":
        """Make the downloader middleware of a crawl."""
        rules = Addon.of(crawler).url_rules
        assert rules is not None, "the add-on adds this middleware only with rules"
        return cls(rules)

    def process_request(self, request: Request, spider: Spider | None = None) -> None:  # noqa: ARG002
        """Let a request be made, or raise IgnoreRequest."""
        if self._rules.holds_back(request):
            raise IgnoreRequest("by a URL rule (DEDUP_URL_RULES) its page repeats a kept page")


class NearDuplicatePipeline:
    """Drop the items of pages that repeat an earlier page."""

    def __init__(
        self,
        judge: Judge,
        summary_interval: float,
        duplicates: DuplicatesFile | None = None,
        url_rules: "UrlRules | None" = None,
    ) -> None:
        self._judge, self._stats, self._settings = judge, judge.stats, judge.settings
        self._duplicates, self._url_rules = duplicates, url_rules
        self._summary_interval = summary_interval
        self._summed_up = monotonic()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "NearDuplicatePipeline":
        """Make the pipeline of a crawl, and connect it to the outcomes of items."""
        addon = Addon.of(crawler)
        judge = addon.judge
        crawler.signals.connect(judge.item_scraped, signals.item_scraped)
        crawler.signals.connect(judge.item_lost, signals.item_dropped)
        crawler.signals.connect(judge.item_lost, signals.item_error)
        interval = crawler.settings.getfloat("LOGSTATS_INTERVAL")
        return cls(judge, interval, addon.duplicates, addon.url_rules)

    async def process_item(self, item: Any, spider: Spider | None = None) -> Any:  # noqa: ARG002
        """Return the item, or raise NearDuplicate if its page repeats an earlier one.

        Sums up every LOGSTATS_INTERVAL. The interval is checked here, because no timer works on
        every supported Scrapy, with and without a reactor; without items nothing changes.
        """
        if 0 < self._summary_interval <= monotonic() - self._summed_up:
            self._summed_up = monotonic()
            self._sum_up(await self._judge.figures())
        judgement = await self._judge.item(item)
        if judgement is not None and judgement.verdict.outcome in self._judge.drops:
            raise self._dropped(judgement)
        if judgement is not None:
            if self._settings.action == "tag":
                self._tag(item, judgement)
            text, field = judgement.verdict.text, self._settings.text_out
            if field is not None and text is not None:
                self._add_text(item, field, text)
            self._log_refusal(judgement)
        return item

    def close_spider(self, spider: Spider | None = None) -> Any:  # noqa: ARG002
        """Release pending pages, close the index and sum up; Scrapy awaits the result."""
        closing = self._close()
        return closing if version_info >= (2, 14) else deferred_from_coro(closing)

    async def _close(self) -> None:
        figures = await self._judge.finish()
        if self._url_rules is not None:
            await self._url_rules.finish()
        if self._duplicates is not None:
            self._duplicates.close()
        await self._report()
        self._stats.close(figures)
        for hint in self._stats.hints():
            logger.info("%s", hint)
        self._sum_up(figures)

    async def _report(self) -> None:
        """Write the report of the crawl; a fault is only logged."""
        if self._settings.report is not None:
            try:
                await write_crawl_report(self._settings)
            except Exception as fault:
                self._stats.fault(fault, "The report could not be written (DEDUP_REPORT)")

    def _dropped(self, judgement: Judgement) -> NearDuplicate:
        kinds = {"revisit": Revisit, "same_template": SameTemplate}
        kind = kinds.get(judgement.verdict.outcome, NearDuplicate)
        dropped = kind(judgement.url, judgement.verdict)
        self._stats.add("items_dropped")
        self._stats.add("bytes_dropped", 0 if judgement.is_logged else judgement.size)
        self._log(judgement, "Dropped %s", dropped)
        return dropped

    def _tag(self, item: Any, judgement: Judgement) -> None:
        """Write the verdict into a field of the item."""
        field, verdict = self._settings.tag_field, judgement.verdict
        if not _is_put(item, field, verdict.as_json()):
            self._stats.add("items_not_tagged")
            if self._stats.get("items_not_tagged") == 1:
                logger.warning(
                    "%s items cannot be tagged: they have no field %r that takes a dict "
                    "(DEDUP_TAG_FIELD)",
                    type(item).__name__,
                    field,
                )
        if verdict.outcome in DROPPED:
            self._log(judgement, "Found %s", describe(judgement.url, verdict))

    def _add_text(self, item: Any, field: str, text: str) -> None:
        """Write the text of its page into a field of the item."""
        if not _is_put(item, field, text):
            self._stats.add("items_without_text")
            if self._stats.get("items_without_text") == 1:
                logger.warning(
                    "%s items get no text: they have no field %r that takes a str (DEDUP_TEXT_OUT)",
                    type(item).__name__,
                    field,
                )

    def _log_refusal(self, judgement: Judgement) -> None:
        """Write one line on a page that was kept although it is near another page."""
        refusal = judgement.verdict.refused
        if refusal is None or judgement.is_logged:
            return
        judgement.is_logged = True
        logger.debug("Kept %s", _Lazy(partial(describe_refusal, judgement.url, refusal)))

    def _log(self, judgement: Judgement, message: str, what: object) -> None:
        """Write one line a page, however many items it has."""
        if judgement.is_logged:
            return
        judgement.is_logged = True
        logger.log(self._settings.log_level, message, what)
        if self._duplicates is not None:
            try:
                self._duplicates.write(judgement.url, judgement.verdict)
            except OSError as fault:
                self._stats.fault(fault, "A duplicate could not be written (DEDUP_DUPLICATES)")

    def _sum_up(self, figures: Mapping[str, int]) -> None:
        if self._stats.get("pages"):
            logger.info(self._stats.summary(figures))


def _is_put(item: Any, field: str, value: str | dict[str, Any]) -> bool:
    """Write a value into a field of an item; return whether the item accepts the field.

    Dicts always do. Other kinds of items must have the field, or allow extra ones (pydantic).
    """
    try:
        if getattr(item, "model_config", {}).get("extra") == "allow":
            setattr(item, field, value)
        else:
            ItemAdapter(item)[field] = value
    except Exception:  # no such field, no item, frozen, or refused by its class
        return False
    return True


def _open_index(settings: PluginSettings, crawler: Crawler) -> CrawlFilter:
    """Open the index before anything is crawled and before a feed is begun."""
    crawl = _crawl_of_job(crawler) if crawler.settings.get("JOBDIR") else None
    with_text = settings.text_out is not None
    return CrawlFilter.open(settings.index, crawl=crawl, with_text=with_text, **settings.options)


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


def _read(settings: BaseSettings, *, ends_program: bool) -> PluginSettings:
    """Read the settings of the filter, or raise an error for wrong ones."""
    try:
        return PluginSettings.read(settings)
    except ConfigError as error:
        raise SettingsError(str(error)) if ends_program else error from None


def _checked(setting: str, make: Callable[[], T]) -> T:
    """Make what a setting stands for; an error names the setting."""
    try:
        return make()
    except (ConfigError, StoreError) as error:
        message = in_settings(str(error))
        if not message.startswith("DEDUP_"):
            message = f"{setting}: {message}"
        kind = SettingsError if _is_scrapy_command() else type(error)
        raise kind(message) from None


def _end_crawl(crawler: Crawler) -> None:
    """Close the spider without waiting: closing itself waits for the items under way."""
    if hasattr(crawler.engine, "close_spider_async"):  # since Scrapy 2.14
        deferred_from_coro(crawler.engine.close_spider_async(reason="dedup_error"))
    else:
        crawler.engine.close_spider(crawler.spider, "dedup_error")  # type: ignore[arg-type]


def _is_scrapy_command() -> bool:
    return "scrapy.cmdline" in sys.modules


def describe(url: str, verdict: Verdict) -> str:
    """Describe in one line what a duplicate repeats, and how closely. URLs are escaped for a log.

    >>> describe("http://a/2", Verdict("near", "http://a/1", distance=3, similarity=0.92))
    '(near, 3 bits, 92 % similar): http://a/2 repeats http://a/1'
    """
    kind: list[str] = [verdict.outcome.replace("_", " ")]
    if verdict.outcome != "exact" and verdict.distance is not None:
        kind.append(counted(verdict.distance, "bit"))
    if verdict.outcome != "exact" and verdict.similarity is not None:
        kind.append(f"{100 * verdict.similarity:.0f} % similar")
    if verdict.reason is not None:
        kind.append(verdict.reason.replace("_", " "))
    page, original = _shown(url), _shown(verdict.original)
    if verdict.outcome == "same_template":
        return f"({kind[0]}): {page} has few words beside the frame of its host"
    if verdict.outcome == "revisit":
        return f"({', '.join(kind)}): {page} was kept in an earlier crawl"
    if verdict.original == url:
        return f"({', '.join(kind)}): {page} was fetched before in this crawl"
    return f"({', '.join(kind)}): {page} repeats {original}"


def describe_refusal(url: str, refusal: Refusal) -> str:
    """Describe in one line which words of a page are missing in the page that it is near.

    >>> describe_refusal("http://a/2", Refusal("lines", 2, 0, "Size 40", 7, 3, "http://a/1"))
    '(3 bits): http://a/2: 2 words of lines missing in http://a/1, 0 allowed: "Size 40"'
    """
    return f"({counted(refusal.distance, 'bit')}): {_shown(url)}: {why(refusal)}"


def _shown(url: str | None) -> str:
    return printable(url or "", _LONGEST_URL) or "(a page without URL)"
