"""Thousands of pages of one template: within k bits of one another, and no near-duplicates."""

import random

import pytest
from made_profiles import hashes_of, made_profile

from benchmarks.made_profiles import see
from dedup_filter.config import FilterConfig
from dedup_filter.pages.comparison import MOST_COMPARED
from dedup_filter.pages.location import MEMORY, open_index

TEMPLATE = 0x0123456789ABCDEF


def page(number, fingerprint, shingles=None):
    """A page with shingles that no other has, unless some are given."""
    return made_profile(number, fingerprint, hashes_of(number if shingles is None else shingles))


def pages_of_a_template(count, seed=3, bits=4):
    generator = random.Random(seed)
    for number in range(count):
        flipped = generator.sample(range(64), generator.randint(0, bits))
        yield page(number, TEMPLATE ^ sum(1 << bit for bit in flipped))


def kept(pages, **options):
    store = open_index(MEMORY, FilterConfig(**options), None)
    for number, one in enumerate(pages):
        verdict = see(store, f"https://example.com/{number}", one)
        assert verdict.outcome == "new"
        assert verdict.candidates <= MOST_COMPARED
    store.check()
    return store


@pytest.fixture(params=["scanned", "tables"])
def way(request, monkeypatch):
    if request.param == "tables":
        monkeypatch.setattr("dedup_filter.hamming.hamming_index.scan_limit", lambda *_: -1)
        monkeypatch.setattr("dedup_filter.hamming.hamming_index.FRESH", 50)
        monkeypatch.setattr("dedup_filter.hamming.hamming_index._FEW_OLD", 100)


def test_a_crowd_is_kept_in_no_more_memory_than_strangers_and_what_repeats_one_is_found(way):
    """Of no page are more candidates compared: see `kept`."""
    crowd = kept(pages_of_a_template(200), max_distance=8)
    generator = random.Random(4)
    strangers = kept(page(number, generator.getrandbits(64)) for number in range(200))
    assert (crowd.capped, strangers.capped) == (200 - MOST_COMPARED - 1, 0)
    assert crowd.nbytes < 1.1 * strangers.nbytes
    original = page(501, TEMPLATE ^ 0b11111 << 20)
    see(crowd, "https://example.com/original", original)
    copy = page(502, original.fingerprint ^ 1, shingles=501)
    verdict = see(crowd, "https://example.com/copy", copy)
    assert (verdict.outcome, verdict.distance) == ("near", 1)
    assert verdict.original == "https://example.com/original"
