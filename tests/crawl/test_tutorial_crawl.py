"""The ADDONS line alone filters the tutorial's spider; a wrong setting stops it with a sentence."""

import pytest

TUTORIAL_SPIDER = """
    from pathlib import Path
    import scrapy


    class QuotesSpider(scrapy.Spider):
        name = "quotes"

        def __init__(self, urls=None, **kwargs):
            super().__init__(**kwargs)
            self.start_urls = [urls]

        {parse}
            for quote in response.css("div.quote"):
                yield {{
                    "text": quote.css("span.text::text").get(),
                    "author": quote.css("small.author::text").get(),
                    "tags": quote.css("div.tags a.tag::text").getall(),
                }}
            next_page = response.css("li.next a::attr(href)").get()
            if next_page is not None:
                yield response.follow(next_page, callback=self.parse)
"""


def quotes_page(article, first, next_path, frame=""):
    """Ten quotes that are the same for the same `first`, and a link."""
    quotes = "".join(
        f'<div class="quote"><span class="text">{article(seed, words=20)}</span>'
        f'<span>by <small class="author">Author {seed}</small> <a href="/about">(about)</a></span>'
        f'<div class="tags">Tags: <a class="tag" href="/tag/{seed}">tag{seed}</a></div></div>'
        for seed in range(first, first + 10)
    )
    following = f'<li class="next"><a href="{next_path}">Next</a></li>' if next_path else ""
    return (
        f"<html><body><h1>Quotes</h1>{frame}{quotes}<nav><ul>{following}</ul></nav></body></html>"
    )


@pytest.mark.parametrize(
    ("parse", "reactor"),
    [
        ("async def parse(self, response):", "asyncioreactor.AsyncioSelectorReactor"),
        ("def parse(self, response):", "selectreactor.SelectReactor"),
    ],
)
def test_items_of_a_repeated_page_are_dropped_and_all_others_kept(
    project, site, article, parse, reactor
):
    site.add("/page/1", quotes_page(article, 0, "/page/2"))
    site.add("/page/2", quotes_page(article, 100, "/mirror/1"))
    site.add("/mirror/1", quotes_page(article, 0, "/page/3", frame="<p>1,037 views</p>"))
    site.add("/page/3", quotes_page(article, 200, None))
    project.spider(TUTORIAL_SPIDER.format(parse=parse))

    crawl = project.crawl(f"{site.url}/page/1", TWISTED_REACTOR=f"twisted.internet.{reactor}")

    assert crawl.exit_code == 0
    assert [item["author"] for item in crawl.items] == [
        f"Author {number}" for first in (0, 100, 200) for number in range(first, first + 10)
    ]
    assert crawl.stats["dedup/pages"] == 4
    assert crawl.stats["dedup/new"] == crawl.stats["dedup/index_size"] == 3
    assert crawl.stats["dedup/near"] + crawl.stats["dedup/exact"] == 1
    assert crawl.stats["dedup/items_dropped"] == 10
    assert crawl.stats["item_dropped_reasons_count/NearDuplicate"] == 10
    (dropped,) = crawl.lines("Dropped")  # a line a page, and no warning
    original, twin = f"{site.url}/page/1", f"{site.url}/mirror/1"
    assert dropped.endswith(f"{twin} repeats {original}")
    assert "INFO: Dropped (" in dropped
    assert "Warning" not in crawl.log
    assert not [line for line in crawl.lines("WARNING") if "[scrapy.middleware]" not in line]
    assert len(crawl.lines("4 pages: 3 new")) == 1


@pytest.mark.parametrize(
    ("of_command", "of_spider", "sentence"),
    [
        (
            {"DEDUP_MAX_DISTNCE": "6"},
            {},
            "dedup_filter: unknown setting DEDUP_MAX_DISTNCE: did you mean DEDUP_MAX_DISTANCE?",
        ),
        ({}, {"DEDUP_ACTION": "delete"}, 'DEDUP_ACTION must be "drop" or "tag", not \'delete\''),
    ],
)
def test_wrong_setting_stops_the_crawl_at_its_start(project, site, of_command, of_spider, sentence):
    project.spider(settings=of_spider)

    crawl = project.crawl(site.url, **of_command)

    assert crawl.exit_code == 1
    assert crawl.log.rstrip().endswith(sentence)
    assert len(crawl.log.splitlines()) == 1 or not of_command
    assert (site.asked, crawl.items, crawl.stats) == ([], [], {})
