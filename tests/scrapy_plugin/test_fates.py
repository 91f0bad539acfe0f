"""What becomes of items decides what becomes of their pages: committed, released, waited for."""

import gc
import weakref
from concurrent.futures import Future
from dataclasses import replace

import pytest
from passages import BY_TEXT, PlainPages, PlainReading, SharedPages, page_item
from scrapy import Request
from scrapy.http import JsonResponse

from dedup_filter import Verdict


@pytest.fixture
def pages():
    return PlainPages()


@pytest.fixture
def crawl(make_crawl, pages):
    return make_crawl(pages, **BY_TEXT)


@pytest.fixture
def by_response(make_crawl, pages):
    return make_crawl(pages, DEDUP_SOURCE="response")


@pytest.mark.parametrize(
    ("outcome", "revisit", "action", "fate"),
    [
        ("revisit", "keep", "drop", "released"),
        ("revisit", "drop", "drop", "committed"),
        ("exact", "keep", "tag", "released"),
    ],
)
def test_repeat_is_pending_until_its_item_went_through_or_was_dropped_for_it(
    make_crawl, pages, outcome, revisit, action, fate
):
    pages.config = replace(pages.config, revisit=revisit)
    crawl = make_crawl(pages, DEDUP_ACTION=action, **BY_TEXT)
    pages.claim = lambda place, page: pages._claimed(Verdict(outcome, "http://a/1", page=7))

    sent = crawl.send(page_item(1))
    sent.end(went_through=False)

    assert sent.is_dropped is (fate == "committed")
    assert getattr(pages, fate) == [7]


@pytest.mark.parametrize("kind", [PlainPages, SharedPages])
def test_twins_wait_and_one_takes_the_place_of_an_original_that_came_to_nothing(make_crawl, kind):
    crawl = make_crawl(kind(), **BY_TEXT)
    first, *twins = [crawl.send(page_item(number)) for number in range(1, 5)]
    crawl.until(lambda: first.outcome)
    assert [twin.outcome for twin in twins] == [None] * 3
    assert crawl.stats["dedup/pages"] == 1

    first.end(went_through=False)
    crawl.until(lambda: any(twin.outcome for twin in twins))
    second, *others = sorted(twins, key=lambda twin: not twin.outcome)
    assert [second.outcome, *(twin.outcome for twin in others)] == ["new", None, None]

    second.end()
    assert [twin.end() for twin in others] == ["exact"] * 2
    crawl.end()
    stats = {name: crawl.stats[f"dedup/{name}"] for name in ("pages", "new", "released")}
    assert stats == {"pages": 4, "new": 2, "released": 1}
    assert not crawl.pages.pending
    assert len(crawl.pages.committed) == 3


def test_wait_is_bounded_and_the_item_is_kept(crawl, pages):
    first, twin = crawl.send(page_item(1)), crawl.send(page_item(2))
    crawl.pause(55)
    assert twin.outcome is None
    crawl.pause(10)
    assert twin.outcome == "pending"
    assert crawl.stats["dedup/unjudged/pending"] == 1

    first.end()
    assert not pages.pending


@pytest.mark.parametrize(
    ("fates", "fault", "reason"),
    [
        (["pending"], None, "pending"),
        ([], None, "pending"),  # the index is behind: it goes on naming a page that is gone
        ([], ValueError("no fate"), "error"),
    ],
)
def test_original_of_another_process_of_which_nothing_is_learnt_costs_no_item(
    make_crawl, fates, fault, reason
):
    shared = SharedPages()
    crawl = make_crawl(shared, **BY_TEXT)
    shared.elsewhere, shared.fates = {"same": 1001}, {1001: fates}
    shared.fault, shared.failing = fault, {"fate"}

    assert crawl.put_through(page_item(1)).reason == reason
    crawl.end()
    assert crawl.stats["dedup/errors"] == (reason == "error")
    assert crawl.stats[f"dedup/unjudged/{reason}"] == 1
    assert shared.calls.count("claim") < 100
    assert not shared.pending


KEPT, RELEASED = ([1], []), ([], [1])
STORIES = {
    "the first item that goes through commits the page of all": ("e0 e1 e2 end -0 . +1 -2", KEPT),
    "the last item that comes to nothing releases the page": ("e0 -0 . e1 . end . x1", RELEASED),
    "an item may be under way when the callback fails": ("e0 fail . +0", KEPT),
    "an item made anew is known by its response": ("e0 end . ?0", KEPT),
    "items made anew are known when all are out": ("e0 e1 end ?0 . ?1", KEPT),
    "an item may be lost beside one made anew": ("e0 e1 end ?1 . -0", KEPT),
    "a page that gave only links counts as seen": ("links . end", KEPT),
    "a page whose callback failed is released": ("links . fail", RELEASED),
    "a page that is asked for again is released": ("links . again end", RELEASED),
    "a page that is pending when the crawl ends is released": ("e0 . close", RELEASED),
    "items made anew wait until it is known of which pages they are": (
        "feed e0 e1 e2 end ?1 ?2 . -0",
        ([2, 3], [1]),
    ),
    "items whose outcomes cannot be told apart cost no twin": (
        "feed a0 a1 end ?0 -1",
        ([], [1, 2]),
    ),
    "an item that never came here ends no claim": ("feed e0 e1 end x1 . +0", KEPT),
}


