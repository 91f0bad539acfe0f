"""Pairs and clusters of recorded pages, against loops over all of them."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

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
    return Entries(numbers, have, have, prints, prints)


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


@given(pages, st.integers(0, 4))
def test_clusters_are_what_pairs_connect(values, k):
    linked = near(values, k)
    group = list(range(len(values)))
    for _ in values:
        for a, b in linked:
            group[a] = group[b] = min(group[a], group[b])
    wanted = [
        [n for n, first in enumerate(group) if first == number] for number in sorted(set(group))
    ]
    found = [cluster.tolist() for cluster in page_clusters(entries_of(values), k)]
    assert found == [each for each in wanted if len(each) > 1]
