"""What moves when: merging, planning anew; and what a failure leaves behind."""

import contextlib
import random

import oracles
import pytest

from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.table import Table

pytestmark = pytest.mark.usefixtures("small_levels")


@pytest.fixture
def pairs():
    generator = random.Random(11)
    centres = [generator.getrandbits(64) for _ in range(5)]
    return sorted(
        {(generator.choice(centres) ^ 1 << generator.randrange(64), r) for r in range(90)}
    )


def assert_found(index, pairs):
    index.check()
    for fingerprint, _ in pairs[::4]:
        expected = oracles.scan(pairs, fingerprint ^ 1, index.max_distance)
        assert index.within(fingerprint ^ 1) == expected


def test_everything_is_found_after_each_change_whatever_it_moves(pairs):
    index = HammingIndex(3, Layout(4))
    states = set()
    for number, pair in enumerate(pairs):
        index.add(*pair)
        states.add(tuple(len(table.fresh) for table in index._tables))
        assert_found(index, pairs[: number + 1])
    assert any(len(set(state)) > 1 for state in states), "the tables are merged one by one"
    assert max(map(max, states)) < 16, "what is fresh is merged"
    for number, pair in enumerate(pairs[:-5], 1):
        index.remove(*pair)
        assert_found(index, pairs[number:])
    assert len(index._tables[0].entries) < 40, "what was removed is cleaned from the tables"


def test_an_index_that_outgrows_its_plan_plans_again(pairs, monkeypatch):
    planned = []

    def plan(max_distance, expected):
        planned.append(expected)
        return Layout(2 + len(planned))

    monkeypatch.setattr("dedup_filter.hamming.hamming_index.plan", plan)
    index = HammingIndex(3, expected=10)
    assert index.layout == Layout(3)
    for number, pair in enumerate(pairs):
        index.add(*pair)
        assert_found(index, pairs[: number + 1])
    assert planned[:1] == [10]
    assert planned[1] > 40
    assert index.layout == Layout(2 + len(planned))
    index.add_many([fingerprint ^ 2**40 for fingerprint, _ in pairs], range(100, 190))
    index.check()


def fail_after(calls_before, monkeypatch):
    """Let the making of tables fail for want of memory after so many; return what makes one."""
    make, calls = Table.__init__, 0

    def fail_now(*arguments):
        nonlocal calls
        calls += 1
        if calls > calls_before:
            raise MemoryError
        return make(*arguments)

    monkeypatch.setattr(Table, "__init__", fail_now)
    return make


@pytest.mark.parametrize(
    ("change", "calls_before"),
    [*(("add", calls) for calls in (0, 3, 4, 5, 9, 17, 30)), ("remove", 0), ("remove", 3)],
)
def test_a_change_that_fails_for_want_of_memory_changes_nothing(
    pairs, monkeypatch, change, calls_before
):
    index = HammingIndex(3, Layout(4))
    is_addition = change == "add"
    index.add_many(*zip(*(pairs[:30] if is_addition else pairs), strict=True))
    index.remove(*pairs[0])
    changed = pairs[30:]
    make, done = fail_after(calls_before, monkeypatch), 0
    with contextlib.suppress(MemoryError):
        for pair in changed:
            getattr(index, change)(*pair)
            done += 1
    assert done < len(changed), "no table was made any more"
    monkeypatch.setattr(Table, "__init__", make)
    assert_found(index, pairs[1:30] + (changed[:done] if is_addition else changed[done:]))
    for pair in changed[done:]:
        getattr(index, change)(*pair)
    stored = pairs[1:] if is_addition else pairs[1:30]
    assert_found(index, stored)
    index.compact()
    assert_found(index, stored)
