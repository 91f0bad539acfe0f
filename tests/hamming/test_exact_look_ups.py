"""Distance 0, as digests are looked up: one table is all that is needed, and none is left out."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import fingerprints

from dedup_filter.hamming import hamming_index
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.run import Run

few = st.one_of(st.sampled_from([0, 1, 2**63, 2**64 - 1]), fingerprints)
changes = st.lists(
    st.tuples(st.sampled_from(["add", "add", "add", "remove", "compact", "reopen"]), few),
    max_size=60,
)


@pytest.mark.parametrize("levels", ["usual", "small"])
@given(changes=changes, others=st.lists(few, max_size=5))
def test_the_rows_of_a_value_are_those_that_were_put_there(levels, changes, others, request):
    if levels == "small":
        request.getfixturevalue("small_levels")
    index, rows = HammingIndex(0), defaultdict(set)
    for row, (change, value) in enumerate(changes):
        if change == "add":
            index.add(value, row)
            rows[value].add(row)
        elif change == "remove" and rows[value]:
            index.remove(value, min(rows[value]))
            rows[value].remove(min(rows[value]))
        elif change == "compact":
            index.compact()
        elif change == "reopen":
            index = HammingIndex.from_sealed(index.sealed())
    for value in [*rows, *others]:
        expected = sorted(rows.get(value, ()))
        assert index.rows_of(value) == expected
        assert [match.row for match in index.within(value)] == expected
        assert index.within_many([value]).rows.tolist() == expected
    index.check()


@pytest.fixture
def many():
    return np.random.default_rng(3).integers(0, 2**64, 100_000, np.uint64)


@pytest.mark.parametrize("max_distance", [0, 1, 2, 3])
def test_a_look_up_among_many_compares_few(many, max_distance, monkeypatch):
    index = HammingIndex(max_distance, expected=len(many))
    index.add_many(many, np.arange(len(many)))
    compared, near = [], hamming_index.near_places

    def counting(entries, *others):
        compared.append(len(entries))
        return near(entries, *others)

    monkeypatch.setattr(hamming_index, "near_places", counting)
    assert [match.row for match in index.within(int(many[7]))] == [7]
    assert sum(compared) <= 100


@pytest.mark.parametrize("max_distance", [0, 3])
def test_additions_beside_many_are_merged_and_not_sorted_with_them(many, max_distance, monkeypatch):
    index = HammingIndex(max_distance, expected=len(many))
    index.add_many(many, np.arange(len(many)))
    make = Run.of

    def of_few(shape, pairs):
        assert pairs.size < len(many)
        return make(shape, pairs)

    monkeypatch.setattr(Run, "of", of_few)
    for row in range(10_000):
        index.add(row, row)
    assert len(index._runs[0]) > len(many)
    assert index.rows_of(5) == [5]
