"""A judge without a crawler, and pages to judge."""

import pytest
from passages import Collector, new_judge, without_asyncio
from scrapy.http import HtmlResponse, Request

from dedup_filter import NearDuplicateFilter


class FaultCounter:
    def __init__(self):
        self.count = 0

    def __call__(self):
        self.count += 1


@pytest.fixture(autouse=True)
def _without_asyncio():
    with without_asyncio():
        yield


@pytest.fixture
def stats():
    return Collector()


@pytest.fixture
def make_judge(stats):
    def make(pages=None, end_crawl=None, **settings):
        pages = NearDuplicateFilter.open() if pages is None else pages
        return new_judge(pages, stats, end_crawl, **settings)

    return make


@pytest.fixture
def judge(make_judge):
    return make_judge()


@pytest.fixture
def end_crawl():
    return FaultCounter()


@pytest.fixture
def page(article):
    def make(seed, edits=0):
        return f"<html><body><p>{article(seed, edits)}</p></body></html>"

    return make


@pytest.fixture
def respond():
    """Make the response to a request, as a spider gets it."""

    def make(url, body="", cls=HtmlResponse, meta=None, **headers):
        body = body.encode() if isinstance(body, str) else body
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(url, body=body, headers=named, request=Request(url, meta=meta or {}))

    return make
