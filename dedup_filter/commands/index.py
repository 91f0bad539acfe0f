"""`dedup-filter index ...`: the commands that look after an index."""

import logging

import click

from dedup_filter.commands.lazy_group import LazyGroup
from dedup_filter.commands.terminal import printable

__all__ = ["COMMANDS", "command"]

COMMANDS = {
    "check": "Whether an index is whole, and what is wrong with it.",
    "compact": "Give back the room of what was forgotten.",
    "export": "Write every page of it as a line of JSON.",
    "forget": "Make it forget the pages at a URL.",
    "import": "Put an export into an index, or the items of an earlier crawl.",
    "migrate": "Make its fingerprints anew, in the present way.",
    "stats": "What it holds: pages, hosts, crawls, bytes.",
}


@click.command("index", cls=LazyGroup, summaries=COMMANDS, prefix="index_")
def command() -> None:
    """Look after an index.

    INDEX is what DEDUP_INDEX names: a folder, or the address of an index that crawlers share
    (redis://host:6379/0, redis+cluster://host:7000). `stats`, `check` and `export` only read, and
    work while a crawl writes to it. The others need a folder for themselves; a shared index they
    work on beside its crawlers, unless they say otherwise.
    """
    logging.getLogger("dedup_filter").addHandler(_Sentences())


class _Sentences(logging.Handler):
    """Lets the terminal have what the layers below would write to a log."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(printable(record.getMessage()), err=True)
