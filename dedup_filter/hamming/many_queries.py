"""Many fingerprints at once -> what is near each in the runs of permuted tables.

The queries are taken in the order of a run, and for each probe they pass over it once, so that what
one query reads is still in the processor's cache for the next. A table reports a pair only if no
earlier table finds it, so what was reported need not be remembered.

Memory is bounded, however many are near: some arrays of `_BLOCK` entries, or of all that share one
prefix.

Manku, Jain and Das Sarma (2007), section 4 (batch queries): there the stored fingerprints are read
in turn and the queries are in tables; here it is the reverse.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from dedup_filter.hamming.layout import probe_keys
from dedup_filter.hamming.pairs import IntpArray, UInt64Array, places_in
from dedup_filter.hamming.run import Run, keys_of

_SPANS = 1 << 16
"""Spans that are looked up at a time: each is of one query and one probe."""
_BLOCK = 1 << 16
"""Entries that are compared in one call; a longer span is compared as a whole."""


def near_in_runs(
    runs: Sequence[Run], queries: UInt64Array, distance: int
) -> Iterator[tuple[IntpArray, Run, IntpArray]]:
    """Yield numbers of queries, and the places in a run of what is near each, each pair once.

    `runs`: those of all tables that the distance needs.
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
    for begin in range(0, len(order), _SPANS):
        numbers = order[begin : begin + _SPANS]
        together = _SPANS // len(numbers)
        for first in range(0, len(probes), together):
            some = probes[first : first + together, np.newaxis]
            starts, lengths = run.spans((keys[begin : begin + _SPANS] ^ some).ravel())
            owners = np.broadcast_to(numbers, (len(some), len(numbers))).ravel()
            for piece in _pieces(lengths):
                places = places_in(starts[piece], lengths[piece])
                asking = owners[piece].repeat(lengths[piece])
                is_near = np.bitwise_count(run.entries[places] ^ queries[asking]) <= distance
                if is_near.any():
                    yield asking[is_near], places[is_near]


def _pieces(sizes: IntpArray) -> Iterator[slice]:
    """Cut sizes into pieces of some `_BLOCK` in all."""
    full = np.flatnonzero(np.diff(sizes.cumsum() // _BLOCK)) + 1
    for first, last in pairwise([0, *full.tolist(), len(sizes)]):
        yield slice(first, last)
