"""Labelled pairs -> precision, recall and their intervals."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.errors import DedupError
from dedup_filter.estimate import wilson
from dedup_filter.review.labels import Label, labels_in, scores


@given(st.integers(1, 500).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_the_ends_of_an_interval_are_1_96_standard_deviations_away(counts):
    """That is how Wilson's interval is defined: by the shares that explain the data just so far."""
    right, of = counts
    found = wilson(right, of)
    assert 0 <= found.low <= found.value <= found.high <= 1
    for end in (found.low, found.high):
        deviation = (end * (1 - end) / of) ** 0.5
        assert abs(right / of - end) == pytest.approx(1.959964 * deviation, abs=1e-9)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_the_figures_are_those_of_their_definitions(right, wrong, missed):
    """Each pair has pages of its own, which are in one cluster if the pair is called the same."""
    kinds = [(True, True)] * right + [(True, False)] * wrong + [(False, True)] * missed
    clusters, labels = {}, []
    for number, (is_called, is_same) in enumerate(kinds):
        a, b = (f"http://{number}.example/{page}" for page in "ab")
        clusters |= {a: 2 * number, b: 2 * number + (not is_called)}
        labels.append(Label(b, a, is_same))
    found = scores(labels, clusters)
    assert (found.same, found.different, found.unknown) == (right + missed, wrong, 0)
    assert found.precision == wilson(right, right + wrong)
    assert found.recall == wilson(right, right + missed)


def test_labels_are_read_and_bad_lines_named():
    labels = [Label(f"http://a/{n}", "http://b/", bool(n % 2)) for n in range(7)]
    lines = [json.dumps(label._asdict()).encode() + b"\n" for label in labels]
    assert list(labels_in([*lines, b"\n", b'{"a": "x", "b": "y", "same": null}'])) == labels
    bad = [b"{", b"[]", b"7", b'{"a": "x", "b": "y"}', b'{"a": 1, "b": "y", "same": true}']
    for line in [*bad, b'{"a": "x", "b": "y", "same": 1}', b"\xff", b"[" * 100_000]:
        with pytest.raises(DedupError, match="line 8 of the labels is not like"):
            list(labels_in([*lines, line]))
