"""How the plugin asks a filter that waits for a server."""

import asyncio
import threading

import pytest
from server_stand_in import RedisPages, in_a_loop, until

from dedup_filter.errors import StoreAway
from dedup_filter.scrapy_plugin import index_calls
from dedup_filter.scrapy_plugin.index_calls import IndexCalls
from dedup_filter.text.page_fields import PageText


async def claim(calls, url):
    return await calls.claim(calls.read(url, PageText(text="text")))


@pytest.fixture
def pages():
    return RedisPages()


@pytest.fixture
def shared(pages):
    return IndexCalls(pages, lambda seconds: None)


def test_calls_are_made_in_one_thread_in_the_order_asked_for(shared):
    made = []

    def call(number):
        made.append((number, threading.current_thread().name))

    async def test():
        shared.tell(lambda: call(1), lambda answer: None)
        asked = asyncio.ensure_future(shared.ask(lambda: call(2)))
        await asyncio.sleep(0)
        shared.tell(lambda: call(3), lambda answer: None)
        await asked
        await shared.ask(lambda: call(4))
        await shared.close()

    in_a_loop(test())

    assert made == [(number, "dedup_filter") for number in range(1, 5)]


def test_page_that_cannot_be_read_asks_no_server(shared, pages):
    pages.read = lambda url, **parts: len(5)

    with pytest.raises(TypeError):
        in_a_loop(claim(shared, "http://a/"))
    assert pages.calls == []


def test_no_answer_is_awaited_for_ever(shared, pages, monkeypatch):
    monkeypatch.setattr(index_calls, "LONGEST_ANSWER", 0.01)

    async def test():
        pages.hang()
        for _ in range(3):
            with pytest.raises(StoreAway, match="has not answered for"):
                await claim(shared, "http://a/")
        assert pages.calls == ["claim"]  # the others were not even sent

        pages.answer()
        await until(lambda: pages.released == [1])  # nobody knows of that claim
        monkeypatch.setattr(index_calls, "LONGEST_ANSWER", 10)
        assert (await claim(shared, "http://b/")).outcome == "new"
        await shared.close()

    in_a_loop(test())


def test_claim_of_an_item_that_is_cancelled_is_taken_back(shared, pages):
    async def test():
        pages.hang()
        claimed = asyncio.ensure_future(claim(shared, "http://a/"))
        await until(lambda: pages.calls)
        claimed.cancel()
        await asyncio.sleep(0)
        pages.answer()
        await until(lambda: pages.released == [1])
        await shared.close()

    in_a_loop(test())


def test_close_makes_all_calls_before_and_ends_the_thread(shared, pages):
    async def test():
        for number in range(20):
            shared.tell(lambda number=number: pages.calls.append(number), lambda answer: None)
        await shared.close()
        assert pages.calls[:21] == [*range(20), "close"]
        await until(lambda: "dedup_filter" not in [each.name for each in threading.enumerate()])

    in_a_loop(test())


def test_thread_outlives_the_loop_without_a_word(shared, pages):
    async def test():
        pages.hang()
        shared.tell(lambda: pages.fate(1), lambda answer: None)

    in_a_loop(test())
    pages.answer()
    shared._jobs.put(None)

    for thread in threading.enumerate():
        if thread.name == "dedup_filter":
            thread.join(10)
            assert not thread.is_alive()
