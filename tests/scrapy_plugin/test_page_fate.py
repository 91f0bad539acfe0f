"""What becomes of items decides what becomes of their pages: committed, released, waited for."""

from dataclasses import replace

import pytest
from passages import BY_TEXT, PlainPages, Waiting, judged, put_through, run
from scrapy.http import JsonResponse

from dedup_filter import NearDuplicateFilter, Verdict
from dedup_filter.pages.directory.page_reader import PageReader, statistics
from dedup_filter.scrapy_plugin import claims
from dedup_filter.scrapy_plugin.page_fate import TRANSITIONS, Event, Judgement, State


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


def item(name, text="same"):
    return {"url": f"http://a/{name}", "text": text}


def give(judge, response, *items):
    """Let a response give items, and no more."""
    for each in items:
        judge.expect(each, response)
    judge.output_ended(response, has_failed=False)


def scraped(judge, each, response=None):
    judge.came_out(each, response, went_through=True)


def lost(judge, each, response=None):
    judge.came_out(each, response, went_through=False)


@pytest.mark.parametrize("event", Event)
@pytest.mark.parametrize("state", State)
def test_only_claims_can_end_and_they_end_once(state, event):
    judgement = Judgement(Verdict("new"), "http://a/", state=state)

    has_ended = judgement.move(event)

    assert judgement.state is TRANSITIONS[state].get(event, state)
    assert has_ended is (state is State.CLAIMED and event is not Event.CLAIM)
    assert judgement.state is state or state in (State.UNRECORDED, State.CLAIMED)


def test_page_is_pending_until_its_item_went_through(judge, pages):
    first = item(1)
    judged(judge, first)
    assert (list(pages.pending), pages.committed, pages.flushed) == ([1], [], 1)

    scraped(judge, first)
    assert (list(pages.pending), pages.committed, pages.flushed) == ([], [1], 2)


def test_page_is_forgotten_when_a_later_pipeline_loses_its_item(judge, pages, stats):
    first, twin = item(1), item(2)
    judged(judge, first)
    lost(judge, first)

    assert pages.released == [1]
    assert put_through(judge, twin).verdict.outcome == "new"
    assert stats["dedup/released"] == 1
    assert stats["dedup/new"] == 2


@pytest.mark.parametrize(("revisit", "fate"), [("keep", "released"), ("drop", "committed")])
def test_revisit_is_pending_until_its_item_went_through_or_was_dropped_for_it(
    make_judge, pages, revisit, fate
):
    judge = make_judge(pages, **BY_TEXT)
    pages.config = replace(pages.config, revisit=revisit)
    pages.claim_read = lambda page: Verdict("revisit", "http://a/1", page=7)
    pages.pending[7] = "same"
    pages.kept["same"] = (7, "http://a/1")
    each = item(1)

    passage = run(judge.item(each))
    lost(judge, each)

    assert passage.is_dropped is (revisit == "drop")
    assert getattr(pages, fate) == [7]


def test_page_of_which_nothing_is_recorded_is_neither_committed_nor_released(judge, pages):
    pages.claim_read = lambda page: Verdict("unjudged", reason="no_text")

    put_through(judge, item(1))

    assert (pages.committed, pages.released) == ([], [])


def test_duplicate_is_recorded_when_it_is_lost(judge, pages):
    put_through(judge, item(1))
    put_through(judge, item(2))

    assert pages.committed == [1, 2]


def test_twin_waits_and_is_dropped_when_its_original_went_through(judge, pages, stats):
    first = item(1)
    judged(judge, first)

    twins = [Waiting(judge, item(number)) for number in range(2, 5)]
    assert [twin.outcome for twin in twins] == [None] * 3
    assert stats["dedup/pages"] == 1

    scraped(judge, first)
    assert [twin.outcome for twin in twins] == ["exact"] * 3
    assert stats["dedup/pages"] == 4
    assert not pages.pending


def test_one_twin_takes_the_place_of_an_original_that_came_to_nothing(judge, pages, stats):
    first, second, third = item(1), item(2), item(3)
    judged(judge, first)
    twins = [Waiting(judge, second), Waiting(judge, third)]

    lost(judge, first)
    assert [twin.outcome for twin in twins] == ["new", None]

    lost(judge, second)
    assert twins[1].outcome == "new"

    scraped(judge, third)
    assert not pages.pending
    assert stats["dedup/pages"] == stats["dedup/new"] == 3
    assert stats["dedup/released"] == 2


