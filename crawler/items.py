"""What the spiders yield."""

from dataclasses import dataclass, field
from typing import Any

__all__ = ["PageItem"]


@dataclass
class PageItem:
    """A page of a crawl."""

    url: str
    title: str
    html: str = field(repr=False)
    """The whole page, decoded. Kept out of the repr: Scrapy logs items."""
    dedup: dict[str, Any] | None = None
    """The filter's verdict, with DEDUP_ACTION="tag"."""
