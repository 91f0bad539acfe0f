"""An index -> lines of JSON -> an index. Users keep exports, so the format has a version.

    {"dedup_filter_export": 8, "scheme": {...}, "crawls": [...]}        first line
    {"page": 1, "url": ..., "outcome": "new", ..., "sketch": ...}       a page
    {"frames_of": "example.com", "record": ..., "provisional": [...]}   a host's frames

Pages have their numbers in the exported index, ascending. 64-bit fingerprints are strings in
hexadecimal, since many readers of JSON round large numbers; bytes are base64; times are ISO 8601 in
UTC, in whole seconds. Every field must round-trip (decode, encode, compare), so an index accepts
nothing that it could not have written itself.

Records are restored unchanged, under their own numbers if these are free. A page that is already in
the index (same URL, digest, first time and outcome) is skipped, so an interrupted import can be run
again. A host's frames are restored unless the index knows the host itself. A shared index numbers
pages anew; it keeps similarities to 7 digits, of frames what its processes share, and no waiting
pages, texts and forms. An original that is not among the lines before it counts as forgotten: page
0. (On servers a page that is seen again gets a later number, also as the original of pages that
repeat it.)

A line is imported whole or not at all. The first bad line ends the import; the lines before it are
in the index. If the first line is bad, no index is made.
"""

import json
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, get_args
from zlib import error as ZlibError  # noqa: N812 - it is a class

import numpy as np
import xxhash

from dedup_filter.comparison.visits import is_visit
from dedup_filter.errors import DedupError
from dedup_filter.fingerprints.profile import DIGEST_BYTES
from dedup_filter.fingerprints.sketch import KEYS_BYTES, is_sketch
from dedup_filter.frames.host_frames import Host, pack, unpack
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.model import Outcome
from dedup_filter.store.protocol import Recorded, Waiting
from dedup_filter.store.records import KEPT_AS_TEXT, Crawl, PageRecord, Scheme
from dedup_filter.text.page_bytes import unpack_page
from dedup_filter.text.page_url import url_key
from dedup_filter.upkeep import Index
from dedup_filter.wording import as_time

if TYPE_CHECKING:
    from dedup_filter.upkeep.directory import DirectoryKeeper
    from dedup_filter.upkeep.servers import ServersKeeper

HEADER_KEY = "dedup_filter_export"
FRAMES_KEY = "frames_of"
FORMAT = 8
_SHORT_KEYS = 7
"""The format before: keys of 32 bits, which an index on servers does not look up."""
_SHORT_KEYS_BYTES = 32
LONGEST_LINE = 128 * 2**20
"""In bytes. The largest page that is judged has 16 MiB of characters, six bytes each if escaped."""

Object = Mapping[str, Any]


def exported(index: Recorded) -> Iterator[Object]:
    """Yield the first line, a line for each page, and a line for each host with known frames.

    With the frames, an index made of the lines judges later pages as this index would. Cost: 20 us
    a page without text.
    """
    head = {HEADER_KEY: FORMAT, "scheme": index.scheme, "crawls": index.crawls()}
    yield _written(head, _HEADER)
    for record in index.records():
        content = index.content(record)
        kept = {name: value for name, value in content._asdict().items() if value is not None}
        originals = {"original": content.url_of_original, "original_page": record.original}
        fields = _PAGE | {name: field for name, field in _CONTENT.items() if name in kept}
        yield _written({**record._asdict(), **kept, **originals}, fields)
    for host in index.hosts():
        frame, waiting = host.to_bytes(), index.waiting(host.name)
        yield _written({FRAMES_KEY: host.name, "record": frame, "provisional": waiting}, _FRAMES)


def scheme_and_crawls_in(line: Object) -> tuple[Scheme, list[Crawl]]:
    """Read a first line."""
    if HEADER_KEY not in line:
        raise ValueError(
            "begins no export: the first line is missing, or these are items of a feed, which "
            "`dedup-filter see INDEX` judges"
        )
    if line[HEADER_KEY] not in (_SHORT_KEYS, FORMAT):
        raise ValueError(
            f"begins an export of format {line[HEADER_KEY]!r:.40}, and this version of "
            f"dedup-filter reads format {FORMAT}: use the version that wrote it, or give "
            "feeds to `dedup-filter see`"
        )
    _, scheme, crawls = _read(line, _HEADER)
    return scheme, crawls


