"""What a store takes and gives, and the rows of SQLite that it becomes and comes back from.

SQLite's integers are signed, so 64-bit values are stored as their two's complement. Its text
is UTF-8, which has no half surrogates, but URLs on the web have: those are stored as bytes.
"""

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from dedup_filter.model import Outcome
from dedup_filter.pages.directory.url_key import Place, url_key
from dedup_filter.text import Headline

__all__ = [
    "INSERT",
    "MATCHES",
    "RECORD",
    "REFRESH",
    "REPLACE",
    "Judged",
    "Matches",
    "Measured",
    "NewPage",
    "PageRecord",
    "as_column",
    "from_column",
    "insert_values",
    "matches_of",
    "measured_values",
    "packed_text",
    "record_of",
    "restore_values",
    "signed",
    "unpacked_text",
    "unsigned",
]

RECORD = """
    SELECT pages.id, url, hosts.name, digest, fingerprint, sketch, words, language,
        first_seen, last_seen, first_crawl, crawl, is_pending,
        outcome, reason, original, distance, similarity, h1, title
    FROM pages JOIN hosts ON hosts.id = pages.host
"""
MATCHES = "SELECT id, host, crawl, url_key, digest, h1, title, sketch FROM pages WHERE id IN ({})"
INSERT = """
    INSERT INTO pages (id, is_pending, is_kept, host, url, url_key, first_seen, last_seen,
        first_crawl, crawl, outcome, reason, original, distance, similarity,
        digest, fingerprint, words, language, h1, title, sketch)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
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


class Measured(NamedTuple):
    """What later pages are compared with."""

    digest: bytes
    """16 bytes."""
    fingerprint: int | None
    """None: the page is too short to be near another."""
    sketch: bytes
    words: int
    language: str | None
    headline: Headline = Headline()


class Judged(NamedTuple):
    """What was said of a page."""

    outcome: Outcome
    reason: str | None = None
    original: int | None = None
    distance: int | None = None
    similarity: float | None = None

    @property
    def is_kept(self) -> bool:
        """Whether later pages are compared with it."""
        return self.outcome not in ("near", "exact")


class NewPage(NamedTuple):
    """A page to be recorded."""

    place: Place
    measured: Measured
    judged: Judged
    seen: int
    """Unix seconds."""
    text: str | None = None
    """The main text, if it is to be kept."""


class Matches(NamedTuple):
    """Pages that another may repeat, side by side."""

    hosts: list[int]
    crawls: list[int]
    """The last one that each was seen in."""
    url_keys: list[int]
    digests: list[bytes]
    headlines: list[Headline]
    sketches: list[bytes]

    def part(self, numbers: Sequence[int]) -> "Matches":
        """Return some of them, by their numbers."""
        return Matches._make([column[number] for number in numbers] for column in self)


class PageRecord(NamedTuple):
    """All that is recorded of a page."""

    page: int
    url: str
    host: str
    digest: bytes
    fingerprint: int | None
    sketch: bytes
    words: int
    language: str | None
    first_seen: int
    last_seen: int
    first_crawl: int
    crawl: int
    is_pending: bool
    judged: Judged
    headline: Headline = Headline()

    @property
    def measured(self) -> Measured:
        """What later pages are compared with."""
        return Measured(
            self.digest, self.fingerprint, self.sketch, self.words, self.language, self.headline
        )


def record_of(row: Any) -> PageRecord:
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


def matches_of(rows: Sequence[Any]) -> Matches:
    """Set rows of `MATCHES` side by side."""
    if not rows:
        return Matches([], [], [], [], [], [])
    _, hosts, crawls, keys, digests, h1s, titles, sketches = zip(*rows, strict=True)
    return Matches(
        list(hosts),
        list(crawls),
        list(map(unsigned, keys)),
        list(digests),
        list(map(Headline, map(from_column, h1s), map(from_column, titles))),
        list(sketches),
    )


def insert_values(
    page: int, new: NewPage, host: int, crawl: int, *, is_pending: bool
) -> tuple[Any, ...]:
    """Make the values of `INSERT` for a page seen in a crawl, with the number of its host."""
    judged = new.judged
    place = as_column(new.place.url), signed(new.place.key)
    seen = new.seen, new.seen, crawl, crawl
    return (
        page,
        is_pending,
        judged.is_kept,
        host,
        *place,
        *seen,
        *judged,
        *measured_values(new.measured),
    )


def restore_values(record: PageRecord, host: int) -> tuple[Any, ...]:
    """Make the values of `INSERT` for a record that is put back, with the number of its host."""
    place = as_column(record.url), signed(url_key(record.url))
    seen = record.first_seen, record.last_seen, record.first_crawl, record.crawl
    return (
        record.page,
        record.is_pending,
        record.judged.is_kept,
        host,
        *place,
        *seen,
        *record.judged,
        *measured_values(record.measured),
    )


def measured_values(measured: Measured) -> tuple[Any, ...]:
    """Make the values of the columns of measures, in the order of `REPLACE`."""
    return (
        measured.digest,
        None if measured.fingerprint is None else signed(measured.fingerprint),
        measured.words,
        measured.language,
        as_column(measured.headline.h1),
        as_column(measured.headline.title),
        measured.sketch,
    )


def packed_text(text: str) -> bytes:
    """Pack a text that is kept."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def unpacked_text(packed: bytes) -> str:
    """Read what `packed_text` wrote. Raises zlib.error, UnicodeDecodeError: it is damaged."""
    return zlib.decompress(packed).decode("utf-8", "surrogatepass")


def signed(value: int) -> int:
    """Return the signed integer with the same 64 bits.

    >>> signed(2**64 - 1), signed(2**63 - 1) == 2**63 - 1
    (-1, True)
    """
    return value - (1 << 64) if value >> 63 else value


def unsigned(value: int) -> int:
    """Return the integer from 0 to 2**64-1 with the same 64 bits."""
    return value & 0xFFFF_FFFF_FFFF_FFFF


def as_column(text: str) -> str | bytes:
    """Return a text in the form in which SQLite takes it."""
    return text if text.isascii() or _is_utf8(text) else text.encode("utf-8", "surrogatepass")


def from_column(value: str | bytes) -> str:
    """Return the text that `as_column` was given."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
