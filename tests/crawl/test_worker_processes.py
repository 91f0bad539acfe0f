"""Crawls whose pages are read by other processes (DEDUP_WORKERS) end as they do without."""

import os
import random
import signal
import subprocess
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from crawl_server import PATIENCE

PAGES = 60
PARSE = """
    yield {"url": response.url}
    yield {"url": response.url, "again": True}
"""
SELECT = "twisted.internet.selectreactor.SelectReactor"


@pytest.fixture
def copied_site(site, paragraphs):
    """Serve articles, each with a copy in which a word is changed."""
    for number in range(PAGES // 2):
        site.add(f"/{number}", paragraphs(number))
        site.add(f"/{number}/copy", paragraphs(number, edits=1))
    return site


def outcomes(done):
    names = ("pages", "new", "near", "exact", "unjudged", "items_dropped", "errors")
    return {name: done.stats.get(f"dedup/{name}") for name in names}


def check(done):
    assert done.exit_code == 0, done.log
    assert "Traceback" not in done.log, done.log
    assert done.stats["dedup/errors"] == 0, done.log
    articles = Counter(item["url"].removesuffix("/copy") for item in done.items)
    assert set(articles.values()) == {2}, "not two items of each article"
    assert len(articles) == done.stats["dedup/new"] == done.stats["dedup/near"] == PAGES // 2


@pytest.mark.parametrize("workers", ["1", "2", "auto"])
def test_the_same_is_dropped(copied_site, new_project, workers):
    crawls = []
    for number in ("0", workers):
        project = new_project()
        project.spider(parse=PARSE)
        crawls.append(project.crawl(*copied_site.urls(), DEDUP_WORKERS=number))

    for done in crawls:
        check(done)
    # Scrapy does not promise in which order items under way at the same time reach a feed.
    one, other = ([sorted(item.items()) for item in done.items] for done in crawls)
    assert sorted(one) == sorted(other)
    assert outcomes(crawls[0]) == outcomes(crawls[1])


@pytest.mark.parametrize(
    "settings",
    [
        {"CONCURRENT_REQUESTS": 16},
        {"CONCURRENT_REQUESTS": 16, "TWISTED_REACTOR": SELECT},  # nothing can be waited for
        {"CONCURRENT_REQUESTS": 16, "DEDUP_FOLLOW_LINKS": False},
        {"DEDUP_SOURCE": "item", "DEDUP_HTML_FIELD": "html"},
        {"DEDUP_ACTION": "tag", "CONCURRENT_REQUESTS": 8, "DEDUP_INDEX": "redis"},
    ],
)
def test_each_way_of_judging_works(copied_site, project, redis_server, settings):
    if "DEDUP_INDEX" in settings:
        settings = {**settings, "DEDUP_INDEX": redis_server.url}
    project.spider(parse='yield {"url": response.url, "html": response.text}')

    done = project.crawl(*copied_site.urls(), DEDUP_WORKERS=2, **settings)

    assert done.exit_code == 0, done.log
    assert "Traceback" not in done.log, done.log
    assert done.stats["dedup/errors"] == 0, done.log
    assert done.stats["dedup/near"] == PAGES // 2
    assert done.stats["dedup/pages"] == PAGES


def children(pid):
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(child) for child in found.stdout.split()]


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for the children of a process")
class TestProcesses:
    def test_that_are_killed_cost_nothing(self, copied_site, project):
        chance = random.Random(11)
        project.spider(parse=PARSE)
        process = project.begin(
            *copied_site.urls(), DEDUP_WORKERS=2, DOWNLOAD_DELAY=0.05, RANDOMIZE_DOWNLOAD_DELAY=0
        )
        killed = 0
        while process.is_running and killed < 50:
            for child in children(process.pid):
                with suppress(ProcessLookupError):  # it has ended by itself
                    os.kill(child, signal.SIGKILL)
                    killed += 1
            time.sleep(chance.uniform(0.05, 0.3))
        done = project.end(process)

        check(done)
        assert killed >= 3

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
    def test_end_with_the_crawl(self, copied_site, project, number):
        project.spider(parse=PARSE)
        process = project.begin(*copied_site.urls(), DEDUP_WORKERS=2, DOWNLOAD_DELAY=0.5)
        until = time.monotonic() + PATIENCE
        while not (workers := children(process.pid)):
            assert time.monotonic() < until
            time.sleep(0.05)

        os.kill(process.pid, number)
        process.log()

        while any(Path(f"/proc/{pid}/exe").exists() for pid in workers):
            assert time.monotonic() < until, "a worker has not ended"
            time.sleep(0.05)
