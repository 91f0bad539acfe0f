"""Time many fingerprints asked for together, beside the same asked for one by one.

    python benchmarks/batch.py [--json] [--stored 1e7] [--asked 1e5,1e6] [--distances 3]

Fingerprints are those of benchmarks/index.py, random and skewed; a tenth of those asked for are two
bits from a stored one. Both ways search the same index in the same run, "one by one" a thousand of
them. CPU time.
"""

import argparse
import time

import numpy as np
from index import fingerprints, numbers
from index_peers import UInt64Array
from stopwatch import figure

from dedup_filter import HammingIndex

ONE_BY_ONE = 1000


def asked_for(stored: UInt64Array, kind: str, count: int) -> UInt64Array:
    """Return fingerprints to ask for, those near to a stored one among them."""
    generator = np.random.default_rng(3)
    asked = fingerprints(count, kind, seed=99)
    near = generator.choice(count, count // 10, replace=False)
    asked[near] = stored[generator.integers(0, len(stored), len(near))] ^ np.uint64(1 << 50 | 1)
    return asked


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--stored", type=lambda text: int(float(text)), default=10_000_000)
    parser.add_argument("--asked", type=numbers, default=numbers("1e5,1e6"))
    parser.add_argument("--distances", type=numbers, default=[3])
    parser.add_argument("--kinds", default="random,skewed")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for kind in options.kinds.split(","):
        stored = fingerprints(options.stored, kind, seed=1)
        for distance in options.distances:
            index = HammingIndex(distance, expected=len(stored))
            index.add_many(stored, np.arange(len(stored)))
            for count in options.asked:
                asked = asked_for(stored, kind, count)
                started = time.process_time()
                found = len(index.within_many(asked).queries)
                together = (time.process_time() - started) / count * 1e6
                few = asked[:: max(count // ONE_BY_ONE, 1)].tolist()
                started = time.process_time()
                for query in few:
                    index.within(query)
                singly = (time.process_time() - started) / len(few) * 1e6
                case = f"{kind} {len(stored):,} k={distance} {count:,} asked"
                for metric, value, unit in (
                    ("together", together, "us each"),
                    ("one by one", singly, "us each"),
                    ("one by one / together", singly / together, "times"),
                    ("found", found / count, "each"),
                ):
                    figure(case, metric, value, unit, as_json=options.json)


if __name__ == "__main__":
    main()
