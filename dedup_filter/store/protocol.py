"""The contract of stores: facts are read, and written in batches.

    Store     entries, records, hosts, waiting pages, contents and notes of one index
    Batch     finished facts: a store writes all of them or none, and may get the same batch again
    Recorded  what reports, exports and searches read of any index

A store holds what is finished: kept pages, and pages dropped for them. Pending pages are in the
memory of the process that judges them (`judge`).

Guarantees of a `Store`, held by `tests/store`:

- `write` is all or nothing. Writing a batch twice is writing it once.
- What was written outlives the process, except in memory.
- Only one process writes; a reader sees the index as it was when it was opened.

One thread at a time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.frames.host_frames import Host
from dedup_filter.store.records import KEPT_AS_TEXT, Crawl, PageRecord, Scheme
from dedup_filter.text.page_bytes import unpack_page
from dedup_filter.text.reading import Page

LAST_PAGE = "last_page"
"""The note with the highest page number given so far; numbers are never given twice."""
CRAWLS = "crawls"
"""The note with the crawls, see `records.crawls_to_json`."""
LOGS = "logs"
"""The note with what the logs of crawls counted: JSON, number of a crawl -> outcome -> pages."""


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


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A kept page that was judged before its frame was known, and is to be judged again."""

    page: int
    host: str
    times: int
    """How many other pages of its template were kept."""
    new: npt.NDArray[np.uint64]
    """Hashes of the blocks that its host had not shown before, each once."""
    content: ReadPage | bytes
    """The page, or its packed form."""

    @property
    def form(self) -> bytes:
        """The packed form of the page."""
        return self.content if isinstance(self.content, bytes) else self.content.pack()

    def read(self, config: FilterConfig) -> ReadPage | None:
        """Return the page; None: another version of this package packed it."""
        try:
            packed = self.content
            return packed if isinstance(packed, ReadPage) else ReadPage.unpacked(packed, config)
        except ValueError:
            return None


@dataclass
class Batch:
    """Facts that are not written yet; None in place of a fact: it is deleted."""

    pages: dict[int, PageRecord | None] = field(default_factory=dict)
    """Number -> record. With a record go its contents and its waiting page."""
    contents: dict[int, KeptContent | None] = field(default_factory=dict)
    hosts: dict[str, Host | None] = field(default_factory=dict)
    waiting: dict[int, Waiting | None] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any((self.pages, self.contents, self.hosts, self.waiting, self.notes))

    def clear(self) -> None:
        """Forget everything, once it is written."""
        for part in (self.pages, self.contents, self.hosts, self.waiting, self.notes):
            part.clear()


class Entries(NamedTuple):
    """The search keys of recorded pages; arrays of equal length."""

    pages: npt.NDArray[np.int64]
    """Numbers, ascending."""
    are_kept: npt.NDArray[np.bool_]
    have_fingerprints: npt.NDArray[np.bool_]
    fingerprints: npt.NDArray[np.uint64]
    """0 for a page without fingerprint."""
    digest_heads: npt.NDArray[np.uint64]
    """The first 8 bytes of digests, little-endian."""
    url_keys: npt.NDArray[np.uint64]
    keys: npt.NDArray[np.uint32]
    """32 bits of each key of their phrases, (n, `KEYS`); 0 for none."""


class Readable(Protocol):
    """What is read of any index.

    Raises:
        StoreError: by all methods, when the index cannot be read.
    """

    is_durable: bool
    """Whether the index outlives the process. If not, dropped pages are not recorded."""

    def entries(self) -> Iterable[Entries]:
        """Return the search keys of all pages, in parts. Cost: 1 us a page."""

    def records(self, pages: Iterable[int] | None = None) -> Iterator[PageRecord]:
        """Yield the records of all pages by ascending number; or of some pages, in their order.

        Pages that are gone are left out.
        """

    def at_url(self, url: str) -> Sequence[int]:
        """Return the pages at a URL in any spelling, the earliest first. Cost: scans all pages."""

    def host(self, name: str) -> Host | None:
        """Return the counted blocks of a host or a site; None: no page of it was counted."""

    def waiting(self, host: str) -> Sequence[Waiting]:
        """Return the waiting pages of a host, the earliest first."""

    def content(self, record: PageRecord) -> KeptContent:
        """Return what was kept beside the record of a page."""


class Store(Readable, Protocol):
    """The facts of one index.

    Raises:
        StoreError: by all methods, when the store cannot be read or written.
    """

    @property
    def memory(self) -> int:
        """Memory of an index in memory, in bytes; 0 for one on disk."""

    def count(self, *, is_kept: bool | None = None) -> int:
        """Count the kept or the dropped pages, or both (None)."""

    def oldest(self, most: int, *, is_kept: bool, before: float | None = None) -> Sequence[int]:
        """Return up to `most` least recently seen pages, among the kept or the dropped pages.

        `before`: only pages that were last seen before this Unix second.
        """

    def hosts_without_pages(self, most: int) -> Sequence[str]:
        """Return up to `most` hosts and sites that were counted last before any page was seen."""

    def note(self, key: str) -> str | None:
        """Return a note: `LAST_PAGE`, `CRAWLS`, `LOGS`, the scheme, or one of the caller."""

    def write(self, batch: Batch) -> None:
        """Write all facts of a batch, or none."""

    def saved_arrays(self) -> Sequence[npt.NDArray[Any]] | None:
        """Return the arrays that were saved of these very facts; None: there are none."""

    def save_arrays(self, arrays: Callable[[], Sequence[npt.NDArray[Any]]]) -> None:
        """Save arrays derived from the facts, unless they are saved already."""

    def close(self) -> None:
        """Close the store; a second call does nothing."""


class Recorded(Readable, Protocol):
    """An index, only read. Pending pages are left out.

    A directory is read as it was at the opening; of servers, changes by crawlers meanwhile may be
    seen or not.
    """

    @property
    def scheme(self) -> Scheme:
        """The scheme of the fingerprints."""

    @property
    def options(self) -> Mapping[str, Any]:
        """The options that the last crawl recorded; on servers, the process that joined last."""

    def crawls(self) -> list[Crawl]:
        """List the crawls in their order, numbered from 1."""

    def count(self) -> int:
        """Count the pages; on servers pending pages, too."""

    def with_text(self) -> set[int]:
        """Return the numbers of the pages with a stored text; servers store none."""

    def url_of_original(self, record: PageRecord) -> str | None:
        """Return the URL of the page that a page repeats; None: there is none, or it is gone."""

    def hosts(self) -> Iterable[Host]:
        """Return the known frames of all hosts and sites."""


def all_entries(recorded: Readable) -> Entries:
    """Return the search keys of all pages in one piece."""
    parts = [*recorded.entries()]
    return Entries._make(map(np.concatenate, zip(*parts, strict=True)))
