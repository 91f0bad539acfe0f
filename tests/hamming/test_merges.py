"""What moves when: sealing, merging, planning anew; and what a failure leaves behind."""

import contextlib
import random

import oracles
import pytest

from dedup_filter.hamming import HammingIndex, Layout
from dedup_filter.hamming.tables import Run

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


def test_everything_is_found_after_each_addition_whatever_it_moves(pairs):
    index = HammingIndex(3, Layout(4))
    grown = set()
    for number, pair in enumerate(pairs):
        index.add(*pair)
        grown.add(len(index._young.rows))
        assert_found(index, pairs[: number + 1])
    assert len(grown) > 2, "the young tables have grown"
    assert len(index._old.rows) > 60


def test_many_removals_are_cleaned_from_the_tables(pairs):
    index = HammingIndex(3, Layout(4))
    index.add_many(*zip(*pairs, strict=True))
    for pair in pairs[:-5]:
        index.remove(*pair)
    assert_found(index, pairs[-5:])
    assert len(index._old.rows) < 40


def test_compacting_leaves_one_set_of_tables_and_no_marks(pairs):
    index = HammingIndex(3, Layout(4))
    for pair in pairs:
        index.add(*pair)
    index.remove(*pairs[7])
    index.compact()
    assert (len(index._old.rows), len(index._young.rows), len(index._fresh)) == (89, 0, 0)
    assert index._old.dead_count == 0
    assert_found(index, pairs[:7] + pairs[8:])


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
    """Let the making of runs fail for want of memory after so many; return what makes one."""
    make, calls = Run.__init__, 0

    def fail_now(*arguments):
        nonlocal calls
        calls += 1
        if calls > calls_before:
            raise MemoryError
        return make(*arguments)

    monkeypatch.setattr(Run, "__init__", fail_now)
    return make


@pytest.mark.parametrize("calls_before", range(0, 60, 3))
def test_an_addition_that_fails_for_want_of_memory_loses_nothing(pairs, monkeypatch, calls_before):
    index = HammingIndex(3, Layout(4))
    index.add_many(*zip(*pairs[:30], strict=True))
    index.remove(*pairs[0])
    stored = pairs[1:30]
    make = fail_after(calls_before, monkeypatch)
    for pair in pairs[30:]:
        try:
            index.add(*pair)
        except MemoryError:
            break
        stored.append(pair)
    else:
        pytest.skip("no run was made any more")
    monkeypatch.setattr(Run, "__init__", make)
    assert_found(index, stored)
    for pair in pairs[30:]:
        index.add(*pair)
    assert_found(index, pairs[1:])
    index.compact()
    assert_found(index, pairs[1:])


@pytest.mark.parametrize("calls_before", range(4))
def test_a_removal_that_fails_for_want_of_memory_removes_nothing(pairs, monkeypatch, calls_before):
    index = HammingIndex(3, Layout(4))
    index.add_many(*zip(*pairs, strict=True))
    stored = list(pairs)
    make = fail_after(calls_before, monkeypatch)
    with contextlib.suppress(MemoryError):
        while stored:
            index.remove(*stored[-1])
            stored.pop()
    assert stored, "no run was made any more"
    monkeypatch.setattr(Run, "__init__", make)
    assert_found(index, stored)
    index.remove(*stored.pop())
    assert_found(index, stored)
