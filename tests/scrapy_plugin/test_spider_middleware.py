import asyncio
from contextlib import suppress

import pytest
from passages import judged, put_through
from scrapy import Request
from scrapy.http import HtmlResponse, JsonResponse

from dedup_filter.scrapy_plugin.spider_middleware import NearDuplicateMiddleware

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


def test_everything_passes_in_order(make_middleware, passed, respond, page):
    middleware = make_middleware()
    outputs = [{"number": 1}, Request(LINK), None, {"number": 2}]

    for _ in range(2):
        assert passed(middleware, respond("http://a/", page(1)), outputs) == outputs


def test_items_are_expected_in_the_pipeline(make_middleware, passed, respond, page):
    middleware, item = make_middleware(), {"number": 1}
    response = respond("http://a/", page(1))
    passed(middleware, response, [item, Request(LINK)])

    assert judged(middleware._judge, item).url == "http://a/"


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


def test_links_of_an_api_are_never_held_back(make_middleware, passed, respond):
    middleware = make_middleware(DEDUP_FOLLOW_LINKS=False)
    outputs = [Request(LINK)]

    for number in range(2):
        answer = respond(f"http://api/{number}", "{}", JsonResponse)
        assert passed(middleware, answer, outputs) == outputs


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


class Interrupted(BaseException):
    pass


@pytest.mark.parametrize(
    ("error", "released"), [(ZeroDivisionError, 1), (Interrupted, 0), (None, 0)]
)
def test_page_whose_callback_failed_is_forgotten(
    make_middleware, respond, page, stats, error, released
):
    class Outputs:
        def __iter__(self):
            yield Request(LINK)
            if error:
                raise error

    middleware = make_middleware(DEDUP_FOLLOW_LINKS=False)
    response = respond("http://a/", page(1))
    with suppress(ZeroDivisionError, Interrupted):
        synchronous(middleware, response, Outputs())

    assert stats.get("dedup/released", 0) == released
    assert len(middleware._judge.pages) == 1 - released
