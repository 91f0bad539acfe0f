"""What pages tell of settings: distances, chance, steps, borders, and the suggestion."""

import random
from dataclasses import replace
from math import comb

import numpy as np
import pytest
from made_profiles import hashes_of
from store_pages import memory_store, page

from dedup_filter.fingerprints.sketch import sketch
from dedup_filter.review.tuning import tune as module
from dedup_filter.review.tuning.chance import Chance, chance_of, fair_rate
from dedup_filter.review.tuning.record_pairs import originals_at, pages_of, pairs_of
from dedup_filter.review.tuning.suggestion import suggestion
from dedup_filter.review.tuning.tune import SHARES, tune


def stored(pages):
    """Pages by (fingerprint, hashes of shingles); return them and their pairs."""
    with memory_store() as store:
        for number, (fingerprint, hashes) in enumerate(pages):
            # On one host, half as much may be missing.
            fields = {"h1": "", "title": "", "sketch": sketch(hashes), "host": f"h{number}"}
            store.insert(page(number, fingerprint=fingerprint, **fields))
        there = pages_of(store)
        return there, pairs_of(store, there)


def family(chance, bits, shares):
    """A page, and for each share a version with so much of it, so many bits away."""
    first, hashes = chance.getrandbits(64), hashes_of(chance.getrandbits(32), 200)
    yield first, hashes
    for share in shares:
        kept = round(share * 200)
        others = hashes_of(chance.getrandbits(32), 200)[: 200 - kept]
        flipped = sum(1 << bit for bit in chance.sample(range(64), chance.choice(bits)))
        yield first ^ flipped, np.unique(np.concatenate([hashes[:kept], others]))


def families(count, bits, shares, seed=1):
    chance = random.Random(seed)
    return [each for _ in range(count) for each in family(chance, bits, shares)]


def test_the_nearest_earlier_page_of_each_is_found_exactly_or_by_a_sample(monkeypatch):
    pages = families(60, [0, 3, 7, 12, 13], [0.9])
    prints = [fingerprint for fingerprint, _ in pages]
    expected = {}
    for place in range(1, len(prints)):
        bits = min((prints[place] ^ other).bit_count() for other in prints[:place])
        expected[bits] = expected.get(bits, 0) + 1
    assert tune(*stored(pages)).nearest == expected
    monkeypatch.setattr(module, "_SAMPLE", 20)
    sampled = tune(*stored(pages)).nearest
    near = {bits: count for bits, count in expected.items() if bits <= 12}
    assert {bits: count for bits, count in sampled.items() if bits <= 12} == near
    assert sum(sampled.values()) == pytest.approx(len(prints) - 1)


def test_steps_tell_what_each_bit_adds():
    pages, pairs = stored(families(40, [2, 6, 9], [0.9, 0.75]))
    found = tune(pages, pairs)
    share = found.suggested.min_similarity
    for step in found.steps:
        there = pairs.distances == step.max_distance
        assert step.pairs == there.sum()
        if step.pairs:
            assert step.mean_similarity == pytest.approx(pairs.shares[there].mean())
        assert step.confirmed == (there & (pairs.limits >= share)).sum()
        dropped = originals_at(pages, pairs, step.max_distance, share)
        assert step.dropped == (dropped >= 0).sum()
    assert [step.max_distance for step in found.steps] == list(range(13))
    assert found.shares == {
        each: (originals_at(pages, pairs, found.suggested.max_distance, each) >= 0).sum()
        for each in SHARES
    }


def test_the_least_distance_that_finds_nearly_all_is_suggested():
    found = tune(*stored(families(60, [1, 4, 6], [0.95, 0.95]))).suggested
    assert (found.max_distance, found.is_told) == (6, True)
    assert "max_distance 6: it finds 120 of the 120 pages that 12 bits find" in found.reasons[0]


@pytest.mark.parametrize(
    ("shares", "suggested"),
    [
        ([0.95, 0.81], 0.75),  # many pages beside the default, none beside .75
        ([0.95, 0.81, 0.76, 0.74], 0.85),
        ([0.95, 0.5], 0.8),  # none beside any
        ([0.95, 0.75, 0.8, 0.85], 0.8),  # as many beside each
    ],
)
def test_a_similarity_beside_which_few_pages_lie_is_suggested(shares, suggested):
    found = tune(*stored(families(60, [1, 2], shares))).suggested
    assert found.min_similarity == suggested


