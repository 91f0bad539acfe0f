"""The process of a worker: jobs -> answers.

Jobs and answers are pickles, on standard input and output of the process. A job is a function and
arguments; an answer is whether it was done, and what it returned or raised.

The process ends when its input does, even in the middle of a job: so no worker outlives the process
that it works for, however that ends. It ignores Ctrl-C.
"""

import os
import pickle
import signal
import sys
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO


def work() -> None:
    """Be the process of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # What a library prints is no answer. A daemon may have closed its stderr.
    other = os.open(os.devnull, os.O_WRONLY) if sys.stderr is None else sys.stderr.fileno()
    os.dup2(other, sys.stdout.fileno())
    jobs: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_take_jobs, args=(sys.stdin.buffer, jobs), daemon=True).start()
    answer = pickle.dumps("ready")
    while True:
        try:
            answers.write(answer)
            answers.flush()
        except BrokenPipeError:  # whoever gave the job has been killed
            os._exit(0)
        job, arguments = jobs.get()
        try:
            answer = pickle.dumps((True, job(*arguments)), protocol=5)
        except Exception as error:  # the one who gave the job is told
            answer = pickle.dumps((False, f"{type(error).__name__}: {error}"))


def _take_jobs(given: BinaryIO, jobs: "SimpleQueue[Any]") -> None:
    try:
        while True:
            jobs.put(pickle.load(given))  # noqa: S301 - written by the process that started this one
    finally:
        os._exit(0)
