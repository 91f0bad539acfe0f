"""What reading one record of a WARC file can come to."""

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
    """Where in the file its record begins, in bytes."""
    end: int = field(default=0, compare=False)
    """Where the next one does; `start`, if several are compressed together."""
    date: str | None = field(default=None, compare=False)
    """When it was fetched, as the record says it (WARC-Date)."""
    link: str | None = field(default=None, compare=False)
    """The header Link of the response."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A sound record that holds no page."""

    reason: str


@dataclass(frozen=True, slots=True)
class Damage:
    """A record that cannot be read."""

    offset: int
    problem: str
    end: int = field(default=0, compare=False)
    """Where something looks like the start of the next record, or the file ends."""


WarcRecord: TypeAlias = ArchivedPage | Skipped | Damage
