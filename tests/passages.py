"""The plugin's part of a crawl without Scrapy's engine, and filters that fail on demand."""

import asyncio
import itertools
import math
import selectors
import threading
import time
from contextlib import contextmanager

from scrapy.settings import Settings

from dedup_filter import FilterConfig, Verdict
from dedup_filter.errors import StoreAway, StoreError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.judge import Claim
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
        self.pages = NearDuplicateFilter.open() if pages is None else pages
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
        return self.run(self.pipeline.index.close(self.pipeline.visits.end_all))

    def close(self):
        if self.pages.conductor.is_shared:
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
        judgement = self._task.result()
        return judgement is not None and self._crawl.pipeline.is_dropped(judgement)

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
    is_shared = False
    nbytes = capped = forgotten = learnt = most = 0

    def __init__(self, *, records_repeats=True):
        self.conductor = self.pool = self
        self.records_repeats = records_repeats
        self.kept = {}
        """Text -> the claim and the URL of its earliest page."""
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

    def read(self, page, place, options=None):
        return PlainReading(page, place)

    def read_ahead(self, waiting):
        pass

    def claim(self, place, content):
        with self._call("claim"):
            if content not in self.kept:
                claim = self._claimed(Verdict("new", page=next(self.numbers)))
                self.kept[content] = claim, place.url
                return claim
            first, url = self.kept[content]
            return self._repeat("exact", first.verdict.page, url, first)

    def _repeat(self, outcome, original, url, first=None):
        number = next(self.numbers) if self.records_repeats else None
        verdict = Verdict(outcome, url, 0, 1.0, page=number, original_page=original)
        if first is None or first.state == "kept":
            return self._claimed(verdict)
        first.repeats.append(self._claimed(verdict, first))
        return first.repeats[-1]

    def _claimed(self, verdict, original=None):
        state = "kept" if verdict.page is None else "pending"
        claim = Claim(verdict, state=state, original=original)
        if state == "pending":
            self.pending[verdict.page] = claim
        return claim

    def commit(self, claim):
        with self._call("commit"):
            if claim.state == "pending":
                self._end(claim, "kept", self.committed)

    def release(self, claim):
        with self._call("release"):
            if claim.state == "pending":
                self._end(claim, "gone", self.released)
                self.kept = {text: at for text, at in self.kept.items() if at[0] is not claim}
                for each in claim.repeats:
                    if each.state == "pending":
                        self._end(each, "gone", [])

    def _end(self, claim, state, ended):
        claim.state = state
        del self.pending[claim.verdict.page]
        ended.append(claim.verdict.page)

    def fate_of_original(self, claim):
        with self._call("fate"):
            return "kept" if claim.original is None else claim.original.state

    def flush(self):
        with self._call("flush"):
            pass

    def totals(self):
        return None

    def note_log(self, counts):
        self.logged = counts

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


class PlainReading:
    """The reading of a page by its text."""

    is_done = True

    def __init__(self, page, place):
        self.page, self.place = page, place

    def result(self):
        return self.page.html if self.page.text is None else self.page.text

    content = property(result)


class SharedPages(PlainPages):
    """Plain pages that are asked over a wire.

    `calls` names the calls that were begun; `wire` lets them go on; `away` is what each fails with.
    `ahead` has the pages that waited at each claim. `elsewhere` maps texts that other processes
    brought to the number of their page, and `fates` numbers to what is told of them, one answer
    after the other.
    """

    is_shared = True

    def __init__(self, **options):
        super().__init__(**options)
        self.wire = threading.Event()
        self.wire.set()
        self.away = None
        self.calls, self.ahead = [], []
        self.elsewhere = {}
        self.fates = {}

    def read_ahead(self, waiting):
        self.ahead.append([content for _, content in waiting])

    def claim(self, place, content):
        if content not in self.elsewhere or content in self.kept:
            return super().claim(place, content)
        with self._call("claim"):
            return self._repeat("near", self.elsewhere[content], "http://x/")

    def fate_of_original(self, claim):
        original = claim.verdict.original_page
        if original is None or original < 1000:
            return super().fate_of_original(claim)
        with self._call("fate"):
            told = self.fates.get(original) or ["gone"]
            fate = told.pop(0) if len(told) > 1 else told[0]
            if fate == "gone" and self.fates.get(original):
                self.elsewhere = {text: at for text, at in self.elsewhere.items() if at != original}
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
