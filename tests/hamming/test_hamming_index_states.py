"""Additions, removals, merges and look-ups in any order: the index agrees with a list of pairs."""

import oracles
import pytest
from gate import rounds
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from strategies import ALL_ONES, damage_up_to, fingerprints

from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.layout import Layout

centres = st.sampled_from([0, ALL_ONES, 0x0123456789ABCDEF])
clustered = st.builds(lambda centre, bits: centre ^ bits, centres, damage_up_to(7))
values = st.one_of(clustered, clustered, fingerprints)
rows = st.sampled_from([*range(20), 2**40])  # the last one needs eight bytes
some_layouts = [Layout(4), Layout(5), Layout(13), Layout(6, 3), Layout(8, 2)]
layouts = st.sampled_from([None, *some_layouts])


class IndexStates(RuleBasedStateMachine):
    """By whichever way the index chooses: here, as it is small, by the scan of fresh entries."""

    @initialize(max_distance=st.integers(0, 12) | st.just(0), layout=layouts)
    def make(self, max_distance, layout):
        if layout is not None and not layout.is_exact(max_distance):
            layout = None
        self.index = HammingIndex(max_distance, layout)
        self.pairs = set()

    @rule(fingerprint=values, row=rows)
    def add(self, fingerprint, row):
        self.index.add(fingerprint, row)
        self.pairs.add((fingerprint, row))

    @rule(added=st.lists(st.tuples(values, rows), max_size=12))
    def add_many(self, added):
        self.index.add_many([pair[0] for pair in added], [pair[1] for pair in added])
        self.pairs.update(added)

    @precondition(lambda self: self.pairs)
    @rule(row=rows, data=st.data())
    def add_a_row_to_a_stored_fingerprint(self, row, data):
        fingerprint, _ = data.draw(st.sampled_from(sorted(self.pairs)))
        self.add(fingerprint, row)

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), again=st.sampled_from([None, "add", "add_many"]))
    def remove(self, data, again):
        pair = data.draw(st.sampled_from(sorted(self.pairs)))
        self.index.remove(*pair)
        self.pairs.remove(pair)
        if again:
            columns = [[each] for each in pair] if again == "add_many" else pair
            getattr(self.index, again)(*columns)
            self.pairs.add(pair)

    @rule(fingerprint=values, row=rows)
    def remove_what_may_not_be_there(self, fingerprint, row):
        if (fingerprint, row) in self.pairs:
            self.index.remove(fingerprint, row)
            self.pairs.remove((fingerprint, row))
            return
        with pytest.raises(KeyError):
            self.index.remove(fingerprint, row)

    @rule()
    def compact(self):
        self.index.compact()

    @rule()
    def fill_another_with_its_pairs(self):
        stored = self.index.pairs
        for array in stored:
            array.flags.writeable = False  # as an array of a file may be
        self.index = HammingIndex(self.index.max_distance, self.index.layout)
        self.index.add_many(*stored)
        assert sorted(zip(*(each.tolist() for each in stored), strict=True)) == sorted(self.pairs)

    @rule(query=values)
    def ring_by_ring(self, query):
        *_, last = self.index.rings
        assert list(self.index.rings) == sorted(set(self.index.rings))
        assert last == self.index.max_distance
        for ring in self.index.rings:
            assert self.index.within(query, ring) == oracles.scan(self.pairs, query, ring)

    @rule(query=values)
    def rows_of(self, query):
        stored = sorted({fingerprint for fingerprint, _ in self.pairs})
        for fingerprint in (query, *stored[:1], *stored[-1:]):
            expected = sorted(row for other, row in self.pairs if other == fingerprint)
            assert self.index.rows_of(fingerprint) == expected

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), most=st.integers(0, 5))
    def within_less_of_a_stored_fingerprint(self, data, most):
        fingerprint, _ = data.draw(st.sampled_from(sorted(self.pairs)))
        distance = data.draw(st.integers(0, self.index.max_distance))
        query = fingerprint ^ data.draw(damage_up_to(distance))
        expected = oracles.scan(self.pairs, query, distance)
        assert self.index.within(query, distance) == expected
        assert self.index.within(query, distance, most) == expected[:most]

    @invariant()
    def holds_the_pairs(self):
        assert len(self.index) == len(self.pairs)
        stored = {fingerprint for fingerprint, _ in self.pairs}
        assert {(each, row) for each in stored for row in self.index.rows_of(each)} == self.pairs

    def teardown(self):
        self.index.check()


class IndexStatesByTables(IndexStates):
    """The same in an index with small bounds: merged and asked by tables all the time."""

    @invariant()
    def holds_together(self):
        self.index.check()


TestIndexStates = IndexStates.TestCase
TestIndexStatesByTables = pytest.mark.usefixtures("small_levels")(IndexStatesByTables.TestCase)
TestIndexStates.settings = settings(max_examples=rounds(10, 20), stateful_step_count=30)
TestIndexStatesByTables.settings = settings(max_examples=rounds(3, 20), stateful_step_count=40)