def record_in(line: Object) -> tuple[PageRecord, str | None, bytes | None]:
    """Read the line of a page: its record, and its text and form if they were kept."""
    values = dict(zip(_PAGE, _read(line, _PAGE), strict=True))
    original = values["original"] = values.pop("original_page")  # the URL is for people
    if len(keys := values["keys"]) == _SHORT_KEYS_BYTES:
        values["keys"] = b"".join(keys[at : at + 4] + b"\0\0" for at in range(0, len(keys), 4))
    values["visit"] = values["visit"] or b""  # exports of servers, and earlier ones, have none
    record = PageRecord(**values, url_key=url_key(values["url"]), is_pending=False)
    if not is_visit(record.visit, record.sketch):
        raise ValueError("has a visit of other blocks than its sketch")
    if not record.is_kept and original is None:
        raise ValueError(f"has outcome {record.outcome!r} and no original_page")
    if original == record.page:
        raise ValueError(f"has its own number {original} as original_page")
    if record.last_seen < record.first_seen:
        raise ValueError("was last seen before it was first seen")
    text, form = _read(line, _CONTENT)
    if form == KEPT_AS_TEXT and text is None:
        raise ValueError("has the form of a text, but no text")
    return record, text, form


def host_in(line: Object) -> tuple[Host, list[Waiting]]:
    """Read the line of a host: its frame, and its waiting pages."""
    name, frame, waiting = _read(line, _FRAMES)
    return Host.from_bytes(name, frame), [replace(each, host=name) for each in waiting]


class _Field(NamedTuple):
    """How a field of a line is read and written; None, a missing value, is handled elsewhere."""

    read: Callable[[Any], Any]
    """JSON value -> value. A wrong JSON value raises an error, or does not round-trip."""
    write: Callable[[Any], Any]


def _written(values: Mapping[str, Any], fields: Mapping[str, _Field]) -> dict[str, Any]:
    return {name: _or_none(field.write, values[name]) for name, field in fields.items()}


def _read(line: Object, fields: Mapping[str, _Field]) -> Iterator[Any]:
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


def _waiting(page: object, form: object, note: object) -> Waiting:
    times, new, _ = unpack(_ANY_BYTES.read(note))
    return Waiting(_NUMBER.read(page), "", times, np.array(new, np.uint64), _ANY_BYTES.read(form))


def _seconds(time: str) -> int:
    # strptime takes ten times as long
    return int(datetime.fromisoformat(f"{time[:-1]}+00:00").timestamp())


_REFUSALS = (
    *(ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError),
    ZlibError,
)
"""Errors of a read of unexpected JSON."""
_TEXT = _Field(str, str)
_TIME = _Field(_seconds, as_time)
_OUTCOME = _Field(lambda value: _require(value, value in get_args(Outcome)), str)
_SHARE = _Field(lambda value: _require(share := float(value), 0 <= share <= 1), float)
_HEX = _Field(lambda value: _require(bits := int(value, 16), 0 <= bits < 2**64), hex)
_NUMBER, _NUMBER_OR_0 = _whole(1), _whole(0)
_ANY_BYTES = _bytes(lambda _: True)
_CRAWL = {
    "crawl": _NUMBER,
    "name": _TEXT,
    "started": _TIME,
    "ended": _TIME,
    "options": _Field(lambda options: _require(options, isinstance(options, dict)), dict),
}
_HEADER = {
    HEADER_KEY: _whole(_SHORT_KEYS, FORMAT),
    "scheme": _Field(
        lambda parts: Scheme({name: str(parts[name]) for name in parts}),
        lambda scheme: dict(scheme.parts),
    ),
    "crawls": _Field(
        lambda lines: [Crawl._make(_read(line, _CRAWL)) for line in lines],
        lambda crawls: [
            _written(dict(zip(_CRAWL, crawl, strict=True)), _CRAWL) for crawl in crawls
        ],
    ),
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
    "digest": _bytes(lambda digest: len(digest) == DIGEST_BYTES),
    "sketch": _bytes(is_sketch),
    "h1": _TEXT,
    "title": _TEXT,
    "canonical_key": _HEX,
    "keys": _bytes(lambda keys: len(keys) in (0, _SHORT_KEYS_BYTES, KEYS_BYTES)),
    "visit": _ANY_BYTES,
}
_CONTENT = {"text": _TEXT, "form": _bytes(lambda form: form == KEPT_AS_TEXT or unpack_page(form))}
_FRAMES = {
    FRAMES_KEY: _TEXT,
    "record": _bytes(lambda frame: Host.from_bytes("", frame)),
    "provisional": _Field(
        lambda rows: [_waiting(*row) for row in rows],
        lambda pages: [
            [each.page, *map(_ANY_BYTES.write, (each.form, pack(each.times, each.new.tolist())))]
            for each in pages
        ],
    ),
}
_OPTIONAL = {
    *("name", "ended", "reason", "original", "original_page", "distance", "similarity"),
    *("language", "fingerprint", "text", "form", "options", "canonical_key", "visit"),
}

