"""Layer "commands": the arguments of one subcommand -> calls -> lines of JSON, or a table.

A command has no logic that a program could want: that is in the layers below. The command `x` is
`x_command` in its module. `dedup_filter.cli` lists the commands and tells how they end.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

__all__ = ["LazyGroup"]


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, and not to list them.

    `modules` names the module of each command in this package, and what the command does.
    """

    def __init__(self, *args: Any, modules: Mapping[str, tuple[str, str]], **options: Any) -> None:
        super().__init__(*args, **options)
        self.no_args_is_help = False  # "Missing command" and 2, in every release of click
        self._modules = modules

    def list_commands(self, _: click.Context) -> list[str]:
        """Name the commands."""
        return sorted(self._modules)

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self._modules:
            return None
        module = import_module(f"{__name__}.{self._modules[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted((name, does) for name, (_, does) in self._modules.items()))
