"""Time the index of fingerprints: look-up, batch, insert, merging; its memory; and its peers.

    python benchmarks/index.py [--json] [--sizes 1e5,1e6] [--distances 3,7] [--kinds random]

Each case stores so many fingerprints and asks with some that are k bits from a stored one and
some that are random. All that can be asked is built first, then asked in turn, three rounds:
only ratios within a case are worth quoting. "found" is the share of the planted neighbours that
were found: 1 for what is exact. Skewed fingerprints have bits that are set in a quarter or in
three quarters of them, so that the fullest prefix of 16 bits has 1 % of all entries.

All sizes up to 10 million take about ten minutes for each kind. 50 million (`--sizes 5e7`) are
timed with the numpy scan as the only peer.
"""

import argparse
import gc
import os
import statistics
import time
import tracemalloc
from collections.abc import Iterator
from math import isqrt
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before the peers start their threads

import numpy as np
from index_peers import PEERS, LookUp, UInt64Array
from stopwatch import figure

from dedup_filter import HammingIndex

ROUNDS = 3
SINGLY = 2048
"""Entries that are added one by one: so many are fresh, in the mean, when a crawl asks."""
RARE = np.uint64(0x0F0F_0F0F_0F0F_0F0F)
FREQUENT = np.uint64(0x3030_3030_3030_3030)


def fingerprints(count: int, kind: str, seed: int) -> UInt64Array:
    """Return fingerprints of fair coins, or of bits of which some are rare and some frequent."""
    generator = np.random.default_rng(seed)
    one = generator.integers(0, 2**64, count, np.uint64)
    if kind == "random":
        return one
    other = generator.integers(0, 2**64, count, np.uint64)
    one &= other | ~RARE
    one |= other & FREQUENT
    return one


def queries(stored: UInt64Array, kind: str, distance: int, count: int) -> list[int]:
    """Return queries: every other one is exactly k bits from a stored fingerprint."""
    generator = np.random.default_rng(distance)
    asked = fingerprints(count, kind, seed=99)
    for number in range(0, count, 2):
        value = stored[generator.integers(len(stored))]
        for bit in generator.choice(64, distance, replace=False).tolist():
            value ^= np.uint64(1 << bit)
        asked[number] = value
    found: list[int] = asked.tolist()
    return found


def microseconds(look_ups: dict[str, LookUp], asked: list[int]) -> dict[str, float]:
    """Return the time of one look-up by each, the median of rounds in turn."""
    rounds: dict[str, list[float]] = {name: [] for name in look_ups}
    counts = {name: affordable(look_up, asked) for name, look_up in look_ups.items()}
    for _ in range(ROUNDS):
        for name, look_up in look_ups.items():
            few = asked[: counts[name]]
            started = time.process_time()
            for query in few:
                look_up(query)
            rounds[name].append((time.process_time() - started) / len(few) * 1e6)
    return {name: statistics.median(times) for name, times in rounds.items()}


def affordable(look_up: LookUp, asked: list[int]) -> int:
    """Return how many queries of a round take a second, but 20 at least."""
    started = time.process_time()
    for query in asked[:4]:
        look_up(query)
    each = (time.process_time() - started) / 4
    return min(max(int(1 / max(each, 1e-6)), 20), len(asked))


def found_share(look_up: LookUp, asked: list[int]) -> float:
    """Return the share of planted neighbours that are found."""
    planted = asked[::2][:20]
    return sum(look_up(query) > 0 for query in planted) / len(planted)


