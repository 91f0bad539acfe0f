"""A crawl's index, closed -> the report that DEDUP_REPORT names, which each crawl writes anew.

At the start the path is checked, at the end the report is written: in a thread where something can
be waited for, so that other crawls of the process go on. What draws it is loaded only by crawls
that want one.
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
    """Refuse a path where something is that is no report; make its folder if there is none.

    Raises:
        ConfigError: a report cannot be put there.
    """
    from dedup_filter.review.report import require_free

    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{path!r} cannot be written: {error}") from error
    require_free(path, may_replace_report=True)


async def write_crawl_report(settings: PluginSettings) -> None:
    """Write the report on the index of a crawl, with the settings that it had.

    Raises:
        DedupError, OSError: it cannot be written; an earlier one is still there.
    """
    from dedup_filter.review.report import Amounts, Bounds, require_free, write_report

    assert settings.report is not None
    config = FilterConfig.of(settings.options)
    # Something else may have been put there during the crawl.
    require_free(settings.report, may_replace_report=True)
    bounds = Bounds(config.max_distance, config.min_similarity)
    write = partial(write_report, settings.index, settings.report, bounds, Amounts())
    written = write() if running_loop() is None else await asyncio.to_thread(write)
    duplicates = counted(written.duplicates, "duplicate")
    logger.info("Report written (%s): %s", duplicates, printable(settings.report))
