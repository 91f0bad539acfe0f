"""An index that is waited for: what comes between a question and its answer costs no item."""

import asyncio

import pytest
from passages import BY_TEXT, end, expect, page_item
from server_stand_in import Item, RedisPages, crawl, in_a_loop, until

from dedup_filter.scrapy_plugin import fates, index_calls


@pytest.fixture
def pages():
    return RedisPages()


@pytest.fixture
def judge(make_judge, pages):
    return make_judge(pages, **BY_TEXT)


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(fates, "_FIRST_PAUSE", 0.001)
    monkeypatch.setattr(fates, "_LONGEST_PAUSE", 0.002)


def of(pages, *names):
    return [call for call in pages.calls if call in names]


def test_items_of_one_response_that_come_at_the_same_time_share_one_claim(
    make_judge, pages, respond, stats
):
    judge = make_judge(pages, DEDUP_SOURCE="response")
    response = respond("http://a/", "<p>text")
    given = [{"number": number} for number in range(5)]
    expect(judge, response, *given)

    async def test():
        pages.hang()
        items = [Item(judge, each, response) for each in given]
        await until(lambda: pages.calls)
        expect(judge, response, ends=True)
        pages.answer()
        assert [await each.end() for each in items] == ["new"] * 5

    crawl(judge, test)

    assert of(pages, "claim") == ["claim"]
    assert pages.committed == [1]
    assert stats["dedup/pages"] == stats["dedup/new"] == 1


@pytest.mark.parametrize(("went_through", "outcome"), [(True, "exact"), (False, "new")])
def test_original_whose_claim_ends_while_its_twin_is_judged(judge, pages, went_through, outcome):
    async def test():
        first = Item(judge, page_item(1))
        await until(lambda: first.outcome)
        pages.hang()
        twin = Item(judge, page_item(2))
        await until(lambda: pages.calls.count("claim") == 2)
        await first.end(went_through)  # told after the claim, known before its answer
        pages.answer()
        assert await twin.end() == outcome

    crawl(judge, test)

    assert len(pages.committed) == 1 + went_through
    assert not pages.pending


def test_twin_of_a_page_that_is_pending_elsewhere_waits_until_it_is_kept(judge, pages, stats):
    pages.elsewhere, pages.fates = {"same": 1001}, {1001: ["pending"] * 4 + ["kept"]}

    async def test():
        items = [Item(judge, page_item(number)) for number in range(3)]
        others = Item(judge, page_item(4, text="other"))
        assert await others.end() == "new"  # nobody else waits
        assert [await each.end() for each in items] == ["near"] * 3

    crawl(judge, test)

    assert stats["dedup/near"] == 3
    assert len(pages.committed) == 4


def test_twin_of_a_page_that_came_to_nothing_elsewhere_is_judged_anew(judge, pages, stats):
    pages.elsewhere, pages.fates = {"same": 1001}, {1001: ["pending", "gone"]}

    async def test():
        items = [Item(judge, page_item(number)) for number in range(3)]
        await until(lambda: any(each.outcome for each in items))
        (first,) = [each for each in items if each.outcome]
        assert await first.end() == "new"
        assert sorted([await each.end() for each in items if each is not first]) == ["exact"] * 2
        await until(lambda: not pages.pending)  # neither claim on that page is left

    crawl(judge, test)

    assert stats["dedup/pages"] == 3
    assert len(pages.committed) == 3
    assert not pages.pending


def test_wait_for_another_process_is_bounded_and_the_item_kept(judge, pages, stats, monkeypatch):
    monkeypatch.setattr(fates, "LONGEST_WAIT", 0.02)
    pages.elsewhere, pages.fates = {"same": 1001}, {1001: ["pending"]}

    async def test():
        items = [Item(judge, page_item(number)) for number in range(3)]
        assert [await each.end() for each in items] == ["pending"] * 3

    crawl(judge, test)

    assert stats["dedup/unjudged/pending"] == 3
    assert not pages.pending


def test_fate_that_cannot_be_asked_for_keeps_the_item(judge, pages, stats):
    pages.elsewhere = {"same": 1001}

    def fate(page):
        raise ValueError("no fate")

    pages.fate = fate

    async def test():
        assert await Item(judge, page_item(1)).end() == "error"

    crawl(judge, test)

    assert stats["dedup/errors"] == stats["dedup/unjudged/error"] == 1
    assert not pages.pending


def test_originals_that_come_to_nothing_one_after_the_other_do_not_keep_an_item_for_ever(
    judge, pages
):
    pages.elsewhere = {"same": 1001}
    pages.fate = lambda page: "gone"  # the index is behind: it goes on naming that page

    async def test():
        assert await Item(judge, page_item(1)).end() == "pending"

    crawl(judge, test)

    assert of(pages, "claim") == ["claim"] * 100
    assert not pages.pending


def test_items_are_kept_and_the_crawl_ends_while_the_server_hangs(judge, pages, stats, monkeypatch):
    monkeypatch.setattr(index_calls, "LONGEST_ANSWER", 0.01)
    shown = []

    async def test():
        first = Item(judge, page_item(0))
        await until(lambda: first.outcome)
        pages.hang()
        items = [Item(judge, page_item(number)) for number in range(1, 9)]
        assert [await each.end() for each in items] == ["error"] * 8
        await first.end()
        shown.append(await end(judge))
        assert not pages.closed
        pages.answer()
        await until(lambda: pages.closed)

    in_a_loop(test())

    assert shown == [{}]
    assert pages.committed == [1]  # the server came to life again before the process ended
    assert stats["dedup/unjudged/error"] == 8


def test_heart_of_the_crawl_beats_while_the_server_hangs(judge, pages):
    async def test():
        pages.hang()
        items = [Item(judge, page_item(number)) for number in range(3)]
        await until(lambda: pages.calls)
        beats = 0
        for _ in range(50):
            await asyncio.sleep(0)
            beats += 1
            assert not any(each.outcome for each in items)
        assert (beats, pages.calls) == (50, ["claim"])
        pages.answer()
        assert await items[0].end() == "new"
        for each in items[1:]:
            await each.end()

    crawl(judge, test)
