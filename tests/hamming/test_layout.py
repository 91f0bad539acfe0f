"""The guarantee of a layout, first as arithmetic, then on every pattern of few bits."""

from itertools import combinations_with_replacement, pairwise, product

import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.errors import ConfigError
from dedup_filter.hamming import Layout
from dedup_filter.hamming.layout import bit_flips, cut

NESTED = Layout(4, 1, Layout(4))


def damages(block_count, distance):
    """Every way to damage blocks that costs `distance` bits in all."""
    if block_count == 1:
        yield (distance,)
        return
    for first in range(distance + 1):
        for others in damages(block_count - 1, distance - first):
            yield (first, *others)


@pytest.mark.parametrize("block_count", range(2, 8))
def test_the_radius_is_the_most_that_the_least_damaged_blocks_can_hold(block_count):
    for leading, distance in product(range(2, block_count), range(13)):
        ascending = [
            damage
            for damage in combinations_with_replacement(range(distance + 1), block_count)
            if sum(damage) == distance
        ]
        worst = max(sum(damage[:leading]) for damage in ascending)
        shapes = Layout(block_count, leading).table_shapes
        assert {shape.radius(distance) for shape in shapes} == {worst}


@pytest.mark.parametrize("block_count", range(2, 7))
def test_one_leading_block_is_always_damaged_within_its_own_radius(block_count):
    for distance in range(13):
        radii = [shape.radius(distance) for shape in Layout(block_count).table_shapes]
        for damage in damages(block_count, distance):
            assert any(hurt <= radius for hurt, radius in zip(damage, radii, strict=True))
        assert sum(radius + 1 for radius in radii) == distance + 1  # not one probe too many


SMALL = [
    Layout(2),
    Layout(3),
    Layout(5),
    Layout(10),
    Layout(4, 2),
    Layout(5, 3),
    Layout(6, 5),
    Layout(2, 1, Layout(2)),
    Layout(3, 1, Layout(4)),
    Layout(4, 2, Layout(3, 2)),
    Layout(2, 1, Layout(2, 1, Layout(2))),
]


@pytest.mark.parametrize("layout", SMALL, ids=str)
def test_every_pattern_of_differing_bits_is_met_by_a_probe(layout):
    """All 1,024 patterns of a 10-bit fingerprint: what holds for 64 bits holds for ten."""
    shapes = list(layout.shapes_for(range(9, -1, -1)))
    prefixes = [sum(1 << bit for lead in shape.leads for bit in lead.positions) for shape in shapes]
    for distance in range(11):
        probes = [set(shape.probes(distance)) for shape in shapes]
        for pattern in range(1024):
            met = any(
                pattern & prefix in masks for prefix, masks in zip(prefixes, probes, strict=True)
            )
            assert met or oracles.distance(pattern, 0) > distance


@pytest.mark.parametrize("layout", [*SMALL, NESTED, Layout(8, 2)], ids=str)
def test_probes_are_distinct_and_as_many_and_as_wide_as_foretold(layout):
    for shape, distance in product(layout.table_shapes, range(6)):
        if shape.probe_count(distance) > 2000:
            continue
        probes = list(shape.probes(distance))
        assert len(set(probes)) == len(probes) == shape.probe_count(distance)
        flips = max((oracles.distance(mask, 0) for mask in probes), default=-1)
        assert flips == shape.radius(distance)


@pytest.mark.parametrize(
    ("layout", "tables", "prefix_bits", "distance"),
    [
        (Layout(4), 4, {16}, 3),
        (NESTED, 16, {28}, 3),
        (Layout(6, 3), 20, {31, 32, 33}, 3),
        (Layout(5, 2), 10, {25, 26}, 3),
        (Layout(8, 2), 28, {16}, 6),
    ],
    ids=str,
)
def test_the_layouts_of_the_literature_are_points_of_the_scheme(
    layout, tables, prefix_bits, distance
):
    assert layout.table_count == len(layout.tables_needed(distance)) == tables
    assert {shape.prefix_bits for shape in layout.table_shapes} == prefix_bits
    assert layout.probe_count(distance) == tables  # no neighbours needed up to here
    assert layout.probe_count(distance + 1) > tables


