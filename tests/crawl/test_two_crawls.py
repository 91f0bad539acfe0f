"""Two crawls at the same time, over two mirrors of a site, with one index on a server."""

from collections import Counter

import pytest

PAGES = 20
PARSE = """
    number = int(response.url.rpartition("/")[2])
    yield {"url": response.url, "number": number}
    yield {"number": number, "again": True}
    yield from response.follow_all(css="a")
"""
SELECT = "twisted.internet.selectreactor.SelectReactor"


@pytest.fixture
def crawl_both(make_site, paragraphs, new_project):
    """Crawl the same articles on two sites, on one with a word changed; return what is left."""
    mirrors = [
        make_site({f"/{number}": paragraphs(number, edits) for number in range(PAGES)})
        for edits in range(2)
    ]

    def crawl(*settings_of_each, **settings):
        started = []
        for site, own in zip(mirrors, settings_of_each or ({}, {}), strict=True):
            project = new_project()
            project.spider(parse=PARSE)
            settings_here = {"CONCURRENT_REQUESTS": 16, **settings, **own}
            started.append(project.begin(*site.urls(), **settings_here))
        return [process.end() for process in started]

    return crawl


def kept(crawls):
    """Count the crawls that kept each page."""
    return Counter(
        item["number"] for done in crawls for item in done.items if not item.get("again")
    )


def check(crawls):
    for done in crawls:
        assert done.exit_code == 0, done.log
        assert "Traceback" not in done.log, done.log
        assert "Warning" not in done.log, done.log
        assert done.stats["finish_reason"] == "finished"
        assert done.stats["dedup/errors"] == 0
        assert done.stats["dedup/pages"] == PAGES
        assert done.stats["dedup/new"] + done.stats["dedup/near"] == PAGES
        again = [item["number"] for item in done.items if item.get("again")]
        assert sorted(again) == sorted(kept([done]))  # items of a page share its verdict
    assert kept(crawls) == dict.fromkeys(range(PAGES), 1)


@pytest.mark.slow
def test_together_they_keep_each_page_once_and_later_crawls_know_them(crawl_both, redis_server):
    crawls = crawl_both({}, {"TWISTED_REACTOR": SELECT}, DEDUP_INDEX=redis_server.url)

    check(crawls)
    assert max(done.stats["dedup/all/pages"] for done in crawls) >= 2 * PAGES
    assert max(done.stats["dedup/all/new"] for done in crawls) >= PAGES
    assert all("; all crawlers since the index was made, " in done.log for done in crawls)

    again = crawl_both(DEDUP_INDEX=redis_server.url, DEDUP_REVISIT="drop")

    assert kept(again) == {}, [done.log for done in again]
    assert sum(done.stats.get("dedup/revisits", 0) for done in again) == PAGES
