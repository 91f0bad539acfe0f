"""`dedup-filter index ...`: the commands that look after an index, but for export and import."""

import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from dedup_filter.commands import LazyGroup
from dedup_filter.commands.options import filter_option, filter_options, index_argument, json_option
from dedup_filter.commands.streams import (
    as_bytes,
    by_outcome,
    progress,
    say,
    write_lines,
)
from dedup_filter.wording import as_time, counted, printable

if TYPE_CHECKING:
    from dedup_filter.upkeep import Index

__all__ = [
    "check_command",
    "compact_command",
    "forget_command",
    "index_command",
    "migrate_command",
    "stats_command",
]

_COMMANDS = {
    "check": ("index", "Whether an index is whole, and what is wrong with it."),
    "compact": ("index", "Give back the room of what was forgotten."),
    "export": ("index_transfer", "Write every page of it as a line of JSON."),
    "forget": ("index", "Make it forget the pages at a URL."),
    "import": ("index_transfer", "Put an export into an index, or the items of an earlier crawl."),
    "migrate": ("index", "Make its fingerprints anew, in the present way."),
    "stats": ("index", "What it holds: pages, hosts, crawls, bytes."),
}


@click.command("index", cls=LazyGroup, modules=_COMMANDS)
def index_command() -> None:
    """Look after an index.

    INDEX is what DEDUP_INDEX names: a folder, or the address of an index that crawlers share
    (redis://host:6379/0, redis+cluster://host:7000). `stats`, `check` and `export` only read, and
    work while a crawl writes to it. The others need a folder for themselves; a shared index they
    work on beside its crawlers, unless they say otherwise.
    """
    logging.getLogger("dedup_filter").addHandler(_ToTerminal())


