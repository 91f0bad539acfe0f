"""Inputs and what was found of their records -> the pages that are kept, and those that are not.

    lines     each byte for byte as it came, in the compression that the output is named by
    parquet   rows with the columns, types and compression of the first file
    warc      records byte for byte, and all that is no page as well

A duplicate is written with its mark, the field or column "dedup": the verdict as `Verdict.as_json`
has it. With `mark` all pages are, to one output. WARC records have no room for a mark; in place of
such a one a line of JSON tells where it stands:

    {"url": ..., "file": ..., "start": 1024, "end": 4096, "dedup": {...}}

Records that are none are left out.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import groupby, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from dedup_filter.scan.inputs import Format, Record
from dedup_filter.scan.parquet import ParquetOutput, ParquetRows
from dedup_filter.scan.streams import Stream, compressed_to
from dedup_filter.scan.verdict_log import BAD, REPEATS, Entry

MARK = "dedup"
_MOST_SHOWN = 10


class Summary(NamedTuple):
    """What has become of the records."""

    pages: int
    kept: int
    outcomes: dict[str, int]
    """Of the pages."""
    reasons: dict[str, int]
    """Why pages were not judged."""
    bad: int
    """Records that are none."""
    first_bad: list[str]
    """Where the first of them are, and why they are none."""


class Target(NamedTuple):
    """A file to be written, and the name that it will have."""

    name: str
    file: BinaryIO


def write_outputs(
    kind: Format,
    files: Sequence[tuple[str, Path]],
    entries: Iterable[Entry],
    kept: Target,
    dropped: Target | None,
    *,
    mark: bool,
) -> Summary:
    """Write the records of files, which are told by their names and paths.

    Raises:
        DedupError: an input cannot be read.
        OSError: an output cannot be written.
    """
    outcomes, reasons, bad = Counter[str](), Counter[str](), list[str]()

    def counted() -> Iterator[Entry]:
        for entry in entries:
            outcomes[entry.outcome] += 1
            if "reason" in entry.found:
                reasons[entry.found["reason"]] += 1
            if entry.outcome == BAD and len(bad) < _MOST_SHOWN:
                bad.append(f"{where(kind, files[entry.file][0], entry)} {entry.found['problem']}")
            yield entry

    with ExitStack() as opened:
        writer: _Rows | _Bytes
        if kind == "parquet":
            writer = _Rows(kept, dropped, opened, mark=mark)
        else:
            writer = _Bytes(kind, kept, dropped, opened, mark=mark)
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
    dropped_pages = sum(outcomes[each] for each in REPEATS)
    return Summary(pages, pages - dropped_pages, dict(outcomes), dict(reasons), count, bad)


def where(kind: Format, name: str, record: Record | Entry) -> str:
    """Say where a record stands."""
    unit = {"lines": "line", "parquet": "row", "warc": "byte"}[kind]
    return f"{name}, {unit} {record.number}:"


class _Bytes:
    """Writes lines and WARC records."""

    def __init__(
        self, kind: Format, kept: Target, dropped: Target | None, opened: ExitStack, *, mark: bool
    ) -> None:
        self._has_lines = kind == "lines"
        self._mark = mark

        def out(target: Target | None, *, is_raw: bool) -> "_Out":
            if target is None:
                return _Out(None)
            made = target.file if is_raw else compressed_to(target.file, target.name)
            if made is not target.file:
                opened.callback(made.close)
            return _Out(made)

        self._kept = out(kept, is_raw=not (self._has_lines or mark))
        self._dropped = out(dropped, is_raw=False)

    def add(self, name: str, path: Path, entries: Iterator[Entry]) -> None:
        # Of WARC files the compressed records are copied.
        copies_rest = not (self._mark or self._has_lines)
        with Stream.open(path, as_it_is=not self._has_lines) as stream:
            place = 0
            for entry in entries:
                start = max(place, entry.start)
                for rest in stream.chunks(start - place):
                    if copies_rest:
                        self._kept.write(rest)
                place = max(place, entry.end)
                self._put(name, entry, stream.read(place - start))
            for rest in stream.chunks() if copies_rest else ():
                self._kept.write(rest)

    def _put(self, name: str, entry: Entry, raw: bytes) -> None:
        if entry.outcome == BAD:
            return
        write = self._kept.write_line if self._has_lines else self._kept.write
        if not (self._mark or entry.is_duplicate):
            write(raw)
            return
        if self._has_lines:
            marked = _marked(raw, entry.mark)
        else:
            place = {"url": entry.url, "file": name, "start": entry.start, "end": entry.end}
            marked = json.dumps({**place, MARK: entry.mark}).encode() + b"\n"
        if self._mark:
            self._kept.write_line(marked)
        if entry.is_duplicate:
            self._dropped.write_line(marked)


class _Out:
    """An output in bytes; lines that have no end get one before the next."""

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


def _marked(line: bytes, mark: Mapping[str, Any]) -> bytes:
    """Add a mark to an object of JSON, and leave all else of it as it is."""
    item, body = json.loads(line), line.rstrip()
    if not item or MARK in item or not body.endswith(b"}"):
        return json.dumps({**item, MARK: mark}).encode() + b"\n"
    return b'%b, "%b": %b}%b' % (
        body[:-1].rstrip(),
        MARK.encode(),
        json.dumps(mark).encode(),
        line[len(body) :],
    )


class _Rows:
    """Writes rows of Parquet files, which have the same columns."""

    def __init__(
        self, kept: Target, dropped: Target | None, opened: ExitStack, *, mark: bool
    ) -> None:
        self._kept, self._dropped = kept.file, None if dropped is None else dropped.file
        self._opened = opened
        self._mark = mark
        self._outputs: list[ParquetOutput] = []

    def add(self, name: str, path: Path, entries: Iterator[Entry]) -> None:  # noqa: ARG002 - as of `_Bytes`
        with ParquetRows(path) as rows:
            if not self._outputs:
                self._open(rows)
            kept, *dropped = self._outputs
            for batch in rows.batches():
                found = [*islice(entries, len(batch))]
                marks = [each.mark for each in found]
                kept.write(batch, marks, [self._mark or not each.is_duplicate for each in found])
                for output in dropped:
                    output.write(batch, marks, [each.is_duplicate for each in found])

    def _open(self, rows: ParquetRows) -> None:
        self._outputs = [ParquetOutput(self._kept, rows, MARK if self._mark else None)]
        if self._dropped is not None:
            self._outputs.append(ParquetOutput(self._dropped, rows, MARK))
        for output in self._outputs:
            self._opened.callback(output.close)
