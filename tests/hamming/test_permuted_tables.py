"""Every layout against a scan of everything: no misses, no extras, for every distance."""

from functools import cache

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import crowds

from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.many_queries import near_in_runs
from dedup_filter.hamming.pairs import Pairs
from dedup_filter.hamming.planner import plan
from dedup_filter.hamming.run import Run

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
    few = 10**6 if request.param == "one by one" else 0
    monkeypatch.setattr("dedup_filter.hamming.run.FEW_PROBES", few)
    for name in ("_RANGES", "_BLOCK"):
        monkeypatch.setattr(f"dedup_filter.hamming.many_queries.{name}", 8)


@cache
def strangers(count):
    """So many entries far from everything, to give the directories some bits."""
    return np.random.default_rng(7).integers(0, 2**64, count, np.uint64).tolist()


def runs_of(layout, max_distance, pairs):
    fingerprints, rows = zip(*pairs, strict=True)
    columns = Pairs(np.array(fingerprints, np.uint64), np.array(rows, np.int64))
    return [Run.of(shape, columns) for shape in layout.tables_needed(max_distance)]


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
    expected = {match[:2] for match in oracles.scan(pairs, query, asked)}
    runs = runs_of(layout, max_distance, pairs)
    for run in runs:
        run.check()
    met = [
        (row, fingerprint)
        for run in runs
        for places in run.places(query, asked)
        for fingerprint, row in zip(
            run.entries[places].tolist(), run.rows[places].tolist(), strict=True
        )
    ]
    assert expected <= set(met)
    queries = np.array([query ^ 1, query], np.uint64)
    found = [
        (run.rows[place], run.entries[place])
        for owners, run, places in near_in_runs(runs, queries, asked)
        for owner, place in zip(owners, places, strict=True)
        if owner == 1
    ]
    assert sorted(found) == sorted(expected)


def test_a_span_larger_than_a_block_is_compared_beside_an_empty_one():
    crowd = [(number, number) for number in range(70_000)]
    runs = runs_of(Layout(4), 3, crowd)
    queries = np.array([69_999, 2**64 - 1], np.uint64)
    found = [
        (owner, int(run.rows[place]))
        for owners, run, places in near_in_runs(runs, queries, 1)
        for owner, place in zip(owners.tolist(), places, strict=True)
    ]
    assert sorted(found) == sorted((0, row) for row, _, _ in oracles.scan(crowd, 69_999, 1))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda index: index._runs[0].rows.__setitem__(slice(2), 5),
        lambda index: index._runs.reverse() or index._runs[0].entries.sort(),
        lambda index: index._runs[2].entries.__setitem__(0, 99),
        lambda index: index._runs[1].directory.__setitem__(1, 0),
        lambda index: index._runs[1].rows.__setitem__(0, 77),
        lambda index: index._removed.add((1, 99)),
        lambda index: index._merged.__setitem__(3, 1),
        lambda index: index._fresh.add(1, 5),
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
