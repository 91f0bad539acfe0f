"""Compare what the planner expects of a layout with what an index of that layout takes.

    python benchmarks/plan.py [--json] [--sizes 100000 1000000] [--distances 3 7 10]

For each size and distance the layouts that are planned best, and one table of each kind that the
literature has: look-up (microseconds of the process, the least of three rounds over random
queries) and bytes an entry. The constants in `dedup_filter.hamming.planner` are fitted to such
figures. An index scans as long as that is quicker than the layout: "scanned" is said then.
"""

import argparse
import time

import numpy as np
from stopwatch import figure

from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.planner import estimate, ranked, scan_limit

SEED = 20071
QUERIES = 300
ROUNDS = 3
MOST_US = 2000
MOST_TABLES = 20
LITERATURE = (Layout(4), Layout(6, 3), Layout(8, 2))


def chosen(distance: int, size: int) -> list[Layout]:
    """Return the five best layouts and those of the literature, as far as they are quick."""
    best = [one for one in ranked(distance, size) if one.layout][:5]
    found = {repr(one.layout): one for one in best}
    for layout in LITERATURE:
        if not layout.is_exact(distance):
            continue
        found.setdefault(repr(layout), estimate(layout, distance, size))
    quick = [one for one in found.values() if one.look_up_us < MOST_US]
    return [one.layout for one in quick if one.layout and one.tables <= MOST_TABLES]


def measured(layout: Layout, distance: int, size: int) -> tuple[float, float]:
    """Return the microseconds of a look-up, and the bytes of an entry."""
    rng = np.random.default_rng(SEED)
    index = HammingIndex(distance, layout=layout)
    index.add_many(rng.integers(0, 2**64, size, np.uint64), np.arange(size))
    index.compact()
    queries = rng.integers(0, 2**64, QUERIES, np.uint64).tolist()
    index.within(queries[0])
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for query in queries:
            index.within(query)
        times.append(time.process_time() - started)
    return min(times) / QUERIES * 1e6, index.nbytes / size


def compare(layout: Layout, distance: int, size: int, *, as_json: bool) -> None:
    """Print what is expected and what is."""
    expected = estimate(layout, distance, size)
    look_up, nbytes = measured(layout, distance, size)
    case = f"{size:,} k={distance} {layout!r}"
    if size <= scan_limit(layout, distance):
        case += " scanned"
    for metric, value, unit in (
        ("look-up expected", expected.look_up_us, "us"),
        ("look-up measured", look_up, "us"),
        ("bytes expected", expected.bytes_per_entry, "bytes/entry"),
        ("bytes measured", nbytes, "bytes/entry"),
    ):
        figure(case, metric, value, unit, as_json=as_json)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--distances", type=int, nargs="+", default=[3, 7, 10])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for size in options.sizes:
        for distance in options.distances:
            for layout in chosen(distance, size):
                compare(layout, distance, size, as_json=options.json)


if __name__ == "__main__":
    main()
