"""`dedup-filter see`: pages of another program, line by line -> their verdicts."""

import os
import sys
from typing import Any

import click

from dedup_filter.commands import location_argument, say, say_without_url
from dedup_filter.commands.options import (
    field_options,
    filter_option,
    given_settings,
    workers_option,
)
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.model import Verdict
from dedup_filter.review.watch import Watch
from dedup_filter.service.pipe import see_lines
from dedup_filter.store.location import folder_of
from dedup_filter.text.page_fields import FieldNames


@click.command("see")
@location_argument()
@workers_option
@filter_option
@field_options
def see_command(index: str, workers: str, options: dict[str, Any], fields: FieldNames) -> None:
    """Judge and keep pages, one JSON object a line; write one verdict a line, in their order.

    INDEX is a folder, the address of a shared index, or memory:. Each line of the input has a URL
    and a page; each line of the output has the URL and the verdict, or "error". A verdict is
    written at once when no further line is there, and after its page is written to INDEX. Pages
    without a URL are judged as pages of one host.

    \b
    Exit codes: 0 done, 2 a line is bad (the others are judged), or the index cannot be used.
    """  # noqa: D301 - click must see the character
    settings = options | given_settings(workers=workers)
    with NearDuplicateFilter.open(index, **settings) as pages:
        # The interpreter closes `sys.stdin` at its end, but cannot while a thread waits for it.
        given = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
        watch = Watch(index if folder_of(index) and pages.config.keep_text else None)

        def told(url: str, verdict: Verdict) -> None:
            for warning in watch.messages(url, verdict):
                say(warning, err=True)

        seen = see_lines(pages, given, sys.stdout, fields, told)
    say_without_url(seen.without_url)
    if seen.errors:
        raise click.exceptions.Exit(2)
