"""Items on their way through the pipelines, without a crawl."""

import itertools
from unittest import mock

import pytest
from scrapy.settings import Settings
from twisted.internet.defer import Deferred

from dedup_filter import FilterConfig, NearDuplicate, Verdict
from dedup_filter.scrapy_plugin import fates
from dedup_filter.scrapy_plugin.judge import Judge
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.stats import CrawlStats

BY_TEXT = {"DEDUP_TEXT_FIELDS": "text"}
"""Settings with which items are judged by their field `text`."""


class Collector(dict):
    """The part of Scrapy's stats collector that is used, over a dict."""

    def inc_value(self, key, count=1):
        self[key] = self.get(key, 0) + count

    def set_value(self, key, value):
        self[key] = value

    def get_value(self, key, default=None):
        return self.get(key, default)


def new_judge(pages, stats, end_crawl=None, **settings):
    """Make a judge without a crawler."""
    return Judge(PluginSettings.read(Settings(settings)), pages, CrawlStats(stats), end_crawl)


def run(coroutine):
    """Run a coroutine that awaits nothing; one that did would fail here."""
    with pytest.raises(StopIteration) as done:
        coroutine.send(None)
    return done.value.value


def close(pipeline):
    """Close a pipeline as Scrapy does from 2.14 on: with a coroutine, which needs no reactor."""
    with mock.patch("dedup_filter.scrapy_plugin.pipeline.version_info", (2, 14)):
        run(pipeline.close_spider())


async def end(judge):
    """End a crawl as the pipeline does; return the last figures."""
    figures = await judge.finish()
    await judge.close()
    return figures


async def through(judge, item):
    """Judge an item as the pipeline does; return passage and exception."""
    passage = await judge.item(item)
    dropped = NearDuplicate("", passage.judgement.verdict) if passage.is_dropped else None
    return passage, dropped


def page_item(name, text="same"):
    """Make an item that is judged by its text."""
    return {"url": f"http://a/{name}", "text": text}


def expect(judge, response, *items, ends=False):
    """Let a response give items, and perhaps no more."""
    visit = judge.fates.visit(response)
    for item in items:
        judge.fates.expect(item, visit)
    if ends:
        judge.fates.output_ended(visit, has_failed=False)


def judged(judge, item):
    """Judge an item, act on the verdict, and return the judgement."""
    passage, _ = run(through(judge, item))
    return passage.judgement


def came_out(judge, item, response=None, *, went_through=True):
    """Tell the outcome of an item, and let those look again who wait for it."""
    judge.fates.came_out(item, response, went_through=went_through)
    tick()


def lost(judge, item, response=None):
    """Let an item come to nothing."""
    came_out(judge, item, response, went_through=False)


def put_through(judge, item, response=None):
    """Let an item pass all pipelines, or be dropped by that of the filter."""
    passage, dropped = run(through(judge, item))
    came_out(judge, item, response, went_through=dropped is None or None)
    return passage.judgement


class PlainPages:
    """A filter in a few lines: pages with the same text are duplicates of the earliest."""

    config = FilterConfig()
    is_shared = has_workers = False
    nbytes = capped = 0

    def __init__(self):
        self.kept = {}
        self.pending = {}
        self.committed = []
        self.released = []
        self.flushed = 0
        self.numbers = itertools.count(1)

    def read(self, url, *, html=None, text=None, content_type=None):
        return url, html if text is None else text

    def claim_read(self, page):
        url, content = page
        page = next(self.numbers)
        self.pending[page] = content
        if content in self.kept:
            original, original_url = self.kept[content]
            return Verdict("exact", original_url, 0, 1.0, page=page, original_page=original)
        self.kept[content] = (page, url)
        return Verdict("new", page=page)

    def commit(self, verdict):
        if self.pending.pop(verdict.page, None) is not None:
            self.committed.append(verdict.page)

    def release(self, verdict):
        content = self.pending.pop(verdict.page, None)
        if content is None:
            return
        self.released.append(verdict.page)
        if self.kept.get(content, (None,))[0] == verdict.page:
            del self.kept[content]
            for repeat in [each for each, text in self.pending.items() if text == content]:
                del self.pending[repeat]  # as a store does

    def flush(self):
        self.flushed += 1

    def totals(self):
        return None

    def close(self):
        pass

    def __len__(self):
        return len(self.kept)


_paused = []


async def _pause(_seconds):
    _paused.append(Deferred())
    await _paused[-1]


def tick():
    """Let all who wait look again."""
    woken, _paused[:] = _paused[:], []
    for each in woken:
        each.callback(None)


def without_asyncio():
    """Pause as under a reactor that is not asyncio's: whoever waits goes on with the next tick."""
    _paused.clear()
    return mock.patch.object(fates, "pause", _pause)


class Waiting:
    """An item that was sent into the pipeline and may have to wait there."""

    def __init__(self, judge, item, response=None):
        self.response = response
        self.outcome = None
        self.passage = None
        """None: it waits."""
        self.dropped = None
        self._judge = judge
        Deferred.fromCoroutine(self._go(item)).addErrback(self._fail)

    async def _go(self, item):
        self.passage, self.dropped = await through(self._judge, item)
        verdict = self.passage.judgement.verdict
        self.outcome = verdict.reason or verdict.outcome

    def _fail(self, failure):
        self.outcome = failure
