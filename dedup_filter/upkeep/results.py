"""What goes into the work on an index and comes out of it, wherever the index is kept."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from dataclasses import fields as fields_of
from time import sleep
from typing import Any, NamedTuple

from dedup_filter.config import FilterConfig
from dedup_filter.pages.directory.crawls import Crawl
from dedup_filter.pages.directory.frame_store import HostFrames
from dedup_filter.pages.directory.records import PageRecord
from dedup_filter.pages.directory.scheme import Scheme
from dedup_filter.pages.directory.url_key import canonical

__all__ = ["Doubt", "ExportedPage", "Findings", "Source"]
__all__ += ["lasting", "options_in", "pages_by_url", "told"]

_ATTEMPTS = 3
_PAUSE = 0.2

Doubt = tuple[str, int]
"""What seems to be wrong, and with which page; 0: with none."""


@dataclass
class Findings:
    """The result of a check: what must never be, and what the next crawl or `compact` puts right.

    With the numbers of pages that are recorded, and of entries compared with them.
    """

    faults: list[str]
    notes: list[str] = field(default_factory=list)
    pages: int = 0
    entries: int = 0


class ExportedPage(NamedTuple):
    """A page, the URL of its original if that is still recorded, and its text if that was kept."""

    record: PageRecord
    original_url: str | None = None
    text: str | None = None


class Source(NamedTuple):
    """What an export is made of. Pages and hosts can be read once, while the index is open."""

    scheme: Scheme
    crawls: list[Crawl]
    pages: Iterator[ExportedPage]
    """Those that are not pending, by ascending number."""
    hosts: Iterable[HostFrames]


def lasting(look: Callable[[set[int] | None], set[Doubt]]) -> set[Doubt]:
    """Return what seems wrong each time that one looks: crawlers may be at work on the index.

    `look` is asked for all pages first, and then for those in doubt only.
    """
    doubts = look(None)
    for _ in range(1, _ATTEMPTS):
        if doubts:
            sleep(_PAUSE)
            doubts &= look({page for _, page in doubts})
    return doubts


def told(doubts: Iterable[Doubt]) -> list[str]:
    """Say what is wrong, and with how many pages."""
    pages_of = defaultdict(list)
    for what, page in sorted(doubts):
        pages_of[what].append(page)
    return [
        f"{len(pages):,} of the pages, {pages[0]} first: {what}" if pages[0] else what
        for what, pages in pages_of.items()
    ]


def options_in(scheme: Scheme) -> dict[str, Any]:
    """Return the options of a filter that a scheme names."""
    return {
        option.name: type(getattr(FilterConfig, option.name))(scheme.parts[option.name])
        for option in fields_of(FilterConfig)
        if option.name in scheme.parts
    }


def pages_by_url(
    urls: Iterable[str], records: Iterable[PageRecord]
) -> tuple[dict[str, int], list[int]]:
    """Find the pages at some URLs: how many there are at each, and the numbers of all of them.

    Cost: one pass over the records.
    """
    spellings = {url: canonical(url) for url in urls}
    found: dict[str, list[int]] = {spelling: [] for spelling in spellings.values()}
    for record in records:
        if (spelling := canonical(record.url)) in found:
            found[spelling].append(record.page)
    counts = {url: len(found[spelling]) for url, spelling in spellings.items()}
    return counts, [page for pages in found.values() for page in pages]
