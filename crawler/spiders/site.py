"""One item for each page of a site, found by following its links.

A start address that ends in "/" limits the crawl to URLs below it, any other to its host.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor

from crawler.arguments import urls_of, whole_number_of
from crawler.items import PageItem, page_item

USAGE = "scrapy crawl site -a url=https://example.com/docs/ [-a max_pages=500]"


class SiteSpider(scrapy.Spider):
    """Crawl one or more sites; several addresses are separated by commas or white space.

    After `max_pages` responses the crawl makes no more requests; responses under way are processed.
    With JOBDIR the next run goes on from there.
    """

    name = "site"

    def __init__(
        self, url: str | None = None, max_pages: str | int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.start_urls = urls_of(url, USAGE)
        self._sites = [_site_of(start) for start in self.start_urls]
        self._links = LinkExtractor()
        self._max_pages = whole_number_of(max_pages, "max_pages")

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> "SiteSpider":
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.settings.set("CLOSESPIDER_PAGECOUNT", spider._max_pages or 0, "spider")
        return spider

    async def start(self) -> AsyncIterator[Any]:
        for url in self.start_urls:  # filtered, so a page that links to one does not repeat it
            yield scrapy.Request(url)

    def parse(self, response: Response) -> Iterator[PageItem | scrapy.Request]:
        """Yield the page and the links on it."""
        if not isinstance(response, HtmlResponse):
            return
        if not self._is_inside(response.url):
            self.logger.info("left out: a redirection leads out of the site to %s", response.url)
            return
        yield page_item(response)
        for link in self._links.extract_links(response):
            if self._is_inside(link.url):
                yield scrapy.Request(link.url)

    def _is_inside(self, url: str) -> bool:
        try:
            host, path = _host_and_path(url)
        except ValueError:  # a link such as http://[1/ or http://host:port/
            return False
        return any(host == site and path.startswith(below) for site, below in self._sites)


def _site_of(url: str) -> tuple[str, str]:
    host, path = _host_and_path(url)
    return host, path if path.endswith("/") else "/"


def _host_and_path(url: str) -> tuple[str, str]:
    """Split an address. http and https, www or not, are one site: sites redirect between them."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    port = "" if parts.port in (None, 80, 443) else f":{parts.port}"
    return host + port, parts.path or "/"
