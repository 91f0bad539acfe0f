"""A file -> its lines, each with its number, so that a bad one can be named."""

import json
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from dedup_filter.errors import DedupError

__all__ = ["BadLine", "Line", "read_lines"]

_LONGEST_LINE = 128 * 2**20
"""Bytes. The largest page that is judged has 16 MiB of characters, six bytes each if escaped."""


class BadLine(DedupError):  # noqa: N818 - the fault is the name
    """A line of a file is not what is wanted there."""


class Line(NamedTuple):
    """A line of a file."""

    file: str
    number: int
    content: bytes

    def fields(self) -> dict[str, Any]:
        """Read the object of JSON on it.

        Raises:
            BadLine: there is none.
        """
        if len(self.content) >= _LONGEST_LINE:
            raise self.bad(f"is longer than {_LONGEST_LINE // 2**20} MiB")
        try:
            value = json.loads(self.content)
        except (ValueError, RecursionError) as error:
            raise self.bad(f"is not JSON ({error}){self._hint()}") from None
        if not isinstance(value, dict):
            raise self.bad(f"is no JSON object{self._hint()}")
        return value

    def bad(self, why: str) -> BadLine:
        """Make the error that says what is wrong with it."""
        return BadLine(f"{self.file}, line {self.number}: it {why}")

    def _hint(self) -> str:
        if self.number == 1 and self.content[:1] == b"[":
            return "; an object on each line is wanted (a .jsonl feed), not one array"
        return ""


def read_lines(file: BinaryIO, name: str) -> Iterator[Line]:
    """Yield the lines of a file that are not blank; `name` is what messages call it."""
    number = 0
    while content := file.readline(_LONGEST_LINE):
        number += 1
        if not content.isspace():
            yield Line(name, number, content)
        while len(content) == _LONGEST_LINE and content[-1:] != b"\n":  # the rest of it
            content = file.readline(_LONGEST_LINE)
