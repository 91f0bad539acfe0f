"""Time how long all pairs within k bits take, beside other tools and all against all.

    python benchmarks/pairs.py [--json] [--sizes 100000 1000000 10000000] [--distances 3 7]
    python benchmarks/pairs.py --layouts [--sizes 100000 1000000]     which layout is quickest

Fingerprints are random, or skewed: bits that are ones in 30 to 70 of 100, families of near
copies, and a crowd of up to 2,000 within k bits of one template. All tools get the same, in one
run and on one processor; seconds are of the process, the least of the rounds. Each must find as
many pairs as the others.

A peer that would take too long or too much memory is measured at a smaller size, and its time
projected: "projected" is said with each such figure. A tool that sorts is projected in proportion
to the size, which is kind to it, and all against all in proportion to the square.

Peers: faiss (IndexBinaryMultiHash, exact settings) and simhash-pybind (`find_all`, with k + 1 or
k + 2 blocks, the better). That and PyPI's simhash share a module name: install simhash-pybind
first, then `pip install --force-reinstall --no-deps simhash`, and both work.
"""

import argparse
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt
from stopwatch import figure

from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.near_pairs import near_pairs, pair_blocks, pair_layout

Fingerprints = npt.NDArray[np.uint64]
Finder = Callable[[Fingerprints, int], int]

SEED = 20071
CROWD = 2000
MOST_OF_A_PEER = {"simhash-pybind": 1_000_000, "faiss": 1_000_000, "all against all": 50_000}
GROWTH = {"simhash-pybind": 1, "faiss": 1, "all against all": 2}


def random_fingerprints(count: int, _: int) -> Fingerprints:
    """Return fingerprints whose bits are fair coins."""
    return np.random.default_rng(SEED).integers(0, 2**64, count, np.uint64)


