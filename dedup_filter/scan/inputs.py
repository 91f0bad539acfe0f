"""Files of a crawl -> their records, one by one, each with its page and its position.

    lines     a JSON object in each line; plain or compressed (`streams`), whatever the name
    parquet   a row for each page (`parquet`); a file that is cut off counts as one bad record
    warc      HTML and plain texts (`warc`), and other bodies that are to be judged (`Payloads`)

A bad record is skipped, and its `problem` says why; a good record may have a page that cannot be
judged. After a bad record, reading continues if possible. Only the current record is in memory (64
rows of Parquet); a line may have 128 MiB.

The position of a record is counted from 0: in bytes of the file, for lines in decompressed bytes,
for Parquet in rows. Reading can begin after any record. There are no pages between two records:
only blank lines, and in WARC files requests, images and the like.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dedup_filter.errors import ConfigError
from dedup_filter.model import Reason
from dedup_filter.scan.parquet import DamagedFileError, ParquetRows
from dedup_filter.scan.streams import COMPRESSIONS, Stream
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
from dedup_filter.text.payloads import BYTES_TYPE, Payloads
from dedup_filter.text.reading import MAX_PAGE_LENGTH
from dedup_filter.upkeep.lines import LONGEST_LINE

if TYPE_CHECKING:
    from dedup_filter.scan.warc import WarcRecord

Format = Literal["lines", "parquet", "warc"]

_ENDINGS: dict[str, Format] = {
    ".parquet": "parquet",
    **dict.fromkeys((".warc", ".warc.gz", ".wet", ".wet.gz"), "warc"),
    **{
        f"{name}{packed}": "lines"
        for name in (".jsonl", ".jl", ".ndjson", ".json")
        for packed in COMPRESSIONS
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
    not_page: str | None = None
    """What a record of a WARC file is that is no page (`WarcRecord.not_page`, "not_html")."""


def format_of(name: str) -> Format | None:
    """Return the format of a file by the end of its name; None: not known."""
    return next((kind for end, kind in _ENDINGS.items() if name.lower().endswith(end)), None)


def files_in(names: Sequence[str]) -> list[str]:
    """Expand names to files, in order: a file, all files in a folder, or the files of a pattern.

    Raises:
        ConfigError: there is no such file, or none in a folder, or one is a WACZ file.
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
    for name in found:
        if name.lower().endswith(".wacz"):
            raise ConfigError(
                f"{name} is a ZIP file of WARC files: unzip it, and scan its folder archive"
            )
    return found


def records_in(
    name: str,
    kind: Format | None,
    names: FieldNames,
    start: int = 0,
    number: int = 1,
    *,
    payloads: Payloads | None = None,
) -> Iterator[Record]:
    """Yield the records of a file from a position on; the first line there has this number.

    `kind`: its format; None: the format of its name. `payloads`: which records of a WARC file that
    are no pages are judged all the same; None: none, and they are not yielded.

    Raises:
        DedupError: the file does not have the format of its name, or a package is missing.
        OSError: the file cannot be read.
    """
    kind = kind or format_of(name) or "lines"
    if kind == "lines":
        yield from _lines(name, names, start, number)
    elif kind == "parquet":
        yield from _rows(name, names, start)
    else:
        for record in _archived(name, start, payloads or Payloads()):
            if record.not_page is None or payloads is not None:
                yield record


def require_fields(files: Sequence[str], names: FieldNames) -> None:
    """Require that each named field occurs in the first lines of some files.

    Otherwise pages would be judged without their URL, or a part of their text, and without warning.

    Raises:
        ConfigError: a field does not occur in the first `_LINES_LOOKED_AT` objects, or a file is
            an array.
        OSError: a file cannot be read.
    """
    missing = {*names.all} - {"html", "text"}
    there: dict[str, None] = {}
    left = _LINES_LOOKED_AT
    for name in files:
        with Stream(Path(name)) as stream:
            for line in iter(partial(stream.readline, LONGEST_LINE), b""):
                item = _object(line)
                if not isinstance(item, str):
                    missing = {each for each in missing if not path_to(item, each)}
                    there |= dict.fromkeys(islice(names_in(item), _MOST_NAMES))
                    left -= 1
                elif not there and _start(line) == b"[":
                    raise ConfigError(
                        f"{name} is an array of JSON, and a line for each page is wanted: "
                        "jq -c '.[]' makes such lines"
                    )
                if not (missing and left):
                    break
    if missing and there:
        raise ConfigError(
            f"none of the first {_LINES_LOOKED_AT - left:,} lines has a field "
            f"{' or '.join(map(repr, sorted(missing)))}; they have "
            f"{', '.join(map(repr, there))[:500]}"
        )


