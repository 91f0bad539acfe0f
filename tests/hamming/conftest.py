import pytest


@pytest.fixture
def small_levels(monkeypatch):
    """Small bounds: an index of a dozen pairs then goes through all that one of millions does.

    Seal three pairs, let young tables grow beside more than twelve, look up by tables.
    """
    bounds = {"FRESH": 3, "_FEW_OLD": 12, "_BULK": 4, "scan_limit": lambda *_: -1}
    for name, value in bounds.items():
        monkeypatch.setattr(f"dedup_filter.hamming.hamming_index.{name}", value)
    for name in ("_SPANS", "_ENTRIES", "_BLOCK"):
        monkeypatch.setattr(f"dedup_filter.hamming.tables.{name}", 8)