def skewed_fingerprints(count: int, distance: int) -> Fingerprints:
    """Return fingerprints as templates, mirrors and real words make them."""
    rng = np.random.default_rng(SEED)
    entries = np.zeros(count, np.uint64)
    for bit, share in enumerate(rng.uniform(0.3, 0.7, 64)):
        entries |= (rng.random(count) < share).astype(np.uint64) << np.uint64(bit)
    copies = count // 10  # a tenth are near copies of others
    entries[:copies] = entries[copies : 2 * copies] ^ _damage(rng, copies, distance)
    crowd = min(CROWD, count // 100)
    entries[-crowd:] = entries[-1] ^ _damage(rng, crowd, distance)
    return entries


def _damage(rng: np.random.Generator, count: int, bits: int) -> Fingerprints:
    """Return words with at most so many bits set."""
    words = np.zeros(count, np.uint64)
    for _ in range(bits):
        words |= np.uint64(1) << rng.integers(0, 64, count, np.uint64)
    return words


def by_library(fingerprints: Fingerprints, distance: int) -> int:
    """Count what this library finds."""
    return len(near_pairs(fingerprints, distance))


def by_library_in_blocks(fingerprints: Fingerprints, distance: int) -> int:
    """Count it block by block: no list of pairs is made."""
    return sum(map(len, pair_blocks(fingerprints, distance)))


def by_pybind(blocks_more: int) -> Finder:
    """Return simhash-pybind's search with k plus so many blocks."""
    find_all = import_module("simhash._simhash").find_all

    def count(fingerprints: Fingerprints, distance: int) -> int:
        return len(find_all(set(fingerprints.tolist()), distance + blocks_more, distance))

    return count


def by_faiss(fingerprints: Fingerprints, distance: int) -> int:
    """Count what faiss finds by k + 1 exact hash tables, half of it: each pair is found twice."""
    import faiss

    faiss.omp_set_num_threads(1)
    codes = np.unique(fingerprints).view(np.uint8).reshape(-1, 8)
    tables = distance + 1
    index = faiss.IndexBinaryMultiHash(64, tables, 64 // tables)
    index.add(codes)
    limits, _, _ = index.range_search(codes, distance + 1)  # nearer than this
    return (int(limits[-1]) - len(codes)) // 2


def by_scan(fingerprints: Fingerprints, distance: int) -> int:
    """Count by comparing all with all in numpy."""
    entries = np.unique(fingerprints)
    return sum(
        int((np.bitwise_count(entries[place + 1 :] ^ entry) <= distance).sum())
        for place, entry in enumerate(entries)
    )


def peers(distance: int) -> dict[str, list[Finder]]:
    """Return the peers that are installed and made for such a distance; of several the best."""
    found: dict[str, list[Finder]] = {"all against all": [by_scan]}
    if find_spec("simhash") and find_spec("simhash._simhash") and distance <= 5:
        found["simhash-pybind"] = [by_pybind(1), by_pybind(2)]
    if find_spec("faiss") and 64 % (distance + 1) == 0:  # other prefixes would not be exact
        found["faiss"] = [by_faiss]
    return found


def seconds(find: Finder, fingerprints: Fingerprints, distance: int) -> tuple[float, int]:
    """Return the time that one search took, and how many pairs it found."""
    started = time.process_time()
    found = find(fingerprints, distance)
    return time.process_time() - started, found


def least(
    finders: list[Finder], fingerprints: Fingerprints, distance: int, rounds: int
) -> tuple[float, int]:
    """Return the least time of several rounds and ways, and the pairs."""
    runs = [seconds(find, fingerprints, distance) for find in finders for _ in range(rounds)]
    counts = {count for _, count in runs}
    assert len(counts) == 1, f"one tool found different numbers of pairs: {counts}"
    return min(time for time, _ in runs), counts.pop()


def compare(
    name: str, make: Callable[[int, int], Fingerprints], size: int, distance: int, *, as_json: bool
) -> None:
    """Measure one size of one kind at one distance, and all peers beside it."""
    fingerprints = make(size, distance)
    case = f"{name} {size:,} k={distance}"
    rounds = 3 if size <= 1_000_000 else 2
    own, pairs = least([by_library], fingerprints, distance, rounds)
    figure(case, "pairs", pairs, "pairs", as_json=as_json)
    figure(case, "near_pairs", own, "s", as_json=as_json)
    blocks, _ = least([by_library_in_blocks], fingerprints, distance, rounds)
    figure(case, "pair_blocks", blocks, "s", as_json=as_json)
    for peer, finders in peers(distance).items():
        measured = min(size, MOST_OF_A_PEER[peer])
        part = fingerprints if measured == size else make(measured, distance)
        taken, found = least(finders, part, distance, 1)
        expected = pairs if measured == size else by_library_in_blocks(part, distance)
        assert found == expected, f"{peer} found {found} pairs, this library {expected}"
        factor = (size / measured) ** GROWTH[peer]
        label = peer if factor == 1 else f"{peer}, projected from {measured:,}"
        figure(case, label, taken * factor, "s", as_json=as_json)
        figure(case, f"{label}: times as long", taken * factor / own, "", as_json=as_json)


def compare_layouts(size: int, distance: int, *, as_json: bool) -> None:
    """Measure layouts with a block more and a block less than the one that is chosen."""
    fingerprints = random_fingerprints(size, distance)
    chosen = pair_layout(size) or Layout(9)
    for blocks in range(max(chosen.block_count - 1, 3), chosen.block_count + 2):
        layout = Layout(blocks)
        started = time.process_time()
        sum(map(len, pair_blocks(fingerprints, distance, layout)))
        taken = time.process_time() - started
        label = f"{layout!r}, chosen" if layout == chosen else repr(layout)
        figure(f"{size:,} k={distance}", label, taken, "s", as_json=as_json)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--distances", type=int, nargs="+", default=[3])
    parser.add_argument(
        "--kinds", nargs="+", choices=("random", "skewed"), default=["random", "skewed"]
    )
    parser.add_argument("--layouts", action="store_true", help="by layout")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    kinds = {"random": random_fingerprints, "skewed": skewed_fingerprints}
    for size in options.sizes:
        for distance in options.distances:
            if options.layouts:
                compare_layouts(size, distance, as_json=options.json)
                continue
            for kind in options.kinds:
                compare(kind, kinds[kind], size, distance, as_json=options.json)


if __name__ == "__main__":
    main()
