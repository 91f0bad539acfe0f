"""Layer "commands": the arguments of one subcommand -> calls -> lines of JSON, or a table.

A command has no logic that a program could want: that is in the layers below. `dedup_filter.cli`
tells how commands end. Here is what several of them share: arguments and options, and what they
read and write.
"""

import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from dedup_filter.hamming import MAX_DISTANCE
from dedup_filter.upkeep import index_at
from dedup_filter.wording import printable

__all__ = [
    "filter_option",
    "filter_options",
    "index_argument",
    "json_option",
    "max_distance_option",
    "progress",
    "say",
    "scaled",
    "tell",
    "write_lines",
]

T = TypeVar("T")
Decorated = TypeVar("Decorated", bound=Callable[..., Any])

index_argument = click.argument(
    "index", metavar="INDEX", callback=lambda _, __, location: index_at(location)
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Write JSON objects with named fields."
)
filter_option = click.option(
    "--option",
    "-o",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    callback=lambda _, __, given: filter_options(given),
    help='An option of the filter, such as features=shingles or max_distance=3; "none" is no '
    "value. Again for each.",
)


def max_distance_option(default: int) -> Callable[[Decorated], Decorated]:
    """Return the option for k, the largest number of bits in which near fingerprints differ."""
    return click.option(
        "--max-distance",
        "--distance",
        "-d",
        "-k",
        type=click.IntRange(0, MAX_DISTANCE),
        default=default,
        show_default=True,
        metavar="BITS",
        help=f"Near are fingerprints that differ in at most so many bits, 0 to {MAX_DISTANCE}.",
    )


def filter_options(given: Sequence[str]) -> dict[str, Any]:
    """Read options as they were given; the filter says whether they make sense.

    >>> filter_options(["features=shingles", "max_distance=3", "min_similarity=None"])
    {'features': 'shingles', 'max_distance': 3, 'min_similarity': None}
    """
    known = {"none": None, "true": True, "false": False}
    options = {}
    for each in given:
        name, equals, value = (part.strip() for part in each.partition("="))
        if not equals:
            raise click.BadParameter(f"{each!r} is not NAME=VALUE")
        try:
            options[name] = known[value.lower()] if value.lower() in known else json.loads(value)
        except ValueError:
            options[name] = value
    return options


def write_lines(values: Iterable[Any]) -> None:
    """Write each value as a line of JSON on standard output, and flush."""
    sys.stdout.writelines(json.dumps(value) + "\n" for value in values)
    sys.stdout.flush()


def say(text: str, *, err: bool = False) -> None:
    """Write a line for people on standard output."""
    click.echo(printable(text), err=err)


def tell(values: Mapping[str, Any], as_json: bool) -> None:
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
        shown = {name: _shown(each) for name, each in value.items()}
        inner = {name: f"({shown[name]})" for name in value if isinstance(value[name], Mapping)}
        return ", ".join(f"{name} {each}" for name, each in (shown | inner).items())
    if type(value) is int:
        return f"{value:,}"
    return "none" if value is None else str(value)


def scaled(value: float, *units: str) -> str:
    """Write a value in the largest unit that it reaches; each is a thousand of the one before.

    >>> scaled(999, "bytes", "kB", "MB"), scaled(1_234_567, "bytes", "kB", "MB")
    ('999 bytes', '1.23 MB')
    """
    first, *larger = units
    return scaled(value / 1000, *larger) if value >= 1000 and larger else f"{value:,.3g} {first}"


@contextmanager
def progress(
    values: Iterable[T], label: str, total: int | None, size: Callable[[T], int] = lambda _: 1
) -> Iterator[Iterable[T]]:
    """Show on a terminal how much of a total has passed, elsewhere nothing.

    `size` tells how much of the total a value is. With None for the total values are counted.
    """
    if not sys.stderr.isatty():
        yield values
        return
    with click.progressbar(
        itertools.count(),
        length=total,
        label=label,
        show_pos=total is None,
        file=sys.stderr,
        update_min_steps=(total or 0) // 1000 + 1,
    ) as bar:

        def passing() -> Iterator[T]:
            for value in values:
                yield value
                bar.update(1 if total is None else size(value))

        yield passing()
