"""What becomes of items decides what becomes of their pages: committed, released, waited for."""

import gc
import weakref
from dataclasses import replace

import pytest
from passages import BY_TEXT, PlainPages, SharedPages, page_item
from scrapy import Request
from scrapy.http import JsonResponse

from dedup_filter import Verdict
from dedup_filter.errors import StoreError


@pytest.fixture
def pages():
    return PlainPages()


@pytest.fixture
def crawl(make_crawl, pages):
    return make_crawl(pages, **BY_TEXT)


@pytest.fixture
def shared():
    return SharedPages()


@pytest.fixture
def on_server(make_crawl, shared):
    return make_crawl(shared, **BY_TEXT)


@pytest.fixture(params=[PlainPages, SharedPages])
def anywhere(make_crawl, request):
    return make_crawl(request.param(), **BY_TEXT)


@pytest.fixture
def by_response(make_crawl, pages):
    return make_crawl(pages, DEDUP_SOURCE="response")


@pytest.fixture
def feed(respond):
    return respond("http://feed/", "[]", JsonResponse)


@pytest.mark.parametrize(("revisit", "fate"), [("keep", "released"), ("drop", "committed")])
def test_revisit_is_pending_until_its_item_went_through_or_was_dropped_for_it(
    make_crawl, pages, revisit, fate
):
    pages.config = replace(pages.config, revisit=revisit)
    crawl = make_crawl(pages, **BY_TEXT)
    pages.claim_read = lambda page: Verdict("revisit", "http://a/1", page=7)
    pages.pending[7] = "same"
    pages.kept["same"] = (7, "http://a/1")

    sent = crawl.send(page_item(1))
    sent.end(went_through=False)

    assert sent.is_dropped is (revisit == "drop")
    assert getattr(pages, fate) == [7]


def test_twin_waits_and_is_dropped_when_its_original_went_through(anywhere):
    first, *twins = [anywhere.send(page_item(number)) for number in range(1, 5)]
    anywhere.until(lambda: first.outcome)
    assert [twin.outcome for twin in twins] == [None] * 3
    assert anywhere.stats["dedup/pages"] == 1

    first.end()
    assert [twin.end() for twin in twins] == ["exact"] * 3
    anywhere.end()
    assert anywhere.stats["dedup/pages"] == 4
    assert sorted(anywhere.pages.committed) == [1, 2, 3, 4]


def test_one_twin_takes_the_place_of_an_original_that_came_to_nothing(anywhere):
    first, *twins = [anywhere.send(page_item(number)) for number in (1, 2, 3)]
    first.end(went_through=False)
    anywhere.until(lambda: any(twin.outcome for twin in twins))
    second, third = sorted(twins, key=lambda twin: not twin.outcome)
    assert (second.outcome, third.outcome) == ("new", None)

    second.end(went_through=False)
    assert third.end() == "new"

    anywhere.end()
    assert not anywhere.pages.pending
    assert anywhere.stats["dedup/pages"] == anywhere.stats["dedup/new"] == 3
    assert anywhere.stats["dedup/released"] == 2


def test_wait_is_bounded_and_the_item_is_kept(crawl, pages):
    first, twin = crawl.send(page_item(1)), crawl.send(page_item(2))
    crawl.pause(55)
    assert twin.outcome is None
    crawl.pause(10)
    assert twin.outcome == "pending"
    assert crawl.stats["dedup/unjudged/pending"] == 1

    first.end()
    assert not pages.pending


def test_wait_for_another_process_is_bounded_too(on_server, shared):
    shared.elsewhere, shared.fates = {"same": 1001}, {1001: ["pending"]}

    assert on_server.put_through(page_item(1)).reason == "pending"


STORIES = {
    "the first item that goes through commits the page of all": ("e0 e1 e2 end -0 . +1 -2", "kept"),
    "the last item that comes to nothing releases the page": ("e0 -0 . e1 . end . x1", "released"),
    "an item may be under way when the callback fails": ("e0 fail . +0", "kept"),
    "an item made anew is known by its response": ("e0 end . ?0", "kept"),
    "items made anew are known when all are out": ("e0 e1 end ?0 . ?1", "kept"),
    "an item may be lost beside one made anew": ("e0 e1 end ?1 . -0", "kept"),
    "a page that gave only links counts as seen": ("links . end", "kept"),
    "a page whose callback failed is released": ("links . fail", "released"),
    "a page that is asked for again is released": ("links . again end", "released"),
}


