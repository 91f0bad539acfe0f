"""What `import dedup_filter` gives, and what it does not load."""

import sys

from command_line import run_process

import dedup_filter


def modules_after(code):
    script = f"{code}\nimport sys\nprint(*sys.modules)"
    return set(run_process(command=[sys.executable, "-c", script])[1].split())


def test_the_library_loads_neither_scrapy_nor_a_dictionary():
    loaded = modules_after("import dedup_filter")
    assert "dedup_filter.filter" in loaded
    assert not {"scrapy", "twisted", "jieba"} & loaded


def test_the_addon_is_reached_by_its_short_name():
    assert "dedup_filter.scrapy_plugin.pipeline" in modules_after("from dedup_filter import Addon")


def test_every_public_name_exists_and_they_are_sorted():
    assert dedup_filter.__all__ == sorted(dedup_filter.__all__)
    assert all(getattr(dedup_filter, name) for name in dedup_filter.__all__)
