"""`dedup-filter scan`: the pages of a finished crawl -> its pages without duplicates."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import click

from dedup_filter.commands import json_option, say, say_without_url, write_report
from dedup_filter.commands.options import (
    field_options,
    filter_option,
    given_settings,
    max_distance_option,
)
from dedup_filter.errors import ConfigError
from dedup_filter.review.watch import Watch
from dedup_filter.scan.outputs import Summary
from dedup_filter.scan.scan import Progress, scan
from dedup_filter.scan.scan import Watch as OnProgress
from dedup_filter.scan.work import POLICIES, Scan
from dedup_filter.store.location import folder_of

_UPDATES = 1_000
"""Updates of the progress bar, at most."""


@click.command("scan")
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.option("--output", "-o", metavar="FILE", help="File for the pages without duplicates.")
@click.option("--duplicates", metavar="FILE", help="File for the duplicates.")
@click.option("--mark", metavar="FILE", help="File for all pages, each with its verdict.")
@click.option("--revisits", is_flag=True, help="Write WARC revisit records for dropped pages.")
@click.option(
    "--keep",
    type=click.Choice(POLICIES),
    default="first",
    metavar="COPY",
    help=f"Which copy to keep: {', '.join(POLICIES)}.",
)
@click.option("--with-text", is_flag=True, help="Add the main text of each page that is kept.")
@click.option("--text-out", metavar="NAME", help="Field for --with-text ('text').")
@click.option("--index", metavar="DIR", help="An index to use and to update.")
@click.option("--force", is_flag=True, help="Replace FILE; forget an interrupted scan.")
@click.option("--workers", metavar="N", help="Processes that read pages; default: one a core.")
@click.option(
    "--engine", type=click.Choice(["local", "spark"]), default="local", help="Engine that judges."
)
@click.option("--master", metavar="URL", help="Spark master; default: local[*].")
@max_distance_option(default=None, help="Most bits that differ.")
@click.option("--min-similarity", metavar="SHARE", help="Least share in the original, or none.")
@filter_option
@field_options
@json_option
def scan_command(as_json: bool, **given: Any) -> None:
    """Remove the near-duplicates from a finished crawl, as a crawl would.

    INPUT: JSON (lines or a list), Parquet, WARC or WACZ files, folders, patterns or URLs of them,
    in order; - for JSON on standard input. One FILE at least is written, with -o, --duplicates or
    --mark. With -o it gets one copy of each page. In the other files pages have the verdict in a
    field "dedup"; for a WARC record a line of JSON has it. Bad records are reported and left out.
    With --engine spark FILE is a folder. The same command continues an interrupted scan; its state
    is in FILE.scan.

    Exit codes: 0 done, 2 a record is bad (the others are written), or a file cannot be used.
    """
    settings = {name: given[name] for name in ("max_distance", "min_similarity", "workers")}
    _require_meaning(given)
    paths: dict[str, Any] = {
        name: given[name] and Path(given[name]).expanduser()
        for name in ("output", "duplicates", "mark", "index")
    }
    job = Scan(
        given["inputs"],
        **paths,
        **{name: given[name] for name in ("revisits", "keep", "force")},
        names=given["fields"],
        text_out=(given["text_out"] or "text") if given["with_text"] else None,
        options=given["options"] | given_settings(**settings),
    )
    templates = Watch(given["index"] if job.options.get("keep_text") else None)
    warnings = list[str]()

    def watch(state: Progress) -> None:
        if state.verdict is not None:
            warnings.extend(templates.messages(state.url, state.verdict))
        show(state)

    begun = monotonic()
    if given["engine"] == "spark":
        summary = _on_spark(job, given["master"] or "local[*]")
    else:
        try:
            with _bar() as show:
                summary = scan(job, watch, partial(say, err=True))
        except KeyboardInterrupt:
            say("Interrupted: the same command continues from here.", err=True)
            raise
    seconds = round(monotonic() - begun, 1)
    files = {name: given[name] for name in ("output", "mark") if given[name] is not None}
    report = {**files, **summary._asdict(), "warnings": warnings, "seconds": seconds}
    if not as_json:
        for each in (*report.pop("first_bad"), *report.pop("warnings")):
            say(each, err=True)
        say_without_url(summary.without_url)
        if not summary.pages:
            say("no page is in the input", err=True)
    write_report(report, as_json)
    if summary.bad:
        raise click.exceptions.Exit(2)


def _require_meaning(given: Mapping[str, Any]) -> None:
    if given["text_out"] is not None and not given["with_text"]:
        raise ConfigError("--text-out is for --with-text")
    if given["master"] is not None and given["engine"] != "spark":
        raise ConfigError("--master is for --engine spark")
    if given["index"] is not None and folder_of(given["index"]) is None:
        raise ConfigError(f"--index is a directory, not {given['index']!r}")


def _on_spark(job: Scan, master: str) -> Summary:
    is_local = job.revisits or job.keep != "first" or "workers" in job.options or job.text_out
    if job.index is not None or is_local:
        raise ConfigError(
            "--index, --keep, --revisits, --with-text and --workers are not for --engine spark"
        )
    from dedup_filter.spark.scan import scan_on, session

    with session(master) as spark:
        return scan_on(spark, job)


@contextmanager
def _bar() -> Iterator[OnProgress]:
    """Show the progress of a scan on a terminal; elsewhere show nothing."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    bar: Any = click.progressbar(
        length=1,
        label="scanning",
        file=sys.stderr,
        item_show_func=lambda state: (
            state and f"{state.records:,} pages, {state.dropped:,} dropped"
        ),
    )
    passed: int | None = None
    with ExitStack() as until_the_end:

        def watch(state: Progress) -> None:
            nonlocal passed
            if passed is None:  # below the messages at the start
                until_the_end.enter_context(bar)
                bar.length = state.total - state.passed  # all but what an earlier process has read
                bar.update_min_steps = bar.length // _UPDATES
                passed = state.passed
            bar.update(state.passed - passed, state)
            passed = state.passed

        yield watch
