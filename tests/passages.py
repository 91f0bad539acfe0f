"""The plugin's part of a crawl without Scrapy's engine, and filters that fail on demand."""

import asyncio
import itertools
import math
import selectors
import threading
import time
from concurrent.futures import Future
from contextlib import contextmanager

from scrapy.settings import Settings

from dedup_filter import FilterConfig, Verdict
from dedup_filter.crawl_filter import CrawlFilter
from dedup_filter.errors import StoreAway, StoreError
from dedup_filter.scrapy_plugin.pipeline import NearDuplicateMiddleware, NearDuplicatePipeline
from dedup_filter.scrapy_plugin.settings import PluginSettings
from dedup_filter.scrapy_plugin.stats import CrawlStats

BY_TEXT = {"DEDUP_TEXT_FIELDS": "text"}
"""Settings with which items are judged by their field `text`."""


class Collector(dict):
    get_value, set_value = dict.get, dict.__setitem__

    def inc_value(self, key, count=1):
        self[key] = self.get(key, 0) + count


class _HastySelector(selectors.DefaultSelector):
    """Lets nobody wait for the clock, but threads for their turn."""

    skipped = 0.0

    def select(self, timeout=None):
        events = super().select(timeout and min(timeout, 0.001))
        if timeout and not events:
            self.skipped += timeout
        return events


class HastyLoop(asyncio.SelectorEventLoop):
    """A loop in which an hour is over at once if nothing happens in it."""

    def __init__(self):
        self._hasty = _HastySelector()
        super().__init__(self._hasty)

    def time(self):
        return super().time() + self._hasty.skipped


