"""What a store takes and gives, and how it becomes a row of SQLite and comes back.

SQLite's integers are signed, so 64-bit values are stored as their two's complement. Its text
is UTF-8, which has no half surrogates, but URLs on the web have: those are stored as bytes.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from dedup_filter.model import Outcome
from dedup_filter.pages.directory.url_key import Place
from dedup_filter.text import Headline

__all__ = [
    "DIGEST_HEAD_BYTES",
    "Change",
    "DigestEntry",
    "Entries",
    "IndexEntry",
    "Judged",
    "Matches",
    "Measured",
    "NewPage",
    "PageRecord",
    "as_column",
    "digest_head",
    "from_column",
    "signed",
    "unsigned",
]

DIGEST_HEAD_BYTES = 8


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
        return Matches(
            [self.hosts[number] for number in numbers],
            [self.crawls[number] for number in numbers],
            [self.url_keys[number] for number in numbers],
            [self.digests[number] for number in numbers],
            [self.headlines[number] for number in numbers],
            [self.sketches[number] for number in numbers],
        )


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


class IndexEntry(NamedTuple):
    """A fingerprint that later ones are compared with, and the page it belongs to."""

    page: int
    fingerprint: int
    host: int
    """The number of the page's host."""


class DigestEntry(NamedTuple):
    """A digest that later ones are compared with, and the page it belongs to."""

    page: int
    head: int
    """The first 64 bits of the digest."""
    host: int


class Entries(NamedTuple):
    """What an index has of some kept pages."""

    fingerprints: tuple[IndexEntry, ...] = ()
    digests: tuple[DigestEntry, ...] = ()

    @classmethod
    def of(cls, rows: Iterable[Any]) -> "Entries":
        """Make them of rows: page, fingerprint, host, digest."""
        rows = list(rows)
        return cls(
            tuple(IndexEntry(p, unsigned(f), host) for p, f, host, _ in rows if f is not None),
            tuple(DigestEntry(p, digest_head(digest), host) for p, _, host, digest in rows),
        )


NO_ENTRIES = Entries()


class Change(NamedTuple):
    """What an index must do to follow the store: first remove, then add."""

    removed: tuple[IndexEntry, ...] = ()
    added: tuple[IndexEntry, ...] = ()
    removed_digests: tuple[DigestEntry, ...] = ()
    added_digests: tuple[DigestEntry, ...] = ()

    @classmethod
    def of(cls, before: Entries, after: Entries = NO_ENTRIES) -> "Change":
        """Make a change of what it was before, and is after it."""
        return cls(before.fingerprints, after.fingerprints, before.digests, after.digests)


def digest_head(digest: bytes) -> int:
    """Return the part of a digest by which an index finds it: 64 bits."""
    return int.from_bytes(digest[:DIGEST_HEAD_BYTES], "little")


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
