"""An index -> one HTML file that shows what was kept, what was dropped, and why.

    index -> collect (figures, pages, pairs) -> close_calls (what nearly had the other verdict)
          -> pack_texts (texts of pairs) -> render (one HTML file) -> report_file (written whole)

The file needs no network and sends nothing anywhere. Its scripts are in `page/`: plain scripts
without a build step (docs/decisions/0011-the-report-is-one-file.md).
"""

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dedup_filter.config import FilterConfig
from dedup_filter.review.recorded_pages import RecordedPages
from dedup_filter.review.report.close_calls import close_calls_of
from dedup_filter.review.report.collect import Bounds, collect
from dedup_filter.review.report.pack_texts import pack_texts
from dedup_filter.review.report.render import render
from dedup_filter.review.report.report_file import require_free, write_whole
from dedup_filter.store.location import folder_of
from dedup_filter.upkeep import index_at
from dedup_filter.upkeep.results import Watch
from dedup_filter.urls.rules_file import IN_FOLDER, read_rules

__all__ = [
    "Amounts",
    "Bounds",
    "Written",
    "bounds_of",
    "require_free",
    "write_report",
]


@dataclass(frozen=True)
class Amounts:
    """Limits of a report, so that a browser can open it."""

    duplicates: int = 100_000
    """Most duplicates that are listed: the latest. Figures count all."""
    texts: int = 2_000
    """Most pairs whose texts are shown: first of close calls, then in large clusters."""


@dataclass(frozen=True)
class Written:
    """The contents of a report."""

    report: str
    bytes: int
    pages: int
    duplicates: int
    """All duplicates."""
    listed: int
    """Duplicates that are listed."""
    close_calls: int
    """Kept pages that are listed as nearly dropped, and duplicates as nearly kept."""
    texts: int
    """Pairs whose texts can be read side by side."""

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return dict(vars(self))


def write_report(
    index: str | Path,
    path: str | Path,
    bounds: Bounds,
    amounts: Amounts,
    watch: Watch = lambda records, _: nullcontext(records),
) -> Written:
    """Write the report on an index, which a crawl may be writing to.

    A file at `path` is replaced at once and as a whole; call `require_free` first. Cost: 10 us a
    page, 1 ms a text.

    Raises:
        ConfigError: there is no index there, or the file of URL rules in its folder has none.
        StoreError: the index cannot be read.
        OSError: the report cannot be written; a file at `path` is still there.
    """
    where, folder = index_at(str(index)), folder_of(index)
    with where.recorded() as recorded:
        with watch(recorded.records(), recorded.count()) as records:
            found = collect(recorded, records, bounds, amounts.duplicates)
        with RecordedPages.open(where, bounds._asdict()) as pages:
            calls = close_calls_of(pages, found)
        texts = pack_texts(recorded, found, calls, amounts.texts)
    rules = None if folder is None else folder / IN_FOLDER
    proven = read_rules(rules) if rules is not None and rules.exists() else ()
    html = render(str(where), found, calls, texts, proven)
    write_whole(Path(path), html)
    return Written(
        report=str(path),
        bytes=len(html),
        pages=found.figures["pages"],
        duplicates=found.duplicates,
        listed=len(found.pairs),
        close_calls=len(calls.kept) + len(calls.dropped),
        texts=texts.pairs,
    )


def bounds_of(index: str | Path, **given: Any) -> Bounds:
    """Return the settings that a report compares pairs with.

    `max_distance` and `min_similarity` default to the settings of the last crawl.

    Raises:
        ConfigError: there is no index, or a value is out of range.
    """
    config = FilterConfig.of(index_at(str(index)).filter_options() | given)
    return Bounds(config.max_distance, config.min_similarity)
