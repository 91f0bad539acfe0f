"""The verdict of a scan on each record of its inputs, in their order: a file of JSON lines.

    [0, 1024, 4096, 3, "https://example.com/a", {"outcome": "new", "cluster": 3, ...}]
    [0, 4096, 4100, 4, "", {"outcome": "bad", "reason": "is no object of JSON"}]

File, start, end, number and URL of the record (`inputs`), and the verdict, or why the record has no
page; null values are left out. The outputs depend only on this log, the index and the inputs.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dedup_filter.model import REPEATS, Verdict
from dedup_filter.scan.inputs import Record
from dedup_filter.text.page_url import url_key

BAD, NOT_PAGE = "bad", "not_page"
"""The outcomes of records without a page."""
_MARK = [*Verdict("new").as_json()]


class Entry(NamedTuple):
    """The position of a record, and its verdict."""

    file: int
    """The number of its input, from 0."""
    start: int
    end: int
    number: int
    url: str
    found: dict[str, Any]
    """The result of `found_of`."""

    @property
    def outcome(self) -> str:
        """Outcome of the verdict, `BAD` or `NOT_PAGE`."""
        outcome: str = self.found["outcome"]
        return outcome

    @property
    def line(self) -> bytes:
        """The line of the log."""
        *place, found = self
        values = {name: value for name, value in found.items() if value is not None}
        return json.dumps([*place, values], separators=(",", ":")).encode() + b"\n"

    @property
    def mark(self) -> dict[str, Any]:
        """The mark that is written with the page: the fields of `Verdict.as_json`."""
        return {name: self.found.get(name) for name in _MARK}

    @property
    def kept_page(self) -> int | None:
        """The number of the page that this page repeats; its own number if it was kept.

        None: a bad record, or a page that an earlier scan has kept.
        """
        if self.outcome in REPEATS:
            return int(self.found["cluster"])
        return self.found.get("page") if self.outcome in ("new", "unjudged") else None


def found_of(record: Record, verdict: Verdict) -> dict[str, Any]:
    """Return the verdict on a page, and the values by which its copies are scored.

    They are `page` (its number), `words` and `named` (the key of its canonical URL).
    """
    if record.problem or record.not_page:
        outcome = BAD if record.problem else NOT_PAGE
        return {"outcome": outcome, "reason": record.problem or record.not_page}
    named = None if verdict.canonical is None else url_key(verdict.canonical)
    return {**verdict.as_json(), "page": verdict.page, "words": verdict.words, "named": named}


def entries_in(path: Path) -> Iterator[Entry]:
    """Yield the entries of a log, in order."""
    with path.open("rb") as file:
        for line in file:
            yield Entry._make(json.loads(line))
