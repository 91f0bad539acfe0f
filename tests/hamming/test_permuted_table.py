from collections import Counter
from fractions import Fraction

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import ALL_ONES, fingerprints

from dedup_filter.hamming import Permutation, Run

UNCHANGED = Permutation(range(63, -1, -1))
LAST_BYTE_FIRST = Permutation([*range(7, -1, -1), *range(63, 7, -1)])
permutations = st.sampled_from([UNCHANGED, LAST_BYTE_FIRST])
few = st.sampled_from([0, 5, 5 << 56, 1 << 63, ALL_ONES])
values_some_equal = st.lists(st.one_of(few, fingerprints), max_size=40)


def run_of(values, permutation=UNCHANGED, prefix_bits=16):
    run = Run.of(permutation, prefix_bits, np.array(list(values), np.uint64))
    run.check()
    return run


def candidates(run, *keys):
    return run.candidates(*run.spans(np.array(keys, np.intp))).tolist()


def key_of(run, value):
    return oracles.permute(value, run.permutation.order) >> 64 - run.directory_bits


@given(st.lists(fingerprints, max_size=40), permutations, st.integers(1, 20))
def test_a_run_holds_what_it_was_made_of_in_permuted_order(values, permutation, prefix_bits):
    run = run_of(values, permutation, prefix_bits)
    expected = sorted(values, key=lambda value: oracles.permute(value, permutation.order))
    assert run.entries.tolist() == expected
    assert len(run) == len(values)
    assert run.nbytes == 8 * len(values) + run.directory.nbytes


@given(st.lists(fingerprints, min_size=1, max_size=40), permutations, st.data())
def test_the_candidates_of_keys_are_all_entries_that_begin_with_them(values, permutation, data):
    run = run_of(values, permutation, 6)
    any_key = st.integers(0, (1 << run.directory_bits) - 1)
    keys = data.draw(st.lists(any_key, max_size=5))
    expected = [
        value for key in keys for value in run.entries.tolist() if key_of(run, value) == key
    ]
    assert candidates(run, *keys) == expected
    lengths = run.spans(np.array(keys, np.intp))[1]
    assert sum(lengths.tolist()) == len(expected)


def test_candidates_come_by_slices_where_many_begin_alike():
    values = [number << 40 for number in range(500)] + [1 << 63]
    run = run_of(values, prefix_bits=2)
    assert candidates(run, 2, 0, 1) == [1 << 63, *values[:-1]]


def test_the_first_and_the_last_entry_are_candidates():
    run = run_of([0, ALL_ONES, 9 << 60])
    last = (1 << run.directory_bits) - 1
    assert candidates(run, 0) == [0]
    assert candidates(run, last)[-1] == ALL_ONES


def test_an_empty_run_has_no_candidates():
    run = run_of([])
    assert candidates(run, 0, 1) == []
    assert len(run) == 0


def test_equal_fingerprints_are_entries_each():
    assert candidates(run_of([7, 7, 7]), 0) == [7, 7, 7]


@given(fingerprints, permutations, st.integers(1, 64))
def test_prefix_moves_make_the_first_bits_a_number(value, permutation, bits):
    moves = permutation.prefix_moves(bits)
    key = sum(Fraction(value & mask) * Fraction(2) ** by for mask, by in moves)
    assert key == oracles.permute(value, permutation.order) >> 64 - bits


def test_a_directory_has_no_more_bits_than_the_prefix_nor_than_pay():
    assert run_of(range(1000), prefix_bits=4).directory_bits == 4
    assert run_of(range(1000), prefix_bits=60).directory_bits == 8
    assert run_of([], prefix_bits=16).directory_bits == 1


def test_check_notices_entries_out_of_order():
    run = run_of([1, 2, 3 << 60])
    run.entries[:] = run.entries[::-1].copy()
    with pytest.raises(AssertionError):
        run.check()


def test_check_notices_a_directory_that_points_elsewhere():
    run = run_of([1, 2, 3 << 60])
    run.directory[1] += 1
    with pytest.raises(AssertionError):
        run.check()


def array(entries):
    return np.array(list(entries), np.uint64)


@given(values_some_equal, values_some_equal, permutations, st.integers(1, 20), st.data())
def test_a_merged_run_is_one_made_of_the_same_entries(old, added, permutation, prefix, data):
    removed = data.draw(st.lists(st.sampled_from(old), max_size=9)) if old else []
    removed = list((Counter(removed) & Counter(old)).elements())
    run = run_of(old, permutation, prefix)
    before = run.entries.tolist()
    leaving = run.places_of(array(removed))
    assert sorted(run.entries[leaving].tolist()) == sorted(removed)
    assert leaving.tolist() == sorted(set(leaving.tolist()))
    new = run.merged(leaving, array(added))
    new.check()
    expected = run_of(
        (Counter(old) - Counter(removed) + Counter(added)).elements(), permutation, prefix
    )
    assert new.entries.tolist() == expected.entries.tolist()
    assert new.directory.tolist() == expected.directory.tolist()
    assert run.entries.tolist() == before, "the old run is still asked"


def test_an_entry_added_or_removed_at_either_end_is_in_its_place():
    run = run_of([0, 1 << 60, ALL_ONES])
    new = run.merged(array([]).astype(int), array([0, ALL_ONES]))
    assert new.entries.tolist() == [0, 0, 1 << 60, ALL_ONES, ALL_ONES]
    new = run.merged(np.array([0, 2]), array([]))
    assert new.entries.tolist() == [1 << 60]


def test_rows_take_four_bytes_until_one_is_too_large():
    small = Run.of(UNCHANGED, 16, array([2, 1]), np.array([2**32 - 1, 5]))
    assert small.rows.dtype == np.uint32
    new = small.merged(np.array([0]), array([3]), np.array([2**40]))
    assert new.rows.dtype == np.int64
    assert new.rows.tolist() == [2**32 - 1, 2**40]
