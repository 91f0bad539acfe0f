"""`dedup-filter index ...`: the commands that maintain an index."""

import logging
from functools import partial
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
from dedup_filter.commands.options import index_argument
from dedup_filter.upkeep import Index
from dedup_filter.upkeep.lines import LONGEST_LINE, exported, import_lines
from dedup_filter.upkeep.parquet import require_target, write_parquet
from dedup_filter.wording import as_time


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


@index_command.command("export")
@index_argument
@click.option("--to", metavar="FILE.parquet", help="Write a Parquet file instead of lines.")
@click.option("--force", is_flag=True, help="Replace the Parquet file.")
@json_option
def _export(index: Index, to: str | None, force: bool, as_json: bool) -> None:
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
    write_report({"index": str(index), "to": to, "pages": pages}, as_json)


@index_command.command("forget")
@index_argument
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@json_option
def _forget(index: Index, urls: tuple[str, ...], as_json: bool) -> None:
    """Make an index forget all pages at URL, in any spelling of the URL.

    Pages that repeat a forgotten page stay recorded as they are. Crawlers of a shared index may be
    running: they forget the pages, too, except pending ones.

    Exit codes: 0 done, 1 no page was known at any URL, 2 there is no index, or it is in use.
    """
    counts = index.forget(urls)
    for url, count in counts.items():
        write_report({"url": url, "forgotten": count}, as_json)
    if not any(counts.values()):
        raise click.exceptions.Exit(1)


@index_command.command("import")
@index_argument
@click.argument("file", type=click.File("rb"), default="-")
@json_option
def _import(index: Index, file: BinaryIO, as_json: bool) -> None:
    """Put an export into an index, which is made if there is none.

    FILE, or standard input (-), is an output of `index export`. It is restored with verdicts and
    times; the index must make fingerprints in the same way. Pages that are already in the index are
    skipped. A shared index numbers pages anew, and keeps no texts or frames; no crawler may be
    running on it.

    A bad line ends the import, with an error that names the line; the lines before it are in the
    index. After the repair, import all of them. The items of a feed are judged by `dedup-filter
    see`.
    """
    numbered = enumerate(iter(partial(file.readline, LONGEST_LINE), b""), 1)
    with progress(numbered, "importing") as shown:
        counts = import_lines(shown, index)
    write_report({"index": str(index), **counts}, as_json)


@index_command.command("stats")
@index_argument
@click.option("--check", is_flag=True, help="Verify the index first; faults: exit code 1.")
@json_option
def _stats(index: Index, check: bool, as_json: bool) -> None:
    """Show the contents of an index: pages, hosts, crawls, bytes.

    `pages` counts all recorded pages, `kept` those without repeats. A page that came again at its
    URL in a later crawl counts as revisited. `log` has the counts of a crawl's log, also of pages
    that are not recorded: unjudged ones without text. For a shared index, outcomes are the counts
    of all its crawlers since it was made, and bytes are estimated.

    With --check the stored data is verified. If there are faults, they are shown instead of the
    contents. Nothing is written.

    Exit codes: 0 done, 1 --check found faults, 2 there is no index, or it cannot be read.
    """
    checked: dict[str, Any] = {}
    if check:
        findings = index.check()
        checked = {"is_clean": not findings.faults, **vars(findings)}
        if findings.faults:
            write_report({"index": str(index), **checked}, as_json)
            raise click.exceptions.Exit(1)
    figures = _with_times(index.figures())
    figures["crawls"] = [_with_times(crawl) for crawl in figures["crawls"]]
    write_report({"index": str(index), **checked, **figures}, as_json)


def _with_times(figures: dict[str, Any]) -> dict[str, Any]:
    times = ("first_seen", "last_seen", "started", "ended")
    return figures | {name: as_time(figures[name]) for name in times if figures.get(name)}
