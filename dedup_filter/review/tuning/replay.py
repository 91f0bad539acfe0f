"""Pages stored in an index, other options -> the verdicts of a crawl that has these options.

The pages go, in the order in which they were recorded, through a filter in a temporary folder.
Nothing is fetched, and nothing is written to the index.

Exact: a filter with these options gives the same verdicts on the same pages in the same order, if
each page is committed before the next one comes. This needs the stored blocks of each page
(`keep_text`). Pages that were released, or forgotten since, have no record and are left out. If a
later crawl has revisited a page, only its last version is stored; it is judged in its first place.

Cost: a page of 110 KB takes 3 ms to unpack and 2 to 5 ms to judge.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from tempfile import TemporaryDirectory

from dedup_filter.config import FilterConfig
from dedup_filter.crawl_filter import CrawlFilter
from dedup_filter.errors import StoreCorrupt
from dedup_filter.filter import PlacedPage
from dedup_filter.fingerprints.read_page import ReadPage, Source
from dedup_filter.model import Verdict
from dedup_filter.store.records import KEPT_AS_TEXT, PageRecord
from dedup_filter.store.sqlite.page_reader import PageReader
from dedup_filter.text.page_fields import PageText
from dedup_filter.workers.pool import Content


def replayed(
    reader: PageReader, records: Iterable[PageRecord], config: FilterConfig
) -> Iterator[tuple[PageRecord, Verdict]]:
    """Yield each record with the verdict on its page; the verdict's page numbers start anew.

    Raises:
        StoreCorrupt: a page was not kept, or cannot be read.
        StoreError: the folder of the filter cannot be written.
    """
    with TemporaryDirectory(prefix="dedup-filter-") as folder:
        for crawl, of_crawl in groupby(records, key=lambda record: record.first_crawl):
            with CrawlFilter(config, folder, crawl=f"crawl {crawl}") as pages:
                for record in of_crawl:
                    content = _content(reader, record, config)
                    verdict = pages.claim_read(PlacedPage(record.place, content))
                    pages.commit(verdict)
                    yield record, verdict


def _content(reader: PageReader, record: PageRecord, config: FilterConfig) -> Content:
    form = reader.form(record.page)
    try:
        if form == KEPT_AS_TEXT:
            return Source(PageText(text=reader.text(record.page), title=record.title)).read(config)
        if form is not None:
            return ReadPage.unpacked(form, config)
        problem = "it was not kept"
    except (ValueError, TypeError) as error:
        problem = str(error)
    raise StoreCorrupt(f"{reader}: page {record.page} cannot be judged again: {problem}")
