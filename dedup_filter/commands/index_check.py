"""`dedup-filter index check DIR`: what is wrong with it, if anything."""

from typing import TYPE_CHECKING

import click

from dedup_filter.commands.index_options import directory_argument, json_option
from dedup_filter.commands.json_lines import write_lines
from dedup_filter.commands.terminal import counted, say

if TYPE_CHECKING:
    from dedup_filter.upkeep import Findings

__all__ = ["command"]

_FAULTS = 1


@click.command("check")
@directory_argument
@json_option
@click.pass_context
def command(context: click.Context, directory: str, as_json: bool) -> None:
    """Verify the index in DIR: the record of pages, and the tables against it.

    Everything is read, nothing is written, and a crawl may go on meanwhile. Tables that are
    missing or out of date are no fault: they are made anew when the index is opened.

    \b
    $ dedup-filter index check DIR --json
    {"index": DIR, "is_clean": true, "faults": [], "notes": [], "pages": 3, "entries": 2}

    Exit codes: 0 it is clean, 1 faults were found, 2 there is no index, or it cannot be read.
    """  # noqa: D301 - click must see the character
    findings = _findings(directory)
    if as_json:
        write_lines([{"index": directory, "is_clean": not findings.faults, **vars(findings)}])
    else:
        for fault in findings.faults:
            say(f"fault: {fault}")
        for note in findings.notes:
            say(f"note: {note}")
        if not findings.faults:
            say(f"clean: {counted(findings.pages, 'page')}, {findings.entries:,} entries in tables")
    if findings.faults:
        context.exit(_FAULTS)


def _findings(directory: str) -> "Findings":
    from dedup_filter.errors import StoreCorrupt
    from dedup_filter.store.page_reader import PageReader
    from dedup_filter.upkeep import Findings, check_index

    try:
        with PageReader.open_to_read(directory) as reader:
            return check_index(reader)
    except StoreCorrupt as damage:  # so much so that it cannot even be opened
        return Findings([str(damage)])
