import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import ALL_ONES

from dedup_filter.hamming.compaction import finished
from dedup_filter.hamming.index_pairs import Pairs
from dedup_filter.hamming.row_run import RowRun

some_pairs = st.sets(
    st.tuples(st.sampled_from([0, 3, 3 << 60, ALL_ONES]), st.integers(0, 9)), max_size=30
)


def pairs_of(pairs):
    pairs = list(pairs)
    return Pairs(
        np.array([f for f, _ in pairs], np.uint64), np.array([r for _, r in pairs], np.int64)
    )


def row_run(pairs):
    made = RowRun.of(pairs_of(pairs), 16)
    made.check()
    return made


def merged(run, added, places):
    steps = run.merged(pairs_of(added), np.array(places, np.intp), 16)
    made = finished(steps)
    made.check()
    return made


def contents(run):
    return set(zip(run.run.entries.tolist(), run.rows.tolist(), strict=True))


@given(some_pairs)
def test_pairs_are_found_by_place_and_by_fingerprint(pairs):
    run = row_run(pairs)
    assert contents(run) == pairs
    for fingerprint in (0, 3, 5, ALL_ONES):
        start, length = (int(x[0]) for x in run.spans_of(np.array([fingerprint], np.uint64)))
        found = run.pairs_at(np.arange(start, start + length)).rows.tolist()
        assert sorted(found) == sorted(row for f, row in pairs if f == fingerprint)
        for row in range(10):
            place = run.place_of(fingerprint, row)
            assert (place is not None) == ((fingerprint, row) in pairs)
            if place is not None:
                assert run.pair_at(place) == (fingerprint, row)


@given(some_pairs, some_pairs, st.data())
def test_a_merged_one_has_what_came_and_not_what_went(old, added, data):
    removed = data.draw(st.sets(st.sampled_from(sorted(old)))) if old else set()
    run = row_run(old)
    places = np.array(sorted(run.place_of(*pair) for pair in removed), np.intp)
    new = merged(run, added - (old - removed), places)
    assert contents(new) == old - removed | added


def test_rows_take_four_bytes_until_one_is_too_large():
    small = row_run([(1, 5), (2, 2**32 - 1)])
    large = row_run([(1, 5), (2, 2**32)])
    assert small.rows.dtype == np.uint32
    assert large.rows.dtype == np.int64
    new = merged(small, [(3, 2**40)], [])
    assert contents(new) == {(1, 5), (2, 2**32 - 1), (3, 2**40)}


@pytest.mark.parametrize("rows", [[5, 5], [-1, 2]])
def test_check_notices_a_pair_twice_and_a_negative_row(rows):
    run = row_run([(1, 5), (1, 6)])
    run.rows = np.array(rows, np.int64)
    with pytest.raises(AssertionError):
        run.check()
