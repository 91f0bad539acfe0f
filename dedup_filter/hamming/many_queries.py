"""Many queries -> the entries near each query in permuted tables.

The queries are sorted in the order of a table and pass over it once for each probe. So entries
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
from dedup_filter.hamming.pairs import FINGERPRINT_BITS, IntpArray, UInt64Array, places_in
from dedup_filter.hamming.table import Table

_RANGES = 1 << 16
"""Ranges looked up in one call: one for each query and probe."""
_BLOCK = 1 << 16
"""Entries compared in one call; a longer range is compared as a whole."""


def near_in_tables(
    tables: Sequence[Table], queries: UInt64Array, distance: int
) -> Iterator[tuple[IntpArray, Table, IntpArray]]:
    """Yield (numbers of queries, a table, places in its run of an entry near each); each pair once.

    `tables`: all that the distance needs; fresh pairs are left out.
    """
    for number, table in enumerate(tables):
        for owners, places in _near_in_table(table, queries, distance):
            differing = table.entries[places] ^ queries[owners]
            is_new = table.shape.finds(differing, distance)
            for earlier in tables[:number]:
                is_new &= ~earlier.shape.finds(differing, distance)
            yield owners[is_new], table, places[is_new]


def _near_in_table(
    table: Table, queries: UInt64Array, distance: int
) -> Iterator[tuple[IntpArray, IntpArray]]:
    probes = probe_keys(table.shape, distance, table.bits)
    permuted = table.shape.permuted(queries)
    order = permuted.argsort()
    keys = (permuted[order] >> np.uint64(FINGERPRINT_BITS - table.bits)).astype(np.intp)
    for begin in range(0, len(order), _RANGES):
        numbers = order[begin : begin + _RANGES]
        together = _RANGES // len(numbers)
        for first in range(0, len(probes), together):
            some = probes[first : first + together, np.newaxis]
            starts, lengths = table.ranges((keys[begin : begin + _RANGES] ^ some).ravel())
            owners = np.broadcast_to(numbers, (len(some), len(numbers))).ravel()
            for piece in _pieces(lengths):
                places = places_in(starts[piece], lengths[piece])
                query_of = owners[piece].repeat(lengths[piece])
                is_near = np.bitwise_count(table.entries[places] ^ queries[query_of]) <= distance
                if is_near.any():
                    yield query_of[is_near], places[is_near]


def _pieces(sizes: IntpArray) -> Iterator[slice]:
    """Cut sizes into pieces whose sums are about `_BLOCK`."""
    full = np.flatnonzero(np.diff(sizes.cumsum() // _BLOCK)) + 1
    for first, last in pairwise([0, *full.tolist(), len(sizes)]):
        yield slice(first, last)
