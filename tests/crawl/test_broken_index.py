"""An index that fails in mid-crawl costs no item: full disk, failing disk, no right to write."""

import pytest

from dedup_filter import NearDuplicateFilter
from dedup_filter.pages.directory.page_reader import PageReader

TWO_ITEMS = """
    yield {"url": response.url}
    yield {"url": response.url, "again": True}
"""
FAULT = """
    import resource
    import sqlite3

    connect = sqlite3.connect

    class Connection(sqlite3.Connection):
        begun = 0

        def execute(self, sql, *values):
            if sql.startswith("BEGIN"):
                self.begun += 1
                if self.begun in {after}:
                    {fault}
                if self.begun in {until}:
                    {repair}
            return super().execute(sql, *values)

    sqlite3.connect = lambda *given, **named: connect(*given, **{{**named, "factory": Connection}})
"""
DROPPING = """
    from scrapy.exceptions import DropItem

    class Dropping:
        def process_item(self, item, spider=None):
            if int(item["url"].rpartition("/")[2]) % 4 == 2:
                raise DropItem("a rule of this project", log_level="INFO")
            return item
"""
LIMIT_FILES = "resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, resource.RLIM_INFINITY))"
FAULTS = {
    "full": (
        'super().execute("PRAGMA max_page_count = 1")',
        'super().execute("PRAGMA max_page_count = 1000000")',
    ),
    "read-only": (
        'super().execute("PRAGMA query_only = 1")',
        'super().execute("PRAGMA query_only = 0")',
    ),
    "failing": (
        LIMIT_FILES.format(size=20_000),
        LIMIT_FILES.format(size="resource.RLIM_INFINITY"),
    ),
}
PAGES = 36


@pytest.fixture
def crawl(project, site, paragraphs):
    """Crawl pages, of which one in four repeats the one before it, and break the index."""
    for number in range(PAGES):
        twin = number % 4 == 3
        site.add(f"/{number}", paragraphs(number - twin, edits=int(twin)))
    project.spider(parse=TWO_ITEMS, in_turn=True)

    def run(fault, *, after=(12,), until=(), **settings):
        breaking, repair = FAULTS[fault]
        code = FAULT.format(fault=breaking, repair=repair, after=after, until=until)
        project.module("__init__", code)
        done = project.crawl(*site.urls(), DEDUP_INDEX="pages", **settings)
        assert done.exit_code == 0
        assert not done.lines("Traceback"), done.log
        kept = [number_of(item["url"]) for item in done.items]
        return done, kept

    return run


def number_of(url):
    return int(url.rpartition("/")[2])


def without_twins(numbers):
    return {number - (number % 4 == 3) for number in numbers}


@pytest.mark.parametrize("fault", FAULTS)
def test_no_item_is_lost_and_the_index_holds_what_was_acknowledged(crawl, project, fault):
    done, kept = crawl(fault)

    assert without_twins(kept) == without_twins(range(PAGES))
    assert all(kept.count(number) == 2 for number in kept)
    assert done.stats["dedup/errors"] > 5
    assert done.stats["finish_reason"] == "finished"
    told = [line for line in done.lines("ERROR") if "[dedup_filter]" in line]
    assert 3 <= len(told) <= 8  # the 1st, 2nd, 4th, ...
    assert all("StoreError: " in line for line in told)
    index = project.folder / "pages"
    with NearDuplicateFilter.open(index) as pages:
        pages.check()
    with PageReader.open_to_read(index) as record:
        record.check()
        records = list(record.records())
    assert len(records) >= 3
    assert not any(page.is_pending for page in records)
    assert {number_of(page.url) for page in records if page.judged.is_kept} <= set(kept)


def test_spider_is_closed_after_the_first_fault_if_so_wished(crawl, site):
    done, kept = crawl("full", DEDUP_ON_ERROR="close")

    assert done.stats["finish_reason"] == "dedup_error"
    assert len(site.asked) < PAGES
    asked = {int(path[1:]) for path in site.asked}
    assert without_twins(kept) == without_twins(asked)


@pytest.mark.parametrize("fault", FAULTS)
def test_crawl_goes_on_judging_when_the_fault_passes(crawl, fault):
    done, kept = crawl(fault, until=[28])

    assert without_twins(kept) == without_twins(range(PAGES))
    assert done.stats["dedup/near"] >= 1
    assert done.stats["dedup/index_size"] >= 8


def test_twin_is_kept_when_its_original_cannot_be_released_at_once(crawl, project):
    project.module("pipelines", DROPPING)
    now_and_then = {"after": range(8, 400, 4), "until": range(9, 400, 4)}

    done, kept = crawl(
        "read-only", ITEM_PIPELINES='{"tutorial.pipelines.Dropping": 300}', **now_and_then
    )

    assert set(kept) == {number for number in range(PAGES) if number % 4 != 2}
    assert done.stats["dedup/released"] > 5
    assert done.stats["dedup/errors"] > 5
