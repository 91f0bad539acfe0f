"""A filter that is shared through a server, without one: it hangs, fails and is away on demand."""

import asyncio
import threading
from contextlib import contextmanager
from unittest import mock

from passages import PlainPages, end, through

from dedup_filter import Verdict
from dedup_filter.errors import StoreAway
from dedup_filter.scrapy_plugin import fates


class RedisPages(PlainPages):
    """Plain pages that are asked over a wire.

    `calls` names the calls that were begun, with their threads; `wire` lets them go on; `away`
    is what each fails with. `elsewhere` maps texts that other processes brought to the number of
    their page, and `fates` numbers to what is told of them, one answer after the other. Repeats
    get numbers of their own if they are recorded.
    """

    is_shared = True

    def __init__(self, *, records_repeats=True):
        super().__init__()
        self.records_repeats = records_repeats
        self.wire = threading.Event()
        self.wire.set()
        self.away = None
        self.calls = []
        self.threads = set()
        self.elsewhere = {}
        self.fates = {}
        self.closed = False

    def claim_read(self, page):
        with self._call("claim"):
            verdict = self._verdict(page)
            if self.records_repeats or not verdict.is_duplicate:
                return verdict
            del self.pending[verdict.page]
            return verdict._replace(page=None)

    def _verdict(self, page):
        _, content = page
        if content not in self.elsewhere or content in self.kept:
            return super().claim_read(page)
        page, original = next(self.numbers), self.elsewhere[content]
        self.pending[page] = content
        return Verdict("near", "http://x/", 1, 0.9, page=page, original_page=original)

    def commit(self, verdict):
        with self._call("commit"):
            super().commit(verdict)

    def release(self, verdict):
        with self._call("release"):
            super().release(verdict)

    def fate(self, page):
        with self._call("fate"):
            told = self.fates.get(page)
            if told:
                fate = told.pop(0) if len(told) > 1 else told[0]
                if fate == "gone":
                    self.elsewhere = {
                        text: other for text, other in self.elsewhere.items() if other != page
                    }
                return fate
            if page in self.pending:
                return "pending"
            return "kept" if page in self.committed else "gone"

    def totals(self):
        with self._call("totals"):
            return {"pages": 7, "new": 4, "near": 2, "exact": 1, "revisit": 0, "unjudged": 0}

    def close(self):
        with self._call("close"):
            self.closed = True

    @contextmanager
    def _call(self, name):
        self.calls.append(name)
        self.threads.add(threading.current_thread().name)
        assert self.wire.wait(20)
        if self.away:
            raise StoreAway(self.away)
        yield

    def hang(self):
        self.wire.clear()

    def answer(self):
        self.wire.set()


async def until(is_so):
    """Let the loop run until something is so."""
    for _ in range(5000):
        if is_so():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it never came to be so")


def in_a_loop(test):
    """Run a test as Scrapy runs under asyncio."""
    with mock.patch.object(fates, "pause", asyncio.sleep):
        return asyncio.run(asyncio.wait_for(test, 20))


def crawl(judge, test):
    """Run a test of a judge in a loop, and close the judge."""

    async def run():
        try:
            return await test()
        finally:
            judge.pages.answer()
            await end(judge)

    return in_a_loop(run())


class Item:
    """An item in the pipeline, as a task."""

    def __init__(self, judge, item, response=None):
        self.judge, self.item, self.response = judge, item, response
        self.passage = None
        self.dropped = None
        self.task = asyncio.ensure_future(self._go())

    @property
    def outcome(self):
        """What was said of it; None: it waits."""
        if self.passage is None:
            return None
        verdict = self.passage.judgement.verdict
        return verdict.reason or verdict.outcome

    async def _go(self):
        self.passage, self.dropped = await through(self.judge, self.item)

    async def end(self, went_through=True):
        """Let it come out of the pipelines; return what was said of it."""
        await self.task
        outcome = None if self.dropped is not None else went_through
        self.judge.fates.came_out(self.item, self.response, went_through=outcome)
        return self.outcome
