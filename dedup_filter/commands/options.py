"""Options that several commands have, and what the values that a user gives them mean.

Apart from the package, as they need the options of the filter: who asks only for help, or for the
completion of a word, need not wait for those to load.
"""

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

import click

from dedup_filter.config import option_in
from dedup_filter.hamming.layout import MAX_DISTANCE
from dedup_filter.text.page_fields import FieldNames

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


def filter_options(given: Sequence[str]) -> dict[str, Any]:
    """Read options as they were given; the filter says whether they make sense.

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


options_option = partial(
    click.option,
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    callback=lambda _, __, given: filter_options(given),
    help='An option of the filter, such as features=shingles or max_distance=3; "none" is no '
    "value. Again for each.",
)
filter_option = options_option("--option", "-o")


def field_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let a user name the fields of a feed; the command gets `fields`, as `FieldNames`.

    The names of fields that lie within others are those of `path_to`.
    """

    @click.option(
        "--html-field",
        metavar="NAME",
        help="Field with a page's HTML ('html'), such as page.html.",
    )
    @click.option(
        "--text-fields",
        metavar="NAMES",
        default="",
        help="Those with its text: 'text', or a,b,c.",
    )
    @click.option("--url-field", metavar="NAME", help="The one with its URL, such as 'url'.")
    @click.option(
        "--title-field",
        metavar="NAME",
        help="The one with the headline of a text.",
    )
    @wraps(command)
    def named(
        *arguments: Any,
        html_field: str | None,
        text_fields: str,
        url_field: str | None,
        title_field: str | None,
        **given: Any,
    ) -> Any:
        html, texts = html_field, tuple(filter(None, map(str.strip, text_fields.split(","))))
        if not html and not texts:
            html, texts = "html", ("text",)
        fields = FieldNames(html, texts, url_field, title=title_field)
        return command(*arguments, fields=fields, **given)

    return named


def given_settings(**values: Any) -> dict[str, Any]:
    """Return those options of the filter that were given, with the values that are meant.

    >>> given_settings(max_distance=5, min_similarity="none", scope=None)
    {'max_distance': 5, 'min_similarity': None}
    """
    return {name: option_in(name, value) for name, value in values.items() if value is not None}
