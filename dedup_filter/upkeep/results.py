"""What goes into the work on an index and comes out of it, wherever the index is kept."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any, NamedTuple

from dedup_filter.config import FilterConfig
from dedup_filter.pages.directory.frame_store import HostFrames
from dedup_filter.pages.directory.records import Crawl, PageRecord, canonical
from dedup_filter.pages.directory.scheme import Scheme

__all__ = [
    "Compaction",
    "ExportedPage",
    "Findings",
    "Migration",
    "Source",
    "Watch",
    "options_in",
    "pages_by_url",
]

Watch = Callable[[Iterable[PageRecord], int], AbstractContextManager[Iterable[PageRecord]]]
"""Records and their number -> the same records, while somebody sees them pass."""


@dataclass
class Findings:
    """The result of a check."""

    faults: list[str] = field(default_factory=list)
    """What must never be: a damaged file, parts that disagree."""
    notes: list[str] = field(default_factory=list)
    """What the next crawl or `compact` puts right."""
    pages: int = 0
    """Pages that are recorded."""
    entries: int = 0
    """Entries of the tables, or of the log, that were compared with the records."""


class Compaction(NamedTuple):
    """Bytes before and after, by what takes them, and the number of things put right."""

    before: Mapping[str, int]
    after: Mapping[str, int]
    counts: Mapping[str, int]


class Migration(NamedTuple):
    """The result of a migration."""

    pages: int
    """Pages in the index as it is now."""
    dropped: int
    """Pages that are only in the backup."""
    backup: Path | None
    """Where the index is as it was; None: it has the wanted scheme already, nothing was done."""


class ExportedPage(NamedTuple):
    """A page and what an export tells of it beside its record."""

    record: PageRecord
    original_url: str | None = None
    """The URL of the page that it repeats, if that page is still recorded."""
    text: str | None = None
    """Its main text, if that was kept."""


class Source(NamedTuple):
    """What an export is made of. Pages and hosts can be read once, while the index is open."""

    scheme: Scheme
    crawls: list[Crawl]
    pages: Iterator[ExportedPage]
    """Pages that are not pending, by ascending number."""
    hosts: Iterable[HostFrames]


def options_in(scheme: Scheme) -> dict[str, Any]:
    """Return the options of a filter that a scheme names."""
    default = FilterConfig()
    return {
        option.name: type(getattr(default, option.name))(scheme.parts[option.name])
        for option in fields_of(FilterConfig)
        if option.name in scheme.parts
    }


def pages_by_url(
    urls: Iterable[str], records: Iterable[PageRecord]
) -> tuple[dict[str, int], list[int]]:
    """Find the pages at some URLs: how many there are at each, and the numbers of all of them.

    Cost: one pass over the records.
    """
    counts = dict.fromkeys(urls, 0)
    spellings: dict[str, list[str]] = {}
    for url in counts:
        spellings.setdefault(canonical(url), []).append(url)
    found = []
    for record in records:
        wanted = spellings.get(canonical(record.url), ())
        if wanted:
            found.append(record.page)
        for url in wanted:
            counts[url] += 1
    return counts, found
