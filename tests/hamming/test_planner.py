import pytest

from dedup_filter.errors import ConfigError
from dedup_filter.hamming import Layout, plan
from dedup_filter.hamming.planner import (
    chance_neighbours,
    estimate,
    estimate_scan,
    paper_layouts,
    ranked,
    scan_limit,
)


@pytest.mark.parametrize("expected", [1, 10_000, 1_000_000, 10**9])
@pytest.mark.parametrize("max_distance", range(13))
def test_what_is_planned_is_exact_and_has_few_tables(max_distance, expected):
    layout = plan(max_distance, expected)
    assert layout.is_exact(max_distance)
    assert len(layout.tables_needed(max_distance)) <= 8
    assert expected < 10_000 or estimate(layout, max_distance, expected).bytes_per_entry <= 48


def test_up_to_three_bits_one_table_more_than_bits_is_planned():
    for max_distance in range(4):
        assert len(plan(max_distance).tables_needed(max_distance)) == max_distance + 1


def test_more_entries_ask_for_longer_prefixes():
    for max_distance in range(4, 13):
        few, many = plan(max_distance, 10**5), plan(max_distance, 10**9)
        assert few.table_shapes[0].prefix_bits < many.table_shapes[0].prefix_bits


@pytest.mark.parametrize(
    ("distance", "expected"), [(-1, 1), (13, 1), (True, 1), (3.0, 1), ("3", 1), (3, 0), (3, 1e6)]
)
def test_what_is_no_distance_or_count_is_refused(distance, expected):
    with pytest.raises(ConfigError, match=r"max_distance|expected"):
        plan(distance, expected_entries=expected)


def test_the_larger_the_distance_the_longer_a_scan_wins():
    limits = [scan_limit(Layout(4), distance) for distance in range(13)]
    assert limits == sorted(limits)
    assert 0 < limits[3] < limits[7] < limits[12]


def test_a_scan_wins_for_ever_where_the_tables_find_nearly_everything():
    assert scan_limit(Layout(2, 1, probe_radius=0), 0) < 10_000
    assert scan_limit(Layout(64, 1), 12) > 10**6  # prefixes of one bit


@pytest.mark.parametrize("max_distance", range(13))
def test_one_entry_more_than_the_limit_is_quicker_by_tables(max_distance):
    limit = scan_limit(Layout(4), max_distance)
    by_tables = [estimate(Layout(4), max_distance, limit + more).look_up_us for more in (0, 1)]
    assert estimate_scan(limit).look_up_us <= by_tables[0]
    assert estimate_scan(limit + 1).look_up_us > by_tables[1]


@pytest.mark.parametrize("max_distance", [0, 3, 7, 12])
def test_all_that_is_ranked_is_exact_and_what_fits_comes_first(max_distance):
    most_bytes = 60 * 10**7
    found = ranked(max_distance, 10**7, most_bytes)
    assert all(one.layout is None or one.layout.is_exact(max_distance) for one in found)
    fits = [one.bytes_per_entry * 10**7 <= most_bytes for one in found]
    assert fits == sorted(fits, reverse=True)
    times = [one.page_us for one, fit in zip(found, fits, strict=True) if fit]
    assert times == sorted(times)
    assert any(one.layout is None for one in found)
    assert 0 < fits.count(True) <= len(fits)


def test_candidates_are_the_papers_arithmetic():
    four, _, twenty, *_ = paper_layouts(3).values()
    assert estimate(four, 3, 2**34).candidates == 4 * 2**18  # section 3.2
    by_hand = sum(2.0**34 / 2**shape.prefix_bits for shape in twenty.table_shapes)
    assert estimate(twenty, 3, 2**34).candidates == pytest.approx(by_hand, rel=0.01)


def test_a_directory_is_no_longer_than_pays_for_the_entries():
    few, many = estimate(Layout(2), 1, 1000), estimate(Layout(2), 1, 2**33)
    assert few.candidates > 1  # 1000 entries cannot tell 2**32 prefixes apart
    assert many.candidates == 2 * 2**33 / 2**32
    assert few.bytes_per_entry < 4 + 2 * (8 + 2)


def test_chance_neighbours_are_counted_by_binomials():
    assert chance_neighbours(0, 2**64) == 1
    assert chance_neighbours(3, 10**9) == pytest.approx(10**9 * 43745 / 2**64)
