"""`dedup-filter index stats INDEX`: what an index holds."""

from collections.abc import Iterator
from typing import Any

import click

from dedup_filter.commands.options import index_argument, json_option
from dedup_filter.commands.streams import as_bytes, as_time, by_outcome, say, write_lines
from dedup_filter.upkeep import Index
from dedup_filter.wording import counted

__all__ = ["stats_command"]

_TIMES = ("first_seen", "last_seen", "started", "ended")


@click.command("stats")
@index_argument
@json_option
def stats_command(index: Index, as_json: bool) -> None:
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
    return {name: as_time(value) if name in _TIMES else value for name, value in figures.items()}


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
