"""Files of a crawl -> their records, one by one, each with its page and its position.

    lines     a JSON object in each line (`json_text`), plain or compressed, whatever the name
    list      a JSON object in each element of a list
    parquet   a row for each page (`parquet`); a file that is cut off counts as one bad record
    warc      HTML and plain texts (`warc`), and other bodies that are to be judged (`Payloads`)

A bad record is skipped, and its `problem` says why; a good record may have a page that cannot be
judged. After a bad record, reading continues if possible. Only the current record is in memory (64
rows of Parquet); a line may have 128 MiB.

The position of a record is counted from 0: in bytes of the file, for JSON in decompressed bytes,
for Parquet in rows. Reading can begin after any record. There are no pages between two records:
only blank lines, what surrounds a list, and in WARC files requests, images and the like.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from dedup_filter.errors import ConfigError
from dedup_filter.model import Reason
from dedup_filter.scan.files import Format, format_of, open_input
from dedup_filter.scan.json_text import REST, Text, is_list, object_of, texts_in
from dedup_filter.scan.parquet import DamagedFileError, ParquetRows
from dedup_filter.scan.streams import Stream
from dedup_filter.text.decode import decode
from dedup_filter.text.page_fields import (
    URL_NAMES,
    FieldNames,
    PageText,
    names_in,
    page_in,
    path_to,
    url_in,
)
from dedup_filter.text.page_url import Place
from dedup_filter.text.payloads import BYTES_TYPE, Payloads
from dedup_filter.text.reading import MAX_PAGE_LENGTH

if TYPE_CHECKING:
    from dedup_filter.scan.warc import WarcRecord

_OBJECTS_LOOKED_AT = 1_000
_MOST_NAMES = 100
"""Fields of an object that a message may name."""


class Record(NamedTuple):
    """A line, a row or a response."""

    start: int
    end: int
    number: int
    """For people: the line, element or row, from 1; in a WARC file the byte where it begins."""
    url: str
    """"": the record has none."""
    page: PageText | Reason
    """The text of its page, or the reason why there is none."""
    problem: str | None = None
    """Why the record is bad and is skipped."""
    passed: int = 0
    """Approximate bytes of the file that were read so far; 0: not known."""
    not_page: str | None = None
    """What a record of a WARC file is that is no page (`WarcRecord.not_page`, "not_html")."""


class Input(NamedTuple):
    """A file to scan."""

    name: str
    """Its name for people."""
    place: str
    """Its name for `open_input`."""
    kind: Format

    @classmethod
    def of(cls, name: str, place: str, kind: Format, names: FieldNames) -> "Input":
        """Describe a file of this format; one of "lines" may also be a "list".

        Raises:
            DedupError: a package is missing.
            OSError: the file cannot be read.
        """
        if kind == "lines":
            with Stream(open_input(place)) as stream:
                fields = names.all if names.url else [*names.all, *URL_NAMES]
                kind = "list" if is_list(stream, fields) else "lines"
        return cls(name, place, kind)

    def url_of(self, url: str, number: int) -> Place:
        """Return the URL under which a record is judged; without one, a name of its own."""
        return Place.of(url) if url else Place.without_url(f"{self.name}:{number}")


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

    `kind`: its format; None: the format of its name, or lines. `payloads`: which records of a WARC
    file that are no pages are judged all the same; None: none, and they are not yielded.

    Raises:
        DedupError: the file does not have the format of its name, or a package is missing.
        OSError: the file cannot be read.
    """
    kind = kind or format_of(name) or "lines"
    if start == REST:
        return
    if kind in ("lines", "list"):
        with Stream(open_input(name)) as stream:
            texts = texts_in(stream, start, number, is_list=kind == "list")
            yield from _items(texts, stream, names)
    elif kind == "parquet":
        yield from _rows(name, names, start)
    else:
        for record in _archived(name, start, payloads or Payloads()):
            if record.not_page is None or payloads is not None:
                yield record


def require_fields(files: Sequence[Input], names: FieldNames) -> None:
    """Require that each named field occurs in the first objects of some files of JSON.

    Otherwise pages would be judged without their URL, or a part of their text, and without warning.

    Raises:
        ConfigError: a field does not occur in the first `_OBJECTS_LOOKED_AT` objects.
        OSError: a file cannot be read.
    """
    missing = {*names.all} - {"html", "text"}
    there: dict[str, None] = {}
    left = _OBJECTS_LOOKED_AT
    for _, place, kind in files:
        with Stream(open_input(place)) as stream:
            for text in texts_in(stream, 0, 1, is_list=kind == "list"):
                item = object_of(text.content)
                if not isinstance(item, str):
                    missing = {each for each in missing if not path_to(item, each)}
                    there |= dict.fromkeys(islice(names_in(item), _MOST_NAMES))
                    left -= 1
                if not (missing and left):
                    break
    if missing and there:
        raise ConfigError(
            f"none of the first {_OBJECTS_LOOKED_AT - left:,} objects has a field "
            f"{' or '.join(map(repr, sorted(missing)))}; they have "
            f"{', '.join(map(repr, there))[:500]}"
        )


def _archived(name: str, start: int, payloads: Payloads) -> Iterator[Record]:
    from dedup_filter.scan.warc import read_warc  # which loads urllib3: 50 ms

    for record in read_warc(open_input(name), MAX_PAGE_LENGTH, start):
        at, end, problem = record.start, record.end, record.problem
        page = None if problem or record.not_page else _page_of(record, payloads)
        if page is not None:
            yield Record(at, end, at, record.url, page, passed=at)
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
        opened = ParquetRows(name)
    except DamagedFileError as error:
        yield Record(0, REST, 1, "", "error", f"cannot be read as Parquet: {error.__cause__}")
        return
    with opened as rows:
        for row, passed, item in rows.items(rows.columns(names), start):
            url, page = url_in(item, names) or "", page_in(item, names)
            yield Record(row, row + 1, row + 1, url, page, passed=passed)


def _items(texts: Iterator[Text], stream: Stream, names: FieldNames) -> Iterator[Record]:
    for start, end, number, content, problem in texts:
        read = problem or read_item(content, names)
        if isinstance(read, str):
            yield Record(start, end, number, "", "error", read, stream.passed)
        else:
            yield Record(start, end, number, *read, passed=stream.passed)


def read_item(content: bytes, names: FieldNames) -> tuple[str, PageText | Reason] | str:
    """Return URL and page of a JSON object, or why it is none."""
    item = object_of(content)
    if isinstance(item, str):
        return item
    return url_in(item, names) or "", page_in(item, names)
