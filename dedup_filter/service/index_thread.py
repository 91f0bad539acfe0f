"""Calls of an index from many requests -> made by one thread, in their order -> answers.

The calls that wait are made together, and the index is flushed once before their answers: what an
answer says outlives this process, and a hundred clients cost one write.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

Result = TypeVar("Result")

_TOGETHER = 64
"""Calls before a flush, at most: the first of them waits for all."""


class IndexThread:
    """Make calls in one thread. `flush` makes what they did outlive this process."""

    def __init__(self, flush: Callable[[], None]) -> None:
        self._flush = flush
        self._calls: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        self._is_over = False
        self._thread = Thread(target=self._work, name="dedup_filter index", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether the thread makes calls."""
        return self._thread.is_alive()

    async def ask(self, call: Callable[[], Result]) -> Result:
        """Make a call after all earlier calls; return its answer, or raise its error or flush's.

        The call is made even if the caller is cancelled.
        """
        return await asyncio.wrap_future(self._put(call))

    def close(self) -> None:
        """End the thread after all earlier calls."""
        self._put(self._end)
        self._thread.join()

    def _put(self, call: Callable[[], Result]) -> "Future[Result]":
        made: Future[Result] = Future()
        made.set_running_or_notify_cancel()  # so that a caller that is cancelled cannot cancel it
        self._calls.put((call, made))
        return made

    def _end(self) -> None:
        self._is_over = True

    def _work(self) -> None:
        while not self._is_over:
            calls = [self._calls.get()]
            while len(calls) < _TOGETHER and not self._calls.empty():
                calls.append(self._calls.get())
            made = [(future, *_made(call)) for call, future in calls]
            _, unwritten = _made(self._flush)
            for future, answer, error in made:
                if fault := error or unwritten:
                    future.set_exception(fault)
                else:
                    future.set_result(answer)


def _made(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        return call(), None
    except Exception as error:
        return None, error
