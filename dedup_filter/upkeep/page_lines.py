"""Records -> objects of JSON -> the same records. The format of an export, which users keep.

    {"dedup_filter_export": 1, "scheme": {...}, "crawls": [...]}        first line
    {"page": 1, "url": ..., "outcome": "new", ..., "sketch": ...}       a page
    {"frames_of": "example.com", "state": ..., "lessons": [...], ...}   a host's frames

Numbers of pages ascend and are those of the index exported. 64-bit fingerprints are strings in
hexadecimal, since many readers of JSON round large numbers; bytes are base64; times are ISO
8601 in UTC, of whole seconds. A digest is 16 bytes, a sketch what `fingerprints.sketch` makes.

What comes back is verified to the last field: nothing that an index could not have written
gets into one.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from types import MappingProxyType
from typing import Any, cast, get_args

from dedup_filter.fingerprints import is_sketch
from dedup_filter.model import Outcome
from dedup_filter.pages.directory.crawls import Crawl
from dedup_filter.pages.directory.frame_store import EarlyForm, HostFrames, Lesson
from dedup_filter.pages.directory.records import Judged, PageRecord
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.snapshot import KnownHost
from dedup_filter.text import Headline

__all__ = [
    "FRAMES_KEY",
    "HEADER_KEY",
    "Object",
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

_MOST = 2**63 - 1
_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_FINGERPRINT = re.compile(r"0x[0-9a-fA-F]{1,16}")
_TIME = "%Y-%m-%dT%H:%M:%SZ"
_WRITTEN_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


def header_line(scheme: Scheme, crawls: Iterable[Crawl]) -> Object:
    """Make the first line of an export."""
    return {
        HEADER_KEY: FORMAT,
        "scheme": dict(scheme.parts),
        "crawls": [
            {
                "crawl": crawl.number,
                "name": crawl.name,
                "started": _time(crawl.started),
                "ended": None if crawl.ended is None else _time(crawl.ended),
            }
            for crawl in crawls
        ],
    }


def page_line(record: PageRecord, original_url: str | None, text: str | None) -> Object:
    """Make the line of a page."""
    judged = record.judged
    line = {
        "page": record.page,
        "url": record.url,
        "host": record.host,
        "outcome": judged.outcome,
        "reason": judged.reason,
        "original": original_url,
        "original_page": judged.original,
        "distance": judged.distance,
        "similarity": judged.similarity,
        "language": record.language,
        "words": record.words,
        "first_seen": _time(record.first_seen),
        "last_seen": _time(record.last_seen),
        "first_crawl": record.first_crawl,
        "crawl": record.crawl,
        "fingerprint": None if record.fingerprint is None else hex(record.fingerprint),
        "digest": _base64(record.digest),
        "sketch": _base64(record.sketch),
        "h1": record.headline.h1,
        "title": record.headline.title,
    }
    return line if text is None else {**line, "text": text}


def frames_line(known: KnownHost) -> Object:
    """Make the line of a host's frames."""
    state = known.frames.state
    return {
        FRAMES_KEY: known.frames.host,
        "state": None if state is None else _base64(state),
        "lessons": [[page, _base64(lesson), un] for page, lesson, un in known.frames.lessons],
        "early": [[page, _base64(form), _base64(note)] for page, _, form, note in known.early],
    }


def scheme_and_crawls_in(line: Object) -> tuple[Scheme, list[Crawl]]:
    """Read a first line. Raises ValueError, saying what is wrong with it, as all here do."""
    if line[HEADER_KEY] != FORMAT:
        raise ValueError(
            f"begins an export of format {line[HEADER_KEY]!r}, and this version of dedup-filter "
            f"knows format {FORMAT}: {_another(line[HEADER_KEY])}"
        )
    parts = _typed(line, "scheme", dict)
    if not all(isinstance(value, str) for value in parts.values()):
        raise ValueError("has a scheme with a part that is no string")
    crawls = [
        Crawl(
            _whole(each, "crawl", 1),
            _typed(each, "name", str, None),
            _seconds(each, "started"),
            None if each.get("ended") is None else _seconds(each, "ended"),
        )
        for each in _typed(line, "crawls", list)
        if isinstance(each, dict)
    ]
    return Scheme(MappingProxyType(parts)), crawls


def _another(found: object) -> str:
    is_newer = isinstance(found, int) and found > FORMAT
    return "install a newer one" if is_newer else "export anew with this version"


