"""Files of a crawl -> their records, one by one, each with its page and its position.

    lines     a JSON object in each line; plain, gzip or Zstandard, whatever the name
    parquet   a row for each page (`parquet`); a file that is cut off counts as one bad record
    warc      responses with HTML or plain text (needs warcio)

A bad record is skipped, and its `problem` says why; a good record may have a page that cannot be
judged. After a bad record, reading continues if possible. Only the current record is in memory (64
rows of Parquet); a line may have 128 MiB.

The position of a record is counted from 0: in bytes of the file, for lines in decompressed bytes,
for Parquet in rows. Reading can begin after any record. There are no pages between two records:
only blank lines, and in WARC files requests, images and the like.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from dedup_filter.errors import ConfigError, DedupError
from dedup_filter.model import Reason
from dedup_filter.scan.parquet import DamagedFileError, ParquetRows
from dedup_filter.scan.streams import Stream
from dedup_filter.text.decode import decode
from dedup_filter.text.page_fields import (
    FieldNames,
    PageText,
    names_in,
    page_in,
    path_to,
    url_in,
    value_at,
)
from dedup_filter.text.reading import MAX_PAGE_LENGTH
from dedup_filter.upkeep.lines import LONGEST_LINE
from dedup_filter.warc.warc_record import ArchivedPage, Damage, WarcRecord

Format = Literal["lines", "parquet", "warc"]

_ENDINGS: dict[str, Format] = {
    ".parquet": "parquet",
    **dict.fromkeys((".warc", ".warc.gz", ".arc", ".arc.gz"), "warc"),
    **{
        f"{name}{packed}": "lines"
        for name in (".jsonl", ".jl", ".ndjson", ".json")
        for packed in ("", ".gz", ".zst")
    },
}
_SPACE = b" \t\r\n"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINES_LOOKED_AT = 1_000
_MOST_NAMES = 100
"""Fields of a line that a message may name."""
PIPE = "-"
"""The name of standard input, which has lines."""


class Record(NamedTuple):
    """A line, a row or a response."""

    start: int
    end: int
    """Equal to `start` if several records of a WARC file are compressed together."""
    number: int
    """For people: the line or row, from 1; in a WARC file the byte at which the record begins."""
    url: str
    """"": the record has none."""
    page: PageText | Reason
    """The text of its page, or the reason why there is none."""
    problem: str | None = None
    """Why the record is bad and is skipped."""
    passed: int = 0
    """Approximate bytes of the file that were read so far; 0: not known."""
    date: object = None
    """The value of its date field (`FieldNames.date`), or the date of a WARC record."""


def format_of(name: str) -> Format | None:
    """Return the format of a file by the end of its name; None: not known."""
    return next((kind for end, kind in _ENDINGS.items() if name.lower().endswith(end)), None)


def files_in(names: Sequence[str]) -> list[str]:
    """Expand names to files, in order: a file, all files in a folder, or the files of a pattern.

    Raises:
        ConfigError: there is no such file, or none in a folder.
    """
    found: list[str] = []
    for name in names:
        path = Path(name).expanduser()
        if path.is_dir():
            inside = sorted(str(each) for each in path.rglob("*") if format_of(each.name))
            if not inside:
                raise ConfigError(
                    f"no file in {name} has a name that ends in {', '.join(_ENDINGS)}"
                )
            found += inside
        elif name == PIPE:
            found.append(name)
        elif path.exists():
            try:
                path.open("rb").close()
            except OSError as error:
                raise ConfigError(f"{name} cannot be read: {error.strerror}") from None
            found.append(str(path))
        else:
            matching = sorted(map(str, Path(path.anchor).glob(str(path.relative_to(path.anchor)))))
            if not matching:
                raise ConfigError(f"there is no file {name}")
            found += matching
    return found


def records_in(
    name: str, stream: Stream | None, names: FieldNames, start: int = 0, number: int = 1
) -> Iterator[Record]:
    """Yield the records of a file from a position on; the first line there has this number.

    `stream` has the lines; None for other files.

    Raises:
        DedupError: the file does not have the format of its name, or a package is missing.
        OSError: the file cannot be read.
    """
    if stream is not None:
        stream.skip(start)
        yield from _lines(stream, start, number, names)
    elif format_of(name) == "parquet":
        try:
            opened = ParquetRows(Path(name))
        except DamagedFileError as error:
            yield Record(0, 0, 1, "", "error", f"cannot be read as Parquet: {error.__cause__}")
            return
        with opened as rows:
            columns = rows.columns(names)
            for row, passed, item in rows.items(columns, start):
                url, page = url_in(item, names), page_in(item, names)
                day = _date(item, names)
                yield Record(row, row + 1, row + 1, url or "", page, passed=passed, date=day)
    else:
        yield from _responses(name, start)


def require_fields(files: Sequence[str], names: FieldNames) -> None:
    """Require that each named field occurs in the first lines of some files.

    Otherwise pages would be judged without their URL, or a part of their text, and without warning.

    Raises:
        ConfigError: a field does not occur in the first `_LINES_LOOKED_AT` objects.
        OSError: a file cannot be read.
    """
    missing = {*names.all} - {"html", "text"}
    there: dict[str, None] = {}
    left = _LINES_LOOKED_AT
    for name in files:
        with Stream.open(Path(name)) as stream:
            while missing and left and (line := stream.readline(LONGEST_LINE)):
                item = _object(line)
                if not isinstance(item, str):
                    missing = {each for each in missing if not path_to(item, each)}
                    there |= dict.fromkeys(islice(names_in(item), _MOST_NAMES))
                    left -= 1
    if missing and there:
        raise ConfigError(
            f"none of the first {_LINES_LOOKED_AT - left:,} lines has a field "
            f"{' or '.join(map(repr, sorted(missing)))}; they have "
            f"{', '.join(map(repr, there))[:500]}"
        )


def page_of(record: ArchivedPage) -> PageText | None:
    """Return the text of a response's page; None: it is not a page but an image, a style, ..."""
    kind = (record.content_type or "").strip().lower()
    if kind.startswith("text/plain"):
        return PageText(text=decode(record.body, kind))
    if kind and "html" not in kind.partition(";")[0]:
        return None
    return PageText(html=record.body, content_type=record.content_type, link=record.link)


