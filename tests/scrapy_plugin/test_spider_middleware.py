"""Items are noted on their way, and links of repeated pages held back if so wished."""

import asyncio
import inspect

import pytest
from passages import end, put_through
from scrapy import Request
from scrapy.http import HtmlResponse
from server_stand_in import RedisPages, in_a_loop, until

from dedup_filter.scrapy_plugin.spider_middleware import LinkMiddleware, NearDuplicateMiddleware

LINK = "http://a/next"


async def collected(middleware, response, outputs):
    async def callback():
        for output in outputs:
            yield output

    name = "process_spider_output"
    give = getattr(middleware, f"{name}_async") or getattr(middleware, name)
    return [output async for output in give(response, callback())]


def passed(middleware, response, outputs):
    return asyncio.run(collected(middleware, response, outputs))


@pytest.fixture
def middleware(make_judge):
    return NearDuplicateMiddleware(make_judge())


@pytest.fixture
def link_middleware(make_judge):
    return LinkMiddleware(make_judge(DEDUP_FOLLOW_LINKS=False))


@pytest.mark.parametrize("is_asynchronous", [True, False])
def test_output_passes_in_order_and_no_response_is_judged_before_an_item_needs_it(
    middleware, respond, page, is_asynchronous
):
    response, outputs = respond("http://a/", page(1)), [{"n": 1}, Request(LINK), None, {"n": 2}]

    if is_asynchronous:
        assert passed(middleware, response, outputs) == outputs
    else:
        assert list(middleware.process_spider_output(response, outputs)) == outputs

    assert len(middleware._judge.pages) == 0
    assert put_through(middleware._judge, outputs[0], response).url == "http://a/"


def test_links_of_a_repeated_page_are_held_back(link_middleware, respond, page, stats):
    outputs = [Request(LINK), {"number": 1}, Request(LINK)]
    response = respond("http://a/", page(1))

    first = passed(link_middleware, response, outputs)
    put_through(link_middleware._judge, outputs[1], response)
    twin = passed(link_middleware, respond("http://b/", page(1)), outputs)

    assert first == outputs
    assert twin == [{"number": 1}]
    assert stats["dedup/links_not_followed"] == 2
    assert stats["dedup/pages"] == 2


def test_request_for_the_page_itself_is_another_try_not_a_link(link_middleware, respond, page):
    passed(link_middleware, respond("http://a/", page(1)), [{}])
    retry = Request("http://b/", dont_filter=True)

    assert passed(link_middleware, respond("http://b/", page(1)), [retry]) == [retry]


@pytest.mark.parametrize("url", ["http://a/", "http://a/#fragment"])
def test_item_of_a_page_that_is_tried_again_survives(link_middleware, respond, page, stats, url):
    first, again = (respond("http://a/", page(1)) for _ in range(2))
    retry = first.request = Request(url, dont_filter=True)
    item = {"number": 1}

    assert passed(link_middleware, first, [retry]) == [retry]
    outputs = [Request(LINK), item]
    assert passed(link_middleware, again, outputs) == outputs
    assert put_through(link_middleware._judge, item, again).verdict.outcome == "new"
    assert stats["dedup/released"] == 1
    assert len(link_middleware._judge.pages) == 1


@pytest.mark.parametrize(("was_unfiltered", "remembered"), [(True, 0), (False, 1)])
def test_link_of_a_page_to_itself_is_another_try_only_if_scrapy_follows_it(
    link_middleware, respond, page, was_unfiltered, remembered
):
    response = respond("http://a/", page(1))
    response.request = Request("http://a/", dont_filter=was_unfiltered)

    passed(link_middleware, response, [Request("http://a/"), Request(LINK)])

    assert len(link_middleware._judge.pages) == remembered


def test_response_that_cannot_be_noted_costs_no_item(middleware, stats):
    class Nameless(HtmlResponse):
        @property
        def url(self):
            raise RuntimeError("no name")

    item = {"number": 1}

    assert passed(middleware, Nameless("http://a/"), [item]) == [item]
    assert stats["dedup/errors"] == 1


def test_response_that_cannot_be_read_costs_no_link(link_middleware, stats):
    class Undeclared(HtmlResponse):
        def _declared_encoding(self):
            raise RuntimeError("no encoding")

    outputs = [Request(LINK), {"number": 1}]

    assert passed(link_middleware, Undeclared("http://a/"), outputs) == outputs
    assert stats["dedup/errors"] == stats["dedup/unjudged/error"] == 2


def test_error_of_the_spider_goes_on_to_scrapy(middleware, respond, page):
    def callback():
        yield {"number": 1}
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(middleware.process_spider_output(respond("http://a/", page(1)), callback()))


def test_scrapy_takes_the_one_that_may_wait_for_asynchronous():
    assert inspect.isasyncgenfunction(LinkMiddleware.process_spider_output)
    assert not LinkMiddleware.process_spider_output_async


def test_links_are_held_back_when_the_server_has_answered(make_judge, respond, page, stats):
    pages = RedisPages()
    judge = make_judge(pages, DEDUP_FOLLOW_LINKS=False)
    middleware, outputs = LinkMiddleware(judge), [Request(LINK), {"number": 1}, Request(LINK)]

    async def test():
        first, twin = respond("http://a/", page(1)), respond("http://b/", page(1))
        assert await collected(middleware, first, outputs) == outputs
        pages.hang()
        waiting = asyncio.ensure_future(collected(middleware, twin, outputs))
        await until(lambda: pages.calls.count("claim") == 2)
        assert not waiting.done()
        pages.answer()
        assert await waiting == [{"number": 1}]
        await end(judge)

    in_a_loop(test())

    assert pages.calls.count("claim") == 2
    assert stats["dedup/links_not_followed"] == 2
