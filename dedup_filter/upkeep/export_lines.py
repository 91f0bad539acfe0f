"""What an index holds -> objects of JSON -> the same. The format of an export, which users keep.

    {"dedup_filter_export": 2, "scheme": {...}, "crawls": [...]}        first line
    {"page": 1, "url": ..., "outcome": "new", ..., "sketch": ...}       a page
    {"frames_of": "example.com", "state": ..., "lessons": [...], ...}   a host's frames

Numbers of pages ascend and are those of the exported index. 64-bit fingerprints are strings in
hexadecimal, since many readers of JSON round large numbers; bytes are base64; times are ISO
8601 in UTC, of whole seconds. A digest is 16 bytes, a sketch what `fingerprints.sketch` makes.

A field is taken only if what is read of it would be written in the same way: an index gets nothing
that it could not have written itself. What reads a line raises ValueError: why it cannot be.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple, get_args
from zlib import error as ZlibError  # noqa: N812 - it is a class

from dedup_filter.fingerprints import is_sketch
from dedup_filter.frames import host_frames
from dedup_filter.model import Outcome
from dedup_filter.pages.directory.frame_store import EarlyForm, HostFrames, Lesson
from dedup_filter.pages.directory.records import Crawl, Judged, PageRecord
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.text import Headline
from dedup_filter.upkeep.results import Source
from dedup_filter.wording import as_time

__all__ = ["FORMAT", "FRAMES_KEY", "HEADER_KEY", "Object"]
__all__ += ["exported", "host_in", "record_in", "scheme_and_crawls_in"]

HEADER_KEY = "dedup_filter_export"
FRAMES_KEY = "frames_of"
FORMAT = 2

Object = Mapping[str, Any]


def exported(source: Source) -> Iterator[Object]:
    """Yield the first line, a line for each page, and one for each host whose frames are known.

    The frames of hosts come last, so that an index made of the lines judges later pages as this
    one would. Cost: 20 us a page without text.
    """
    head = {HEADER_KEY: FORMAT, "scheme": source.scheme.parts, "crawls": source.crawls}
    yield _written(head, _HEADER)
    for record, original_url, text in source.pages:
        judged = record.judged
        values = {**record._asdict(), **judged._asdict(), **record.headline._asdict()}
        values |= {"original": original_url, "original_page": judged.original}
        yield _written(values, _PAGE) | ({} if text is None else {"text": text})
    for known in source.hosts:
        early = [(page, form, note) for page, _, form, note in known.early]
        values = {FRAMES_KEY: known.host, **known._asdict(), "early": early}
        yield _written(values, _FRAMES)


def scheme_and_crawls_in(line: Object) -> tuple[Scheme, list[Crawl]]:
    """Read a first line."""
    if line[HEADER_KEY] != FORMAT:
        raise ValueError(
            f"begins an export of format {line[HEADER_KEY]!r:.40}, and this version of "
            f"dedup-filter reads format {FORMAT}: use the version that wrote it"
        )
    _, parts, crawls = _read(line, _HEADER)
    return Scheme(parts), list(map(Crawl._make, crawls))


def record_in(line: Object) -> tuple[PageRecord, str | None]:
    """Read the line of a page: its record, and its text if that was kept."""
    values = dict(zip(_PAGE, _read(line, _PAGE), strict=True))
    values["original"] = values["original_page"]  # the URL is for people
    judged = Judged._make(values[name] for name in Judged._fields)
    headline = Headline._make(values[name] for name in Headline._fields)
    values |= {"is_pending": False, "judged": judged, "headline": headline}
    record = PageRecord._make(values[name] for name in PageRecord._fields)
    if not judged.is_kept and judged.original is None:
        raise ValueError(f"has outcome {judged.outcome!r} and no original_page")
    if judged.original is not None and judged.original >= record.page:
        raise ValueError(f"has original_page {judged.original}, which came after {record.page}")
    if record.last_seen < record.first_seen:
        raise ValueError("was last seen before it was first seen")
    return record, *_read(line, {"text": _TEXT})


def host_in(line: Object) -> HostFrames:
    """Read the line of a host's frames."""
    host, state, lessons, early = _read(line, _FRAMES)
    forms = [EarlyForm(page, host, form, note) for page, form, note in early]
    return HostFrames(host, state, list(map(Lesson._make, lessons)), forms)


