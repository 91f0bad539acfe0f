"""A fault of the filter costs no item."""

import pytest

BROKEN_FILTER = """
    import dedup_filter

    def claim_read(*arguments):
        raise ZeroDivisionError("out of order")

    dedup_filter.NearDuplicateFilter.claim_read = claim_read
"""
PARSE = """
    yield {"url": response.url, "number": 1}
    yield {"url": response.url, "number": 2}
    yield from response.follow_all(css="a")
"""
PAGES = 6


@pytest.fixture
def crawl(project, site):
    """Crawl a chain of pages with a filter that is out of order."""
    for number in range(PAGES):
        site.add(f"/{number}", f"<p>{number} <a href='/{number + 1}'>next</a></p>")
    project.spider(parse=PARSE)
    project.module("__init__", BROKEN_FILTER)
    return lambda **settings: project.crawl(f"{site.url}/0", **settings)


def test_items_are_kept_and_the_traceback_is_logged_once(crawl):
    done = crawl()

    assert len(done.items) == 2 * PAGES
    assert done.stats["dedup/errors"] == done.stats["dedup/unjudged/error"] == PAGES
    assert done.stats["finish_reason"] == "finished"
    assert len(done.lines("Traceback")) == 1
    assert len(done.lines("ZeroDivisionError: out of order")) == 3  # the 1st, 2nd and 4th


def test_spider_is_closed_after_the_first_if_so_wished(crawl, site):
    done = crawl(DEDUP_ON_ERROR="close")

    assert done.exit_code == 0
    assert done.stats["finish_reason"] == "dedup_error"
    assert len(done.items) == 2 * len(site.asked) < 2 * PAGES
    assert "Warning" not in done.log