def warc_reader() -> Callable[..., Iterator[WarcRecord]]:
    """Return `read_warc`. DedupError: warcio, which it needs, is not installed."""
    try:
        from dedup_filter.warc.warc_file import read_warc
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("warcio"):
            raise
        raise DedupError("WARC files need warcio: pip install 'dedup-filter[warc]'") from None
    return read_warc


def _responses(name: str, start: int) -> Iterator[Record]:
    for record in warc_reader()(Path(name), MAX_PAGE_LENGTH, start):
        if isinstance(record, Damage):
            at = record.offset
            yield Record(at, record.end, at, "", "error", record.problem, passed=at)
        elif isinstance(record, ArchivedPage) and (page := page_of(record)) is not None:
            at = record.start
            yield Record(at, record.end, at, record.url, page, passed=at, date=record.date)


def _lines(stream: Stream, start: int, number: int, names: FieldNames) -> Iterator[Record]:
    is_reported = False
    while line := stream.readline(LONGEST_LINE + 1):
        end = start + len(line)
        while not line.endswith(b"\n") and (rest := stream.readline(LONGEST_LINE)):
            end += len(rest)
            line = b"\n" if rest.endswith(b"\n") else b"?"
        is_whole = end == start + len(line)
        if not (is_whole and line.isspace()):
            read = read_line(line, names) if is_whole else f"is longer than {LONGEST_LINE:,} bytes"
            if isinstance(read, str):
                if stream.damage and not line.endswith(b"\n"):
                    read, is_reported = f"cannot be read to its end: {stream.damage}", True
                yield Record(start, end, number, "", "error", read, stream.passed)
            else:
                url, page, day = read
                yield Record(start, end, number, url, page, passed=stream.passed, date=day)
        start, number = end, number + 1
    if stream.damage and not is_reported:
        yield Record(start, start, number, "", "error", f"cannot be read: {stream.damage}")


def read_line(line: bytes, names: FieldNames) -> tuple[str, PageText | Reason, object] | str:
    """Return URL, page and date of an item, or why the line is bad."""
    item = _object(line)
    if isinstance(item, str):
        return item
    return url_in(item, names) or "", page_in(item, names), _date(item, names)


def _object(line: bytes) -> dict[str, Any] | str:
    """Return the JSON object of a line, or why the line is bad."""
    # Nothing else is parsed: a hundred thousand brackets would fill the stack.
    if not line.removeprefix(_BYTE_ORDER_MARK).lstrip(_SPACE).startswith(b"{"):
        return "is no object of JSON: one is wanted on each line"
    try:
        item: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"is no object of JSON ({error})"
    return item


def _date(item: Mapping[str, object], names: FieldNames) -> object:
    return None if names.date is None else value_at(item, names.date)
