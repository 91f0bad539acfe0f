"""A server that cannot be reached costs no item, and is told of when it goes and comes."""

import logging

import pytest
from passages import BY_TEXT, page_item, put_through
from server_stand_in import Item, RedisPages, crawl, until

from dedup_filter.scrapy_plugin import stats as stats_module


@pytest.fixture
def pages():
    return RedisPages()


@pytest.fixture
def judge(make_judge, pages):
    """Make a judge that asks a server."""
    return make_judge(pages, **BY_TEXT)


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.INFO, "dedup_filter")
    return caplog


@pytest.mark.parametrize("in_thread", [True, False])
def test_items_are_kept_while_the_server_is_away_and_judged_when_it_is_back(
    judge, pages, stats, log, monkeypatch, in_thread
):
    now = [1000.0]
    monkeypatch.setattr(stats_module, "monotonic", lambda: now[0])

    async def put(each):
        return await Item(judge, each).end() if in_thread else put_through(judge, each)

    async def test():
        await put(page_item(1))
        if in_thread:
            await until(lambda: pages.committed)
        pages.away = "no route to redis://server"
        for number in range(2, 12):
            now[0] += 1
            await put(page_item(number))
        pages.away = None
        await put(page_item(20))
        now[0] += 1
        await put(page_item(21))

    if in_thread:
        crawl(judge, test)
    else:
        with pytest.raises(StopIteration):
            test().send(None)

    assert stats["dedup/errors"] == stats["dedup/unjudged/error"] == 10
    assert stats["dedup/exact"] == 2
    begin, end = [record.getMessage() for record in log.records]
    assert begin.startswith(
        "Index server unreachable; items are kept unjudged meanwhile: StoreAway"
    )
    assert end == "Index server reachable again after 10 s and 10 faults; pages are judged again"


def test_server_that_answers_now_and_then_is_away_until_it_is_calm(judge, pages, log, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(stats_module, "monotonic", lambda: now[0])

    async def test():
        for number in range(20):
            now[0] += 0.3
            pages.away = "cluster down" if number % 2 else None
            await Item(judge, page_item(number, text=f"{number}")).end()
        pages.away = None

    crawl(judge, test)

    assert [record.levelname for record in log.records] == ["ERROR", "WARNING"]


@pytest.mark.parametrize("comes_back", [True, False])
def test_end_of_the_crawl_tells_that_the_server_is_back_if_it_is(judge, pages, log, comes_back):
    async def test():
        pages.away = "no route"
        await Item(judge, page_item(1)).end()
        if comes_back:
            pages.away = None
            await Item(judge, page_item(2)).end()

    crawl(judge, test)

    told = [record.getMessage().partition(" after")[0] for record in log.records]
    assert told[0].startswith("Index server unreachable")
    assert told[1:] == ["Index server reachable again"] * comes_back


def test_outage_is_no_fault_of_another_kind(judge, pages, log):
    async def test():
        pages.away = "no route"
        for number in range(3):
            await Item(judge, page_item(number)).end()
        pages.away = None
        pages.read = lambda url, **parts: len(5)
        await Item(judge, page_item(4)).end()

    crawl(judge, test)

    assert [record.levelname for record in log.records] == ["ERROR", "ERROR", "WARNING"]
    assert "TypeError" in log.records[1].exc_text
