"""Small bounds: an index of a dozen pairs then goes through all that one of millions does."""

import pytest


def make_small(patch):
    """Seal three pairs, let young tables grow beside more than twelve, look up by tables."""
    patch.setattr("dedup_filter.hamming.hamming_index.FRESH", 3)
    patch.setattr("dedup_filter.hamming.hamming_index._FEW_OLD", 12)
    patch.setattr("dedup_filter.hamming.hamming_index._BULK", 4)
    patch.setattr("dedup_filter.hamming.hamming_index.scan_limit", lambda *_: -1)
    patch.setattr("dedup_filter.hamming.tables._CHUNK", 8)


@pytest.fixture
def small_levels(monkeypatch):
    make_small(monkeypatch)
