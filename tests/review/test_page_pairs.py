"""Pairs and clusters of recorded pages, against loops over all of them."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.fingerprints.sketch import KEYS
from dedup_filter.review.page_pairs import page_clusters, page_pairs
from dedup_filter.upkeep.results import Entries

near_values = st.builds(
    lambda base, bits: base ^ bits, st.sampled_from([0, 2**63]), st.integers(0, 63)
)
pages = st.lists(st.none() | near_values, max_size=40)


def entries_of(values):
    numbers = np.arange(len(values)) * 3 + 5
    prints = np.array([each or 0 for each in values], np.uint64)
    have = np.array([each is not None for each in values], np.bool_)
    keys = np.zeros((len(values), KEYS), np.uint32)
    return Entries(numbers, have, have, prints, prints, keys)


def near(values, k):
    return {
        (a, b)
        for a, b in combinations(range(len(values)), 2)
        if values[a] is not None and values[b] is not None
        if (values[a] ^ values[b]).bit_count() <= k
    }


@given(pages, st.integers(0, 4))
def test_each_near_pair_once(values, k):
    found = [tuple(pair) for block in page_pairs(entries_of(values), k) for pair in block.tolist()]
    assert len(found) == len(set(found))
    assert set(found) == near(values, k)


@st.composite
def judged_pages(draw):
    """Fingerprints of pages, and of some the earlier page that each was dropped for, with bits."""
    values = draw(pages)
    repeats = {}
    for place in range(1, len(values)):
        kept = [each for each in range(place) if each not in repeats]
        if draw(st.booleans()):
            repeats[place] = draw(st.sampled_from(kept)), draw(st.integers(0, 15))
    return values, repeats


def found_in(values, repeats, *args, **options):
    entries = entries_of(values)
    are_kept = np.array([place not in repeats for place in range(len(values))], np.bool_)
    number = entries.pages.tolist()
    told = [(number[page], number[first], bits) for page, (first, bits) in repeats.items()]
    found = page_clusters(entries._replace(are_kept=are_kept), told, *args, **options)
    return [(each.places.tolist(), each.spread) for each in found]


def bits_between(values, repeats, one, other):
    """Bits between a representative and a member: recorded, or of the fingerprints, or 0."""
    if other in repeats and repeats[other][0] == one:
        return repeats[other][1]
    known = values[one] is not None and values[other] is not None
    return (values[one] ^ values[other]).bit_count() if known else 0


def represented(members, repeats):
    """Put the representative, the first that was kept, before the others in their order."""
    first = min(members, key=lambda place: (place in repeats, place))
    return [first, *sorted(members - {first})]


@given(judged_pages(), st.integers(0, 12) | st.none())
def test_a_cluster_is_a_kept_page_and_what_was_dropped_for_it(judged, most):
    values, repeats = judged
    dropped_for = {}
    for page, (first, bits) in repeats.items():
        if most is None or bits <= most:
            dropped_for.setdefault(first, {})[page] = bits
    wanted = [([k, *sorted(of)], max(of.values())) for k, of in sorted(dropped_for.items())]
    assert found_in(values, repeats, most) == wanted
    assert found_in(values, repeats, most, is_split=True) == wanted


@given(judged_pages(), st.integers(0, 4))
def test_with_nearness_clusters_are_what_pairs_connect(judged, k):
    values, repeats = judged
    links = near(values, k) | {(first, page) for page, (first, _) in repeats.items()}
    group = {place: {place} for place in range(len(values))}
    for a, b in links:
        group[a] |= group[b]
        for place in group[a]:
            group[place] = group[a]
    joined = sorted({tuple(sorted(each)) for each in group.values() if len(each) > 1})
    wanted = [represented(set(each), repeats) for each in joined]
    found = found_in(values, repeats, near=k)
    assert [members for members, _ in found] == wanted
    for (first, *others), spread in found:
        assert spread == max(bits_between(values, repeats, first, each) for each in others)


@given(judged_pages(), st.integers(0, 4))
def test_split_every_member_is_near_the_first_or_was_dropped_for_it(judged, k):
    values, repeats = judged
    links = near(values, k) | {(first, page) for page, (first, _) in repeats.items()}
    left = sorted(range(len(values)), key=lambda place: (place in repeats, place))
    wanted = []
    while left:
        first = left[0]
        like = {each for each in left if {(first, each), (each, first)} & links}
        wanted += [[first, *sorted(like)]] if like else []
        left = [each for each in left if each != first and each not in like]
    found = found_in(values, repeats, near=k, is_split=True)
    assert sorted(members for members, _ in found) == sorted(wanted)
    for (first, *others), spread in found:
        assert spread == max(bits_between(values, repeats, first, each) for each in others)
