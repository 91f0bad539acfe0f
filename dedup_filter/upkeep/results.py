"""Inputs and results of the upkeep of an index, in a directory or on servers."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from dataclasses import fields as fields_of
from time import sleep
from typing import Any, NamedTuple

from dedup_filter.config import FilterConfig
from dedup_filter.errors import StoreCorrupt
from dedup_filter.store.records import PageRecord, Scheme
from dedup_filter.text.page_url import canonical

Watch = Callable[[Iterable[Any], int | None], AbstractContextManager[Iterable[Any]]]
"""Values and their number (None: not known) -> the same values, with a progress display."""

_ATTEMPTS = 3
_PAUSE = 0.2


class Doubt(NamedTuple):
    """A possible fault, and its page (0: no single page)."""

    what: str
    page: int = 0
    is_fault: bool = True
    """False: the next crawl repairs it, or it only takes room."""


@dataclass
class Findings:
    """The result of a check: faults and notes; without faults, also the numbers compared."""

    faults: list[str]
    notes: list[str] = field(default_factory=list)
    checked_pages: int = 0
    """Recorded pages."""
    checked_entries: int = 0
    """Entries of the tables, or of the log."""

    @classmethod
    def of(cls, look: Callable[[set[int] | None], set[Doubt]]) -> "Findings":
        """Report doubts that persist when looked at again: crawlers may be changing the index.

        `look` is called for all pages first, then for pages in doubt only. If it raises an error
        for damage, this is a fault at once, and nothing more is compared.
        """
        found = cls([])
        try:
            doubts = look(None)
            for _ in range(1, _ATTEMPTS):
                if doubts:
                    sleep(_PAUSE)
                    doubts &= look({doubt.page for doubt in doubts})
        except (StoreCorrupt, AssertionError) as damage:
            return cls([str(damage)])
        pages_of = defaultdict(list)
        for what, page, is_fault in sorted(doubts):
            pages_of[is_fault, what].append(page)
        for (is_fault, what), (page, *others) in pages_of.items():
            text = f"{1 + len(others):,} of the pages, {page} first: {what}" if page else what
            (found.faults if is_fault else found.notes).append(text)
        return found


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
    """Find the pages at some URLs: the number of pages at each, and the numbers of all pages.

    Cost: one pass over the records.
    """
    spellings = {url: canonical(url) for url in urls}
    found: dict[str, list[int]] = {spelling: [] for spelling in spellings.values()}
    for record in records:
        if (spelling := canonical(record.url)) in found:
            found[spelling].append(record.page)
    counts = {url: len(found[spelling]) for url, spelling in spellings.items()}
    return counts, [page for pages in found.values() for page in pages]
