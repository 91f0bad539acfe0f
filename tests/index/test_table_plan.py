import sys

import pytest

from dedup_filter.errors import ConfigError
from dedup_filter.index import Layout, plan
from dedup_filter.index.table_plan import scan_limit


@pytest.mark.parametrize("expected", [1, 10_000, 1_000_000, 10**9])
@pytest.mark.parametrize("max_distance", range(13))
def test_what_is_planned_is_exact_and_has_few_tables(max_distance, expected):
    layout = plan(max_distance, expected)
    assert layout.is_exact(max_distance)
    assert len(layout.tables_needed(max_distance)) <= 8


def test_up_to_three_bits_one_table_more_than_bits_is_planned():
    for max_distance in range(4):
        assert len(plan(max_distance).tables_needed(max_distance)) == max_distance + 1


def test_more_entries_ask_for_longer_prefixes():
    for max_distance in range(4, 13):
        few, many = plan(max_distance, 1000), plan(max_distance, 10**9)
        assert few.table_shapes[0].prefix_bits < many.table_shapes[0].prefix_bits


@pytest.mark.parametrize("bad", [-1, 13, True, 3.0, "3"])
def test_a_distance_out_of_range_is_refused(bad):
    with pytest.raises(ConfigError, match="max_distance"):
        plan(bad)


@pytest.mark.parametrize("bad", [0, -5, 1e6])
def test_an_expectation_that_is_no_count_is_refused(bad):
    with pytest.raises(ConfigError, match="expected"):
        plan(3, expected=bad)


def test_the_larger_the_distance_the_longer_a_scan_wins():
    limits = [scan_limit(Layout(4), distance) for distance in range(13)]
    assert limits == sorted(limits)
    assert 0 < limits[3] < limits[7] < sys.maxsize
    assert limits[12] == sys.maxsize  # the candidates alone are more work than all entries
