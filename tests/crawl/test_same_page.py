"""A page is never a duplicate of itself; fetched again, it is."""

import pytest

ITEM_AT_THE_SECOND_TRY = """
    from scrapy.downloadermiddlewares.retry import get_retry_request
    if "retry_times" not in response.meta:
        yield get_retry_request(response.request, spider=self, reason="it lacks a price")
    else:
        yield {"url": response.url}
"""
HTML = "<html><body><p>{}</p></body></html>"


@pytest.mark.parametrize("follow_links", [True, False])
def test_page_that_its_callback_tries_again_is_no_duplicate(project, site, article, follow_links):
    site.add("/a", HTML.format(article(1)))
    project.spider(parse=ITEM_AT_THE_SECOND_TRY)

    crawl = project.crawl(*site.urls(), DEDUP_FOLLOW_LINKS=follow_links)

    assert site.asked == ["/a", "/a"]
    assert crawl.items == [{"url": f"{site.url}/a"}]


def test_of_many_equal_pages_at_once_exactly_one_is_kept(project, site, article):
    for number in range(20):
        site.add(f"/{number}", HTML.format(article(1)))
    project.spider()

    crawl = project.crawl(*site.urls(), CONCURRENT_REQUESTS=16)

    assert len(crawl.items) == 1
    assert crawl.stats["dedup/exact"] == 19
