"""The process of a worker: sources of pages -> pages.

Standard input has pickles: the options, then sources. For each source its page is written to
standard output, or None if it could not be read. The process ends when its input ends, even in the
middle of a page: so a worker never outlives the process that started it. It ignores Ctrl-C.
"""

import os
import pickle
import signal
import sys
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO

from dedup_filter.fingerprints.read_page import Source


def work() -> None:
    """Read pages until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Output that a library prints must not be taken for an answer. A daemon may have closed stderr.
    other = os.open(os.devnull, os.O_WRONLY) if sys.stderr is None else sys.stderr.fileno()
    os.dup2(other, sys.stdout.fileno())
    config = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by the process that started this
    sources: SimpleQueue[Source] = SimpleQueue()
    Thread(target=_take, args=(sys.stdin.buffer, sources), daemon=True).start()
    answer = pickle.dumps("ready")
    while True:
        try:
            answers.write(answer)
            answers.flush()
        except BrokenPipeError:  # the process that gave the source was killed
            os._exit(0)
        try:
            answer = pickle.dumps(Source.read(sources.get(), config), protocol=5)
        except Exception:  # the process that gave the source reads it, and gets the error
            answer = pickle.dumps(None)


def _take(given: BinaryIO, sources: "SimpleQueue[Source]") -> None:
    try:
        while True:
            sources.put(pickle.load(given))  # noqa: S301 - written by the same process
    finally:
        os._exit(0)
