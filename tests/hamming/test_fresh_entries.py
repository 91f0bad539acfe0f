import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.hamming.fresh_entries import FreshEntries

some_pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), max_size=9, unique=True)


def fresh_of(pairs):
    fresh = FreshEntries(10)
    for pair in pairs:
        fresh.add(*pair)
    fresh.check()
    return fresh


@given(some_pairs, st.data())
def test_what_was_added_and_not_removed_is_there(pairs, data):
    fresh = fresh_of(pairs)
    left = set(pairs)
    for pair in data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else ():
        assert fresh.discard(*pair)
        assert not fresh.discard(*pair)
        fresh.check()
        left.remove(pair)
    assert len(fresh) == len(left)
    fingerprints, rows = (column.tolist() for column in fresh.pairs)
    assert set(zip(fingerprints, rows, strict=True)) == left
    assert sorted(fingerprints) == sorted(fresh.fingerprints.tolist())
    for fingerprint in range(4):
        for row in range(7):
            assert ((fingerprint, row) in fresh) == ((fingerprint, row) in left)
        of_it = sorted(row for other, row in left if other == fingerprint)
        assert fresh.rows_of(fingerprint) == of_it


def test_check_notices_a_pair_that_only_the_arrays_have():
    fresh = fresh_of([(1, 5), (1, 6)])
    fresh.pairs.rows[1] = 7
    with pytest.raises(AssertionError):
        fresh.check()
