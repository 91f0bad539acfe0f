import numpy as np
import pytest

from dedup_filter.hamming.numbers import fingerprint_of, fingerprints_of, row_of, rows_of


@pytest.mark.parametrize("value", [0, 2**64 - 1, np.uint64(7), np.int8(7)])
def test_a_fingerprint_is_a_plain_int(value):
    assert fingerprint_of(value) == int(value)
    assert type(fingerprint_of(value)) is int


@pytest.mark.parametrize("value", [0, 2**63 - 1, np.int64(7)])
def test_a_row_is_a_plain_int(value):
    assert row_of(value) == int(value)
    assert type(row_of(value)) is int


@pytest.mark.parametrize("value", [True, np.bool_(False), 1.0, "1", None])
@pytest.mark.parametrize("convert", [fingerprint_of, row_of])
def test_what_is_no_integer_is_refused_by_its_type(value, convert):
    with pytest.raises(TypeError, match=type(value).__name__):
        convert(value)


@pytest.mark.parametrize(
    ("convert", "value"),
    [(fingerprint_of, -1), (fingerprint_of, 2**64), (row_of, -1), (row_of, 2**63)],
)
def test_a_number_out_of_range_is_refused_by_name(convert, value):
    with pytest.raises(ValueError, match=str(value)):
        convert(value)


@pytest.mark.parametrize("kind", [np.uint8, np.uint64, np.int64, object])
@pytest.mark.parametrize("convert", [fingerprints_of, rows_of])
def test_arrays_of_integers_and_lists_become_the_same_array(kind, convert):
    expected = convert([5, 0, 100])
    assert convert(np.array([5, 0, 100], kind)).tolist() == expected.tolist() == [5, 0, 100]
    assert expected.dtype == (np.uint64 if convert is fingerprints_of else np.int64)


def test_an_array_of_the_right_kind_is_not_copied():
    array = np.array([1, 2], np.uint64)
    assert fingerprints_of(array) is array


def test_the_largest_numbers_pass():
    assert fingerprints_of([2**64 - 1, 0]).tolist() == [2**64 - 1, 0]
    assert rows_of(np.array([2**63 - 1], np.uint64)).tolist() == [2**63 - 1]
