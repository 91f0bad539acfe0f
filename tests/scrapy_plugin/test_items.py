"""Which response an item comes from, and which judgements items of one response share."""

import gc

import pytest
from passages import run
from scrapy.http import JsonResponse

from dedup_filter import Verdict
from dedup_filter.scrapy_plugin.items import Visit
from dedup_filter.scrapy_plugin.page_fate import Judgement


@pytest.fixture
def came_from(make_judge):
    """Tell from the judge which response an item is taken to come from."""
    judge = make_judge(DEDUP_SOURCE="response")

    def ask(item):
        passage = run(judge.item(item))
        return passage.visit and passage.visit.url

    ask.expect = judge.expect
    ask.judge = judge
    return ask


def test_item_is_known_by_identity_not_by_equality(came_from, respond):
    responses = [respond("http://a/"), respond("http://b/")]
    items = [{"same": True}, {"same": True}]
    for item, response in zip(items, responses, strict=True):
        came_from.expect(item, response)

    assert came_from(items[1]) == "http://b/"
    assert came_from(items[0]) == "http://a/"


def test_item_is_taken_once(came_from, respond):
    response, item = respond("http://a/"), {}
    came_from.expect(item, response)
    came_from(item)

    assert came_from(item) is None


def test_object_yielded_again_belongs_to_each_response_in_turn(came_from, respond):
    first, second, item = respond("http://a/"), respond("http://b/"), {}
    for response in (first, second, first):
        came_from.expect(item, response)

    taken = [came_from(item) for _ in range(4)]

    assert taken == ["http://a/", "http://b/", "http://a/", None]


def test_unknown_item_is_known_by_the_url_of_the_only_such_visit(came_from, respond):
    responses = [respond("http://a/"), respond("http://b/"), respond("http://b/")]
    for response in responses:
        came_from.expect({}, response)

    asked = [{"url": "http://a/"}, {"url": "http://b/"}, {"url": "http://c/"}, {}]
    assert [came_from(item) for item in asked] == ["http://a/", None, None, None]


def test_nothing_is_left_when_responses_are_gone(came_from, respond):
    for number in range(50):
        response = respond(f"http://a/{number}")
        response.selector  # noqa: B018 - refers back to the response
        for _ in range(3):
            came_from.expect({"number": number}, response)
    del response
    gc.collect()

    assert not came_from.judge._items._visits


@pytest.mark.parametrize(("meta", "opted_out"), [({}, False), ({"dedup": False}, True)])
def test_request_opts_out_by_its_meta(respond, meta, opted_out):
    response = respond("http://a/", meta=meta)
    assert Visit(response).opted_out is opted_out

    response.request = None
    assert not Visit(response).opted_out


def new(url):
    return Judgement(Verdict("new"), url)


def near(url, original):
    return Judgement(Verdict("near", original, distance=2), url)


def test_page_that_repeats_only_its_own_visit_gets_the_first_judgement(respond):
    visit = Visit(respond("http://a/"))
    first = visit.share(new("http://a/"), b"1")

    assert visit.share(near("http://a/", "http://a/"), b"2") is first
    assert visit.share(near("http://a/print", "http://a/"), b"3") is first
    assert visit.known("http://a/print", b"3") is first


def test_page_that_repeats_another_visit_stays_a_duplicate(respond):
    visit = Visit(respond("http://b/"))
    repeated = near("http://b/", "http://a/")

    assert visit.share(repeated, b"1") is repeated
    assert visit.share(near("http://b/", "http://b/")).verdict.is_duplicate


def test_items_of_a_feed_are_pages_of_their_own(respond):
    visit = Visit(respond("http://feed/", "[]", JsonResponse))
    first = visit.share(new("http://a/"), b"1")
    twin = near("http://b/", "http://a/")

    assert visit.share(twin, b"1") is twin
    assert visit.known("http://b/", b"1") is twin
    assert visit.known("http://a/", b"1") is first
    assert visit.share(near("http://a/", "http://a/"), b"2") is first


def test_memory_of_a_visit_is_bounded(respond):
    visit = Visit(respond("http://feed/", "[]", JsonResponse))
    for number in range(3000):
        visit.share(new(f"http://a/{number}"), str(number).encode())

    known = [number for number in range(3000) if visit.known(f"http://a/{number}", b"%d" % number)]
    assert known == list(range(2000, 3000))
