"""The possible results of reading one record of a WARC file."""

from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = ["ArchivedPage", "Damage", "Skipped", "WarcRecord"]


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """A response with status 200; its transfer and content encodings are undone."""

    url: str
    content_type: str | None
    body: bytes
    start: int = field(default=0, compare=False)
    """Offset of its record in the file, in bytes."""
    end: int = field(default=0, compare=False)
    """Offset of the next record; equal to `start` if several are compressed together."""
    date: str | None = field(default=None, compare=False)
    """Time of the fetch as recorded (WARC-Date)."""
    link: str | None = field(default=None, compare=False)
    """The header Link of the response."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """An undamaged record without a page."""

    reason: str


@dataclass(frozen=True, slots=True)
class Damage:
    """A record that cannot be read."""

    offset: int
    problem: str
    end: int = field(default=0, compare=False)
    """Offset of what looks like the next record, or of the end of the file."""


WarcRecord: TypeAlias = ArchivedPage | Skipped | Damage
