"""The process of a worker: pages -> `ReadPage`s.

Standard input has pickles: the options, then pages with their places. For each page its `ReadPage`
is written to standard output, or None if it could not be read. The process ends when its input
ends, even in the middle of a page: so a worker never outlives the process that started it. It
ignores Ctrl-C.
"""

import os
import pickle
import signal
import sys
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, BinaryIO

from dedup_filter.fingerprints.read_page import read_page

if TYPE_CHECKING:
    from dedup_filter.text.page_fields import PageText
    from dedup_filter.text.page_url import Place


def work() -> None:
    """Read pages until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Output that a library prints must not be taken for an answer. A daemon may have closed stderr.
    other = os.open(os.devnull, os.O_WRONLY) if sys.stderr is None else sys.stderr.fileno()
    os.dup2(other, sys.stdout.fileno())
    config = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by the process that started this
    pages: SimpleQueue[tuple[PageText, Place]] = SimpleQueue()
    Thread(target=_take, args=(sys.stdin.buffer, pages), daemon=True).start()
    answer = pickle.dumps("ready")
    while True:
        try:
            answers.write(answer)
            answers.flush()
        except BrokenPipeError:  # the process that gave the page was killed
            os._exit(0)
        try:
            answer = pickle.dumps(read_page(*pages.get(), config), protocol=5)
        except Exception:  # the process that gave the page reads it, and gets the error
            answer = pickle.dumps(None)


def _take(given: BinaryIO, pages: "SimpleQueue[tuple[PageText, Place]]") -> None:
    try:
        while True:
            pages.put(pickle.load(given))  # noqa: S301 - written by the same process
    finally:
        os._exit(0)
