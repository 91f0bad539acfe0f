"""Recorded pages -> all pairs of them that are near, and the clusters that these make.

Pages with the same fingerprint are near; distinct fingerprints are paired by `hamming/near_pairs`.
A page without a fingerprint is near to none. Pairs and clusters are of pages by number, so the
first of a cluster is the page that came first.

Cost: as `pair_blocks`, and 50 ns a pair. n pages with one fingerprint make n**2 / 2 pairs, which
are yielded little by little; clusters need only n of them.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.clusters import DisjointSets
from dedup_filter.hamming.near_pairs import pair_blocks
from dedup_filter.hamming.pairs import IntpArray
from dedup_filter.upkeep.results import Entries


class _Groups:
    """Pages with fingerprints, those with the same one together."""

    def __init__(self, entries: Entries) -> None:
        places = entries.have_fingerprints.nonzero()[0]
        values = entries.fingerprints[places]
        order = np.argsort(values, kind="stable")
        self.places: IntpArray = places[order]
        """Places in the entries; ascending within a group."""
        self.values, self.starts, self.sizes = np.unique(
            values[order], return_index=True, return_counts=True
        )

    def of(self, values: npt.NDArray[np.uint64]) -> IntpArray:
        """Return the numbers of the groups with these fingerprints."""
        return np.searchsorted(self.values, values)

    def members(self, group: int) -> IntpArray:
        """Return the places of a group."""
        start = self.starts[group]
        return self.places[start : start + self.sizes[group]]


def page_pairs(entries: Entries, max_distance: int) -> Iterator[IntpArray]:
    """Yield all pairs of pages within a distance as places in the entries, (n, 2), lesser first."""
    groups = _Groups(entries)
    for group in (groups.sizes > 1).nonzero()[0].tolist():
        members = groups.members(group)
        for number in range(1, len(members)):
            yield _pairs(members[:-number], members[number:])
    for values in pair_blocks(groups.values, max_distance):
        numbers = groups.of(values)
        sizes = groups.sizes[numbers]
        are_single = (sizes == 1).all(axis=1)
        firsts = groups.places[groups.starts[numbers[are_single]]]
        if len(firsts):
            yield _pairs(firsts[:, 0], firsts[:, 1])
        for left, right in numbers[~are_single].tolist():
            others = groups.members(right)
            for member in groups.members(left):
                yield _pairs(np.full(len(others), member), others)


def recorded_pairs(
    entries: Entries, max_distance: int, repeats: Sequence[tuple[int, int, int]]
) -> tuple[IntpArray, list[int]]:
    """Return the pairs of page and original that `page_pairs` does not yield, and their distances.

    A page is looked up by two texts, and stored with one: by that it may be far from its original.
    """
    if not len(repeats):
        return np.empty((0, 2), np.intp), []
    pages, originals, distances = np.array(repeats).T
    places = np.searchsorted(entries.pages, np.stack([originals, pages], axis=1))
    values = entries.fingerprints[places]
    are_near = np.bitwise_count(values[:, 0] ^ values[:, 1]) <= max_distance
    are_found = are_near & entries.have_fingerprints[places].all(axis=1)
    are_asked = ~are_found & (distances <= max_distance)
    return places[are_asked], distances[are_asked].tolist()


def page_clusters(
    entries: Entries, max_distance: int, repeats: Sequence[tuple[int, int, int]] = ()
) -> list[IntpArray]:
    """Return the connected components of near pages as places in the entries, the first first.

    `repeats` (see `Recorded`): a page that was dropped belongs to its original, too.
    """
    groups, sets = _Groups(entries), DisjointSets(len(entries.pages))
    firsts = groups.places[groups.starts]
    sets.unite(np.repeat(firsts, groups.sizes), groups.places)
    for values in pair_blocks(groups.values, max_distance):
        places = firsts[groups.of(values)]
        sets.unite(places[:, 0], places[:, 1])
    linked = [repeat[:2] for repeat in repeats if repeat[2] <= max_distance]
    if linked:
        pages, originals = np.searchsorted(entries.pages, np.array(linked)).T
        sets.unite(pages, originals)
    return sets.clusters()


def _pairs(lefts: IntpArray, rights: IntpArray) -> IntpArray:
    return np.sort(np.stack([lefts, rights], axis=1), axis=1)
