"""Pages of an existing crawl, from WARC files, through the same pipelines; no network.

Records are read one by one, and at most CONCURRENT_ITEMS items are in the pipelines at any
time, so memory is bounded for an archive of any size. After each record the event loop
runs, so the log, the signals and Ctrl-C keep working.

Stats: `warc/records` = `warc/pages` + `warc/bad_records` + the sum of `warc/skipped/<reason>`;
`warc/unreadable_files`.
"""

import asyncio
import glob
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import scrapy
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Headers, HtmlResponse
from scrapy.responsetypes import responsetypes

from crawler.arguments import ArgumentError
from crawler.items import PageItem, page_item
from dedup_filter.scan.warc import WarcRecord, read_warc

USAGE = "scrapy crawl warc -a path='crawl-*.warc.gz'"


class WarcSpider(scrapy.Spider):
    """Yield the HTML pages of WARC files; paths are separated by commas and may be globs."""

    name = "warc"
    # Items come without a response, and a page needs neither <html> nor a doctype.
    custom_settings = {"DEDUP_HTML_FIELD": "html"}  # noqa: RUF012 - so Scrapy declares it
    _most_items: int
    _room: asyncio.Semaphore

    def __init__(self, path: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._files = _files_of(path)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> "WarcSpider":
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider._most_items = crawler.settings.getint("CONCURRENT_ITEMS")
        spider._room = asyncio.Semaphore(spider._most_items)
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(spider._make_room, signal)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        for file in self._files:
            for record in self._records(file):
                item = self._item(record, file)
                if item is not None:
                    # Scrapy waits for requests but not for items that come without a response.
                    await self._room.acquire()
                    yield item
                await asyncio.sleep(0)
        for _ in range(self._most_items):
            # Old versions close a spider whose start() ended, with items still in the pipelines.
            await self._room.acquire()

    def _make_room(self) -> None:
        self._room.release()

    def _records(self, file: Path) -> Iterator[WarcRecord]:
        try:
            yield from read_warc(file.open("rb"), self.settings.getint("DOWNLOAD_MAXSIZE"))
        except OSError as error:
            self.logger.error("cannot read %s: %s", file, error)  # noqa: TRY400 - no traceback
            self._count("unreadable_files")

    def _item(self, record: WarcRecord, file: Path) -> PageItem | None:
        self._count("records")
        if record.problem is not None:
            self.logger.warning("%s, byte %d: %s", file, record.start, record.problem)
            self._count("bad_records")
            return None
        if record.not_page is not None:
            self._count(f"skipped/{record.not_page}")
            return None
        response = _html_response(record)
        if response is None:
            self._count("skipped/not_html")
            return None
        self._count("pages")
        return page_item(response)

    def _count(self, name: str) -> None:
        if self.crawler.stats is not None:
            self.crawler.stats.inc_value(f"warc/{name}")


def _html_response(page: WarcRecord) -> HtmlResponse | None:
    """Return the response as in a live crawl, if it is HTML."""
    headers = Headers({"Content-Type": page.content_type} if page.content_type else {})
    kind = responsetypes.from_args(headers=headers, url=page.url, body=page.body)
    if not issubclass(kind, HtmlResponse):
        return None
    return kind(page.url, headers=headers, body=page.body)


def _files_of(path: str | None) -> list[Path]:
    patterns = [part.strip() for part in (path or "").split(",") if part.strip()]
    if not patterns:
        raise ArgumentError(f"no file given: {USAGE}")
    files: list[Path] = []
    for pattern in patterns:
        # Path.glob takes no absolute patterns.
        found = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
        if not found:
            raise ArgumentError(f"no file matches {pattern!r}")
        files += map(Path, found)
    return files
