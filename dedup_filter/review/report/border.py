"""Kept pages -> pairs of them that were nearly duplicates: just outside the settings.

    too far          the sketches are similar, but the fingerprints differ in a few bits beyond k
    too different    the fingerprints are within k bits, but slightly too many shingles are missing
    other rule       within both: another headline on one host, a new line, ... (`rule.py`)

Similarity is estimated from sketches: the share of the later page's shingles that the earlier page
has. Within `MAX_DISTANCE` bits the permuted tables find all pairs. Pairs farther apart are found by
comparing each fingerprint with each, for at most `_MOST_COMPARED` pages. If there are very many
pairs (the pages of a template), only some are examined; the result says how many there are.

Cost: 20 us for each examined pair; 1 ns for each two compared fingerprints.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dedup_filter.fingerprints.sketch import shared
from dedup_filter.hamming.layout import MAX_DISTANCE
from dedup_filter.hamming.near_pairs import pair_blocks
from dedup_filter.review.report.collect import Bounds, Kind, Pair, ReportData
from dedup_filter.store.records import PageRecord
from dedup_filter.store.sqlite.page_reader import Snapshot

BITS_BEYOND = 3
"""Bits beyond `max_distance` that are still near the border."""
SHARE_BELOW = 0.15
"""Similarity below `min_similarity` that is still near the border."""
_MOST_COMPARED = 40_000
_MOST_LOOKED_AT = 100_000
_MOST_LISTED = 300
"""Pairs of each kind."""
_TOGETHER = 4_096
"""Pairs whose sketches are compared in one call: 40 MB."""
_BLOCK = 1 << 22
"""Pairs that are compared in one call."""

UInt64Array = npt.NDArray[np.uint64]
PageArray = npt.NDArray[np.int64]


@dataclass
class Outside:
    """Pairs of kept pages just outside the settings."""

    pairs: list[Pair] = field(default_factory=list)
    """Nearest to the border first, at most `_MOST_LISTED` of each kind."""
    counts: dict[Kind, int] = field(default_factory=dict)
    """Number of pairs found of each kind."""
    by_distance: dict[int, int] = field(default_factory=dict)
    looked_at: int = 0
    candidates: int = 0
    """Pairs within the distance; if there are very many, not all were examined."""
    farthest: int = 0
    """Bits up to which pairs were looked for."""


def kept_near_the_border(snapshot: Snapshot, found: ReportData) -> Outside:
    """Find the pairs, and add the records of their pages to `found`."""
    bounds = found.bounds
    fingerprints = np.array(found.kept.fingerprints, np.uint64)
    order = np.argsort(fingerprints, kind="stable")
    fingerprints, pages = fingerprints[order], np.array(found.kept.pages, np.int64)[order]
    farthest = _farthest(bounds.max_distance, len(pages))
    outside = Outside(farthest=farthest)
    listed: defaultdict[Kind, list[Pair]] = defaultdict(list)
    records = _Records(snapshot)
    for candidates in _near(fingerprints, pages, farthest):
        outside.candidates += len(candidates)
        room = max(_MOST_LOOKED_AT - outside.looked_at, 0)
        outside.looked_at += len(candidates[:room])
        for pair in _compared(np.sort(candidates[:room]), records, bounds):
            listed[pair.kind].append(pair)
            bits = pair.distance or 0
            outside.by_distance[bits] = outside.by_distance.get(bits, 0) + 1
    for kind, pairs in listed.items():
        outside.counts[kind] = len(pairs)
        outside.pairs += sorted(pairs, key=lambda pair: _excess(pair, bounds))[:_MOST_LISTED]
    outside.pairs.sort(key=lambda pair: _excess(pair, bounds))
    for pair in outside.pairs:
        for number in pair[:2]:
            if number is not None and number not in found.records:
                found.add(records[number])
    return outside


def just_inside(pairs: Iterable[Pair], bounds: Bounds) -> list[int]:
    """Return the places of near-duplicates that are just inside the settings, nearest first.

    >>> bounds = Bounds(12, 0.8)
    >>> measured = [(0, 1.0), (11, 1.0), (3, 0.8)]
    >>> just_inside([Pair(2, 1, *each, "near") for each in measured], bounds)
    [2, 1]
    """
    rooms = {place: _room(pair, bounds) for place, pair in enumerate(pairs) if pair.kind == "near"}
    near = sorted((room, place) for place, room in rooms.items() if room < 1)
    return [place for _, place in near[:_MOST_LISTED]]


class _Records(dict[int, PageRecord]):
    """Records by the numbers of their pages, each read once."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__()
        self._snapshot = snapshot

    def __missing__(self, page: int) -> PageRecord:
        self[page] = self._snapshot.record(page)
        return self[page]


