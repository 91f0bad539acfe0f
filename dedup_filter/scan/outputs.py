"""Inputs and the verdicts on their records -> the kept pages, and the duplicates.

    lines     each line byte for byte, in the compression that the output's name says
    parquet   rows with the columns, types and compression of the first file
    warc      records byte for byte, with all records that are not pages

A duplicate is written with its mark, the field or column "dedup": the verdict as in
`Verdict.as_json`. With `mark`, all pages are written with marks to one output. WARC records cannot
hold a mark; instead a line of JSON has the position of the record:

    {"url": ..., "file": ..., "start": 1024, "end": 4096, "dedup": {...}}

Bad records are left out.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from dedup_filter.model import REPEATS
from dedup_filter.scan.inputs import Format
from dedup_filter.scan.parquet import ParquetOutput, ParquetRows
from dedup_filter.scan.streams import Stream, compressed_to
from dedup_filter.scan.verdict_log import BAD, NOT_PAGE, Entry

MARK = "dedup"
_MOST_SHOWN = 10
_CHUNK = 2**20
_UNITS: dict[Format, str] = {"lines": "line", "parquet": "row", "warc": "byte"}


class Summary(NamedTuple):
    """The outcomes of the records."""

    pages: int
    kept: int
    outcomes: dict[str, int]
    """Pages by outcome."""
    reasons: dict[str, int]
    """Unjudged pages by reason."""
    without_url: int
    """Pages without a URL: they are judged as pages of one host."""
    bad: int
    """Bad records."""
    first_bad: list[str]
    """Position and problem of the first bad records."""
    not_pages: Mapping[str, int] = {}
    """Records of WARC files that are no pages, by what they are; they are kept."""


class Target(NamedTuple):
    """An open file, and the name that it will have."""

    name: str
    file: BinaryIO


class Wanted(NamedTuple):
    """Which pages are written, and where."""

    kept: Target
    dropped: Target | None
    mark: bool = False
    """Whether dropped pages are written to `kept`, too, and all pages with marks."""
    repeats: Collection[str] = REPEATS
    """The outcomes of pages that are dropped."""


def write_outputs(
    kind: Format, files: Sequence[tuple[str, Path]], entries: Iterable[Entry], wanted: Wanted
) -> Summary:
    """Write the records of files, given as (name, path).

    Raises:
        DedupError: an input cannot be read.
        OSError: an output cannot be written.
    """
    outcomes, reasons, not_pages = Counter[str](), Counter[str](), Counter[str]()
    first_bad: list[str] = []
    without_url = 0

    def counted() -> Iterator[Entry]:
        nonlocal without_url
        for entry in entries:
            outcome, reason = entry.outcome, entry.found.get("reason")
            outcomes[outcome] += 1
            if outcome == NOT_PAGE:
                not_pages[str(reason)] += 1
            elif outcome == BAD:
                if len(first_bad) < _MOST_SHOWN:
                    place = f"{files[entry.file][0]}, {_UNITS[kind]} {entry.number}"
                    first_bad.append(f"{place}: {reason}")
            else:
                without_url += not entry.url
                if reason is not None:
                    reasons[reason] += 1
            yield entry

    with ExitStack() as opened:
        writers: dict[Format, type[_Lines | _Rows]]
        writers = {"lines": _Lines, "parquet": _Rows, "warc": _Records}
        writer = writers[kind](wanted, opened)
        groups = groupby(counted(), lambda entry: entry.file)
        number, group = next(groups, (len(files), iter(())))
        for place, (name, path) in enumerate(files):
            if place < number:  # it has neither pages nor bad records
                writer.add(name, path, iter(()))
            else:
                writer.add(name, path, group)
                number, group = next(groups, (len(files), iter(())))
    bad = outcomes.pop(BAD, 0)
    del outcomes[NOT_PAGE]
    pages = outcomes.total()
    kept = pages - sum(outcomes[each] for each in wanted.repeats)
    counts = dict(outcomes), dict(reasons), without_url, bad, first_bad, dict(not_pages)
    return Summary(pages, kept, *counts)


class _Lines:
    """Writes lines; a line without an end gets one."""

    _writes_lines = True
    """Whether pages without a mark are lines, too."""

    def __init__(self, wanted: Wanted, opened: ExitStack) -> None:
        self._wanted = wanted
        self._kept = _lines_to(wanted.kept if self._writes_lines or wanted.mark else None, opened)
        self._dropped = _lines_to(wanted.dropped, opened)

    def add(self, name: str, path: Path, entries: Iterator[Entry]) -> None:  # noqa: ARG002
        with Stream(path) as stream:
            for entry in entries:
                if entry.outcome == BAD:
                    continue
                stream.seek(entry.start)
                line = stream.read(entry.end - entry.start)
                if self._wanted.mark or entry.outcome in self._wanted.repeats:
                    self.write_mark(entry, marked(line, entry.mark))
                else:
                    self._kept(line if line.endswith(b"\n") else line + b"\n")

    def write_mark(self, entry: Entry, line: bytes) -> None:
        """Write a page that is not written as it is."""
        if self._wanted.mark:
            self._kept(line)
        if entry.outcome in self._wanted.repeats:
            self._dropped(line)


class _Records(_Lines):
    """Writes all of WARC files but bad records and dropped pages; or lines, with marks."""

    _writes_lines = False

    def add(self, name: str, path: Path, entries: Iterator[Entry]) -> None:
        with path.open("rb") as file:
            for entry in entries:
                is_repeat = entry.outcome in self._wanted.repeats
                if is_repeat or entry.outcome == BAD:
                    self._copy(file, entry.start)
                    file.seek(entry.end)
                is_page = entry.outcome not in (BAD, NOT_PAGE)
                if is_page and (is_repeat or self._wanted.mark):
                    place = {"url": entry.url, "file": name, "start": entry.start, "end": entry.end}
                    self.write_mark(entry, json.dumps({**place, MARK: entry.mark}).encode() + b"\n")
            self._copy(file, path.stat().st_size)

    def _copy(self, file: BinaryIO, end: int) -> None:
        """Copy the file from its position on."""
        if not self._wanted.mark:
            while count := min(end - file.tell(), _CHUNK):
                self._wanted.kept.file.write(file.read(count))


def _lines_to(target: Target | None, opened: ExitStack) -> Callable[[bytes], object]:
    """Return what writes to a target, compressed as its name says."""
    if target is None:
        return bytes
    made = compressed_to(target.file, target.name)
    if made is not target.file:
        opened.callback(made.close)
    return made.write


def marked(line: bytes, mark: Mapping[str, Any]) -> bytes:
    """Add a mark to a JSON object, replacing an older mark; all else is unchanged."""
    body = line.rstrip()
    # Most lines need not be parsed. A line may have a mark already, with a letter of its name
    # written as \u0064; a line without a colon has no field.
    may_have_mark = MARK.encode() in body or b"\\u00" in body
    if may_have_mark or b":" not in body or not body.endswith(b"}"):
        item = json.loads(line)
        if not item or MARK in item or not body.endswith(b"}"):
            return json.dumps({**item, MARK: mark}).encode() + b"\n"
    end = line[len(body) :].rstrip(b"\n") + b"\n"
    return b'%b, "%b": %b}%b' % (body[:-1].rstrip(), MARK.encode(), json.dumps(mark).encode(), end)


class _Rows:
    """Writes rows of Parquet files, which have the same columns."""

    def __init__(self, wanted: Wanted, opened: ExitStack) -> None:
        self._wanted, self._opened = wanted, opened
        self._kept: ParquetOutput | None = None
        self._dropped: ParquetOutput | None = None

    def add(self, name: str, path: Path, entries: Iterator[Entry]) -> None:  # noqa: ARG002
        first = list(islice(entries, 1))
        if first and first[0].outcome == BAD:  # the whole file is bad
            return
        entries = chain(first, entries)
        wanted = self._wanted
        with ParquetRows(path) as rows:
            if self._kept is None:
                self._kept = self._output(wanted.kept, rows, is_marked=wanted.mark)
                if wanted.dropped is not None:
                    self._dropped = self._output(wanted.dropped, rows, is_marked=True)
            for batch in rows.batches():
                found = [*islice(entries, len(batch))]
                marks = [each.mark for each in found]
                repeats = [each.outcome in wanted.repeats for each in found]
                self._kept.write(batch, marks, [wanted.mark or not each for each in repeats])
                if self._dropped is not None:
                    self._dropped.write(batch, marks, repeats)

    def _output(self, target: Target, like: ParquetRows, *, is_marked: bool) -> ParquetOutput:
        output = ParquetOutput(target.file, like, MARK if is_marked else None)
        self._opened.callback(output.close)
        return output
