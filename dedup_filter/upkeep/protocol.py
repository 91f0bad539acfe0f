"""What upkeep asks of an index, wherever it is kept, and the values in which it answers.

`DirectoryIndex` and `ServerIndex` have these methods. Another kind of index is one more class, to
be named in `dedup_filter.upkeep.index_at`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from dedup_filter.config import FilterConfig
from dedup_filter.pages.directory.crawls import Crawl
from dedup_filter.pages.directory.records import PageRecord
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.snapshot import KnownHost
from dedup_filter.pages.directory.url_key import canonical

__all__ = [
    "Compaction",
    "ExportedPage",
    "Findings",
    "Index",
    "Migration",
    "Source",
    "Target",
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
    hosts: Iterable[KnownHost]


class Target(Protocol):
    """An index, open for the records of an export.

    Raises:
        StoreError: by all methods, when it cannot be written.
    """

    @property
    def scheme(self) -> Scheme:
        """How its fingerprints are made."""

    def records(self) -> Iterator[PageRecord]:
        """Yield the records that are there."""

    def known_hosts(self) -> set[str]:
        """Return the hosts whose frames it knows."""

    def restore_crawl(self, crawl: Crawl) -> int:
        """Record a crawl; return its number here."""

    def restore(self, record: PageRecord, text: str | None) -> int | None:
        """Record a page; return its number here, or None if such pages are not kept."""

    def restore_host(self, known: KnownHost) -> bool:
        """Record the frames of a host; return False if frames are not kept."""

    def close(self) -> None:
        """Write what is left and let go of the index."""


class Index(Protocol):
    """An index under upkeep; `str` names it without a password.

    Raises:
        ConfigError: by all methods but `target` and `filter_options`, if there is no index.
        StoreError: by all methods, if it cannot be read or written, or is in use.
    """

    @property
    def location(self) -> str:
        """Where it is, for `NearDuplicateFilter.open`."""

    def figures(self) -> dict[str, Any]:
        """Count what it holds. Times are Unix seconds."""

    def check(self) -> Findings:
        """Tell what is wrong with it. Reads only."""

    def forget(self, urls: Sequence[str]) -> dict[str, int]:
        """Forget all pages at some URLs, in any spelling; return how many there were at each.

        Cost: one pass over all pages, whatever the number of URLs.
        """

    def compact(self) -> Compaction:
        """Give back the room that forgotten pages have left."""

    def source(self) -> AbstractContextManager[Source]:
        """Open it for an export."""

    def target(self, scheme: Scheme) -> Target:
        """Open it for an import of records with this scheme; make it if there is none."""

    def filter_options(self) -> dict[str, Any]:
        """Return the filter options that it was made with, as far as it tells; {} if it is new."""

    def migrate(
        self, config: FilterConfig, *, drop_unkept: bool, fresh: bool, watch: Watch
    ) -> Migration:
        """Make its fingerprints anew as a filter with this configuration does; keep a backup.

        Pages whose texts were not kept are left behind if `drop_unkept`, all pages if `fresh`.
        `watch` sees the records pass.

        Raises:
            ConfigError: texts that are needed were not kept.
        """


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
