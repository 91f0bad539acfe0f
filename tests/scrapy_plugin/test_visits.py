import gc

import pytest
from scrapy.http import JsonResponse

from dedup_filter import Verdict
from dedup_filter.scrapy_plugin.judgement import Judgement
from dedup_filter.scrapy_plugin.visits import Visit, Visits


@pytest.fixture
def visits():
    return Visits()


def test_item_is_known_by_identity_not_by_equality(visits, respond):
    first, second = respond("http://a/"), respond("http://b/")
    items = [{"same": True}, {"same": True}]
    visits.expect(items[0], visits.of(first))
    visits.expect(items[1], visits.of(second))

    assert visits.take(items[1], None) is visits.of(second)
    assert visits.take(items[0], None) is visits.of(first)


def test_item_is_taken_once(visits, respond):
    response, item = respond("http://a/"), {}
    visits.expect(item, visits.of(response))
    visits.take(item, None)

    assert visits.take(item, None) is None


def test_object_yielded_again_belongs_to_each_response_in_turn(visits, respond):
    first, second, item = respond("http://a/"), respond("http://b/"), {}
    for response in (first, first, second):
        visits.expect(item, visits.of(response))

    taken = [visits.take(item, None) for _ in range(3)]

    assert [visit.url for visit in taken] == ["http://a/", "http://a/", "http://b/"]
    assert not visits.of(first).arrivals
    assert not visits.of(second).arrivals


def test_unknown_item_is_known_by_the_url_of_the_only_such_visit(visits, respond):
    responses = [respond("http://a/"), respond("http://b/"), respond("http://b/")]
    for response in responses:
        visits.of(response)

    assert visits.take({}, "http://a/") is visits.of(responses[0])
    assert visits.take({}, "http://b/") is None
    assert visits.take({}, "http://c/") is None
    assert visits.take({}, None) is None


def test_nothing_is_left_when_responses_are_gone(visits, respond):
    for number in range(50):
        response = respond(f"http://a/{number}")
        response.selector  # noqa: B018 - refers back to the response
        for _ in range(3):
            visits.expect({"number": number}, visits.of(response))
    del response
    gc.collect()

    assert not visits._visits
    assert not visits._arrivals


@pytest.mark.parametrize(("meta", "opted_out"), [({}, False), ({"dedup": False}, True)])
def test_request_opts_out_by_its_meta(respond, meta, opted_out):
    assert Visit(respond("http://a/", meta=meta)).opted_out is opted_out


def test_response_without_a_request_is_not_opted_out(respond):
    response = respond("http://a/")
    response.request = None

    assert not Visit(response).opted_out


def new(url):
    return Judgement(Verdict("new"), url)


def near(url, original):
    return Judgement(Verdict("near", original, distance=2), url)


def test_page_that_repeats_only_its_own_visit_gets_the_first_verdict(respond):
    visit = Visit(respond("http://a/"))
    first = visit.settle(new("http://a/"), b"1")

    assert visit.settle(near("http://a/", "http://a/"), b"2") is first
    assert visit.settle(near("http://a/print", "http://a/"), b"3") is first
    assert visit.known("http://a/print", b"3") is first


def test_page_that_repeats_another_visit_stays_a_duplicate(respond):
    visit = Visit(respond("http://b/"))
    repeated = near("http://b/", "http://a/")

    assert visit.settle(repeated, b"1") is repeated
    assert visit.settle(near("http://b/", "http://b/")).verdict.is_duplicate


def test_items_of_a_feed_are_pages_of_their_own(respond):
    visit = Visit(respond("http://feed/", "[]", JsonResponse))
    first = visit.settle(new("http://a/"), b"1")
    twin = near("http://b/", "http://a/")

    assert visit.settle(twin, b"1") is twin
    assert visit.known("http://b/", b"1") is twin
    assert visit.known("http://a/", b"1") is first
    assert visit.settle(near("http://a/", "http://a/"), b"2") is first


def test_memory_of_a_visit_is_bounded(respond):
    visit = Visit(respond("http://feed/", "[]", JsonResponse))
    for number in range(3000):
        visit.settle(new(f"http://a/{number}"), str(number).encode())

    assert len(visit._by_url) == len(visit._by_digest) == 1000
    assert visit.known("http://a/2999", b"2999") is not None
