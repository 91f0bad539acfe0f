"""A name given by a user, an index -> the page: as the index has kept it, or read now.

    recorded and kept with its text     judged again, with the present frame of its host
    recorded, text not kept             its record alone
    not recorded                        fetched or read, and judged as if it came now

Nothing is recorded.
"""

from functools import partial
from typing import NamedTuple

from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.model import Document, Unjudged
from dedup_filter.review.explanation.judged_page import (
    JudgedPage,
    judged_page,
    judged_read_page,
)
from dedup_filter.review.given_page import read_page
from dedup_filter.review.recorded_pages import RecordedPages
from dedup_filter.store.records import KEPT_AS_TEXT, PageRecord
from dedup_filter.upkeep.results import KeptContent


class NamedPage(NamedTuple):
    """A page, as far as it is known."""

    url: str
    """"" for a file without URL."""
    judged: JudgedPage | Unjudged | None
    """None: the page is recorded, but too little was kept to judge it again."""
    record: PageRecord | None = None
    """None: the page is not recorded."""
    kept: KeptContent = KeptContent()


def page_in(pages: RecordedPages, name: str, url: str = "") -> NamedPage:
    """Return a page of an index, or read another page; `url` is the URL of a file.

    Raises:
        DedupError: the page cannot be fetched or read.
        SchemeMismatch: see `RecordedPages.require_scheme`.
    """
    record = pages.latest_at(name)
    if record is None:
        pages.require_scheme()
        given = read_page(name, url)
        context_of = partial(pages.context, is_met_now=True)
        return NamedPage(given.url, judged_page(given.url, given.page, pages.config, context_of))
    kept = pages.content(record)
    return NamedPage(record.url, _judged_again(pages, record, kept), record, kept)


def _judged_again(pages: RecordedPages, record: PageRecord, kept: KeptContent) -> JudgedPage | None:
    if kept.form is None:
        return None
    pages.require_scheme()
    if kept.form == KEPT_AS_TEXT:
        text = ReadPage.of(Document(kept.text or "", record.title), pages.config)
        return judged_read_page(record.url, text, pages.config)
    content = kept.page()
    if content is None:
        return None
    page = ReadPage.of(content, pages.config)
    return judged_read_page(record.url, page, pages.config, pages.context)
