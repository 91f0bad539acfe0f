"""Pages stored in an index, sets of options -> the verdicts of crawls that have these options.

The pages go, in the order in which they were recorded, through a filter for each set of options,
each in a temporary folder. Nothing is fetched, and nothing is written to the index.

Exact: a filter with these options gives the same verdicts on the same pages in the same order, if
each page is committed before the next one comes. This needs the stored blocks of each page
(`keep_text`). Pages that were released, or forgotten since, have no record and are left out. If a
later crawl has revisited a page, only its last version is stored; it is judged in its first place.

Cost: a page of 110 KB takes 3 ms to unpack, once for all filters, and each filter 2 to 5 ms to
judge it.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from dedup_filter.config import FilterConfig
from dedup_filter.crawl_filter import CrawlFilter
from dedup_filter.errors import StoreCorrupt
from dedup_filter.filter import PlacedPage
from dedup_filter.fingerprints.read_page import ReadPage, Source
from dedup_filter.model import Document, Unjudged, Verdict
from dedup_filter.store.records import KEPT_AS_TEXT, PageRecord
from dedup_filter.store.sqlite.page_reader import PageReader
from dedup_filter.text.page_bytes import unpack_page
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.reading import Page


def replayed(
    reader: PageReader, records: Iterable[PageRecord], configs: Sequence[FilterConfig]
) -> Iterator[tuple[PageRecord, list[Verdict]]]:
    """Yield each record with the verdicts on its page, one for each set of options.

    The page numbers of the verdicts start anew in each filter.

    Raises:
        StoreCorrupt: a page was not kept, or cannot be read.
        StoreError: the folder of a filter cannot be written.
    """
    with TemporaryDirectory(prefix="dedup-filter-") as folder:
        folders = [Path(folder, str(number)) for number in range(len(configs))]
        for crawl, of_crawl in groupby(records, key=lambda record: record.first_crawl):
            with ExitStack() as stack:
                filters = [
                    stack.enter_context(CrawlFilter(config, here, crawl=f"crawl {crawl}"))
                    for config, here in zip(configs, folders, strict=True)
                ]
                for record in of_crawl:
                    yield record, _verdicts(record, _content(reader, record), filters)


def _verdicts(
    record: PageRecord, content: Page | Document | Unjudged, filters: Sequence[CrawlFilter]
) -> list[Verdict]:
    """Let each filter judge and keep a page; its words are found once for like options."""
    read: dict[tuple[str, bool], ReadPage | Unjudged] = {}
    verdicts = []
    for each in filters:
        alike = each.config.feature_hash, each.config.ignore_numbers
        if alike not in read:
            read[alike] = (
                content if isinstance(content, Unjudged) else ReadPage.of(content, each.config)
            )
        verdict = each.claim_read(PlacedPage(record.place, read[alike]))
        each.commit(verdict)
        verdicts.append(verdict)
    return verdicts


def _content(reader: PageReader, record: PageRecord) -> Page | Document | Unjudged:
    form = reader.form(record.page)
    try:
        if form == KEPT_AS_TEXT:
            return Source(PageText(text=reader.text(record.page), title=record.title)).content()
        if form is not None:
            return unpack_page(form)
        problem = "it was not kept"
    except (ValueError, TypeError) as error:
        problem = str(error)
    raise StoreCorrupt(f"{reader}: page {record.page} cannot be judged again: {problem}")
