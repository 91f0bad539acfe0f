"""Fates of items become fates of pages: committed, released, or waited for."""

from dataclasses import replace

import pytest
from passages import BY_TEXT, PlainPages, Waiting, judged, put_through, run, without_asyncio
from scrapy.http import JsonResponse

from dedup_filter import NearDuplicateFilter, Verdict
from dedup_filter.errors import StoreError
from dedup_filter.pages.directory.page_reader import PageReader
from dedup_filter.pages.directory.statistics import statistics
from dedup_filter.scrapy_plugin import claims


@pytest.fixture
def pages():
    return PlainPages()


@pytest.fixture
def judge(make_judge, pages):
    return make_judge(pages, **BY_TEXT)


@pytest.fixture
def feed(respond):
    return respond("http://feed/", "[]", JsonResponse)


@pytest.fixture(autouse=True)
def _without_asyncio():
    with without_asyncio():
        yield


def item(name, text="same"):
    return {"url": f"http://a/{name}", "text": text}


def give(judge, response, *items):
    """Let a response give items, and no more."""
    for each in items:
        judge.expect(each, response)
    judge.output_ended(response, has_failed=False)


def scraped(judge, each, response=None):
    judge.settlement.item_scraped(each, response)


def dropped(judge, each, response=None):
    judge.settlement.item_dropped(each, response, ValueError())


def failed(judge, each, response=None):
    judge.settlement.item_error(each, response)


def test_page_is_pending_until_its_item_went_through(judge, pages):
    first = item(1)
    judged(judge, first)
    assert (list(pages.pending), pages.committed, pages.flushed) == ([1], [], 1)

    scraped(judge, first)
    assert (list(pages.pending), pages.committed, pages.flushed) == ([], [1], 2)


@pytest.mark.parametrize("fate", [dropped, failed])
def test_page_is_forgotten_when_a_later_pipeline_loses_its_item(judge, pages, stats, fate):
    first, twin = item(1), item(2)
    judged(judge, first)
    fate(judge, first)

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
    pages.claim = lambda *given, **named: Verdict("revisit", "http://a/1", page=7)
    pages.pending[7] = "same"
    pages.kept["same"] = (7, "http://a/1")
    each = item(1)

    judgement = judged(judge, each)
    dropped(judge, each)

    assert judge.drops(judgement.verdict) is (revisit == "drop")
    assert getattr(pages, fate) == [7]


def test_page_of_which_nothing_is_recorded_has_nothing_to_settle(judge, pages):
    pages.claim = lambda *given, **named: Verdict("unjudged", reason="no_text")

    put_through(judge, item(1))

    assert (pages.committed, pages.released) == ([], [])


def test_duplicate_is_recorded_when_it_is_dropped(judge, pages):
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

    dropped(judge, first)
    assert [twin.outcome for twin in twins] == ["new", None]

    dropped(judge, second)
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


def test_items_of_a_page_wait_together_and_share_one_verdict(make_judge, pages, respond, stats):
    judge = make_judge(pages, DEDUP_SOURCE="response")
    here, there = respond("http://a/", "<p>text"), respond("http://b/", "<p>text")
    first, items = {"number": 0}, [{"number": number} for number in range(1, 4)]
    give(judge, here, first)
    give(judge, there, *items)
    judged(judge, first)
    waiting = [Waiting(judge, each) for each in items]

    dropped(judge, first, here)

    assert [each.outcome for each in waiting] == ["new"] * 3
    assert stats["dedup/pages"] == 2
    for each in items:
        scraped(judge, each, there)
    assert not pages.pending


def test_first_item_that_goes_through_commits_the_page_of_all(make_judge, pages, respond):
    judge = make_judge(pages, DEDUP_SOURCE="response")
    response, items = respond("http://a/", "<p>text"), [{"n": 1}, {"n": 2}, {"n": 3}]
    give(judge, response, *items)
    for each in items:
        judged(judge, each)

    dropped(judge, items[0], response)
    assert not pages.released
    scraped(judge, items[1], response)
    failed(judge, items[2], response)

    assert (pages.committed, pages.released) == ([1], [])


def test_page_is_released_when_the_last_of_its_items_came_to_nothing(make_judge, pages, respond):
    judge = make_judge(pages, DEDUP_SOURCE="response")
    response, items = respond("http://a/", "<p>text"), [{"n": 1}, {"n": 2}]
    judge.expect(items[0], response)
    judged(judge, items[0])
    dropped(judge, items[0], response)
    assert not pages.released  # there may be more items

    judge.expect(items[1], response)
    judge.output_ended(response, has_failed=False)
    assert not pages.released  # there is another one

    dropped(judge, items[1], response)  # by a pipeline that comes first
    assert pages.released == [1]


