"""Every layout against a scan of everything: no misses, no extras, for every distance."""

from functools import cache

import numpy as np
import oracles
import pytest
from gate import rounds
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import crowds

from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.pairs import NO_PAIRS, Pairs
from dedup_filter.hamming.planner import plan
from dedup_filter.hamming.table import Table

LAYOUTS = [
    Layout(4),
    Layout(5, 2),
    Layout(6, 3),
    Layout(8, 2),
    Layout(13),  # k+1 tables
    Layout(6),  # neighbours probed
    Layout(3),  # neighbours probed far
    Layout(4, 2),
]


@cache
def layouts_for(distance):
    planned = [plan(distance, expected) for expected in (10, 10**8)]
    return [*planned, *(layout for layout in LAYOUTS if layout.is_exact(distance))]


@cache
def strangers(count):
    """So many entries far from everything, to give the directories some bits."""
    return np.random.default_rng(7).integers(0, 2**64, count, np.uint64).tolist()


def tables_of(layout, max_distance, pairs):
    fingerprints, rows = zip(*pairs, strict=True)
    columns = Pairs(np.array(fingerprints, np.uint64), np.array(rows, np.int64)).not_in(NO_PAIRS)
    return [Table.of(shape, columns) for shape in layout.tables_needed(max_distance)]


@pytest.mark.parametrize("max_distance", range(13))
@settings(max_examples=rounds(4, 10))  # of each of 13
@given(data=st.data())
def test_a_layout_finds_exactly_what_a_scan_finds(max_distance, data):
    layout = data.draw(st.sampled_from(layouts_for(max_distance)))
    asked = data.draw(st.integers(0, max_distance))
    stored, query = data.draw(crowds(asked))
    stored = [*stored, *strangers(50)]
    pairs = [(fingerprint, row) for row, fingerprint in enumerate(stored)]
    expected = {match[:2] for match in oracles.scan(pairs, query, asked)}
    tables = tables_of(layout, max_distance, pairs)
    for table in tables:
        table.check()
    tables = tables[: layout.needed(asked)]
    met = [
        (row, fingerprint)
        for table in tables
        for places in [table.places(query, asked)]
        for fingerprint, row in zip(
            table.entries[places].tolist(), table.rows[places].tolist(), strict=True
        )
    ]
    assert expected <= set(met)


@pytest.mark.usefixtures("small_levels")
@pytest.mark.parametrize("max_distance", range(13))
@settings(max_examples=rounds(4, 10), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_fresh_pairs_are_found_in_the_lists_of_each_table_as_by_a_scan(max_distance, data):
    layout = data.draw(st.sampled_from(layouts_for(max_distance)))
    asked = data.draw(st.integers(0, min(max_distance, layout.reach)))
    stored, query = data.draw(crowds(asked))
    pairs = [(fingerprint, row) for row, fingerprint in enumerate(stored)]
    index = HammingIndex(max_distance, layout)
    index._most_fresh = len(pairs) + 1
    for pair in pairs:
        index.add(*pair)
    index.check()
    expected = oracles.scan(pairs, query, asked)
    assert index.within(query, asked) == expected
    listed = [table.fresh_near(query, asked) for table in index._tables[: layout.needed(asked)]]
    if None not in listed:
        assert {(row, f) for near in listed for f, row in near} == {m[:2] for m in expected}


def test_a_crowd_of_fresh_pairs_with_one_prefix_is_left_to_the_column():
    index = HammingIndex(3, Layout(4))
    crowd = [(number, number) for number in range(1_000)]
    for pair in crowd:
        index.add(*pair)
    assert index._tables[0].fresh_near(500, 3) is None
    assert index.within(500) == oracles.scan(crowd, 500, 3)
    assert index.within(500, most=7) == oracles.scan(crowd, 500, 3)[:7]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda index: index._tables[0].rows.__setitem__(slice(2), 5),
        lambda index: index._tables.reverse() or index._tables[0].entries.sort(),
        lambda index: index._tables[2].entries.__setitem__(0, 99),
        lambda index: index._tables[1].directory.__setitem__(1, 0),
        lambda index: index._tables[1].rows.__setitem__(0, 77),
        lambda index: index._removed.add((1, 99)),
        lambda index: index._tables[3].fresh.clear(),
        lambda index: index._fresh_rows.pop() and index._fresh_fingerprints.pop(),
        lambda index: index._fresh_rows.__setitem__(0, 5),
    ],
)
def test_check_notices_what_is_not_as_it_should_be(spoil):
    index = HammingIndex(3, Layout(4))
    for pair in [(1, 5), (1, 6), (5, 1), (6, 2), (7 << 60, 3)]:
        index.add(*pair)
    index.compact()
    index.add(9 << 50, 4)
    index.check()
    spoil(index)
    with pytest.raises(AssertionError):
        index.check()
