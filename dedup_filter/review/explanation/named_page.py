"""A name given by a user, what is known of hosts -> the page: as an index kept it, or read now.

    recorded and kept with its text     judged again, with the present frame of its host
    recorded, text not kept             its record alone
    not recorded                        fetched or read, and judged with that frame

What is known of hosts is what an index has counted, or nothing; and the pages that are taken for
kept since. Nothing is recorded.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from dedup_filter.comparison.original import verdict_on
from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.frames.expected_hosts import ExpectedHosts
from dedup_filter.frames.host_frames import Frames, HostContext, no_context
from dedup_filter.model import Document, Unjudged
from dedup_filter.review.explanation.explained_page import ExplainedPage
from dedup_filter.review.given_page import read_page
from dedup_filter.review.recorded_pages import RecordedPages
from dedup_filter.store.records import KEPT_AS_TEXT, PageRecord
from dedup_filter.text.page_url import Place
from dedup_filter.text.reading import Shown
from dedup_filter.upkeep import Index
from dedup_filter.upkeep.results import KeptContent


class NamedPage(NamedTuple):
    """A page, as far as it is known."""

    name: str
    """As the user gave it."""
    url: str
    """"" for a file without URL."""
    page: ExplainedPage | Unjudged | None
    """None: the page is recorded, but too little was kept to judge it again."""
    record: PageRecord | None = None
    """None: the page is not recorded."""
    kept: KeptContent = KeptContent()

    @property
    def host(self) -> str:
        """The host of its URL; "" for none."""
        return Place.of(self.url).host

    @property
    def explained(self) -> ExplainedPage | None:
        """The page as it would be judged now; None: it would not."""
        return self.page if isinstance(self.page, ExplainedPage) else None

    @property
    def reason(self) -> str | None:
        """Why the page is unjudged; None: it is judged, or repeats a page."""
        if self.page is not None:
            return self.page.reason
        return self.record.reason if self.record is not None and self.record.is_kept else None

    @property
    def measures(self) -> PageRecord | None:
        """The record that the page would have now; else the record that it has."""
        page = self.explained
        if page is None:
            return self.record
        return PageRecord.of(page.place, page.profile, verdict_on(page.profile, "new"), 0, 1)

    @property
    def main_text(self) -> str | None:
        """Its main text, or the text that an index has kept; None: it is not known."""
        return self.kept.text if self.explained is None else self.explained.main_text


@dataclass
class KnownHosts:
    """What is known of hosts when a page comes."""

    config: FilterConfig
    pages: RecordedPages | None
    """An index; None: nothing is known of any host."""
    _since: ExpectedHosts = field(default_factory=ExpectedHosts)

    @classmethod
    @contextmanager
    def open(cls, index: Index | None, options: Mapping[str, Any]) -> Iterator["KnownHosts"]:
        """Open an index with its recorded options, unless `options` replace them.

        Raises:
            DedupError: the index cannot be read, or an option is wrong.
        """
        if index is None:
            yield cls(FilterConfig.of(options), None)
            return
        with RecordedPages.open(index, options) as pages:
            yield cls(pages.config, pages)

    def context(self, url: str, shown: Shown, *, is_met_now: bool = False) -> HostContext:
        """Return the known frame of the host of a page; `is_met_now` as in `RecordedPages`."""
        host = Place.of(url).host
        if self.pages is not None:
            counted = self.pages.context(url, shown, is_met_now=is_met_now)
        elif host and self.config.learn_frames:
            counted = Frames(0).context(host, shown)
        else:
            counted = no_context(shown)
        return self._since.context(counted)

    def keep(self, named: NamedPage) -> None:
        """Count a page as kept, unless the index has counted it."""
        page = named.explained
        if named.record is None and page is not None and page.context.host.name:
            updates = page.context.updates(is_kept=not page.profile.was_shown)
            self._since.add(1, {host.name: update for host, update in updates})

    def named(self, name: str, url: str = "", *, is_met_now: bool = False) -> NamedPage:
        """Return a page of the index, or read another page; `url` is the URL of a file.

        Raises:
            DedupError: the page cannot be fetched or read.
            SchemeMismatch: see `RecordedPages.require_scheme`.
        """
        pages = self.pages
        record = None if pages is None else pages.latest_at(name)
        if pages is None or record is None:
            if pages is not None:
                pages.require_scheme()
            given = read_page(name, url)
            context_of = partial(self.context, is_met_now=is_met_now)
            page = ExplainedPage.read(given.url, given.page, self.config, context_of)
            return NamedPage(name, given.url, page)
        kept = pages.content(record)
        content = (
            Document(kept.text or "", record.title) if kept.form == KEPT_AS_TEXT else kept.page()
        )
        if content is None:
            return NamedPage(name, record.url, None, record, kept)
        pages.require_scheme()
        read = ReadPage.of(content, self.config)
        explained = ExplainedPage.of(record.url, read, self.config, self.context)
        return NamedPage(name, record.url, explained, record, kept)

    def again(self, named: NamedPage) -> NamedPage:
        """Read a page once more, with these options; a page of an index stays as it is."""
        page = named.explained
        if page is None or page.source is None:
            return named
        context_of = partial(self.context, is_met_now=True)
        return named._replace(
            page=ExplainedPage.read(named.url, page.source, self.config, context_of)
        )


def explain(
    name: str, url: str = "", options: Mapping[str, Any] | None = None, index: Index | None = None
) -> NamedPage:
    """Explain a page: a URL, a file or "-", or a page that an index has recorded.

    `url` is the URL of a file. With an index, its options and its frame of the host are used. If
    the index has recorded the page, its own blocks are not counted.

    Raises:
        DedupError: the page or the index cannot be read, or an option is wrong.
    """
    with KnownHosts.open(index, options or {}) as known:
        return known.named(name, url)
