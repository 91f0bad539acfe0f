"""`dedup-filter index ...`: the commands that look after an index on disk."""

import logging

import click

from dedup_filter.commands.lazy_group import LazyGroup
from dedup_filter.commands.terminal import printable

__all__ = ["COMMANDS", "command"]

COMMANDS = {
    "check": "Whether an index is whole, and what is wrong with it.",
    "compact": "Make its files as small as they can be.",
    "export": "Write every page of it as a line of JSON.",
    "forget": "Make it forget the pages at a URL.",
    "import": "Put an export into an index, or the items of an earlier crawl.",
    "migrate": "Make its fingerprints anew, in the present way.",
    "stats": "What it holds: pages, hosts, crawls, bytes.",
}


@click.command("index", cls=LazyGroup, summaries=COMMANDS, prefix="index_")
def command() -> None:
    """Look after an index on disk.

    DIR is the folder of the index, what DEDUP_INDEX names. `stats`, `check` and `export` only
    read, and work while a crawl writes to it; the others need it for themselves.
    """
    logging.getLogger("dedup_filter").addHandler(_Sentences())


class _Sentences(logging.Handler):
    """Lets the terminal have what the layers below would write to a log."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(printable(record.getMessage()), err=True)
