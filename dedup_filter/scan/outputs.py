"""Inputs and the verdicts on their records -> the kept pages, the duplicates, and all pages.

    lines     each line byte for byte, in the compression that the output's name says; an element
              of a list as a line, without its line breaks
    parquet   rows with the columns, types and compression of the first file
    warc      records byte for byte, with all records that are not pages; in the places of dropped
              pages, if they are wanted, revisit records (`revisits`)

Duplicates and all pages are written with marks, the field or column "dedup": the verdict as in
`Verdict.as_json`. WARC records cannot hold a mark; instead a line of JSON has the position of the
record:

    {"url": ..., "file": ..., "start": 1024, "end": 4096, "dedup": {...}}

With `text_out`, a kept page gets its clean text in a field or column of this name (`OwnTexts`).
Lines without a page that can be read stay as they are; rows have null.

Bad records are left out.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.read_page import content_of
from dedup_filter.frames.host_frames import no_context
from dedup_filter.host_cache import HostCache
from dedup_filter.model import Reason, Unjudged
from dedup_filter.scan.files import Format, open_input
from dedup_filter.scan.inputs import Input, read_item
from dedup_filter.scan.json_text import REST, on_one_line
from dedup_filter.scan.parquet import ParquetOutput, ParquetRows
from dedup_filter.scan.revisits import Revisits
from dedup_filter.scan.streams import Stream, compressed_to
from dedup_filter.scan.work import BAD, NOT_PAGE, Entry, Scan
from dedup_filter.store.protocol import Batch, Recorded
from dedup_filter.text.page_fields import PageText, page_in
from dedup_filter.text.page_url import Place
from dedup_filter.text.reading import Page, clean_text

MARK = "dedup"
_MOST_SHOWN = 10
_CHUNK = 2**20
_UNITS: dict[Format, str] = {"lines": "line", "list": "object", "parquet": "row", "warc": "byte"}


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


class OwnTexts:
    """The clean texts of judged pages; `recorded`: the index that has judged them.

    All pages are judged when outputs are written, so the frame of a host is also known for its
    first pages. A page is read once more for its text, without its words. Cost: 2 ms a page of
    100 KB, in one process.
    """

    def __init__(self, recorded: Recorded, config: FilterConfig) -> None:
        self._config = config
        self._hosts = HostCache(recorded, Batch(), config.frame_memory)

    def of(self, place: Place, page: PageText | Reason) -> str | None:
        """Return the text of a page; None: the page cannot be read.

        Raises:
            StoreError: the index cannot be read.
        """
        if isinstance(page, str):
            return None
        content = content_of(page, place, self._config)
        if isinstance(content, Unjudged):
            return None
        if not isinstance(content, Page):
            return clean_text(content, ())
        context = no_context(content.shown)
        if place.host and self._config.learn_frames:
            self._hosts.shrink()
            # The page itself is counted, or an earlier fetch of it that it repeats.
            context = self._hosts.context(place.host, content.shown, 1)
        return clean_text(content, context.times)


class Wanted(NamedTuple):
    """Which pages are written, and where."""

    job: Scan
    files: Sequence[BinaryIO]
    """The open files of `Scan.outputs`."""
    repeats: Collection[str]
    """The outcomes of pages that are dropped."""
    revisits: Revisits | None = None
    """Makes the WARC records that take the places of dropped pages; None: nothing does."""
    texts: OwnTexts | None = None
    """The clean texts of pages, if `Scan.text_out` is set."""

    def file_of(self, path: Path) -> BinaryIO:
        """Return the open file of an output."""
        return self.files[self.job.outputs.index(path)]

    def text_of(self, file: Input, entry: Entry, page: PageText | Reason) -> str | None:
        """Return the clean text of a page; None: it is dropped, or cannot be read."""
        if self.texts is None or entry.outcome in self.repeats:
            return None
        return self.texts.of(file.url_of(entry.url, entry.number), page)


def write_outputs(
    kind: Format, files: Sequence[Input], entries: Iterable[Entry], wanted: Wanted
) -> Summary:
    """Write the records of files; `kind`: the format of the outputs.

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
                    file = files[entry.file]
                    first_bad.append(f"{file.name}, {_UNITS[file.kind]} {entry.number}: {reason}")
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
        for place, file in enumerate(files):
            is_empty = place < number  # it has neither pages nor bad records
            writer.add(file, iter(()) if is_empty else group)
            if not is_empty:
                number, group = next(groups, (len(files), iter(())))
    bad = outcomes.pop(BAD, 0)
    del outcomes[NOT_PAGE]
    pages = outcomes.total()
    kept = pages - sum(outcomes[each] for each in wanted.repeats)
    counts = dict(outcomes), dict(reasons), without_url, bad, first_bad, dict(not_pages)
    return Summary(pages, kept, *counts)


