"""Every layout against a scan of everything: no misses, no extras, for every distance."""

from functools import cache

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import ALL_ONES, crowds

from dedup_filter.hamming import Layout, plan
from dedup_filter.hamming.pairs import Pairs
from dedup_filter.hamming.tables import Tables

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
CASES += [pytest.param(plan(k, n), k, id=f"k={k}, n={n}") for k in range(13) for n in (10, 10**8)]


@pytest.fixture(params=["one by one", "together"])
def way(request, monkeypatch):
    """Probes made by Python, or all probes of a table by numpy."""
    monkeypatch.setattr("dedup_filter.hamming.tables._CHUNK", 8)
    least = -1e9 if request.param == "together" else 1e9
    monkeypatch.setattr("dedup_filter.hamming.tables._TABLE_US", least)


@cache
def strangers(count):
    """So many entries far from everything, to give the directories some bits."""
    return np.random.default_rng(7).integers(0, 2**64, count, np.uint64).tolist()


def pairs_of(pairs):
    return Pairs(
        np.array([f for f, _ in pairs], np.uint64), np.array([r for _, r in pairs], np.int64)
    )


def contents(pairs):
    return set(zip(*(column.tolist() for column in pairs), strict=True))


def tables_of(layout, max_distance, pairs, *, is_scanned=False):
    tables = Tables.of(layout, max_distance, pairs_of(pairs), is_scanned=is_scanned)
    tables.check()
    return tables


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("layout", "max_distance"), CASES)
@settings(max_examples=10)
@given(data=st.data())
def test_a_layout_finds_exactly_what_a_scan_finds(layout, max_distance, data):
    asked = data.draw(st.integers(0, max_distance))
    stored, query = data.draw(crowds(asked))
    stored = [*stored, *strangers(50)]
    tables = tables_of(layout, max_distance, [(f, row) for row, f in enumerate(stored)])
    expected = oracles.near_fingerprints(stored, query, asked)
    assert expected <= {int(f) for piece in tables.candidates(query, asked) for f in piece}
    queries, pairs = tables.within_many(np.array([query ^ 1, query], np.uint64), asked)
    assert sorted(pairs.fingerprints[queries == 1].tolist()) == sorted(expected)


some_pairs = st.sets(
    st.tuples(st.sampled_from([0, 3, 3 << 60, ALL_ONES]), st.integers(0, 9)), max_size=30
)


@given(some_pairs, some_pairs, st.booleans(), st.booleans(), st.data())
def test_merged_tables_have_what_came_and_not_what_was_removed(
    old, added, were_scanned, are_scanned, data
):
    tables = tables_of(Layout(4), 3, old, is_scanned=were_scanned)
    removed = data.draw(st.sets(st.sampled_from(sorted(old)))) if old else set()
    assert all(tables.discard(*pair) and not tables.discard(*pair) for pair in removed)
    stored = old - removed
    new = tables.merged(Layout(4), pairs_of(added - stored), is_scanned=are_scanned)
    for expected, those in ((stored, tables), (stored | added, new)):
        those.check()
        assert contents(those.pairs) == expected
        assert len(those) == len(expected)
        for fingerprint in (0, 3, 5, ALL_ONES):
            rows = sorted(row for f, row in expected if f == fingerprint)
            assert sorted(those.rows_of(fingerprint)) == rows
            assert [row for row in range(10) if (fingerprint, row) in those] == rows


@pytest.mark.parametrize("count", [7, 200])
def test_a_few_that_come_and_go_are_inserted_where_they_belong(count):
    pairs = [(fingerprint, row) for row, fingerprint in enumerate(strangers(count))]
    tables = tables_of(Layout(4), 3, pairs)
    for pair in pairs[:2]:
        tables.discard(*pair)
    coming = [(0, 2**40), (ALL_ONES, 5), (pairs[3][0], 3000)]
    new = tables.merged(Layout(4), pairs_of(coming), is_scanned=False)
    new.check()
    assert contents(new.pairs) == {*pairs[2:], *coming}
    anew = tables_of(Layout(4), 3, [*pairs[2:], *coming])
    for ours, theirs in zip(new.runs, anew.runs, strict=True):
        assert ours.entries.tolist() == theirs.entries.tolist()
        assert ours.directory.tolist() == theirs.directory.tolist()
    assert tables.rows.dtype == np.uint32
    assert new.rows.dtype == np.int64, "a row needs eight bytes"


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
