"""Items and responses are judged by the right page, once, and a fault costs no item."""

import logging

import pytest
from scrapy.http import HtmlResponse, JsonResponse

from dedup_filter import NearDuplicateFilter


def judged(crawl, response, *items):
    """Let items of a response pass the spider middleware, then the pipelines."""
    crawl.expect(response, *items)
    return [crawl.put_through(item, response) for item in items]


def outcomes(crawl, response, *items):
    return [verdict.reason or verdict.outcome for verdict in judged(crawl, response, *items)]


def outcomes_adding_up(stats):
    names = ("new", "near", "exact", "revisits", "unjudged")
    return sum(stats.get(f"dedup/{name}", 0) for name in names)


def test_a_named_field_that_is_missing_is_told_once(make_crawl, respond, page, caplog):
    crawl = make_crawl(DEDUP_HTML_FIELD="hmtl")

    found = outcomes(crawl, respond("http://a/", page(1)), {"html": page(1)}, {"html": page(2)})

    assert found == ["no_field", "no_field"]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "DEDUP_HTML_FIELD" in caplog.text


@pytest.mark.parametrize("name", ["text", "html"])
def test_items_of_one_page_share_its_verdict_whatever_they_hold(crawl, respond, page, name):
    here, there = respond("http://a/", page(1)), respond("http://b/", page(1, edits=1))
    items = [{"number": 1}, {name: page(1)}, {"url": "http://c/", name: page(2)}, {name: "Short."}]

    assert outcomes(crawl, here, *items) == ["new"] * 4
    assert outcomes(crawl, there, *items) == ["near"] * 4
    assert crawl.pages.see("http://x/", html=page(1)).original == "http://a/"
    assert crawl.stats["dedup/pages"] == outcomes_adding_up(crawl.stats) == 2


def test_articles_of_one_feed_are_compared_with_one_another(crawl, respond, page):
    feed = respond("http://feed/", "[]", JsonResponse)

    assert outcomes(
        crawl,
        feed,
        {"url": "http://a/1", "html": page(1)},
        {"url": "http://b/1", "html": page(1)},
        {"url": "http://a/1", "html": page(1)},
    ) == ["new", "exact", "new"]


def test_items_of_an_api_without_page_text_are_kept(crawl, respond):
    answer = respond("http://api/", "{}", JsonResponse)
    review = {"text": "Great!"}

    found = outcomes(crawl, answer, {"number": 1}, dict(review), dict(review))
    assert found == ["not_html"] * 3
    assert crawl.stats["dedup/unjudged/not_html"] == crawl.stats["dedup/pages"] == 1


def test_start_items_are_judged_by_their_fields_alone(crawl, page):
    items = [
        {"url": "http://a/1", "html": page(1)},
        {"url": "http://a/1", "html": page(1)},
        {"number": 1},
        {"text": "To be."},
        {"html": "<p>To be."},
    ]

    verdicts = [crawl.put_through(item) for item in items]

    assert [verdict.outcome for verdict in verdicts[:2]] == ["new", "exact"]
    assert [verdict.reason for verdict in verdicts[2:]] == ["no_response"] * 3
    assert crawl.stats["dedup/pages"] == outcomes_adding_up(crawl.stats) == 5


def test_source_item_never_asks_the_response(make_crawl, respond, page):
    crawl = make_crawl(DEDUP_SOURCE="item")
    items = [{"number": 1}, {"text": 5}, {"html": "<p>Too short."}, {"anything": page(2)}]

    assert outcomes(crawl, respond("http://a/", page(1)), *items) == ["no_field"] * 3 + ["new"]


def test_source_response_never_asks_the_item(make_crawl, respond, page):
    crawl = make_crawl(DEDUP_SOURCE="response")
    here, there = respond("http://a/", page(1)), respond("http://b/", page(1))

    assert outcomes(crawl, here, {"html": page(2)}, {"html": page(3)}) == ["new", "new"]
    assert outcomes(crawl, there, {"html": page(4)}) == ["exact"]
    assert crawl.put_through({"html": page(5)}).reason == "no_response"


