from functools import cache
from importlib import import_module
from itertools import combinations

import numpy as np
import pytest
from gate import slow
from hypothesis import given
from hypothesis import strategies as st
from oracles import distance
from strategies import ALL_ONES, damage, fingerprints

from dedup_filter import near_pairs
from dedup_filter.errors import ConfigError
from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.near_pairs import pair_blocks
from dedup_filter.hamming.pairs import hamming_distance

MODULE = import_module("dedup_filter.hamming.near_pairs")  # the package has a function of that name


LAYOUTS = [*map(Layout, range(3, 14)), Layout(8, 2), Layout(5, 2), Layout(6, 3)]


@cache
def layouts(max_distance):
    """Exact ones; to probe prefixes of the last two, with more than 22 bits, takes much memory."""
    exact = [layout for layout in LAYOUTS if layout.is_exact(max_distance)]
    return [each for each in exact if each not in LAYOUTS[-2:] or max_distance <= 3]


def all_pairs(values, max_distance):
    ascending = sorted(set(values))
    return [(a, b) for a, b in combinations(ascending, 2) if distance(a, b) <= max_distance]


def pairs_by(layout, values, max_distance):
    blocks = pair_blocks(values, max_distance, layout)
    return sorted(tuple(pair) for block in blocks for pair in block.tolist())


@st.composite
def batches(draw, max_distance):
    """Some strangers, and round each some that are about `max_distance` away; some twice."""
    centres = draw(st.lists(fingerprints, min_size=1, max_size=6))
    near = st.integers(0, max_distance + 2).flatmap(damage)
    pick = st.tuples(st.sampled_from(centres), near).map(lambda pair: pair[0] ^ pair[1])
    return draw(st.permutations(centres + draw(st.lists(pick, max_size=20))))


@given(fingerprints, fingerprints)
def test_the_distance_is_the_number_of_differing_bits(a, b):
    assert hamming_distance(a, np.uint64(b)) == distance(a, b)


@pytest.mark.parametrize(("a", "b"), [(0, -1), (2**64, 0), (1.0, 2)])
def test_there_is_no_distance_from_what_is_no_fingerprint(a, b):
    with pytest.raises((TypeError, ValueError), match="a fingerprint is"):
        hamming_distance(a, b)


@given(st.data(), st.integers(0, 12), st.sampled_from([1, 2, 7, 64, 2**15]))
def test_all_pairs_are_found_and_no_others_whatever_the_layout_and_the_blocks(data, k, block):
    batch = data.draw(batches(k))
    layout = data.draw(st.sampled_from(layouts(k)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MODULE, "_BLOCK", block)
        patch.setattr(MODULE, "_PROBED", block)
        assert pairs_by(layout, batch, k) == all_pairs(batch, k)
        assert near_pairs(batch, k) == all_pairs(batch, k), "in this order"


@pytest.mark.parametrize(
    ("max_distance", "layout"),
    [(4, Layout(3)), slow(6, Layout(6))],
)
def test_a_crowd_of_near_fingerprints_makes_all_its_pairs_in_bounded_blocks(max_distance, layout):
    values = [1 << a | 1 << b for a, b in combinations(range(24, 64), 2)]  # at most 4 apart
    blocks = list(pair_blocks(values, max_distance, layout))
    assert sum(map(len, blocks)) == len(values) * (len(values) - 1) // 2
    assert max(map(len, blocks)) < 2 * 2**16


def test_equal_fingerprints_count_as_one_and_one_makes_no_pair():
    assert near_pairs([5] * 1000 + [4] * 1000, 1) == [(4, 5)]
    assert near_pairs([5] * 1000, 12) == near_pairs([], 12) == near_pairs(np.empty(0, int)) == []
    assert pairs_by(Layout(4), [7], 3) == []


def test_arrays_and_iterators_are_taken_like_lists():
    values = [ALL_ONES, 1, 0, ALL_ONES - 1, 1]
    array = np.array(values, np.uint64)
    for given_values in (array, iter(values)):
        assert near_pairs(given_values, 3) == [(0, 1), (ALL_ONES - 1, ALL_ONES)]
    assert array.tolist() == values, "the caller's"
    assert near_pairs(np.array([1, 3], np.int32), 3) == [(1, 3)]


@pytest.mark.parametrize("bad", [-1, 2**64, "1", 1.5, None, True])
def test_what_is_no_fingerprint_is_refused_and_named(bad):
    with pytest.raises((TypeError, ValueError), match=str(bad)):
        near_pairs([1, bad], 3)


@pytest.mark.parametrize(
    ("distance", "layout", "told"),
    [(12, Layout(6, 3), "one that can"), *((k, None, "max_") for k in (-1, 13, 2.0))],
)
def test_what_would_miss_pairs_is_refused_before_anything_is_done(distance, layout, told):
    with pytest.raises(ConfigError, match=told):
        pair_blocks([1, 2], distance, layout)
