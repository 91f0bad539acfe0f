"""Labelled pairs -> precision, recall, F1 and their intervals, and the best setting."""

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from index_feed import article as report

from dedup_filter import NearDuplicateFilter
from dedup_filter.errors import DedupError
from dedup_filter.estimate import wilson
from dedup_filter.review.tuning.labels import Label, labelled, labels_in, rightness
from dedup_filter.review.tuning.record_pairs import pages_of
from dedup_filter.review.tuning.tune import SHARES
from dedup_filter.store.sqlite.page_reader import Snapshot


@given(st.integers(1, 500).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_the_ends_of_an_interval_are_1_96_standard_deviations_away(counts):
    """That is how Wilson's interval is defined: the shares of which the data are just so far."""
    right, of = counts
    found = wilson(right, of)
    assert 0 <= found.low <= found.value <= found.high <= 1
    for end in (found.low, found.high):
        deviation = (end * (1 - end) / of) ** 0.5
        assert abs(right / of - end) == pytest.approx(1.959964 * deviation, abs=1e-9)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_the_figures_are_those_of_their_definitions(right, wrong, missed):
    precision, recall, f1 = rightness(right + wrong, right, right + missed)
    assert (precision is None) == (right + wrong == 0)
    assert (recall is None) == (right + missed == 0)
    if precision and recall and f1 and right:
        both = precision.value + recall.value
        assert f1.value == pytest.approx(2 * precision.value * recall.value / both)
        assert f1.low <= f1.value <= f1.high


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Texts of which a second edition is near and a third is an exact copy of the first."""
    folder = tmp_path_factory.mktemp("labelled") / "index"
    with NearDuplicateFilter.open(folder) as pages:
        for number, edition in product(range(8), range(3)):
            text = report(number, edition % 2)
            pages.see(f"https://example.com/{number}/{edition}?b=1&a=2", text=text)
    return folder


def scored(index, labels):
    with Snapshot.open_to_read(index) as snapshot:
        return labelled(snapshot, pages_of(snapshot), labels)


def url(number, edition):
    return f"https://example.com/{number}/{edition}?a=2&b=1"  # another spelling


SAME = [Label(url(n, 0), url(n, each), True) for n in range(8) for each in (1, 2)]
OTHER = [Label(url(n, 0), url(n + 1, 0), False) for n in range(7)]


def test_every_setting_is_scored_and_the_best_found(index):
    unknown = [
        Label(url(1, 0), "https://example.com/none", True),
        Label(url(1, 0), url(1, 0), True),
    ]
    found = scored(index, [*SAME, *OTHER, *unknown])
    assert (found.same, found.different, found.unknown) == (16, 7, 2)
    assert len(found.settings) == 13 * len(SHARES)
    by_setting = {each[:2]: each for each in found.settings}
    exact_only = by_setting[0, 1.0]
    assert exact_only.recall.value == 0.5
    assert exact_only.precision.value == 1
    assert by_setting[12, 0.8].f1.value == 1
    assert found.best[:2] == (12, 0.8)
    assert found.reason == "no other setting does better than the defaults"


def test_a_setting_that_is_better_is_named_with_what_is_sure_of_it(index):
    """Whoever calls near-duplicates different wants exact copies only."""
    labels = [label._replace(same=label.b == url(int(label.a[20]), 2)) for label in SAME]
    found = scored(index, labels + OTHER)
    assert found.best.f1.value == 1
    assert found.best[:2] != (12, 0.8)
    assert (
        "so few labels do not tell it from the defaults" in found.reason
        or "do worse" in found.reason
    )


@pytest.mark.parametrize(
    ("labels", "which"), [(OTHER, "the same"), (SAME, "different"), ([], "same")]
)
def test_labels_of_one_kind_tell_nothing(index, labels, which):
    found = scored(index, labels)
    assert found.best is None
    assert which in found.reason


def test_labels_are_read_and_bad_lines_named():
    lines = [json.dumps(label._asdict()).encode() + b"\n" for label in OTHER]
    assert list(labels_in([*lines, b"\n"])) == OTHER
    bad = [b"{", b"[]", b"7", b'{"a": "x", "b": "y"}', b'{"a": 1, "b": "y", "same": true}']
    for line in [*bad, b'{"a": "x", "b": "y", "same": 1}', b"\xff", b"[" * 100_000]:
        with pytest.raises(DedupError, match="line 8 of the labels is not like"):
            list(labels_in([*lines, line]))
