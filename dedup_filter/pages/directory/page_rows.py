"""Values <-> rows of pages: which columns are written and read, and what becomes of them."""

import zlib
from collections.abc import Iterable
from typing import Any

from dedup_filter.pages.directory.records import (
    Judged,
    Measured,
    NewPage,
    PageRecord,
    as_column,
    from_column,
    signed,
    unsigned,
)
from dedup_filter.pages.directory.transactions import Statement
from dedup_filter.text import Headline

__all__ = [
    "INSERT",
    "MATCHES",
    "RECORD",
    "REFRESH",
    "REPLACE",
    "counted",
    "headline_values",
    "insert_values",
    "inserted",
    "packed_text",
    "record",
    "replace_values",
    "unpacked_text",
]

RECORD = """
    SELECT pages.id, url, hosts.name, digest, fingerprint, sketch, words, language,
        first_seen, last_seen, first_crawl, crawl, is_pending,
        outcome, reason, original, distance, similarity, h1, title
    FROM pages JOIN hosts ON hosts.id = pages.host
"""
MATCHES = "SELECT id, host, crawl, url_key, digest, h1, title, sketch FROM pages WHERE id IN ({})"
INSERT = """
    INSERT INTO pages (id, is_pending, is_kept, host, url, url_key, digest, fingerprint, words,
        language, first_seen, last_seen, first_crawl, crawl, outcome, reason, original, distance,
        similarity, h1, title, sketch)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_COUNT = "UPDATE counts SET pages = pages + ? WHERE is_kept = ?"
REPLACE = """
    UPDATE pages SET digest = ?, fingerprint = ?, words = ?, language = ?, h1 = ?, title = ?,
        sketch = ?
    WHERE id = ?
"""
# Its URL and host stay: the number of a page belongs to them.
REFRESH = """
    UPDATE pages SET (digest, fingerprint, words, language, h1, title, sketch, last_seen, crawl,
        outcome, reason, original, distance, similarity) = (
        SELECT digest, fingerprint, words, language, h1, title, sketch,
            max(last_seen, pages.last_seen), crawl, outcome, reason, NULL, distance, similarity
        FROM pages AS newer WHERE newer.id = ?
    ) WHERE id = ?
"""


def record(row: Any) -> PageRecord:
    """Make a record of a row of `RECORD`."""
    page, url, host, digest, fingerprint, sketch, words, language, *rest = row
    first_seen, last_seen, first_crawl, crawl, is_pending, *judged, h1, title = rest
    return PageRecord(
        page=page,
        url=from_column(url),
        host=from_column(host),
        digest=digest,
        fingerprint=None if fingerprint is None else unsigned(fingerprint),
        sketch=sketch,
        words=words,
        language=language,
        first_seen=first_seen,
        last_seen=last_seen,
        first_crawl=first_crawl,
        crawl=crawl,
        is_pending=bool(is_pending),
        judged=Judged(*judged),
        headline=Headline(from_column(h1), from_column(title)),
    )


def insert_values(
    page: int, new: NewPage, host: int, crawl: int, *, is_pending: bool
) -> tuple[Any, ...]:
    """Make the values of `INSERT` for a page seen in a crawl, with the number of its host."""
    measured, judged = new.measured, new.judged
    return (
        page,
        is_pending,
        judged.is_kept,
        host,
        as_column(new.place.url),
        signed(new.place.key),
        measured.digest,
        _fingerprint(measured),
        measured.words,
        measured.language,
        new.seen,
        new.seen,
        crawl,
        crawl,
        *judged,
        *headline_values(measured.headline),
        measured.sketch,
    )


def inserted(statements: Iterable[Statement], *, is_kept: bool) -> int:
    """Count the pages that statements insert."""
    return sum(sql == INSERT and values[2] == is_kept for sql, values in statements)


def counted(statements: Iterable[Statement]) -> list[Statement]:
    """Make what adds the pages that statements insert to their counts."""
    statements = list(statements)
    both = [(inserted(statements, is_kept=is_kept), is_kept) for is_kept in (True, False)]
    return [(_COUNT, count) for count in both if count[0]]


def replace_values(page: int, measured: Measured) -> tuple[Any, ...]:
    """Make the values of `REPLACE`."""
    return (
        measured.digest,
        _fingerprint(measured),
        measured.words,
        measured.language,
        *headline_values(measured.headline),
        measured.sketch,
        page,
    )


def headline_values(headline: Headline) -> tuple[Any, ...]:
    """Make the values of the columns of a headline."""
    return as_column(headline.h1), as_column(headline.title)


def packed_text(text: str) -> bytes:
    """Pack a text that is kept."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def unpacked_text(packed: bytes) -> str:
    """Read what `packed_text` wrote."""
    return zlib.decompress(packed).decode("utf-8", "surrogatepass")


def _fingerprint(measured: Measured) -> int | None:
    return None if measured.fingerprint is None else signed(measured.fingerprint)