_FORGOTTEN = 0
"""The number of an original without a record."""


def import_lines(lines: Iterable[tuple[int, bytes]], index: Index) -> dict[str, Any]:
    """Put numbered lines of an export into an index, which is made if there is none.

    Returns counts:

        lines          imported lines
        outcomes       recorded pages by outcome
        there_already  pages that were recorded before
        hosts          hosts whose frames were restored
        hosts_known    hosts whose frames this index knew itself, and keeps
        not_kept       lines that this kind of index cannot keep

    Raises:
        DedupError: a line is bad, and the lines before it are imported; or the index cannot be
            opened or written.
    """
    became, taken = Counter[str](), None
    with ExitStack() as opened:
        for number, content in lines:
            if content.isspace():
                continue
            try:
                line = _object(content)
                if taken is None:
                    scheme, crawls = scheme_and_crawls_in(line)
                    target = opened.enter_context(closing(index.target(scheme)))
                    taken = _Import(target, crawls)
                    became["header"] += 1
                else:
                    became[taken.add(line)] += 1
            except DedupError:
                raise
            except ValueError as why:
                raise DedupError(f"line {number}: it {why}") from None
    return {
        "lines": became.total(),
        "outcomes": {name: became[name] for name in get_args(Outcome) if became[name]},
        **{name: became[name] for name in ("there_already", "hosts", "hosts_known", "not_kept")},
    }


class _Import:
    """Puts the pages and hosts of an export into an index."""

    def __init__(self, target: "DirectoryKeeper | ServersKeeper", crawls: Iterable[Crawl]) -> None:
        self._target = target
        self._there = HammingIndex(0)
        """Pages that were in the index before, by a key of their constant fields."""
        for each in target.records():
            self._there.add(_key(each), each.page)
        self._crawls = {each.number: target.restore_crawl(each) for each in crawls}
        self._numbers = HammingIndex(0)
        """Pages by their numbers in the export."""
        self._last = 0
        """The last number in the export."""

    def add(self, line: Object) -> str:
        """Import a line; return its outcome. ValueError: why it cannot be imported."""
        if HEADER_KEY in line:
            raise ValueError("begins another export: import each by itself")
        if FRAMES_KEY in line:
            host, waiting = host_in(line)
            numbered = (replace(each, page=self._number(each.page)) for each in waiting)
            is_new = self._target.restore_host(host, [each for each in numbered if each.page])
            return "hosts" if is_new else "hosts_known"
        record, text, form = record_in(line)
        for crawl in (record.crawl, record.first_crawl):
            if crawl not in self._crawls:
                raise ValueError(f"has crawl {crawl}, which is not in the first line")
        if record.page <= self._last:
            raise ValueError(f"has page {record.page} after page {self._last}: out of order")
        there = self._there.rows_of(_key(record))
        here = record._replace(
            original=_or_none(self._number, record.original),
            crawl=self._crawls[record.crawl],
            first_crawl=self._crawls[record.first_crawl],
        )
        number = there[0] if there else self._target.restore(here, text, form)
        if number is None:
            return "not_kept"
        self._last = record.page
        self._numbers.add(record.page, number)
        return "there_already" if there else record.outcome

    def _number(self, page: int) -> int:
        """Return the number in this index of a page of the export."""
        return next(iter(self._numbers.rows_of(page)), _FORGOTTEN)


def _object(content: bytes) -> Object:
    # Nothing else is parsed: a hundred thousand brackets would fill the stack.
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        with suppress(ValueError, RecursionError):
            value: Object = json.loads(content)
            return value
    raise ValueError("is no JSON object")


def _key(record: PageRecord) -> int:
    fixed = f"{record.url_key} {record.first_seen} {record.outcome} "
    return xxhash.xxh3_64_intdigest(fixed.encode() + record.digest)
