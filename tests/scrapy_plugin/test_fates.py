"""What becomes of items decides what becomes of their pages: committed, released, waited for."""

import gc
from dataclasses import replace

import pytest
from passages import (
    BY_TEXT,
    PlainPages,
    Waiting,
    came_out,
    end,
    expect,
    judged,
    lost,
    page_item,
    put_through,
    run,
    tick,
)
from scrapy.http import JsonResponse

from dedup_filter import NearDuplicateFilter, Verdict
from dedup_filter.errors import StoreError
from dedup_filter.pages.directory.page_reader import PageReader, statistics
from dedup_filter.scrapy_plugin import fates


@pytest.fixture
def pages():
    return PlainPages()


@pytest.fixture
def judge(make_judge, pages):
    return make_judge(pages, **BY_TEXT)


@pytest.fixture
def by_response(make_judge, pages):
    return make_judge(pages, DEDUP_SOURCE="response")


@pytest.fixture
def feed(respond):
    return respond("http://feed/", "[]", JsonResponse)


def test_page_is_pending_until_its_item_went_through(judge, pages):
    first = page_item(1)
    judged(judge, first)
    assert (list(pages.pending), pages.committed, pages.flushed) == ([1], [], 0)

    came_out(judge, first)
    assert (list(pages.pending), pages.committed, pages.flushed) == ([], [1], 1)


@pytest.mark.parametrize(("revisit", "fate"), [("keep", "released"), ("drop", "committed")])
def test_revisit_is_pending_until_its_item_went_through_or_was_dropped_for_it(
    make_judge, pages, revisit, fate
):
    pages.config = replace(pages.config, revisit=revisit)
    judge = make_judge(pages, **BY_TEXT)
    pages.claim_read = lambda page: Verdict("revisit", "http://a/1", page=7)
    pages.pending[7] = "same"
    pages.kept["same"] = (7, "http://a/1")
    each = page_item(1)

    passage = run(judge.item(each))
    lost(judge, each)

    assert passage.is_dropped is (revisit == "drop")
    assert getattr(pages, fate) == [7]


def test_twin_waits_and_is_dropped_when_its_original_went_through(judge, pages, stats):
    first = page_item(1)
    judged(judge, first)

    twins = [Waiting(judge, page_item(number)) for number in range(2, 5)]
    assert [twin.outcome for twin in twins] == [None] * 3
    assert stats["dedup/pages"] == 1

    came_out(judge, first)
    assert [twin.outcome for twin in twins] == ["exact"] * 3
    assert stats["dedup/pages"] == 4
    assert pages.committed == [1, 2, 3, 4]


def test_one_twin_takes_the_place_of_an_original_that_came_to_nothing(judge, pages, stats):
    first, second, third = (page_item(number) for number in (1, 2, 3))
    judged(judge, first)
    twins = [Waiting(judge, second), Waiting(judge, third)]

    lost(judge, first)
    assert [twin.outcome for twin in twins] == ["new", None]
    lost(judge, second)
    assert twins[1].outcome == "new"

    came_out(judge, third)
    assert not pages.pending
    assert stats["dedup/pages"] == stats["dedup/new"] == 3
    assert stats["dedup/released"] == 2


