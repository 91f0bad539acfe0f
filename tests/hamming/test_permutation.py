import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import fingerprints

from dedup_filter.hamming import Permutation

any_order = st.permutations(range(64))
block_order = st.integers(0, 63).map(lambda cut: [*range(cut, -1, -1), *range(63, cut, -1)])
orders = st.one_of(any_order, block_order)


@given(orders, fingerprints)
def test_bits_stand_where_the_order_says(order, fingerprint):
    assert Permutation(order).apply(fingerprint) == oracles.permute(fingerprint, order)


@given(orders, fingerprints)
def test_undo_brings_every_bit_back(order, fingerprint):
    permutation = Permutation(order)
    assert permutation.undo(permutation.apply(fingerprint)) == fingerprint


@given(orders, fingerprints, fingerprints)
def test_distances_do_not_change(order, a, b):
    permutation = Permutation(order)
    permuted = oracles.distance(permutation.apply(a), permutation.apply(b))
    assert permuted == oracles.distance(a, b)


@given(orders, st.lists(fingerprints, max_size=10))
def test_an_array_is_permuted_as_its_fingerprints_are(order, values):
    permutation = Permutation(order)
    array = np.array(values, np.uint64)
    permuted = permutation.apply_many(array)
    assert permuted.dtype == np.uint64
    assert permuted.tolist() == [oracles.permute(value, order) for value in values]
    assert permutation.undo_many(permuted).tolist() == values == array.tolist()


@pytest.mark.parametrize("order", [[], range(63), [*range(63), 0], range(1, 65)])
def test_an_order_that_is_no_permutation_is_refused(order):
    with pytest.raises(ValueError, match="each of the bit positions"):
        Permutation(order)
