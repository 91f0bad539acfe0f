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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from dedup_filter.model import REPEATS
from dedup_filter.scan.inputs import Format, Record
from dedup_filter.scan.parquet import ParquetOutput, ParquetRows
from dedup_filter.scan.streams import Stream, compressed_to
from dedup_filter.scan.verdict_log import BAD, Entry

MARK = "dedup"
_MOST_SHOWN = 10


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
    outcomes, reasons, bad = Counter[str](), Counter[str](), list[str]()
    without_url = 0

    def counted() -> Iterator[Entry]:
        nonlocal without_url
        for entry in entries:
            outcomes[entry.outcome] += 1
            without_url += entry.outcome != BAD and not entry.url
            if "reason" in entry.found:
                reasons[entry.found["reason"]] += 1
            if entry.outcome == BAD and len(bad) < _MOST_SHOWN:
                bad.append(f"{where(kind, files[entry.file][0], entry)} {entry.found['problem']}")
            yield entry

    with ExitStack() as opened:
        writer: _Rows | _Bytes
        if kind == "parquet":
            writer = _Rows(wanted, opened)
        else:
            writer = _Bytes(wanted, opened, has_lines=kind == "lines")
        groups = groupby(counted(), lambda entry: entry.file)
        group = next(groups, None)
        for number, (name, path) in enumerate(files):
            if group is None or group[0] != number:
                writer.add(name, path, iter(()))
            else:
                writer.add(name, path, group[1])
                group = next(groups, None)
    count = outcomes.pop(BAD, 0)
    pages = outcomes.total()
    dropped_pages = sum(outcomes[each] for each in wanted.repeats)
    kept = pages - dropped_pages
    return Summary(pages, kept, dict(outcomes), dict(reasons), without_url, count, bad)


def where(kind: Format, name: str, record: Record | Entry) -> str:
    """Describe the position of a record."""
    unit = {"lines": "line", "parquet": "row", "warc": "byte"}[kind]
    return f"{name}, {unit} {record.number}:"


class _Bytes:
    """Writes lines and WARC records."""

    def __init__(self, wanted: Wanted, opened: ExitStack, *, has_lines: bool) -> None:
        self._has_lines, self._mark, self._repeats = has_lines, wanted.mark, wanted.repeats

        def out(target: Target | None, *, is_raw: bool) -> "_Out":
            if target is None:
                return _Out(None)
            made = target.file if is_raw else compressed_to(target.file, target.name)
            if made is not target.file:
                opened.callback(made.close)
            return _Out(made)

        self._kept = out(wanted.kept, is_raw=not (has_lines or wanted.mark))
        self._dropped = out(wanted.dropped, is_raw=False)

    def add(self, name: str, path: Path, entries: Iterator[Entry]) -> None:
        # Records of WARC files are copied in compressed form.
        copies_rest = not (self._mark or self._has_lines)
        with Stream.open(path, as_it_is=not self._has_lines) as stream:
            place = 0
            for entry in entries:
                start = max(place, entry.start)
                for rest in stream.chunks(start - place):
                    if copies_rest:
                        self._kept.write(rest)
                place = max(place, entry.end)
                if entry.outcome == BAD:
                    stream.skip(place - start)
                else:
                    self._put(name, entry, stream.read(place - start))
            for rest in stream.chunks() if copies_rest else ():
                self._kept.write(rest)

    def _put(self, name: str, entry: Entry, raw: bytes) -> None:
        is_repeat = entry.outcome in self._repeats
        write = self._kept.write_line if self._has_lines else self._kept.write
        if not (self._mark or is_repeat):
            write(raw)
            return
        if self._has_lines:
            line = marked(raw, entry.mark)
        else:
            place = {"url": entry.url, "file": name, "start": entry.start, "end": entry.end}
            line = json.dumps({**place, MARK: entry.mark}).encode() + b"\n"
        if self._mark:
            self._kept.write_line(line)
        if is_repeat:
            self._dropped.write_line(line)


class _Out:
    """An output in bytes; a line without an end gets one before the next line."""

    def __init__(self, file: BinaryIO | None) -> None:
        self._file = file
        self._is_open = False

    def write(self, raw: bytes) -> None:
        if self._file is not None:
            self._file.write(raw)

    def write_line(self, line: bytes) -> None:
        if self._is_open:
            self.write(b"\n")
        self.write(line)
        self._is_open = not line.endswith(b"\n")


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
    return b'%b, "%b": %b}%b' % (
        body[:-1].rstrip(),
        MARK.encode(),
        json.dumps(mark).encode(),
        line[len(body) :] or b"\n",
    )


class _Rows:
    """Writes rows of Parquet files, which have the same columns."""

    def __init__(self, wanted: Wanted, opened: ExitStack) -> None:
        self._wanted, self._opened = wanted, opened
        self._outputs: list[ParquetOutput] = []

    def add(self, name: str, path: Path, entries: Iterator[Entry]) -> None:  # noqa: ARG002 - as of `_Bytes`
        first = list(islice(entries, 1))
        if first and first[0].outcome == BAD:  # the whole file is bad
            return
        entries = chain(first, entries)
        with ParquetRows(path) as rows:
            if not self._outputs:
                self._open(rows)
            kept, *dropped = self._outputs
            for batch in rows.batches():
                found = [*islice(entries, len(batch))]
                marks = [each.mark for each in found]
                repeats = [each.outcome in self._wanted.repeats for each in found]
                kept.write(batch, marks, [self._wanted.mark or not each for each in repeats])
                for output in dropped:
                    output.write(batch, marks, repeats)

    def _open(self, rows: ParquetRows) -> None:
        kept, dropped = self._wanted.kept, self._wanted.dropped
        self._outputs = [ParquetOutput(kept.file, rows, MARK if self._wanted.mark else None)]
        if dropped is not None:
            self._outputs.append(ParquetOutput(dropped.file, rows, MARK))
        for output in self._outputs:
            self._opened.callback(output.close)
