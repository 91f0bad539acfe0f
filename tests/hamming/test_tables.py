"""Every layout against a scan of everything: no misses, no extras, for every distance."""

from functools import cache

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import crowds

from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.pairs import Pairs
from dedup_filter.hamming.planner import plan
from dedup_filter.hamming.tables import Tables

LAYOUTS = [
    Layout(4),
    Layout(4, 1, Layout(4)),
    Layout(5, 2),
    Layout(6, 3),
    Layout(8, 2),
    Layout(13),  # k+1 tables
    Layout(6),  # neighbours probed
    Layout(3),  # neighbours probed far
    Layout(4, 2, Layout(3, 2)),
]


@cache
def layouts_for(distance):
    planned = [plan(distance, expected) for expected in (10, 10**8)]
    return [*planned, *(layout for layout in LAYOUTS if layout.is_exact(distance))]


@pytest.fixture(params=["one by one", "together"])
def way(request, monkeypatch):
    """Probes made by Python, or all probes of a table by numpy."""
    for name in ("_SPANS", "_ENTRIES", "_BLOCK"):
        monkeypatch.setattr(f"dedup_filter.hamming.tables.{name}", 8)
    least = -1e9 if request.param == "together" else 1e9
    monkeypatch.setattr("dedup_filter.hamming.tables._TABLE_US", least)
    monkeypatch.setattr("dedup_filter.hamming.tables._LONG", 1 if least < 0 else 16)


@cache
def strangers(count):
    """So many entries far from everything, to give the directories some bits."""
    return np.random.default_rng(7).integers(0, 2**64, count, np.uint64).tolist()


def tables_of(layout, max_distance, pairs):
    fingerprints, rows = zip(*pairs, strict=True)
    columns = Pairs(np.array(fingerprints, np.uint64), np.array(rows, np.int64))
    tables = Tables.of(layout, max_distance, columns, is_scanned=False)
    tables.check()
    return tables


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("max_distance", range(13))
@settings(max_examples=10)  # of each of 26
@given(data=st.data())
def test_a_layout_finds_exactly_what_a_scan_finds(max_distance, data):
    layout = data.draw(st.sampled_from(layouts_for(max_distance)))
    asked = data.draw(st.integers(0, max_distance))
    stored, query = data.draw(crowds(asked))
    stored = [*stored, *strangers(50)]
    pairs = [(fingerprint, row) for row, fingerprint in enumerate(stored)]
    tables = tables_of(layout, max_distance, pairs)
    expected = {match[1] for match in oracles.scan(pairs, query, asked)}
    assert expected <= {int(f) for piece in tables.candidates(query, asked) for f in piece}
    found = [
        fingerprint
        for numbers, piece in tables.within_blocks(np.array([query ^ 1, query], np.uint64), asked)
        for number, fingerprint in zip(numbers, piece.fingerprints.tolist(), strict=True)
        if number == 1
    ]
    assert sorted(found) == sorted(expected)


def test_a_span_larger_than_a_block_is_compared_beside_an_empty_one():
    crowd = [(number, number) for number in range(70_000)]
    tables = tables_of(Layout(4), 3, crowd)
    asked = np.array([69_999, 2**64 - 1], np.uint64)
    found = [
        (number, fingerprint)
        for numbers, pairs in tables.within_blocks(asked, 1)
        for number, fingerprint in zip(numbers, pairs.fingerprints.tolist(), strict=True)
    ]
    assert sorted(found) == sorted((0, row) for _, row, _ in oracles.scan(crowd, 69_999, 1))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda tables: tables.rows.__setitem__(slice(2), 5),
        lambda tables: tables.runs.reverse(),
        lambda tables: tables.runs[2].entries.__setitem__(0, 99),
        lambda tables: tables.runs[1].directory.__setitem__(1, 0),
        lambda tables: setattr(tables, "dead_count", 1),
        lambda tables: tables.runs.pop(),
    ],
)
def test_check_notices_what_is_not_as_it_should_be(spoil):
    tables = tables_of(Layout(4), 3, [(1, 5), (1, 6), (5, 1), (6, 2), (7 << 60, 3)])
    spoil(tables)
    with pytest.raises(AssertionError):
        tables.check()
