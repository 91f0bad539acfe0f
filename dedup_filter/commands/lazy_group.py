"""A group of commands, each of which is imported when it is called.

The command `x` of a group is `command` in the module `<prefix>x` of `dedup_filter.commands`.
`--help` needs none of them: what they do is said where they are listed.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

__all__ = ["LazyGroup"]


class LazyGroup(click.Group):
    """Commands by name, with a summary of each."""

    def __init__(
        self, *args: Any, summaries: Mapping[str, str], prefix: str = "", **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.no_args_is_help = False  # "Missing command" and 2, in every release of click
        self._summaries = summaries
        self._prefix = prefix

    def list_commands(self, _: click.Context) -> list[str]:
        """Name the commands."""
        return sorted(self._summaries)

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self._summaries:
            return None
        module = import_module(f"dedup_filter.commands.{self._prefix}{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(self._summaries.items()))