def test_page_is_released_early_if_another_waits_for_it(make_judge, pages, respond, stats):
    judge = make_judge(pages, DEDUP_SOURCE="response")
    here, there = respond("http://a/", "<p>text"), respond("http://b/", "<p>text")
    items, twin = [{"n": 1}, {"n": 2}], {"n": 3}
    judge.expect(items[0], here)
    give(judge, there, twin)
    judged(judge, items[0])
    dropped(judge, items[0], here)

    assert Waiting(judge, twin).outcome == "new"

    give(judge, here, items[1])
    late = Waiting(judge, items[1])  # is judged anew, and repeats the twin now
    assert late.outcome is None
    scraped(judge, twin, there)
    assert late.outcome == "exact"
    assert not pages.pending


def test_page_that_gave_only_links_counts_as_seen(make_judge, pages, respond, stats):
    judge = make_judge(pages, DEDUP_FOLLOW_LINKS=False)
    response = respond("http://a/", "<p>text")
    run(judge.repeats(response))
    assert list(pages.pending) == [1]

    judge.output_ended(response, has_failed=False)

    assert pages.committed == [1]
    assert stats["dedup/pages"] == stats["dedup/new"] == 1


def test_page_whose_callback_failed_is_released(make_judge, pages, respond):
    judge = make_judge(pages, DEDUP_FOLLOW_LINKS=False)
    response = respond("http://a/", "<p>text")
    run(judge.repeats(response))

    judge.output_ended(response, has_failed=True)

    assert pages.released == [1]


def test_page_with_an_item_that_went_through_stays_when_its_callback_fails(
    make_judge, pages, respond
):
    judge = make_judge(pages, DEDUP_SOURCE="response")
    response, each = respond("http://a/", "<p>text"), {"n": 1}
    judge.expect(each, response)
    judged(judge, each)
    judge.output_ended(response, has_failed=True)
    assert list(pages.pending) == [1]  # its item is on its way

    scraped(judge, each, response)

    assert pages.committed == [1]


def test_twin_of_a_page_on_the_same_feed_waits_for_it(judge, pages, feed):
    first, twin = item(1), item(2)
    judge.expect(first, feed)
    judge.expect(twin, feed)
    judged(judge, first)
    waiting = Waiting(judge, twin)
    assert waiting.outcome is None

    dropped(judge, first, feed)

    assert waiting.outcome == "new"


def test_item_made_anew_by_a_later_pipeline_is_known_by_its_response(judge, pages, respond):
    response, first = respond("http://list/"), item(1)
    give(judge, response, first)
    judged(judge, first)

    scraped(judge, {"other": "object"}, response)

    assert pages.committed == [1]


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

    dropped(judge, items[0], feed)
    assert (pages.committed, pages.released) == ([2, 3], [1])


def test_fates_that_cannot_be_told_apart_cost_no_twin(judge, pages, feed):
    remade = [item(number, text=f"{number}") for number in range(1, 3)]
    given = [{"n": 1}, {"n": 2}]
    give(judge, feed, *given)
    visit = judge._visits.of(feed)
    judge._visits._only_visit_at = lambda url: visit  # another pipeline made them anew before
    for each in remade:
        judged(judge, each)

    scraped(judge, {"unknown": 1}, feed)
    dropped(judge, given[1], feed)

    assert (pages.committed, pages.released) == ([], [1, 2])


def test_item_that_never_came_here_settles_nothing(judge, pages, feed):
    first, other = item(1), item(2, text="other")
    give(judge, feed, first, other)
    judged(judge, first)

    dropped(judge, other, feed)  # by a pipeline that comes first
    dropped(judge, item(9))
    failed(judge, {"n": 1})

    assert list(pages.pending) == [1]
    scraped(judge, first, feed)
    assert pages.committed == [1]


def test_same_object_given_by_two_responses_settles_the_page_of_each(make_judge, pages, respond):
    judge = make_judge(pages, DEDUP_SOURCE="response")
    responses = [respond("http://a/", "<p>one"), respond("http://b/", "<p>two")]
    each = {"n": 1}
    for response in responses:
        give(judge, response, each)
    judged(judge, each)
    judged(judge, each)

    dropped(judge, each, responses[1])
    assert pages.released == [2]
    scraped(judge, each, responses[0])
    assert pages.committed == [1]


