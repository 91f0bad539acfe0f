"""Calls of the index -> their answers, without blocking the crawl.

An index in this process is called directly, and nothing is awaited. An index on a server is called
in one thread, in order; its client ends each call after a few seconds. Under a reactor other than
asyncio's, neither a thread nor a worker can be awaited, so the crawl is blocked meanwhile.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar, cast

from twisted.internet import task

from dedup_filter.crawl_filter import CrawlFilter
from dedup_filter.model import Verdict
from dedup_filter.scrapy_plugin.visits import Page
from dedup_filter.text.page_fields import PageText

if TYPE_CHECKING:
    from dedup_filter.filter import PlacedPage

Result = TypeVar("Result")


class IndexCalls:
    """Make the calls of a filter, directly or in a thread; `spent` gets the seconds of each."""

    def __init__(self, pages: CrawlFilter, spent: Callable[[float], None]) -> None:
        self.pages = pages
        self._spent = spent
        self._thread = ThreadPoolExecutor(1, "dedup_filter") if pages.is_shared else None

    async def ask(self, call: Callable[[], Result]) -> Result:
        """Make a call after all earlier calls, and wait for its answer."""
        waiting = self._in_thread(call)
        return self._timed(call, self._spent) if waiting is None else await waiting

    def send(self, call: Callable[[], None], then: Callable[[BaseException | None], None]) -> None:
        """Make a call after all earlier calls; `then` gets its fault, in the crawl's thread."""
        waiting, fault = self._in_thread(call), None
        if waiting is not None:
            waiting.add_done_callback(lambda made: then(made.exception()))
            return
        try:
            self._timed(call, self._spent)
        except Exception as error:
            fault = error
        then(fault)

    def read(self, page: Page) -> "Future[PlacedPage]":
        """Start to read a page, unless started: in a worker, or at once if there are none."""
        if page.reading is None:
            assert isinstance(page.text, PageText)
            read = partial(self.pages.submit, page.url, **page.text._asdict())
            page.reading = self._timed(read, self._spent)
        return page.reading

    async def claim(self, page: Page) -> Verdict:
        """Claim a page that has a text, once it is read."""
        reading = self.read(page)
        if not reading.done() and running_loop() is not None:
            await asyncio.gather(asyncio.wrap_future(reading), return_exceptions=True)
        verdict = await self.ask(partial(self.pages.claim_read, reading.result()))
        page.reading = None
        return verdict

    def _in_thread(self, call: Callable[[], Result]) -> "asyncio.Future[Result] | None":
        """Start a call in the thread; None: the call must be made directly."""
        loop = running_loop()
        if self._thread is None or loop is None:
            return None
        spent = partial(loop.call_soon_threadsafe, cast("Any", self._spent))
        return loop.run_in_executor(self._thread, self._timed, call, spent)

    @staticmethod
    def _timed(call: Callable[[], Result], spent: Callable[[float], object]) -> Result:
        started = perf_counter()
        try:
            return call()
        finally:
            spent(perf_counter() - started)


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
