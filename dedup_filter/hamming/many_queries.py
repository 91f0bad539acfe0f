"""Many queries -> the entries near each query in the runs of permuted tables.

The queries are sorted in the order of a run and pass over the run once for each probe. So entries
that one query reads are still in the processor's cache for the next query. A table reports a pair
only if no earlier table finds it. Memory is bounded: some arrays of `_BLOCK` entries, or of all
entries with one prefix.

Manku, Jain and Das Sarma (2007), section 4 (batch queries). Where we differ: there the queries are
in tables; here the stored fingerprints are.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from dedup_filter.hamming.layout import probe_keys
from dedup_filter.hamming.pairs import IntpArray, UInt64Array, places_in
from dedup_filter.hamming.run import Run, keys_of

_RANGES = 1 << 16
"""Ranges looked up in one call: one for each query and probe."""
_BLOCK = 1 << 16
"""Entries compared in one call; a longer range is compared as a whole."""


def near_in_runs(
    runs: Sequence[Run], queries: UInt64Array, distance: int
) -> Iterator[tuple[IntpArray, Run, IntpArray]]:
    """Yield (numbers of queries, a run, places in it of an entry near each query); each pair once.

    `runs`: the runs of all tables that the distance needs.
    """
    for number, run in enumerate(runs):
        earlier = [each.shape for each in runs[:number]]
        for owners, places in _near_in_run(run, queries, distance):
            differing = run.entries[places] ^ queries[owners]
            is_new = run.shape.finds(differing, distance)
            for shape in earlier:
                is_new &= ~shape.finds(differing, distance)
            yield owners[is_new], run, places[is_new]


def _near_in_run(
    run: Run, queries: UInt64Array, distance: int
) -> Iterator[tuple[IntpArray, IntpArray]]:
    probes = probe_keys(run.shape, distance, run.bits)
    permuted = run.shape.permuted(queries)
    order = permuted.argsort()
    keys = keys_of(permuted[order], run.bits)
    for begin in range(0, len(order), _RANGES):
        numbers = order[begin : begin + _RANGES]
        together = _RANGES // len(numbers)
        for first in range(0, len(probes), together):
            some = probes[first : first + together, np.newaxis]
            starts, lengths = run.ranges((keys[begin : begin + _RANGES] ^ some).ravel())
            owners = np.broadcast_to(numbers, (len(some), len(numbers))).ravel()
            for piece in _pieces(lengths):
                places = places_in(starts[piece], lengths[piece])
                query_of = owners[piece].repeat(lengths[piece])
                is_near = np.bitwise_count(run.entries[places] ^ queries[query_of]) <= distance
                if is_near.any():
                    yield query_of[is_near], places[is_near]


def _pieces(sizes: IntpArray) -> Iterator[slice]:
    """Cut sizes into pieces whose sums are about `_BLOCK`."""
    full = np.flatnonzero(np.diff(sizes.cumsum() // _BLOCK)) + 1
    for first, last in pairwise([0, *full.tolist(), len(sizes)]):
        yield slice(first, last)
