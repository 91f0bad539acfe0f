"""Layer "commands": the arguments of one subcommand -> calls -> lines of JSON, or a table.

A command has no logic that a program could want: that is in the layers below. `dedup_filter.cli`
tells how commands end. Here is what several of them share.
"""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial, wraps
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from dedup_filter.config import option_in
from dedup_filter.hamming.layout import MAX_DISTANCE
from dedup_filter.text.page_fields import FieldNames
from dedup_filter.wording import printable

T = TypeVar("T")

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


def field_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let a user name the fields of a feed; the command gets `fields`, as `FieldNames`."""

    @click.option(
        "--html-field",
        metavar="NAME",
        help="Field of items with a page's HTML; 'html' unless one is named.",
    )
    @click.option(
        "--text-fields",
        metavar="NAMES",
        default="",
        help="Those with its text, with commas between; 'text' unless one is named.",
    )
    @click.option("--url-field", metavar="NAME", default="url", help="The one with its URL.")
    @wraps(command)
    def named(
        *arguments: Any, html_field: str | None, text_fields: str, url_field: str, **given: Any
    ) -> Any:
        html, texts = html_field, tuple(filter(None, map(str.strip, text_fields.split(","))))
        if not html and not texts:
            html, texts = "html", ("text",)
        return command(*arguments, fields=FieldNames(html, texts, url_field), **given)

    return named


def progress(
    values: Iterable[T], label: str, total: int | None = None
) -> AbstractContextManager[Iterable[T]]:
    """Show on a terminal how many have passed, elsewhere nothing."""
    if not sys.stderr.isatty():
        return nullcontext(values)
    return click.progressbar(
        values, total, label, show_pos=True, file=sys.stderr, update_min_steps=10
    )


class BareGroupError(click.ClickException):
    """A group was named without a command; the message is its help, which lists its commands."""

    exit_code = 2


class CommandGroup(click.Group):
    """A group of commands that lists them if none is named.

    So does click's own, but not in all its versions with the same exit code and stream, nor only
    then. It is to be made with `no_args_is_help=False`.
    """

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Make the context of a call.

        Raises:
            BareGroupError: there are no arguments. A shell that completes may have none yet.
        """
        is_bare = not (args or extra.get("resilient_parsing"))
        context = super().make_context(info_name, args, parent, **extra)
        if is_bare:
            raise BareGroupError(context.get_help())
        return context


def folders(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the name of a folder, such as that of an index."""
    return [CompletionItem(incomplete, type="dir")]


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
