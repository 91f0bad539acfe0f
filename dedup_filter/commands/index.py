"""`dedup-filter index ...`: the commands that maintain an index."""

import logging
from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Any, BinaryIO

import click

from dedup_filter.commands import (
    CommandGroup,
    json_option,
    progress,
    say,
    write_lines,
    write_report,
)
from dedup_filter.commands.options import field_options, filter_option, index_argument
from dedup_filter.upkeep import Index
from dedup_filter.upkeep.lines import LONGEST_LINE, exported, import_lines
from dedup_filter.upkeep.parquet import require_target, write_parquet
from dedup_filter.wording import as_time

Report = dict[str, Any]


@click.group("index", cls=CommandGroup)
def index_command() -> None:
    """Maintain an index: check it, fill it, move it.

    INDEX is a folder, or the address of an index that crawlers share (redis://host:6379/0,
    redis+cluster://host:7000). `stats` and `export` only read, and work while a crawl writes to the
    index. The other commands need exclusive use of a folder, but work on a shared index beside its
    crawlers, unless their help says otherwise.
    """
    handler = logging.Handler()
    handler.emit = lambda record: say(record.getMessage(), err=True)  # type: ignore[method-assign]
    logger = logging.getLogger("dedup_filter")
    logger.addHandler(handler)
    click.get_current_context().call_on_close(lambda: logger.removeHandler(handler))


def _command(name: str) -> Callable[[Callable[..., Iterator[Report]]], click.Command]:
    """Make a command of a function that yields reports on an index; each is written at once."""

    def of(reports_on: Callable[..., Iterator[Report]]) -> click.Command:
        @index_command.command(name)
        @index_argument
        @json_option
        @wraps(reports_on)
        def command(index: Index, as_json: bool, **given: Any) -> None:
            for report in reports_on(index, **given):
                write_report(report, as_json)

        return command

    return of


@_command("export")
@click.option("--to", metavar="FILE.parquet", help="Write a Parquet file instead of lines.")
@click.option("--force", is_flag=True, help="Replace the Parquet file.")
def _export(index: Index, to: str | None, force: bool) -> Iterator[Report]:
    """Write each recorded page of an index as a line of JSON, or into a Parquet file.

    A line for each page, dropped pages too, follows a line about fingerprints and crawls; last
    comes a line for each host with a known frame. `index import` makes an equal index of these
    lines. Pending pages are left out. A Parquet file is for queries in SQL (see docs/sql.md).
    """
    if to is not None:
        require_target(to, is_forced=force)
    elif force:
        raise click.UsageError("--force goes with --to.")
    with index.recorded() as recorded:
        if to is None:
            write_lines(exported(recorded))
            return
        with progress(recorded.records(), "exporting", recorded.count()) as records:
            pages = write_parquet(
                ((record, recorded.url_of_original(record)) for record in records), to
            )
    yield {"index": str(index), "to": to, "pages": pages}


@_command("forget")
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
def _forget(index: Index, urls: tuple[str, ...]) -> Iterator[Report]:
    """Make an index forget all pages at URL, in any spelling of the URL.

    Pages that repeat a forgotten page stay recorded as they are. Crawlers of a shared index may be
    running: they forget the pages, too, except pending ones.

    Exit codes: 0 done, 1 no page was known at any URL, 2 there is no index, or it is in use.
    """
    counts = index.forget(urls)
    yield from ({"url": url, "forgotten": count} for url, count in counts.items())
    if not any(counts.values()):
        raise click.exceptions.Exit(1)


@_command("import")
@click.argument("file", type=click.File("rb"), default="-")
@click.option("--crawl", default="import", show_default=True, help="Name of the crawl of items.")
@field_options
@click.option("--skip-bad-lines", is_flag=True, help="Count bad lines instead of stopping.")
@filter_option
def _import(index: Index, file: BinaryIO, **given: Any) -> Iterator[Report]:
    """Put lines of JSON into an index, which is made if there is none.

    FILE, or standard input (-), is an output of `index export`, or the feed of an earlier crawl.

    An export is restored with verdicts and times; the index must make fingerprints in the same
    way. Pages that are already in the index are skipped. A shared index numbers pages anew, and
    keeps no texts or frames; no crawler may be running on it. Items of a feed can be imported
    beside crawlers.

    The items of a feed (JSON lines) are judged like the pages of a crawl named "import". With --set
    keep_text=true pages are kept, for `tune`; with --set workers=auto all cores read pages.

    A bad line ends the import, with an error that names the line; the lines before it are in the
    index. After the repair, import the lines from there on (a feed), or all of them (an export).
    """
    numbered = enumerate(iter(partial(file.readline, LONGEST_LINE), b""), 1)
    with progress(numbered, "importing") as shown:
        imported = import_lines(
            shown,
            index,
            given["fields"],
            {"crawl": given["crawl"], **given["options"]},
            skip_bad_lines=given["skip_bad_lines"],
        )
    yield {"index": str(index), **imported}


@_command("stats")
@click.option("--check", is_flag=True, help="Verify the index first; faults: exit code 1.")
def _stats(index: Index, check: bool) -> Iterator[Report]:
    """Show the contents of an index: pages, hosts, crawls, bytes.

    `pages` counts all recorded pages, `kept` those without repeats. The outcome of a page is its
    latest: a page that came again at its URL in a later crawl counts as revisited. For each crawl,
    the kept pages first and last seen in it are counted. For a shared index, outcomes are the
    counts of all its crawlers since it was made, and bytes on the servers are estimated.

    With --check the database of a folder is verified; for a shared index, log, records and pending
    pages are compared. If there are faults, they are shown instead of the contents. Nothing is
    written.

    Exit codes: 0 done, 1 --check found faults, 2 there is no index, or it cannot be read.
    """
    checked: Report = {}
    if check:
        findings = index.check()
        checked = {"is_clean": not findings.faults, **vars(findings)}
        if findings.faults:
            yield {"index": str(index), **checked}
            raise click.exceptions.Exit(1)
    figures = _with_times(index.figures())
    figures["crawls"] = [_with_times(crawl) for crawl in figures["crawls"]]
    yield {"index": str(index), **checked, **figures}


def _with_times(figures: Report) -> Report:
    times = ("first_seen", "last_seen", "started", "ended")
    return figures | {name: as_time(figures[name]) for name in times if figures.get(name)}
