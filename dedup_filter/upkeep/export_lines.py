"""Records -> objects of JSON -> the same records. The format of an export, which users keep.

    {"dedup_filter_export": 2, "scheme": {...}, "crawls": [...]}        first line
    {"page": 1, "url": ..., "outcome": "new", ..., "sketch": ...}       a page
    {"frames_of": "example.com", "state": ..., "lessons": [...], ...}   a host's frames

Numbers of pages ascend and are those of the exported index. 64-bit fingerprints are strings in
hexadecimal, since many readers of JSON round large numbers; bytes are base64; times are ISO
8601 in UTC, of whole seconds. A digest is 16 bytes, a sketch what `fingerprints.sketch` makes.

Each field of a line that is read is verified: an index gets nothing that it could not have
written itself.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Generator, Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, get_args
from zlib import error as ZlibError  # noqa: N812 - it is a class

from dedup_filter.fingerprints import is_sketch
from dedup_filter.frames import frame_bytes
from dedup_filter.model import Outcome
from dedup_filter.pages.directory.frame_store import EarlyForm, HostFrames, Lesson
from dedup_filter.pages.directory.records import Crawl, Judged, PageRecord
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.text import Headline
from dedup_filter.upkeep.results import ExportedPage, Source
from dedup_filter.wording import as_time

__all__ = [
    "FORMAT",
    "FRAMES_KEY",
    "HEADER_KEY",
    "Object",
    "exported",
    "frames_line",
    "header_line",
    "host_in",
    "page_line",
    "record_in",
    "scheme_and_crawls_in",
]

HEADER_KEY = "dedup_filter_export"
FRAMES_KEY = "frames_of"
FORMAT = 2

Object = dict[str, Any]

_HEX = re.compile(r"0x[0-9a-fA-F]{1,16}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_OUTCOMES = get_args(Outcome)


def exported(source: Source) -> Generator[Object, None, None]:
    """Yield the header, a line for each page, and one for each host whose frames are known.

    The frames of hosts come last, so that an index made of the lines judges later pages as this
    one would. Cost: 20 us a page without text.

    Raises:
        StoreError: the index cannot be read.
    """
    yield header_line(source.scheme, source.crawls)
    yield from map(page_line, source.pages)
    yield from map(frames_line, source.hosts)


def header_line(scheme: Scheme, crawls: Iterable[Crawl]) -> Object:
    """Make the first line of an export."""
    return {
        HEADER_KEY: FORMAT,
        "scheme": dict(scheme.parts),
        "crawls": [_written(dict(zip(_CRAWL, crawl, strict=True)), _CRAWL) for crawl in crawls],
    }


def page_line(page: ExportedPage) -> Object:
    """Make the line of a page."""
    record, judged = page.record, page.record.judged
    values = {**record._asdict(), **judged._asdict(), **record.headline._asdict()}
    values |= {"original": page.original_url, "original_page": judged.original}
    line = _written(values, _PAGE)
    return line if page.text is None else {**line, "text": page.text}


def frames_line(known: HostFrames) -> Object:
    """Make the line of a host's frames."""
    return {
        FRAMES_KEY: known.host,
        "state": None if known.state is None else _base64(known.state),
        "lessons": [[page, _base64(lesson), un] for page, lesson, un in known.lessons],
        "early": [[page, _base64(form), _base64(note)] for page, _, form, note in known.early],
    }


def scheme_and_crawls_in(line: Object) -> tuple[Scheme, list[Crawl]]:
    """Read a first line. Raises ValueError, saying what is wrong with it, as all here do."""
    if line[HEADER_KEY] != FORMAT:
        raise ValueError(
            f"begins an export of format {line[HEADER_KEY]!r}, and this version of dedup-filter "
            f"reads format {FORMAT}: use the version that wrote it"
        )
    scheme, crawls = line.get("scheme"), line.get("crawls")
    if not isinstance(scheme, dict) or not all(isinstance(each, str) for each in scheme.values()):
        raise ValueError("has no scheme, or one with a part that is no string")
    if not isinstance(crawls, list) or not all(isinstance(each, dict) for each in crawls):
        raise ValueError("has no list of crawls")
    crawls = [Crawl(*_read(each, _CRAWL).values()) for each in crawls]
    return Scheme(scheme), crawls


def record_in(line: Object) -> tuple[PageRecord, str | None]:
    """Read the line of a page: its record, and its text if that was kept."""
    values = _read(line, {**_PAGE, "text": _or_none(_TEXT)})
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
    return record, values["text"]


