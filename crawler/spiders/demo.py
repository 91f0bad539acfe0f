"""A crawl without network: serve the demo site on loopback, crawl it, log its outcome.

The filter keeps the page that comes first, so the outcome depends on the order of pages. Here
the order is fixed: breadth first, and the items of each page finish before the next request.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor

from crawler.demo_site import DemoServer, Outcome, differences
from crawler.items import PageItem, page_item


class DemoSpider(scrapy.Spider):
    """Crawl the demo site."""

    name = "demo"
    custom_settings = {  # noqa: RUF012 - Scrapy's own way
        "CONCURRENT_REQUESTS": 1,
        "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1,  # no request while a response is being worked on
        "DOWNLOAD_DELAY": 0,  # the server is our own
        "AUTOTHROTTLE_ENABLED": False,
        "HTTPPROXY_ENABLED": False,  # a proxy would look for the site on its own loopback
        "TELNETCONSOLE_ENABLED": False,
        # To the filter a site is a host. Here one server has all sites, so item URLs name the site.
        "DEDUP_HTML_FIELD": "html",
        "DEDUP_URL_FIELD": "url",
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._outcomes: dict[str, Outcome] = {}
        self._links = LinkExtractor()
        self._server = DemoServer()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> "DemoSpider":
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider._on_kept, signals.item_scraped)
        crawler.signals.connect(spider._on_dropped, signals.item_dropped)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self._server.url}/")

    def parse(self, response: Response) -> Iterator[PageItem | scrapy.Request]:
        """Yield the page and the links on it."""
        if not isinstance(response, HtmlResponse):
            return
        item = page_item(response)
        item.url = demo_url(item.url.removeprefix(self._server.url))
        yield item
        for link in self._links.extract_links(response):
            yield response.follow(link)

    def closed(self, reason: str) -> None:  # noqa: ARG002 - Scrapy passes it
        self._server.close()
        unexpected = [*differences(self._outcomes)]
        for difference in unexpected:
            self.logger.warning(difference)
        duplicates = sum(outcome.original is not None for outcome in self._outcomes.values())
        verdict = f"{len(unexpected)} NOT as expected" if unexpected else "all as expected"
        pages = len(self._outcomes)
        self.logger.info("demo: %d pages, %d duplicates, %s", pages, duplicates, verdict)

    def _on_kept(self, item: PageItem) -> None:
        tag = item.dedup or {}
        self._add_outcome(item, tag.get("outcome", "kept"), tag.get("original"))

    def _on_dropped(self, item: PageItem, exception: Exception) -> None:
        self._add_outcome(item, "dropped", getattr(exception, "original", None))

    def _add_outcome(self, item: PageItem, name: str, original: str | None) -> None:
        self._outcomes[_path(item.url)] = Outcome(name, _path(original) if original else None)


def demo_url(path: str) -> str:
    """Return the URL of a page of the demo, whose first folder is its site.

    >>> demo_url("/north-post/sundial.html")
    'http://north-post.example/sundial.html'
    """
    site, _, page = path.removeprefix("/").partition("/")
    return f"http://{site or 'demo'}.example/{page}"


def _path(url: str) -> str:
    site, _, page = url.removeprefix("http://").partition(".example/")
    return "/" if site == "demo" else f"/{site}/{page}"
