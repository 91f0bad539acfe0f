"""Files and standard streams: input opened, JSON and text written, progress shown."""

import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeVar

import click

from dedup_filter.wording import printable

__all__ = [
    "BadInput",
    "as_bytes",
    "by_outcome",
    "opened",
    "progress",
    "say",
    "scaled",
    "write_lines",
]

T = TypeVar("T")


class BadInput(click.ClickException):
    """A file cannot be read, or holds something else than is wanted."""

    exit_code = 2


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """Open a file for reading; "-" is standard input.

    Raises:
        BadInput: it cannot be opened or read.
    """
    try:
        if path == "-":
            yield sys.stdin.buffer
        else:
            with open(path, "rb") as file:  # noqa: PTH123 - a path like /dev/fd/63 as well
                yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise BadInput(f"cannot read {path!r}: {error.strerror}") from error


def write_lines(values: Iterable[Any]) -> None:
    """Write each value as a line of JSON on standard output, and flush.

    Raises:
        BrokenPipeError: nobody reads them any more.
    """
    sys.stdout.writelines(json.dumps(value) + "\n" for value in values)
    sys.stdout.flush()


def say(text: str) -> None:
    """Write a line for people on standard output, in whatever encoding that has."""
    encoding = sys.stdout.encoding or "utf-8"
    shown = printable(text).encode(encoding, "backslashreplace").decode(encoding)
    sys.stdout.write(f"{shown}\n")


def by_outcome(counts: Mapping[str, int]) -> str:
    """Write how many pages had which outcome.

    >>> by_outcome({"new": 1_200, "revisit": 3}), by_outcome({})
    ('1,200 new, 3 revisited', 'none')
    """
    shown = {name: name for name in counts} | {"revisit": "revisited"}
    return ", ".join(f"{counts[name]:,} {shown[name]}" for name in sorted(counts)) or "none"


def scaled(value: float, units: Mapping[str, float]) -> str | None:
    """Write a value in the first unit that it reaches, None if it reaches none.

    >>> scaled(1_500, {"M": 1e6, "k": 1e3})
    '1.5 k'
    """
    reached = (unit for unit, factor in units.items() if value >= factor)
    unit = next(reached, None)
    return None if unit is None else f"{value / units[unit]:,.3g} {unit}"


def as_bytes(count: int) -> str:
    """Write a size.

    >>> as_bytes(999), as_bytes(1_234_567)
    ('999 bytes', '1.23 MB')
    """
    return scaled(count, {"GB": 1e9, "MB": 1e6, "kB": 1e3}) or f"{count} bytes"


@contextmanager
def progress(
    values: Iterable[T], label: str, total: int | None, size: Callable[[T], int] = lambda _: 1
) -> Iterator[Iterable[T]]:
    """Show on a terminal how much of a total has passed, elsewhere nothing.

    `size` tells how much of the total a value is. With None for the total values are counted.
    """
    if not sys.stderr.isatty():
        yield values
        return
    with click.progressbar(
        itertools.count() if total is None else None,
        length=total,
        label=label,
        show_pos=total is None,
        file=sys.stderr,
        update_min_steps=(total or 0) // 1000 + 1,
    ) as bar:

        def passing() -> Iterator[T]:
            for value in values:
                yield value
                bar.update(1 if total is None else size(value))

        yield passing()
