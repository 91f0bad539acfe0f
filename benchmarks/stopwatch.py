"""Calls -> CPU milliseconds each; this process -> its memory; figures -> a table, or lines of JSON.

Times are of the process, not of the wall: other programs on the machine stretch the latter.
Of several rounds over all samples the median counts.
"""

import json
import os
import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

__all__ = ["figure", "milliseconds", "resident"]

Sample = TypeVar("Sample")


def milliseconds(
    work: Callable[[Sample], object], samples: Iterable[Sample], rounds: int = 3
) -> float:
    """Return the mean time of one call, the median of so many rounds."""
    samples = list(samples)
    totals = []
    for _ in range(rounds):
        started = time.process_time()
        for sample in samples:
            work(sample)
        totals.append(time.process_time() - started)
    return statistics.median(totals) / len(samples) * 1000


def resident() -> int:
    """Return the resident memory of this process in bytes; Linux only."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def figure(case: str, metric: str, value: float, unit: str, *, as_json: bool) -> None:
    """Print one figure."""
    value = float(f"{value:.4g}")
    if as_json:
        print(json.dumps({"case": case, "metric": metric, "value": value, "unit": unit}))
    else:
        print(f"{case:24} {metric:36} {value:>10g} {unit}")
