"""Recorded pages -> all near pairs; the clusters of pages that repeat one another.

Pages with the same fingerprint are near; distinct fingerprints are paired by `hamming/near_pairs`.
A page without a fingerprint is near to no page. A near page need not be a repeat: the filter has
compared near pages and recorded its verdicts. So clusters are made of these verdicts, unless the
caller wants clusters of near pages.

Cost: as `pair_blocks`, and 50 ns a pair. n pages with one fingerprint make n**2 / 2 pairs, which
are yielded piece by piece; clusters need only n of them. Clusters of verdicts: 1 us a page.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.hamming.clusters import DisjointSets, split_cluster
from dedup_filter.hamming.near_pairs import pair_blocks
from dedup_filter.hamming.pairs import IntpArray
from dedup_filter.upkeep.results import Entries


class _Groups:
    """Pages with fingerprints, grouped by fingerprint."""

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
    """Yield all pairs of pages within a distance: places in the entries, (n, 2), lesser first."""
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

    A page is looked up by two texts, but stored with one: the fingerprint of the stored text may be
    far from the original's.
    """
    if not len(repeats):
        return np.empty((0, 2), np.intp), []
    pages, originals, distances = np.array(repeats).T
    places = np.searchsorted(entries.pages, np.stack([originals, pages], axis=1))
    values = entries.fingerprints[places]
    are_near = np.bitwise_count(values[:, 0] ^ values[:, 1]) <= max_distance
    are_found = are_near & entries.have_fingerprints[places].all(axis=1)
    are_missing = ~are_found & (distances <= max_distance)
    return places[are_missing], distances[are_missing].tolist()


class Cluster(NamedTuple):
    """Pages that belong together."""

    places: IntpArray
    """Places in the entries; the representative's first, the others ascending."""
    spread: int
    """The most bits between the representative and a member: the distance recorded with the verdict
    on the member, else the distance of the fingerprints."""


def page_clusters(
    entries: Entries,
    repeats: Sequence[tuple[int, int, int]],
    max_distance: int | None = None,
    *,
    near: int | None = None,
    is_split: bool = False,
) -> Iterator[Cluster]:
    """Yield the connected components of pages that repeat one another, in the order of their first.

    A dropped page belongs to its original (`repeats`, see `Recorded`) if the distance is at most
    `max_distance`. So each member was confirmed to repeat the first, and there are no chains. With
    `near`, pages also belong together if their fingerprints differ in at most this many bits. This
    makes chains, and joins pages that the filter found to differ; `is_split` cuts the chains, so
    that every member is near the representative or was dropped for it.

    The representative is the earliest kept page.
    """
    links = _Links(entries, repeats, max_distance)
    sets = DisjointSets(len(entries.pages))
    sets.unite(links.pages, links.originals[links.pages])
    if near is not None:
        groups = _Groups(entries)
        firsts = groups.places[groups.starts]
        sets.unite(np.repeat(firsts, groups.sizes), groups.places)
        for values in pair_blocks(groups.values, near):
            places = firsts[groups.of(values)]
            sets.unite(places[:, 0], places[:, 1])

    def are_like(one: int, others: IntpArray) -> npt.NDArray[np.bool_]:
        are_near = links.distances(one, others) <= (-1 if near is None else near)
        have_bits = entries.have_fingerprints[one] & entries.have_fingerprints[others]
        is_linked = (links.originals[others] == one) | (others == links.originals[one])
        are: npt.NDArray[np.bool_] = is_linked | (are_near & have_bits)
        return are

    for members in sets.clusters():
        kept_first = members[np.argsort(~entries.are_kept[members], kind="stable")]
        for part in split_cluster(kept_first, are_like) if is_split else [kept_first]:
            first, others = part[:1], np.sort(part[1:])
            spread = int(links.distances(int(first[0]), others).max())
            yield Cluster(np.concatenate([first, others]), spread)


class _Links:
    """The recorded verdicts on pages that were dropped."""

    def __init__(
        self,
        entries: Entries,
        repeats: Sequence[tuple[int, int, int]],
        max_distance: int | None,
    ) -> None:
        self._entries = entries
        count = len(entries.pages)
        self.originals = np.full(count, -1)
        """For each place the place of the original; -1: none."""
        self._recorded = np.zeros(count, np.int64)
        pages, originals, distances = np.array(repeats, np.int64).reshape(-1, 3).T
        if max_distance is not None:
            are_within = distances <= max_distance
            pages, originals, distances = (
                pages[are_within],
                originals[are_within],
                distances[are_within],
            )
        self.pages = np.searchsorted(entries.pages, pages)
        """The places of pages that have an original."""
        self.originals[self.pages] = np.searchsorted(entries.pages, originals)
        self._recorded[self.pages] = distances

    def distances(self, one: int, others: IntpArray) -> npt.NDArray[np.int64]:
        """Return the bits between a page and others; 0 if one has no fingerprint."""
        have, values = self._entries.have_fingerprints, self._entries.fingerprints
        bits = np.bitwise_count(values[others] ^ values[one]) * (have[others] & have[one])
        was_compared = self.originals[others] == one
        return np.where(was_compared, self._recorded[others], bits).astype(np.int64)


def _pairs(lefts: IntpArray, rights: IntpArray) -> IntpArray:
    return np.sort(np.stack([lefts, rights], axis=1), axis=1)
