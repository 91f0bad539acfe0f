import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.fingerprints.sketch import simhash


def tally_oracle(pairs):
    """The method as Manku, Jain and Das Sarma print it: one tally a bit, one bit at a time."""
    if not pairs:
        return None
    fingerprint = 0
    for bit in range(64):
        tally = sum(weight if value >> bit & 1 else -weight for value, weight in pairs)
        if tally > 0:
            fingerprint |= 1 << bit
    return fingerprint


def simhash_of(pairs):
    hashes, weights = zip(*pairs, strict=True) if pairs else ((), ())
    return simhash(np.array(hashes, np.uint64), np.array(weights, np.int64))


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(1, 10**6)), max_size=60))
def test_fingerprint_equals_the_published_tallies_in_any_order(pairs):
    expected = tally_oracle(pairs)
    assert simhash_of(pairs) == simhash_of(sorted(pairs)) == expected


@pytest.mark.parametrize(
    ("pairs", "fingerprint"),
    [
        # An example of the literature: 100101 with weight 4 and 101011 with weight 5.
        ([(0b100101, 4), (0b101011, 5)], 0b101011),
        ([(0b1, 3), (0b0, 3)], 0),  # a tied tally gives zero
        ([(2**64 - 1, 1)], 2**64 - 1),
        ([], None),
    ],
)
def test_worked_examples(pairs, fingerprint):
    assert simhash_of(pairs) == fingerprint
