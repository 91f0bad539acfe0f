"""The guarantee of a layout, first as arithmetic, then on every pattern of few bits."""

from itertools import product

import oracles
import pytest

from dedup_filter.errors import ConfigError
from dedup_filter.hamming.layout import Layout, moved

SMALL = [Layout(2), Layout(3), Layout(5), Layout(10), Layout(4, 2), Layout(5, 3), Layout(6, 5)]


@pytest.mark.parametrize("layout", SMALL, ids=repr)
def test_every_pattern_of_differing_bits_is_met_by_a_probe(layout):
    """All 1,024 patterns of a 10-bit fingerprint: what holds for 64 bits holds for ten."""
    assert eval(repr(layout)) == layout
    shapes = list(layout.shapes_for(range(9, -1, -1)))
    assert len(shapes) == layout.table_count
    for distance in range(11):
        probes = [set(shape.probes(distance)) for shape in shapes[: layout.needed(distance)]]
        assert not any(list(shape.probes(distance)) for shape in shapes[layout.needed(distance) :])
        assert (max(map(len, probes)) == 1) == (distance <= layout.reach)
        for pattern in range(1024):
            met = any(
                moved(pattern, shape.key_moves(shape.prefix_bits)) in masks
                for shape, masks in zip(shapes, probes, strict=False)
            )
            assert met or oracles.distance(pattern, 0) > distance


@pytest.mark.parametrize("layout", [*SMALL, Layout(4), Layout(8, 2)], ids=repr)
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
        (Layout(6, 3), 20, {31, 32, 33}, 3),
        (Layout(5, 2), 10, {25, 26}, 3),
        (Layout(8, 2), 28, {16}, 6),
    ],
    ids=repr,
)
def test_the_layouts_of_the_literature_are_points_of_the_scheme(
    layout, tables, prefix_bits, distance
):
    assert layout.table_count == len(layout.tables_needed(distance)) == tables
    assert {shape.prefix_bits for shape in layout.table_shapes} == prefix_bits
    assert layout.probe_count(distance) == tables  # no neighbours needed up to here
    assert layout.probe_count(distance + 1) > tables
    assert all(sorted(shape.order) == list(range(64)) for shape in layout.table_shapes)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Layout(1),
        lambda: Layout(65),
        lambda: Layout(4, 0),
        lambda: Layout(4, 4),
        lambda: Layout(True, 1),
        lambda: Layout(4.0, 1),
        lambda: Layout(16, 8),
    ],
)
def test_numbers_that_make_no_layout_are_refused(make):
    with pytest.raises(ConfigError):
        make()


@pytest.mark.parametrize(
    ("layout", "distance", "reason"),
    [
        (Layout(6, 3), 12, "23,126,168 probes"),
        (Layout(2), 8, "46,938 probes"),
    ],
    ids=repr,
)
def test_a_layout_that_cannot_serve_a_distance_names_the_reason_and_one_that_can(
    layout, distance, reason
):
    with pytest.raises(ConfigError, match=reason) as refusal:
        layout.require_exact(distance)
    better = str(refusal.value).rpartition("one that can: ")[2]
    assert eval(better).is_exact(distance)  # what is shown can be typed in
