"""Files of a crawl -> their records, one by one, each with its page and where it stands.

    lines     an object of JSON in each line; plain, gzip or Zstandard, whatever the name
    parquet   a row for each page (`parquet`); one that is cut off has none, and is one bad record
    warc      responses with HTML or plain text (needs warcio)

A record that is none is told from one whose page cannot be judged: the first is passed over, and
its `problem` says why. Reading goes on behind it where it can. Only the record at hand is in
memory, of Parquet 64 rows; a line may have 128 MiB.

Where a record stands is counted from 0: in bytes of the file, of lines in decompressed ones, and in
rows of Parquet. Reading can begin behind any record. What is between two records is no page: blank
lines, and in WARC files requests, images and the like.
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
    """`start` itself, if several records of a WARC file are compressed together."""
    number: int
    """For people: the line or row, from 1; of a WARC file the byte at which it begins."""
    url: str
    """"": it has none."""
    page: PageText | Reason
    """What its page is read from, or why there is nothing."""
    problem: str | None = None
    """Why it is no record at all, and is passed over."""
    passed: int = 0
    """Bytes of the file that were read up to here, about; 0: not known."""
    date: object = None
    """What the field with its date holds (`FieldNames.date`), or the date of a WARC record."""


def format_of(name: str) -> Format | None:
    """Tell what a file holds by the end of its name; None: that is not known."""
    return next((kind for end, kind in _ENDINGS.items() if name.lower().endswith(end)), None)


def files_in(names: Sequence[str]) -> list[str]:
    """Return the files that are meant, in order: files, all in a folder, or those of a pattern.

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
    """Yield the records of a file from a position on; of lines, the first has this number.

    `stream` is what lines are read from, None for other files.

    Raises:
        DedupError: the file cannot be read as what its name says, or a package is missing.
        OSError: it cannot be read.
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
    """Refuse a name that is not the name of any field in the first lines of some files.

    A page that lacks its URL, or a part of its text, is judged without a word, and otherwise.

    Raises:
        ConfigError: there is no such field in the first `_LINES_LOOKED_AT` objects.
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
    """Return what a response's page is read from, None for what is no page: an image, a style."""
    kind = (record.content_type or "").strip().lower()
    if kind.startswith("text/plain"):
        return PageText(text=decode(record.body, kind))
    if kind and "html" not in kind.partition(";")[0]:
        return None
    return PageText(html=record.body, content_type=record.content_type, link=record.link)


def warc_reader() -> Callable[..., Iterator[WarcRecord]]:
    """Return `read_warc`. Raises DedupError: warcio, which it needs, is not installed."""
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
    is_told = False
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
                    read, is_told = f"cannot be read to its end: {stream.damage}", True
                yield Record(start, end, number, "", "error", read, stream.passed)
            else:
                url, page, day = read
                yield Record(start, end, number, url, page, passed=stream.passed, date=day)
        start, number = end, number + 1
    if stream.damage and not is_told:
        yield Record(start, start, number, "", "error", f"cannot be read: {stream.damage}")


def read_line(line: bytes, names: FieldNames) -> tuple[str, PageText | Reason, object] | str:
    """Return URL, page and date of an item, or why the line is none."""
    item = _object(line)
    if isinstance(item, str):
        return item
    return url_in(item, names) or "", page_in(item, names), _date(item, names)


def _object(line: bytes) -> dict[str, Any] | str:
    """Return the object of a line, or why it is none."""
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
