"""A crawl of one host that follows all of its links -> what was asked for, what was kept.

    python benchmarks/dust_crawl.py < ORDER > ANSWER    # a JSON object each, see `main`

The first crawl asks the server, until so many URLs are known, and what it is answered is stored.
All later ones get the stored answers, and follow links to these URLs only: so they see the same
web, and differ by what they ask for. Nothing here imports `dedup_filter`, but for settings that
name it: another tool can do such a crawl in an environment of its own.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any, cast

import scrapy
from scrapy import signals
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.extensions.httpcache import FilesystemCacheStorage
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.request import RequestFingerprinter
from w3lib.url import canonicalize_url

__all__ = ["LinksOfHost", "StoredAnswers"]


class StoredAnswers(FilesystemCacheStorage):
    """Answers by URL, whatever a crawl takes for one request."""

    def open_spider(self, spider: scrapy.Spider) -> None:
        """Tell requests apart as Scrapy does by itself."""
        super().open_spider(spider)
        self._fingerprinter = RequestFingerprinter()


class LinksOfHost(scrapy.Spider):
    """Yield an item for each page, and follow its links to other pages of its host.

    `known`: URLs that links may lead to; None: any, until there are `most`, which then are known.
    """

    name = "links_of_host"

    def __init__(self, start: str, most: int, known: list[str] | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [start]
        self._most = most if known is None else 0
        self.known = dict.fromkeys(known or [canonicalize_url(start)])
        self._links = LinkExtractor(allow=f"^{start}")
        self.asked: list[str] = []
        self.kept: dict[str, str] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> "LinksOfHost":
        """Make the spider, which is told of each request and of each item kept."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.response_received, signals.response_received)
        crawler.signals.connect(spider.item_scraped, signals.item_scraped)
        return spider

    def response_received(self, response: Response) -> None:
        """Note what was answered."""
        self.asked.append(response.url)

    def item_scraped(self, item: dict[str, str]) -> None:
        """Note an item that was kept."""
        self.kept[item["url"]] = item["text"]

    def parse(self, response: Response) -> Iterator[Any]:
        """Yield the page and its links."""
        if not isinstance(response, TextResponse) or b"html" not in cast(
            "bytes", response.headers.get("Content-Type", b"")
        ):
            return
        texts = response.xpath("//body//text()[not(parent::script or parent::style)]").getall()
        yield {"url": response.url, "text": " ".join(" ".join(texts).split())}
        for link in self._links.extract_links(response):
            url = canonicalize_url(link.url)
            if url not in self.known and len(self.known) < self._most:
                self.known[url] = None
            if url in self.known:
                yield response.follow(link, meta={"avoid_dup_content": True})  # MaybeDont's


def main() -> None:
    """Crawl: `start`, `most`, `known` and `settings` in; requests, URLs, texts, stats out."""
    order = json.load(sys.stdin)
    settings = {
        "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
        "COOKIES_ENABLED": False,  # as Scrapy's documentation recommends for broad crawls
        "DOWNLOAD_DELAY": 0,
        "DOWNLOAD_TIMEOUT": 60,
        "HTTPCACHE_ENABLED": True,
        "HTTPCACHE_IGNORE_MISSING": order["known"] is not None,
        "HTTPCACHE_STORAGE": StoredAnswers,
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        "DEPTH_PRIORITY": 1,
        "TELNETCONSOLE_ENABLED": False,
        **order["settings"],
    }
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(LinksOfHost)
    process.crawl(crawler, start=order["start"], most=order["most"], known=order["known"])
    process.start()
    spider = cast("LinksOfHost", crawler.spider)
    stats = cast("Any", crawler.stats).get_stats()
    counts = {name: value for name, value in stats.items() if isinstance(value, int)}
    told = {"asked": spider.asked, "known": [*spider.known], "kept": spider.kept, "stats": counts}
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
