"""What a scan has found of each record of its inputs, in their order: a file of JSON lines.

    [0, 1024, 4096, 3, "https://example.com/a", {"outcome": "new", "cluster": 3, ...}]
    [0, 4096, 4100, 4, "", {"problem": "is no object of JSON"}]

File, start, end, number and URL of the record (`inputs`), and the verdict or why it is no record;
what would be null is left out. All that is written of the pages follows from it and the inputs.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from dedup_filter.model import Verdict

BAD = "bad"
"""The outcome of a record that is none."""
_MARK = dict.fromkeys(Verdict("new").as_json())


class Entry(NamedTuple):
    """A record and what was found of it."""

    file: int
    """Which of the inputs it is in, from 0."""
    start: int
    end: int
    number: int
    url: str
    found: dict[str, Any]
    """As `found_of` has it, or {"problem": ...}."""

    @property
    def outcome(self) -> str:
        """Outcome of the verdict, or `BAD`."""
        outcome: str = self.found.get("outcome", BAD)
        return outcome

    @property
    def mark(self) -> dict[str, Any]:
        """What is written of it: of `found` what `Verdict.as_json` has."""
        return {name: self.found.get(name) for name in _MARK}


def found_of(verdict: Verdict) -> dict[str, Any]:
    """Return what is noted of a page: its verdict, and what its copies are weighed by."""
    return {**verdict.as_json(), "page": verdict.page, "words": verdict.words}


class VerdictLog:
    """The log at a path, which is appended to.

    Raises:
        OSError: by all methods, when it cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO = path.open("ab")

    def add(self, entry: Entry) -> None:
        """Write an entry; it is there for sure after `flush`."""
        *place, found = entry
        said = {name: value for name, value in found.items() if value is not None}
        self._file.write(json.dumps([*place, said], separators=(",", ":")).encode() + b"\n")

    def flush(self) -> int:
        """Hand all to the system, so that it outlives this process; return the length in bytes."""
        self._file.flush()
        return self._file.tell()

    def cut(self, length: int) -> None:
        """Forget what was written beyond a length."""
        self._file.truncate(length)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def entries_in(path: Path) -> Iterator[Entry]:
    """Yield the entries of a log, in order."""
    with path.open("rb") as file:
        for line in file:
            yield Entry._make(json.loads(line))
