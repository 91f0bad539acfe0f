"""Every layout against a scan of everything: no misses, no extras, for every distance."""

from functools import cache

import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import crowds

from dedup_filter.errors import ConfigError
from dedup_filter.index import Layout, PermutedTables, plan

LAYOUTS = {
    "4 tables of 16 bits": Layout(4),
    "16 tables of 28 bits, nested": Layout(4, 1, Layout(4)),
    "10 tables of 5 blocks": Layout(5, 2),
    "20 tables of 6 blocks": Layout(6, 3),
    "28 tables of 8 blocks": Layout(8, 2),
    "k+1 tables": Layout(13),
    "6 tables, neighbours probed": Layout(6),
    "3 tables, neighbours probed far": Layout(3),
    "nested, two lead in each": Layout(4, 2, Layout(3, 2)),
}
CASES = [
    pytest.param(layout, distance, id=f"{name}, k={distance}")
    for name, layout in LAYOUTS.items()
    for distance in range(13)
    if layout.is_exact(distance)
]
PLANNED = [pytest.param(plan(k, n), k, id=f"k={k}, n={n}") for k in range(13) for n in (10, 10**8)]


@cache
def tables_for(layout, max_distance):
    """Tables are emptied after use: making the probes of the largest takes 20 ms."""
    return PermutedTables(layout, max_distance)


def assert_exact(layout, max_distance, crowd, asked):
    stored, query = crowd
    tables = tables_for(layout, max_distance)
    assert len(tables) == 0
    for fingerprint in stored:
        tables.add(fingerprint)
    try:
        tables.check(stored)
        assert tables.within(query, asked) == oracles.near_fingerprints(stored, query, asked)
    finally:
        for fingerprint in stored:
            tables.remove(fingerprint)
        tables.check([])


@pytest.mark.parametrize(("layout", "max_distance"), CASES)
@settings(max_examples=20)
@given(data=st.data())
def test_a_layout_finds_exactly_what_a_scan_finds(layout, max_distance, data):
    assert_exact(layout, max_distance, data.draw(crowds(max_distance)), max_distance)


@pytest.mark.parametrize(("layout", "max_distance"), PLANNED)
@settings(max_examples=20)
@given(data=st.data())
def test_a_planned_layout_finds_exactly_what_a_scan_finds_at_any_smaller_distance(
    layout, max_distance, data
):
    asked = data.draw(st.integers(0, max_distance))
    assert_exact(layout, max_distance, data.draw(crowds(asked)), asked)


def test_every_layout_of_the_literature_serves_the_distances_it_was_made_for():
    reach = {
        name: sum(layout.is_exact(k) for k in range(13)) - 1 for name, layout in LAYOUTS.items()
    }
    assert reach["20 tables of 6 blocks"] == 5
    assert reach["16 tables of 28 bits, nested"] == 8
    assert all(reach[name] == 12 for name in ("4 tables of 16 bits", "28 tables of 8 blocks"))


def test_a_layout_that_cannot_be_exact_makes_no_tables():
    with pytest.raises(ConfigError, match="nearest that can"):
        PermutedTables(Layout(4, probe_radius=0), 4)


def test_check_notices_a_fingerprint_that_one_table_lacks():
    tables = PermutedTables(Layout(4), 3)
    tables.add(1)
    tables.tables[2].remove(1)
    with pytest.raises(AssertionError):
        tables.check([1])


def test_check_notices_a_fingerprint_that_is_another():
    tables = PermutedTables(Layout(4), 3)
    tables.add(1)
    with pytest.raises(AssertionError):
        tables.check([2])
