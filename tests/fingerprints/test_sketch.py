"""Sketches against plain sets of Python."""

import random
from itertools import pairwise

import numpy as np
import pytest
from gate import slow
from hypothesis import example, given
from hypothesis import strategies as st
from made_profiles import hashes_of

from dedup_filter.fingerprints.sketch import (
    MOST_BLOCKS,
    MOST_SKETCH_BYTES,
    contained,
    distinct_hashes,
    found_in,
    is_sketch,
    row_in,
    shared,
    sketch,
    thinned,
)

MOST = 2**32 - 1
WHOLE = 240
"""Shingles up to which a sketch is the whole set."""


def drawn(seed, count, most=2**32):
    """A set that a page may have: hashes that nothing chose."""
    return set(hashes_of(seed, count, most).tolist())


hashes = st.integers(0, MOST)
edges = st.sampled_from([0, 1, 2**16 - 2, 2**16 - 1, 2**16, 2**31 - 1, 2**31, MOST - 1, MOST])
tiny = st.integers(0, 2_000)
huge = st.integers(MOST - 2_000, MOST)
runs = st.builds(
    lambda first, step, count: {first + step * n for n in range(count) if first + step * n <= MOST},
    hashes | edges,
    st.sampled_from([1, 2, 65_534, 65_535, 65_536, 2**20, 2**24, 2**31]),
    st.integers(0, 1_500),
)
strangers = st.builds(
    drawn, st.integers(0, 2**32), st.integers(0, 3_000), st.sampled_from([2**12, 2**20, 2**32])
)
sets = st.one_of(
    st.sets(hashes | edges, max_size=40),
    st.sets(tiny | huge | edges, max_size=400),
    runs,
    strangers,
    st.builds(set.union, runs, strangers),
)
"""Any: random ones, all hashes tiny, all at the end, all gaps equal, and mixtures."""

WITH_WIDE_GAPS = {*range(0, 170 * 2**10, 2**10), *range(0, MOST, 2**26)}
"""233 hashes that would take 594 bytes."""


def array(values):
    return np.array(sorted(values), np.uint32)


def made(values):
    return sketch(array(values))


def bound(packed):
    """The largest hash of which a sketch can tell, as its head note has it."""
    return 2 ** (32 - packed[0]) - 1


def kept(values, packed):
    """What a sketch holds of a set, by the head note: the hashes below its bound, cut to b bits."""
    shift = 32 - packed[0] - packed[1]
    return {value >> shift for value in values if value <= bound(packed)}


def counts(values, packed):
    there, asked, _ = contained(array(values), [packed])
    return int(there[0]), int(asked[0])


def size_of(packed):
    """How many hashes a sketch holds."""
    return int(contained(array([]), [packed])[2][0])


