"""`dedup-filter index migrate INDEX`: fingerprints made anew."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import click

from dedup_filter.commands.index_options import (
    filter_options,
    index_argument,
    json_option,
    option_option,
)
from dedup_filter.commands.indexes import Index
from dedup_filter.commands.json_lines import write_lines
from dedup_filter.commands.terminal import say, watched
from dedup_filter.wording import counted

__all__ = ["command"]


@click.command("migrate")
@index_argument
@option_option
@click.option("--drop-unkept", is_flag=True, help="Leave pages behind whose texts were not kept.")
@click.option("--fresh", is_flag=True, help="Begin an empty index; no fingerprints are made.")
@json_option
def command(
    index: Index, options: Sequence[str], drop_unkept: bool, fresh: bool, as_json: bool
) -> None:
    """Make the fingerprints of an index in a directory anew, as this version and these options do.

    An index is refused by who makes fingerprints in another way: with other options, another
    version of this package or of a dictionary. Where the texts of pages were kept
    (DEDUP_KEEP_TEXT), fingerprints are made of those; verdicts and times stay as they are.

    The index as it was is never deleted: it is moved to DIR.backup-<time>, which is printed.

    A shared index has no texts, so this is not for it: begin another one under a new name.

    \b
    $ dedup-filter index migrate DIR -o features=shingles --json
    {"index": "DIR", "pages": 3, "left_behind": 0, "backup": "DIR.backup-20260131-120000"}

    Exit codes: 0 done, or nothing to do; 2 there is no index, it is in use, or texts are missing
    and neither --drop-unkept nor --fresh is given. Then it is as it was.
    """  # noqa: D301 - click must see the character
    from dedup_filter.config import FilterConfig

    if fresh and drop_unkept:
        raise click.UsageError("--fresh leaves all pages behind: give it without --drop-unkept")
    config = FilterConfig.of(filter_options(options))
    if fresh:
        done = index.start_fresh(config)
    else:
        done = index.migrate(config, drop_unkept=drop_unkept, watch=_watch)
    if as_json:
        backup = None if done.backup is None else str(done.backup)
        result = {"pages": done.pages, "left_behind": done.dropped, "backup": backup}
        write_lines([{"index": index.shown, **result}])
    elif done.backup is None:
        say("nothing to do: its fingerprints are made in this way")
    elif fresh:
        say(f"{index.shown} is empty; the index as it was is {done.backup}")
    else:
        behind = f", {done.dropped:,} left behind" if done.dropped else ""
        say(f"{counted(done.pages, 'page')}{behind}; the index as it was is {done.backup}")


def _watch(records: Iterable[Any], count: int) -> AbstractContextManager[Iterable[Any]]:
    return watched(records, count, "migrating")
