import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.index import RowMap

pairs = st.tuples(st.integers(0, 3), st.integers(0, 6))


@given(st.lists(pairs), st.lists(pairs))
def test_rows_are_those_added_and_not_removed(added, removed):
    rows, expected = RowMap(), set()
    for fingerprint, row in added:
        is_new = fingerprint not in {known for known, _ in expected}
        assert rows.add(fingerprint, row) == is_new
        expected.add((fingerprint, row))
        rows.check()
    for fingerprint, row in removed:
        if (fingerprint, row) in expected:
            expected.remove((fingerprint, row))
            is_gone = fingerprint not in {known for known, _ in expected}
            assert rows.remove(fingerprint, row) == is_gone
        else:
            with pytest.raises(KeyError, match=f"row {row} "):
                rows.remove(fingerprint, row)
        rows.check()
    assert len(rows) == len(expected)
    assert set(rows.fingerprints) == {fingerprint for fingerprint, _ in expected}
    for fingerprint in range(4):
        assert list(rows.of(fingerprint)) == sorted(row for f, row in expected if f == fingerprint)


def test_a_fingerprint_that_is_not_stored_has_no_rows():
    assert list(RowMap().of(0)) == []


def test_memory_grows_with_every_row():
    rows = RowMap()
    sizes = []
    for row in range(3):
        rows.add(0, row)
        sizes.append(rows.nbytes)
    assert sizes == sorted(set(sizes))


@pytest.mark.parametrize("broken", [[3, 2], [2, 2], [2]])
def test_check_notices_rows_out_of_order_repeated_or_alone(broken):
    rows = RowMap()
    rows.add(0, 1)
    rows._rows[0] = broken
    rows._row_count = len(broken)
    with pytest.raises(AssertionError):
        rows.check()


def test_check_notices_a_wrong_count():
    rows = RowMap()
    rows.add(0, 1)
    rows._row_count = 2
    with pytest.raises(AssertionError):
        rows.check()
