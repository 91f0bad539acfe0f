"""Additions, removals and look-ups in any order: the index agrees with a list of pairs."""

import oracles
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from strategies import ALL_ONES, damage_up_to, fingerprints

from dedup_filter.index import HammingIndex, Layout

centres = st.sampled_from([0, ALL_ONES, 0x0123456789ABCDEF])
clustered = st.builds(lambda centre, bits: centre ^ bits, centres, damage_up_to(7))
values = st.one_of(clustered, clustered, fingerprints)
rows = st.integers(0, 20)
layouts = st.sampled_from([None, Layout(4), Layout(5), Layout(13)])


class IndexStates(RuleBasedStateMachine):
    """By whichever way the index chooses: here, as it is small, by the scan."""

    @initialize(max_distance=st.integers(0, 12), layout=layouts)
    def make(self, max_distance, layout):
        self.index = HammingIndex(max_distance, layout)
        self.pairs = set()

    @rule(fingerprint=values, row=rows)
    def add(self, fingerprint, row):
        self.index.add(fingerprint, row)
        self.pairs.add((fingerprint, row))

    @precondition(lambda self: self.pairs)
    @rule(row=rows, data=st.data())
    def add_a_row_to_a_stored_fingerprint(self, row, data):
        fingerprint, _ = data.draw(st.sampled_from(sorted(self.pairs)))
        self.add(fingerprint, row)

    @precondition(lambda self: self.pairs)
    @rule(data=st.data())
    def remove(self, data):
        pair = data.draw(st.sampled_from(sorted(self.pairs)))
        self.index.remove(*pair)
        self.pairs.remove(pair)

    @rule(fingerprint=values, row=rows)
    def remove_what_may_not_be_there(self, fingerprint, row):
        if (fingerprint, row) in self.pairs:
            self.index.remove(fingerprint, row)
            self.pairs.remove((fingerprint, row))
            return
        with pytest.raises(KeyError):
            self.index.remove(fingerprint, row)

    @rule(fingerprint=st.sampled_from([-1, 2**64, True, 1.5]), row=rows)
    def add_what_is_no_fingerprint(self, fingerprint, row):
        with pytest.raises((TypeError, ValueError)):
            self.index.add(fingerprint, row)

    @rule(query=values)
    def within(self, query):
        expected = oracles.scan(self.pairs, query, self.index.max_distance)
        assert self.index.within(query) == expected

    @precondition(lambda self: self.pairs)
    @rule(data=st.data())
    def within_less_of_a_stored_fingerprint(self, data):
        fingerprint, _ = data.draw(st.sampled_from(sorted(self.pairs)))
        distance = data.draw(st.integers(0, self.index.max_distance))
        query = fingerprint ^ data.draw(damage_up_to(distance))
        assert self.index.within(query, distance) == oracles.scan(self.pairs, query, distance)

    @rule(fingerprint=values)
    def contains(self, fingerprint):
        assert (fingerprint in self.index) == any(fingerprint == f for f, _ in self.pairs)

    @invariant()
    def counts_rows(self):
        assert len(self.index) == len(self.pairs)

    def teardown(self):
        self.index.check()


class IndexStatesByTables(IndexStates):
    """The same with look-ups by the tables, however small the index."""

    @initialize(max_distance=st.integers(0, 12), layout=layouts)
    def make(self, max_distance, layout):
        super().make(max_distance, layout)
        self.index._scan_limits = [-1] * (max_distance + 1)


TestIndexStates = IndexStates.TestCase
TestIndexStatesByTables = IndexStatesByTables.TestCase
TestIndexStates.settings = settings(max_examples=50, stateful_step_count=30)
TestIndexStatesByTables.settings = TestIndexStates.settings
