"""`dedup-filter index ...`: the commands that look after an index."""

import logging

import click

from dedup_filter.commands import LazyGroup
from dedup_filter.commands.streams import printable

__all__ = ["index_command"]

_COMMANDS = {
    "check": ("index_upkeep", "Whether an index is whole, and what is wrong with it."),
    "compact": ("index_upkeep", "Give back the room of what was forgotten."),
    "export": ("index_transfer", "Write every page of it as a line of JSON."),
    "forget": ("index_upkeep", "Make it forget the pages at a URL."),
    "import": ("index_transfer", "Put an export into an index, or the items of an earlier crawl."),
    "migrate": ("index_upkeep", "Make its fingerprints anew, in the present way."),
    "stats": ("index_stats", "What it holds: pages, hosts, crawls, bytes."),
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
