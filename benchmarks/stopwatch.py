"""Calls -> CPU milliseconds each, and figures -> a table for people or JSON for programs.

Times are of the process, not of the wall: other programs on the machine stretch the latter.
Of several rounds over all samples the median counts.
"""

import json
import statistics
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

__all__ = ["figure", "milliseconds"]

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


def figure(case: str, metric: str, value: float, unit: str, *, as_json: bool) -> None:
    """Print one figure."""
    value = float(f"{value:.4g}")
    if as_json:
        print(json.dumps({"case": case, "metric": metric, "value": value, "unit": unit}))
    else:
        print(f"{case:24} {metric:36} {value:>10g} {unit}")
