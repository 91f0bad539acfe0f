"""Calls of the index -> their answers, without blocking the crawl.

An index in this process is called directly, and nothing is awaited. An index on a server is called
in one thread, in order; its client ends each call after a few seconds. Under a reactor other than
asyncio's, neither a thread nor a worker can be awaited, so the crawl is blocked meanwhile.

Each commit is flushed at once: it must outlive the process. A failed commit or release is retried
with the next one, and at the end of the crawl.
"""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from time import perf_counter
from typing import Any, TypeVar, cast

from twisted.internet import task

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.judge import Claim
from dedup_filter.model import Fate
from dedup_filter.scrapy_plugin.response import Page
from dedup_filter.scrapy_plugin.stats import CrawlStats, figures_of
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import Place
from dedup_filter.workers import Reading, those_read

Result = TypeVar("Result")
Ended = tuple[Claim, bool]
"""A claim, and whether its page is kept."""


class IndexCalls:
    """Make the calls of a filter, directly or in a thread; the stats get their time and faults."""

    def __init__(self, pages: NearDuplicateFilter, stats: CrawlStats) -> None:
        self.pages, self._judge = pages, pages.conductor
        self._stats = stats
        self._thread = ThreadPoolExecutor(1, "dedup_filter") if self._judge.is_shared else None
        self._waiting: dict[Reading, None] = {}
        """Pages that are read and not claimed yet, in the order of their calls."""
        self._unwritten: list[Ended] = []
        """Claims whose commit or release failed."""

    def read(self, page: Page) -> Reading:
        """Start to read a page, unless started: in a worker, or at once if there are none."""
        if page.reading is None:
            assert isinstance(page.text, PageText)
            given = page.text, Place.of(page.url), page.treatment.config
            page.reading = self._timed(partial(self.pages.pool.read, *given), self._stats.spent)
        return page.reading

    async def claim(self, page: Page) -> Claim:
        """Claim a page that has a text, once it is read. Any fault is raised."""
        reading = self.read(page)
        if not reading.is_done and running_loop() is not None:
            await asyncio.wrap_future(reading.by_worker)
        self._timed(reading.result, self._stats.spent)
        self._waiting[reading] = None
        try:
            claim = await self._ask(partial(self._claim, reading))
        finally:
            self._waiting.pop(reading, None)  # the call may have been cancelled
        page.reading = None
        if self._stats.is_away:
            self._stats.answered()
        return claim

    def _claim(self, reading: Reading) -> Claim:
        """Claim a page; a shared index is read for the pages that wait behind it, too."""
        self._judge.read_ahead(those_read([*self._waiting]))
        self._waiting.pop(reading, None)
        return self._judge.claim(reading.place, reading.result())

    async def fate_of_original(self, claim: Claim) -> Fate | None:
        """Return the state of the page that a page repeats; None: it cannot be found out."""
        self.write()
        for ended, is_kept in self._unwritten:
            if ended.verdict.page == claim.verdict.original_page:
                return "kept" if is_kept else None
        return await self._answer(partial(self._judge.fate_of_original, claim))

    def write(self, *ended: Ended) -> None:
        """Commit the kept pages, and release the other ones, without waiting."""
        left, self._unwritten = [*ended, *self._unwritten], []

        def write() -> None:
            while left:
                claim, is_kept = left[0]
                (self._judge.commit if is_kept else self._judge.release)(claim)
                self._judge.flush()
                del left[0]

        def written(call: "_Made[None]") -> None:
            self._unwritten += [*left[1:], *left[:1]]  # a call that fails moves to the end
            if (fault := call.exception()) is not None:
                self._stats.fault(fault)

        if left:
            self._start(write).add_done_callback(written)

    async def figures(self) -> Mapping[str, int]:
        """Return the figures of the index; empty after a fault."""
        return await self._answer(partial(figures_of, self._judge)) or {}

    async def close(self, release_pending: Callable[[], None]) -> Mapping[str, int]:
        """Write what is left, close the index, and return its figures."""
        await self._ask(lambda: None)  # all earlier writes have succeeded or failed
        self.write()
        release_pending()
        figures = await self.figures()
        if figures:
            self._stats.answered(is_last=True)
        await self._answer(self._close)
        return figures

    def _close(self) -> None:
        try:
            if not self._judge.is_shared:  # servers count the pages of all processes
                self._judge.note_log(self._stats.outcomes())
        finally:
            self.pages.close()

    async def _answer(self, call: Callable[[], Result]) -> Result | None:
        """Make a call, and wait for its answer; None after a fault."""
        try:
            return await self._ask(call)
        except Exception as fault:
            self._stats.fault(fault)
            return None

    async def _ask(self, call: Callable[[], Result]) -> Result:
        """Make a call after all earlier calls, and wait for its answer."""
        made = self._start(call)
        return made.result() if isinstance(made, Future) else await made

    def _start(self, call: Callable[[], Result]) -> "_Made[Result]":
        """Start a call in the thread, after all earlier calls; without a loop, make it at once."""
        loop = running_loop()
        if self._thread is not None and loop is not None:
            spent = partial(loop.call_soon_threadsafe, cast("Any", self._stats.spent))
            return loop.run_in_executor(self._thread, self._timed, call, spent)
        made: Future[Result] = Future()
        try:
            made.set_result(self._timed(call, self._stats.spent))
        except Exception as fault:
            made.set_exception(fault)
        return made

    @staticmethod
    def _timed(call: Callable[[], Result], spent: Callable[[float], object]) -> Result:
        started = perf_counter()
        try:
            return call()
        finally:
            spent(perf_counter() - started)


_Made = Future[Result] | asyncio.Future[Result]
"""A call that was made, or is made in the thread."""


async def in_thread(call: Callable[[], Result]) -> Result:
    """Make a long call that needs no order, in a thread where one can be awaited."""
    return call() if running_loop() is None else await asyncio.to_thread(call)


async def pause(seconds: float) -> None:
    """Wait without blocking, whatever reactor runs."""
    if running_loop() is not None:
        await asyncio.sleep(seconds)
        return
    from twisted.internet import reactor

    await task.deferLater(reactor, seconds)


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the running loop of asyncio; None under another reactor."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
