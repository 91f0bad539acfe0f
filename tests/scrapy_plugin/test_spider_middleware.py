import asyncio
import inspect

import pytest
from passages import end, put_through
from scrapy import Request
from scrapy.http import HtmlResponse
from server_stand_in import RedisPages, in_a_loop, until

from dedup_filter.scrapy_plugin.spider_middleware import NearDuplicateMiddleware, WaitingMiddleware

LINK = "http://a/next"


def synchronous(middleware, response, outputs):
    return list(middleware.process_spider_output(response, outputs))


def asynchronous(middleware, response, outputs):
    async def callback():
        for output in outputs:
            yield output

    async def collect():
        passed = middleware.process_spider_output_async(response, callback())
        return [output async for output in passed]

    return asyncio.run(collect())


@pytest.fixture(params=[synchronous, asynchronous])
def passed(request):
    return request.param


@pytest.fixture
def make_middleware(make_judge):
    return lambda **settings: NearDuplicateMiddleware(make_judge(**settings))


def test_response_is_not_judged_before_an_item_needs_it(make_middleware, passed, respond, page):
    middleware = make_middleware()
    passed(middleware, respond("http://a/", page(1)), [{"number": 1}, Request(LINK)])

    assert len(middleware._judge.pages) == 0


def test_links_of_a_repeated_page_are_held_back(make_middleware, passed, respond, page, stats):
    middleware = make_middleware(DEDUP_FOLLOW_LINKS=False)
    outputs = [Request(LINK), {"number": 1}, Request(LINK)]

    response = respond("http://a/", page(1))

    first = passed(middleware, response, outputs)
    put_through(middleware._judge, outputs[1], response)
    twin = passed(middleware, respond("http://b/", page(1)), outputs)

    assert first == outputs
    assert twin == [{"number": 1}]
    assert stats["dedup/links_not_followed"] == 2
    assert stats["dedup/pages"] == 2


def test_request_for_the_page_itself_is_another_try_not_a_link(
    make_middleware, passed, respond, page
):
    middleware = make_middleware(DEDUP_FOLLOW_LINKS=False)
    passed(middleware, respond("http://a/", page(1)), [{}])
    retry = Request("http://b/", dont_filter=True)

    assert passed(middleware, respond("http://b/", page(1)), [retry]) == [retry]


@pytest.mark.parametrize("url", ["http://a/", "http://a/#fragment"])
def test_item_of_a_page_that_is_tried_again_survives(
    make_middleware, passed, respond, page, stats, url
):
    middleware, item = make_middleware(DEDUP_FOLLOW_LINKS=False), {"number": 1}
    first, again = (respond("http://a/", page(1)) for _ in range(2))
    retry = first.request = Request(url, dont_filter=True)

    assert passed(middleware, first, [retry]) == [retry]
    outputs = [Request(LINK), item]
    assert passed(middleware, again, outputs) == outputs
    assert put_through(middleware._judge, item, again).verdict.outcome == "new"
    assert stats["dedup/released"] == 1
    assert len(middleware._judge.pages) == 1


@pytest.mark.parametrize(("was_unfiltered", "remembered"), [(True, 0), (False, 1)])
def test_link_of_a_page_to_itself_is_another_try_only_if_scrapy_follows_it(
    make_middleware, passed, respond, page, was_unfiltered, remembered
):
    middleware = make_middleware(DEDUP_FOLLOW_LINKS=False)
    response = respond("http://a/", page(1))
    response.request = Request("http://a/", dont_filter=was_unfiltered)

    passed(middleware, response, [Request("http://a/"), Request(LINK)])

    assert len(middleware._judge.pages) == remembered


def test_response_that_cannot_be_noted_costs_no_item(make_middleware, passed, stats):
    class Nameless(HtmlResponse):
        @property
        def url(self):
            raise RuntimeError("no name")

    item = {"number": 1}

    assert passed(make_middleware(), Nameless("http://a/"), [item]) == [item]
    assert stats["dedup/errors"] == 1


def test_error_of_the_spider_goes_on_to_scrapy(make_middleware, respond, page):
    def callback():
        yield {"number": 1}
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        synchronous(make_middleware(), respond("http://a/", page(1)), callback())


class Crawler:
    def __init__(self, judge):
        self.judge = judge

    def get_addon(self, cls):
        return self

    def __getattr__(self, name):
        raise AssertionError(name)


@pytest.mark.parametrize(
    ("is_shared", "follow_links", "kind"),
    [
        (True, False, WaitingMiddleware),
        (True, True, NearDuplicateMiddleware),
        (False, False, NearDuplicateMiddleware),
    ],
)
def test_only_links_of_a_page_on_a_server_are_waited_for(make_judge, is_shared, follow_links, kind):
    pages = RedisPages()
    pages.is_shared = is_shared
    judge = make_judge(pages, DEDUP_FOLLOW_LINKS=follow_links)
    crawler = Crawler(lambda crawler: judge)

    assert type(NearDuplicateMiddleware.from_crawler(crawler)) is kind


def test_scrapy_takes_the_waiting_one_for_asynchronous():
    assert inspect.isasyncgenfunction(WaitingMiddleware.process_spider_output)
    assert not WaitingMiddleware.process_spider_output_async


def test_links_are_held_back_when_the_server_has_answered(make_judge, respond, page, stats):
    pages = RedisPages()
    judge = make_judge(pages, DEDUP_FOLLOW_LINKS=False)
    middleware = WaitingMiddleware(judge)

    async def outputs():
        for output in [Request(LINK), {"number": 1}, Request(LINK)]:
            yield output

    async def collect(response):
        passed = middleware.process_spider_output(response, outputs())
        return [output async for output in passed]

    async def test():
        first = respond("http://a/", page(1))
        assert len(await collect(first)) == 3
        pages.hang()
        twin = asyncio.ensure_future(collect(respond("http://b/", page(1))))
        await until(lambda: pages.calls.count("claim") == 2)
        assert not twin.done()
        pages.answer()
        assert await twin == [{"number": 1}]
        await end(judge)

    in_a_loop(test())

    assert pages.calls.count("claim") == 2
    assert stats["dedup/links_not_followed"] == 2
