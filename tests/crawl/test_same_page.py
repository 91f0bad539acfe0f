"""A page is never a duplicate of itself; fetched again, it is."""

import pytest

PAGES_SPIDER = """
    import scrapy

    class QuotesSpider(scrapy.Spider):
        name = "quotes"

        def __init__(self, urls=None, **kwargs):
            super().__init__(**kwargs)
            self.urls = urls.split(",")

        async def start(self):
            for url in self.urls:
                yield scrapy.Request(url, dont_filter=True, meta={meta})

        def parse(self, response):
            {parse}
"""


def spider(parse, meta="{}"):
    return PAGES_SPIDER.replace("{parse}", parse).replace("{meta}", meta)


TWO_ITEMS = """
            yield {"url": response.url, "html": response.text}
            yield {"url": response.url + "#again", "html": response.text + "<p>more</p>"}
"""
ITEM_AT_THE_SECOND_TRY = """
            from scrapy.downloadermiddlewares.retry import get_retry_request
            if "retry_times" not in response.meta:
                yield get_retry_request(response.request, spider=self, reason="it lacks a price")
            else:
                yield {"url": response.url}
"""
HTML = "<html><body><p>{}</p></body></html>"


def test_items_with_the_text_of_one_page_are_all_kept(project, site, article):
    site.add("/a", HTML.format(article(1)))
    project.spider(spider(TWO_ITEMS))

    crawl = project.crawl("-a", f"urls={site.url}/a")

    assert len(crawl.items) == 2
    assert crawl.stats["dedup/pages"] == crawl.stats["dedup/new"] == 1


def test_page_fetched_twice_is_a_duplicate_the_second_time(project, site, article):
    site.add("/a", HTML.format(article(1)))
    project.spider(spider(TWO_ITEMS))

    crawl = project.crawl("-a", f"urls={site.url}/a,{site.url}/a")

    assert len(crawl.items) == 2
    assert crawl.stats["dedup/new"] == 1
    assert crawl.stats["dedup/items_dropped"] == 2


@pytest.mark.parametrize("follow_links", [True, False])
def test_page_that_its_callback_tries_again_is_no_duplicate(project, site, article, follow_links):
    site.add("/a", HTML.format(article(1)))
    project.spider(spider(ITEM_AT_THE_SECOND_TRY))

    crawl = project.crawl("-a", f"urls={site.url}/a", DEDUP_FOLLOW_LINKS=follow_links)

    assert site.asked == ["/a", "/a"]
    assert crawl.items == [{"url": f"{site.url}/a"}]


def test_of_many_equal_pages_at_once_exactly_one_is_kept(project, site, article):
    for number in range(20):
        site.add(f"/{number}", HTML.format(article(1)))
    project.spider(spider("            yield {'url': response.url}".strip()))
    urls = ",".join(site.url + path for path in site.pages)

    crawl = project.crawl("-a", f"urls={urls}", CONCURRENT_REQUESTS=16)

    assert len(crawl.items) == 1
    assert crawl.stats["dedup/exact"] == 19


def test_opted_out_pages_are_neither_judged_nor_remembered(project, site, article):
    site.add("/a", HTML.format(article(1)))
    site.add("/b", HTML.format(article(1)))
    site.add("/c", HTML.format(article(1)))
    project.spider(spider(TWO_ITEMS, meta="{'dedup': False} if url[-1] in 'ab' else {}"))

    crawl = project.crawl("-a", f"urls={site.url}/a,{site.url}/b,{site.url}/c")

    assert len(crawl.items) == 6
    assert crawl.stats["dedup/opted_out"] == 2
    assert crawl.stats["dedup/pages"] == crawl.stats["dedup/new"] == 1


def test_item_made_anew_by_an_earlier_pipeline_is_known_by_its_url(project, site, article):
    site.add("/a", HTML.format(article(1)))
    site.add("/b", HTML.format(article(1, edits=1)))
    project.spider(spider("            yield {'url': response.url}".strip()))
    project.module(
        "pipelines",
        """
        class Remake:
            def process_item(self, item, spider=None):
                return dict(item, remade=True)
        """,
    )

    crawl = project.crawl(
        "-a",
        f"urls={site.url}/a,{site.url}/b",
        ITEM_PIPELINES='{"tutorial.pipelines.Remake": -1}',
    )

    assert crawl.items == [{"url": f"{site.url}/a", "remade": True}]
