"""Fingerprints and what is stored -> the pairs within a distance of each, nearest first.

    tables (old, young)  ->  candidates ─┬─ compared at once ─┬─ hits -> first tables -> rows
    fresh entries        ->  all of them ┘                    └─ places -> rows
    a lone first table   ->  all of it, compared by itself        places -> rows

Each stored pair is in the first table of either the old or the young tables, or is fresh. A look-up
may find an entry in several tables; it reads the entry's rows once.

If nearly all entries share a prefix, there are more candidates than entries, as every table has
them. The first table is then scanned instead, so a look-up costs at most a little more than a scan.

A look-up of many fingerprints makes the probes of all of them in one table, then in the next, a
million comparisons at a time. With fresh entries and a lone first table each is compared by itself.

Results are arrays: a `Match` object for each of thousands of neighbours would cost more than the
search. Only `HammingIndex.within` makes `Match`es.

Guarantee: every pair that is stored, not marked as removed, and within the distance, once; nothing
else.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.fresh_entries import FreshEntries
from dedup_filter.hamming.pairs import (
    NO_PAIRS,
    IntpArray,
    Pairs,
    RowArray,
    UInt64Array,
    distinct,
    places_in,
)
from dedup_filter.hamming.tables import Tables
from dedup_filter.model import Match

__all__ = ["Neighbours", "NeighboursOfMany", "pairs_within", "pairs_within_of_many"]

UInt8Array = npt.NDArray[np.uint8]

_FEW = 5
"""Hits up to which Python is quicker, one by one, than numpy is for all of them."""


class Neighbours(NamedTuple):
    """Stored rows within reach of one fingerprint, nearest first, then by row and fingerprint."""

    rows: RowArray
    fingerprints: UInt64Array
    distances: UInt8Array

    @classmethod
    def of(cls, query: int, pairs: Pairs, most: int | None = None) -> "Neighbours":
        """Put pairs in order of their distance from the query; keep the `most` nearest."""
        if not pairs.size:
            return _NOBODY
        fingerprints, rows = pairs
        distances: UInt8Array = np.bitwise_count(fingerprints ^ np.uint64(query))
        if len(rows) > 1 or most == 0:
            order = np.lexsort((fingerprints, rows, distances))[:most]
            fingerprints, rows, distances = fingerprints[order], rows[order], distances[order]
        return cls(rows, fingerprints, distances)

    def first(self, count: int) -> "Neighbours":
        """Return the first ones."""
        return Neighbours(self.rows[:count], self.fingerprints[:count], self.distances[:count])

    def matches(self) -> list[Match]:
        """Return the same as `Match`es."""
        if not len(self.rows):
            return []
        columns = (self.rows.tolist(), self.fingerprints.tolist(), self.distances.tolist())
        return list(map(Match._make, zip(*columns, strict=True)))


_NOBODY = Neighbours(NO_PAIRS.rows, NO_PAIRS.fingerprints, np.empty(0, np.uint8))


class NeighboursOfMany(NamedTuple):
    """Stored rows within reach of several fingerprints, side by side.

    Sorted by query; those of one query nearest first, then by row and fingerprint.
    """

    queries: IntpArray
    """Which of the fingerprints asked for, counted from 0."""
    rows: RowArray
    fingerprints: UInt64Array
    distances: UInt8Array

    @classmethod
    def of(cls, asked: UInt64Array, queries: IntpArray, pairs: Pairs) -> "NeighboursOfMany":
        """Put pairs, each found by one of the queries, in order."""
        distances: UInt8Array = np.bitwise_count(pairs.fingerprints ^ asked[queries])
        order = np.lexsort((pairs.fingerprints, pairs.rows, distances, queries))
        return cls(queries[order], pairs.rows[order], pairs.fingerprints[order], distances[order])


def pairs_within(
    query: int,
    distance: int,
    sealed: Sequence[Tables],
    fresh: FreshEntries,
    most: int | None = None,
) -> Pairs:
    """Return the pairs within a distance of one fingerprint, in no order.

    With `most`, pairs may be missing if so many others are nearer.
    """
    if distance == 0:
        rows = fresh.rows_of(query)
        same = Pairs(np.full(len(rows), query, np.uint64), np.array(rows, np.int64))
        return Pairs.joined([same, *(tables.pairs_of(query) for tables in sealed)])
    found: list[Pairs] = []
    pieces: list[UInt64Array] = []
    in_tables: list[Tables] = []
    for tables in sealed:
        candidates = [] if tables.is_scanned else tables.candidates(query, distance)
        if candidates and sum(map(len, candidates)) <= len(tables.first):
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
    from_tables = int(near.searchsorted(first_fresh)) if in_tables else 0
    if from_tables < len(near):
        found.append(fresh.pairs_at(near[from_tables:] - first_fresh))
    if from_tables:
        found += _pairs_of(in_tables, compared[near[:from_tables]])
    return Pairs.joined(found)


def pairs_within_of_many(
    asked: UInt64Array, distance: int, sealed: Sequence[Tables], fresh: FreshEntries
) -> tuple[IntpArray, Pairs]:
    """Return the pairs within a distance of each of many fingerprints, and each pair's query."""
    alone = [tables for tables in sealed if tables.is_scanned]
    is_any = len(alone) + len(fresh) > 0
    found = [pairs_within(query, distance, alone, fresh) for query in asked.tolist() if is_any]
    counts = np.fromiter((pairs.size for pairs in found), np.intp)
    queries = [np.arange(len(found)).repeat(counts)]
    in_tables = [tables for tables in sealed if not tables.is_scanned]
    hit_by, hits = _hits_of_many(in_tables, asked, distance)
    for tables in in_tables:
        starts, lengths = tables.spans_of(hits)
        places, owners = places_in(starts, lengths), hit_by.repeat(lengths)
        if tables.dead:
            owners = owners[~np.isin(places, tables.dead_places)]
        queries.append(owners)
        found.append(tables.pairs_at(places))
    return np.concatenate(queries), Pairs.joined(found)


