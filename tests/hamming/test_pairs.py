import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.hamming.index_pairs import NO_PAIRS, Pairs, distinct

some_pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12)


def pairs_of(pairs):
    return Pairs(
        np.array([f for f, _ in pairs], np.uint64), np.array([r for _, r in pairs], np.int64)
    )


def contents(pairs):
    return list(zip(pairs.fingerprints.tolist(), pairs.rows.tolist(), strict=True))


@given(some_pairs, some_pairs)
def test_of_pairs_those_that_are_not_known_are_left_once_each(pairs, known):
    left = contents(pairs_of(pairs).not_in(pairs_of(known)))
    assert sorted(left) == sorted(set(pairs) - set(known))


@given(st.lists(some_pairs, max_size=3))
def test_joined_pairs_are_those_of_every_part(parts):
    joined = contents(Pairs.joined([pairs_of(part) for part in parts]))
    assert joined == [pair for part in parts for pair in part]


@given(st.lists(st.integers(0, 5), max_size=12))
def test_distinct_fingerprints_ascend(values):
    assert distinct(np.array(values, np.uint64)).tolist() == sorted(set(values))


def test_no_pairs_are_none():
    assert NO_PAIRS.size == 0
    assert Pairs.joined([]) is NO_PAIRS
