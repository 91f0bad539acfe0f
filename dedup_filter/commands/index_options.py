"""Arguments and options that commands of `dedup-filter index` share."""

import json
from collections.abc import Sequence
from typing import Any

import click

from dedup_filter.commands.indexes import index_at

__all__ = ["filter_options", "index_argument", "json_option", "option_option"]

index_argument = click.argument(
    "index", metavar="INDEX", callback=lambda _, __, location: index_at(location)
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Write the result as one JSON object."
)
option_option = click.option(
    "--option",
    "-o",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help='An option of the filter, such as features=shingles or max_distance=3; "none" is no '
    "value. Again for each.",
)


def filter_options(given: Sequence[str]) -> dict[str, Any]:
    """Read options as they were given; whether they make sense the filter will say.

    >>> filter_options(["features=shingles", "max_distance=3", "min_similarity=None"])
    {'features': 'shingles', 'max_distance': 3, 'min_similarity': None}
    """
    options = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals:
            raise click.BadParameter(f"{each!r} is not NAME=VALUE", param_hint="--option")
        options[name.strip()] = _value(value.strip())
    return options


def _value(text: str) -> Any:
    known = {"none": None, "true": True, "false": False}
    if text.lower() in known:
        return known[text.lower()]
    try:
        return json.loads(text)
    except ValueError:
        return text
