import pytest


@pytest.fixture
def small_levels(monkeypatch):
    """Small bounds: an index of a dozen pairs then goes through all that one of millions does.

    Merge when three pairs are fresh, look up by tables and in rings, add four and more together.
    """
    bounds = {
        "_LEAST_FRESH": 3,
        "_FRESH_PER_PAIR": 1,
        "_BULK": 4,
        "scan_limit": lambda *_: -1,
        "first_ring": lambda layout, distance, _: min(layout.reach, distance),
    }
    for name, value in bounds.items():
        monkeypatch.setattr(f"dedup_filter.hamming.hamming_index.{name}", value)
