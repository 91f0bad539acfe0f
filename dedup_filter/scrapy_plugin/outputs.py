"""What a crawl writes beside its feed: its duplicates, and a report on its index.

    DEDUP_DUPLICATES    a line of JSON for each duplicate, as it is found:
                        {"url": ..., "outcome": "near", "original": ..., "distance": 3,
                         "similarity": 0.9412, "fingerprint": "00ab...", "cluster": 17, ...}
    DEDUP_REPORT        an HTML file, which each crawl writes anew when it ends

An existing file of duplicates is continued, for example by a resumed job. Each line reaches the
operating system before the item goes on, so it outlives the process. If a full disk or a killed
process leaves a part of a line, this part is ended before the next line.

Both paths are checked at the start. The code that renders a report is imported only if one is set.
"""

import json
import logging
from functools import partial
from pathlib import Path
from typing import BinaryIO

from dedup_filter.errors import ConfigError
from dedup_filter.model import Verdict
from dedup_filter.scrapy_plugin.index_calls import in_thread
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.wording import counted, printable

logger = logging.getLogger("dedup_filter")


class DuplicatesFile:
    """Append the duplicates of a crawl to a file; its folder is made if there is none.

    Raises:
        ConfigError: the file cannot be opened for appending.
    """

    def __init__(self, path: str) -> None:
        _make_folder(path)
        try:
            self._file: BinaryIO = Path(path).open("ab+", buffering=0)  # noqa: SIM115
            size = self._file.seek(0, 2)
            self._file.seek(max(size - 1, 0))
            self._is_broken = self._file.read(1) not in (b"", b"\n")
        except OSError as error:
            raise ConfigError(f"{path!r} cannot be written: {error}") from error

    def write(self, url: str, verdict: Verdict) -> None:
        """Append one line. OSError: it cannot be written."""
        line = json.dumps({"url": url, **verdict.as_json()}).encode("ascii") + b"\n"
        line = b"\n" * self._is_broken + line
        self._is_broken = True
        written = self._file.write(line)
        if written != len(line):
            raise OSError(f"{written} of {len(line)} bytes were written")
        self._is_broken = False

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def require_report_path(path: str) -> None:
    """Check that a report can be written to a path; make its folder if there is none.

    Raises:
        ConfigError: the folder cannot be made, or the path is not a report.
    """
    from dedup_filter.review.report import require_free

    _make_folder(path)
    require_free(path, may_replace_report=True)


async def write_crawl_report(settings: PluginSettings) -> None:
    """Write the report on the closed index of a crawl, with the settings of the crawl.

    Raises:
        DedupError, OSError: the report cannot be written; an earlier report is still there.
    """
    from dedup_filter.review.report import Amounts, require_free, write_report

    assert settings.report is not None
    # Another file may have been put there during the crawl.
    require_free(settings.report, may_replace_report=True)
    write = partial(write_report, settings.index, settings.report, settings.options, Amounts())
    duplicates = counted((await in_thread(write)).duplicates, "duplicate")
    logger.info("Report written (%s): %s", duplicates, printable(settings.report))


def _make_folder(path: str) -> None:
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{path!r} cannot be written: {error}") from error
