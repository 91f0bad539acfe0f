"""Sections for people: a heading, and below it lines that fit a terminal.

    TEXT KEPT (231 words)
      The committee met on Tuesday ...

A line has at most `COLUMNS` columns; a Chinese character takes two, a mark on a letter none.
Control characters and the like are escaped before lines are cut.
"""

from collections.abc import Iterator
from unicodedata import combining, east_asian_width

from dedup_filter.commands import say
from dedup_filter.wording import printable

COLUMNS = 100
_INDENT = 2


def head(text: str) -> None:
    """Begin a section."""
    say("")
    paragraph(text, 0)


def entry(name: str, value: str) -> None:
    """Write a named value; further lines stand below the first."""
    first, *others = wrapped(value, COLUMNS - 13) or [""]
    say(f"{name:<12} {first}")
    for line in others:
        say(f"{'':<12} {line}")


def paragraph(text: str, indent: int = _INDENT) -> None:
    """Write a text within a section."""
    for line in wrapped(text, COLUMNS - indent):
        say(f"{'':<{indent}}{line}")


def wrapped(text: str, columns: int) -> list[str]:
    r"""Cut a text into lines of at most `columns` columns, between words if possible.

    >>> wrapped("one two three", 8), wrapped("港口保持开放", 6), wrapped("a\x1b[0m", 9)
    (['one two', 'three'], ['港口保', '持开放'], ['a\\x1b[0m'])
    """
    lines = [""]
    width = 0
    for word in _words(printable(" ".join(text.split())), columns):
        takes = columns_of(word)
        if width + takes > columns:
            lines.append("")
            width = 0
        lines[-1] += word
        width += takes
    return [line.strip(" ") for line in lines if line.strip(" ")]


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def _words(text: str, columns: int) -> Iterator[str]:
    """Yield words, each with a space after it; long or wide words are yielded in characters."""
    for word in text.split(" "):
        if columns_of(word) == len(word) < columns:
            yield f"{word} "
            continue
        yield from f"{word} "
