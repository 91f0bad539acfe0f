import tracemalloc

import numpy as np
import pytest

from dedup_filter.errors import ConfigError
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.layout import Layout
from dedup_filter.model import Match


def index_of(pairs, max_distance=3, layout=None):
    index = HammingIndex(max_distance, layout)
    for fingerprint, row in pairs:
        index.add(fingerprint, row)
    index.check()
    return index


@pytest.mark.parametrize("bad", [True, 1.0, "1", None, np.float64(1), np.bool_(True), -1, 2**64])
def test_what_is_no_fingerprint_or_row_is_refused_and_nothing_is_half_added(bad):
    index = index_of([(7, 1)])
    calls = [lambda: index.within(bad), lambda: index.rows_of(bad)]
    for call in (index.add, index.remove):
        calls += [lambda call=call: call(bad, 1), lambda call=call: call(7, bad)]
    for call in calls:
        with pytest.raises((TypeError, ValueError), match=r"is an integer|is from 0|is 0 or more"):
            call()
    assert len(index) == 1
    index.check()


@pytest.mark.parametrize("kind", [np.uint64, np.int64, np.int32, np.uint8])
def test_numpy_integers_are_integers_and_come_back_plain(kind):
    index = index_of([(kind(7), kind(1))])
    (match,) = index.within(kind(6))
    assert match == Match(1, 7, 1)
    assert [type(value) for value in match] == [int, int, int]


@pytest.mark.parametrize("bad", [-1, 4, True, 2.0])
def test_a_query_distance_beyond_the_indexs_own_is_refused(bad):
    with pytest.raises(ValueError, match="from 0 to 3"):
        HammingIndex(3).within(0, bad)


@pytest.mark.parametrize("layout", [None, Layout(4)], ids=str)
@pytest.mark.parametrize("bad", [-1, 13, 65, True, 3.0, None])
def test_an_index_for_a_distance_out_of_range_is_refused(bad, layout):
    with pytest.raises(ConfigError, match="from 0 to 12"):
        HammingIndex(bad, layout)


@pytest.mark.parametrize(
    ("fingerprints", "rows", "error"),
    [
        ([1, -1], [0, 1], ValueError),
        ([1, 2**64], [0, 1], ValueError),
        ([1, 2.0], [0, 1], TypeError),
        ([1, True], [0, 1], TypeError),
        ([1, 2], [0, -1], ValueError),
        ([1, 2], [0, 2**63], ValueError),
        ([1, 2], [0], ValueError),
        (np.array([1, -2]), [0, 1], ValueError),
        (np.array([1, 2]), np.array([0, -1]), ValueError),
        (np.array([1, 2]), np.array([0, 2**63], np.uint64), ValueError),
        (np.array([1.0, 2.0]), [0, 1], TypeError),
        (np.array([[1], [2]]), [0, 1], (TypeError, ValueError)),
    ],
)
def test_of_many_with_one_that_is_refused_none_is_added(fingerprints, rows, error):
    index = index_of([(7, 1)])
    with pytest.raises(error):
        index.add_many(fingerprints, rows)
    assert len(index) == 1
    index.check()


@pytest.mark.parametrize("max_distance", [3, 8])
def test_the_memory_told_is_what_is_allocated(max_distance):
    generator = np.random.default_rng(5)
    fingerprints = generator.integers(0, 2**64, 50_000, np.uint64)
    first = HammingIndex(max_distance)
    first.add_many(fingerprints, np.arange(50_000))
    first.within(0)  # makes what is cached for all
    first.rows_of(0)
    tracemalloc.start()
    try:
        index = HammingIndex(max_distance)
        index.add_many(fingerprints, np.arange(50_000))
        for row, fingerprint in enumerate(fingerprints[:100].tolist()):
            index.remove(fingerprint, row)
        allocated, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.9 * allocated < index.nbytes < 1.1 * allocated
    assert index.nbytes < 64 * 50_000
