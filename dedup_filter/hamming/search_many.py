"""Many fingerprints and what is stored -> the pairs within a distance of each of them.

As `search`, a million comparisons at a time: all probes of all queries in one table, then the
next; what is not in tables is compared with all queries.

Guarantee: as there, for each query.
"""

from collections.abc import Sequence

import numpy as np

from dedup_filter.hamming.fresh_entries import FreshEntries
from dedup_filter.hamming.index_pairs import NO_PAIRS, IntpArray, Pairs, UInt64Array
from dedup_filter.hamming.ragged import places_in
from dedup_filter.hamming.sealed_tables import SealedTables

__all__ = ["pairs_within_of_many"]

_CHUNK = 1 << 20
"""Comparisons of one step in a scan for many queries."""


def pairs_within_of_many(
    asked: UInt64Array, distance: int, levels: Sequence[SealedTables], fresh: FreshEntries
) -> tuple[IntpArray, Pairs]:
    """Return the pairs within a distance of each of many fingerprints, and who asked for them."""
    queries: list[IntpArray] = [np.empty(0, np.intp)]
    found: list[Pairs] = [NO_PAIRS]
    in_tables = [tables for tables in levels if not (tables.is_scanned and distance)]
    for tables in levels:
        if tables not in in_tables:
            places, owners = _scan_of_many(tables.first.run.entries, asked, distance)
            _collect(tables, owners, places, queries, found)
    places, owners = _scan_of_many(fresh.fingerprints, asked, distance)
    queries.append(owners)
    found.append(Pairs(fresh.fingerprints[places], fresh.rows[places]))
    owners, fingerprints = _hits_of_many(in_tables, asked, distance)
    for tables in in_tables:
        starts, lengths = tables.first.spans_of(fingerprints)
        _collect(tables, owners.repeat(lengths), places_in(starts, lengths), queries, found)
    return np.concatenate(queries), Pairs.joined(found)


def _collect(
    tables: SealedTables,
    owners: IntpArray,
    places: IntpArray,
    queries: list[IntpArray],
    found: list[Pairs],
) -> None:
    if tables.dead:
        is_dead = np.isin(places, tables.dead_places)
        owners, places = owners[~is_dead], places[~is_dead]
    queries.append(owners)
    found.append(tables.first.pairs_at(places))


def _scan_of_many(
    entries: UInt64Array, asked: UInt64Array, distance: int
) -> tuple[IntpArray, IntpArray]:
    """Compare all with all; return places of entries and numbers of queries that are near."""
    places, owners = [np.empty(0, np.intp)], [np.empty(0, np.intp)]
    together = max(_CHUNK // max(len(entries), 1), 1)
    for start in range(0, len(asked) if len(entries) else 0, together):
        queries = asked[start : start + together, np.newaxis]
        who, where = (np.bitwise_count(entries ^ queries) <= distance).nonzero()
        owners.append(who + start)
        places.append(where)
    return np.concatenate(places), np.concatenate(owners)


def _hits_of_many(
    in_tables: Sequence[SealedTables], asked: UInt64Array, distance: int
) -> tuple[IntpArray, UInt64Array]:
    """Return each query with each fingerprint that it hits, once."""
    if distance == 0:
        return np.arange(len(asked)), asked
    owners, hits = [np.empty(0, np.intp)], [np.empty(0, np.uint64)]
    for tables in in_tables:
        for who, entries in tables.hits_of_many(asked, distance):
            owners.append(who)
            hits.append(entries)
    numbers, fingerprints = np.concatenate(owners), np.concatenate(hits)
    order = np.lexsort((fingerprints, numbers))
    numbers, fingerprints = numbers[order], fingerprints[order]
    is_first = np.ones(len(order), bool)
    is_first[1:] = (numbers[1:] != numbers[:-1]) | (fingerprints[1:] != fingerprints[:-1])
    return numbers[is_first], fingerprints[is_first]
