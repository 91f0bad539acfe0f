"""`Verdict.change`: how much of a page is new since an earlier crawl recorded it at its URL."""

import pytest
from made_text import prose

URL = "http://a.example/page"


@pytest.fixture
def crawl(kept_place):
    def run(*pages, **options):
        options = {"changes": True, **options}
        with kept_place.open(**options) as judged:
            return [judged.see(url, html=f"<p>{text}</p>") for url, text in pages]

    return run


def test_a_page_is_measured_against_the_latest_earlier_crawl(crawl):
    first, second = prose(1, words=300), prose(2, words=300)
    [page] = crawl((URL, first))
    assert (page.outcome, page.change) == ("new", None)
    [page] = crawl((URL, first))
    assert (page.outcome, page.change) == ("revisit", 0.0)
    [page] = crawl((URL, f"{first} {prose(3, words=20)}"))
    assert page.outcome == "revisit"
    assert 0.03 < page.change < 0.12
    [page] = crawl((f"{URL}?", second))
    assert page.outcome == "new"
    assert page.change > 0.95  # all texts share some phrases
    [half, other] = crawl((URL, f"{prose(4, words=300)} {second}"), ("http://a.example/x", first))
    assert half.outcome == "new"
    assert 0.4 < half.change < 0.6
    assert other.change is None


def test_only_new_text_is_a_change(crawl):
    first = prose(1, words=300)
    crawl((URL, f"{first} {prose(3, words=30)}"))
    [page] = crawl((URL, first))
    assert page.change == 0.0


def test_a_copy_in_the_same_crawl_has_no_change(crawl):
    text = prose(1, words=300)
    assert [page.change for page in crawl((URL, text), (URL, text))] == [None, None]


def test_short_pages(crawl):
    crawl((URL, "Six words and not any more"))
    [page] = crawl((URL, "Six words and not any more"))
    assert (page.outcome, page.change) == ("revisit", 0.0)
    [page] = crawl((URL, "Seven words and not a word more"))
    assert (page.outcome, page.change) == ("unjudged", None)


def test_nothing_is_measured_without_the_option(crawl):
    text = prose(1, words=300)
    crawl((URL, text), changes=False)
    [page] = crawl((URL, text), changes=False)
    assert (page.outcome, page.change, page.as_json()["change"]) == ("revisit", None, None)
