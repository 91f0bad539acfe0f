"""Records of an index -> the pairs of pages that a crawl compares, and their similarity.

    fingerprints within k bits  -> for each page, the nearest earlier pages
    keys of kept pages          -> earlier pages that share keys, beyond k bits
    sketches of both            -> the share of the later page that the earlier one has
    this share                  -> whether phrases find the pair at any `max_distance`
    share, hosts, headlines     -> up to which `min_similarity` the later page repeats the earlier

Records lack the pages themselves, so the result is an estimate if pages have a frame or repeat a
phrase: the share counts the distinct phrases of all their texts, and lines and paragraphs that the
earlier page lacks are not checked. For pairs that a crawl has confirmed, the recorded share is
used.

The record of a dropped page has no keys. So two pages with enough in common for `found_beyond`
count as pages that share a key. That is wrong for 1 pair in 1,500 if 3/4 of two equally long pages
are the same, and for 1 in 10 if a page is a quarter of the other. The estimate ignores keys that
too many pages have, hosts with the same menus, and pairs beyond `MAX_DISTANCE` bits of a page that
the crawl dropped, except the pair with its original.

A page that equals an earlier one repeats it at every setting, and makes no pairs of its own.

Cost: 5 us a page and 30 us a pair; 30 us a page that has keys.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dedup_filter.comparison.candidates import MOST_COMPARED, MOST_SHARING, SHARED_EVIDENCE
from dedup_filter.fingerprints.profile import EQUAL_DIGEST
from dedup_filter.fingerprints.sketch import shared
from dedup_filter.hamming.layout import MAX_DISTANCE
from dedup_filter.hamming.near_pairs import pair_blocks
from dedup_filter.hamming.pairs import IntpArray, UInt64Array, distinct
from dedup_filter.store.phrase_table import PhraseTable
from dedup_filter.store.sqlite.page_reader import MASK, PageReader
from dedup_filter.text.headlines import Headline, are_within, is_headed_alike
from dedup_filter.text.reading import title_parts
from dedup_filter.thresholds import HALF, MOST
from dedup_filter.upkeep.results import Watch

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

NEVER = -1.0
"""In place of a share: the later page repeats the earlier one at no `min_similarity`."""
MOST_PAIRS = 300_000
"""Pairs whose sketches are compared, in 15 s. If there are more, each page gets fewer pairs."""
_MOST_WAITING = 4_000_000
"""Pairs that are held before all but the nearest pairs of each page are left out."""
_LEAST_SHARE = 0.1
"""Below this share the headlines are not compared."""
_CHUNK = 500
"""Records that are read by one statement, and pairs that are compared by one call."""
_ROW = """SELECT id, host, words, is_kept, fingerprint, original, distance, similarity, digest,
    reason IS NOT NULL FROM pages ORDER BY id"""
_KEYS = "SELECT keys FROM pages ORDER BY id"
_CONTENT = "SELECT id, CAST(h1 AS TEXT), CAST(title AS TEXT), sketch FROM pages WHERE id IN ({})"
_HEADLINES = "SELECT host, CAST(h1 AS TEXT), CAST(title AS TEXT) FROM pages WHERE is_kept"


class Pages(NamedTuple):
    """The pages of an index in the order of their numbers; a page's place is counted from 0."""

    numbers: IntpArray
    """(n,), ascending."""
    hosts: IntpArray
    words: IntpArray
    are_kept: BoolArray
    """Whether the crawl kept each."""
    fingerprints: UInt64Array
    are_long: BoolArray
    """Whether each has a fingerprint; the others have too little text."""
    twins: IntpArray
    """Place of the first page that equals each page; its own place if there is no earlier one."""
    originals: IntpArray
    """The place of the page that each repeated in the crawl, -1 for none."""
    distances: IntpArray
    """Recorded distances, -1 for none."""
    similarities: FloatArray
    """Recorded similarities, `NEVER` for none."""
    were_beyond: BoolArray
    """Whether the original of each was found at any distance: by URL, or by phrases."""
    by_phrases: bool
    """Whether pages are found by phrases."""

    @property
    def size(self) -> int:
        """Number of pages."""
        return len(self.numbers)


