"""The record of a page in a shared index, as bytes: 54, its sketch, its words and its URL.

Fixed fields, little-endian, the sketch, then language, reason, h1, title and URL as lines of UTF-8.
Written to servers: never change it without another format number.
"""

import struct
from typing import get_args

from dedup_filter.fingerprints import is_sketch
from dedup_filter.model import Outcome
from dedup_filter.pages.directory.records import Judged, PageRecord
from dedup_filter.pages.directory.url_key import host_of
from dedup_filter.text import Headline

__all__ = ["pack_record", "unpack_record"]

_VERSION = 2
_FIXED = struct.Struct("<BBBBfIIIIIQ16sH")
_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_NONE = 255


def pack_record(record: PageRecord) -> bytes:
    """Write a record; the page's number and whether it is pending are not in it."""
    judged = record.judged
    fixed = _FIXED.pack(
        _VERSION,
        _OUTCOMES.index(judged.outcome),
        _NONE if judged.distance is None else judged.distance,
        record.fingerprint is not None,
        -1.0 if judged.similarity is None else judged.similarity,
        record.words,
        record.first_seen,
        record.last_seen,
        record.first_crawl,
        record.crawl,
        record.fingerprint or 0,
        record.digest,
        len(record.sketch),
    )
    # The URL comes last: it may have line ends in it.
    lines = [record.language or "", judged.reason or "", *record.headline]
    text = "\n".join([*(line.replace("\n", " ") for line in lines), record.url])
    return fixed + record.sketch + text.encode("utf-8", "surrogatepass")


def unpack_record(page: int, packed: bytes, *, is_pending: bool) -> PageRecord:
    """Read what `pack_record` wrote.

    Raises:
        ValueError: it wrote something else.
    """
    try:
        (
            version,
            outcome,
            distance,
            is_long,
            similarity,
            words,
            first_seen,
            last_seen,
            first_crawl,
            crawl,
            fingerprint,
            digest,
            sketch_size,
        ) = _FIXED.unpack_from(packed)
        rest = packed[_FIXED.size :]
        sketch, text = rest[:sketch_size], rest[sketch_size:].decode("utf-8", "surrogatepass")
        language, reason, h1, title, url = text.split("\n", 4)
        judged = Judged(
            _OUTCOMES[outcome],
            reason or None,
            None,
            None if distance == _NONE else distance,
            None if similarity < 0 else similarity,
        )
    except (struct.error, IndexError, ValueError) as error:
        raise ValueError(f"the record of page {page} is damaged") from error
    if version != _VERSION or not is_sketch(sketch):
        raise ValueError(f"the record of page {page} is damaged, or of version {version}")
    return PageRecord(
        page,
        url,
        host_of(url),
        digest,
        fingerprint if is_long else None,
        sketch,
        words,
        language or None,
        first_seen,
        last_seen,
        first_crawl,
        crawl,
        is_pending,
        judged,
        Headline(h1, title),
    )
