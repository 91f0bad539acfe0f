"""What a user names, an index or none, only read -> the page; the pages similar to it.

    a fingerprint                                 similar pages are looked up by it
    recorded and kept with its text or blocks     judged again, with the known frame of its host
    recorded, without them                        its record alone
    any other page: fetched, from a file          read, and judged with that frame

What is known of hosts is what the index has counted, or nothing; and the pages that the caller
takes for kept since. Nothing is recorded.

To find similar pages, all fingerprints are compared, without tables. So any distance is possible,
and a crawl may be writing to the index meanwhile.

Cost: 1 us a page in the index to open it, 2 ns to compare a page; 4 ms to read and profile a page.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dedup_filter.comparison.near_pages import Query
from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError, DedupError
from dedup_filter.fingerprints.read_page import ReadPage, read_page
from dedup_filter.frames.host_frames import HostContext, no_context
from dedup_filter.host_cache import HostCache
from dedup_filter.model import Document, NearPage, Unjudged
from dedup_filter.review.explained_page import ExplainedPage, NamedPage
from dedup_filter.review.given_page import given_page
from dedup_filter.store.key_table import MOST_OF_KEY, short_keys
from dedup_filter.store.location import scheme_of
from dedup_filter.store.protocol import Batch, Entries, KeptContent, Recorded, all_entries
from dedup_filter.store.records import KEPT_AS_TEXT, PageRecord
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import Place
from dedup_filter.text.reading import Page, Shown
from dedup_filter.upkeep import Index
from dedup_filter.upkeep.results import options_of

_FINGERPRINT = re.compile(r"0[xX][0-9a-fA-F]{1,16}")


class Answer(NamedTuple):
    """The pages that are similar to a page."""

    asked: str
    """The page, as the user named it."""
    fingerprint: int | None
    """None: the page has no text of enough words."""
    near: list[NearPage]
    """Nearest first, then by number; without the page itself."""
    reason: str | None = None
    """Why no page can be similar, as in `Verdict.reason`; None: pages can be."""


class RecordedPages:
    """The pages of an index, only read, and the frames of its hosts."""

    def __init__(
        self, recorded: Recorded, config: FilterConfig, name: str = "", given: Iterable[str] = ()
    ) -> None:
        self.recorded, self._name, self._given = recorded, name, {*given}
        self.config = config
        """The recorded options of the index, replaced by the options that were given."""
        self._hosts = HostCache(recorded, Batch(), config.frame_memory)

    @classmethod
    @contextmanager
    def open(cls, index: Index | None, options: Mapping[str, Any]) -> Iterator["RecordedPages"]:
        """Open an index with its recorded options, unless `options` replace them; None: no pages.

        Raises:
            ConfigError: there is no index, or an option is wrong.
            StoreError: the index cannot be read.
        """
        opened: AbstractContextManager[Recorded] = (
            index.recorded()
            if index
            else SqliteStore.in_memory(scheme_of(FilterConfig.of(options)))
        )
        with opened as recorded:
            known = options_of(recorded) if index else {}
            yield cls(recorded, FilterConfig.of({**known, **options}), str(index), options)

    def with_options(self, config: FilterConfig) -> "RecordedPages":
        """Return the same pages with other options, none kept since."""
        return RecordedPages(self.recorded, config)

    def named(self, name: str, url: str = "", *, is_met_now: bool = False) -> NamedPage:
        """Return a page of the index, or read another page; `url` is the URL of a file.

        `name` is the URL of a page in the index, another URL, the path of a file, or "-".
        `is_met_now`: see `context`; a page of the index never is.

        Raises:
            ConfigError: selectors were given for a page of the index, whose elements are not kept.
            DedupError: the page cannot be fetched or read.
            SchemeMismatch: the index has fingerprints of another scheme.
        """
        record = self._latest_at(name)
        if record is None:
            found_at, source = given_page(name, url)
            self._require_scheme()
            return NamedPage(name, found_at, self.read(found_at, source, is_met_now=is_met_now))
        if selectors := sorted(self._given & {"content", "ignore"}):
            raise ConfigError(
                f"{selectors[0]} does not change a recorded page, as its elements were not kept: "
                f"save {name} to a file, and give the file"
            )
        kept = self.recorded.content(record)
        content = kept_page(record, kept)
        if content is None:
            return NamedPage(name, record.url, None, record, kept)
        self._require_scheme()
        explained = self._explained(record.url, ReadPage.of(content, self.config))
        return NamedPage(name, record.url, explained, record, kept)

    def read(
        self, url: str, source: PageText, *, is_met_now: bool = False
    ) -> ExplainedPage | Unjudged:
        """Read a page; `is_met_now`: see `context`."""
        page = read_page(source, Place.of(url), self.config)
        if isinstance(page, Unjudged):
            return page
        return self._explained(url, page, source, is_met_now=is_met_now)

    def again(self, named: NamedPage) -> NamedPage:
        """Read a page once more, with these options; a page of an index stays as it is."""
        page = named.explained
        if page is None or page.source is None:
            return named
        return named._replace(page=self.read(named.url, page.source, is_met_now=True))

    def keep(self, named: NamedPage) -> None:
        """Count a page for its host as kept, unless the index has counted it."""
        page = named.explained
        if named.record is None and page is not None and page.context.host.name:
            updates = page.context.updates(is_kept=not page.profile.was_shown)
            self._hosts.expect(1, {host.name: update for host, update in updates})

    def context(self, url: str, shown: Shown, *, is_met_now: bool = False) -> HostContext:
        """Return the known frame of the host of a page, given the blocks that the page shows.

        If the page is recorded, the counts leave out the page itself. While the frame of the host
        is not known, this holds for a dropped page, too: its new blocks were counted. With
        `is_met_now` they are included, as in a crawl, which cannot know which counts come from an
        earlier fetch of the page.
        """
        host = Place.of(url).host
        if not (host and self.config.learn_frames):
            return no_context(shown)
        record = None if is_met_now else self._latest_at(url)
        self._hosts.shrink()
        is_counted = record is not None and (
            record.is_kept or not self._hosts.host(host).is_frame_known
        )
        return self._hosts.expected(self._hosts.context(host, shown, int(is_counted)))

    def answer(self, name: str, max_distance: int, *, url: str = "") -> Answer:
        """Find the kept pages within a distance, up to 64, of a page or a fingerprint.

        `name` is a fingerprint in hexadecimal, or as for `named`.

        Raises:
            DedupError: the page cannot be fetched or read.
            SchemeMismatch: the index has fingerprints of another scheme.
        """
        if _FINGERPRINT.fullmatch(name) and not Path(name).exists():
            value = int(name, 16)
            return Answer(name, value, self._found(Query("", (value,)), max_distance))
        named = self.named(name, url)
        page, record = named.explained, named.record
        if page is not None:
            query = Query.of(named.host, page.profile)
        elif record is not None:
            query = Query.of_record(record)
        else:
            return Answer(name, None, [], named.reason)
        itself = record or named.measures
        near = self._found(query, max_distance)
        if record is not None:
            near = [each for each in near if each.page != record.page]
        return Answer(name, itself and itself.fingerprint, near, named.reason)

    def _explained(
        self, url: str, page: ReadPage, source: PageText | None = None, *, is_met_now: bool = False
    ) -> ExplainedPage:
        shown = page.shown
        plain = no_context(shown) if page.is_plain else None
        known = plain or self.context(url, shown, is_met_now=is_met_now)
        return ExplainedPage(Place.of(url), self.config, page, known, source)

    def _latest_at(self, url: str) -> PageRecord | None:
        """Return the record of the latest kept page at a URL, else of the latest dropped page."""
        there = [*self.recorded.records(self.recorded.at_url(url) if "://" in url else ())]
        return max(there, key=lambda each: (each.is_kept, each.page), default=None)

    def _require_scheme(self) -> None:
        """Require that recorded fingerprints can be compared with fingerprints made here."""
        scheme_of(self.config).require(self.recorded.scheme, self._name)

    def _found(self, query: Query, max_distance: int) -> list[NearPage]:
        entries = self._entries
        is_like = np.zeros(len(entries.pages), np.bool_)
        for each in query.fingerprints:
            is_like |= np.bitwise_count(entries.fingerprints ^ np.uint64(each)) <= max_distance
        is_like &= entries.have_fingerprints
        if query.digest is not None:
            is_like |= entries.digest_heads == int.from_bytes(query.digest[:8], "little")
        keys = b"".join(query.keys) if self.config.looks_for_phrases else b""
        for key in np.unique(short_keys(keys)):
            have_it = (entries.keys == key).any(axis=1) & entries.are_kept
            if key and np.count_nonzero(have_it) <= MOST_OF_KEY:
                is_like |= have_it
        pages = entries.pages[is_like & entries.are_kept].tolist()
        # Of a fingerprint, or a file without a URL, no host is known.
        only = query.host if self.config.scope == "host" else ""
        records = self.recorded.records(pages)
        return query.found([each for each in records if only in ("", each.host)], max_distance)

    @cached_property
    def _entries(self) -> Entries:
        return all_entries(self.recorded)


def kept_page(record: PageRecord, kept: KeptContent) -> Page | Document | None:
    """Return the page that was kept beside a record; None: it was not, or cannot be read."""
    return Document(kept.text or "", record.title) if kept.form == KEPT_AS_TEXT else kept.page()


def require_pages(pages: Iterable[str]) -> None:
    """Refuse standard input given more than once."""
    if list(pages).count("-") > 1:
        raise DedupError("standard input (-) can be read once")