def test_page_that_repeats_only_itself_leaves_one_record(judge, pages, respond):
    response = respond("http://list/")
    items = [item(1), {"url": "http://a/1", "text": "same", "more": 1}]
    judge.expect(items[0], response)
    judge.expect(items[1], response)
    judge._visits.of(response).known = lambda url, digest: None  # another text, but near

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
    passage = run(judge.item(twin))
    judge.keep(passage)

    dropped(judge, twin)

    assert (pages.committed, pages.released) == ([1], [2])


class FullDisk(PlainPages):
    is_full = True

    def flush(self):
        if self.is_full:
            raise StoreError("the disk is full")

    commit_ = PlainPages.commit

    def commit(self, verdict):
        self.flush()
        self.commit_(verdict)

    def close(self):
        self.flush()


def test_fault_at_the_commit_is_counted_and_leaves_nobody_waiting(make_judge, end_crawl, stats):
    judge = make_judge(FullDisk(), end_crawl, **BY_TEXT)
    first = item(1)
    judged(judge, first)
    twin = Waiting(judge, item(2))

    scraped(judge, first)

    assert twin.outcome == "exact"
    assert stats["dedup/errors"] == 2
    assert end_crawl.count == 1


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
        found = statistics(reader)
    return found.pending, found.pages


class FullDiskAtTheClaim(FullDisk):
    def commit(self, verdict):
        self.is_full = False
        super().commit(verdict)


def test_pending_page_that_cannot_be_shown_to_readers_is_no_fault(make_judge, stats):
    pages = FullDiskAtTheClaim()
    judge = make_judge(pages, **BY_TEXT)
    first = item(1)
    judged(judge, first)

    scraped(judge, first)

    assert pages.committed == [1]
    assert "dedup/errors" not in stats


class CannotForget(PlainPages):
    fails = 1
    """So many releases."""

    def release(self, verdict):
        if self.fails:
            self.fails -= 1
            raise StoreError("the disk is full")
        super().release(verdict)


def test_release_that_failed_is_tried_again_before_the_next_claim(make_judge, stats):
    pages = CannotForget()
    judge = make_judge(pages, **BY_TEXT)
    first = item(1)
    judged(judge, first)
    dropped(judge, first)

    outcomes = [put_through(judge, item(number)).verdict.outcome for number in (2, 3)]

    assert outcomes == ["new", "exact"]
    assert (pages.released, pages.committed) == ([1], [2, 3])
    assert stats["dedup/errors"] == 1


def test_twin_of_a_page_that_still_cannot_be_released_is_kept(make_judge, stats):
    pages = CannotForget()
    pages.fails = 2
    judge = make_judge(pages, **BY_TEXT)
    first = item(1)
    judged(judge, first)
    dropped(judge, first)

    outcomes = [put_through(judge, item(number)).verdict.outcome for number in (2, 3, 4)]

    assert outcomes == ["unjudged", "new", "exact"]
    assert not pages.pending
    assert stats["dedup/unjudged/error"] == 1
    assert stats["dedup/errors"] == 2


def test_twin_that_waits_is_kept_when_its_original_cannot_be_released(make_judge):
    pages = CannotForget()
    pages.fails = 4
    judge = make_judge(pages, **BY_TEXT)
    first = item(1)
    judged(judge, first)
    twin = Waiting(judge, item(2))

    dropped(judge, first)

    assert twin.outcome == "error"
    pages.fails = 0
    assert put_through(judge, item(3)).verdict.outcome == "new"
    assert not pages.pending


def test_what_could_not_be_written_is_tried_again_at_the_close(make_judge, stats):
    pages = FullDisk()
    judge = make_judge(pages, **BY_TEXT)
    for number in (1, 2):
        put_through(judge, item(number, text=str(number)))
    assert pages.committed == []

    pages.is_full = False
    run(judge.close(lambda figures: None))

    assert sorted(pages.committed) == [1, 2]


def test_fault_at_the_close_is_counted_and_ends_nothing(make_judge, stats, caplog):
    judge = make_judge(FullDisk(), **BY_TEXT)
    judged(judge, item(1))
    steps = []

    run(judge.close(steps.append))

    assert [figures.index_size for figures in steps] == [0]
    assert stats["dedup/errors"] == 2
    assert "the disk is full" in caplog.text
    assert "Traceback" not in caplog.text
