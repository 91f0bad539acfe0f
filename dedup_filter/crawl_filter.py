"""The filter as a crawl or a scan uses it: reading apart from judging, the states of pages.

    submit   a page -> a worker reads it
    claim_read   a page that was read -> verdict, pending
    see_read     a page that was read -> verdict, kept

Only the methods of `NearDuplicateFilter` are public; methods here may change in any version.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING

from dedup_filter.errors import ConfigError
from dedup_filter.filter import NearDuplicateFilter, PageArguments, PlacedPage
from dedup_filter.fingerprints.sketch import jaccard
from dedup_filter.model import Fate, Verdict
from dedup_filter.store.sqlite.page_store import BOOKMARK, PageStore
from dedup_filter.store.sqlite.sqlite_pages import SqlitePages
from dedup_filter.text.page_fields import PageText

if TYPE_CHECKING:
    from typing_extensions import Unpack


class CrawlFilter(NearDuplicateFilter):
    """A filter whose caller reads pages ahead, and follows what becomes of them.

    Raises: as `NearDuplicateFilter`.
    """

    def read(self, url: str, **page: "Unpack[PageArguments]") -> PlacedPage:
        """Read a page, given as to `see`; `claim_read` judges it.

        The two can run in different threads: `read` changes no state, and only `read` touches a
        given tree.
        """
        return self._read(url, PageText(**page))

    def submit(
        self, url: str, *, may_help: bool = False, **page: "Unpack[PageArguments]"
    ) -> Future[PlacedPage]:
        """Let a worker read a page, given as to `see`; `claim_read` or `see_read` judges it.

        The page is read at once if there are no workers (`FilterConfig.workers`), if a tree or an
        instance of a subclass of str or bytes is given, or with `may_help`, if all workers are
        busy. Calls come from one thread.
        """
        return self._submit(*self._given(url, PageText(**page)), may_help=may_help)

    def claim_read(self, page: PlacedPage) -> Verdict:
        """Judge a page that was read, and keep it pending."""
        return self._claim(page, is_pending=True)

    def see_read(self, page: PlacedPage) -> Verdict:
        """Judge a page that was read, and keep it for good."""
        return self._claim(page, is_pending=False)

    @property
    def has_workers(self) -> bool:
        """Whether other processes read pages for `submit`."""
        return self._pool is not None

    @property
    def is_shared(self) -> bool:
        """Whether calls wait for a server; a crawl then makes them in a thread of their own."""
        return self._kept.is_shared

    def totals(self) -> Mapping[str, int] | None:
        """Return outcome -> pages judged by all processes; None: the index is not shared."""
        return self._kept.totals()

    def fate(self, page: int) -> Fate:
        """Return the state of the page with this number: "pending", "kept" or "gone"."""
        self._require_open()
        return self._kept.fate(page) if 0 < page < 2**63 else "gone"

    def similarity(self, one: int, other: int) -> float | None:
        """Estimate the Jaccard similarity of two recorded pages, 0 to 1, from their sketches.

        `one` and `other` are their numbers; None: a record is gone. Cost: 0.1 ms, or a call of the
        server.
        """
        self._require_open()
        sketches = self._kept.sketches([one, other])
        return jaccard(sketches[one], sketches[other]) if {one, other} <= {*sketches} else None

    @property
    def bookmark(self) -> str | None:
        """The bookmark of the last write of the index; None: there is none."""
        kept: str | None = self._store_on_disk().noted(BOOKMARK)
        return kept

    def keep_bookmark(self, bookmark: Callable[[], str]) -> None:
        """Store a bookmark of the caller with each write of the index.

        Judged pages are written now and then within calls of other methods. Before each write
        `bookmark` is called, and its result is written in the same transaction: after a kill, the
        index has exactly the pages up to its bookmark. If `bookmark` raises an error, nothing is
        written.

        Raises:
            ConfigError: the index is not in a directory.
        """
        self._store_on_disk().bookmark = bookmark

    @property
    def capped(self) -> int:
        """Number of look-ups with so many candidates that only the nearest were compared."""
        return self._kept.capped

    @property
    def forgotten_hosts(self) -> int:
        """Number of hosts whose frames were forgotten because `frame_memory` was full.

        Their frames are learnt again from later pages. For an index in a directory the number is 0:
        frames are on disk.
        """
        return self._judge.forgotten

    def _store_on_disk(self) -> PageStore:
        self._require_open()
        if not isinstance(self._kept, SqlitePages) or self._kept.frames is None:
            raise ConfigError("a bookmark is for an index in a directory")
        return self._kept.store
