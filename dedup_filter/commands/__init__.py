"""Layer "commands": the arguments of one subcommand -> calls -> lines of JSON, or a table.

A command has no logic that a program could need: the layers below have it. `dedup_filter.cli`
describes how commands end. What several commands share is here, and in `options` the options that
take time to load.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from difflib import get_close_matches
from functools import partial
from textwrap import wrap
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from dedup_filter.wording import counted, printable

T = TypeVar("T")
COLUMNS = 100

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Write JSON objects with named fields."
)


def progress(
    values: Iterable[T], label: str, total: int | None = None
) -> AbstractContextManager[Iterable[T]]:
    """Show on a terminal how many values have passed; elsewhere show nothing."""
    if not sys.stderr.isatty():
        return nullcontext(values)
    return click.progressbar(
        values, total, label, show_pos=True, file=sys.stderr, update_min_steps=10
    )


class CommandGroup(click.Group):
    """A group of commands that lists them in their order, and answers a wrong name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is named; UsageError: there is none, with the nearest name."""
        known = self.list_commands(ctx)
        if args[0] in known or ctx.resilient_parsing or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        near = get_close_matches(args[0], known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
        raise click.UsageError(f"no command {args[0]!r}: {hint}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with the whole first sentence of their help."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, each.get_short_help_str(1000)) for name, each in commands if each]
            )


def folders(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the name of a folder, such as an index."""
    return [CompletionItem(incomplete, type="dir")]


def location_of(ctx: click.Context, param: click.Parameter, given: str | None) -> str:
    """Return the given location; None: the location of the project's index (see `cli.main`)."""
    location = ctx.obj() if given is None and ctx.obj is not None else given
    if location is None:
        raise click.MissingParameter(ctx=ctx, param=param)
    return str(location)


location_argument = partial(
    click.argument,
    "index",
    metavar="INDEX",
    required=False,
    callback=location_of,
    shell_complete=folders,
)
"""The location of an index."""


def write_lines(values: Iterable[Any]) -> None:
    """Write each value as a line of JSON on standard output, and flush."""
    sys.stdout.writelines(json.dumps(value) + "\n" for value in values)
    sys.stdout.flush()


def write(value: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """Write a value as a line of JSON, or the lines that say it to people."""
    if as_json:
        write_lines([value])
    else:
        for line in lines:
            say(line)


def named(value: Any) -> Any:
    """Return a value for JSON: named tuples become objects."""
    if hasattr(value, "_asdict"):
        return named(value._asdict())
    if isinstance(value, Mapping):
        return {name: named(each) for name, each in value.items()}
    return [*map(named, value)] if isinstance(value, list | tuple) else value


def say(text: str, *, err: bool = False) -> None:
    """Write a line for people on standard output."""
    click.echo(printable(text), err=err)


def head(text: str) -> None:
    """Begin a section for people: a heading after an empty line."""
    say("")
    paragraph(text, "")


def section(title: str, paragraphs: Iterable[str]) -> None:
    """Write a section."""
    head(title)
    for each in paragraphs:
        paragraph(each)


def entry(name: str, value: str) -> None:
    """Write a named value; further lines stand below the first."""
    paragraph(value, f"{name:<13}", " " * 13)


def paragraph(text: str, first: str = "  ", others: str | None = None) -> None:
    """Write a text behind indents, in lines of at most `COLUMNS` characters.

    Words are whole: longer ones, and scripts without spaces, are left to the terminal.
    """
    for line in wrap(
        printable(" ".join(text.split())),
        COLUMNS,
        initial_indent=first,
        subsequent_indent=first if others is None else others,
        break_long_words=False,
        break_on_hyphens=False,
    ):
        say(line)


def say_without_url(pages: int) -> None:
    """Write how pages without a URL were judged, if there are any, on standard error."""
    if pages:
        say(
            f"{counted(pages, 'page')} without a URL (--url-field): judged as pages of one host, "
            "so copies from different sites may be kept",
            err=True,
        )


def write_report(values: Mapping[str, Any], as_json: bool) -> None:
    """Write named fields as a line of JSON; or one line for each field and each list member."""
    lists = {name: each if isinstance(each, list) else [each] for name, each in values.items()}
    lines = (f"{name:<13} {_shown(each)}" for name, some in lists.items() for each in some)
    write(values, lines, as_json=as_json)


def _shown(value: Any) -> str:
    """Write a value for people.

    >>> _shown({"kept": 1_200, "name": None, "repeats": {"near": 1}})
    'kept 1,200, name none, repeats (near 1)'
    >>> _shown({"repeats": {}})
    'repeats none'
    """
    if isinstance(value, Mapping):
        shown = (
            f"({_shown(v)})" if v and isinstance(v, Mapping) else _shown(v) for v in value.values()
        )
        return ", ".join(map(" ".join, zip(value, shown, strict=True))) or "none"
    if type(value) is int:
        return f"{value:,}"
    return "none" if value is None else str(value)
