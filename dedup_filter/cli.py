"""The console script `dedup-filter`: which commands there are, and how each of them ends.

    0    done
    1    not done: something outside failed (a disk is full, memory ran out); or the answer of a
         command that asks is no (`index check`: faults were found)
    2    not done: a wrong option, a file or an index that cannot be used, a line that is none
    130  ended by Ctrl-C
    141  the reader of the output has gone (`| head`)

A command lives in a module of `dedup_filter.commands` which is imported when it is called; to
add one, add a line to `_COMMANDS`. What a user typed, or what a file holds, reaches the terminal
with its control characters escaped.
"""

import os
import sys

import click

from dedup_filter.commands import LazyGroup
from dedup_filter.errors import DedupError
from dedup_filter.wording import printable

__all__ = ["main"]

_COMMANDS = {
    "clusters": (
        "fingerprints",
        "Which fingerprints belong together, directly or through others.",
    ),
    "index": ("index", "What an index holds; check it, seed it, move it, mend it."),
    "near": ("fingerprints", "Which stored fingerprints are near to each of those asked for."),
    "pairs": ("fingerprints", "All pairs of fingerprints that are near to one another."),
    "plan": ("plan", "Which tables an index needs for so many pages, and what they cost."),
}
"""Name -> its module, and what it does."""

_INTERRUPTED = 130
_PIPE_CLOSED = 141


class _PipeClosedError(Exception):
    """Nobody reads the output any more."""


class _Commands(LazyGroup):
    """The commands; click would exit with 1 when nobody reads any more."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _PipeClosedError from error


@click.command(
    cls=_Commands,
    modules=_COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="dedup-filter", prog_name="dedup-filter")
def _cli() -> None:
    """Find near-duplicates among 64-bit fingerprints, and look after indexes.

    Fingerprints are read one a line, decimal or hexadecimal (0x...), from a file or from
    standard input (-). Results are JSON, one value a line.

    \b
    Exit codes: 0 done, 1 failed, or the answer is no, 2 wrong options or input,
    130 Ctrl-C, 141 nobody reads the output any more.
    """  # noqa: D301 - click must see the character


def main() -> None:
    """Run the command that the arguments name, and exit."""
    try:
        code = _cli.main(prog_name="dedup-filter", standalone_mode=False)
        sys.stdout.flush()
    except click.UsageError as error:
        usage = error.ctx.get_usage() + "\n" if error.ctx else ""
        code = _fail(f"{usage}Error: {error.format_message()}", error.exit_code)
    except click.ClickException as error:
        code = _fail(f"Error: {error.format_message()}", error.exit_code)
    except DedupError as error:
        code = _fail(f"Error: {error}", 2)
    except (KeyboardInterrupt, click.Abort):
        code = _INTERRUPTED
    except (_PipeClosedError, BrokenPipeError):
        code = _PIPE_CLOSED
    except (OSError, MemoryError) as error:
        code = _fail(f"Error: {error or 'out of memory'}", 1)
    _leave(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> int:
    for line in message.split("\n"):
        print(printable(line), file=sys.stderr)  # noqa: T201 - this is what a command line does
    return code


def _leave(code: int) -> None:
    """Exit; what cannot be written any more is left, without a word from the interpreter."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
