"""What callers give: numbers, arrays of them, and pairs of fingerprint and row."""

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import ALL_ONES, fingerprints

from dedup_filter.hamming import distinct, hamming_distance
from dedup_filter.hamming.pairs import (
    NO_PAIRS,
    Pairs,
    fingerprint_of,
    fingerprints_of,
    places_in,
    row_of,
    rows_of,
)

some_pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12)


@pytest.mark.parametrize("value", [0, 2**63 - 1, np.int64(7), np.uint64(7), np.int8(7)])
@pytest.mark.parametrize("convert", [fingerprint_of, row_of])
def test_an_integer_of_any_kind_becomes_a_plain_int(value, convert):
    assert convert(value) == int(value)
    assert type(convert(value)) is int


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
    array = np.array([ALL_ONES, 2], np.uint64)
    assert fingerprints_of(array) is array


@given(fingerprints, fingerprints)
def test_the_distance_is_the_number_of_differing_bits(a, b):
    assert hamming_distance(a, np.uint64(b)) == oracles.distance(a, b)


@pytest.mark.parametrize(("a", "b"), [(0, -1), (2**64, 0), (1.0, 2)])
def test_there_is_no_distance_from_what_is_no_fingerprint(a, b):
    with pytest.raises((TypeError, ValueError), match="a fingerprint is"):
        hamming_distance(a, b)


def pairs_of(pairs):
    return Pairs(
        np.array([f for f, _ in pairs], np.uint64), np.array([r for _, r in pairs], np.int64)
    )


def contents(pairs):
    return list(zip(pairs.fingerprints.tolist(), pairs.rows.tolist(), strict=True))


@given(some_pairs, some_pairs)
def test_of_pairs_those_that_are_not_known_are_left_once_each(pairs, known):
    left = contents(pairs_of(pairs).not_in(pairs_of(known)))
    assert left == sorted(set(pairs) - set(known))


@given(st.lists(some_pairs, max_size=3))
def test_joined_pairs_are_those_of_every_part(parts):
    joined = contents(Pairs.joined([pairs_of(part) for part in parts]))
    assert joined == [pair for part in parts for pair in part]
    assert Pairs.joined([]) is NO_PAIRS


@given(st.lists(st.integers(0, 5), max_size=12))
def test_distinct_fingerprints_ascend(values):
    assert distinct(values).tolist() == sorted(set(values))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 4)), max_size=8))
def test_places_in_pieces_are_those_of_each_piece(pieces):
    starts = np.array([start for start, _ in pieces], np.intp)
    lengths = np.array([length for _, length in pieces], np.intp)
    expected = [place for start, length in pieces for place in range(start, start + length)]
    assert places_in(starts, lengths).tolist() == expected