class _Field(NamedTuple):
    """What a field of a line may hold, but for None, which stands for a value that is missing."""

    read: Callable[[Any], Any]
    """Value of JSON -> value. It fails for a wrong one, or returns what is written otherwise."""
    write: Callable[[Any], Any]


def _written(values: Mapping[str, Any], fields: Mapping[str, _Field]) -> dict[str, Any]:
    return {name: _or_none(field.write, values[name]) for name, field in fields.items()}


def _read(line: Object, fields: Mapping[str, _Field]) -> Iterator[Any]:
    """Yield the values of fields, in the order of these."""
    for name, field in fields.items():
        given = line.get(name)
        try:
            value = _or_none(field.read, given) if name in _OPTIONAL else field.read(given)
            _require(value, _or_none(field.write, value) == given)
        except _REFUSALS:
            raise ValueError(f"has {name} {given!r:.40}, which no export has") from None
        yield value


def _or_none(convert: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else convert(value)


def _require(value: Any, is_right: object) -> Any:
    if not is_right:
        raise ValueError
    return value


def _whole(least: int, most: int = 2**63 - 1) -> _Field:
    return _Field(lambda value: _require(number := int(value), least <= number <= most), int)


def _bytes(is_right: Callable[[bytes], object]) -> _Field:
    def read(value: Any) -> Any:
        return _require(content := b64decode(value, validate=True), is_right(content))

    return _Field(read, lambda content: b64encode(content).decode())


def _objects(fields: Mapping[str, _Field]) -> _Field:
    return _Field(
        lambda lines: [list(_read(line, fields)) for line in lines],
        lambda rows: [_written(dict(zip(fields, row, strict=True)), fields) for row in rows],
    )


def _arrays(*fields: _Field) -> _Field:
    return _Field(
        lambda rows: [[of.read(v) for of, v in zip(fields, row, strict=True)] for row in rows],
        lambda rows: [[of.write(v) for of, v in zip(fields, row, strict=True)] for row in rows],
    )


def _seconds(time: str) -> int:
    # strptime takes ten times as long
    return int(datetime.fromisoformat(f"{time[:-1]}+00:00").timestamp())


_REFUSALS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, ZlibError)
"""What JSON of another kind makes of a read."""
_TEXT = _Field(str, str)
_FLAG = _Field(bool, bool)
_TIME = _Field(_seconds, as_time)
_OUTCOME = _Field(lambda value: _require(value, value in get_args(Outcome)), str)
_SHARE = _Field(lambda value: _require(share := float(value), 0 <= share <= 1), float)
_HEX = _Field(lambda value: _require(bits := int(value, 16), 0 <= bits < 2**64), hex)
_NUMBER, _NUMBER_OR_0 = _whole(1), _whole(0)
_CRAWL = {"crawl": _NUMBER, "name": _TEXT, "started": _TIME, "ended": _TIME}
_HEADER = {
    HEADER_KEY: _whole(FORMAT),
    "scheme": _Field(lambda parts: {name: str(parts[name]) for name in parts}, dict),
    "crawls": _objects(_CRAWL),
}
_PAGE = {
    "page": _NUMBER,
    "url": _TEXT,
    "host": _TEXT,
    "outcome": _OUTCOME,
    "reason": _TEXT,
    "original": _TEXT,
    "original_page": _NUMBER_OR_0,
    "distance": _whole(0, 64),
    "similarity": _SHARE,
    "language": _TEXT,
    "words": _NUMBER_OR_0,
    "first_seen": _TIME,
    "last_seen": _TIME,
    "first_crawl": _NUMBER,
    "crawl": _NUMBER,
    "fingerprint": _HEX,
    "digest": _bytes(lambda digest: len(digest) == 16),
    "sketch": _bytes(is_sketch),
    "h1": _TEXT,
    "title": _TEXT,
}
_FRAMES = {
    FRAMES_KEY: _TEXT,
    "state": _bytes(lambda state: host_frames.Host.from_bytes("", state)),
    "lessons": _arrays(_NUMBER_OR_0, _bytes(host_frames.Lesson.from_bytes), _FLAG),
    "early": _arrays(_NUMBER, _bytes(lambda _: True), _bytes(host_frames.unpack)),
}
_OPTIONAL = {
    *("name", "ended", "reason", "original", "original_page", "distance", "similarity"),
    *("language", "fingerprint", "text", "state"),
}
