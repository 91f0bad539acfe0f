"""An index, only read -> its pages that are similar to a page that a user names.

    a fingerprint, or a page of the index     -> looked up by its record, and by its kept blocks
    any other page: fetched, from a file      -> read, and profiled with the frame of its host

All fingerprints are compared, without tables. So any distance is possible, and a crawl may be
writing to the index meanwhile. Cost: 1 us a page in the index to open it, 2 ns to compare a page;
4 ms to read and profile a page.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dedup_filter.comparison.near_pages import Asked
from dedup_filter.config import FilterConfig
from dedup_filter.errors import DedupError
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.fingerprints.read_page import ReadPage, Source
from dedup_filter.fingerprints.sketch import KEY
from dedup_filter.frames.host_frames import Frames, HostContext, no_context
from dedup_filter.judging import loading, profile_of
from dedup_filter.model import NearPage, Unjudged
from dedup_filter.review.given_page import GivenPage, read_page
from dedup_filter.store.location import scheme_of
from dedup_filter.store.phrase_table import MOST_OF_KEY
from dedup_filter.store.records import PageRecord
from dedup_filter.text.page_url import Place
from dedup_filter.text.reading import Shown
from dedup_filter.upkeep import Index
from dedup_filter.upkeep.results import KeptContent, Recorded

_FINGERPRINT = re.compile(r"0[xX][0-9a-fA-F]{1,16}")


class Answer(NamedTuple):
    """The pages that are similar to a page."""

    name: str
    """The page, as the user named it."""
    fingerprint: int | None
    """None: the page has no text of enough words."""
    near: list[NearPage]
    """Nearest first, then by number; without the page itself."""
    reason: str | None = None
    """Why no page can be similar, as in `Verdict.reason`; None: pages can be."""


class RecordedPages:
    """The pages of an index, only read."""

    def __init__(self, index: Index, recorded: Recorded, config: FilterConfig) -> None:
        self._index = index
        self._recorded = recorded
        self.config = config
        """The recorded options of the index, replaced by the options that were given."""

    @classmethod
    @contextmanager
    def open(cls, index: Index, options: Mapping[str, Any]) -> Iterator["RecordedPages"]:
        """Open an index with its recorded options, unless `options` replace them.

        Raises:
            ConfigError: there is no index, or an option is wrong.
            StoreError: the index cannot be read.
        """
        known = {name: value for name, value in index.filter_options().items() if name != "layout"}
        config = FilterConfig.of({**known, **options})
        with index.recorded() as recorded:
            yield cls(index, recorded, config)

    @property
    def max_distance(self) -> int:
        """The option of the index, or the filter's default if the index has not recorded it."""
        return self.config.max_distance

    def answer(self, name: str, max_distance: int, *, url: str = "") -> Answer:
        """Find the kept pages within a distance, up to 64, of a page.

        `name` is a fingerprint in hexadecimal, the URL of a page in the index, another URL, the
        path of a file, or "-". `url` is the URL of a page in a file.

        Raises:
            DedupError: the page cannot be fetched or read.
            SchemeMismatch: see `require_scheme`.
        """
        if _FINGERPRINT.fullmatch(name) and not Path(name).exists():
            value = int(name, 16)
            return Answer(name, value, self._found(Asked("", (value,)), max_distance))
        if (record := self.record_at(name)) is not None:
            near = self._found(self._query(record), max_distance)
            others = [each for each in near if each.page != record.page]
            return Answer(name, record.fingerprint, others, record.reason)
        given = read_page(name, url)
        profile = self.profile(given)
        if isinstance(profile, Unjudged):
            return Answer(name, None, [], profile.reason)
        near = self._found(Asked.of(Place.of(given.url).host, profile), max_distance)
        return Answer(name, profile.fingerprint, near)

    @property
    def kept(self) -> int:
        """The number of kept pages."""
        return int(np.count_nonzero(self._recorded.entries.are_kept))

    def record_at(self, url: str) -> PageRecord | None:
        """Return the record of the latest kept page at a URL, None if there is none."""
        pages = self._recorded.at_url(url) if "://" in url else ()
        return next(iter(self._recorded.records(pages[-1:])), None)

    def latest_at(self, url: str) -> PageRecord | None:
        """Return the record of the latest kept page at a URL, else of the latest dropped page.

        None: no page is recorded there.
        """
        record = self.record_at(url)
        if record is not None or "://" not in url:
            return record
        pages = self._recorded.dropped_at_url(url)
        return next(iter(self._recorded.records(pages[-1:])), None)

    def content(self, record: PageRecord) -> KeptContent:
        """Return the content of a page that was kept beside its record."""
        return self._recorded.content(record)

    def require_scheme(self) -> None:
        """Require that recorded fingerprints can be compared with fingerprints made here.

        Raises:
            SchemeMismatch: the index has fingerprints of another scheme.
        """
        scheme_of(self.config).require(self._recorded.scheme, str(self._index))

    def profile(self, given: GivenPage) -> PageProfile | Unjudged:
        """Profile a page as a crawl would that continues with the index now.

        Raises:
            SchemeMismatch: see `require_scheme`.
        """
        self.require_scheme()
        source = Source.of(given.page, given.url, Place.of(given.url).host, self.config)
        page = source.read(self.config)
        if isinstance(page, Unjudged):
            return page
        return profile_of(page, self.context(given.url, page.shown), self.config)

    def context(self, url: str, shown: Shown, *, is_met_now: bool = False) -> HostContext:
        """Return the known frame of the host of a page, given the blocks that the page shows.

        The counts leave out the page itself if it is recorded. With `is_met_now` they include it,
        as in a crawl: a crawl cannot know which counts come from an earlier fetch of the page.
        """
        host = Place.of(url).host
        if not (host and self.config.learn_frames):
            return no_context(shown)
        own_count = not is_met_now and self.record_at(url) is not None
        context = self._frames.context(host, shown, int(own_count))
        self._frames.shrink()
        return context

    def _query(self, record: PageRecord) -> Asked:
        """Look up a recorded page by all its texts if its blocks were kept, else by its record.

        Blocks that only one other page of the host had are in the page's main text only.
        """
        content = self.content(record).page()
        if content is None:
            return Asked.of_record(record)
        self.require_scheme()
        page = ReadPage.of(content, self.config)
        context = self.context(record.url, page.shown)
        return Asked.of(record.host, profile_of(page, context, self.config))

    def _found(self, query: Asked, max_distance: int) -> list[NearPage]:
        entries = self._recorded.entries
        is_like = np.zeros(len(entries.pages), np.bool_)
        for each in query.fingerprints:
            is_like |= np.bitwise_count(entries.fingerprints ^ np.uint64(each)) <= max_distance
        is_like &= entries.have_fingerprints
        if query.digest is not None:
            is_like |= entries.digest_heads == int.from_bytes(query.digest[:8], "little")
        keys = b"".join(query.keys) if self.config.looks_for_phrases else b""
        for key in np.unique(np.frombuffer(keys, KEY)):
            have_it = (entries.keys == key).any(axis=1) & entries.are_kept
            if key and np.count_nonzero(have_it) <= MOST_OF_KEY:
                is_like |= have_it
        pages = entries.pages[is_like & entries.are_kept].tolist()
        # Of a fingerprint, or a file without a URL, no host is known.
        only = query.host if self.config.scope == "host" else ""
        records = self._recorded.records(pages)
        return query.found([each for each in records if only in ("", each.host)], max_distance)

    @cached_property
    def _frames(self) -> Frames:
        return Frames(self.config.frame_memory * 1e6, loading(self._recorded.frames))


def fingerprints_of(
    names: Iterable[str], config: FilterConfig
) -> Iterator[tuple[str, int | None, str | None]]:
    """Read pages, and yield name, fingerprint, and the reason if there is no fingerprint.

    Nothing is known of their hosts, so no text is left out as the frame of a host.

    Raises:
        DedupError: a page cannot be fetched or read.
    """
    for name in names:
        given = read_page(name)
        selectors = config.selectors.of(Place.of(given.url).host)
        page = Source(given.page, None, selectors).read(config)
        if isinstance(page, Unjudged):
            yield name, None, page.reason
            continue
        profile = profile_of(page, no_context(page.shown), config)
        value = profile.fingerprint
        yield name, value, None if value is not None else profile.reason


def require_pages(pages: Iterable[str]) -> None:
    """Refuse standard input given more than once."""
    if list(pages).count("-") > 1:
        raise DedupError("standard input (-) can be read once")
