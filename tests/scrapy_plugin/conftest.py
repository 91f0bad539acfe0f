"""Crawls without Scrapy's engine, and pages for them."""

import pytest
from passages import Crawl
from scrapy.http import HtmlResponse, Request


@pytest.fixture
def make_crawl():
    crawls = []

    def make(pages=None, end_crawl=None, **settings):
        crawls.append(Crawl(pages, end_crawl, **settings))
        return crawls[-1]

    yield make
    for crawl in crawls:
        crawl.close()


@pytest.fixture
def crawl(make_crawl):
    return make_crawl()


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
