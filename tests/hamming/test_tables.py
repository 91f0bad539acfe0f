"""Every layout against a scan of everything: no misses, no extras, for every distance."""

from functools import cache

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import ALL_ONES, crowds

from dedup_filter.errors import ConfigError
from dedup_filter.hamming import HammingIndex, Layout, Permutation, plan
from dedup_filter.hamming.pairs import Pairs
from dedup_filter.hamming.tables import Tables, probe_keys

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


@pytest.fixture(params=["one by one", "together"])
def way(request, monkeypatch):
    """Probes made by Python, or all probes of a table by numpy."""
    least = -1.0 if request.param == "together" else 1e9
    monkeypatch.setattr("dedup_filter.hamming.tables._TABLE_US", least)
    monkeypatch.setattr("dedup_filter.hamming.tables._CANDIDATE_US", 0.0)


@cache
def strangers(count):
    """So many entries far from everything, to give the directories some bits."""
    return np.random.default_rng(7).integers(0, 2**64, count, np.uint64).tolist()


def tables_of(layout, max_distance, stored):
    pairs = Pairs(np.array(stored, np.uint64), np.arange(len(stored)))
    tables = Tables.of(layout, max_distance, pairs, is_scanned=False)
    tables.check()
    return tables


def assert_exact(layout, max_distance, crowd, asked):
    stored, query = crowd
    stored = [*stored, *strangers(50)]
    tables = tables_of(layout, max_distance, stored)
    expected = oracles.near_fingerprints(stored, query, asked)
    if asked:
        found = {int(f) for piece in tables.candidates(query, asked) for f in piece}
        assert expected <= found
        hits = tables.hits_of_many(np.array([query ^ 1, query], np.uint64), asked)
        pairs = [(int(n), int(f)) for ns, fs in hits for n, f in zip(ns, fs, strict=True)]
        assert {f for number, f in pairs if number == 1} == expected


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("layout", "max_distance"), CASES)
@settings(max_examples=10)
@given(data=st.data())
def test_a_layout_finds_exactly_what_a_scan_finds(layout, max_distance, data):
    assert_exact(layout, max_distance, data.draw(crowds(max_distance)), max_distance)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("layout", "max_distance"), PLANNED)
@settings(max_examples=10)
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


def test_a_layout_that_cannot_be_exact_makes_no_index():
    with pytest.raises(ConfigError, match="nearest that can"):
        HammingIndex(4, Layout(4, probe_radius=0))


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("bits", [1, 5, 9])
def test_keys_flip_what_the_probes_flip_of_a_directorys_bits(layout, bits):
    for number, shape in enumerate(layout.table_shapes[:4]):
        order = Permutation(shape.order).order
        expected = {oracles.permute(mask, order) >> 64 - bits for mask in shape.probes(4)}
        assert probe_keys(layout, 4, number, bits).tolist() == sorted(expected)


some_pairs = st.sets(
    st.tuples(st.sampled_from([0, 3, 3 << 60, ALL_ONES]), st.integers(0, 9)), max_size=30
)


def pairs_of(pairs):
    return Pairs(
        np.array([f for f, _ in pairs], np.uint64), np.array([r for _, r in pairs], np.int64)
    )


def contents(pairs):
    return set(zip(*(column.tolist() for column in pairs), strict=True))


@given(some_pairs, some_pairs, st.booleans(), st.booleans(), st.data())
def test_merged_tables_have_what_came_and_not_what_was_removed(
    old, added, were_scanned, are_scanned, data
):
    tables = Tables.of(Layout(4), 3, pairs_of(old), is_scanned=were_scanned)
    removed = data.draw(st.sets(st.sampled_from(sorted(old)))) if old else set()
    tables.dead.update(tables.place_of(*pair) for pair in removed)
    tables.check()
    assert contents(tables.pairs) == old - removed
    assert len(tables) == len(old - removed)
    new = tables.merged(pairs_of(added - (old - removed)), is_scanned=are_scanned)
    for stored, those in ((old - removed, tables), (old - removed | added, new)):
        those.check()
        assert contents(those.pairs) == stored
        for fingerprint in (0, 3, 5, ALL_ONES):
            rows = sorted(row for f, row in stored if f == fingerprint)
            assert sorted(those.pairs_of(fingerprint).rows.tolist()) == rows
            for row in range(10):
                place = those.place_of(fingerprint, row)
                assert (place is not None) == (row in rows)
                if place is not None:
                    assert contents(those.pairs_at(np.array([place]))) == {(fingerprint, row)}


@pytest.mark.parametrize("rows", [[5, 5], [-1, 2]])
def test_check_notices_a_pair_twice_and_a_negative_row(rows):
    tables = Tables.of(Layout(4), 3, pairs_of([(1, 5), (1, 6)]), is_scanned=True)
    tables.first.rows = np.array(rows, np.int64)
    with pytest.raises(AssertionError):
        tables.check()


def test_check_notices_a_mark_on_nothing():
    tables = tables_of(Layout(4), 3, [5])
    tables.dead.add(1)
    with pytest.raises(AssertionError):
        tables.check()


def test_check_notices_a_table_that_is_anothers():
    tables = tables_of(Layout(4), 3, [5, 6, 7])
    tables.runs.reverse()
    with pytest.raises(AssertionError):
        tables.check()


def test_check_notices_a_table_with_another_entry():
    tables = tables_of(Layout(4), 3, [5, 6, 7])
    tables.runs[2] = tables_of(Layout(4), 3, [5, 6, 9]).runs[2]
    with pytest.raises(AssertionError, match="other entries"):
        tables.check()