def test_named_field_is_an_order_not_a_hint(make_crawl, respond, page):
    crawl = make_crawl(DEDUP_TEXT_FIELDS="quote")
    items = [{"html": page(2)}, {"quote": "Short."}]

    assert outcomes(crawl, respond("http://a/", page(1)), *items) == ["no_field", "too_short"]
    assert len(crawl.pages) == 1


def test_opted_out_response_is_neither_judged_nor_remembered(make_crawl, respond, page):
    crawl = make_crawl(DEDUP_ACTION="tag", DEDUP_FOLLOW_LINKS=False)
    response = respond("http://a/", page(1), meta={"dedup": False})

    assert judged(crawl, response, {"number": 1}, {"html": page(1)}) == [None, None]
    assert not crawl.run(crawl.judge.holds_back(response.follow("b"), response))
    assert len(crawl.pages) == 0
    assert crawl.stats["dedup/opted_out"] == 1
    assert crawl.stats["dedup/pages"] == 0


class Broken(NearDuplicateFilter):
    def claim_read(self, page):
        raise MemoryError("no room")


def test_fault_keeps_the_item_and_is_told_once_with_its_traceback(
    make_crawl, respond, page, caplog, end_crawl
):
    crawl = make_crawl(Broken(), end_crawl)

    with caplog.at_level(logging.ERROR, "dedup_filter"):
        for number in range(9):
            items = {"html": page(number)}, {"again": True}
            found = outcomes(crawl, respond(f"http://a/{number}", page(99)), *items)
            assert found == ["error", "error"]

    assert crawl.stats["dedup/errors"] == crawl.stats["dedup/unjudged/error"] == 9
    assert crawl.stats["dedup/pages"] == outcomes_adding_up(crawl.stats) == 9
    first, closing, *rest = caplog.records
    assert first.exc_info
    assert closing.getMessage().startswith("Spider closed after a fault (DEDUP_ON_ERROR)")
    assert [bool(record.exc_info) for record in rest] == [False, False, False]
    assert end_crawl.call_count == 1


def test_item_that_raises_when_it_is_read_is_kept(make_crawl, respond, page):
    class Trap(dict):
        def __getitem__(self, key):
            raise RuntimeError("boom")

    crawl = make_crawl(DEDUP_HTML_FIELD="html")

    assert outcomes(crawl, respond("http://a/", page(1)), Trap(html="x")) == ["error"]
    assert crawl.stats["dedup/errors"] == 1


def test_response_that_cannot_be_noted_costs_no_item(crawl, page):
    class Nameless(HtmlResponse):
        @property
        def url(self):
            raise RuntimeError("no name")

    assert outcomes(crawl, Nameless("http://a/"), {"number": 1}) == ["no_response"]
    assert crawl.stats["dedup/errors"] > 0


@pytest.mark.parametrize("source", ["auto", "item", "response"])
def test_every_item_gets_an_answer(make_crawl, respond, page, source):
    crawl = make_crawl(DEDUP_SOURCE=source)
    items = [5, "text", None, object(), [], {"html": []}, {"text": {}}, {"url": 5}]

    assert set(outcomes(crawl, respond("http://a/", page(1)), *items)) <= {"new", "no_field"}


def test_without_a_page_the_whole_document_in_an_item_is_judged(crawl, respond, page):
    answers = [respond(f"http://api/{number}", "{}", JsonResponse) for number in range(2)]

    (first,) = judged(crawl, answers[0], {"url": "http://a/", "page": page(1)})
    (second,) = judged(crawl, answers[1], {"url": "http://b/", "page": page(1).encode()})

    assert (first.outcome, second.outcome) == ("new", "exact")
    assert second.original == "http://a/"


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("/news/1", "http://a/news/1"),
        ("1?page=2", "http://a/list/1?page=2"),
        ("//b/1", "http://b/1"),
        ("https://b/1", "https://b/1"),
        ("urn:isbn:1", "urn:isbn:1"),
        ("http://[1/", "http://a/list/"),
    ],
)
def test_relative_url_of_an_item_is_joined_to_that_of_its_response(
    make_crawl, respond, page, url, meant
):
    crawl = make_crawl(DEDUP_HTML_FIELD="html")
    judged(crawl, respond("http://a/list/", page(9)), {"url": url, "html": page(1)})

    assert crawl.pages.see("http://elsewhere/", html=page(1)).original == meant
