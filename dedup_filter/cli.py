"""The console script `dedup-filter`: its commands, and their exit codes.

Control characters in the input of a user or a file are escaped before they reach the terminal. To
complete a command line, a shell starts the same script, with a variable in the environment.
"""

import io
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NoReturn

import click
from click.shell_completion import shell_complete

from dedup_filter.commands import CommandGroup
from dedup_filter.errors import DedupError
from dedup_filter.wording import printable

_COMPLETE = "_DEDUP_FILTER_COMPLETE"
"""Variable by which a shell requests completions, by click's convention."""
_NAMES = "scan report explain compare find tune text see serve rules index bits".split()
"""The commands, which are modules of `commands`; first what most people do."""


class _Commands(CommandGroup):
    """Imports the module of a command only when it is needed: some take long to load."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return _NAMES

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002
        name: str,
    ) -> click.Command | None:
        if name not in _NAMES:
            return None
        module = import_module(f"dedup_filter.commands.{name}")
        command: click.Command = getattr(module, f"{name}_command")
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dedup-filter", prog_name="dedup-filter")
def _cli() -> None:
    """Remove near-duplicate pages from crawls, and show why pages are dropped or kept.

    INDEX is a folder, or the address of an index that crawlers share (redis://...). With --json,
    results are JSON, one value a line.

    \b
    Exit codes:
    0    done
    1    the system failed (the disk is full, memory ran out), or the answer is no
    2    not done: a wrong option, an unusable file or index; not for all: a bad line
    130  ended by Ctrl-C
    141  the reader of the output has gone (`| head`)
    """  # noqa: D301 - click must see the character


def main(
    arguments: Sequence[str] | None = None,
    program: str = "dedup-filter",
    index_location: Callable[[], str] | None = None,
) -> NoReturn:
    """Run the command that the arguments (default: of this process) name, and exit.

    `program` is the command as the user typed it. `index_location` returns the location of the
    index for a command that is given none.
    """
    code = 0
    completion = os.environ.get(_COMPLETE)
    if completion:
        sys.exit(shell_complete(_cli, {}, program, _COMPLETE, completion))
    try:
        if isinstance(sys.stdout, io.TextIOWrapper):  # a character that it lacks is no failure
            sys.stdout.reconfigure(errors="backslashreplace")
        # `_cli.main` is not used, as it takes a closed pipe for a failure.
        given = list(sys.argv[1:] if arguments is None else arguments)
        with _cli.make_context(program, given, obj=index_location) as context:
            _cli.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        code = end.exit_code
    except click.ClickException as error:
        code = _fail(_message(error), error.exit_code)
    except DedupError as error:
        code = _fail(f"Error: {error}", 2)
    except (KeyboardInterrupt, click.Abort):
        code = 130
    except BrokenPipeError:
        code = 141
    except (OSError, MemoryError) as error:
        code = _fail(f"Error: {error or 'out of memory'}", 1)
    try:
        sys.stdout.flush()
    except OSError:  # end without a message of the interpreter
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _message(error: click.ClickException) -> str:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return error.message
    used: click.Context | None = getattr(error, "ctx", None)
    usage = f"{used.get_usage()}\n" if used else ""
    return f"{usage}Error: {error.format_message()}"


def _fail(message: str, code: int) -> int:
    for line in message.split("\n"):
        click.echo(printable(line), err=True)
    return code
