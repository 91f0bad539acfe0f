"""`Verdict.change`: the share of a page's words that came or went since an earlier crawl."""

import random
from functools import partial

import pytest
from made_text import prose

URL = "http://a.example/page"


def crawl_at(place, *pages, **options):
    options = {"changes": True, **options}
    with place.open(**options) as judged:
        return [judged.see(url, html=html(text)) for url, text in pages]


@pytest.fixture
def crawl(directory):
    return partial(crawl_at, directory)


def said(number, words=300):
    """Words that no other number has."""
    chance = random.Random(number)
    return ["".join(chance.choices("abcdefghiklmnoprstuw", k=8)) for _ in range(words)]


def html(words):
    """A page of paragraphs of 30 words."""
    parts = (words[start : start + 30] for start in range(0, len(words), 30))
    return "".join(f"<p>{' '.join(part)}</p>" for part in parts)


def test_a_page_is_measured_against_the_latest_earlier_crawl(kept_place):
    crawl = partial(crawl_at, kept_place)
    first, second = said(1), said(2)
    [page] = crawl((URL, first))
    assert (page.outcome, page.change) == ("new", None)
    [page] = crawl((URL, first))
    assert (page.outcome, page.change) == ("revisit", 0.0)
    [page] = crawl((URL, first[:120] + said(3, 15) + first[135:]))
    assert page.outcome == "revisit"
    assert 0.03 < page.change < 0.12
    [page] = crawl((f"{URL}?", second))
    assert page.outcome == "new"
    assert page.change > 0.95
    [third, other] = crawl((URL, said(4, 600) + second), ("http://a.example/x", first))
    assert third.outcome == "new"
    assert 0.6 < third.change < 0.75
    assert other.change is None


@pytest.mark.parametrize("start", [0, 120, 270])
def test_text_that_went_is_a_change_too(crawl, start):
    first = said(1)
    crawl((URL, first))
    [page] = crawl((URL, first[:start] + first[start + 30 :]))
    assert page.outcome == "revisit"
    assert page.change == pytest.approx(30 / 300, abs=0.02)
    assert page.came == ()


def test_a_sentence_less_in_a_long_paragraph_is_a_change(crawl):
    first = prose(1, words=300)
    for text in (first, first[: first.rindex("the ", 0, -30)]):
        [page] = crawl((URL, [text]))
    assert page.outcome == "revisit"
    assert page.change > 0


def test_a_copy_in_the_same_crawl_has_no_change(crawl):
    text = said(1)
    assert [page.change for page in crawl((URL, text), (URL, text))] == [None, None]


def test_short_pages(crawl):
    crawl((URL, ["Six words and not any more"]))
    [page] = crawl((URL, ["Six words and not any more"]))
    assert (page.outcome, page.change) == ("revisit", 0.0)
    [page] = crawl((URL, ["Seven words and not a word more"]))
    assert (page.outcome, page.change) == ("unjudged", 1.0)


def test_without_the_option_no_text_is_named(crawl):
    crawl((URL, said(1)), changes=False)
    [page] = crawl((URL, said(1)), changes=False)
    assert (page.outcome, page.change, page.as_json()["change"]) == ("revisit", 0.0, 0.0)
    [page] = crawl((URL, said(1) + said(2, 30)), changes=False)
    assert page.came == ()
    assert page.change > 0
