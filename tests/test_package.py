"""What `import dedup_filter` gives; what it does not load is in test_cli.py."""

import dedup_filter
from dedup_filter.scrapy_plugin import pipeline


def test_the_addon_is_reached_by_its_short_name():
    assert dedup_filter.Addon is pipeline.Addon


def test_every_public_name_exists_and_they_are_sorted():
    assert dedup_filter.__all__ == sorted(dedup_filter.__all__)
    assert all(getattr(dedup_filter, name) for name in dedup_filter.__all__)
