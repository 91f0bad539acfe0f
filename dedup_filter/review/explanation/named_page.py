"""A page that a user named, as far as it is known: judged now, or as an index has recorded it."""

from typing import NamedTuple

from dedup_filter.comparison.look_ups import verdict_on
from dedup_filter.model import Unjudged
from dedup_filter.review.explanation.explained_page import ExplainedPage
from dedup_filter.store.protocol import KeptContent
from dedup_filter.store.records import PageRecord
from dedup_filter.text.page_url import Place
from dedup_filter.text.reading import clean_text


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
    def clean_text(self) -> str | None:
        """Its text for output, or the text that an index has kept; None: it is not known."""
        page = self.explained
        if page is None:
            return self.kept.text
        return clean_text(page.page.content, page.context.times)

    @property
    def main_text(self) -> str | None:
        """Its main text, or the text that an index has kept; None: it is not known."""
        return self.kept.text if self.explained is None else self.explained.main_text
