"""Arguments and options that several commands share, and the meaning of their values.

They are not in the package's `__init__`, as they import the options of the filter: help and the
completion of words need not wait for that import.
"""

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any, TypeVar

import click

from dedup_filter.commands import folders, location_argument, location_of
from dedup_filter.config import FilterConfig, option_in
from dedup_filter.hamming.layout import MAX_DISTANCE
from dedup_filter.text.page_fields import FieldNames
from dedup_filter.upkeep import index_at

Command = TypeVar("Command", bound=Callable[..., Any])

index_argument = location_argument(callback=lambda *given: index_at(location_of(*given)))
"""An index, opened when it is used."""
index_option = click.option(
    "--index",
    metavar="DIR",
    shell_complete=folders,
    callback=lambda _, __, given: given if given is None else index_at(given),
    help="An index: use its frames of hosts, and its records of pages.",
)
pages_argument = click.argument("pages", metavar="PAGE...", nargs=-1, required=True)
url_option = click.option(
    "--url", default="", help="URL of a page in a file; its host has a frame."
)
workers_option = click.option(
    "--workers", metavar="N", default="auto", help="Processes that read; default: cores less one."
)
max_distance_option = partial(
    click.option,
    "--max-distance",
    type=click.IntRange(0, MAX_DISTANCE),
    default=FilterConfig.max_distance,
    show_default=True,
    metavar="BITS",
    help=f"Fingerprints are near if they differ in at most this many bits, 0 to {MAX_DISTANCE}.",
)


def number_option(
    name: str, least: int, shown: str, default: int | None = None
) -> Callable[[Command], Command]:
    """Return an option with a whole number from `least` on; `shown` is its help."""
    kind = click.IntRange(least)
    is_shown = default is not None
    return click.option(name, type=kind, default=default, show_default=is_shown, help=shown)


def filter_options(given: Sequence[str]) -> dict[str, Any]:
    """Read options as they were given; the filter checks their values.

    >>> filter_options(["features=shingles", "max_distance=3", "min_similarity=None"])
    {'features': 'shingles', 'max_distance': 3, 'min_similarity': None}
    """
    options = {}
    for each in given:
        name, equals, value = (part.strip() for part in each.partition("="))
        if not equals:
            raise click.BadParameter(f"{each!r} is not NAME=VALUE")
        options[name] = option_in(name, value)
    return options


filter_option = click.option(
    "--set",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    callback=lambda _, __, given: filter_options(given),
    help='An option of the filter, such as max_distance=3; "none" means no value. Repeatable.',
)


def field_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add options that name the fields of a feed; the command gets `fields`, as `FieldNames`.

    Nested fields are named by paths: see `path_to`.
    """

    @click.option("--html-field", metavar="NAME", help="Field with a page's HTML: 'html', or a.b.")
    @click.option("--text-fields", metavar="NAMES", default="", help="Its text: 'text', or a,b,c.")
    @click.option("--url-field", metavar="NAME", help="Field with a page's URL, such as 'url'.")
    @click.option("--title-field", metavar="NAME", help="Field with the headline of a text.")
    @wraps(command)
    def named(*arguments: Any, html_field: str | None, text_fields: str, **given: Any) -> Any:
        html, texts = html_field, tuple(filter(None, map(str.strip, text_fields.split(","))))
        if not html and not texts:
            html, texts = "html", ("text",)
        fields = FieldNames(html, texts, given.pop("url_field"), given.pop("title_field"))
        return command(*arguments, fields=fields, **given)

    return named


def given_settings(**values: Any) -> dict[str, Any]:
    """Return the options of the filter that were given, with parsed values.

    >>> given_settings(max_distance=5, min_similarity="none", scope=None)
    {'max_distance': 5, 'min_similarity': None}
    """
    return {name: option_in(name, value) for name, value in values.items() if value is not None}
