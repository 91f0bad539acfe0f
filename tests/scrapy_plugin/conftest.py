"""A judge without a crawler, and pages to judge."""

import pytest
from scrapy.http import HtmlResponse, Request
from scrapy.settings import Settings

from dedup_filter import NearDuplicateFilter
from dedup_filter.scrapy_plugin.judge import Judge
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.stats import CrawlStats


class Collector(dict):
    """The part of Scrapy's stats collector that is used, over a dict."""

    def inc_value(self, key, count=1):
        self[key] = self.get(key, 0) + count

    def set_value(self, key, value):
        self[key] = value

    def get_value(self, key, default=None):
        return self.get(key, default)


class FaultCounter:
    def __init__(self):
        self.count = 0

    def __call__(self):
        self.count += 1


@pytest.fixture
def stats():
    return Collector()


@pytest.fixture
def make_judge(stats):
    def make(pages=None, end_crawl=None, **settings):
        read = PluginSettings.read(Settings(settings))
        if pages is None:
            pages = NearDuplicateFilter.open()
        return Judge(read, pages, CrawlStats(stats), end_crawl)

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
