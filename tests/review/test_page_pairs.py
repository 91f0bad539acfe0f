"""Pairs and clusters of recorded pages, against loops over all of them."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.fingerprints.sketch import KEYS
from dedup_filter.review.page_pairs import page_clusters, page_pairs
from dedup_filter.store.protocol import Entries

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


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 9), st.integers(0, 20))))
def test_a_cluster_is_a_kept_page_and_what_was_dropped_for_it(verdicts):
    """Pages 1 to 9 are kept, and later pages are dropped for them."""
    dropped = {page + 9: (original, bits) for page, original, bits in verdicts}
    repeats = [(page, original, bits) for page, (original, bits) in dropped.items()]
    wanted = []
    for kept in range(1, 10):
        of_kept = sorted(page for page in dropped if dropped[page][0] == kept)
        if of_kept:
            wanted.append(([kept, *of_kept], max(dropped[page][1] for page in of_kept)))
    assert [tuple(cluster) for cluster in page_clusters(repeats)] == wanted