def test_wait_is_bounded_and_the_item_is_kept(judge, pages, stats, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(fates, "monotonic", lambda: now[0])
    first = page_item(1)
    judged(judge, first)
    twin = Waiting(judge, page_item(2))

    now[0] += fates.LONGEST_WAIT - 1
    tick()
    assert twin.outcome is None
    now[0] += 1
    tick()
    assert twin.outcome == "pending"
    assert stats["dedup/unjudged/pending"] == 1

    came_out(judge, first)
    assert not pages.pending


STORIES = {
    "the first item that goes through commits the page of all": ("e0 e1 e2 end -0 . +1 -2", "kept"),
    "the last item that comes to nothing releases the page": ("e0 -0 . e1 . end . x1", "released"),
    "an item may be under way when the callback fails": ("e0 fail . +0", "kept"),
    "an item made anew is known by its response": ("e0 end . ?0", "kept"),
    "items made anew are known when all are out": ("e0 e1 end ?0 . ?1", "kept"),
    "an item may be lost beside one made anew": ("e0 e1 end ?1 . -0", "kept"),
    "a page that gave only links counts as seen": ("links . end", "kept"),
    "a page whose callback failed is released": ("links . fail", "released"),
}


@pytest.mark.parametrize("story", STORIES)
def test_page_is_kept_or_released(make_judge, pages, respond, stats, story):
    """Steps: eN expects and judges item N; +N passes; -N is lost later, xN earlier; . nothing yet.

    ?N is made anew and passes.
    """
    steps, fate = STORIES[story]
    judge = make_judge(pages, DEDUP_SOURCE="response", DEDUP_FOLLOW_LINKS="links" not in steps)
    response, items = respond("http://a/", "<p>text"), [{"n": number} for number in range(3)]
    visit = judge.fates.visit(response)
    for step in steps.split():
        each = items[int(step[-1])] if step[-1].isdigit() else None
        if step[0] == "e" and each is not None:
            expect(judge, response, each)
            if f"x{step[1]}" not in steps:
                judged(judge, each)
        elif each is not None:
            gone = {} if step[0] == "?" else each
            came_out(judge, gone, response, went_through=step[0] in "+?")
        elif step == "links":
            run(judge.repeats(visit))
        elif step == ".":
            assert (list(pages.pending), pages.committed, pages.released) == ([1], [], [])
        else:
            judge.fates.output_ended(visit, has_failed=step == "fail")

    assert (pages.committed, pages.released) == (([1], []) if fate == "kept" else ([], [1]))
    assert stats["dedup/pages"] == stats["dedup/new"] == 1


def test_page_is_released_early_if_another_waits_for_it(by_response, pages, respond):
    judge = by_response
    here, there = respond("http://a/", "<p>text"), respond("http://b/", "<p>text")
    items, twin = [{"n": 1}, {"n": 2}], {"n": 3}
    expect(judge, here, items[0])
    expect(judge, there, twin, ends=True)
    judged(judge, items[0])
    lost(judge, items[0], here)

    assert Waiting(judge, twin).outcome == "new"

    expect(judge, here, items[1], ends=True)
    late = Waiting(judge, items[1])  # is judged anew, and repeats the twin now
    assert late.outcome is None
    came_out(judge, twin, there)
    assert late.outcome == "exact"
    assert not pages.pending


def test_twin_of_a_page_on_the_same_feed_waits_for_it(judge, feed):
    first, twin = page_item(1), page_item(2)
    expect(judge, feed, first, twin)
    judged(judge, first)
    waiting = Waiting(judge, twin)
    assert waiting.outcome is None

    lost(judge, first, feed)

    assert waiting.outcome == "new"


def test_outcomes_of_items_made_anew_are_held_until_their_pages_are_known(judge, pages, feed):
    items = [page_item(number, text=f"{number}") for number in range(1, 4)]
    expect(judge, feed, *items, ends=True)
    for each in items:
        judged(judge, each)

    came_out(judge, {"unknown": 1}, feed)
    came_out(judge, {"unknown": 2}, feed)
    assert (pages.committed, pages.released) == ([], [])

    lost(judge, items[0], feed)
    assert (pages.committed, pages.released) == ([2, 3], [1])


def test_outcomes_that_cannot_be_told_apart_cost_no_twin(judge, pages, feed):
    given = [{"n": 1}, {"n": 2}]
    expect(judge, feed, *given, ends=True)
    for number in (1, 2):  # another pipeline has made them anew before
        judged(judge, {"url": "http://feed/", "text": f"{number}"})

    came_out(judge, {"unknown": 1}, feed)
    lost(judge, given[1], feed)

    assert (pages.committed, pages.released) == ([], [1, 2])


def test_item_that_never_came_here_ends_no_claim(judge, pages, feed):
    first, other = page_item(1), page_item(2, text="other")
    expect(judge, feed, first, other, ends=True)
    judged(judge, first)

    lost(judge, other, feed)  # by a pipeline that comes first
    lost(judge, page_item(9))
    assert list(pages.pending) == [1]

    came_out(judge, first, feed)
    assert pages.committed == [1]


def test_same_object_given_by_two_responses_ends_the_claim_of_each(by_response, pages, respond):
    judge = by_response
    responses = [respond("http://a/", "<p>one"), respond("http://b/", "<p>two")]
    each = {"n": 1}
    for response in responses:
        expect(judge, response, each, ends=True)
    assert [judged(judge, each).url for _ in responses] == ["http://a/", "http://b/"]

    lost(judge, each, responses[1])
    assert pages.released == [2]
    came_out(judge, each, responses[0])
    assert pages.committed == [1]


def test_item_is_known_by_identity_and_taken_once(by_response, respond):
    items = [{"same": True}, {"same": True}]
    responses = [respond(f"http://{name}/", f"<p>text {name}") for name in "ab"]
    for response, item in zip(responses, items, strict=True):
        expect(by_response, response, item)

    urls = [judged(by_response, item).url for item in (items[1], items[0])]

    assert urls == ["http://b/", "http://a/"]
    assert judged(by_response, items[0]).verdict.reason == "no_response"


def test_unknown_item_is_known_by_the_url_of_the_only_such_response(by_response, respond):
    responses = [respond("http://a/"), respond("http://b/"), respond("http://b/")]
    for response in responses:
        expect(by_response, response, {})

    asked = [{"url": "http://a/"}, {"url": "http://b/"}, {"url": "http://c/"}, {}]
    reasons = [judged(by_response, item).verdict.reason for item in asked]
    assert reasons == [None] + ["no_response"] * 3


def test_nothing_is_left_when_responses_are_gone(by_response, respond):
    for number in range(50):
        response = respond(f"http://a/{number}")
        response.selector  # noqa: B018 - refers back to the response
        expect(by_response, response, *({"number": number} for _ in range(3)))
    del response
    gc.collect()

    assert not by_response.fates._visits


def test_page_that_repeats_only_itself_leaves_one_record(judge, pages, respond):
    response = respond("http://list/")
    items = [page_item(1), {"url": "http://a/1", "text": "same", "more": 1}]
    expect(judge, response, *items)
    judge.fates.visit(response).known = lambda page: None  # another text, but near

    assert [judged(judge, each).verdict.outcome for each in items] == ["new", "new"]
    for each in items:
        came_out(judge, each, response)

    assert (pages.committed, pages.released) == ([1], [2])


def test_tagged_duplicate_is_forgotten_when_its_item_is_lost(make_judge, pages):
    judge = make_judge(pages, DEDUP_ACTION="tag", **BY_TEXT)
    put_through(judge, page_item(1))
    twin = page_item(2)
    assert not run(judge.item(twin)).is_dropped

    lost(judge, twin)

    assert (pages.committed, pages.released) == ([1], [2])


def test_pending_page_is_seen_by_who_reads_the_index(make_judge, article, tmp_path):
    judge = make_judge(NearDuplicateFilter.open(tmp_path), DEDUP_INDEX=str(tmp_path), **BY_TEXT)
    items = [{"url": f"http://a/{number}", "text": article(number)} for number in (1, 2)]
    judged(judge, items[0])
    put_through(judge, items[1])
    assert pending_and_all(tmp_path) == (1, 2)

    came_out(judge, items[0])
    assert pending_and_all(tmp_path) == (0, 2)
    run(end(judge))


def pending_and_all(folder):
    with PageReader.open_to_read(folder) as reader:
        found, _ = statistics(reader)
    return found["pending"], found["pages"]


class Failing(PlainPages):
    """Pages whose next commits, releases or flushes fail."""

    def __init__(self, fails, *calls):
        super().__init__()
        self.fails, self.calls = fails, calls

    def _may_fail(self, name):
        if name in self.calls and self.fails:
            self.fails -= 1
            raise StoreError("the disk is full")

    def commit(self, verdict):
        self._may_fail("commit")
        super().commit(verdict)

    def release(self, verdict):
        self._may_fail("release")
        super().release(verdict)

    def flush(self):
        self._may_fail("flush")

    def close(self):
        self._may_fail("close")


def test_fault_at_the_commit_is_counted_and_leaves_nobody_waiting(make_judge, end_crawl, stats):
    judge = make_judge(Failing(2, "commit"), end_crawl, **BY_TEXT)
    first = page_item(1)
    judged(judge, first)
    twin = Waiting(judge, page_item(2))

    came_out(judge, first)

    assert twin.outcome == "exact"
    assert stats["dedup/errors"] == 2
    assert end_crawl.count == 1


@pytest.mark.parametrize("fails", [1, 2])
def test_twin_of_a_page_that_cannot_be_released_is_kept_until_it_can(make_judge, stats, fails):
    pages = Failing(fails, "release")
    judge = make_judge(pages, **BY_TEXT)
    first = page_item(1)
    judged(judge, first)
    lost(judge, first)

    outcomes = [put_through(judge, page_item(number)).verdict.outcome for number in range(2, 6)]

    assert outcomes == ["unjudged"] * fails + ["new"] + ["exact"] * (3 - fails)
    assert not pages.pending
    assert stats["dedup/errors"] == stats["dedup/unjudged/error"] == fails


@pytest.mark.parametrize("call", ["commit", "flush"])
def test_what_could_not_be_written_is_tried_again_at_the_close(make_judge, stats, caplog, call):
    pages = Failing(2, call)
    judge = make_judge(pages, **BY_TEXT)
    for number in (1, 2):
        put_through(judge, page_item(number, text=str(number)))
    assert stats["dedup/errors"] == 2

    pages.calls = ("close",)
    pages.fails = 1
    run(end(judge))

    assert sorted(pages.committed) == [1, 2]
    assert stats["dedup/errors"] == 3
    assert "the disk is full" in caplog.text
    assert "Traceback" not in caplog.text