def host_in(line: Object) -> HostFrames:
    """Read the line of a host's frames; refuse what frames could not read from an index."""
    try:
        host, state = line[FRAMES_KEY], line["state"]
        lessons = [Lesson(page, _bytes(lesson), bool(un)) for page, lesson, un in line["lessons"]]
        early = [EarlyForm(page, host, _bytes(f), _bytes(note)) for page, f, note in line["early"]]
        frames = HostFrames(host, None if state is None else _bytes(state), lessons, early)
        _read_field(line, FRAMES_KEY, _TEXT)
        for page, *_ in (*lessons, *early):
            _read_field({"page": page}, "page", _whole(0))
        if frames.state is not None:
            frame_bytes.HostState.from_bytes(frames.state)
        for lesson in lessons:
            frame_bytes.Lesson.from_bytes(lesson.lesson)
        for form in early:
            frame_bytes.EarlyNote.from_bytes(form.note)
    except (KeyError, TypeError, ValueError, ZlibError) as why:
        raise ValueError(f"has frames that cannot be read ({why!r:.80})") from None
    return frames


class _Field(NamedTuple):
    """A field of a line. None stands for a value that is missing, where that is allowed."""

    wanted: str
    """What it may hold, for messages."""
    read: Callable[[Any], Any]
    """Value of JSON -> value. ValueError or TypeError: it may not hold that."""
    write: Callable[[Any], Any] = lambda value: value
    is_optional: bool = False


def _written(values: Mapping[str, Any], fields: Mapping[str, _Field]) -> Object:
    return {
        name: None if values[name] is None else field.write(values[name])
        for name, field in fields.items()
    }


def _read(line: Mapping[str, Any], fields: Mapping[str, _Field]) -> dict[str, Any]:
    return {name: _read_field(line, name, field) for name, field in fields.items()}


def _read_field(line: Mapping[str, Any], name: str, field: _Field) -> Any:
    value = line.get(name)
    if value is None and field.is_optional:
        return None
    if name not in line:
        raise ValueError(f"has no {name}")
    try:
        return field.read(value)
    except (ValueError, TypeError):
        shown = repr(value)
        shown = shown if len(shown) <= 40 else f"{shown[:40]}..."
        raise ValueError(f"has {name} {shown}, not {field.wanted}") from None


def _require(is_right: object, value: Any) -> Any:
    if not is_right:
        raise ValueError
    return value


def _whole(least: int, most: int = 2**63 - 1) -> _Field:
    return _Field(
        f"a whole number from {least} to {most}",
        lambda value: _require(type(value) is int and least <= value <= most, value),
    )


def _or_none(field: _Field) -> _Field:
    return field._replace(is_optional=True)


def _seconds(time: str) -> int:
    # strptime takes ten times as long
    return int(datetime.fromisoformat(f"{time[:-1]}+00:00").timestamp())


def _base64(value: bytes) -> str:
    return b64encode(value).decode()


_bytes = partial(b64decode, validate=True)
_TEXT = _Field("a string", lambda value: _require(isinstance(value, str), value))
_TIMESTAMP = _Field(
    "a time like 2026-01-31T12:00:00Z",
    lambda value: _seconds(_require(_TIME.fullmatch(value), value)),
    as_time,
)
_OUTCOME = _Field(f"one of {', '.join(_OUTCOMES)}", lambda v: _require(v in _OUTCOMES, v))
_SHARE = _Field(
    "a number from 0 to 1", lambda v: _require(type(v) in (int, float) and 0 <= v <= 1, v)
)
_FINGERPRINT = _Field(
    'a string like "0x1f" of 64 bits', lambda v: int(_require(_HEX.fullmatch(v), v), 16), hex
)
_DIGEST = _Field("16 bytes in base64", lambda v: _require(len(b := _bytes(v)) == 16, b), _base64)
_SKETCH = _Field("a sketch in base64", lambda v: _require(is_sketch(b := _bytes(v)), b), _base64)
_CRAWL = {
    "crawl": _whole(1),
    "name": _or_none(_TEXT),
    "started": _TIMESTAMP,
    "ended": _or_none(_TIMESTAMP),
}
_PAGE = {
    "page": _whole(1),
    "url": _TEXT,
    "host": _TEXT,
    "outcome": _OUTCOME,
    "reason": _or_none(_TEXT),
    "original": _or_none(_TEXT),
    "original_page": _or_none(_whole(0)),
    "distance": _or_none(_whole(0, 64)),
    "similarity": _or_none(_SHARE),
    "language": _or_none(_TEXT),
    "words": _whole(0),
    "first_seen": _TIMESTAMP,
    "last_seen": _TIMESTAMP,
    "first_crawl": _whole(1),
    "crawl": _whole(1),
    "fingerprint": _or_none(_FINGERPRINT),
    "digest": _DIGEST,
    "sketch": _SKETCH,
    "h1": _TEXT,
    "title": _TEXT,
}
