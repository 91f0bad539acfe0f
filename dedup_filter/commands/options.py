"""Arguments and options that several commands have."""

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from dedup_filter.upkeep import Index

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

__all__ = [
    "filter_option",
    "filter_options",
    "index_argument",
    "json_option",
    "max_distance_option",
]


def _index_at(_: click.Context, __: click.Parameter, location: str) -> "Index":
    from dedup_filter.upkeep import index_at

    return index_at(location)


index_argument = click.argument("index", metavar="INDEX", callback=_index_at)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Write JSON objects with named fields."
)


def max_distance_option(default: int) -> Callable[[Decorated], Decorated]:
    """Return the option for k, the largest number of bits in which near fingerprints differ."""
    return click.option(
        "--max-distance",
        "--distance",
        "-d",
        "-k",
        type=click.IntRange(0, 12),
        default=default,
        show_default=True,
        metavar="BITS",
        help="Near are fingerprints that differ in at most so many bits, 0 to 12.",
    )


filter_option = click.option(
    "--option",
    "-o",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help='An option of the filter, such as features=shingles or max_distance=3; "none" is no '
    "value. Again for each.",
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
            raise click.BadParameter(f"{each!r} is not NAME=VALUE", param_hint="--option")
        try:
            options[name] = known[value.lower()] if value.lower() in known else json.loads(value)
        except ValueError:
            options[name] = value
    return options