class Pairs(NamedTuple):
    """Pairs of pages, by places, ordered by the later one, the distance and the earlier one."""

    later: IntpArray
    earlier: IntpArray
    distances: npt.NDArray[np.uint8]
    shares: FloatArray
    """Share of the later page's shingles that the earlier one has, 0 to 1."""
    limits: FloatArray
    """The largest `min_similarity` at which the later page repeats the earlier one, or `NEVER`."""
    reach: npt.NDArray[np.uint8]
    """The least `max_distance` with which it is compared: its distance, or 0 if phrases find it."""
    most_of_page: int
    """At most this many earlier pages were compared with each page."""
    by_host: bool
    """Whether only pages of one host were compared."""

    def are_found(self, max_distance: int, min_similarity: float | None) -> BoolArray:
        """Return which pairs are compared at a setting."""
        bits = self.distances if min_similarity is None else self.reach
        found: BoolArray = bits <= max_distance
        return found


def pages_of(reader: PageReader, *, by_phrases: bool = True) -> Pages:
    """Read the compared fields of each page except its sketch; `by_phrases`: see `Pages`."""
    rows = reader.rows(_ROW)
    columns = list(zip(*rows, strict=True)) if rows else [()] * 10
    ids, hosts, words, are_kept, prints, originals, distances, similarities, *others = columns
    places = {number: place for place, number in enumerate(ids)}
    first: dict[bytes, int] = {}
    equal = (digest[EQUAL_DIGEST] for digest in others[0])
    twins = [first.setdefault(digest, place) for place, digest in enumerate(equal)]
    return Pages(
        np.array(ids, np.intp),
        np.array(hosts, np.intp),
        np.array(words, np.intp),
        np.array(are_kept, np.bool_),
        np.array([0 if each is None else each & MASK for each in prints], np.uint64),
        np.array([each is not None for each in prints], np.bool_),
        np.array(twins, np.intp),
        np.array([places.get(each, -1) for each in originals], np.intp),
        np.array([-1 if each is None else each for each in distances], np.intp),
        np.array([NEVER if each is None else each for each in similarities], np.float64),
        np.array(others[1], np.bool_),
        by_phrases,
    )


def pairs_of(
    reader: PageReader,
    pages: Pages,
    *,
    by_host: bool = False,
    watch: Watch = lambda them, _: nullcontext(them),
) -> Pairs:
    """Find the pairs within `MAX_DISTANCE` bits, or that share phrases, and compare them."""
    found = _joined([_near(pages, by_host=by_host), _sharing(reader, pages, by_host=by_host)])
    later, earlier, distances = _with_recorded(pages, found)
    most = MOST_COMPARED
    while len(later) > MOST_PAIRS and most > 1:
        most //= 2
        later, earlier, distances = _nearest(later, earlier, distances, most)
    alike = Alike(reader, pages, np.unique(np.concatenate([later, earlier])))
    shares, limits, reach = (np.zeros(len(later)) for _ in range(3))
    chunks = range(0, len(later), _CHUNK)
    with watch(chunks, len(chunks)) as shown:
        for start in shown:
            chosen = slice(start, start + _CHUNK)
            measured = alike.measure(later[chosen], earlier[chosen], distances[chosen])
            shares[chosen], limits[chosen], reach[chosen] = measured
    # Other pairs beyond k bits are never compared.
    limits[reach > MAX_DISTANCE] = NEVER
    bits = distances.astype(np.uint8), reach.astype(np.uint8)
    return Pairs(later, earlier, bits[0], shares, limits, bits[1], most, by_host)


Found = tuple[IntpArray, IntpArray, IntpArray]
"""Places of later and earlier pages, and distances."""


def _near(pages: Pages, *, by_host: bool) -> Found:
    """Find the `MOST_COMPARED` nearest earlier pages of each page; ties go to the earliest.

    Exact copies of an earlier page are left out.
    """
    places = np.flatnonzero(pages.are_long & (pages.twins == np.arange(pages.size)))
    places = places[np.argsort(pages.fingerprints[places], kind="stable")]
    prints = pages.fingerprints[places]
    entries = distinct(prints)
    starts = np.searchsorted(prints, entries)
    groups = np.split(places, starts[1:]) if len(places) else []
    found: Found = tuple(np.empty(0, np.intp) for _ in range(3))  # type: ignore[assignment]
    waiting, count = [found], 0
    for some in _pairs_of_groups(entries, groups):
        ordered = np.maximum(some[0], some[1]), np.minimum(some[0], some[1]), some[2]
        if by_host:
            is_same = pages.hosts[ordered[0]] == pages.hosts[ordered[1]]
            ordered = ordered[0][is_same], ordered[1][is_same], ordered[2][is_same]
        waiting.append(ordered)
        count += len(ordered[0])
        if count > _MOST_WAITING:
            waiting = [_nearest(*_joined(waiting), MOST_COMPARED)]
            count = 0
    return _nearest(*_joined(waiting), MOST_COMPARED)


