"""`dedup-filter index compact DIR`: smaller files."""

import click

from dedup_filter.commands.index_options import directory_argument, json_option
from dedup_filter.commands.json_lines import write_lines
from dedup_filter.commands.terminal import as_bytes, say

__all__ = ["command"]


@click.command("compact")
@directory_argument
@json_option
def command(directory: str, as_json: bool) -> None:
    """Write the files of the index in DIR anew, without the room that forgotten pages left.

    It takes as much room again while it lasts, and the index for itself.

    \b
    $ dedup-filter index compact DIR --json
    {"index": DIR, "before": {"record": 98304, "tables": 400}, "after": {...}}

    Exit codes: 0 done, 2 there is no index, it is in use, or cannot be written.
    """  # noqa: D301 - click must see the character
    from dedup_filter.upkeep import compact

    before, after = compact(directory)
    if as_json:
        write_lines([{"index": directory, "before": before._asdict(), "after": after._asdict()}])
        return
    say(f"record    {as_bytes(before.record)} -> {as_bytes(after.record)}")
    say(f"tables    {as_bytes(before.tables)} -> {as_bytes(after.tables)}")
