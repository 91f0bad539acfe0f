"""Kept pages, duplicates -> the close calls: pages that were nearly dropped, or nearly kept.

    nearly dropped   a kept page near an earlier kept page: the rule by which it is no duplicate
    nearly kept      a near-duplicate whose similarity or distance is just enough

The filter's own comparison names the rule: a kept page is judged again by its kept blocks, as if
the other page were the only one in the index. A page without kept blocks has no rule.

Kept pages are paired by their fingerprints, in at most `BITS_BEYOND` bits more than the settings
allow and `MAX_DISTANCE` in all. The pairs with the largest share of phrases, estimated from
sketches, are listed. If there are very many pairs (the pages of a template), only some are
examined; the result says how many there are.

Cost: 20 us for each examined pair; 10 ms for each listed pair of kept pages.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import compress, islice

import numpy as np
import numpy.typing as npt

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.sketch import shared
from dedup_filter.hamming.layout import MAX_DISTANCE
from dedup_filter.hamming.near_pairs import pair_blocks
from dedup_filter.review.compare import judged_beside
from dedup_filter.review.recorded_pages import RecordedPages
from dedup_filter.review.refusals import why
from dedup_filter.review.report.collect import Pair, ReportData
from dedup_filter.store.records import PageRecord
from dedup_filter.wording import counted

BITS_BEYOND = 3
"""Bits from `max_distance` that are near it."""
SHARE_BEYOND = 0.15
"""Share of phrases from `min_similarity` that is near it."""
_MOST_EXAMINED = 100_000
_MOST_LISTED = 300
_FAR = (1.0, "", "")
_TOGETHER = 4_096
"""Pairs whose sketches are compared in one call: 40 MB."""


@dataclass(frozen=True)
class CloseCall:
    """A pair of pages, and the rule that decided."""

    pair: Pair
    rule: str
    """A rule of the comparison; "distance", "similarity"; "now the same": the page would be dropped
    now, as more of its host is known; "not known": its blocks were not kept."""
    why: str
    """A sentence."""


@dataclass
class CloseCalls:
    """The close calls of an index."""

    kept: list[CloseCall] = field(default_factory=list)
    """Kept pages that were nearly dropped, the most similar first."""
    dropped: list[CloseCall] = field(default_factory=list)
    """Duplicates that were nearly kept, the closest first."""
    examined: int = 0
    candidates: int = 0
    """Pairs of kept pages with near fingerprints; if there are very many, not all were examined."""

    @property
    def pairs(self) -> list[Pair]:
        """The pairs of kept pages."""
        return [call.pair for call in self.kept]


def close_calls_of(pages: RecordedPages, found: ReportData) -> CloseCalls:
    """Find the close calls, and add the records of kept pages to `found`."""
    config = pages.config
    calls = CloseCalls(dropped=_nearly_kept(found))
    records: dict[int, PageRecord] = {}
    listed: list[tuple[float, PageRecord, PageRecord]] = []
    least = (config.min_similarity or 0) - SHARE_BEYOND
    for candidates in _near_pages(pages, min(config.max_distance + BITS_BEYOND, MAX_DISTANCE)):
        calls.candidates += len(candidates)
        examined = candidates[: max(_MOST_EXAMINED - calls.examined, 0)]
        calls.examined += len(examined)
        some = _shares(pages, np.sort(examined).tolist(), records)
        near = (each for each in some if each[0] >= least)
        listed = nlargest(_MOST_LISTED, [*listed, *near], key=lambda each: each[0])
    for share, later, earlier in listed:
        calls.kept.append(_nearly_dropped(pages, later, earlier, share))
        found.add(later)
        found.add(earlier)
    return calls


def _near_pages(pages: RecordedPages, distance: int) -> Iterator[npt.NDArray[np.int64]]:
    """Yield pairs of kept pages with fingerprints within a distance: numbers, (n, 2).

    The first of the pages with one fingerprint represents all, and each is paired with the next.
    """
    entries = pages.recorded.entries
    places = (entries.are_kept & entries.have_fingerprints).nonzero()[0]
    places = places[np.argsort(entries.fingerprints[places], kind="stable")]
    fingerprints, numbers = entries.fingerprints[places], entries.pages[places]
    is_next = fingerprints[1:] == fingerprints[:-1]
    yield np.stack([numbers[:-1][is_next], numbers[1:][is_next]], axis=1)
    for block in pair_blocks(fingerprints, distance):
        yield numbers[np.searchsorted(fingerprints, block)]


def _shares(
    pages: RecordedPages, pairs: Sequence[list[int]], records: dict[int, PageRecord]
) -> Iterator[tuple[float, PageRecord, PageRecord]]:
    """Yield the share of the later page's phrases that the earlier page has, and both pages.

    `records` gets the records that are read, each once. A page of a shared index may have been
    forgotten meanwhile; its pairs are left out.
    """
    some = iter(pairs)
    while numbers := [*islice(some, _TOGETHER)]:
        unread = {page for pair in numbers for page in pair} - records.keys()
        records.update((each.page, each) for each in pages.recorded.records(sorted(unread)))
        found = (records.keys() >= {*pair} for pair in numbers)
        together = [(records[a], records[b]) for a, b in compress(numbers, found)]
        earlier, later = ([pair[place].sketch for pair in together] for place in (0, 1))
        both, of_later, _ = shared(later, earlier)
        shares = (both / np.maximum(of_later, 1)).tolist()
        for (one, other), share in zip(together, shares, strict=True):
            yield share, other, one


def _nearly_dropped(
    pages: RecordedPages, later: PageRecord, earlier: PageRecord, share: float
) -> CloseCall:
    assert later.fingerprint is not None
    assert earlier.fingerprint is not None
    distance = (later.fingerprint ^ earlier.fingerprint).bit_count()
    pair = Pair(later.page, earlier.page, distance, share, "kept")
    if distance > pages.config.max_distance:
        return CloseCall(pair, "distance", _bits(distance, pages.config))
    profile = pages.profile_at(later)
    if profile is None:
        return CloseCall(pair, "not known", "the blocks of the page were not kept")
    beside = judged_beside(earlier, later.place, profile, pages.config, is_new_crawl=False)
    refused = beside.refused
    if refused is None:
        more = "it would be dropped now: more is known of the frame of its host"
        return CloseCall(pair, "now the same", more)
    return CloseCall(pair, refused.rule, why(refused))


def _nearly_kept(found: ReportData) -> list[CloseCall]:
    """Return the near-duplicates that are just inside the settings, the closest first."""
    calls: list[tuple[float, CloseCall]] = []
    for pair in found.pairs:
        if pair.kind == "near":
            by_bits = found.records[pair.page].reason is None
            room, rule, sentence = min(_rooms(pair, found.config, by_bits=by_bits), default=_FAR)
            if room < 1:
                calls.append((room, CloseCall(pair, rule, sentence)))
    calls.sort(key=lambda each: each[0])
    return [call for _, call in calls[:_MOST_LISTED]]


def _rooms(pair: Pair, config: FilterConfig, *, by_bits: bool) -> Iterator[tuple[float, str, str]]:
    """Yield, for each setting, how far inside it a duplicate is (0 to 1, or more), and a sentence.

    `by_bits`: the original was found by its fingerprint.
    """
    least = config.min_similarity
    if by_bits and pair.distance is not None:
        room = (config.max_distance - pair.distance) / BITS_BEYOND
        yield room, "distance", _bits(pair.distance, config)
    if least is not None and pair.similarity is not None:
        share = f"{pair.similarity:.1%} of its phrases are in the original, {least:.1%} are enough"
        yield (pair.similarity - least) / SHARE_BEYOND, "similarity", share.replace("%", " %")


def _bits(distance: int, config: FilterConfig) -> str:
    return f"{counted(distance, 'bit')}, at most {config.max_distance} are near"
