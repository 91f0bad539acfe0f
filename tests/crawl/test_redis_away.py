"""A server that cannot be reached costs no item, and shows no password."""

import re
from contextlib import ExitStack
from time import sleep

import pytest
from gate import slow

from dedup_filter import NearDuplicateFilter

FATES = """
    import scrapy

    class Fates:
        def __init__(self, crawler):
            self.count = 0
            crawler.signals.connect(self.note, scrapy.signals.item_scraped)
            crawler.signals.connect(self.note, scrapy.signals.item_dropped)

        @classmethod
        def from_crawler(cls, crawler):
            return cls(crawler)

        def note(self):
            self.count += 1
            open(f"ended-{self.count}", "w").close()
"""
PAGES, GOES, COMES = 24, 8, 16
SHORT_RESTS = """
    from dedup_filter.store.redis import connection

    connection._LONGEST_REST = 0.3  # seconds for which a client leaves its server alone
"""
SELECT, ASYNCIO = "selectreactor.SelectReactor", "asyncioreactor.AsyncioSelectorReactor"


@pytest.fixture
def server(start_redis):
    return start_redis(durable=True, password="pa55/w:rd@x")


@pytest.fixture
def begin(project, site, serve_quartets, server):
    serve_quartets(PAGES)
    project.module("__init__", SHORT_RESTS)
    project.module("fates", FATES)

    def begin(**settings):
        extensions = '{"tutorial.fates.Fates": 0}'
        settings = {"DEDUP_INDEX": server.url, "EXTENSIONS": extensions, **settings}
        return project.begin(*site.urls(), **settings)

    return begin


def twins(first, end):
    return {number for number in range(first, end) if number % 4 == 3}


def check(done, server):
    """Verify that no item is lost, and no password shown."""
    assert done.exit_code == 0, done.log
    assert "Traceback" not in done.log, done.log
    for secret in (server.password, server.url.partition("@")[0].rpartition(":")[2]):
        assert secret not in done.log
        assert secret not in repr(done.stats)
    assert all(done.numbers.count(number) == 2 for number in done.numbers)
    return set(done.numbers)


@pytest.mark.parametrize(
    ("goes", "reactor"),
    [("pause", ASYNCIO), slow("kill", SELECT)],
)
def test_items_are_kept_meanwhile_and_judged_again_afterwards(
    begin, project, site, server, goes, reactor
):
    site.gate(f"/{GOES}")
    site.gate(f"/{COMES}")
    process = begin(TWISTED_REACTOR=f"twisted.internet.{reactor}", LOG_LEVEL="DEBUG")
    with site.gate(f"/{GOES}").when_reached():
        project.wait_for(f"ended-{2 * GOES}")
        getattr(server, goes)()
    with site.gate(f"/{COMES}").when_reached():
        project.wait_for(f"ended-{2 * COMES}")
        getattr(server, "resume" if goes == "pause" else "start")()
        sleep(0.5)
    done = process.end()

    kept = check(done, server)
    assert set(range(PAGES)) - twins(0, PAGES) <= kept
    assert kept & twins(0, PAGES) == twins(GOES, COMES)
    assert done.stats["finish_reason"] == "finished"
    assert done.stats["dedup/unjudged/error"] == COMES - GOES
    told = [line for line in done.lines("[dedup_filter]") if "Index server " in line]
    assert ["unreachable" in line for line in told] == [True, False]
    assert re.search(r"reachable again after \d+ s and \d+ faults; pages are judged", told[1])
    with NearDuplicateFilter.open(server.url) as pages:
        pages.check()


@pytest.mark.parametrize("goes", ["kill", slow("pause")])
def test_crawl_ends_without_its_server(begin, project, site, server, goes):
    last = site.gate(f"/{PAGES - 1}")
    with ExitStack() as afterwards:
        process = begin()
        with last.when_reached():
            project.wait_for(f"ended-{2 * (PAGES - 1)}")
            getattr(server, goes)()
            afterwards.callback(server.resume if goes == "pause" else server.start)
        done = process.end()

    assert PAGES - 1 in check(done, server)  # it would have been dropped
    assert done.stats["finish_reason"] == "finished"
    assert f"INFO: {PAGES} pages: " in done.log
    assert "reachable again" not in done.log


def test_wrong_password_stops_the_crawl_at_its_start(project, site, server):
    """It is told in one sentence, and the feed of an earlier crawl is not touched."""
    project.spider()
    feed = project.folder / "items.jsonl"
    feed.write_text('{"earlier": "feed"}\n')

    done = project.crawl(site.url, DEDUP_INDEX=f"redis://:wrong-pa55@{server.address}/0")

    assert done.exit_code == 1
    assert done.feed == '{"earlier": "feed"}\n'
    assert site.asked == []
    assert "pa55" not in done.log
    *_, last = done.log.rstrip().splitlines()
    assert "DEDUP_INDEX" in last
    assert f"redis://{server.address}/0?name=pages: the server refuses the" in last
