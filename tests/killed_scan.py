"""A process that scans until it is killed, at any step of those by which a scan outlives it."""

import os
import signal
from contextlib import nullcontext, suppress
from pathlib import Path
from unittest.mock import patch

from patience import PATIENCE, PROCESSES

from dedup_filter import judge
from dedup_filter.errors import ConfigError
from dedup_filter.judge import Judge
from dedup_filter.scan import outputs, streams
from dedup_filter.scan import scan as scan_module
from dedup_filter.scan.scan import scan
from dedup_filter.scan.work import Scan, Work
from dedup_filter.store.sqlite_store import SqliteStore

STEPS = [
    (scan_module, ["found_of"]),
    (Judge, ["commit", "flush"]),
    (SqliteStore, ["write"]),
    (Work, ["save", "_forget", "_leave"]),
    (Path, ["replace", "unlink"]),
    (outputs._Lines, ["add", "_marks_of"]),
    (outputs._Records, ["add", "_copy"]),
    (streams.Stream, ["read"]),
    (outputs.ParquetOutput, ["write", "close"]),
]
"""What is counted, before and after each call."""


def scan_and_be_killed(job: Scan, steps: int) -> bool:
    """Let a process scan that is killed after so many steps; tell whether it was."""
    scanner = PROCESSES.Process(target=_scan, args=(job, steps))
    scanner.start()
    scanner.join(PATIENCE)
    assert scanner.exitcode in (0, -signal.SIGKILL)
    return scanner.exitcode != 0


def _scan(job, steps):
    left = [int(steps) + 1]

    def counted(step):
        def call(*arguments, **named):
            _count(left)
            answer = step(*arguments, **named)
            _count(left)
            return answer

        return call

    judge.FULL_BATCH = 3  # pages in a batch
    for owner, names in STEPS:
        for name in names:
            step = owner.__dict__[name]
            is_class = isinstance(step, classmethod)
            made = classmethod(counted(step.__func__)) if is_class else counted(step)
            patch.object(owner, name, made).start()
    # If it was killed at the very end, all is there and it is told so.
    with suppress(ConfigError) if job.output.exists() else nullcontext():
        scan(job)


def _count(left):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
