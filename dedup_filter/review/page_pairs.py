"""Recorded pages -> all near pairs; the clusters of pages that repeat one another.

Pages with the same fingerprint are near; distinct fingerprints are paired by `hamming/near_pairs`.
A page without a fingerprint is near to no page. A near page need not be a repeat: the filter has
compared near pages and recorded its verdicts. So clusters are made of these verdicts.

Cost: as `pair_blocks`, and 50 ns a pair; 1 us a page of a cluster. n pages with one fingerprint
make n**2 / 2 pairs, which are yielded piece by piece.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from dedup_filter.hamming.near_pairs import pair_blocks
from dedup_filter.hamming.pairs import IntpArray
from dedup_filter.store.protocol import Entries


def page_pairs(entries: Entries, max_distance: int) -> Iterator[IntpArray]:
    """Yield all pairs of pages within a distance: places in the entries, (n, 2), lesser first."""
    places = entries.have_fingerprints.nonzero()[0]
    places = places[np.argsort(entries.fingerprints[places], kind="stable")]
    values, starts, sizes = np.unique(
        entries.fingerprints[places], return_index=True, return_counts=True
    )

    def members(group: int) -> IntpArray:
        return places[starts[group] : starts[group] + sizes[group]]

    for group in (sizes > 1).nonzero()[0].tolist():
        alike = members(group)
        for number in range(1, len(alike)):
            yield _pairs(alike[:-number], alike[number:])
    for near in pair_blocks(values, max_distance):
        groups = values.searchsorted(near)
        are_single = (sizes[groups] == 1).all(axis=1)
        yield _pairs(*places[starts[groups[are_single]]].T)
        for left, right in groups[~are_single].tolist():
            others = members(right)
            for member in members(left):
                yield _pairs(np.full(len(others), member), others)


def page_clusters(repeats: Iterable[tuple[int, int, int]]) -> Iterator[tuple[list[int], int]]:
    """Yield the clusters of dropped pages (see `Recorded.repeats`), in the order of their first.

    A cluster is the numbers of a kept page and of the pages that were dropped for it, in the order
    of their arrival, and the most bits between the kept page and another. There are no chains, as
    each page was confirmed to repeat the first.
    """
    dropped = defaultdict(list)
    for page, original, distance in sorted(repeats):
        dropped[original].append((page, distance))
    for original, repeating in sorted(dropped.items()):
        pages, distances = zip(*repeating, strict=True)
        yield [original, *pages], max(distances)


def _pairs(lefts: IntpArray, rights: IntpArray) -> IntpArray:
    return np.sort(np.stack([lefts, rights], axis=1), axis=1)
