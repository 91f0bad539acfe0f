import pytest

from dedup_filter.errors import ConfigError
from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.planner import (
    estimate,
    estimate_scan,
    first_ring,
    papers,
    plan,
    ranked,
    scan_limit,
)


@pytest.mark.parametrize("expected", [1, 10_000, 1_000_000, 10**9])
@pytest.mark.parametrize("max_distance", range(13))
def test_what_is_planned_is_exact_and_has_few_tables(max_distance, expected):
    layout = plan(max_distance, expected)
    assert layout.is_exact(max_distance)
    assert len(layout.tables_needed(max_distance)) <= 8
    assert expected < 10_000 or estimate(layout, max_distance, expected).bytes_per_entry <= 60


def test_up_to_three_bits_one_table_more_than_bits_is_planned():
    for max_distance in range(4):
        assert len(plan(max_distance).tables_needed(max_distance)) == max_distance + 1


@pytest.mark.parametrize(
    ("distance", "expected"), [(-1, 1), (13, 1), (True, 1), (3.0, 1), ("3", 1), (3, 0), (3, 1e6)]
)
def test_what_is_no_distance_or_count_is_refused(distance, expected):
    with pytest.raises(ConfigError, match=r"max_distance|expected"):
        plan(distance, expected_entries=expected)


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


@pytest.mark.parametrize(
    ("distance", "tables", "widths"),
    [
        (3, [4, 16, 20, 28], [(16, 16), (28, 28), (31, 33), (16, 16)]),
        (6, [28], [(16, 16)]),
        (7, [], []),
    ],
)
def test_the_tables_of_the_literature_are_listed_up_to_their_distance(distance, tables, widths):
    *listed, more, probed = papers(distance, 10**9).values()
    assert [each.tables for each in listed] == [each.probes for each in listed] == tables
    assert [each.prefix_bits for each in listed] == widths
    assert more.probes == more.tables == distance + 1
    assert probed.probes >= probed.tables


def test_candidates_are_the_papers_arithmetic():
    four, nested, twenty, *_ = papers(3, 2**34).values()
    assert four.candidates == 4 * 2**18  # section 3.2
    assert nested.candidates == 16 * 2**6
    assert twenty.candidates == estimate(Layout(6, 3), 3, 2**34).candidates


def test_a_first_ring_is_only_asked_if_it_costs_a_tenth():
    planned = plan(12)
    rings = [first_ring(planned, 12, count) for count in (1, 10**3, 10**6, 10**8)]
    assert rings == [12, 12, 3, 3]
    assert first_ring(plan(3), 3, 10**6) == 3
