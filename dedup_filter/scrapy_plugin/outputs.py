"""Verdicts -> exceptions, lines of the log, lines of a file; the index -> a report.

    exception           NearDuplicate, which Scrapy counts and other components can catch
    line in the log     what the page repeats, how closely, and what is lost; or why it is kept
                        though it is near, what has changed since an earlier crawl, or why it is
                        unjudged
    DEDUP_DUPLICATES    a line of JSON for each duplicate, as it is found, and with DEDUP_CHANGES
                        for each changed page:
                        {"url": ..., "outcome": "near", "original": ..., "distance": 3,
                         "similarity": 0.9412, "lost": ["XL"], "lost_words": 1, "cluster": 17, ...}
    DEDUP_REPORT        an HTML file, which each crawl writes anew when it ends

An existing file of duplicates is continued, for example by a resumed job. Each line reaches the
operating system before the item goes on, so it outlives the process. If a full disk or a killed
process leaves a part of a line, this part is ended before the next line.

Both paths are checked at the start. The code that renders a report is imported only if one is set.
"""

import json
import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

from scrapy.exceptions import DropItem

from dedup_filter.errors import ConfigError
from dedup_filter.model import Refusal, Verdict
from dedup_filter.review.refusals import why
from dedup_filter.scrapy_plugin.index_calls import in_thread
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.text.page_url import url_key
from dedup_filter.upkeep.whole_file import require_place
from dedup_filter.wording import counted, percent, printable

_LONGEST_URL = 500
_MOST_LINES, _LONGEST_LINE = 3, 40
"""Lines of each kind (lost, came, went) that are named in the log, and characters of each."""

logger = logging.getLogger("dedup_filter")


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


def dropped_for(url: str, verdict: Verdict) -> NearDuplicate:
    """Return the exception that drops an item."""
    kinds = {"revisit": Revisit, "same_template": SameTemplate}
    return kinds.get(verdict.outcome, NearDuplicate)(url, verdict)


def describe(url: str, verdict: Verdict) -> str:
    """Describe in one line what a duplicate repeats, and how closely. URLs are escaped for a log.

    >>> near = Verdict("near", "http://a/1", distance=3, similarity=0.92, lost=("XL", "EUR 26.90"))
    >>> describe("http://a/2", near)
    '(near, 3 bits, 92 % similar; without "XL", "EUR 26.90"): http://a/2 repeats http://a/1'
    """
    kind: list[str] = [verdict.outcome.replace("_", " ")]
    if verdict.outcome != "exact" and verdict.distance is not None:
        kind.append(counted(verdict.distance, "bit"))
    if verdict.outcome != "exact" and verdict.similarity is not None:
        kind.append(f"{percent(verdict.similarity)} similar")
    if verdict.reason is not None:
        kind.append(verdict.reason.replace("_", " "))
    how = ", ".join(kind) + _lines_of(verdict)
    page, original = _shown(url), _shown(verdict.original)
    if verdict.outcome == "same_template":
        return f"({kind[0]}): {page} has few words beside the frame of its host"
    if verdict.outcome == "revisit":
        return f"({how}): {page} was kept in an earlier crawl"
    if verdict.original == url:
        return f"({how}): {page} was fetched before in this crawl"
    return f"({how}): {page} repeats {original}"


def describe_dropped(url: str, verdict: Verdict, item_url: str) -> str:
    """Describe a duplicate as `describe` does; name the URL of its first item, if that is another.

    >>> again = Verdict("exact", "http://a/1")
    >>> describe_dropped("http://a/2", again, "http://a/shoe")
    '(exact): http://a/2 repeats http://a/1; its item has the URL http://a/shoe'
    """
    is_another = url_key(item_url) != url_key(url)
    item = f"; its item has the URL {_shown(item_url)}" if is_another else ""
    return describe(url, verdict) + item


def describe_change(url: str, verdict: Verdict) -> str:
    """Describe in one line how much of a page has changed since an earlier crawl, and what.

    >>> change = Verdict("revisit", "http://a/", change=0.04, came=("EUR 26.90",), went=("EUR 25",))
    >>> describe_change("http://a/", change)
    '(4 %; came "EUR 26.90"; went "EUR 25"): http://a/'

    Without kept texts, the text that went cannot be named.

    >>> describe_change("http://a/", Verdict("revisit", "http://a/", change=0.04))
    '(4 %; text went): http://a/'
    """
    lines = _lines_of(verdict) or "; text went"
    return f"({percent(verdict.change or 0)}{lines}): {_shown(url)}"


def _lines_of(verdict: Verdict) -> str:
    """Name the first lines that are lost, that came and that went."""
    lost, words = verdict.lost or (), counted(verdict.lost_words or 0, "word")
    said = (
        ("without", lost, f" ... ({words})"),
        ("came", verdict.came, " ..."),
        ("went", verdict.went, " ..."),
    )
    return "".join(
        f"; {what} {', '.join(map(_quoted, lines[:_MOST_LINES]))}{more * _is_cut(lines)}"
        for what, lines, more in said
        if lines
    )


def _quoted(line: str) -> str:
    return f'"{printable(line, _LONGEST_LINE)}"'


def _is_cut(lines: Sequence[str]) -> bool:
    return len(lines) > _MOST_LINES or any(len(each) > _LONGEST_LINE for each in lines)


def describe_kept(url: str, verdict: Verdict) -> str:
    """Describe in one line why a page is kept that is near another, or why it is unjudged.

    >>> describe_kept("http://a/", Verdict("unjudged", reason="too_short", detail="4 of 20 words"))
    '(unjudged, too_short: 4 of 20 words): http://a/'
    """
    if verdict.refused is not None:
        return describe_refusal(url, verdict.refused)
    why = ": ".join(filter(None, (verdict.reason, verdict.detail)))
    return f"({verdict.outcome}, {why}): {_shown(url)}"


def describe_refusal(url: str, refusal: Refusal) -> str:
    """Describe in one line which words of a page are missing in the page that it is near.

    >>> describe_refusal("http://a/2", Refusal("lines", 2, 0, "Size 40", 7, 3, "http://a/1"))
    '(3 bits): http://a/2: 2 words of lines missing in http://a/1, 0 allowed: "Size 40"'
    """
    return f"({counted(refusal.distance, 'bit')}): {_shown(url)}: {why(refusal)}"


def _shown(url: str | None) -> str:
    return printable(url or "", _LONGEST_URL) or "(a page without URL)"


class DuplicatesFile:
    """Append the duplicates of a crawl to a file.

    Raises:
        ConfigError: the file cannot be opened for appending, or its folder does not exist.
    """

    def __init__(self, path: str) -> None:
        try:
            if not Path(path).exists():
                require_place(Path(path))
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
    """Check that a report can be written to a path.

    Raises:
        ConfigError: its folder does not exist, or the path is not a report.
    """
    from dedup_filter.review.report import require_free

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
