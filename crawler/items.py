"""The item that all spiders yield, for pages from the network and from an archive."""

from dataclasses import dataclass, field
from typing import Any

from scrapy.http import HtmlResponse


@dataclass
class PageItem:
    """A page of a crawl."""

    url: str
    title: str
    html: str = field(repr=False)
    """The whole page, decoded. Kept out of the repr: Scrapy logs items."""
    dedup: dict[str, Any] | None = None
    """The filter's verdict, with DEDUP_ACTION="tag"."""


def page_item(response: HtmlResponse) -> PageItem:
    """Make the item of a page."""
    title = response.xpath("normalize-space(//title)").get(default="")
    return PageItem(url=response.url, title=title, html=response.text)