def _hits_of(most: int, in_tables: Sequence[Tables]) -> int:
    """Return how many hits are enough to have so many different pairs among them."""
    # A pair is hit at most once in every table, in those being merged as well.
    repeats = sum(len(tables.runs) for tables in in_tables)
    dead = sum(len(tables.dead) for tables in in_tables)
    return (most + dead) * max(repeats, 1)


def _reach(distances: UInt8Array, distance: int, wanted: int) -> int:
    """Return the least distance within which there are so many; the given one at most.

    Cost: a comparison of all for each smaller distance: 1 ns an entry in all, as for `bincount`
    if there are none, and less if some of them are enough.
    """
    reaches = range(distance)
    return next((r for r in reaches if np.count_nonzero(distances <= r) >= wanted), distance)


def _pairs_of(in_tables: Sequence[Tables], hits: UInt64Array) -> list[Pairs]:
    """Return the pairs of the fingerprints that were hit, some of them several times."""
    if len(hits) <= _FEW:
        different = set(hits.tolist())
        pairs = [tables.pairs_of(hit) for tables in in_tables for hit in different]
        return [some for some in pairs if some is not NO_PAIRS]  # joining costs 1 us for each
    ascending = distinct(hits)
    return [tables.pairs_at(places_in(*tables.spans_of(ascending))) for tables in in_tables]


def _scanned(tables: Tables, query: int, distance: int, most: int | None) -> Pairs:
    """Compare a whole first table by itself."""
    distances = np.bitwise_count(tables.first.entries ^ np.uint64(query))
    near = distances <= distance
    count = int(np.count_nonzero(near))
    if count == 0:
        return NO_PAIRS
    if most is not None and count > most:
        near = distances <= _reach(distances, distance, most + len(tables.dead))
    return tables.pairs_at(near.nonzero()[0])


def _hits_of_many(
    in_tables: Sequence[Tables], asked: UInt64Array, distance: int
) -> tuple[IntpArray, UInt64Array]:
    """Return each query with each fingerprint that it hits, once."""
    if distance == 0:
        return np.arange(len(asked)), asked
    found = [hits for tables in in_tables for hits in tables.hits_of_many(asked, distance)]
    found.append((np.empty(0, np.intp), NO_PAIRS.fingerprints))
    owners, hits = (np.concatenate(column) for column in zip(*found, strict=True))
    different = Pairs(hits, owners).not_in(NO_PAIRS)
    return different.rows, different.fingerprints
