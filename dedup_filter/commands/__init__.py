"""Layer "commands": the arguments of one subcommand -> calls -> lines of JSON, or a table.

A command has no logic that a program could want: that is in the layers below. `dedup_filter.cli`
tells how commands end. Here is what several of them share.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import click

from dedup_filter.hamming.layout import MAX_DISTANCE
from dedup_filter.wording import printable

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Write JSON objects with named fields."
)
max_distance_option = partial(
    click.option,
    "--max-distance",
    "--distance",
    "-d",
    "-k",
    type=click.IntRange(0, MAX_DISTANCE),
    show_default=True,
    metavar="BITS",
    help=f"Near are fingerprints that differ in at most so many bits, 0 to {MAX_DISTANCE}.",
)


def write_lines(values: Iterable[Any]) -> None:
    """Write each value as a line of JSON on standard output, and flush."""
    sys.stdout.writelines(json.dumps(value) + "\n" for value in values)
    sys.stdout.flush()


def say(text: str, *, err: bool = False) -> None:
    """Write a line for people on standard output."""
    click.echo(printable(text), err=err)


def write_report(values: Mapping[str, Any], as_json: bool) -> None:
    """Write fields by name: as a line of JSON, or a line for each and each member of a list."""
    if as_json:
        write_lines([values])
        return
    for name, value in values.items():
        for each in value if isinstance(value, list) else [value]:
            say(f"{name:<13} {_shown(each)}")


def _shown(value: Any) -> str:
    """Write a value for people.

    >>> _shown({"kept": 1_200, "name": None, "repeats": {"near": 1}})
    'kept 1,200, name none, repeats (near 1)'
    """
    if isinstance(value, Mapping):
        shown = (f"({_shown(v)})" if isinstance(v, Mapping) else _shown(v) for v in value.values())
        return ", ".join(f"{name} {each}" for name, each in zip(value, shown, strict=True))
    if type(value) is int:
        return f"{value:,}"
    return "none" if value is None else str(value)
