"""What an export and an import need of an index.

- Source: pages to be written as lines, held still or nearly so.
- Keeper: takes back what the lines of an export tell.
- Target: where an import leads; it is opened as the first line wants it.

How a directory has them: `directory_place`; how servers have them: `server_place`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields as fields_of
from typing import Any, Protocol

from dedup_filter.config import FilterConfig
from dedup_filter.pages.directory.crawls import Crawl
from dedup_filter.pages.directory.records import PageRecord
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.snapshot import KnownHost

__all__ = ["Keeper", "Source", "Target", "options_in"]


class Source(Protocol):
    """An index that is exported."""

    @property
    def scheme(self) -> Scheme:
        """How its fingerprints were made."""

    def crawls(self) -> list[Crawl]:
        """List its crawls."""

    def records(self) -> Iterator[PageRecord]:
        """Yield the records of settled pages, by their numbers."""

    def has_texts(self) -> bool:
        """Tell whether the text of any page was kept."""

    def text(self, page: int) -> str | None:
        """Return the text of a page."""

    def original_url(self, page: int | None) -> str | None:
        """Return the URL of a page that another repeats."""

    def hosts(self) -> Iterator[KnownHost]:
        """Yield what is known of the frames of hosts."""


class Keeper(Protocol):
    """An index that takes back what was exported."""

    @property
    def scheme(self) -> Scheme:
        """How its fingerprints are made."""

    def records(self) -> Iterator[PageRecord]:
        """Yield the records that are there."""

    def known_hosts(self) -> set[str]:
        """Return the hosts of whose frames something is known."""

    def restore_crawl(self, crawl: Crawl) -> int:
        """Put a crawl back; return its number here."""

    def restore(self, record: PageRecord, text: str | None) -> int | None:
        """Put a record back; return its number here, or None if such ones are not kept."""

    def restore_host(self, known: KnownHost) -> bool:
        """Put back what was known of a host, or return False: it is not kept."""

    def close(self) -> None:
        """Write all there is."""


class Target(Protocol):
    """Where an import leads."""

    @property
    def location(self) -> str:
        """The location, for a filter to open."""

    def keeper(self, scheme: Scheme) -> Keeper:
        """Open it for records, and make it if there is none."""

    def options(self) -> dict[str, Any]:
        """Return the options that it was made with, as far as it tells; none if it is new."""


def options_in(parts: Mapping[str, str]) -> dict[str, Any]:
    """Return the options of a filter that stand in a scheme."""
    default = FilterConfig()
    return {
        option.name: type(getattr(default, option.name))(parts[option.name])
        for option in fields_of(FilterConfig)
        if option.name in parts
    }
