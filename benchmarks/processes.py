"""A command -> what it and all processes that it started took: seconds by the clock, CPU seconds.

Processes that outlive their parent, as those of a fork server, are waited for and counted. Linux
only.
"""

import ctypes
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import NamedTuple

__all__ = ["Command", "Cost", "Memory", "run", "watch_memory"]

Command = Sequence[str | Path]

ADOPT_ORPHANS = 36
"""Of prctl: PR_SET_CHILD_SUBREAPER."""
EVERY = 0.2
"""Seconds between two looks at memory."""


class Cost(NamedTuple):
    """Seconds."""

    wall: float
    cpu: float

    def plus(self, other: "Cost") -> "Cost":
        """Return what both take together."""
        return Cost(self.wall + other.wall, self.cpu + other.cpu)


class Memory(NamedTuple):
    """The most bytes held at any time, without mapped files: the system can take these back."""

    process: int
    """By the process that was started."""
    all: int
    """By it and its descendants together; what they share counts once for each."""


def run(
    command: Command,
    log: Path,
    *,
    directory: Path | None = None,
    watch: Callable[[int], None] = lambda _: None,
) -> Cost:
    """Run a command to its end; `watch` is told its process. Ends this program if it fails."""
    ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1)
    before, started = _cpu(), time.perf_counter()
    with log.open("w") as written:
        process = subprocess.Popen(command, stdout=written, stderr=written, cwd=directory)
        watch(process.pid)
        process.wait()
        wall = time.perf_counter() - started
    with suppress(ChildProcessError):
        while True:
            os.wait()
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{log.read_text()[-3000:]}")
    return Cost(wall, _cpu() - before)


def _cpu() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def watch_memory(command: Command, log: Path) -> tuple[Cost, Memory]:
    """Run a command, and look at the memory of its processes all the time."""
    held: list[Memory] = []

    def look(process: int) -> None:
        while Path(f"/proc/{process}").exists():
            sizes = {number: _held(number) for number in (process, *_descendants(process))}
            held.append(Memory(sizes[process], sum(sizes.values())))
            time.sleep(EVERY)

    def watch(process: int) -> None:
        threading.Thread(target=look, args=(process,), daemon=True).start()

    cost = run(command, log, watch=watch)
    return cost, Memory(*(max(sizes) for sizes in zip(*held, strict=True)))


def _descendants(process: int) -> Iterator[int]:
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in map(int, (thread / "children").read_text().split()):
                yield child
                yield from _descendants(child)


def _held(process: int) -> int:
    """Return the bytes that a process has for itself: without files that are mapped."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return 0
