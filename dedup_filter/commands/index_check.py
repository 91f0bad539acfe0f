"""`dedup-filter index check INDEX`: what is wrong with it, if anything."""

import click

from dedup_filter.commands.index_options import index_argument, json_option
from dedup_filter.commands.indexes import Index
from dedup_filter.commands.json_lines import write_lines
from dedup_filter.commands.terminal import say
from dedup_filter.wording import counted

__all__ = ["command"]

_FAULTS = 1


@click.command("check")
@index_argument
@json_option
@click.pass_context
def command(context: click.Context, index: Index, as_json: bool) -> None:
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
        write_lines([{"index": index.shown, "is_clean": not findings.faults, **vars(findings)}])
    else:
        for fault in findings.faults:
            say(f"fault: {fault}")
        for note in findings.notes:
            say(f"note: {note}")
        if not findings.faults:
            entries = counted(findings.entries, "entry", "entries")
            say(f"clean: {counted(findings.pages, 'page')}, {entries}")
    if findings.faults:
        context.exit(_FAULTS)