def record_in(line: Object) -> tuple[PageRecord, str | None]:
    """Read the line of a page: its record, and its text if that was kept."""
    judged = _judged_in(line)
    page = _whole(line, "page", 1)
    if judged.original is not None and judged.original >= page:
        raise ValueError(f"has original_page {judged.original}, which came after page {page}")
    first_seen, last_seen = _seconds(line, "first_seen"), _seconds(line, "last_seen")
    if last_seen < first_seen:
        raise ValueError("was last seen before it was first seen")
    record = PageRecord(
        page=page,
        url=_typed(line, "url", str),
        host=_typed(line, "host", str),
        digest=_bytes(line.get("digest"), "digest", 16),
        fingerprint=_fingerprint(line),
        sketch=_sketch(line),
        words=_whole(line, "words", 0),
        language=_typed(line, "language", str, None),
        first_seen=first_seen,
        last_seen=last_seen,
        first_crawl=_whole(line, "first_crawl", 1),
        crawl=_whole(line, "crawl", 1),
        is_pending=False,
        judged=judged,
        headline=Headline(_typed(line, "h1", str), _typed(line, "title", str)),
    )
    return record, _typed(line, "text", str, None)


def host_in(line: Object) -> KnownHost:
    """Read the line of a host's frames."""
    host, state = _typed(line, FRAMES_KEY, str), line.get("state")
    lessons = [
        Lesson(_number(page), _bytes(lesson, "lessons"), bool(is_unlearnt))
        for page, lesson, is_unlearnt in _rows(line, "lessons")
    ]
    early = [
        EarlyForm(_number(page), host, _bytes(form, "early"), _bytes(note, "early"))
        for page, form, note in _rows(line, "early")
    ]
    frames = HostFrames(host, None if state is None else _bytes(state, "state"), lessons)
    return KnownHost(frames, early)


def _judged_in(line: Object) -> Judged:
    outcome = cast("Outcome", line.get("outcome"))
    if outcome not in _OUTCOMES:
        raise ValueError(f"has outcome {outcome!r}; it is one of {', '.join(_OUTCOMES)}")
    original = None if line.get("original_page") is None else _whole(line, "original_page", 0)
    if outcome in ("near", "exact") and original is None:
        raise ValueError(f"has outcome {outcome!r} and no original_page")
    similarity = _typed(line, "similarity", (int, float), None)
    if similarity is not None and not 0 <= similarity <= 1:
        raise ValueError(f"has similarity {similarity!r}, not a number from 0 to 1")
    distance = None if line.get("distance") is None else _whole(line, "distance", 0, 64)
    return Judged(outcome, _typed(line, "reason", str, None), original, distance, similarity)


def _fingerprint(line: Object) -> int | None:
    value = line.get("fingerprint")
    if value is None:
        return None
    if not isinstance(value, str) or not _FINGERPRINT.fullmatch(value):
        raise ValueError(f'has fingerprint {_short(value)}, not a string like "0x1f" of 64 bits')
    return int(value, 16)


def _sketch(line: Object) -> bytes:
    sketch = _bytes(line.get("sketch"), "sketch")
    if not is_sketch(sketch):
        raise ValueError("has a sketch that none of this package is")
    return sketch


def _typed(line: Mapping[str, Any], name: str, *kinds: Any) -> Any:
    value = line.get(name)
    wanted = tuple(kind for kind in kinds if kind is not None)
    if (value is None and None in kinds) or (
        isinstance(value, wanted[0]) and not isinstance(value, bool)
    ):
        return value
    raise ValueError(f"has {name} {_short(value)}" if name in line else f"has no {name}")


def _whole(line: Mapping[str, Any], name: str, least: int, most: int = _MOST) -> int:
    value = line.get(name)
    if type(value) is int and least <= value <= most:
        return value
    if name not in line:
        raise ValueError(f"has no {name}")
    raise ValueError(f"has {name} {_short(value)}, not a whole number from {least} on")


def _number(value: Any) -> int:
    return _whole({"page": value}, "page", 0)  # 0: nobody will take it back


def _rows(line: Object, name: str) -> list[Any]:
    rows = _typed(line, name, list)
    if not all(isinstance(row, list) and len(row) == 3 for row in rows):
        raise ValueError(f"has {name} that are not lists of three")
    return list(rows)


def _bytes(value: Any, name: str, length: int | None = None) -> bytes:
    try:
        decoded = b64decode(value, validate=True)
    except (Base64Error, ValueError, TypeError):
        raise ValueError(f"has {name} {_short(value)}, which is not base64") from None
    if length is not None and len(decoded) != length:
        raise ValueError(f"has a {name} of {len(decoded)} bytes, not {length}")
    return decoded


def _base64(value: bytes) -> str:
    return b64encode(value).decode()


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime(_TIME)


def _seconds(line: Mapping[str, Any], name: str) -> int:
    value = _typed(line, name, str)
    try:  # strptime takes ten times as long
        if _WRITTEN_TIME.fullmatch(value):
            return int(datetime.fromisoformat(f"{value[:-1]}+00:00").timestamp())
    except ValueError:
        pass  # February 30th
    raise ValueError(f"has {name} {_short(value)}, not like 2026-01-31T12:00:00Z")


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:40]}..."
