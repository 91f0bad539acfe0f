"""An index -> one HTML file that shows what was kept, what was dropped, and why.

    index -> collect (figures, pages, pairs, texts) -> render (one HTML file)

The file is written whole or not at all.

The file needs no network and sends nothing anywhere. Its scripts are in `page/`: plain scripts
without a build step (docs/decisions/0011-the-report-is-one-file.md). A report is recognized by its
beginning, so that only a report of an earlier crawl is replaced.
"""

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from dedup_filter.review.recorded_pages import RecordedPages
from dedup_filter.review.report.collect import collect
from dedup_filter.review.report.render import BEGINNING, render
from dedup_filter.upkeep import index_at, whole_file
from dedup_filter.upkeep.results import Watch

__all__ = ["Amounts", "Written", "require_free", "write_report"]


class Amounts(NamedTuple):
    """Limits of a report, so that a browser can open it."""

    duplicates: int = 100_000
    """Most duplicates that are listed: the latest. Figures count all."""
    texts: int = 2_000
    """Most pairs whose texts are shown: first in large clusters."""


class Written(NamedTuple):
    """What a report has: pages, all duplicates, those listed, pairs with texts to read."""

    report: str
    bytes: int
    pages: int
    duplicates: int
    listed: int
    texts: int


def write_report(
    index: str | Path,
    path: str | Path,
    options: Mapping[str, Any],
    amounts: Amounts,
    watch: Watch = lambda records, _: nullcontext(records),
) -> Written:
    """Write the report on an index, which a crawl may be writing to.

    It names the options of the last crawl, unless `options` replace them. A file at `path` is
    replaced at once and as a whole; call `require_free` first. Cost: 10 us a page, 1 ms a text.

    Raises:
        ConfigError: there is no index there, or an option is wrong.
        StoreError: the index cannot be read.
        OSError: the report cannot be written; a file at `path` is still there.
    """
    where = index_at(str(index))
    with RecordedPages.open(where, options) as pages:
        recorded = pages.recorded
        with watch(recorded.records(), recorded.count()) as records:
            found = collect(recorded, records, pages.config, *amounts)
    html = render(str(where), found)
    with whole_file.whole_file(Path(path)) as file:
        file.write(html)
    counts = found.pages, found.duplicates, len(found.pairs), found.shown_texts
    return Written(str(path), len(html), *counts)


def require_free(path: str | Path, *, may_replace_report: bool = False) -> None:
    """Require that nothing is at a path; with `may_replace_report`, an earlier report may be.

    Raises:
        ConfigError: something else is there, or its folder does not exist.
    """
    if may_replace_report:
        whole_file.require_free(path, _is_report, "is no report of this program")
    else:
        whole_file.require_free(path)


def _is_report(path: Path) -> bool:
    beginning = BEGINNING.encode("ascii")
    with path.open("rb") as file:
        return file.read(len(beginning)) == beginning
