"""Rules that one crawl has proven save the next one its requests, and lose no page."""

import pytest
from command_line import run

SPIDER = """
    import scrapy

    class QuotesSpider(scrapy.Spider):
        name = "quotes"
        start_urls = ["{start}"]

        def parse(self, response):
            yield {{"url": response.url, "text": response.css("p::text").get()}}
            yield from response.follow_all(css="a")
"""


@pytest.fixture
def linked(site, paragraphs):
    """Twelve stories; each page links to all, with a session of its own and without."""
    for n in range(12):
        links = "".join(f'<a href="/story/{m}?sid={n}x{m}">more</a>' for m in range(12))
        plain = "".join(f'<a href="/story/{m}">more</a>' for m in range(12))
        body = paragraphs(n, link=links if n % 2 else plain)
        site.add(f"/story/{n}", body)
        for m in range(12):
            site.add(f"/story/{n}?sid={m}x{n}", body)
    return site


def test_requests_are_saved_and_no_page_is_lost(project, linked):
    project.spider(SPIDER.format(start=f"{linked.url}/story/0"))
    first = project.crawl(DEDUP_INDEX="index")
    downloads = len(linked.asked)
    kept = {item["text"] for item in first.items}
    assert len(kept) == 12
    assert downloads > 40
    index, rules = project.folder / "index", project.folder / "rules.json"
    assert run("rules", str(index), "-o", str(rules))[0] == 0
    linked.asked.clear()
    add_ons = '{"dedup_filter.Addon": 500, "dedup_filter.urls.discarder.Addon": 600}'
    second = project.crawl(ADDONS=add_ons, DUD_LOAD_RULE_PATHS=rules)
    assert {item["text"] for item in second.items} == kept
    assert len(linked.asked) == 13  # the first page is asked for twice: start URLs are not filtered
