"""`dedup-filter index compact INDEX`: less room on the disk, or on the servers."""

import click

from dedup_filter.commands.index_options import index_argument, json_option
from dedup_filter.commands.indexes import Index
from dedup_filter.commands.json_lines import write_lines
from dedup_filter.commands.terminal import as_bytes, say
from dedup_filter.wording import counted

__all__ = ["command"]

_DONE = {
    "released": ("page", "of processes that have ended released"),
    "taken_out": ("page", "without a record taken out of the log"),
    "deleted": ("record", "of no page deleted"),
}


@click.command("compact")
@index_argument
@json_option
def command(index: Index, as_json: bool) -> None:
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
        write_lines([{"index": index.shown, **sizes, **counts}])
        return
    for name, size in before.items():
        say(f"{name:<9} {as_bytes(size)} -> {as_bytes(after[name])}")
    for name, count in counts.items():
        if count:
            noun, what = _DONE[name]
            say(f"{counted(count, noun)} {what}")