def _sharing(reader: PageReader, pages: Pages, *, by_host: bool) -> Found:
    """Find the earlier pages beyond k bits that share most keys of each page that has keys."""
    table, found = PhraseTable(), [(0, 0)]
    for place, (keys,) in enumerate(reader.rows(_KEYS) if pages.by_phrases else ()):
        if keys and pages.twins[place] == place:
            shared = table.sharing([keys]).most_common(MOST_SHARING)
            found += [(place, earlier) for earlier, _ in shared]
            table.add(keys, place)
    later, earlier = np.array(found[1:], np.intp).reshape(-1, 2).T
    bits = np.bitwise_count(pages.fingerprints[later] ^ pages.fingerprints[earlier])
    are_far = bits > MAX_DISTANCE
    if by_host:
        are_far &= pages.hosts[later] == pages.hosts[earlier]
    return later[are_far], earlier[are_far], bits[are_far].astype(np.intp)


def _with_recorded(pages: Pages, found: Found) -> Found:
    """Add the pairs that the crawl has confirmed, at the recorded distance.

    Fingerprints can differ from it: a page has two texts, but one is stored, perhaps anew later.
    """
    later, earlier, distances = found
    is_other = pages.originals[later] != earlier
    was_near = (pages.originals >= 0) & (pages.distances >= 0) & ~pages.are_kept
    near = np.flatnonzero(was_near & (pages.twins == np.arange(pages.size)))
    confirmed = near, pages.originals[near], pages.distances[near]
    others = later[is_other], earlier[is_other], distances[is_other]
    return _nearest(*_joined([others, confirmed]), MOST_COMPARED)


def _pairs_of_groups(entries: UInt64Array, groups: Sequence[IntpArray]) -> Iterator[Found]:
    """Yield pairs of pages: within each group of one fingerprint, and between two near groups."""
    sizes = np.array([len(group) for group in groups], np.intp)
    firsts = np.array([group[0] for group in groups], np.intp)
    for number in np.flatnonzero(sizes > 1).tolist():
        yield _crossed(groups[number], groups[number], 0)
    for block in pair_blocks(entries, MAX_DISTANCE):
        one, other = np.searchsorted(entries, block[:, 0]), np.searchsorted(entries, block[:, 1])
        distances = np.bitwise_count(block[:, 0] ^ block[:, 1]).astype(np.intp)
        are_single = (sizes[one] == 1) & (sizes[other] == 1)
        yield firsts[one[are_single]], firsts[other[are_single]], distances[are_single]
        for number in np.flatnonzero(~are_single).tolist():
            here, there = groups[one[number]], groups[other[number]]
            yield _crossed(here, there, int(distances[number]))
            yield _crossed(there, here, int(distances[number]))


def _crossed(later: IntpArray, earlier: IntpArray, distance: int) -> Found:
    """Return the pairs of each later page with the first `MOST_COMPARED` pages before it."""
    candidates = earlier[:MOST_COMPARED]
    rows, columns = np.nonzero(later[:, np.newaxis] > candidates)
    return later[rows], candidates[columns], np.full(len(rows), distance, np.intp)


def _nearest(later: IntpArray, earlier: IntpArray, distances: IntpArray, most: int) -> Found:
    """Order pairs, and keep only the nearest pairs of each later page."""
    order = np.lexsort((earlier, distances, later))
    later, earlier, distances = later[order], earlier[order], distances[order]
    ranks = np.arange(len(later)) - np.searchsorted(later, later)
    near = ranks < most
    return later[near], earlier[near], distances[near]


def _joined(parts: Sequence[Found]) -> Found:
    one, other, distances = (np.concatenate(column) for column in zip(*parts, strict=True))
    return one, other, distances