@pytest.mark.parametrize("story", STORIES)
def test_page_is_kept_or_released(make_crawl, pages, respond, story):
    """Steps: eN expects and judges item N; +N passes; -N is lost later, xN earlier; . nothing yet.

    ?N is made anew and passes; aN was made anew before it is judged. Items of a feed are pages
    of their own.
    """
    steps, fates = STORIES[story]
    settings = BY_TEXT if "feed" in steps else {"DEDUP_SOURCE": "response"}
    if "links" in steps:
        settings = {**settings, "DEDUP_FOLLOW_LINKS": False}
    crawl = make_crawl(pages, **settings)
    middleware, response = crawl.middleware, respond("http://a/", "<p>text")
    if "feed" in steps:
        response = respond("http://feed/", "[]", JsonResponse)
    items = [page_item(number, text=f"{number}") for number in range(3)]
    for step in steps.replace("feed ", "").split():
        each = items[int(step[-1])] if step[-1].isdigit() else None
        if step[0] in "ea" and each is not None:
            crawl.expect(response, each)
            if f"x{step[1]}" not in steps:
                crawl.judged(each if step[0] == "e" else {**each, "url": response.url})
        elif each is not None:
            comes_out = crawl.scraped if step[0] in "+?" else crawl.lost
            comes_out({} if step[0] == "?" else each, response)
        elif step in ("links", "again"):
            link = "http://a/" if step == "again" else "http://a/link"
            crawl.run(middleware.holds_back(Request(link, dont_filter=True), response))
        elif step == ".":
            assert pages.pending
            assert (pages.committed, pages.released) == ([], [])
        elif step == "close":
            crawl.end()
        else:
            crawl.call(middleware.output_ended, response, has_failed=step == "fail")

    assert (pages.committed, pages.released) == fates
    assert crawl.stats["dedup/pages"] == crawl.stats["dedup/new"] == sum(map(len, fates))


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


def test_page_of_which_nothing_is_lost_is_waited_for(make_crawl, pages, respond):
    """It has given a link so far, and its output goes on."""
    crawl = make_crawl(pages, DEDUP_SOURCE="response", DEDUP_FOLLOW_LINKS=False)
    here, there = respond("http://a/", "<p>text"), respond("http://b/", "<p>text")
    crawl.run(crawl.middleware.holds_back(Request("http://a/link", dont_filter=True), here))
    twin = {"n": 1}
    crawl.expect(there, twin, ends=True)

    waiting = crawl.send(twin, there)
    crawl.pause()
    assert waiting.outcome is None

    crawl.call(crawl.middleware.output_ended, here, has_failed=False)
    assert waiting.end() == "exact"


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


def test_twin_of_a_page_that_cannot_be_released_is_kept_until_it_can(crawl, pages):
    pages.break_down(3, "release")
    crawl.send(page_item(1)).end(went_through=False)

    outcomes = [crawl.put_through(page_item(number)).outcome for number in range(2, 6)]

    assert outcomes == ["unjudged", "new", "exact", "exact"]
    assert not pages.pending
    assert crawl.stats["dedup/errors"] == 3


@pytest.mark.parametrize("call", ["commit", "flush"])
def test_what_could_not_be_written_is_tried_again_at_the_close(crawl, pages, caplog, call):
    pages.break_down(2, call)
    for number in (1, 2):
        crawl.put_through(page_item(number, text=str(number)))
    assert crawl.stats["dedup/errors"] == 2

    pages.break_down(1, "close")
    crawl.end()

    assert sorted(pages.committed) == [1, 2]
    assert crawl.stats["dedup/errors"] == 3
    assert "the disk is full" in caplog.text
    assert "Traceback" not in caplog.text


class SlowReading(PlainReading):
    """The reading of a page that a worker takes long for."""

    def __init__(self, page, place):
        super().__init__(page, place)
        self.by_worker = Future()

    @property
    def is_done(self):
        return self.by_worker.done()


def test_page_that_a_worker_reads_holds_up_only_its_own_response(by_response, pages, respond):
    readings = []

    def read(page, place, options):
        readings.append(SlowReading(page, place) if b"long" in page.html else None)
        return readings[-1] or PlainReading(page, place)

    pages.read = read
    here, there = respond("http://a/", "<p>long"), respond("http://b/", "<p>short")
    given = [{"n": number} for number in range(3)]
    by_response.expect(here, *given[:2], ends=True)
    by_response.expect(there, given[2], ends=True)

    waiting = [by_response.send(each, here) for each in given[:2]]
    other = by_response.send(given[2], there)
    by_response.pause()
    assert [other.end(), *(each.outcome for each in waiting)] == ["new", None, None]

    readings[0].by_worker.set_result(None)
    assert [each.end() for each in waiting] == ["new"] * 2
    assert [reading is None for reading in readings] == [False, True]
    assert by_response.stats["dedup/pages"] == 2


def test_items_of_one_response_that_come_at_the_same_time_share_one_claim(make_crawl, respond):
    shared = SharedPages()
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