class TestASketch:
    @given(sets, sets)
    @example(set(), {5})
    @example({0, MOST}, {5})
    @example(WITH_WIDE_GAPS, set())
    @example(set(range(100_000)), set())
    @example(set(range(0, MOST, 2**15)), set())
    @example(set(range(MOST - 50_000, MOST + 1)), set())
    def test_holds_the_hashes_below_its_bound_and_no_others(self, values, others):
        packed = made(values)
        assert type(packed) is bytes
        assert is_sketch(packed)
        assert len(packed) <= 512 < MOST_SKETCH_BYTES == 1536
        mine = kept(values, packed)
        assert size_of(packed) == len(mine)
        page = sorted(values | others)
        random.Random(len(page)).shuffle(page)
        are_asked, are_there = (
            each.tolist() for each in found_in(np.array(page, np.uint32), packed)
        )
        shift = 32 - packed[0] - packed[1]
        for value, is_asked, is_there in zip(page, are_asked, are_there, strict=True):
            assert is_asked == (value <= bound(packed))
            assert is_there == (is_asked and value >> shift in mine)
        assert counts(page, packed) == (sum(are_there), sum(are_asked))

    @given(sets)
    @example(set(range(0, MOST, MOST // 190)))
    @example(WITH_WIDE_GAPS)
    def test_is_no_smaller_than_need_be(self, values):
        """Of up to 190 hashes it is all: with 22 bits at most 64 gaps take four bytes."""
        packed = made(values)
        if packed[0]:
            twice = [value for value in values if value <= 2 * bound(packed) + 1]
            scale = packed[0] - 1
            bits = min(14 + len(twice).bit_length(), 32 - scale)
            short = sorted({value >> (32 - scale - bits) for value in twice})
            gaps = [value - before for before, value in pairwise([0, *short])]
            assert len(twice) > WHOLE or 4 + 2 * sum(1 + gap // 65_535 for gap in gaps) > 512

    @pytest.mark.parametrize(
        ("size", "sampled", "count"), [(0, 0, 1), (50, 0, 100), (230, 0, 200), (WHOLE, 5, 1_000)]
    )
    def test_of_up_to_240_shingles_is_the_whole_set_but_for_few(self, size, sampled, count):
        sets = [drawn((size, seed), size) for seed in range(count)]
        packed = [made(values) for values in sets]
        assert sum(each[0] > 0 for each in packed) <= sampled
        for values, each in zip(sets, packed, strict=True):
            # Two that are alike in their first 14 to 22 bits are one.
            assert each[0] or len(values) - 2 <= size_of(each) <= len(values)

    @pytest.mark.parametrize("size", [241, 1_000, 10_000, 100_000])
    def test_of_more_holds_85_to_240(self, size):
        for seed in range(4):
            assert 85 <= size_of(sketch(hashes_of((size, seed), size))) <= WHOLE


class TestContainment:
    @given(st.lists(sets, max_size=5), sets)
    def test_in_many_is_that_in_each_by_itself(self, originals, page):
        packed = [made(each) for each in originals]
        there, asked, sizes = (each.tolist() for each in contained(array(page), packed))
        assert list(zip(there, asked, strict=True)) == [counts(page, each) for each in packed]
        assert sizes == [size_of(each) for each in packed]

    def test_of_repeated_hashes_tells_of_each_repeat(self):
        packed = made({5, 2**31})
        are_asked, are_there = found_in(np.array([2**31, 5, 2**30, 5], np.uint32), packed)
        assert are_asked.all()
        assert are_there.tolist() == [True, True, False, True]

    @pytest.mark.parametrize("size", [240, *(slow(size) for size in (50, 2_000))])
    def test_finds_a_shingle_that_is_not_there_once_in_16384_times(self, size):
        asked = found = 0
        for seed in range(8):
            original = hashes_of((size, seed), size)
            packed = sketch(original)
            strange = np.random.default_rng(seed).integers(0, bound(packed), 100_000, np.uint32)
            are_asked, are_there = found_in(np.setdiff1d(strange, original), packed)
            asked, found = asked + int(are_asked.sum()), found + int(are_there.sum())
        # A sketch that has n hashes has room for 2**14 n to 2**15 n.
        assert asked / 2**15 * 0.5 - 5 < found < asked / 2**14 * 1.4 + 5


class TestARow:
    """Behind the hashes, a sketch has 16 bits of each block."""

    @given(sets, st.lists(st.integers(0, 2**16 - 1), max_size=40), st.integers(0, 700))
    def test_is_read_as_it_was_written_and_changes_no_hashes(self, values, blocks, more):
        row = np.array([*blocks, *range(more)], np.uint16)
        with_row, without = sketch(array(values), row), made(values)
        assert is_sketch(with_row)
        assert len(with_row) <= MOST_SKETCH_BYTES
        assert row_in(with_row).tolist() == row[:MOST_BLOCKS].tolist()
        assert row_in(without).tolist() == []
        assert thinned(with_row, 10**6) == with_row
        assert row_in(thinned(with_row, 130)).tolist() == row_in(with_row).tolist()
        assert thinned(with_row, 130).startswith(thinned(without, 130))
        assert counts(values, with_row) == counts(values, without)
        assert size_of(with_row) == size_of(without)
        pairs = [shared([one], [without]) for one in (with_row, without)]
        assert [int(each[0]) for each in pairs[0]] == [int(each[0]) for each in pairs[1]]


class TestTwoSketches:
    @given(st.lists(st.tuples(sets, sets), max_size=5))
    @example([({0, MOST}, {0}), (set(range(100_000)), set(range(50_000)))])
    @example([(drawn(1, 300), drawn(1, 300)), (drawn(2, 5_000), drawn(2, 5_000) | drawn(3, 200))])
    def test_share_the_hashes_that_both_can_tell_of(self, pairs):
        """Below the smaller bound, and alike in the bits that both have stored."""
        expected = []
        for one, other in pairs:
            packed = made(one), made(other)
            most = min(map(bound, packed))
            shift = 32 - min(each[0] + each[1] for each in packed)
            if most < 2**shift - 1:  # the bits do not tell whether a hash is below the bound
                most = -1
            below = [
                {value >> shift for value in values if value <= most} for values in (one, other)
            ]
            expected.append((len(below[0] & below[1]), *map(len, below)))
        found = shared([made(one) for one, _ in pairs], [made(other) for _, other in pairs])
        assert list(zip(*(each.tolist() for each in found), strict=True)) == expected


@st.composite
def with_a_byte_changed(draw):
    packed = bytearray(made(draw(sets)))
    packed[draw(st.integers(0, len(packed) - 1))] = draw(st.integers(0, 255))
    return bytes(packed)


class TestBytesThatAreNoSketch:
    @pytest.mark.parametrize("start", [b"", b"\0", b"\0\0\0", b"\0\x21", b"\x21\0", b"\x14\x0d"])
    def test_are_refused(self, start):
        assert not is_sketch(start)

    @pytest.mark.parametrize(
        ("count", "rest"),
        [(1, b"\xff\xfe"), (256, bytes(512)), (1_000, bytes(2_000)), (9, bytes(4))],
        ids=["beyond the bound", "too many", "far too many", "cut off"],
    )
    def test_with_gaps_that_none_has_are_refused(self, count, rest):
        assert not is_sketch(bytes([0, 14]) + count.to_bytes(2, "little") + rest)

    def test_with_more_blocks_than_any_has_are_refused(self):
        packed = made({5})
        assert is_sketch(packed + bytes(2 * MOST_BLOCKS))
        assert not is_sketch(packed + bytes(2 * MOST_BLOCKS + 2))
        assert not is_sketch(packed + bytes(3))

    @given(sets, st.integers(0, 32))
    def test_are_those_with_a_hash_beyond_the_bound(self, values, bits):
        packed = made(values)
        if bits < max(kept(values, packed), default=0).bit_length():
            assert not is_sketch(bytes([packed[0], bits]) + packed[2:])

    @given(st.binary(max_size=600) | with_a_byte_changed(), sets)
    def test_are_refused_or_can_be_compared(self, packed, values):
        if is_sketch(packed):
            there, asked = counts(values, packed)
            assert 0 <= there <= asked <= len(values)
            assert 0 <= size_of(packed) <= 255


@given(st.lists(st.integers(0, 2**64 - 1), max_size=50))
def test_hashes_of_a_set_are_upper_halves_once_each_in_order(shingles):
    found = distinct_hashes(np.array(shingles + shingles[::-1], np.uint64))
    assert found.dtype == np.uint32
    assert found.tolist() == sorted({value >> 32 for value in shingles})