@pytest.mark.parametrize("distance", range(13))
def test_more_blocks_than_differing_bits_need_one_table_more_than_bits(distance):
    assert len(Layout(13).tables_needed(distance)) == distance + 1
    assert Layout(13).probe_count(distance) == distance + 1


def test_a_permuted_word_has_each_bit_once():
    for shape in (*NESTED.table_shapes, *Layout(6, 3).table_shapes):
        assert sorted(shape.order) == list(range(64))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Layout(1),
        lambda: Layout(65),
        lambda: Layout(4, 0),
        lambda: Layout(4, 4),
        lambda: Layout(True, 1),
        lambda: Layout(4.0, 1),
        lambda: Layout(4, 1, probe_radius=-1),
        lambda: Layout(16, 8),
        lambda: Layout(4, 1, Layout(49)),
        lambda: Layout(4, 1, Layout(4, probe_radius=0)),
    ],
)
def test_numbers_that_make_no_layout_are_refused(make):
    with pytest.raises(ConfigError):
        make()


def test_a_nested_layout_may_use_all_the_bits_that_are_left():
    assert Layout(4, 1, Layout(31, 1)).table_count == 124


@pytest.mark.parametrize(
    ("layout", "distance", "reason", "nearest"),
    [
        (
            Layout(6, 3, probe_radius=0),
            4,
            "put 1 into every prefix",
            "Layout(6, 2, probe_radius=0)",
        ),
        (Layout(4, probe_radius=0), 4, "flip at most 0", "Layout(5, 1, probe_radius=0)"),
        (Layout(4, probe_radius=1), 8, "flip at most 1", "Layout(5, 1, probe_radius=1)"),
        (Layout(6, 3), 12, "23,126,168 probes", "Layout(6, 1)"),
        (NESTED, 12, "245,408 probes", "Layout(4, 1)"),
    ],
    ids=str,
)
def test_a_layout_that_cannot_serve_a_distance_names_the_reason_and_the_nearest_that_can(
    layout, distance, reason, nearest
):
    with pytest.raises(ConfigError) as refusal:
        layout.require_exact(distance)
    assert reason in str(refusal.value)
    assert str(refusal.value).endswith(f"nearest that can: {nearest}")
    assert eval(nearest).is_exact(distance)  # what is shown can be typed in


def test_a_layout_is_shown_as_it_is_written():
    assert repr(NESTED) == "Layout(4, 1, Layout(4, 1))"
    assert str(NESTED) == "4 blocks of which 1 lead, then 4 blocks of which 1 lead"


@pytest.mark.parametrize("bad", [-1, 13, True, 3.0])
def test_a_distance_out_of_range_is_refused_by_every_layout(bad):
    with pytest.raises(ConfigError, match="from 0 to 12"):
        Layout(4).require_exact(bad)


def test_a_layout_that_may_probe_as_far_as_it_must_is_exact():
    assert Layout(6, 3, probe_radius=1).is_exact(4)
    assert not Layout(6, 3, probe_radius=0).is_exact(4)
    assert Layout(4, probe_radius=0).is_exact(3)


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


@given(st.sets(st.integers(0, 63), max_size=10).map(sorted), st.integers(0, 4))
def test_flips_are_all_masks_of_so_many_of_the_bits(positions, count):
    expected = [mask for mask in _all_masks(positions) if oracles.distance(mask, 0) == count]
    assert sorted(bit_flips(positions, count)) == sorted(expected)


def _all_masks(positions):
    for number in range(2 ** len(positions)):
        yield sum(1 << p for place, p in enumerate(positions) if number >> place & 1)
