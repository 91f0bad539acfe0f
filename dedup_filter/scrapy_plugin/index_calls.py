"""Calls of the index -> their answers, without holding up the crawl.

An index in this process is called directly, and nothing is ever awaited. An index on a server is
called in a thread of its own, all calls in their order. Under a reactor other than asyncio's
nothing can wait for a thread: then that index is called directly too, and the crawl stands still
while a call is made.

Other items pass between a call and its answer, so whoever claims pages takes his `turn` first.
Workers read pages before their turn (see `workers`), so they are claimed in the order in which
they came all the same.
`tell` waits for nothing. Faults come back in the answers, in the thread of the crawl.

The thread is a daemon and each wait is bounded: a server that hangs, with a client that does not
notice, holds up neither the crawl nor its end. A claim that succeeds when nobody waits for it any
more is released.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from queue import SimpleQueue
from threading import Thread
from time import perf_counter
from typing import Any, Generic, NamedTuple, TypeVar, cast

from scrapy.utils.reactor import CallLaterOnce
from twisted.internet.defer import Deferred

from dedup_filter.errors import StoreAway
from dedup_filter.filter import NearDuplicateFilter, ReadPage
from dedup_filter.model import Verdict
from dedup_filter.text.page_fields import PageText

__all__ = ["LONGEST_ANSWER", "Answer", "IndexCalls", "Reading", "pause", "without_waiting"]

LONGEST_ANSWER = 30.0
"""Seconds that a call is waited for; then it has failed. Clients give up sooner."""

Result = TypeVar("Result")
Then = Callable[["Answer[Any]"], None]


@dataclass(frozen=True)
class Answer(Generic[Result]):
    """What a call returned or raised, and the seconds that it took."""

    value: Result | None = None
    fault: BaseException | None = None
    seconds: float = 0.0

    def result(self) -> Result:
        """Return what the call returned, or raise what it raised."""
        if self.fault is not None:
            raise self.fault
        return cast("Result", self.value)


class Reading(NamedTuple):
    """A page that a worker reads."""

    page: PageText
    read: Future[ReadPage]


class IndexCalls:
    """Make the calls of one filter, directly or in a thread."""

    def __init__(self, pages: NearDuplicateFilter) -> None:
        self._pages = pages
        self.are_shared = pages.is_shared
        """Whether calls wait for a server."""
        self.have_to_wait = pages.is_shared or pages.has_workers
        """Whether a judgement may have to be waited for."""
        self.turn = asyncio.Lock()
        """Keeps other judgements out while a page is looked up and claimed; awaits nothing if
        calls are direct and no worker reads, for then nobody else can hold it."""
        self._jobs: SimpleQueue[tuple[Callable[[], Any], Then] | None] = SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        """The loop of the crawl, once the thread runs."""
        self._is_stuck = False
        """Whether a call is under way that was waited for too long."""

    def tell(self, call: Callable[[], Any], then: Then) -> None:
        """Make a call after those before it; `then` gets its answer, in the crawl's thread."""
        if self._loop_of_thread() is None:
            then(_answer(call))
        else:
            self._jobs.put((call, then))

    async def ask(
        self, call: Callable[[], Result], undo: Callable[[Result], None] | None = None
    ) -> Answer[Result]:
        """Make a call after those before it, and wait; `undo` takes back what comes too late."""
        loop = self._loop_of_thread()
        if loop is None:
            return _answer(call)
        if self._is_stuck:
            return _too_late()
        given: asyncio.Future[Answer[Result]] = loop.create_future()

        def take(answer: Answer[Result]) -> None:
            if not given.done():
                given.set_result(answer)
            elif undo is not None and answer.fault is None:
                self.tell(partial(undo, answer.result()), _ignore)

        self.tell(call, take)
        try:
            await asyncio.wait([given], timeout=LONGEST_ANSWER)
            self._is_stuck = not given.done()
            return _too_late() if self._is_stuck else given.result()
        finally:
            given.cancel()

    @property
    def can_read_ahead(self) -> bool:
        """Whether there are workers, and the crawl can wait for them."""
        if not self._pages.has_workers:
            return False
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return False
        return True

    def read_ahead(self, url: str, page: PageText) -> Reading:
        """Let a worker read a page before its turn.

        It is measured in its turn: each page before it can teach what of it is frame.
        """
        read = self._pages.submit(
            url, html=page.html, text=page.text, content_type=page.content_type
        )
        return Reading(page, read)

    async def claim(
        self, url: str, page: PageText, reading: Reading | None = None
    ) -> Answer[Verdict]:
        """Claim a page; who reads the index meanwhile sees it as pending.

        Without workers the page is read in the crawl's thread: another one only waits for the
        server.
        """
        read = (
            _answer(
                lambda: self._pages.read(
                    url, html=page.html, text=page.text, content_type=page.content_type
                )
            )
            if reading is None
            else await self._measured(reading)
        )
        if read.fault is not None:
            return Answer(fault=read.fault, seconds=read.seconds)
        claim = partial(self._claim, read.result())
        claimed = await self.ask(claim, undo=self._pages.release)
        return replace(claimed, seconds=read.seconds + claimed.seconds)

    async def close(self) -> Answer[None]:
        """Close the filter when all calls before are made, and end the thread."""
        closed = await self.ask(self._pages.close)
        if self._loop is not None:
            if closed.fault is not None:
                self.tell(self._pages.close, _ignore)  # in case the server answers again
            self._jobs.put(None)
        return closed

    async def _measured(self, reading: Reading) -> Answer[ReadPage]:
        """Wait until a worker has read a page, and measured it by what is known now."""
        page = await asyncio.wrap_future(reading.read)
        prepared = await self.ask(partial(self._pages.prepare, page))
        if prepared.value is not None:
            await asyncio.wait([asyncio.wrap_future(prepared.value)])
        return Answer(page, seconds=prepared.seconds)

    def _claim(self, page: ReadPage) -> Verdict:
        claimed = self._pages.claim_read(page)
        with suppress(Exception):  # if it cannot be flushed, the commit tries again and reports
            self._pages.flush()
        return claimed

    def _loop_of_thread(self) -> asyncio.AbstractEventLoop | None:
        """Return the loop that waits for the thread; None: calls are direct.

        The thread is started when the loop is first seen.
        """
        if self._loop is None and self.are_shared:
            try:
                self._loop = asyncio.get_running_loop()
            except RuntimeError:
                return None
            Thread(target=self._work, name="dedup_filter", daemon=True).start()
        return self._loop

    def _work(self) -> None:
        loop = cast("asyncio.AbstractEventLoop", self._loop)
        while (job := self._jobs.get()) is not None:
            call, then = job
            answer = _answer(call)
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(self._deliver, then, answer)

    def _deliver(self, then: Then, answer: Answer[Any]) -> None:
        self._is_stuck = False
        then(answer)


def without_waiting(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine that awaits nothing: one that calls an index in this process.

    >>> async def five(): return 5
    >>> without_waiting(five())
    5
    """
    try:
        coroutine.send(None)
    except StopIteration as done:
        return cast("Result", done.value)
    coroutine.close()
    raise RuntimeError("a call of an index in this process has to wait")


async def pause(seconds: float) -> None:
    """Let others go on for a while, whatever reactor runs."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        over: Deferred[None] = Deferred()
        CallLaterOnce(over.callback, None).schedule(seconds)
        await over
    else:
        await asyncio.sleep(seconds)


def _answer(call: Callable[[], Result]) -> Answer[Result]:
    started = perf_counter()
    try:
        value = call()
    except BaseException as fault:  # `result` raises it, in the thread of the crawl
        return Answer(fault=fault, seconds=perf_counter() - started)
    return Answer(value, seconds=perf_counter() - started)


def _too_late() -> Answer[Any]:
    return Answer(fault=StoreAway(f"the server has not answered for {LONGEST_ANSWER:g} s"))


def _ignore(answer: Answer[Any]) -> None:
    """Do nothing: whoever asked was told already that the call failed."""
