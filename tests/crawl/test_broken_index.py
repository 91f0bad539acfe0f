"""An index on a disk that fails in mid-crawl costs no item."""

import pytest
from index_feed import records

from dedup_filter import NearDuplicateFilter

FAULT = """
    import resource
    import sqlite3
    import sys

    sys.dont_write_bytecode = True  # modules cut short would be left to all that import them later
    connect = sqlite3.connect
    sizes = {{10: 20_000, {until}: resource.RLIM_INFINITY}}

    class Connection(sqlite3.Connection):
        begun = 0

        def execute(self, sql, *values):
            if sql.startswith("BEGIN"):
                self.begun += 1
                if self.begun in sizes:
                    limits = sizes[self.begun], resource.RLIM_INFINITY
                    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            return super().execute(sql, *values)

    sqlite3.connect = lambda *given, **named: connect(*given, **{{**named, "factory": Connection}})
"""
"""No file may grow beyond some bytes, from the tenth transaction to another one."""
PAGES = 28


@pytest.fixture
def crawl(project, site, serve_quartets):
    """Crawl pages, and break the index."""
    serve_quartets(PAGES)

    def run(*, until=None, **settings):
        project.module("__init__", FAULT.format(until=until))
        done = project.crawl(*site.urls(), DEDUP_INDEX="pages", **settings)
        assert done.exit_code == 0
        assert not done.lines("Traceback"), done.log
        assert all(done.numbers.count(number) == 2 for number in done.numbers)
        check(project.folder / "pages", done.numbers)
        return done, set(done.numbers)

    return run


def without_twins(numbers):
    return {number - (number % 4 == 3) for number in numbers}


def check(index, kept):
    """Verify that the index holds what was acknowledged."""
    with NearDuplicateFilter.open(index) as pages:
        pages.check()
    recorded = records(index)
    assert len(recorded) >= 3
    assert not any(page.is_pending for page in recorded)
    urls = [page.url for page in recorded if page.is_kept]
    assert {int(url.rpartition("/")[2]) for url in urls} <= set(kept)


def test_no_item_is_lost_and_judging_goes_on_when_the_fault_passes(crawl):
    done, kept = crawl(until=24)

    assert without_twins(kept) == without_twins(range(PAGES))
    assert done.stats["dedup/errors"] > 5
    assert done.stats["finish_reason"] == "finished"
    told = [line for line in done.lines("ERROR") if "[dedup_filter]" in line]
    assert 3 <= len(told) <= 8  # the 1st, 2nd, 4th, ...
    assert all("StoreError: " in line for line in told)
    assert PAGES - 1 not in kept  # it is a twin
    assert done.stats["dedup/index_size"] >= 6


def test_spider_is_closed_after_the_first_fault_if_so_wished(crawl, site):
    done, kept = crawl(DEDUP_ON_ERROR="close")

    assert done.stats["finish_reason"] == "dedup_error"
    assert len(site.asked) < PAGES
    asked = {int(path[1:]) for path in site.asked}
    assert without_twins(kept) == without_twins(asked)
