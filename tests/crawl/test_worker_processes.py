"""Crawls whose pages are read by other processes (DEDUP_WORKERS) end as they do without."""

import os
import signal
import subprocess
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from gate import slow
from patience import wait_until

PAGES = 40
PARSE = """
    for number in (1, 2):
        yield {"url": response.url, "html": response.text, "number": number}
"""
SELECT = "twisted.internet.selectreactor.SelectReactor"
needs_proc = pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="looks into it")


@pytest.fixture
def copied_site(site, paragraphs, request):
    """Serve articles, each with a copy in which a word is changed."""
    for number in range(getattr(request, "param", PAGES) // 2):
        site.add(f"/{number}", paragraphs(number))
        site.add(f"/{number}/copy", paragraphs(number, edits=1))
    return site


def check(done, pages=PAGES):
    assert done.exit_code == 0, done.log
    assert "Traceback" not in done.log, done.log
    assert done.stats["dedup/errors"] == 0, done.log
    assert done.stats["dedup/new"] == done.stats["dedup/near"] == pages // 2
    articles = Counter(item["url"].removesuffix("/copy") for item in done.items)
    assert len(articles) == pages // 2
    assert set(articles.values()) == {2}, "not two items of each article"


@pytest.mark.parametrize(
    "settings",
    [
        {"CONCURRENT_REQUESTS": 16, "TWISTED_REACTOR": SELECT},  # nothing can be waited for
        slow({"CONCURRENT_REQUESTS": 16, "DEDUP_FOLLOW_LINKS": False}),
        slow({"DEDUP_WORKERS": 1, "DEDUP_SOURCE": "item", "DEDUP_HTML_FIELD": "html"}),
        slow({"DEDUP_WORKERS": "auto", "CONCURRENT_REQUESTS": 8, "DEDUP_INDEX": "redis"}),
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


def has_answered(pid):
    """Tell whether a worker has told more than that it has started."""
    with suppress(OSError):  # it has ended
        written = Path(f"/proc/{pid}/io").read_text().split("wchar: ")[1]
        return int(written.split()[0]) > 1_000
    return False


@needs_proc
@pytest.mark.parametrize(
    ("copied_site", "kills"),
    [(60, 12)],
    indirect=["copied_site"],
)
@pytest.mark.slow
def test_processes_that_are_killed_cost_nothing(copied_site, project, kills):
    """Each has answered before: after some that have not, no other would be started."""
    killed, pages = set(), len(copied_site.pages)
    project.spider(parse=PARSE)
    gates = [copied_site.gate(path) for path in copied_site.pages]
    process = project.begin(*copied_site.urls(), DEDUP_WORKERS=2)

    def ready():
        workers = set(children(process.pid)) - killed
        return [*filter(has_answered, workers)] if workers else ["none was needed since"]

    for gate in gates:
        with gate.when_reached():
            chosen = wait_until(ready, "a worker has read a page")[0]
            if len(killed) < kills and isinstance(chosen, int):
                os.kill(chosen, signal.SIGKILL)
                killed.add(chosen)

    check(process.end(), pages)
    assert len(killed) == kills
