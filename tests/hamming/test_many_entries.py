"""A look-up among many compares few, and additions beside many are merged."""

import numpy as np
import pytest

from dedup_filter.hamming import hamming_index
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.table import Table


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
    make = Table.of

    def of_few(shape, pairs):
        assert pairs.size < len(many)
        return make(shape, pairs)

    monkeypatch.setattr(Table, "of", of_few)
    for row in range(10_000):
        index.add(row, row)
    assert len(index._tables[0].entries) > len(many)
    assert index.rows_of(5) == [5]
