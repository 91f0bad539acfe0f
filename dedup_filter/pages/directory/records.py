"""Records of pages: the values that a store takes and gives <-> columns of SQLite.

SQLite's integers are signed, so 64-bit values are stored as their two's complement. Its text is
UTF-8, which cannot hold half of a surrogate pair. URLs on the web have some: those are stored as
bytes.
"""

import zlib
from typing import Any, NamedTuple

from dedup_filter.model import Outcome
from dedup_filter.pages.directory.url_key import Place
from dedup_filter.text import Headline

__all__ = [
    "Judged",
    "Measured",
    "NewPage",
    "PageRecord",
    "as_column",
    "from_column",
    "packed_text",
    "signed",
    "unpacked_text",
    "unsigned",
]


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

    def columns(self) -> tuple[Any, ...]:
        """Return digest, fingerprint, words, language, h1, title and sketch as columns."""
        return (
            self.digest,
            None if self.fingerprint is None else signed(self.fingerprint),
            self.words,
            self.language,
            as_column(self.headline.h1),
            as_column(self.headline.title),
            self.sketch,
        )


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

    @classmethod
    def of(cls, row: Any) -> "PageRecord":
        """Make it of a row: its fields in their order, with what was judged, h1 and title last."""
        page, url, host, digest, fingerprint, *others, h1, title = row
        (*plain, is_pending), judged = others[:8], others[8:]
        return cls._make(
            (
                page,
                from_column(url),
                from_column(host),
                digest,
                None if fingerprint is None else unsigned(fingerprint),
                *plain,
                bool(is_pending),
                Judged(*judged),
                Headline(from_column(h1), from_column(title)),
            )
        )

    @property
    def measured(self) -> Measured:
        """What later pages are compared with."""
        return Measured(
            self.digest, self.fingerprint, self.sketch, self.words, self.language, self.headline
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
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def from_column(value: str | bytes) -> str:
    """Return the text that `as_column` was given."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")
