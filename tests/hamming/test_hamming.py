import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import ALL_ONES, fingerprints

from dedup_filter.hamming.distance import hamming_distance, hamming_distances


@given(fingerprints, fingerprints)
def test_the_distance_is_the_number_of_differing_bits(a, b):
    assert hamming_distance(a, b) == oracles.distance(a, b)


def test_the_furthest_fingerprints_differ_in_64_bits():
    assert hamming_distance(0, ALL_ONES) == 64


def test_numpy_integers_of_any_kind_are_fingerprints():
    assert hamming_distance(np.uint64(ALL_ONES), np.int32(1)) == 63


@pytest.mark.parametrize("bad", [-1, 2**64])
def test_a_number_that_is_no_fingerprint_is_refused(bad):
    with pytest.raises(ValueError, match="0 to 2\\*\\*64-1"):
        hamming_distance(0, bad)
    with pytest.raises(ValueError, match="0 to 2\\*\\*64-1"):
        hamming_distance(bad, 0)


def test_a_float_is_refused():
    with pytest.raises(TypeError):
        hamming_distance(1.0, 2)


@given(fingerprints, st.lists(fingerprints, max_size=20))
def test_one_against_many_is_each_pair_by_itself(one, many):
    distances = hamming_distances(one, np.array(many, np.uint64))
    assert distances.dtype == np.uint8
    assert distances.tolist() == [oracles.distance(one, other) for other in many]