def _archived(name: str, start: int, payloads: Payloads) -> Iterator[Record]:
    from dedup_filter.scan.warc import read_warc  # which loads urllib3: 50 ms

    for record in read_warc(Path(name), MAX_PAGE_LENGTH, start):
        at, end, problem = record.start, record.end, record.problem
        page = None if problem or record.not_page else _page_of(record, payloads)
        if page is not None:
            yield Record(at, end, at, record.url, page, passed=at, date=record.date)
        else:
            not_page = None if problem else record.not_page or "not_html"
            yield Record(at, end, at, "", "error", problem, passed=at, not_page=not_page)


def _page_of(record: "WarcRecord", payloads: Payloads) -> PageText | None:
    """Return the text of a page; None: it is not a page but an image, a style, ..."""
    kind = (record.content_type or "").strip().lower()
    if kind.startswith("text/plain"):
        return PageText(text=decode(record.body, kind))
    if kind and "html" not in kind.partition(";")[0]:
        is_judged = payloads.take(record.body)
        return PageText(html=record.body, content_type=BYTES_TYPE) if is_judged else None
    return PageText(html=record.body, content_type=record.content_type, link=record.link)


def _rows(name: str, names: FieldNames, start: int) -> Iterator[Record]:
    try:
        opened = ParquetRows(Path(name))
    except DamagedFileError as error:
        yield Record(0, 0, 1, "", "error", f"cannot be read as Parquet: {error.__cause__}")
        return
    with opened as rows:
        for row, passed, item in rows.items(rows.columns(names), start):
            url, page = url_in(item, names) or "", page_in(item, names)
            yield Record(row, row + 1, row + 1, url, page, passed=passed, date=_date(item, names))


def _lines(name: str, names: FieldNames, start: int, number: int) -> Iterator[Record]:
    with Stream(Path(name)) as stream:
        stream.seek(start)
        while line := stream.readline(LONGEST_LINE + 1):
            end = start + len(line)
            while not line.endswith(b"\n") and (rest := stream.readline(LONGEST_LINE)):
                end += len(rest)
                line = b"\n" if rest.endswith(b"\n") else b"?"
            read: tuple[str, PageText | Reason, object] | str
            if end > start + len(line):
                read = f"is longer than {LONGEST_LINE:,} bytes"
            elif not line.isspace():
                read = read_line(line, names)
            else:
                read = ""
            if isinstance(read, tuple):
                url, page, day = read
                yield Record(start, end, number, url, page, passed=stream.passed, date=day)
            elif read:
                yield Record(start, end, number, "", "error", read, stream.passed)
            start, number = end, number + 1
        if stream.damage:
            problem = f"cannot be read from here on: {stream.damage}"
            yield Record(start, start, number, "", "error", problem)


def read_line(line: bytes, names: FieldNames) -> tuple[str, PageText | Reason, object] | str:
    """Return URL, page and date of an item, or why the line is bad."""
    item = _object(line)
    if isinstance(item, str):
        return item
    return url_in(item, names) or "", page_in(item, names), _date(item, names)


def _start(line: bytes) -> bytes:
    return line.removeprefix(_BYTE_ORDER_MARK).lstrip(_SPACE)[:1]


def _object(line: bytes) -> dict[str, Any] | str:
    """Return the JSON object of a line, or why the line is bad."""
    # Nothing else is parsed: a hundred thousand brackets would fill the stack.
    if _start(line) != b"{":
        return "is no object of JSON: one is wanted on each line"
    try:
        item: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"is no object of JSON ({error})"
    return item


def _date(item: Mapping[str, object], names: FieldNames) -> object:
    return None if names.date is None else value_at(item, names.date)
