"""Inputs and results of the upkeep of an index, in a directory or on servers."""

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
from dedup_filter.store.records import KEPT_AS_TEXT, Crawl, PageRecord, Scheme
from dedup_filter.store.sqlite.frame_store import HostFrames
from dedup_filter.text.page_bytes import unpack_page
from dedup_filter.text.page_url import canonical
from dedup_filter.text.reading import Page

Watch = Callable[[Iterable[Any], int | None], AbstractContextManager[Iterable[Any]]]
"""Values and their number (None: not known) -> the same values, with a progress display."""

_ATTEMPTS = 3
_PAUSE = 0.2


class Doubt(NamedTuple):
    """A possible fault, and its page (0: no single page)."""

    what: str
    page: int = 0
    is_fault: bool = True
    """False: the next crawl or `compact` repairs it."""


@dataclass
class Findings:
    """The result of a check: faults and notes; without faults, also the numbers compared."""

    faults: list[str]
    notes: list[str] = field(default_factory=list)
    pages: int = 0
    """Recorded pages."""
    entries: int = 0
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


class Entries(NamedTuple):
    """The search keys of all recorded pages that are not pending; arrays of equal length."""

    pages: npt.NDArray[np.int64]
    """Numbers, ascending."""
    are_kept: npt.NDArray[np.bool_]
    have_fingerprints: npt.NDArray[np.bool_]
    fingerprints: npt.NDArray[np.uint64]
    """0 for a page without fingerprint."""
    digest_heads: npt.NDArray[np.uint64]
    """The first 8 bytes of digests, little-endian; on servers only of pages without fingerprint."""
    keys: npt.NDArray[np.uint32]
    """Keys of their phrases, (n, `KEYS`); 0 for none."""


class KeptContent(NamedTuple):
    """The content of a page that was kept beside its record."""

    text: str | None = None
    """The main text, with `keep_text`; None: it was not kept."""
    form: bytes | None = None
    """The packed blocks of the page, see `records.KEPT_AS_TEXT`; None: they were not kept."""
    url_of_original: str | None = None
    """URL of the page that it repeats; None: it repeats none, or that page is gone."""

    def page(self) -> Page | None:
        """Unpack the blocks; None: there are none, or they cannot be read here.

        Another version of this package may have packed them.
        """
        if self.form is None or self.form == KEPT_AS_TEXT:
            return None
        try:
            return unpack_page(self.form)
        except ValueError:
            return None


class Source(NamedTuple):
    """The input of an export. Records and hosts can be read once, while the index is open."""

    scheme: Scheme
    crawls: list[Crawl]
    records: Iterator[PageRecord]
    """Records of the pages that are not pending, by ascending number."""
    hosts: Iterable[HostFrames] = ()
    """Hosts with known frames; empty for a shared index."""
    content: Callable[[PageRecord], KeptContent] = lambda _: KeptContent()
    """The kept content of a page; empty for a shared index."""
    most: int | None = None
    """Upper bound of the number of records (it counts pending pages, too); None: not known."""


class Recorded(NamedTuple):
    """An index, only read; changes by its crawlers meanwhile may be seen or not."""

    scheme: Scheme
    entries: Entries
    records: Callable[[Iterable[int]], Iterable[PageRecord]]
    """Numbers of pages -> their records, in this order; pages that are gone are left out."""
    at_url: Callable[[str], Sequence[int]]
    """The kept pages at a URL in any spelling, the earliest first."""
    frames: Callable[[str], HostFrames | None]
    """The frames of a host; None: not known, as always in a shared index."""
    dropped_at_url: Callable[[str], Sequence[int]] = lambda _: ()
    """The recorded pages at a URL that repeat others; a shared index records none."""
    repeats: Callable[[], Sequence[tuple[int, int, int]]] = tuple
    """Dropped pages: number, number of the original, distance of the text by which it was found; a
    shared index records none."""
    content: Callable[[PageRecord], KeptContent] = lambda _: KeptContent()
    """The kept content of a page; empty for a shared index."""


class Searched(NamedTuple):
    """The kept pages of an index, for look-ups of many fingerprints at once."""

    fingerprints: HammingIndex
    """Its rows are the numbers of pages."""
    urls: Callable[[list[int]], Mapping[int, str]]
    """Numbers of pages -> URLs; pages that are pending or gone are left out."""


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
