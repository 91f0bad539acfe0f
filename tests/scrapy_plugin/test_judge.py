"""Items and responses are judged by the right page, once, and a fault costs no item."""

import logging

import pytest
from passages import put_through, run
from scrapy.http import JsonResponse

from dedup_filter import NearDuplicateFilter


def judged(judge, response, *items):
    """Let items of a response pass the spider middleware, then the pipelines."""
    for item in items:
        judge.fates.expect(item, judge.fates.visit(response))
    return [put_through(judge, item, response).verdict for item in items]


def outcomes(judge, response, *items):
    return [verdict.outcome for verdict in judged(judge, response, *items)]


def outcomes_adding_up(stats):
    names = ("new", "near", "exact", "revisits", "unjudged")
    return sum(stats.get(f"dedup/{name}", 0) for name in names)


@pytest.fixture
def by_html(make_judge):
    return make_judge(DEDUP_HTML_FIELD="html")


def test_a_named_field_that_is_missing_is_told_once(make_judge, respond, page, caplog):
    judge = make_judge(DEDUP_HTML_FIELD="hmtl")

    verdicts = judged(judge, respond("http://a/", page(1)), {"html": page(1)}, {"html": page(2)})

    assert [verdict.reason for verdict in verdicts] == ["no_field", "no_field"]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "DEDUP_HTML_FIELD" in caplog.text


def test_items_share_the_verdict_on_their_response(judge, respond, page, stats):
    here, there = respond("http://a/", page(1)), respond("http://b/", page(1, edits=1))
    items = [{"number": number} for number in range(6)]

    assert outcomes(judge, here, *items[:3]) == ["new"] * 3
    assert outcomes(judge, there, *items[3:]) == ["near"] * 3
    assert stats["dedup/pages"] == outcomes_adding_up(stats) == 2


@pytest.mark.parametrize("name", ["text", "html"])
def test_items_of_one_page_share_its_verdict_whatever_they_hold(judge, respond, page, stats, name):
    response = respond("http://a/", page(1))
    items = [{"number": 1}, {name: page(1)}, {"url": "http://b/", name: page(2)}, {name: "Short."}]

    assert outcomes(judge, response, *items) == ["new"] * 4
    assert judge.pages.see("http://x/", html=page(1)).original == "http://a/"
    assert stats["dedup/pages"] == 1


def test_articles_of_one_feed_are_compared_with_one_another(judge, respond, page):
    feed = respond("http://feed/", "[]", JsonResponse)

    assert outcomes(
        judge,
        feed,
        {"url": "http://a/1", "html": page(1)},
        {"url": "http://b/1", "html": page(1)},
        {"url": "http://a/1", "html": page(1)},
    ) == ["new", "exact", "new"]


def test_items_of_an_api_without_page_text_are_kept(judge, respond, stats):
    answer = respond("http://api/", "{}", JsonResponse)
    review = {"text": "Great!"}

    assert outcomes(judge, answer, {"number": 1}, dict(review), dict(review)) == ["unjudged"] * 3
    assert stats["dedup/unjudged/not_html"] == stats["dedup/pages"] == 1


def test_start_items_are_judged_by_their_fields_alone(judge, page, stats):
    items = [
        {"url": "http://a/1", "html": page(1)},
        {"url": "http://a/1", "html": page(1)},
        {"number": 1},
        {"text": "To be."},
        {"html": "<p>To be."},
    ]

    verdicts = [put_through(judge, item).verdict for item in items]

    assert [verdict.outcome for verdict in verdicts[:2]] == ["new", "exact"]
    assert [verdict.reason for verdict in verdicts[2:]] == ["no_response"] * 3
    assert stats["dedup/pages"] == outcomes_adding_up(stats) == 5


def test_source_item_never_asks_the_response(make_judge, respond, page):
    judge = make_judge(DEDUP_SOURCE="item")
    response = respond("http://a/", page(1))

    assert [
        verdict.reason or verdict.outcome
        for verdict in judged(
            judge,
            response,
            {"number": 1},
            {"text": 5},
            {"html": "<p>Too short."},
            {"anything": page(2)},
        )
    ] == ["no_field", "no_field", "no_field", "new"]


