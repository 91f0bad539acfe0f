"""The process of one worker: jobs on its standard input -> answers on its standard output.

    python -m dedup_filter.workers.child

Jobs and answers are pickles, one after the other: the pipe has no other end than the process that
started this one. The first pickle is the configuration. An answer is whether the job was done, and
what it returned or raised.

The process ends when its input does, even in the middle of a job: so no worker outlives the
process that it works for, however that ends. The signal of Ctrl-C is for that process alone.
"""

import os
import pickle
import signal
import sys
from collections import OrderedDict
from collections.abc import Sequence
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

from dedup_filter.config import FilterConfig
from dedup_filter.model import Unjudged
from dedup_filter.text import Shown, WantedParts
from dedup_filter.text.reading import read
from dedup_filter.workers.measured import (
    FrameTimes,
    Measured,
    PageHere,
    measurable,
    without_texts,
)

__all__ = ["MOST_KEPT", "Reader"]

MOST_KEPT = 512
"""Pages that wait in one worker to be measured: beyond it, the earliest is forgotten. It is far
more than a crawl has under way."""


class Reader:
    """Reads pages, and keeps them until they are dropped."""

    def __init__(self, config: FilterConfig) -> None:
        self._config = config
        self._pages: OrderedDict[int, PageHere] = OrderedDict()

    def read(
        self,
        ticket: int,
        html: str | bytes | None,
        text: str | None,
        content_type: str | None,
        wanted: WantedParts,
        dropped: Sequence[int],
    ) -> Shown | Measured | Unjudged:
        """Read a page and keep it under a number; a document is measured at once.

        `dropped` are numbers of pages that need not be kept any more.
        """
        for each in dropped:
            self._pages.pop(each, None)
        page = measurable(read(html, text, content_type, wanted), self._config)
        return self._kept(ticket, page) if isinstance(page, PageHere) else page

    def unpack(self, ticket: int, packed: bytes) -> Shown:
        """Keep a page that was packed. Raises ValueError if another version packed it."""
        return self._kept(ticket, PageHere.unpacked(packed, self._config))

    def measure(self, ticket: int, times: bytes, is_frame_known: bool) -> Measured:
        """Measure a page that was read; `times` are those of `FrameTimes`, and 1 more each.

        Raises:
            KeyError: the page is not kept any more.
        """
        page = self._pages[ticket]
        known = FrameTimes([each - 1 for each in times], is_frame_known)
        return without_texts(page.measure(known), page.shown.h1)

    def pack(self, ticket: int) -> bytes:
        """Return a page as bytes. Raises KeyError if it is not kept any more."""
        return self._pages[ticket].pack()

    def _kept(self, ticket: int, page: PageHere) -> Shown:
        self._pages[ticket] = page
        if len(self._pages) > MOST_KEPT:
            self._pages.popitem(last=False)
        return page.shown


def _main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    jobs: SimpleQueue[tuple[str, tuple[Any, ...]]] = SimpleQueue()
    Thread(target=_take, args=(sys.stdin.buffer, jobs), daemon=True).start()
    _, (config,) = jobs.get()
    reader = Reader(config)
    pickle.dump("ready", answers)
    answers.flush()
    while True:
        name, arguments = jobs.get()
        try:
            answer = pickle.dumps((True, getattr(reader, name)(*arguments)), protocol=5)
        except Exception as error:  # the one who gave the job is told
            answer = pickle.dumps((False, f"{type(error).__name__}: {error}"))
        answers.write(answer)
        answers.flush()


def _take(given: BinaryIO, jobs: "SimpleQueue[tuple[str, tuple[Any, ...]]]") -> None:
    try:
        while True:
            jobs.put(pickle.load(given))  # noqa: S301 - written by the process that started this one
    finally:
        os._exit(0)


if __name__ == "__main__":
    _main()
