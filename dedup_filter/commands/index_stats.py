"""`dedup-filter index stats DIR`: what an index holds."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from dedup_filter.commands.index_options import directory_argument, json_option
from dedup_filter.commands.json_lines import write_lines
from dedup_filter.commands.terminal import as_bytes, as_time, say

if TYPE_CHECKING:
    from dedup_filter.store.page_reader import PageReader
    from dedup_filter.store.statistics import CrawlStatistics

__all__ = ["command"]


@click.command("stats")
@directory_argument
@json_option
def command(directory: str, as_json: bool) -> None:
    """Tell what the index in DIR holds: pages by outcome, hosts, crawls, bytes, tables.

    A page counts for the crawl that saw it last, with what was said of it then. Pending pages
    are those whose items are still under way. All pages are read: half a kilobyte each.

    \b
    $ dedup-filter index stats DIR --json
    {"index": DIR, "pages": 3, "kept": 2, "outcomes": {"new": 2, "near": 1}, ...}

    Exit codes: 0 done, 2 there is no index, or it cannot be read.
    """  # noqa: D301 - click must see the character
    from dedup_filter.store.page_reader import PageReader

    with PageReader.open_to_read(directory) as reader:
        figures = _figures(reader)
    if as_json:
        write_lines([figures])
        return
    for line in _lines(figures):
        say(line)


def _figures(reader: "PageReader") -> dict[str, Any]:
    from dedup_filter.store.statistics import statistics
    from dedup_filter.upkeep.compact import sizes

    found = statistics(reader)
    bytes_on_disk = sizes(str(reader.directory))
    return {
        "index": str(reader.directory),
        "pages": found.pages,
        "kept": found.kept,
        "pending": found.pending,
        "outcomes": found.outcomes,
        "hosts": found.hosts,
        "texts": found.texts,
        "first_seen": as_time(found.first_seen),
        "last_seen": as_time(found.last_seen),
        "bytes": {"record": bytes_on_disk.record, "tables": bytes_on_disk.tables},
        "tables": _tables(reader),
        "scheme": dict(reader.scheme.parts),
        "crawls": [_crawl(each) for each in found.crawls],
    }


def _tables(reader: "PageReader") -> dict[str, Any] | None:
    from dedup_filter.store.table_files import TableFiles

    assert reader.directory is not None
    saved = TableFiles(reader.directory.tables).load()
    if isinstance(saved, str):
        return None
    return {
        "max_distance": saved.about.get("max_distance"),
        "scope": "host" if saved.about.get("by_host") else "all",
        "entries": len(saved.arrays.get("rows", ())),
    }


def _crawl(each: "CrawlStatistics") -> dict[str, Any]:
    return {
        "crawl": each.crawl.number,
        "name": each.crawl.name,
        "started": as_time(each.crawl.started),
        "ended": as_time(each.crawl.ended),
        "outcomes": each.outcomes,
    }


def _lines(figures: dict[str, Any]) -> Iterator[str]:
    size, tables = figures["bytes"], figures["tables"]
    pending = f", {figures['pending']:,} pending" if figures["pending"] else ""
    yield f"pages     {figures['pages']:,} ({_counts(figures['outcomes'])}{pending})"
    yield f"kept      {figures['kept']:,}, which later pages are compared with"
    yield f"hosts     {figures['hosts']:,}"
    if figures["texts"]:
        yield f"texts     {figures['texts']:,} kept"
    if figures["pages"]:
        yield f"seen      {figures['first_seen']} to {figures['last_seen']}"
    yield f"on disk   {as_bytes(size['record'])} record, {as_bytes(size['tables'])} tables"
    if tables is None:
        yield "tables    none; they are made when the index is opened"
    else:
        scope = ", inside each host" if tables["scope"] == "host" else ""
        distance = f"max_distance {tables['max_distance']}{scope}"
        yield f"tables    {tables['entries']:,} entries, {distance}"
    scheme = ", ".join(f"{name} {value}" for name, value in sorted(figures["scheme"].items()))
    yield f"scheme    {scheme}"
    for crawl in figures["crawls"]:
        yield (
            f"crawl {crawl['crawl']:<3} {crawl['name'] or '(no name)'}, {crawl['started']} to "
            f"{crawl['ended'] or '(not ended)'}: {_counts(crawl['outcomes'])}"
        )


def _counts(outcomes: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(outcomes.items())) or "no pages"