def _farthest(max_distance: int, count: int) -> int:
    wanted = max_distance + BITS_BEYOND
    return wanted if wanted <= MAX_DISTANCE or count <= _MOST_COMPARED else MAX_DISTANCE


def _near(fingerprints: UInt64Array, pages: PageArray, distance: int) -> Iterator[PageArray]:
    """Yield pairs of pages whose fingerprints are within a distance: arrays, (n, 2).

    The first of the pages with one fingerprint represents all, and each is paired with the next.
    Requires: fingerprints ascend, and so do the numbers of pages with the same fingerprint.
    """
    is_next = fingerprints[1:] == fingerprints[:-1]
    yield np.stack([pages[:-1][is_next], pages[1:][is_next]], axis=1)
    distinct = np.unique(fingerprints)
    blocks = (
        pair_blocks(distinct, distance)
        if distance <= MAX_DISTANCE
        else _all_compared(distinct, distance)
    )
    for block in blocks:
        yield pages[np.searchsorted(fingerprints, block)]


def _all_compared(fingerprints: UInt64Array, distance: int) -> Iterator[UInt64Array]:
    """Yield the pairs of fingerprints within a distance, in arrays of two columns."""
    count = len(fingerprints)
    height = max(_BLOCK // max(count, 1), 1)
    for start in range(0, count, height):
        lower = fingerprints[start : start + height]
        differing = np.bitwise_count(lower[:, None] ^ fingerprints[None, start:])
        rows, columns = np.nonzero(differing <= distance)
        later = columns > rows
        yield np.stack([lower[rows[later]], fingerprints[start + columns[later]]], axis=1)


def _compared(pages: PageArray, records: _Records, bounds: Bounds) -> Iterator[Pair]:
    """Yield the pairs of pages, the earlier page first, that are just outside the settings."""
    for start in range(0, len(pages), _TOGETHER):
        pairs = [(records[a], records[b]) for a, b in pages[start : start + _TOGETHER].tolist()]
        earlier, later = ([record.sketch for record in each] for each in zip(*pairs, strict=True))
        both, of_later, _ = shared(later, earlier)
        shares = (both / np.maximum(of_later, 1)).tolist()
        for (one, other), share in zip(pairs, shares, strict=True):
            pair = _outside(one, other, share, bounds)
            if pair is not None:
                yield pair


def _outside(earlier: PageRecord, later: PageRecord, share: float, bounds: Bounds) -> Pair | None:
    """Return a pair if it is just outside the settings."""
    if earlier.fingerprint is None or later.fingerprint is None:
        return None
    distance = (earlier.fingerprint ^ later.fingerprint).bit_count()
    least = bounds.min_similarity
    if least is not None and share < least - SHARE_BELOW:
        return None
    kind: Kind = "other rule"
    if distance > bounds.max_distance:
        kind = "too far"
    elif least is not None and share < least:
        kind = "too different"
    return Pair(later.page, earlier.page, distance, share, kind)


def _excess(pair: Pair, bounds: Bounds) -> float:
    """Return how far outside the settings a pair is: 0 at the border, 1 at most."""
    return max(-_room(pair, bounds), 0.0)


def _room(pair: Pair, bounds: Bounds) -> float:
    """Return how far inside the settings a pair is: 0 at the border, 1 well inside."""
    least, (distance, share) = bounds.min_similarity, pair[2:4]
    of_bits = 1.0 if distance is None else (bounds.max_distance - distance) / BITS_BEYOND
    if share is None or least is None:
        return of_bits
    return min(of_bits, (share - least) / SHARE_BELOW)