@pytest.mark.parametrize("story", STORIES)
def test_page_is_kept_or_released(make_crawl, pages, respond, story):
    """Steps: eN expects and judges item N; +N passes; -N is lost later, xN earlier; . nothing yet.

    ?N is made anew and passes.
    """
    steps, fate = STORIES[story]
    crawl = make_crawl(pages, DEDUP_SOURCE="response", DEDUP_FOLLOW_LINKS="links" not in steps)
    judge, response = crawl.judge, respond("http://a/", "<p>text")
    items = [{"n": number} for number in range(3)]
    for step in steps.split():
        each = items[int(step[-1])] if step[-1].isdigit() else None
        if step[0] == "e" and each is not None:
            crawl.expect(response, each)
            if f"x{step[1]}" not in steps:
                crawl.judged(each)
        elif each is not None:
            comes_out = crawl.scraped if step[0] in "+?" else crawl.lost
            comes_out({} if step[0] == "?" else each, response)
        elif step in ("links", "again"):
            link = "http://a/" if step == "again" else "http://a/link"
            crawl.run(judge.holds_back(Request(link, dont_filter=True), response))
        elif step == ".":
            assert (list(pages.pending), pages.committed, pages.released) == ([1], [], [])
        else:
            crawl.call(judge.output_ended, response, has_failed=step == "fail")

    assert (pages.committed, pages.released) == (([1], []) if fate == "kept" else ([], [1]))
    assert crawl.stats["dedup/pages"] == crawl.stats["dedup/new"] == 1


def test_page_is_released_early_if_another_waits_for_it(by_response, pages, respond):
    crawl = by_response
    here, there = respond("http://a/", "<p>text"), respond("http://b/", "<p>text")
    items, twin = [{"n": 1}, {"n": 2}], {"n": 3}
    crawl.expect(here, items[0])
    crawl.expect(there, twin, ends=True)
    crawl.send(items[0], here).end(went_through=False)

    waiting = crawl.send(twin, there)
    crawl.pause()
    assert waiting.outcome == "new"

    crawl.expect(here, items[1], ends=True)
    late = crawl.send(items[1], here)  # is judged anew, and repeats the twin now
    assert late.outcome is None
    waiting.end()
    assert late.end() == "exact"
    assert not pages.pending


def test_outcomes_of_items_made_anew_are_held_until_their_pages_are_known(crawl, pages, feed):
    items = [page_item(number, text=f"{number}") for number in range(1, 4)]
    crawl.expect(feed, *items, ends=True)
    for each in items:
        crawl.judged(each)

    crawl.scraped({"unknown": 1}, feed)
    crawl.scraped({"unknown": 2}, feed)
    assert (pages.committed, pages.released) == ([], [])

    crawl.lost(items[0], feed)
    assert (pages.committed, pages.released) == ([2, 3], [1])


def test_outcomes_that_cannot_be_told_apart_cost_no_twin(crawl, pages, feed):
    given = [{"n": 1}, {"n": 2}]
    crawl.expect(feed, *given, ends=True)
    for number in (1, 2):  # another pipeline has made them anew before
        crawl.judged({"url": "http://feed/", "text": f"{number}"})

    crawl.scraped({"unknown": 1}, feed)
    crawl.lost(given[1], feed)

    assert (pages.committed, pages.released) == ([], [1, 2])


def test_item_that_never_came_here_ends_no_claim(crawl, pages, feed):
    first, other = page_item(1), page_item(2, text="other")
    crawl.expect(feed, first, other, ends=True)
    crawl.judged(first)

    crawl.lost(other, feed)  # by a pipeline that comes first
    crawl.lost(page_item(9))
    assert list(pages.pending) == [1]

    crawl.scraped(first, feed)
    assert pages.committed == [1]


def test_same_object_given_by_two_responses_ends_the_claim_of_each(by_response, pages, respond):
    responses = [respond("http://a/", "<p>one"), respond("http://b/", "<p>two")]
    each = {"n": 1}
    for response in responses:
        by_response.expect(response, each, ends=True)
    of_url = {by_response.judged(each).url: number for number in (1, 2)}

    by_response.lost(each, responses[1])
    assert pages.released == [of_url["http://b/"]]
    by_response.scraped(each, responses[0])
    assert pages.committed == [of_url["http://a/"]]


def test_item_is_known_by_identity_and_taken_once(by_response, respond):
    items = [{"same": True}, {"same": True}]
    responses = [respond(f"http://{name}/", f"<p>text {name}") for name in "ab"]
    for response, item in zip(responses, items, strict=True):
        by_response.expect(response, item)

    urls = [by_response.judged(item).url for item in (items[1], items[0])]

    assert urls == ["http://b/", "http://a/"]
    assert by_response.judged(items[0]).verdict.reason == "no_response"


def test_unknown_item_is_known_by_the_url_of_the_only_such_response(by_response, respond):
    responses = [respond("http://a/"), respond("http://b/"), respond("http://b/")]
    for response in responses:
        by_response.expect(response, {})

    asked = [{"url": "http://a/"}, {"url": "http://b/"}, {"url": "http://c/"}, {}]
    reasons = [by_response.judged(item).verdict.reason for item in asked]
    assert reasons == [None] + ["no_response"] * 3


def test_nothing_keeps_a_response_and_its_items(by_response, respond):
    class Item(dict):
        __hash__ = object.__hash__

    response, item = respond("http://a/"), Item()
    response.selector  # noqa: B018 - refers back to the response
    by_response.expect(response, item)
    alive = weakref.WeakSet([response, item])
    del response, item
    gc.collect()

    assert not alive


