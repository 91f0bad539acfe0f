"""The pairs just outside the settings are those that comparing each page with each finds."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.fingerprints.sketch import shared, sketch
from dedup_filter.review.report import border
from dedup_filter.review.report.border import (
    BITS_BEYOND,
    SHARE_BELOW,
    just_inside,
    kept_near_the_border,
)
from dedup_filter.review.report.collect import Bounds, Pair, ReportData
from dedup_filter.store.records import PageRecord

HASHES = st.sets(st.integers(0, 2**32 - 1), max_size=60)


def record(page, fingerprint, hashes):
    return PageRecord(
        page=page,
        url=f"https://a.example/{page}",
        host="a.example",
        digest=b"",
        fingerprint=fingerprint,
        sketch=sketch(np.array(sorted(hashes), np.uint32)),
        words=100,
        language=None,
        first_seen=0,
        last_seen=0,
        first_crawl=1,
        crawl=1,
        is_pending=False,
        outcome="new",
    )


class Records:
    """What of a snapshot is asked for."""

    def __init__(self, records):
        self._records = {each.page: each for each in records}

    def record(self, page):
        return self._records[page]


def gathered_of(records, bounds):
    found = ReportData("x", 0, bounds, {}, {}, [], 3)
    for each in records:
        found.kept.pages.append(each.page)
        found.kept.fingerprints.append(each.fingerprint)
    return found


@st.composite
def pages(draw):
    """Pages around a few fingerprints, which share parts of a few sets."""
    centres = draw(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=3))
    common = draw(st.sets(st.integers(0, 2**32 - 1), min_size=20, max_size=60))
    made = []
    for page in range(1, draw(st.integers(2, 12)) + 1):
        fingerprint = draw(st.sampled_from(centres))
        for bit in draw(st.sets(st.integers(0, 63), max_size=9)):
            fingerprint ^= 1 << bit
        left_out = draw(st.integers(0, len(common) // 2))
        made.append(record(page, fingerprint, sorted(common)[left_out:]))
    return made


@given(pages(), st.integers(0, 12), st.sampled_from([None, 0.0, 0.8, 1.0]))
def test_pairs_are_those_that_brute_force_finds(records, k, least):
    bounds = Bounds(k, least)
    found = gathered_of(records, bounds)
    outside = kept_near_the_border(Records(records), found)
    told = {frozenset(pair[:2]): pair for pair in outside.pairs}
    assert len(told) == len(outside.pairs)
    by_fingerprint = {}
    for each in records:
        by_fingerprint.setdefault(each.fingerprint, []).append(each.page)
    for one, other in combinations(records, 2):
        # Of pages with equal fingerprints the first stands for all; each is paired with the next.
        alike = by_fingerprint[one.fingerprint]
        if one.fingerprint == other.fingerprint:
            is_asked = alike.index(other.page) == alike.index(one.page) + 1
        else:
            is_asked = alike[0] == one.page and by_fingerprint[other.fingerprint][0] == other.page
        distance = (one.fingerprint ^ other.fingerprint).bit_count()
        both, of_later, _ = shared([other.sketch], [one.sketch])
        share = both[0] / of_later[0]
        is_near = distance <= k + BITS_BEYOND and (least is None or share >= least - SHARE_BELOW)
        pair = told.get(frozenset((one.page, other.page)))
        assert (pair is not None) == (is_asked and is_near)
        if pair is not None:
            assert pair[:4] == (other.page, one.page, distance, share)
            is_different = least is not None and share < least
            kind = "too far" if distance > k else "too different" if is_different else "other rule"
            assert pair.kind == kind
            assert {one.page, other.page} <= {*found.records}


def test_of_too_many_pages_only_what_tables_find_is_looked_for(monkeypatch):
    monkeypatch.setattr(border, "_MOST_COMPARED", 3)
    near = record(1, 0, range(50)), record(2, 0b1, range(50))
    far = record(3, 2**64 - 1, range(50)), record(4, 2**64 - 2**13, range(50))
    for records, farthest, pairs in ((near, 15, 1), ((*near, *far), 12, 1)):
        outside = kept_near_the_border(Records(records), gathered_of(records, Bounds(12, 0.8)))
        assert (outside.farthest, len(outside.pairs)) == (farthest, pairs)


def test_of_too_many_pairs_some_are_looked_at(monkeypatch):
    monkeypatch.setattr(border, "_MOST_LOOKED_AT", 5)
    monkeypatch.setattr(border, "_MOST_LISTED", 2)
    records = [record(page, 1 << page, range(50)) for page in range(1, 9)]
    outside = kept_near_the_border(Records(records), gathered_of(records, Bounds(12, 0.8)))
    assert (outside.candidates, outside.looked_at, len(outside.pairs)) == (28, 5, 2)
    assert outside.counts == {"other rule": 5}
    assert outside.by_distance == {2: 5}


@given(
    st.lists(st.tuples(st.integers(0, 12), st.floats(0.8, 1.0)), max_size=30),
)
def test_pairs_just_inside_are_ordered_by_what_is_left(measured):
    pairs = [Pair(2, 1, distance, share, "near") for distance, share in measured]
    pairs.append(Pair(3, 1, 12, 0.8, "exact"))
    room = [min((12 - d) / BITS_BEYOND, (share - 0.8) / SHARE_BELOW) for d, share in measured]
    places = just_inside(pairs, Bounds(12, 0.8))
    assert [room[place] for place in places] == sorted(each for each in room if each < 1)
