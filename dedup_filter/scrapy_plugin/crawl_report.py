"""The closed index of a crawl -> the report at DEDUP_REPORT, which each crawl writes anew.

The path is checked at the start; the report is written at the end. Under asyncio a thread writes
it, so that other crawls of the process go on. The code that renders it is imported only if
DEDUP_REPORT is set.
"""

import asyncio
import logging
from functools import partial
from pathlib import Path

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError
from dedup_filter.scrapy_plugin.index_calls import running_loop
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.wording import counted, printable

logger = logging.getLogger("dedup_filter")


def require_report_path(path: str) -> None:
    """Check that a report can be written to a path; make its folder if there is none.

    Raises:
        ConfigError: the folder cannot be made, or the path is not a report.
    """
    from dedup_filter.review.report import require_free

    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{path!r} cannot be written: {error}") from error
    require_free(path, may_replace_report=True)


async def write_crawl_report(settings: PluginSettings) -> None:
    """Write the report on the index of a crawl, with the settings of the crawl.

    Raises:
        DedupError, OSError: the report cannot be written; an earlier report is still there.
    """
    from dedup_filter.review.report import Amounts, Bounds, require_free, write_report

    assert settings.report is not None
    config = FilterConfig.of(settings.options)
    # Another file may have been put there during the crawl.
    require_free(settings.report, may_replace_report=True)
    bounds = Bounds(config.max_distance, config.min_similarity)
    write = partial(write_report, settings.index, settings.report, bounds, Amounts())
    written = write() if running_loop() is None else await asyncio.to_thread(write)
    duplicates = counted(written.duplicates, "duplicate")
    logger.info("Report written (%s): %s", duplicates, printable(settings.report))