def test_a_distance_with_too_many_unrelated_pages_is_not_suggested():
    pages, pairs = stored(families(60, [1, 4, 9], [0.95, 0.95]))
    assert suggestion(pages, pairs, None, 200).max_distance == 9
    crowded = Chance(32, 4, [1e-6 * k for k in range(13)], [True] * 13)
    found = suggestion(pages, pairs, crowded, 4_000_000)
    assert found.max_distance == 4
    assert "9 would find more" in found.reasons[0]


@pytest.mark.parametrize(
    ("pages", "said"),
    [
        ([], "0 pages with no duplicates tell nothing"),
        (families(30, [1], [0.95]), "60 pages with 30 near-duplicates tell nothing"),
        (families(200, [30], [0.1]), "400 pages with no duplicates tell nothing"),
        (
            families(19, [1], [0.95]) + families(90, [30], [], seed=2),
            "with 19 near-duplicates tell",
        ),
    ],
)
def test_where_there_is_nothing_to_tell_it_says_so(pages, said):
    found = tune(*stored(pages)).suggested
    assert (found.max_distance, found.min_similarity, found.is_told) == (12, 0.8, False)
    assert "these are the defaults" in found.reasons[0]
    assert said in found.reasons[0]


def test_the_border_is_shown_from_both_sides():
    pages, pairs = stored(families(60, [1, 5, 8], [0.95, 0.84, 0.7]))
    pairs = pairs._replace(limits=np.where(pairs.distances == 8, 0.99, pairs.limits))
    pages_beyond = pairs._replace(distances=pairs.distances.copy())
    found = tune(pages, pages_beyond, examples=2)
    bits, share = found.suggested[:2]
    originals = originals_at(pages, pages_beyond, bits, share)
    kinds = [each.kind for each in found.border]
    assert max(kinds.count(kind) for kind in kinds) <= 2
    numbers = {int(number): place for place, number in enumerate(pages.numbers)}
    for each in found.border:
        original = originals[numbers[each.page]]
        is_inside = each.kind.endswith("inside")
        assert (original == numbers[each.original]) == is_inside
        if not is_inside:
            assert original < 0
        if each.kind == "min_similarity, outside":
            assert each.distance <= bits
    assert {"max_distance, inside", "min_similarity, inside"} <= set(kinds)


class TestChance:
    def test_fair_bits_are_binomial(self):
        for bits in range(13):
            assert fair_rate(bits) == sum(comb(64, n) for n in range(bits + 1)) / 2**64

    @pytest.mark.parametrize("leaning", [0.5, 0.65])
    def test_what_is_measured_of_a_few_hundred_pages_is_near_what_is_expected(self, leaning):
        """Bits that lean are alike more often; distances are binomial, and so is their tail."""
        bits = np.random.default_rng(1).random((400, 64)) < leaning
        prints = np.packbits(bits, axis=1).view(">u8").ravel().tolist()
        found = chance_of(*stored([(each, hashes_of(n)) for n, each in enumerate(prints)]))
        differs = 2 * leaning * (1 - leaning)
        assert found.mean == pytest.approx(64 * differs, abs=0.3)
        assert found.deviation == pytest.approx((64 * differs * (1 - differs)) ** 0.5, abs=0.2)
        rate = sum(comb(64, n) * differs**n * (1 - differs) ** (64 - n) for n in range(13))
        assert rate / 4 < found.rates[12] < rate * 4

    def test_what_is_seen_often_enough_is_counted(self):
        pages = [(0b1 << (n % 8), hashes_of(n)) for n in range(30)]
        pages += [(random.Random(n).getrandbits(64), hashes_of(100 + n)) for n in range(50)]
        there, pairs = stored(pages)
        found = chance_of(there, pairs)
        assert found.are_counted[2]
        unrelated = (pairs.distances <= 2) & (pairs.shares < 0.2)
        every = there.size * (there.size - 1) / 2
        assert found.rates[2] == pytest.approx(unrelated.sum() / every)
        assert replace(found).candidates(2, 1_000) == pytest.approx(1_000 * found.rates[2])

    def test_of_one_page_there_is_none(self):
        assert chance_of(*stored([(5, hashes_of(1))])) is None