class Crawl:
    """Pipeline and spider middleware of a crawl, and a loop that runs while they are called."""

    def __init__(self, pages=None, end_crawl=None, **settings):
        self.loop = HastyLoop()
        self.has_ended = False
        self.stats = Collector()
        self.pages = CrawlFilter.open() if pages is None else pages
        counting = CrawlStats(self.stats, end_crawl)
        read = PluginSettings.read(Settings(settings))
        self.pipeline = NearDuplicatePipeline(read, self.pages, counting)
        self.middleware = NearDuplicateMiddleware(self.pipeline)

    def run(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    def pause(self, seconds=2.0):
        self.run(asyncio.sleep(seconds))

    def until(self, is_so):
        end = time.monotonic() + 20
        while not is_so():
            assert time.monotonic() < end, "it never came to be so"
            self.run(asyncio.sleep(0.001))

    def call(self, handler, *arguments, **named):
        """Call a handler as Scrapy does, in the loop; and let all who wait look again."""

        async def call():
            handler(*arguments, **named)
            await asyncio.sleep(2)

        self.run(call())

    def expect(self, response, *items, ends=False):
        """Let a response give items, and perhaps no more."""
        for item in items:
            self.middleware.expect(item, response)
        if ends:
            self.call(self.middleware.output_ended, response, has_failed=False)

    def send(self, item, response=None):
        """Let an item come to the pipeline; it may have to wait there."""
        sent = Sent(self, item, response)
        self.run(asyncio.sleep(0))
        return sent

    def judged(self, item):
        return self.run(self.pipeline.judge(item))

    def put_through(self, item, response=None):
        """Let an item pass all pipelines, or be dropped by that of the filter."""
        sent = self.send(item, response)
        sent.end()
        return sent.verdict

    def scraped(self, item, response=None):
        self.call(self.pipeline.item_scraped, item, response)

    def lost(self, item, response=None):
        self.call(self.pipeline.item_lost, item, response)

    def end(self):
        self.has_ended = True
        return self.run(self.pipeline.index.close(self.pipeline.fates.end_all))

    def close(self):
        if self.pages.is_shared:
            self.pages.answer()
        if not self.has_ended:
            self.end()
        self.loop.close()


class Sent:
    def __init__(self, crawl, item, response):
        self._crawl, self._item, self._response = crawl, item, response
        self._task = crawl.loop.create_task(crawl.pipeline.judge(item))

    @property
    def verdict(self):
        judgement = self._task.result()
        return judgement and judgement.verdict

    @property
    def is_dropped(self):
        return self.verdict is not None and self.verdict.outcome in self._crawl.pipeline.drops

    @property
    def outcome(self):
        """What was said of it; None: it waits, or nothing was."""
        verdict = self.verdict if self._task.done() else None
        return None if verdict is None else verdict.reason or verdict.outcome

    def end(self, went_through=True):
        """Let it come out of the pipelines; return what was said of it."""
        self._crawl.run(self._task)
        crawl = self._crawl
        comes_out = crawl.scraped if went_through and not self.is_dropped else crawl.lost
        comes_out(self._item, self._response)
        return self.outcome


def page_item(name, text="same"):
    return {"url": f"http://a/{name}", "text": text}


class PlainPages:
    """A filter in a few lines: pages with the same text are duplicates of the earliest.

    The next `failures` of its calls that are named in `failing` raise `fault`. Repeats get numbers
    of their own if they are recorded.
    """

    config = FilterConfig()
    is_shared = has_workers = False
    nbytes = capped = forgotten_hosts = 0

    def __init__(self, *, records_repeats=True):
        self.records_repeats = records_repeats
        self.kept = {}
        self.pending = {}
        self.committed = []
        self.released = []
        self.numbers = itertools.count(1)
        self.fault = None
        self.failing = set()
        self.failures = math.inf
        self.closed = False

    def break_down(self, times, *calls):
        """Let some calls fail so many times."""
        self.fault = StoreError("the disk is full")
        self.failing, self.failures = set(calls), times

    def submit(self, url, *, html=None, text=None, content_type=None, link=None, title=None):
        read = Future()
        read.set_result((url, html if text is None else text))
        return read

    def claim_read(self, page):
        with self._call("claim"):
            url, content = page
            if content not in self.kept:
                self.pending[number := next(self.numbers)] = content
                self.kept[content] = (number, url)
                return Verdict("new", page=number)
            return self._repeat("exact", content, *self.kept[content])

    def _repeat(self, outcome, content, original, url):
        number = next(self.numbers) if self.records_repeats else None
        if number is not None:
            self.pending[number] = content
        return Verdict(outcome, url, 0, 1.0, page=number, original_page=original)

    def commit(self, verdict):
        with self._call("commit"):
            if self.pending.pop(verdict.page, None) is not None:
                self.committed.append(verdict.page)

    def release(self, verdict):
        with self._call("release"):
            content = self.pending.pop(verdict.page, None)
            if content is None:
                return
            self.released.append(verdict.page)
            if self.kept.get(content, (None,))[0] == verdict.page:
                del self.kept[content]
                for repeat in [each for each, text in self.pending.items() if text == content]:
                    del self.pending[repeat]  # as a store does

    def fate(self, page):
        with self._call("fate"):
            is_kept = page in self.committed
            return "pending" if page in self.pending else "kept" if is_kept else "gone"

    def flush(self):
        with self._call("flush"):
            pass

    def totals(self):
        return None

    def close(self):
        with self._call("close"):
            self.closed = True

    @contextmanager
    def _call(self, name):
        if self.fault and name in self.failing and self.failures:
            self.failures -= 1
            raise self.fault
        yield

    def __len__(self):
        return len(self.kept)


class SharedPages(PlainPages):
    """Plain pages that are asked over a wire.

    `calls` names the calls that were begun; `wire` lets them go on; `away` is what each fails with.
    `elsewhere` maps texts that other processes brought to the number of their page, and `fates`
    numbers to what is told of them, one answer after the other.
    """

    is_shared = True

    def __init__(self, **options):
        super().__init__(**options)
        self.wire = threading.Event()
        self.wire.set()
        self.away = None
        self.calls = []
        self.elsewhere = {}
        self.fates = {}

    def claim_read(self, page):
        _, content = page
        if content not in self.elsewhere or content in self.kept:
            return super().claim_read(page)
        with self._call("claim"):
            return self._repeat("near", content, self.elsewhere[content], "http://x/")

    def fate(self, page):
        told = self.fates.get(page)
        if not told:
            return super().fate(page)
        with self._call("fate"):
            fate = told.pop(0) if len(told) > 1 else told[0]
            if fate == "gone":
                self.elsewhere = {text: at for text, at in self.elsewhere.items() if at != page}
            return fate

    def totals(self):
        with self._call("totals"):
            return {"new": 4, "near": 2, "exact": 1, "revisit": 0, "unjudged": 0}

    @contextmanager
    def _call(self, name):
        self.calls.append(name)
        assert self.wire.wait(20)
        if self.away:
            raise StoreAway(self.away)
        with super()._call(name):
            yield

    def hang(self):
        self.wire.clear()

    def answer(self):
        self.wire.set()