def test_page_that_repeats_only_itself_leaves_one_record(crawl, pages, respond):
    response = respond("http://list/")
    items = [page_item(1), page_item(1, text="same with more")]
    crawl.expect(response, *items)
    assert crawl.judged(items[0]).verdict.outcome == "new"
    pages.kept["same with more"] = pages.kept["same"]  # another text, but near

    assert crawl.judged(items[1]).verdict.outcome == "new"
    for each in items:
        crawl.scraped(each, response)

    assert (pages.committed, pages.released) == ([1], [2])


def test_tagged_duplicate_is_forgotten_when_its_item_is_lost(make_crawl, pages):
    crawl = make_crawl(pages, DEDUP_ACTION="tag", **BY_TEXT)
    crawl.put_through(page_item(1))

    twin = crawl.send(page_item(2))
    assert twin.end(went_through=False) == "exact"

    assert not twin.is_dropped
    assert (pages.committed, pages.released) == ([1], [2])


@pytest.fixture
def break_down(pages):
    """Let some calls of the filter fail so many times."""

    def break_down(times, *calls):
        pages.fault = StoreError("the disk is full")
        pages.failing, pages.failures = set(calls), times

    return break_down


def test_fault_at_the_commit_is_counted_and_leaves_nobody_waiting(
    make_crawl, pages, break_down, end_crawl
):
    crawl = make_crawl(pages, end_crawl, **BY_TEXT)
    break_down(9, "commit")
    first, twin = crawl.send(page_item(1)), crawl.send(page_item(2))

    first.end()

    assert twin.end() == "exact"
    assert crawl.stats["dedup/errors"] > 1
    assert end_crawl.call_count == 1


def test_twin_of_a_page_that_cannot_be_released_is_kept_until_it_can(crawl, break_down, pages):
    break_down(3, "release")
    crawl.send(page_item(1)).end(went_through=False)

    outcomes = [crawl.put_through(page_item(number)).outcome for number in range(2, 6)]

    assert outcomes == ["unjudged", "new", "exact", "exact"]
    assert not pages.pending
    assert crawl.stats["dedup/errors"] == 3


@pytest.mark.parametrize("call", ["commit", "flush"])
def test_what_could_not_be_written_is_tried_again_at_the_close(
    crawl, break_down, pages, caplog, call
):
    break_down(2, call)
    for number in (1, 2):
        crawl.put_through(page_item(number, text=str(number)))
    assert crawl.stats["dedup/errors"] == 2

    break_down(1, "close")
    crawl.end()

    assert sorted(pages.committed) == [1, 2]
    assert crawl.stats["dedup/errors"] == 3
    assert "the disk is full" in caplog.text
    assert "Traceback" not in caplog.text


def test_items_of_one_response_that_come_at_the_same_time_share_one_claim(
    make_crawl, shared, respond
):
    crawl = make_crawl(shared, DEDUP_SOURCE="response")
    response, given = respond("http://a/", "<p>text"), [{"n": number} for number in range(5)]
    crawl.expect(response, *given)

    shared.hang()
    items = [crawl.send(each, response) for each in given]
    crawl.expect(response, ends=True)
    shared.answer()

    assert [each.end() for each in items] == ["new"] * 5
    crawl.end()
    assert shared.calls.count("claim") == 1
    assert shared.committed == [1]
    assert crawl.stats["dedup/pages"] == crawl.stats["dedup/new"] == 1


@pytest.mark.parametrize(("went_through", "outcome"), [(True, "exact"), (False, "new")])
def test_original_whose_claim_ends_while_its_twin_is_judged(
    on_server, shared, went_through, outcome
):
    first = on_server.send(page_item(1))
    on_server.until(lambda: first.outcome)
    shared.hang()
    twin = on_server.send(page_item(2))
    on_server.until(lambda: shared.calls.count("claim") == 2)
    first.end(went_through)  # told after the claim, known before its answer
    shared.answer()

    assert twin.end() == outcome
    on_server.end()
    assert len(shared.committed) == 1 + went_through
    assert not shared.pending


def test_fate_that_cannot_be_asked_for_keeps_the_item(on_server, shared):
    shared.elsewhere = {"same": 1001}
    shared.fault, shared.failing = ValueError("no fate"), {"fate"}

    assert on_server.put_through(page_item(1)).reason == "error"
    on_server.end()
    assert on_server.stats["dedup/errors"] == on_server.stats["dedup/unjudged/error"] == 1
    assert not shared.pending


def test_originals_that_come_to_nothing_one_after_the_other_do_not_keep_an_item_for_ever(
    on_server, shared
):
    shared.elsewhere = {"same": 1001}  # the index is behind: it goes on naming a page that is gone

    assert on_server.put_through(page_item(1)).reason == "pending"
    on_server.end()
    assert shared.calls.count("claim") < 100
    assert not shared.pending