def resident_bytes() -> int:
    """Return the memory of this process that is in use, where Linux tells it; else 0."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


class Report:
    """Prints figures of one case."""

    def __init__(self, case: str, *, as_json: bool) -> None:
        self.case, self._as_json = case, as_json

    def figure(self, metric: str, value: float, unit: str) -> None:
        """Print one."""
        figure(self.case, metric, value, unit, as_json=self._as_json)

    def resident(self, name: str, before: int, count: int) -> None:
        """Print what memory is in use now that was not before; of a small case it says little."""
        if count >= 1_000_000 and before:
            used = (resident_bytes() - before) / count
            self.figure(f"{name} bytes, resident", used, "bytes/entry")


def filled_index(stored: UInt64Array, distance: int, report: Report) -> HammingIndex:
    """Fill an index and report what that takes."""
    gc.collect()
    rows = np.arange(len(stored))
    tracemalloc.start()
    resident, started = resident_bytes(), time.process_time()
    index = HammingIndex(distance, expected=len(stored))
    sealed = len(stored) - min(len(stored) // 2, SINGLY)
    index.add_many(stored[:sealed], rows[:sealed])
    taken = time.process_time() - started
    for value, row in zip(stored[sealed:].tolist(), rows[sealed:].tolist(), strict=True):
        index.add(value, row)
    gc.collect()
    count = len(stored)
    report.figure("dedup_filter fill", taken / sealed * 1e6, "us/entry")
    report.figure("dedup_filter bytes, told", index.nbytes / count, "bytes/entry")
    allocated = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    report.figure("dedup_filter bytes, allocated", allocated / count, "bytes/entry")
    report.resident("dedup_filter", resident, count)
    return index


def time_inserts(index: HammingIndex, kind: str, report: Report) -> None:
    """Report mean and longest insert, over as many as a whole round of merging takes."""
    before = len(index)
    count = min(max(isqrt(2 * 4096 * before), 16_384), 524_288) + 3 * 4096
    times = []
    for row, value in enumerate(fingerprints(count, kind, seed=5).tolist(), start=before):
        started = time.process_time()
        index.add(value, row)
        times.append(time.process_time() - started)
    report.figure("dedup_filter insert, mean", statistics.fmean(times) * 1e6, "us")
    report.figure("dedup_filter insert, median", statistics.median(times) * 1e6, "us")
    report.figure("dedup_filter insert, longest", max(times) * 1e3, "ms")
    report.figure("dedup_filter bytes, told, after", index.nbytes / len(index), "bytes/entry")


def peers_of(
    stored: UInt64Array, distance: int, wanted: list[str], report: Report
) -> Iterator[tuple[str, LookUp]]:
    """Make the peers that are wanted and can be had, and report what making them takes."""
    for name in wanted:
        reason = PEERS[name].why_not(len(stored), distance)
        if reason is not None:
            print(f"# {report.case}: {name} left out: {reason}", flush=True)
            continue
        gc.collect()
        resident, started = resident_bytes(), time.process_time()
        yield name, PEERS[name].make(stored, distance)
        taken = (time.process_time() - started) / len(stored) * 1e6
        report.figure(f"{name} fill", taken, "us/entry")
        report.resident(name, resident, len(stored))


def run_case(
    stored: UInt64Array, kind: str, distance: int, wanted: list[str], report: Report
) -> float:
    """Measure one case; return the time of a look-up."""
    index = filled_index(stored, distance, report)
    asked = queries(stored, kind, distance, 400 if distance > 3 else 2000)
    look_ups: dict[str, LookUp] = {"dedup_filter": lambda query: len(index.within(query))}
    look_ups |= dict(peers_of(stored, distance, wanted, report))
    times = microseconds(look_ups, asked)
    ours = times["dedup_filter"]
    for name, taken in times.items():
        report.figure(f"{name} look-up", taken, "us")
        report.figure(f"{name} found", found_share(look_ups[name], asked), "share")
        if name != "dedup_filter":
            report.figure(f"{name} look-up / ours", taken / ours, "times")
    time_inserts(index, kind, report)
    return ours


def numbers(text: str) -> list[int]:
    """Read "1e5,1e6"."""
    return [int(float(number)) for number in text.split(",")]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=numbers, default=numbers("1e5,1e6,1e7"))
    parser.add_argument("--distances", type=numbers, default=[3, 7, 10])
    parser.add_argument("--kinds", default="random,skewed")
    parser.add_argument("--peers", default=",".join(PEERS), help="which of them; '' for none")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    wanted = [name for name in PEERS if name in options.peers.split(",")]
    for kind in options.kinds.split(","):
        for size in options.sizes:
            stored = fingerprints(size, kind, seed=1)
            ours = {}
            for distance in options.distances:
                report = Report(f"{kind} {size:,} k={distance}", as_json=options.json)
                ours[distance] = run_case(stored, kind, distance, wanted, report)
                if distance != options.distances[0]:
                    ratio = ours[distance] / ours[options.distances[0]]
                    report.figure(f"look-up / that at k={options.distances[0]}", ratio, "times")


if __name__ == "__main__":
    main()
