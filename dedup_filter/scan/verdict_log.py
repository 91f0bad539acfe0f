"""The verdict of a scan on each record of its inputs, in their order: a file of JSON lines.

    [0, 1024, 4096, 3, "https://example.com/a", {"outcome": "new", "cluster": 3, ...}]
    [0, 4096, 4100, 4, "", {"problem": "is no object of JSON"}]

File, start, end, number and URL of the record (`inputs`), and the verdict or the problem of a bad
record; null values are left out. The outputs depend only on this log and the inputs.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from dedup_filter.model import Verdict

BAD = "bad"
"""The outcome of a bad record."""
_MARK = dict.fromkeys(Verdict("new").as_json())


class Entry(NamedTuple):
    """The position of a record, and its verdict."""

    file: int
    """The number of its input, from 0."""
    start: int
    end: int
    number: int
    url: str
    found: dict[str, Any]
    """The result of `found_of`, or {"problem": ...}."""

    @property
    def outcome(self) -> str:
        """Outcome of the verdict, or `BAD`."""
        outcome: str = self.found.get("outcome", BAD)
        return outcome

    @property
    def mark(self) -> dict[str, Any]:
        """The mark that is written with the page: the fields of `Verdict.as_json`."""
        return {name: self.found.get(name) for name in _MARK}


def found_of(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict on a page, with the values by which its copies are scored."""
    return {**verdict.as_json(), "page": verdict.page, "words": verdict.words}


class VerdictLog:
    """The log at a path, which is appended to.

    Raises:
        OSError: by all methods, if the log cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO = path.open("ab")

    def add(self, entry: Entry) -> None:
        """Write an entry; only `flush` makes it outlive this process."""
        *place, found = entry
        values = {name: value for name, value in found.items() if value is not None}
        self._file.write(json.dumps([*place, values], separators=(",", ":")).encode() + b"\n")

    def flush(self) -> int:
        """Pass all entries to the operating system; return the length of the log in bytes."""
        self._file.flush()
        return self._file.tell()

    def cut(self, length: int) -> None:
        """Cut the log to a length in bytes."""
        self._file.truncate(length)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def entries_in(path: Path) -> Iterator[Entry]:
    """Yield the entries of a log, in order."""
    with path.open("rb") as file:
        for line in file:
            yield Entry._make(json.loads(line))
