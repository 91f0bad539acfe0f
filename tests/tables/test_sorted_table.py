import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sortedcontainers import SortedList
from strategies import ALL_ONES, crowds, fingerprints

from dedup_filter.tables import PackedList, Permutation, SortedTable

UNCHANGED = Permutation(range(63, -1, -1))
LAST_BYTE_FIRST = Permutation([*range(7, -1, -1), *range(63, 7, -1)])


def table_of(values, permutation=UNCHANGED, prefix_bits=16):
    table = SortedTable(permutation, prefix_bits)
    for value in values:
        table.add(value)
    table.check()
    return table


def packed_of(values):
    packed = PackedList()
    for value in values:
        packed.add(value)
    packed.check()
    return packed


@given(crowds(4))
def test_a_table_finds_what_shares_the_prefix_and_is_near(crowd):
    stored, query = crowd
    table = table_of(stored, LAST_BYTE_FIRST, prefix_bits=8)
    near = oracles.near_fingerprints(stored, query, 4)
    found = table.within(query, 4, probes=[0])
    assert sorted(found) == sorted(value for value in near if value & 0xFF == query & 0xFF)


def test_a_probe_finds_the_neighbours_prefix_too():
    stored = [0xAAAA << 48, 0xAAAB << 48, 0xAAA9 << 48]
    table = table_of(stored)
    assert table.within(0xAAAA << 48, 1, probes=[0]) == stored[:1]
    assert set(table.within(0xAAAA << 48, 1, probes=[0, 1 << 48])) == set(stored[:2])


def test_the_first_and_the_last_entry_are_found():
    table = table_of([0, 1 << 32, ALL_ONES ^ 1, ALL_ONES])
    assert table.within(1, 1, probes=[0]) == [0]
    assert set(table.within(ALL_ONES ^ 2, 2, probes=[0])) == {ALL_ONES, ALL_ONES ^ 1}


def test_entries_at_both_ends_of_a_prefix_are_found_and_those_beside_it_are_not():
    first, last = 0xAAAA << 48, (0xAAAB << 48) - 1
    table = table_of([first - 1, first, last, last + 1])
    assert set(table.within(first, 64, probes=[0])) == {first, last}


def test_an_empty_table_finds_nothing():
    assert table_of([]).within(0, 64, probes=[0]) == []


@given(st.sets(fingerprints, min_size=1, max_size=12), st.data())
def test_a_removed_fingerprint_is_gone_and_the_others_stay(values, data):
    gone = data.draw(st.sampled_from(sorted(values)))
    table, packed = table_of(values, LAST_BYTE_FIRST), packed_of(values)
    table.remove(gone)
    packed.remove(gone)
    table.check()
    packed.check()
    assert len(table) == len(packed) == len(values) - 1
    assert {value for value in values if value in table} == values - {gone}
    assert set(packed.values.tolist()) == values - {gone}


@pytest.mark.parametrize("make", [table_of, packed_of])
def test_removing_what_is_not_there_is_refused(make):
    entries = make([0, ALL_ONES])
    with pytest.raises(ValueError, match="not in"):
        entries.remove(1)
    entries.check()
    assert len(entries) == 2


@given(crowds(12), st.integers(0, 12))
def test_a_packed_list_finds_what_a_scan_finds(crowd, max_distance):
    stored, query = crowd
    found = packed_of(stored).within(query, max_distance)
    assert sorted(found) == sorted(oracles.near_fingerprints(stored, query, max_distance))


def test_a_packed_list_grows_beyond_its_first_room():
    packed = packed_of(range(1000))
    assert sorted(packed.within(0, 1)) == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    assert packed.nbytes >= 8000


def test_check_notices_an_entry_that_occurs_twice():
    table, packed = table_of([5]), packed_of([5])
    table.add(5)
    packed.add(5)
    with pytest.raises(AssertionError):
        table.check()
    with pytest.raises(AssertionError):
        packed.check()


@pytest.mark.parametrize("entries", [[-1, 3], [3, 2**64]])
def test_check_notices_an_entry_that_is_no_fingerprint(entries):
    table = table_of([])
    table._entries = SortedList(entries)
    with pytest.raises(AssertionError):
        table.check()
