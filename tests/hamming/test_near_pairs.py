import random
from importlib import import_module
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import distance
from strategies import ALL_ONES, damage, fingerprints

from dedup_filter import near_pairs
from dedup_filter.errors import ConfigError
from dedup_filter.hamming import Layout, pair_blocks
from dedup_filter.hamming.near_pairs import pair_layout

MODULE = import_module("dedup_filter.hamming.near_pairs")  # the package has a function of that name


def layouts(max_distance):
    """Exact layouts of at most 128 tables, the probed prefixes of at most 22 bits."""
    every = [Layout(m, n) for m in range(2, 15) for n in range(1, m) if comb(m, n) <= 128]
    return [
        layout
        for layout in every
        if layout.is_exact(max_distance)
        and all(
            shape.prefix_bits <= 22 or not shape.radius(max_distance)
            for shape in layout.tables_needed(max_distance)
        )
    ]


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


def crowd(seed, centres=12, each=15, most=14):
    """So many fingerprints, up to `most` bits from some centre, and the two ends of the range."""
    rng = random.Random(seed)
    values = [0, 1, ALL_ONES, ALL_ONES - 1]
    for _ in range(centres):
        centre = rng.getrandbits(64)
        for _ in range(each):
            bits = rng.sample(range(64), rng.randint(0, most))
            values.append(centre ^ sum(1 << bit for bit in bits))
    return values


CROWD = crowd(7)


@given(st.data(), st.integers(0, 12))
def test_all_pairs_are_found_and_no_others_for_any_fingerprints(data, max_distance):
    batch = data.draw(batches(max_distance))
    assert near_pairs(batch, max_distance) == all_pairs(batch, max_distance)


@pytest.mark.parametrize("max_distance", range(1, 13))
def test_every_layout_that_may_be_chosen_finds_the_pairs_of_a_crowd(max_distance):
    expected = all_pairs(CROWD, max_distance)
    assert len(expected) > 5
    for layout in [None, *layouts(max_distance)[::4]]:
        assert pairs_by(layout, CROWD, max_distance) == expected, layout


@pytest.mark.parametrize("block", [1, 2, 7, 64])
@pytest.mark.parametrize("max_distance", [3, 7, 10])
def test_small_blocks_and_lists_lose_none(monkeypatch, block, max_distance):
    monkeypatch.setattr(MODULE, "_BLOCK", block)
    monkeypatch.setattr(MODULE, "_LISTED", block)
    expected = all_pairs(CROWD, max_distance)
    assert pairs_by(None, CROWD, max_distance) == expected
    assert pairs_by(Layout(4), CROWD, max_distance) == expected


def test_a_crowd_of_near_fingerprints_makes_all_its_pairs_in_bounded_blocks():
    values = [1 << a | 1 << b for a, b in combinations(range(40), 2)]  # any two at most 4 apart
    blocks = list(pair_blocks(values, 4, Layout(3)))
    assert sum(map(len, blocks)) == len(values) * (len(values) - 1) // 2
    assert max(map(len, blocks)) < 2 * 2**16


def test_equal_fingerprints_count_as_one_and_one_makes_no_pair():
    assert near_pairs([5] * 1000 + [4] * 1000, 1) == [(4, 5)]
    assert near_pairs([5] * 1000, 12) == near_pairs([], 12) == []
    assert pairs_by(Layout(4), [7], 3) == []


def test_arrays_and_iterators_are_taken_like_lists():
    expected = all_pairs(CROWD, 3)
    array = np.array(CROWD, np.uint64)
    assert near_pairs(array, 3) == expected
    assert array.tolist() == CROWD, "the caller's"
    assert near_pairs(iter(CROWD), 3) == expected
    assert near_pairs(np.array([1, 3], np.int32), 3) == [(1, 3)]


def test_the_order_of_blocks_does_not_depend_on_that_of_the_fingerprints():
    first = np.concatenate(list(pair_blocks(CROWD, 8)))
    second = np.concatenate(list(pair_blocks(CROWD[::-1], 8)))
    assert first.tolist() == second.tolist()


@pytest.mark.parametrize("bad", [-1, 2**64, "1", 1.5, None, True])
def test_what_is_no_fingerprint_is_refused_and_named(bad):
    with pytest.raises((TypeError, ValueError), match=str(bad)):
        near_pairs([1, bad], 3)


@pytest.mark.parametrize("bad", [-1, 13, 2.0])
def test_a_distance_out_of_range_is_refused_before_anything_is_done(bad):
    with pytest.raises(ConfigError, match="max_distance"):
        pair_blocks([1, 2], bad)


def test_a_layout_that_would_miss_pairs_is_refused():
    with pytest.raises(ConfigError, match="one that can"):
        pair_blocks([1, 2], 5, Layout(4, probe_radius=0))


def test_the_more_fingerprints_the_longer_the_prefixes():
    layouts = [pair_layout(count) for count in (1, 10**4, 30_000, 10**5, 10**6, 10**8)]
    prefixes = [layout.table_shapes[0].prefix_bits for layout in layouts]
    assert prefixes == sorted(prefixes)
    assert all(layout.is_exact(k) for layout in layouts for k in range(13))
