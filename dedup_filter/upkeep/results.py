"""What goes into the work on an index and comes out of it, wherever the index is kept."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from dataclasses import fields as fields_of
from time import sleep
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.config import FilterConfig
from dedup_filter.errors import StoreCorrupt
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.pages.directory.frame_store import HostFrames
from dedup_filter.pages.directory.records import (
    KEPT_AS_TEXT,
    Crawl,
    PageRecord,
    Scheme,
    canonical,
)
from dedup_filter.text.page_bytes import unpack_page
from dedup_filter.text.reading import Page

Watch = Callable[[Iterable[Any], int | None], AbstractContextManager[Iterable[Any]]]
"""Values, and how many there are if that is known -> the same, while somebody sees them pass."""

_ATTEMPTS = 3
_PAUSE = 0.2


class Doubt(NamedTuple):
    """What seems to be wrong, and with which page; 0: with none."""

    what: str
    page: int = 0
    is_fault: bool = True
    """Whether it must never be; or the next crawl or `compact` puts it right."""


@dataclass
class Findings:
    """The result of a check: faults and notes, and how much was compared if there is no fault."""

    faults: list[str]
    notes: list[str] = field(default_factory=list)
    pages: int = 0
    """Pages that are recorded."""
    entries: int = 0
    """Entries of the tables, or of the log."""

    @classmethod
    def of(cls, look: Callable[[set[int] | None], set[Doubt]]) -> "Findings":
        """Find what is wrong each time that one looks: crawlers may be at work on the index.

        `look` is asked for all pages first, and then for those in doubt only. What it raises of
        damage is a fault at once, and then there is nothing more to compare.
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
            told = f"{1 + len(others):,} of the pages, {page} first: {what}" if page else what
            (found.faults if is_fault else found.notes).append(told)
        return found


class Entries(NamedTuple):
    """What pages are found by, of all that are recorded and not pending; arrays of equal length."""

    pages: npt.NDArray[np.int64]
    """Numbers, ascending."""
    are_kept: npt.NDArray[np.bool_]
    have_fingerprints: npt.NDArray[np.bool_]
    fingerprints: npt.NDArray[np.uint64]
    """0 for a page that has none."""
    digest_heads: npt.NDArray[np.uint64]
    """The first 8 bytes of digests, little-endian; on servers only of pages without fingerprint."""
    keys: npt.NDArray[np.uint32]
    """Of their phrases, (n, `KEYS`); 0 for none."""


class KeptContent(NamedTuple):
    """What was kept of a page beside its record."""

    text: str | None = None
    """With `keep_text`; None: it was not kept."""
    form: bytes | None = None
    """The page as it was taken apart, see `records.KEPT_AS_TEXT`; None: it was not kept."""
    url_of_original: str | None = None
    """Of the page that it repeats; None: it repeats none, or that is gone."""

    def page(self) -> Page | None:
        """Unpack the form; return None if there is none of blocks, or none that can be read here.

        Another version of this package may have packed it.
        """
        if self.form is None or self.form == KEPT_AS_TEXT:
            return None
        try:
            return unpack_page(self.form)
        except ValueError:
            return None


class Source(NamedTuple):
    """What an export is made of. Records and hosts can be read once, while the index is open."""

    scheme: Scheme
    crawls: list[Crawl]
    records: Iterator[PageRecord]
    """Of the pages that are not pending, by ascending number."""
    hosts: Iterable[HostFrames] = ()
    """Those whose frames are known; none of a shared index."""
    content: Callable[[PageRecord], KeptContent] = lambda _: KeptContent()
    """What was kept of a page; nothing by a shared index."""
    most: int | None = None
    """So many records at most, as pending pages are counted, too; None: not known."""


class Recorded(NamedTuple):
    """An index that is only read; what its crawlers do meanwhile may be seen or not."""

    scheme: Scheme
    entries: Entries
    records: Callable[[Iterable[int]], Iterable[PageRecord]]
    """Numbers of pages -> their records, in this order; those that are gone are left out."""
    at_url: Callable[[str], Sequence[int]]
    """The kept pages at a URL, however it is spelt, the earliest first."""
    frames: Callable[[str], HostFrames | None]
    """What is known of a host; None: nothing, as by a shared index."""
    dropped_at_url: Callable[[str], Sequence[int]] = lambda _: ()
    """The recorded pages at a URL that repeat others; a shared index records none."""
    repeats: Callable[[], Sequence[tuple[int, int, int]]] = tuple
    """Pages that were dropped: number, number of the original, distance of the text by which it was
    found; a shared index records none."""
    content: Callable[[PageRecord], KeptContent] = lambda _: KeptContent()
    """What was kept of a page; nothing by a shared index."""


class Searched(NamedTuple):
    """The kept pages of an index, to be found by many fingerprints at once."""

    fingerprints: HammingIndex
    """Its rows are the numbers of pages."""
    urls: Callable[[list[int]], Mapping[int, str]]
    """Numbers of pages -> URLs; those that are pending or gone are left out."""


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