class _Lines:
    """Writes lines; a line without an end gets one."""

    _are_compressed = True
    """Whether pages without a mark are compressed as the output's name says."""

    def __init__(self, wanted: Wanted, opened: ExitStack) -> None:
        job, self._wanted, self._repeats, self._opened = wanted.job, wanted, wanted.repeats, opened
        self._kept = self._file(job.output, is_compressed=self._are_compressed)
        self._dropped, self._marked = self._file(job.duplicates), self._file(job.mark)

    def _file(self, path: Path | None, *, is_compressed: bool = True) -> BinaryIO | None:
        if path is None:
            return None
        file = self._wanted.file_of(path)
        written = compressed_to(file, path.name) if is_compressed else file
        if written is not file:
            self._opened.callback(written.close)
        return written

    def add(self, file: Input, entries: Iterator[Entry]) -> None:
        with Stream(open_input(file.place)) as stream:
            for entry in entries:
                if entry.outcome == BAD:
                    continue
                stream.seek(entry.start)
                line = stream.read(entry.end - entry.start)
                if file.kind == "list":
                    line = on_one_line(line)
                line = self._with_text(line, entry, file)
                if self._kept is not None and entry.outcome not in self._repeats:
                    self._kept.write(line if line.endswith(b"\n") else line + b"\n")
                for marks in self._marks_of(entry):
                    marks.write(with_field(line, MARK, entry.mark))

    def _with_text(self, line: bytes, entry: Entry, file: Input) -> bytes:
        job = self._wanted.job
        if job.text_out is None or entry.outcome in self._repeats:
            return line
        read = read_item(line, job.names)
        text = None if isinstance(read, str) else self._wanted.text_of(file, entry, read[1])
        return line if text is None else with_field(line, job.text_out, text)

    def _marks_of(self, entry: Entry) -> list[BinaryIO]:
        """Return the files that get a page with its mark."""
        dropped = self._dropped if entry.outcome in self._repeats else None
        return [file for file in (dropped, self._marked) if file is not None]


class _Records(_Lines):
    """Writes all of WARC files but bad records and dropped pages; of marks, lines."""

    _are_compressed = False

    def add(self, file: Input, entries: Iterator[Entry]) -> None:
        with open_input(file.place) as content:
            for entry in entries:
                is_repeat = entry.outcome in self._repeats
                if is_repeat or entry.outcome == BAD:
                    self._copy(content, entry.start)
                    content.seek(entry.end)
                if is_repeat and self._wanted.revisits is not None and self._kept is not None:
                    self._kept.write(self._wanted.revisits.record(entry))
                if entry.outcome not in (BAD, NOT_PAGE):
                    line: dict[str, Any] = {"url": entry.url, "file": file.name}
                    line |= {"start": entry.start, "end": entry.end, MARK: entry.mark}
                    for marks in self._marks_of(entry):
                        marks.write(json.dumps(line).encode() + b"\n")
            self._copy(content, REST)

    def _copy(self, file: BinaryIO, end: int) -> None:
        """Copy the file from its position to an offset, or to its end."""
        kept = self._kept
        while kept is not None and (chunk := file.read(min(end - file.tell(), _CHUNK))):
            kept.write(chunk)


def with_field(line: bytes, name: str, value: Any) -> bytes:
    """Add a field to a JSON object, replacing an older one; all else is unchanged."""
    body = line.rstrip()
    # Most lines need not be parsed. A line may have the field already, with a letter of its name
    # written as \u0064; a line without a colon has no field.
    key = json.dumps(name).encode()
    may_have_it = key[1:-1] in body or b"\\u00" in body or not name.isascii()
    if may_have_it or b":" not in body or not body.endswith(b"}"):
        item = json.loads(line)
        if not item or name in item or not body.endswith(b"}"):
            return json.dumps({**item, name: value}).encode() + b"\n"
    end = line[len(body) :].rstrip(b"\n") + b"\n"
    return b"%b, %b: %b}%b" % (body[:-1].rstrip(), key, json.dumps(value).encode(), end)


class _Rows:
    """Writes rows of Parquet files, which have the same columns."""

    def __init__(self, wanted: Wanted, opened: ExitStack) -> None:
        self._wanted, self._opened = wanted, opened
        self._outputs: dict[Path | None, ParquetOutput] = {}

    def add(self, file: Input, entries: Iterator[Entry]) -> None:
        first = list(islice(entries, 1))
        if first and first[0].outcome == BAD:  # the whole file is bad
            return
        entries = chain(first, entries)
        job, repeats, text_out = self._wanted.job, self._wanted.repeats, self._wanted.job.text_out
        with ParquetRows(file.place) as rows:
            if not self._outputs:
                for path in job.outputs:
                    mark = None if path == job.output else MARK
                    text = None if path == job.duplicates else text_out
                    output = ParquetOutput(self._wanted.file_of(path), rows, mark, text)
                    self._opened.callback(output.close)
                    self._outputs[path] = output
            for batch in rows.batches():
                found = [*islice(entries, len(batch))]
                values: dict[str, Sequence[Any]] = {MARK: [each.mark for each in found]}
                if text_out is not None:
                    values[text_out] = self._texts(batch, found, rows, file)
                are_repeats = [entry.outcome in repeats for entry in found]
                are_written: dict[Path | None, list[bool]] = {
                    job.output: [not each for each in are_repeats],
                    job.duplicates: are_repeats,
                    job.mark: [True] * len(found),
                }
                for written, output in self._outputs.items():
                    output.write(batch, values, are_written[written])

    def _texts(
        self, batch: Any, found: Sequence[Entry], rows: ParquetRows, file: Input
    ) -> list[str | None]:
        names, text_of = self._wanted.job.names, self._wanted.text_of
        items = batch.select(rows.columns(names)).to_pylist()
        pages = (page_in(item, names) for item in items)
        return [text_of(file, *each) for each in zip(found, pages, strict=True)]
