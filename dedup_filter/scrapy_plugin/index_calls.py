"""Calls of the index -> their answers, without holding up the crawl.

An index in this process is called directly, and nothing is ever awaited. An index on a server is
called in a thread of its own, all calls in their order. Under a reactor other than asyncio's
nothing can wait for a thread: then that index is called directly too, and the crawl stands still
while a call is made. Pages are read before their turn, by workers if there are any and they can be
waited for.

The thread is a daemon and each wait is bounded: a server that hangs, with a client that does not
notice, holds up neither the crawl nor its end.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from time import perf_counter
from typing import Any, TypeVar, cast

from scrapy.utils.reactor import CallLaterOnce
from twisted.internet.defer import Deferred

from dedup_filter.errors import StoreAway
from dedup_filter.filter import NearDuplicateFilter, ReadPage
from dedup_filter.model import Verdict
from dedup_filter.text.page_fields import PageText

__all__ = ["LONGEST_ANSWER", "IndexCalls", "pause"]

LONGEST_ANSWER = 30.0
"""Seconds that a call is waited for; then it has failed. Clients give up sooner."""

Result = TypeVar("Result")
Then = Callable[["Future[Any]"], None]


class IndexCalls:
    """Make the calls of a filter, directly or in a thread; `spent` is told the seconds of each."""

    def __init__(self, pages: NearDuplicateFilter, spent: Callable[[float], None]) -> None:
        self.pages = pages
        self._spent = spent
        self.are_shared = pages.is_shared
        """Whether calls wait for a server."""
        self._has_workers = pages.has_workers
        self._jobs: SimpleQueue[tuple[Callable[[], Any], Then] | None] = SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        """The loop of the crawl, once the thread runs."""
        self._is_stuck = False
        """Whether a call is under way that was waited for too long."""

    def tell(self, call: Callable[[], Any], then: Then) -> None:
        """Make a call after those before it; `then` gets its answer, in the crawl's thread."""
        if self._loop_of_thread() is None:
            self._answer(then, *_made(call))
        else:
            self._jobs.put((call, then))

    async def ask(
        self, call: Callable[[], Result], undo: Callable[[Result], None] | None = None
    ) -> Result:
        """Make a call after those before it, and wait; raise StoreAway if that takes too long.

        `undo` takes back what comes when nobody waits any more.
        """
        loop = self._loop_of_thread()
        if loop is None:
            answers: list[Future[Result]] = []
            self.tell(call, answers.append)
            return answers[0].result()
        given: asyncio.Future[Future[Result]] = loop.create_future()

        def take(answer: Future[Result]) -> None:
            if not given.done():
                given.set_result(answer)
            elif undo is not None and answer.exception() is None:
                self.tell(partial(undo, answer.result()), _ignore)

        if not self._is_stuck:
            self.tell(call, take)
            try:
                await asyncio.wait([given], timeout=LONGEST_ANSWER)
                if given.done():
                    return given.result().result()
            finally:
                given.cancel()
            self._is_stuck = True
        raise StoreAway(f"the server has not answered for {LONGEST_ANSWER:g} s")

    def read(self, url: str, page: PageText) -> Future[ReadPage]:
        """Let a page be read; whatever goes wrong is in the answer."""
        if self._has_workers and _running_loop() is not None:
            return self.pages.submit(url, **page._asdict())
        read, seconds = _made(partial(self.pages.read, url, **page._asdict()))
        self._spent(seconds)
        return read

    async def claim(self, reading: Future[ReadPage]) -> Verdict:
        """Claim a page that is read, or that a worker reads.

        A worker measures it in its turn: each page before it can teach what of it is frame.
        """
        page = reading.result() if reading.done() else await asyncio.wrap_future(reading)
        if self._has_workers:
            measured = await self.ask(partial(self.pages.prepare, page))
            if measured is not None:
                await asyncio.wait([asyncio.wrap_future(measured)])
        return await self.ask(partial(self.pages.claim_read, page), undo=self.pages.release)

    async def close(self) -> None:
        """Close the filter when all calls before are made, and end the thread."""
        self._spent = _ignore  # by now the seconds are summed up
        try:
            await self.ask(self.pages.close)
        finally:
            if self._loop is not None:
                self.tell(self.pages.close, _ignore)  # in case the server answers again
                self._jobs.put(None)

    def _loop_of_thread(self) -> asyncio.AbstractEventLoop | None:
        """Return the loop that waits for the thread; None: calls are direct.

        The thread is started when the loop is first seen.
        """
        if self._loop is None and self.are_shared:
            self._loop = _running_loop()
            if self._loop is not None:
                Thread(target=self._work, name="dedup_filter", daemon=True).start()
        return self._loop

    def _work(self) -> None:
        loop = cast("asyncio.AbstractEventLoop", self._loop)
        while (job := self._jobs.get()) is not None:
            call, then = job
            made = _made(call)
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(self._answer, then, *made)

    def _answer(self, then: Then, answer: Future[Any], seconds: float) -> None:
        self._is_stuck = False
        self._spent(seconds)
        then(answer)


async def pause(seconds: float) -> None:
    """Let others go on for a while, whatever reactor runs."""
    if _running_loop() is not None:
        await asyncio.sleep(seconds)
        return
    over: Deferred[None] = Deferred()
    CallLaterOnce(over.callback, None).schedule(seconds)
    await over


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _made(call: Callable[[], Result]) -> tuple[Future[Result], float]:
    """Return what a call returns or raises, and the seconds that it takes."""
    made: Future[Result] = Future()
    started = perf_counter()
    try:
        made.set_result(call())
    except BaseException as fault:  # `result` raises it, in the thread of the crawl
        made.set_exception(fault)
    return made, perf_counter() - started


def _ignore(_: object) -> None:
    """Do nothing: whoever asked was told already that the call failed."""
