import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.fingerprints import SKETCH_BYTES, similarities, sketch

hash_sets = st.sets(st.integers(0, 2**64 - 1), max_size=80)


def sketch_of(values):
    return sketch(np.array(sorted(values), np.uint64))


def similarity_of(one, other):
    return float(similarities(sketch_of(one), sketch_of(other)[None, :])[0])


def random_hashes(generator, count):
    return set(generator.integers(0, 2**64, count, dtype=np.uint64).tolist())


@given(hash_sets)
def test_a_sketch_takes_256_bytes_and_ignores_order_and_repeats(values):
    repeated = np.array([*values, *sorted(values, reverse=True)], np.uint64)
    assert sketch(repeated).tobytes() == sketch_of(values).tobytes()
    assert len(sketch_of(values).tobytes()) == SKETCH_BYTES == 256


@given(hash_sets)
def test_a_sketch_holds_one_filled_bin_for_each_top_byte(values):
    filled = {index for index, value in enumerate(sketch_of(values)) if value}
    assert filled == {value >> 56 for value in values}


@given(st.sets(st.integers(0, 2**64 - 1) | st.integers(2**64 - 600, 2**64 - 1), max_size=80))
def test_a_byte_is_made_of_the_smallest_hash_of_its_bin(values):
    expected = [0] * 256
    for value in sorted(values, reverse=True):
        expected[value >> 56] = value % 255 + 1
    assert sketch_of(values).tolist() == expected


@given(st.sets(st.integers(0, 2**64 - 1), min_size=1, max_size=80))
def test_a_set_is_wholly_similar_to_itself(values):
    assert similarity_of(values, values) == 1.0


def test_nothing_is_similar_to_nothing():
    assert similarity_of(set(), set()) == 0.0


@pytest.mark.parametrize("shared", [0.0, 0.3, 0.5, 0.7, 0.8, 0.95])
@pytest.mark.parametrize("size", [60, 400, 4000])
def test_estimates_lie_around_the_exact_jaccard_similarity(shared, size):
    generator = np.random.default_rng(size)
    errors = []
    for _ in range(60):
        common = random_hashes(generator, round(2 * size * shared / (1 + shared)))
        rest = size - len(common)
        one = common | random_hashes(generator, rest)
        other = common | random_hashes(generator, rest)
        exact = len(one & other) / len(one | other)
        errors.append(similarity_of(one, other) - exact)
    # Standard error of one estimate is below 0.032; of the mean of 60 below 0.005.
    assert abs(np.mean(errors)) < 0.015
    assert np.std(errors) < 0.045


def test_many_sketches_are_compared_at_once():
    generator = np.random.default_rng(7)
    sets = [random_hashes(generator, 300) for _ in range(5)]
    matrix = np.stack([sketch_of(values) for values in sets])
    estimates = similarities(matrix[3], matrix)
    assert estimates.shape == (5,)
    assert estimates.argmax() == 3