def test_wait_is_bounded_and_the_item_is_kept(judge, pages, stats, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(claims, "monotonic", lambda: now[0])
    first = item(1)
    judged(judge, first)
    twin = Waiting(judge, item(2))

    now[0] += claims.LONGEST_WAIT
    put_through(judge, item(3, text="other"))
    assert twin.outcome is None

    now[0] += 1
    put_through(judge, item(4, text="another"))
    assert twin.outcome == "pending"
    assert stats["dedup/unjudged/pending"] == 1

    scraped(judge, first)
    assert not pages.pending


def test_items_of_a_page_wait_together_and_share_one_verdict(by_response, pages, respond, stats):
    judge = by_response
    here, there = respond("http://a/", "<p>text"), respond("http://b/", "<p>text")
    first, items = {"number": 0}, [{"number": number} for number in range(1, 4)]
    give(judge, here, first)
    give(judge, there, *items)
    judged(judge, first)
    waiting = [Waiting(judge, each) for each in items]

    lost(judge, first, here)

    assert [each.outcome for each in waiting] == ["new"] * 3
    assert stats["dedup/pages"] == 2
    for each in items:
        scraped(judge, each, there)
    assert not pages.pending


STORIES = {
    "the first item that goes through commits the page of all": ("e0 e1 e2 end -0 . +1 -2", "kept"),
    "the last item that comes to nothing releases the page": ("e0 -0 . e1 . end . x1", "released"),
    "an item may be under way when the callback fails": ("e0 fail . +0", "kept"),
    "an item made anew is known by its response": ("e0 end . ?0", "kept"),
    "a page that gave only links counts as seen": ("links . end", "kept"),
    "a page whose callback failed is released": ("links . fail", "released"),
}


@pytest.mark.parametrize("story", STORIES)
def test_page_is_kept_or_released(make_judge, pages, respond, stats, story):
    """Steps: eN expects and judges item N; +N passes; -N is lost later, xN earlier; . nothing yet.

    ?N is made anew and passes.
    """
    judge = make_judge(
        pages, DEDUP_SOURCE="response", DEDUP_FOLLOW_LINKS="links" not in STORIES[story][0]
    )
    steps, fate = STORIES[story]
    response, items = respond("http://a/", "<p>text"), [{"n": number} for number in range(3)]
    for step in steps.split():
        each = items[int(step[-1])] if step[-1].isdigit() else None
        if step[0] == "e" and each is not None:
            judge.expect(each, response)
            if f"x{step[1]}" not in steps:
                judged(judge, each)
        elif each is not None:
            came_out = {} if step[0] == "?" else each
            judge.came_out(came_out, response, went_through=step[0] in "+?")
        elif step == "links":
            run(judge.repeats(response))
        elif step == ".":
            assert (list(pages.pending), pages.committed, pages.released) == ([1], [], [])
        else:
            judge.output_ended(response, has_failed=step == "fail")

    assert (pages.committed, pages.released) == (([1], []) if fate == "kept" else ([], [1]))
    assert stats["dedup/pages"] == stats["dedup/new"] == 1


def test_page_is_released_early_if_another_waits_for_it(by_response, pages, respond, stats):
    judge = by_response
    here, there = respond("http://a/", "<p>text"), respond("http://b/", "<p>text")
    items, twin = [{"n": 1}, {"n": 2}], {"n": 3}
    judge.expect(items[0], here)
    give(judge, there, twin)
    judged(judge, items[0])
    lost(judge, items[0], here)

    assert Waiting(judge, twin).outcome == "new"

    give(judge, here, items[1])
    late = Waiting(judge, items[1])  # is judged anew, and repeats the twin now
    assert late.outcome is None
    scraped(judge, twin, there)
    assert late.outcome == "exact"
    assert not pages.pending


def test_twin_of_a_page_on_the_same_feed_waits_for_it(judge, pages, feed):
    first, twin = item(1), item(2)
    judge.expect(first, feed)
    judge.expect(twin, feed)
    judged(judge, first)
    waiting = Waiting(judge, twin)
    assert waiting.outcome is None

    lost(judge, first, feed)

    assert waiting.outcome == "new"


def test_item_made_anew_is_known_by_its_url_among_several(judge, pages, feed):
    items = [item(number, text=f"{number}") for number in range(1, 5)]
    give(judge, feed, *items)
    for each in items:
        judged(judge, each)

    scraped(judge, {"url": "http://a/3"}, feed)

    assert pages.committed == [3]


def test_fate_that_may_be_that_of_several_items_is_held_until_it_is_known(judge, pages, feed):
    items = [item(number, text=f"{number}") for number in range(1, 4)]
    give(judge, feed, *items)
    for each in items:
        judged(judge, each)

    scraped(judge, {"unknown": 1}, feed)
    scraped(judge, {"unknown": 2}, feed)
    assert (pages.committed, pages.released) == ([], [])

    lost(judge, items[0], feed)
    assert (pages.committed, pages.released) == ([2, 3], [1])


def test_fates_that_cannot_be_told_apart_cost_no_twin(judge, pages, feed):
    remade = [item(number, text=f"{number}") for number in range(1, 3)]
    given = [{"n": 1}, {"n": 2}]
    give(judge, feed, *given)
    visit = judge._items.visit(feed)
    judge._items._only_visit_at = lambda url: visit  # another pipeline made them anew before
    for each in remade:
        judged(judge, each)

    scraped(judge, {"unknown": 1}, feed)
    lost(judge, given[1], feed)

    assert (pages.committed, pages.released) == ([], [1, 2])


def test_item_that_never_came_here_ends_no_claim(judge, pages, feed):
    first, other = item(1), item(2, text="other")
    give(judge, feed, first, other)
    judged(judge, first)

    lost(judge, other, feed)  # by a pipeline that comes first
    lost(judge, item(9))
    lost(judge, {"n": 1})

    assert list(pages.pending) == [1]
    scraped(judge, first, feed)
    assert pages.committed == [1]


def test_same_object_given_by_two_responses_ends_the_claim_of_each(by_response, pages, respond):
    judge = by_response
    responses = [respond("http://a/", "<p>one"), respond("http://b/", "<p>two")]
    each = {"n": 1}
    for response in responses:
        give(judge, response, each)
    judged(judge, each)
    judged(judge, each)

    lost(judge, each, responses[1])
    assert pages.released == [2]
    scraped(judge, each, responses[0])
    assert pages.committed == [1]


def test_page_that_repeats_only_itself_leaves_one_record(judge, pages, respond):
    response = respond("http://list/")
    items = [item(1), {"url": "http://a/1", "text": "same", "more": 1}]
    judge.expect(items[0], response)
    judge.expect(items[1], response)
    judge._items.visit(response).known = lambda url, digest: None  # another text, but near

    assert [judged(judge, each).verdict.outcome for each in items] == ["new", "new"]
    for each in items:
        scraped(judge, each, response)

    assert (pages.committed, pages.released) == ([1], [2])


def test_what_is_pending_at_the_close_is_released_and_counted(judge, pages, stats):
    judged(judge, item(1))
    judged(judge, item(2, text="other"))

    run(judge.close(lambda figures: None))

    assert pages.released == [1, 2]
    assert stats["dedup/released"] == 2


def test_tagged_duplicate_is_forgotten_when_its_item_is_lost(make_judge, pages):
    judge = make_judge(pages, DEDUP_ACTION="tag", **BY_TEXT)
    put_through(judge, item(1))
    twin = item(2)
    assert not run(judge.item(twin)).is_dropped

    lost(judge, twin)

    assert (pages.committed, pages.released) == ([1], [2])


def test_pending_page_is_seen_by_who_reads_the_index(make_judge, article, tmp_path):
    judge = make_judge(NearDuplicateFilter.open(tmp_path), DEDUP_INDEX=str(tmp_path), **BY_TEXT)
    first = {"url": "http://a/", "text": article(1)}
    judged(judge, first)
    assert pending_and_all(tmp_path) == (1, 1)

    scraped(judge, first)
    assert pending_and_all(tmp_path) == (0, 1)
    run(judge.close(lambda _: None))


def pending_and_all(folder):
    with PageReader.open_to_read(folder) as reader:
        found, _ = statistics(reader)
    return found["pending"], found["pages"]
