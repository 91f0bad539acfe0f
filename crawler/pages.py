"""Response -> item: the same for pages from the network and from an archive."""

from scrapy.http import HtmlResponse

from crawler.items import PageItem

__all__ = ["page_item"]


def page_item(response: HtmlResponse) -> PageItem:
    """Make the item of a page."""
    title = response.xpath("normalize-space(//title)").get(default="")
    return PageItem(url=response.url, title=title, html=response.text)
