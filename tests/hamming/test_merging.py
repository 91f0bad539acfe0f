from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import ALL_ONES, fingerprints

from dedup_filter.hamming import Permutation, Run, merged, sorted_in_steps

UNCHANGED = Permutation(range(63, -1, -1))
LAST_BYTE_FIRST = Permutation([*range(7, -1, -1), *range(63, 7, -1)])
permutations = st.sampled_from([UNCHANGED, LAST_BYTE_FIRST])
few = st.sampled_from([0, 5, 5 << 56, 1 << 63, ALL_ONES])
values = st.lists(st.one_of(few, fingerprints), max_size=40)


def array(entries):
    return np.array(list(entries), np.uint64)


def drained(steps):
    """The run that steps end with, and how many there were."""
    count = 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value, count
        count += 1


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr("dedup_filter.hamming.merging.STEP", 4)


@given(values, values, permutations, st.integers(1, 20), st.data())
def test_a_merged_run_is_one_made_of_the_same_entries(old, added, permutation, prefix, data):
    removed = data.draw(st.lists(st.sampled_from(old), max_size=9)) if old else []
    removed = list((Counter(removed) & Counter(old)).elements())
    run = Run.of(permutation, prefix, array(old))
    before = run.entries.copy()
    new, _ = drained(merged(run, array(added), array(removed)))
    new.check()
    left = (Counter(old) - Counter(removed) + Counter(added)).elements()
    expected = Run.of(permutation, prefix, array(left))
    assert new.entries.tolist() == expected.entries.tolist()
    assert new.directory.tolist() == expected.directory.tolist()
    assert run.entries.tolist() == before.tolist(), "the old run is still asked"


@given(values, permutations, st.integers(1, 20))
def test_sorting_in_steps_is_sorting(entries, permutation, prefix):
    new, _ = drained(sorted_in_steps(permutation, prefix, array(entries)))
    new.check()
    assert new.entries.tolist() == Run.of(permutation, prefix, array(entries)).entries.tolist()


def test_a_step_moves_no_more_than_asked_for_where_entries_begin_differently():
    entries = array(number << 56 for number in range(256))
    new, steps = drained(merged(Run.of(UNCHANGED, 8, entries), array([3]), array([])))
    assert len(new) == 257
    assert steps >= 256 // 4


def test_entries_that_begin_alike_move_in_one_step():
    run = Run.of(UNCHANGED, 8, array([7] * 50))
    new, steps = drained(merged(run, array([7]), array([7, 7])))
    assert steps == 1
    assert new.entries.tolist() == [7] * 49


def test_an_entry_added_or_removed_at_either_end_is_in_its_place():
    run = Run.of(UNCHANGED, 8, array([0, 1 << 60, ALL_ONES]))
    new, _ = drained(merged(run, array([0, ALL_ONES]), array([])))
    assert new.entries.tolist() == [0, 0, 1 << 60, ALL_ONES, ALL_ONES]
    new, _ = drained(merged(run, array([]), array([0, ALL_ONES])))
    assert new.entries.tolist() == [1 << 60]