class Alike:
    """Measures the similarity of pages by their records; only for pages at some places.

    Memory: 1 kB a place.
    """

    def __init__(self, reader: PageReader, pages: Pages, places: IntpArray) -> None:
        self._pages = pages
        numbers = pages.numbers[places].tolist()
        self._contents: dict[int, tuple[Headline, bytes]] = {}
        for start in range(0, len(numbers), _CHUNK):
            chunk = numbers[start : start + _CHUNK]
            sql = _CONTENT.format(", ".join("?" * len(chunk)))
            for number, h1, title, sketch in reader.rows(sql, chunk):
                place = int(np.searchsorted(pages.numbers, number))
                self._contents[place] = Headline(h1, title), sketch
        self._shown = Counter[tuple[int, str]]()
        """How many kept pages of each host have an h1 or a part of a title."""
        for host, h1, title in reader.rows(_HEADLINES) if len(places) else ():
            self._shown.update((host, part) for part in _heads(Headline(h1, title)))

    def measure(
        self, later: IntpArray, earlier: IntpArray, distances: IntpArray
    ) -> tuple[FloatArray, FloatArray, IntpArray]:
        """Return `shares`, `limits` and `reach` of n pairs, see `Pairs`; each (n,).

        If the crawl has confirmed that the later page repeats the earlier one, the recorded
        similarity is its share.
        """
        pages, contents = self._pages, self._contents
        ones, others = ([contents[place][1] for place in of.tolist()] for of in (later, earlier))
        there, asked, size = shared(ones, others)
        shares = there / np.maximum(asked, 1)
        jaccards = there / np.maximum(asked + size - there, 1)
        is_known = (pages.originals[later] == earlier) & (pages.similarities[later] >= 0)
        shares = np.where(is_known, pages.similarities[later], shares)
        # As in `found_beyond`: a sketch that omits no hash samples all phrases.
        is_evident = (asked >= SHARED_EVIDENCE) | np.array([not each[0] for each in others], bool)
        by_phrases = pages.by_phrases & is_evident & (shares >= MOST)
        reach = np.where(by_phrases | (is_known & pages.were_beyond[later]), 0, distances)
        # For these pairs, half of the words that `min_similarity` allows may be missing.
        are_halved = (pages.hosts[later] == pages.hosts[earlier]) | (jaccards < HALF)
        limits = np.where(are_halved, np.maximum(1 - (1 - shares) / HALF, 0), shares)
        for number in np.flatnonzero(~is_known & (shares >= _LEAST_SHARE)).tolist():
            if not self._is_same(int(later[number]), int(earlier[number])):
                limits[number] = NEVER
        return shares, limits, reach

    def _is_same(self, later: int, earlier: int) -> bool:
        """Return whether two pages may be the same by their headlines."""
        headline, other = self._contents[later][0], self._contents[earlier][0]
        if headline == other:
            return True
        times = self._times_shown(later, headline)
        if self._pages.hosts[later] == self._pages.hosts[earlier]:
            return is_headed_alike(headline, other, times)
        return are_within(headline, other, times)

    def _times_shown(self, place: int, headline: Headline) -> Callable[[str], int]:
        """Return a function: part of a headline -> other pages of the page's host that have it."""
        host = int(self._pages.hosts[place])
        own = _heads(headline) if self._pages.are_kept[place] else set()
        return lambda part: self._shown[host, part] - (part in own)


def _heads(headline: Headline) -> set[str]:
    return {*filter(None, [headline.h1]), *title_parts(headline.title)}


def originals_at(
    pages: Pages, pairs: Pairs, max_distance: int, min_similarity: float | None
) -> IntpArray:
    """Return the place of the page that each repeats at a setting, -1 for kept pages.

    Pages are judged in their order, each against the kept pages before it. Cost: 1 us for each pair
    that passes, and 10 ns for each other pair.
    """
    passes = pairs.are_found(max_distance, min_similarity)
    if min_similarity is not None:
        passes &= pairs.limits >= min_similarity
    originals = np.full(pages.size, -1, np.intp)
    are_twins = pages.twins != np.arange(pages.size)
    near: dict[int, list[tuple[int, float, int]]] = {}
    chosen = (pairs.later, pairs.earlier, pairs.distances, pairs.shares)
    for later, earlier, bits, share in zip(*(c[passes].tolist() for c in chosen), strict=True):
        near.setdefault(later, []).append((bits, -share, earlier))
    for page in sorted({*near, *np.flatnonzero(are_twins).tolist()}):
        twin = int(pages.twins[page])
        if twin != page:
            originals[page] = twin if originals[twin] < 0 else originals[twin]
            continue
        kept = [each for each in near[page] if originals[each[2]] < 0]
        if kept:
            originals[page] = min(kept)[2]
    return originals
