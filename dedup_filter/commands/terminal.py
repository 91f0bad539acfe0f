"""What is shown to people: text without control characters, sizes, times, bars of progress."""

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import BinaryIO, TypeVar

import click

__all__ = ["as_bytes", "as_time", "by_outcome", "printable", "say", "watched", "watched_file"]

T = TypeVar("T")

_SAID = {"revisit": "revisited"}


def printable(text: str) -> str:
    r"""Escape what a terminal would obey, but for line ends.

    >>> printable("https://example.com/\x1b[31m")
    'https://example.com/\\x1b[31m'
    """
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def say(text: str) -> None:
    """Write a line for people on standard output."""
    sys.stdout.write(_encodable(printable(text).replace("\n", "\\n")) + "\n")


def by_outcome(counts: Mapping[str, int]) -> str:
    """Write how many pages had which outcome.

    >>> by_outcome({"new": 1_200, "revisit": 3}), by_outcome({})
    ('1,200 new, 3 revisited', 'none')
    """
    shown = (f"{count:,} {_SAID.get(name, name)}" for name, count in sorted(counts.items()))
    return ", ".join(shown) or "none"


def as_bytes(count: int) -> str:
    """Write a size.

    >>> as_bytes(999), as_bytes(1_234_567)
    ('999 bytes', '1.23 MB')
    """
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count} bytes"


def as_time(seconds: int | None) -> str | None:
    """Write Unix seconds as ISO 8601 in UTC.

    >>> as_time(1_700_000_000)
    '2023-11-14T22:13:20Z'
    """
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


@contextmanager
def watched(values: Iterable[T], count: int, label: str) -> Iterator[Iterable[T]]:
    """Show on a terminal how many values have passed; elsewhere nothing."""
    if not sys.stderr.isatty():
        yield values
        return
    with click.progressbar(values, length=count, label=label, file=sys.stderr) as bar:
        yield bar


@contextmanager
def watched_file(
    lines: Iterable[tuple[int, T]], file: BinaryIO, label: str
) -> Iterator[Iterable[T]]:
    """Show on a terminal how much of a file has passed; lines come with their bytes."""
    if not sys.stderr.isatty():
        yield (line for _, line in lines)
        return
    size = _size(file)
    if size is None:
        unsized = (line for _, line in lines)
        with click.progressbar(unsized, label=label, show_pos=True, file=sys.stderr) as bar:
            yield bar
        return
    with click.progressbar(
        length=size, label=label, file=sys.stderr, update_min_steps=size // 1000 + 1
    ) as sized:
        yield _counted(lines, sized.update)


def _counted(lines: Iterable[tuple[int, T]], update: Callable[[int], None]) -> Iterator[T]:
    for size, line in lines:
        yield line
        update(size)


def _size(file: BinaryIO) -> int | None:
    """Return the length of an ordinary file; of a pipe nobody knows it."""
    status = os.fstat(file.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) and status.st_size else None


def _encodable(text: str) -> str:
    """Replace what the output's encoding does not have, instead of ending in an error."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)