def test_source_response_never_asks_the_item(make_judge, respond, page):
    judge = make_judge(DEDUP_SOURCE="response")
    here, there = respond("http://a/", page(1)), respond("http://b/", page(1))

    assert outcomes(judge, here, {"html": page(2)}, {"html": page(3)}) == ["new", "new"]
    assert outcomes(judge, there, {"html": page(4)}) == ["exact"]
    assert put_through(judge, {"html": page(5)}).verdict.reason == "no_response"


def test_named_field_is_an_order_not_a_hint(make_judge, respond, page):
    judge = make_judge(DEDUP_TEXT_FIELDS="quote")
    response = respond("http://a/", page(1))

    assert [
        verdict.reason
        for verdict in judged(judge, response, {"html": page(2)}, {"quote": "Short."})
    ] == ["no_field", "too_short"]
    assert len(judge.pages) == 1


def test_opted_out_response_is_neither_judged_nor_remembered(judge, respond, page, stats):
    response = respond("http://a/", page(1), meta={"dedup": False})
    items = [{"number": 1}, {"html": page(1)}]
    for item in items:
        judge.fates.expect(item, judge.fates.visit(response))

    assert [put_through(judge, item) for item in items] == [None, None]
    assert not run(judge.repeats(judge.fates.visit(response)))
    assert len(judge.pages) == 0
    assert stats["dedup/opted_out"] == 1
    assert stats["dedup/pages"] == 0


class Broken(NearDuplicateFilter):
    def claim_read(self, page):
        raise MemoryError("no room")


def test_fault_keeps_the_item_and_is_told_once_with_its_traceback(
    make_judge, respond, page, stats, caplog, end_crawl
):
    judge = make_judge(Broken(), end_crawl)

    with caplog.at_level(logging.ERROR, "dedup_filter"):
        for number in range(9):
            item = {"html": page(number)}
            (verdict,) = judged(judge, respond(f"http://a/{number}", page(99)), item)
            assert (verdict.outcome, verdict.reason) == ("unjudged", "error")

    assert stats["dedup/errors"] == stats["dedup/unjudged/error"] == 9
    assert stats["dedup/pages"] == outcomes_adding_up(stats) == 9
    first, closing, *rest = caplog.records
    assert first.exc_info
    assert closing.getMessage().startswith("Spider closed after a fault (DEDUP_ON_ERROR)")
    assert [bool(record.exc_info) for record in rest] == [False, False, False]
    assert end_crawl.count == 1


def test_response_that_cannot_be_judged_fails_once_for_all_its_items(
    make_judge, respond, page, stats
):
    judge = make_judge(Broken())
    items = [{"number": number} for number in range(5)]

    assert outcomes(judge, respond("http://a/", page(1)), *items) == ["unjudged"] * 5
    assert stats["dedup/errors"] == stats["dedup/pages"] == 1


def test_item_that_raises_when_it_is_read_is_kept(judge, respond, page, stats):
    class Trap(dict):
        def __getitem__(self, key):
            raise RuntimeError("boom")

    assert outcomes(judge, respond("http://a/", page(1)), Trap(html="x")) == ["unjudged"]
    assert stats["dedup/errors"] == 1


@pytest.mark.parametrize("source", ["auto", "item", "response"])
def test_every_item_gets_an_answer(make_judge, respond, page, source):
    judge = make_judge(DEDUP_SOURCE=source)
    items = [5, "text", None, object(), [], {"html": []}, {"text": {}}, {"url": 5}]

    assert set(outcomes(judge, respond("http://a/", page(1)), *items)) <= {"new", "unjudged"}


def test_without_a_page_the_whole_document_in_an_item_is_judged(judge, respond, page, stats):
    answers = [respond(f"http://api/{number}", "{}", JsonResponse) for number in range(2)]

    (first,) = judged(judge, answers[0], {"url": "http://a/", "page": page(1)})
    (second,) = judged(judge, answers[1], {"url": "http://b/", "page": page(1).encode()})

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
    make_judge, respond, page, url, meant
):
    judge = make_judge(DEDUP_HTML_FIELD="html")
    judged(judge, respond("http://a/list/", page(9)), {"url": url, "html": page(1)})

    assert judge.pages.see("http://elsewhere/", html=page(1)).original == meant
