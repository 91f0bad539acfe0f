"""Small bounds: an index of a dozen pairs then goes through all that one of millions does."""

import pytest


def make_small(patch):
    """Seal three pairs, merge from six on, move four entries a step, look up by tables."""
    patch.setattr("dedup_filter.hamming.levels.FRESH", 3)
    patch.setattr("dedup_filter.hamming.levels._FRESH_ALONE", 3)
    patch.setattr("dedup_filter.hamming.levels._LEAST_YOUNG", 6)
    patch.setattr("dedup_filter.hamming.levels._BULK", 4)
    patch.setattr("dedup_filter.hamming.layout_choice.scan_limit", lambda *_: -1)
    patch.setattr("dedup_filter.hamming.merging.STEP", 4)
    patch.setattr("dedup_filter.hamming.sealed_tables._CHUNK", 8)
    patch.setattr("dedup_filter.hamming.search_many._CHUNK", 8)


@pytest.fixture
def small_levels(monkeypatch):
    make_small(monkeypatch)
