"""Crawls whose pages are read by other processes (DEDUP_WORKERS) end as they do without."""

from collections import Counter

import pytest

PAGES = 40
PARSE = """
    for number in (1, 2):
        yield {"url": response.url, "html": response.text, "number": number}
"""
SELECT = "twisted.internet.selectreactor.SelectReactor"


@pytest.fixture
def copied_site(site, paragraphs):
    """Serve articles, each with a copy in which a word is changed."""
    for number in range(PAGES // 2):
        site.add(f"/{number}", paragraphs(number))
        site.add(f"/{number}/copy", paragraphs(number, edits=1))
    return site


def check(done):
    assert done.exit_code == 0, done.log
    assert "Traceback" not in done.log, done.log
    assert done.stats["dedup/errors"] == 0, done.log
    assert done.stats["dedup/new"] == done.stats["dedup/near"] == PAGES // 2
    articles = Counter(item["url"].removesuffix("/copy") for item in done.items)
    assert len(articles) == PAGES // 2
    assert set(articles.values()) == {2}, "not two items of each article"


@pytest.mark.parametrize(
    "settings",
    [
        {"CONCURRENT_REQUESTS": 16, "TWISTED_REACTOR": SELECT},  # nothing can be waited for
        {"CONCURRENT_REQUESTS": 16, "DEDUP_FOLLOW_LINKS": False},
        {"DEDUP_WORKERS": 1, "DEDUP_SOURCE": "item", "DEDUP_HTML_FIELD": "html"},
        {"DEDUP_WORKERS": "auto", "CONCURRENT_REQUESTS": 8, "DEDUP_INDEX": "redis"},
    ],
)
def test_each_way_of_judging_works(copied_site, project, redis_server, settings):
    if "DEDUP_INDEX" in settings:
        settings = {**settings, "DEDUP_INDEX": redis_server.url}
    project.spider(parse=PARSE)

    check(project.crawl(*copied_site.urls(), **{"DEDUP_WORKERS": 2, **settings}))
