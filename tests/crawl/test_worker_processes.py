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
from patience import wait_until

PAGES = 40
PARSE = """
    for number in (1, 2):
        yield {"url": response.url, "html": response.text, "number": number}
"""
SELECT = "twisted.internet.selectreactor.SelectReactor"


@pytest.fixture
def copied_site(site, paragraphs):
    """Serve articles, each with a copy in which a word is changed."""
    for number in range(PAGES // 2):
        site.add(f"/{number}", paragraphs(number))
        site.add(f"/{number}/copy", paragraphs(number, edits=1))
    return site


def check(done):
    assert done.exit_code == 0, done.log
    assert "Traceback" not in done.log, done.log
    assert done.stats["dedup/errors"] == 0, done.log
    assert done.stats["dedup/new"] == done.stats["dedup/near"] == PAGES // 2
    articles = Counter(item["url"].removesuffix("/copy") for item in done.items)
    assert len(articles) == PAGES // 2
    assert set(articles.values()) == {2}, "not two items of each article"


@pytest.mark.parametrize(
    "settings",
    [
        {"CONCURRENT_REQUESTS": 16, "TWISTED_REACTOR": SELECT},  # nothing can be waited for
        {"CONCURRENT_REQUESTS": 16, "DEDUP_FOLLOW_LINKS": False},
        {"DEDUP_WORKERS": 1, "DEDUP_SOURCE": "item", "DEDUP_HTML_FIELD": "html"},
        {"DEDUP_WORKERS": "auto", "CONCURRENT_REQUESTS": 8, "DEDUP_INDEX": "redis"},
    ],
)
def test_each_way_of_judging_works(copied_site, project, redis_server, settings):
    if "DEDUP_INDEX" in settings:
        settings = {**settings, "DEDUP_INDEX": redis_server.url}
    project.spider(parse=PARSE)

    check(project.crawl(*copied_site.urls(), **{"DEDUP_WORKERS": 2, **settings}))


def children(pid):
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(child) for child in found.stdout.split()]


def test_processes_that_are_killed_cost_nothing(copied_site, project):
    chance, killed = random.Random(11), 0
    project.spider(parse=PARSE)
    slow = {"DOWNLOAD_DELAY": 0.05, "RANDOMIZE_DOWNLOAD_DELAY": 0}
    process = project.begin(*copied_site.urls(), DEDUP_WORKERS=2, **slow)
    while process.is_running and killed < 50:
        for child in children(process.pid):
            with suppress(ProcessLookupError):  # it has ended by itself
                os.kill(child, signal.SIGKILL)
                killed += 1
        time.sleep(chance.uniform(0.05, 0.3))

    check(process.end())
    assert killed >= 3


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in it")
def test_processes_end_with_a_crawl_that_is_interrupted(copied_site, project):
    project.spider(parse=PARSE)
    process = project.begin(*copied_site.urls(), DEDUP_WORKERS=2, DOWNLOAD_DELAY=0.5)
    workers = wait_until(lambda: children(process.pid), "there are workers")

    os.kill(process.pid, signal.SIGINT)
    process.end()

    for pid in workers:
        wait_until(lambda pid=pid: not Path(f"/proc/{pid}/exe").exists(), "it has ended")