class _ToTerminal(logging.Handler):
    """Writes what the layers below log to standard error, for people."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(printable(record.getMessage()), err=True)


_NO = 1
"""Exit code: done, and the answer is no."""


@click.command("check")
@index_argument
@json_option
@click.pass_context
def check_command(context: click.Context, index: "Index", as_json: bool) -> None:
    """Verify an index: the record of pages, and the tables against it.

    Everything is read, nothing is written, and a crawl may go on meanwhile. Tables that are
    missing or out of date are no fault: they are made anew when the index is opened. Of a shared
    index, log, records and pages in flight are compared; what is under way is no fault.

    \b
    $ dedup-filter index check DIR --json
    {"index": "DIR", "is_clean": true, "faults": [], "notes": [], "pages": 3, "entries": 2}

    Exit codes: 0 it is clean, 1 faults were found, 2 there is no index, or it cannot be read.
    """  # noqa: D301 - click must see the character
    findings = index.check()
    if as_json:
        write_lines([{"index": str(index), "is_clean": not findings.faults, **vars(findings)}])
    else:
        for fault in findings.faults:
            say(f"fault: {fault}")
        for note in findings.notes:
            say(f"note: {note}")
        if not findings.faults:
            entries = counted(findings.entries, "entry", "entries")
            say(f"clean: {counted(findings.pages, 'page')}, {entries}")
    if findings.faults:
        context.exit(_NO)


_DONE = {
    "released": ("page", "of processes that have ended released"),
    "taken_out": ("page", "without a record taken out of the log"),
    "deleted": ("record", "of no page deleted"),
}


@click.command("compact")
@index_argument
@json_option
def compact_command(index: "Index", as_json: bool) -> None:
    """Give back the room that forgotten pages have left in an index.

    The files of a directory are written anew. It takes as much room again while it lasts, and the
    index for itself.

    Of a shared index, the beginning of the log is deleted as far as it tells of no page, and so
    are records of no page, left by crawlers that crashed; pages that those had pending are
    released. Crawls may go on meanwhile. Bytes are estimated.

    \b
    $ dedup-filter index compact DIR --json
    {"index": "DIR", "before": {"record": 98304, "tables": 400}, "after": {...}}

    Exit codes: 0 done, 2 there is no index, it is in use, or cannot be written.
    """  # noqa: D301 - click must see the character
    before, after, counts = index.compact()
    if as_json:
        sizes = {"before": dict(before), "after": dict(after)}
        write_lines([{"index": str(index), **sizes, **counts}])
        return
    for name, size in before.items():
        say(f"{name:<9} {as_bytes(size)} -> {as_bytes(after[name])}")
    for name, count in counts.items():
        if count:
            noun, what = _DONE[name]
            say(f"{counted(count, noun)} {what}")


@click.command("forget")
@index_argument
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@json_option
@click.pass_context
def forget_command(
    context: click.Context, index: "Index", urls: tuple[str, ...], as_json: bool
) -> None:
    """Make an index forget all pages at URL, however that is spelt.

    Arguments of the URL may stand in another order, and it may have a fragment. Pages that
    repeat a forgotten one stay recorded as they are. Crawlers of a shared index may be at work:
    they forget pages too, but for those whose items are under way. All pages are read once.

    \b
    $ dedup-filter index forget DIR https://example.com/a --json
    {"url": "https://example.com/a", "forgotten": 1}

    Exit codes: 0 done, 1 no page was known at any URL, 2 there is no index, or it is in use.
    """  # noqa: D301 - click must see the character
    counts = index.forget(urls)
    if as_json:
        write_lines({"url": url, "forgotten": count} for url, count in counts.items())
    else:
        for url, count in counts.items():
            say(f"{url}: {counted(count, 'page')} forgotten")
    if not any(counts.values()):
        context.exit(_NO)


@click.command("migrate")
@index_argument
@filter_option
@click.option("--drop-unkept", is_flag=True, help="Leave pages behind whose texts were not kept.")
@click.option("--fresh", is_flag=True, help="Begin an empty index; no fingerprints are made.")
@json_option
def migrate_command(
    index: "Index", options: Sequence[str], drop_unkept: bool, fresh: bool, as_json: bool
) -> None:
    """Make the fingerprints of an index in a directory anew, as this version and these options do.

    A crawl refuses an index whose fingerprints were made in another way: with other options, or by
    another version of this package or of a dictionary. Where the texts of pages were kept
    (DEDUP_KEEP_TEXT), fingerprints are made of those; verdicts and times stay as they are.

    The index as it was is never deleted: it is moved to DIR.backup-<time>, which is printed.

    A shared index has no texts, so this is not for it: begin another one under a new name.

    \b
    $ dedup-filter index migrate DIR -o features=shingles --json
    {"index": "DIR", "pages": 3, "left_behind": 0, "backup": "DIR.backup-20260131-120000"}

    Exit codes: 0 done, or nothing to do; 2 there is no index, it is in use, or texts are missing
    and neither --drop-unkept nor --fresh is given. Then it is as it was.
    """  # noqa: D301 - click must see the character
    from dedup_filter.config import FilterConfig

    if fresh and drop_unkept:
        raise click.UsageError("--fresh leaves all pages behind: give it without --drop-unkept")
    pages, dropped, backup = index.migrate(
        FilterConfig.of(filter_options(options)),
        drop_unkept=drop_unkept,
        fresh=fresh,
        watch=lambda records, total: progress(records, "migrating", total),
    )
    if as_json:
        result = {"pages": pages, "left_behind": dropped, "backup": backup and str(backup)}
        write_lines([{"index": str(index), **result}])
    elif backup is None:
        say("nothing to do: its fingerprints are made in this way")
    elif fresh:
        say(f"{index} is empty; the index as it was is {backup}")
    else:
        behind = f", {dropped:,} left behind" if dropped else ""
        say(f"{counted(pages, 'page')}{behind}; the index as it was is {backup}")


_TIMES = ("first_seen", "last_seen", "started", "ended")


@click.command("stats")
@index_argument
@json_option
def stats_command(index: "Index", as_json: bool) -> None:
    """Tell what an index holds: pages by outcome, hosts, crawls, bytes, tables.

    A page has the outcome that it had when it was seen last, so a page that came again at its
    URL in a later crawl counts as revisited. For each crawl, the kept pages are counted that were
    seen there first, and those that were seen there last. A repeat is recorded each time. Pending
    pages are those whose items are still under way. All pages are read: half a kilobyte each.

    Of a shared index the outcomes are those that all its crawlers have counted since it was made;
    the log is read, and what a page takes on the servers is estimated.

    \b
    $ dedup-filter index stats DIR --json
    {"index": "DIR", "pages": 3, "kept": 2, "outcomes": {"new": 2, "near": 1}, ...}

    Exit codes: 0 done, 2 there is no index, or it cannot be read.
    """  # noqa: D301 - click must see the character
    figures = _with_times(index.figures())
    figures["crawls"] = [_with_times(crawl) for crawl in figures["crawls"]]
    if as_json:
        write_lines([figures])
        return
    for line in _lines(figures):
        say(line)


def _with_times(figures: dict[str, Any]) -> dict[str, Any]:
    times = {name: as_time(figures[name]) for name in _TIMES if figures.get(name) is not None}
    return {**figures, **times}


def _lines(figures: dict[str, Any]) -> Iterator[str]:
    """Write figures for people; an index in a directory has others than one on servers."""
    what = "recorded" if "bytes" in figures else "judged since it was made"
    yield f"pages     {figures['pages']:,} {what} ({by_outcome(figures['outcomes'])})"
    yield f"kept      {figures['kept']:,}, which later pages are compared with"
    if figures["pending"]:
        yield f"pending   {figures['pending']:,}, whose items are still under way"
    yield f"hosts     {figures['hosts']:,}"
    if figures.get("texts"):
        yield f"texts     {figures['texts']:,} kept"
    if figures["first_seen"]:
        yield f"seen      {figures['first_seen']} to {figures['last_seen']}"
    yield from _files(figures) if "bytes" in figures else _servers(figures)
    yield f"scheme    {_values(figures['scheme'])}"
    yield from map(_crawl, figures["crawls"])


def _files(figures: dict[str, Any]) -> Iterator[str]:
    size, tables = figures["bytes"], figures["tables"]
    yield f"on disk   {as_bytes(size['record'])} record, {as_bytes(size['tables'])} tables"
    if tables is None:
        yield "tables    none; they are made when the index is opened"
        return
    scope = ", inside each host" if tables["scope"] == "host" else ""
    distance = f"max_distance {tables['max_distance']}{scope}"
    yield f"tables    {counted(tables['entries'], 'entry', 'entries')}, {distance}"


def _servers(figures: dict[str, Any]) -> Iterator[str]:
    size = figures["server_bytes"]
    a_page = f", {as_bytes(size['a_page'])} a page" if figures["kept"] else ""
    log, records = as_bytes(size["log"]), as_bytes(size["records"])
    yield f"servers   {log} log, {records} records{a_page}"
    yield f"at work   {counted(figures['processes'], 'process', 'processes')}"
    if figures["options"]:
        yield f"options   {_values(figures['options'])}"


def _crawl(crawl: dict[str, Any]) -> str:
    said = f"crawl {crawl['crawl']:<3} {crawl['name'] or '(no name)'}, {crawl['started'] or '?'}"
    if "outcomes" not in crawl:
        return said
    kept = crawl["kept"]
    again = f" ({kept['revisited']:,} revisited)" if kept["revisited"] else ""
    return (
        f"{said} to {crawl['ended'] or '(not ended)'}: kept pages: {kept['first_seen']:,} first "
        f"seen, {kept['last_seen']:,} last seen{again}; repeats: {by_outcome(crawl['repeats'])}"
    )


def _values(named: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(named.items()))
