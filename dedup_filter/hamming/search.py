"""A fingerprint and what is stored -> the pairs within a distance of it.

    tables (1 or 2)     ->  candidates ─┬─ compared at once ─┬─ hits -> first tables -> rows
    fresh entries       ->  all of them ┘                    └─ places -> rows
    a lone first table  ->  all of it, compared by itself        places -> rows

Two sealed tables are asked while small runs grow beside the large ones; a pair is in the first
table of exactly one of them. An entry may be hit in several tables, its rows are had once.

Where nearly all entries share a prefix the tables have more candidates than entries, since each
table has them; then the first table is scanned instead, so that a look-up is never dearer by far
than a scan.

Guarantee: every pair that is stored, not marked, and within the distance, once; nothing else.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.fresh_entries import FreshEntries
from dedup_filter.hamming.index_pairs import NO_PAIRS, Pairs, UInt64Array, distinct
from dedup_filter.hamming.ragged import places_in
from dedup_filter.hamming.sealed_tables import SealedTables

__all__ = ["pairs_within"]

_FEW = 5
"""Hits up to which Python is quicker, one by one, than numpy is for all of them."""


def pairs_within(
    query: int,
    distance: int,
    levels: Sequence[SealedTables],
    fresh: FreshEntries,
    most: int | None = None,
) -> Pairs:
    """Return the pairs within a distance of one fingerprint, in no order.

    With `most`, pairs may be left out that are farther away than so many others.
    """
    found: list[Pairs] = []
    pieces: list[UInt64Array] = []
    in_tables: list[SealedTables] = []
    for tables in levels:
        if distance == 0:
            found += _rows_of(tables, [query])
            continue
        candidates = [] if tables.is_scanned else tables.candidates(query, distance)
        if candidates and sum(map(len, candidates)) <= len(tables.fingerprints):
            in_tables.append(tables)
            pieces += candidates
        else:
            found.append(_scanned(tables, query, distance, most))
    pieces.append(fresh.fingerprints)
    compared = np.concatenate(pieces) if len(pieces) > 1 else pieces[0]
    distances = np.bitwise_count(compared ^ np.uint64(query))
    # Most often there is nothing near, and to find the nearest takes a third of finding all.
    if not len(distances) or distances[distances.argmin()] > distance:
        return Pairs.joined(found)
    near = (distances <= distance).nonzero()[0]
    if most is not None and len(near) > most:
        near = near[distances[near] <= _reach(distances, distance, _hits_of(most, in_tables))]
    first_fresh = len(compared) - len(fresh)
    sealed = int(near.searchsorted(first_fresh)) if in_tables else 0
    if sealed < len(near):
        found.append(fresh.pairs_at(near[sealed:] - first_fresh))
    if sealed:
        hits = _different(compared[near[:sealed]])
        for tables in in_tables:
            found += _rows_of(tables, hits)
    return Pairs.joined(found)


def _hits_of(most: int, in_tables: Sequence[SealedTables]) -> int:
    """Return how many hits are enough to have so many different pairs among them."""
    # A pair is hit at most once in every table, in those being merged as well.
    repeats = sum(1 + len(tables.others) for tables in in_tables)
    dead = sum(len(tables.dead) for tables in in_tables)
    return (most + dead) * max(repeats, 1)


def _reach(distances: npt.NDArray[np.uint8], distance: int, wanted: int) -> int:
    """Return the least distance within which there are so many; the given one at most.

    Cost: a comparison of all for each smaller distance: 1 ns an entry in all, as for `bincount`
    if there are none, and less if some of them are enough.
    """
    reaches = range(distance)
    return next((r for r in reaches if np.count_nonzero(distances <= r) >= wanted), distance)


def _different(hits: UInt64Array) -> list[int] | UInt64Array:
    """Return each fingerprint that was hit once."""
    return sorted(set(hits.tolist())) if len(hits) <= _FEW else distinct(hits)


def _rows_of(tables: SealedTables, fingerprints: list[int] | UInt64Array) -> list[Pairs]:
    """Return the pairs of fingerprints, each given once, that are in tables."""
    if isinstance(fingerprints, list) and not tables.dead:
        return list(map(tables.first.pairs_of, fingerprints))
    spans = tables.first.spans_of(np.asarray(fingerprints, np.uint64))
    return [tables.pairs_at(places_in(*spans))]


def _scanned(tables: SealedTables, query: int, distance: int, most: int | None) -> Pairs:
    """Compare a whole first table by itself."""
    distances = np.bitwise_count(tables.fingerprints ^ np.uint64(query))
    near = distances <= distance
    count = int(np.count_nonzero(near))
    if count == 0:
        return NO_PAIRS
    if most is not None and count > most:
        near = distances <= _reach(distances, distance, most + len(tables.dead))
    return tables.pairs_at(near.nonzero()[0])
