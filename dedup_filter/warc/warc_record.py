"""What reading one record of a WARC file can come to."""

from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["ArchivedPage", "Damage", "Skipped", "WarcRecord"]


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """A response with status 200; its transfer and content encodings are undone."""

    url: str
    content_type: str | None
    body: bytes


@dataclass(frozen=True, slots=True)
class Skipped:
    """A sound record that holds no page."""

    reason: str


@dataclass(frozen=True, slots=True)
class Damage:
    """A record that cannot be read."""

    offset: int
    problem: str


WarcRecord: TypeAlias = ArchivedPage | Skipped | Damage
