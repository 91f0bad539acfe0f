"""Sections for people: a heading, and below it lines that fit a terminal.

    TEXT KEPT (231 words)
      The committee met on Tuesday ...

A line has at most `COLUMNS` columns; a Chinese character takes two, a mark on a letter none.
Control characters and the like are escaped before lines are cut.
"""

from collections.abc import Iterable
from unicodedata import combining, east_asian_width

import click

from dedup_filter.commands import say
from dedup_filter.wording import printable

Word = tuple[str, bool, str | None]
"""A text of a line, whether a space stands before it, and its colour."""
COLUMNS = 100
_INDENT = 2


def head(text: str) -> None:
    """Begin a section."""
    say("")
    paragraph(text, 0)


def section(title: str, paragraphs: Iterable[str]) -> None:
    """Write a section."""
    head(title)
    for each in paragraphs:
        paragraph(each)


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
    words: list[Word] = []
    for word in printable(" ".join(text.split())).split(" "):
        # Long or wide words are cut between their characters.
        parts = [word] if columns_of(word) == len(word) < columns else word
        words += [(part, not place, None) for place, part in enumerate(parts)]
    return [line for line in filled(words, columns) if line]


def filled(words: Iterable[Word], columns: int) -> list[str]:
    """Put words into lines of at most `columns` columns."""
    lines, width = [""], 0
    for text, is_apart, colour in words:
        gap = " " if is_apart and width else ""
        if width + columns_of(gap + text) > columns:
            lines.append("")
            width, gap = 0, ""
        lines[-1] += gap + (click.style(text, fg=colour) if colour else text)
        width += columns_of(gap + text)
    return lines


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)
