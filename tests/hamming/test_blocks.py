from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.hamming import cut


def widths(block_count):
    return [len(block) for block in cut(range(63, -1, -1), block_count)]


def test_the_blocks_of_the_literature_have_its_widths():
    assert widths(4) == [16, 16, 16, 16]
    assert widths(6) == [11, 11, 11, 11, 10, 10]
    assert widths(8) == [8] * 8


def test_the_most_significant_block_comes_first():
    assert cut(range(63, -1, -1), 2) == [tuple(range(63, 31, -1)), tuple(range(31, -1, -1))]


@given(st.lists(st.integers(), min_size=1, max_size=64, unique=True), st.data())
def test_blocks_are_contiguous_complete_and_nearly_equal(positions, data):
    block_count = data.draw(st.integers(1, len(positions)))
    blocks = cut(positions, block_count)
    assert len(blocks) == block_count
    assert [position for block in blocks for position in block] == positions
    assert all(len(a) - len(b) in (0, 1) for a, b in pairwise(blocks))
    assert len(blocks[0]) - len(blocks[-1]) <= 1
