"""A server that is slow or away holds up no crawl and costs no item."""

import asyncio
import logging
import threading
from functools import partial

import pytest
from passages import BY_TEXT, SharedPages, page_item

from dedup_filter.scrapy_plugin import stats as stats_module
from dedup_filter.scrapy_plugin.index_calls import IndexCalls


@pytest.fixture
def pages():
    return SharedPages()


@pytest.fixture
def crawl(make_crawl, pages):
    return make_crawl(pages, **BY_TEXT)


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.WARNING, "dedup_filter")
    return caplog


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(stats_module, "monotonic", lambda: now[0])
    return now


def put_outside_a_loop(crawl, item):
    """Judge an item as under a reactor that is not asyncio's: nothing is waited for."""
    coroutine = crawl.pipeline.judge(item)
    with pytest.raises(StopIteration):
        coroutine.send(None)
    crawl.pipeline.item_scraped(item, None)


@pytest.mark.parametrize("in_thread", [True, False])
def test_items_are_kept_while_the_server_is_away_and_judged_when_it_is_back(
    crawl, pages, log, clock, in_thread
):
    put = crawl.put_through if in_thread else partial(put_outside_a_loop, crawl)

    put(page_item(1))
    crawl.until(lambda: pages.committed)
    pages.away = "no route to redis://server"
    for number in range(2, 12):
        clock[0] += 1
        put(page_item(number))
    pages.away = None
    put(page_item(20))
    clock[0] += 1
    put(page_item(21))

    assert crawl.stats["dedup/errors"] == crawl.stats["dedup/unjudged/error"] == 10
    assert crawl.stats["dedup/exact"] == 2
    begin, end = [record.getMessage() for record in log.records]
    assert begin.startswith(
        "Index server unreachable; items are kept unjudged meanwhile: StoreAway"
    )
    assert end == "Index server reachable again after 10 s and 10 faults; pages are judged again"


def test_server_that_answers_now_and_then_is_away_until_it_is_calm(crawl, pages, log, clock):
    for number in range(20):
        clock[0] += 0.3
        pages.away = "cluster down" if number % 2 else None
        crawl.put_through(page_item(number, text=f"{number}"))
    pages.away = None
    crawl.end()

    assert [record.levelname for record in log.records] == ["ERROR", "WARNING"]


def test_outage_is_no_fault_of_another_kind(crawl, pages, log):
    pages.away = "no route"
    for number in range(3):
        crawl.put_through(page_item(number))
    pages.away = None
    pages.read = lambda *_: len(5)
    crawl.put_through(page_item(4))
    crawl.end()

    assert [record.levelname for record in log.records] == ["ERROR", "ERROR", "WARNING"]
    assert "TypeError" in log.records[1].exc_text


def test_heart_of_the_crawl_beats_while_the_server_hangs(crawl, pages):
    pages.hang()
    items = [crawl.send(page_item(number)) for number in range(3)]
    crawl.pause(3600)
    assert pages.calls == ["claim"]
    assert not any(each.outcome for each in items)
    pages.answer()
    assert [each.end() for each in items] == ["new", "exact", "exact"]


def test_pages_that_wait_for_their_calls_are_read_for_together(crawl, pages, respond):
    pages.hang()
    items = []
    for text in ("one", "two", "three"):
        response, item = respond(f"http://{text}/"), page_item(text, text)
        crawl.expect(response, item)
        items.append(crawl.send(item, response))
    crawl.pause()
    pages.answer()
    assert [each.end() for each in items] == ["new"] * 3
    assert pages.ahead[1:] == [["two", "three"], ["three"]]


def test_calls_are_made_in_one_thread_in_the_order_asked_for(crawl, pages):
    calls, made, told = IndexCalls(pages, crawl.pipeline.stats), [], []

    def call(number):
        made.append((number, threading.current_thread().name))

    def send(number):
        sent = calls._start(lambda: call(number))
        sent.add_done_callback(lambda made: told.append(made.exception()))

    async def test():
        send(1)
        asked = asyncio.ensure_future(calls._ask(lambda: call(2)))
        await asyncio.sleep(0)
        send(3)
        await asked
        await calls._ask(lambda: call(4))

    crawl.run(test())

    assert [number for number, _ in made] == [1, 2, 3, 4]
    assert {thread.rpartition("_")[0] for _, thread in made} == {"dedup_filter"}
    assert told == [None, None]
