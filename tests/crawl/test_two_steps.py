"""A real crawl whose items are completed by a second response, kept on disk in between."""

SPIDER = """
    import scrapy

    class QuotesSpider(scrapy.Spider):
        name = "quotes"

        async def start(self):
            for url in self.urls.split(","):
                yield scrapy.Request(url)

        def parse(self, response):
            item = {"url": response.url, "first": response.url}
            stock = response.urljoin("/old?id=" + response.url[-1])
            yield scrapy.Request(stock, self.parse_stock, cb_kwargs={"item": item})

        def parse_stock(self, response, item):
            yield item
            yield {"url": response.url, "first": item["url"]}
"""


def test_item_that_equal_fragments_complete_is_kept(project, site, paragraphs):
    """The second item of each fragment, at the URL of the fragment, is judged by it."""
    products = ["/p/1", "/p/2"]
    for number, path in enumerate(products, 1):
        site.add(path, paragraphs(number))
        site.pages[f"/old?id={number}"] = (302, {"Location": f"/stock/{number}"}, b"")
        site.add(f"/stock/{number}", paragraphs(9))
        site.pages[path][1]["Referrer-Policy"] = "no-referrer"
    project.spider(SPIDER)

    done = project.crawl_well(*site.urls(*products), JOBDIR="job")

    kept = sorted(item["url"].removeprefix(site.url) for item in done.items)
    assert kept[:2] == products
    assert kept[2:] in (["/stock/1"], ["/stock/2"])  # the one that Scrapy fetched first
    counts = {name: done.stats[f"dedup/{name}"] for name in ("new", "exact", "unjudged/other_page")}
    assert counts == {"new": 1, "exact": 1, "unjudged/other_page": 2}
