"""A crawl that is killed at any moment and resumed loses nothing that it has acknowledged.

Scrapy forgets requests that were waiting or under way when it was killed, so the spider keeps a
log of its own: which pages were started, and which are finished. That is written after the filter
was told. What a later pipeline writes into `kept.log` stands for a database: it is written before.

DEDUP_KILL_SEED chooses the moments: they are the same in each run, as far as two processes can be
repeated.
"""

import json
import os
import random
import shutil
import signal
import time
from itertools import count

import pytest
from gate import slow
from index_feed import records
from patience import wait_until

from dedup_filter import NearDuplicateFilter

ROUNDS = [(0, 3), slow(1, 10)]
"""Each with its number and its kills."""
SEED = int(os.environ.get("DEDUP_KILL_SEED", "1"))
CONTENTS = 24

SPIDER = """
    import json
    import os
    from pathlib import Path

    import scrapy
    from scrapy import signals

    class QuotesSpider(scrapy.Spider):
        name = "quotes"

        async def start(self):
            self.file = os.open("fates.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            lines = Path("fates.log").read_text().splitlines()
            finished = {line.split()[1] for line in lines if not line.startswith("started")}
            # Connected when all parts of the crawl are: these handlers are called last.
            connect = self.crawler.signals.connect
            connect(self.on_request, signals.request_reached_downloader)
            connect(self.on_scraped, signals.item_scraped)
            connect(self.on_dropped, signals.item_dropped)
            for url in Path("urls").read_text().split():
                if url not in finished:
                    yield scrapy.Request(url, dont_filter=True)

        def parse(self, response):
            yield {"url": response.url}

        def note(self, *words):
            os.write(self.file, (" ".join(words) + "\\n").encode())

        def on_request(self, request):
            self.note("started", request.url)

        def on_scraped(self, item):
            self.note("scraped", item["url"])

        def on_dropped(self, item, exception):
            self.note("dropped", item["url"], getattr(exception, "original", None) or "by-rule")
"""
PIPELINES = """
    import asyncio
    import os
    import random

    from scrapy.exceptions import DropItem

    class Keep:
        def open_spider(self, spider=None):
            self.file = os.open("kept.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

        async def process_item(self, item, spider=None):
            await asyncio.sleep(random.uniform(0, 0.03))
            if item["url"].endswith("-spoilt"):
                raise DropItem("a rule of this project", log_level="DEBUG")
            os.write(self.file, (item["url"] + "\\n").encode())
            return item
"""


class Job:
    """A crawl of one site, killed and resumed until it is finished."""

    def __init__(self, project, site, chance):
        self.project, self.site, self.chance = project, site, chance
        self.folder = project.folder
        self.in_flight = set()
        """URLs that were started and not finished when the crawl was killed."""

    @property
    def index(self):
        return self.folder / "job" / "dedup_index"

    def lines(self, name):
        """Read the whole lines of a log."""
        path = self.folder / name
        return path.read_text().split("\n")[:-1] if path.exists() else []

    @property
    def kept(self):
        return self.lines("kept.log")

    def fates(self, *kinds):
        split = [line.split() for line in self.lines("fates.log")]
        return [words for words in split if words[0] in kinds]

    def finished(self):
        return {words[1] for words in self.fates("scraped", "dropped")}

    def run(self):
        # What a kill leaves of Scrapy's queue may hide requests; the spider knows what is left.
        shutil.rmtree(self.folder / "job" / "requests.queue", ignore_errors=True)
        many = {"CONCURRENT_REQUESTS": 8, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}
        return self.project.begin(
            JOBDIR="job", ITEM_PIPELINES='{"tutorial.pipelines.Keep": 300}', **many
        )

    def run_and_kill(self):
        """Kill a crawl as it starts, as it ends, or after so many pages; return if it still ran."""
        left = len(self.site.pages) - len(self.finished())
        asked = len(self.site.asked)
        after = self.chance.randrange(-2, left // 2 + 2)
        process = self.run()
        while after >= 0 and len(self.site.asked) - asked < min(after, left):
            if not process.is_running:
                break
            time.sleep(0.001)
        time.sleep(self.chance.uniform(0, 1.5 if after < 0 else 0.05))
        process.kill()
        process.end()
        was_killed = process.exit_code == -signal.SIGKILL
        started = {words[1] for words in self.fates("started")}
        self.in_flight |= started - self.finished()
        return was_killed

    @property
    def is_finished(self):
        return len(self.finished()) == len(self.site.pages)

    def check(self):
        """Verify what must hold after each kill, on the index as the next crawl will find it."""
        if not (self.index / "pages.sqlite3").exists():
            assert not self.finished()
            return
        with NearDuplicateFilter.open(str(self.index)) as pages:
            pages.check()
        recorded = records(self.index)
        assert not [each for each in recorded if each.is_pending]
        kept = {each.url for each in recorded if each.is_kept}
        dropped = {each.url for each in recorded if not each.is_kept}
        assert kept <= set(self.kept), "a page counts as seen, and its item is nowhere"
        for kind, url, *original in self.fates("scraped", "dropped"):
            if kind == "scraped":
                assert url in kept, "an acknowledged page is lost"
            elif original != ["by-rule"]:
                assert url in dropped
                assert original[0] in kept, "a duplicate of a page that was not recorded"

    def check_at_the_end(self):
        """Verify that each content was kept once, up to pages in flight."""
        self.check()
        for number in range(CONTENTS):
            copies = sorted(url for url in self.kept if content(url) == number)
            assert copies
            accounted = [url for url in copies if url in self.in_flight]
            assert len(copies) <= 1 + len(accounted), copies


def content(url):
    """Return the number of what is on a page: /12-twin -> 12."""
    return int(url.rpartition("/")[2].partition("-")[0])


@pytest.fixture
def new_job(new_project, site, paragraphs):
    """Serve pages of which half have twins and some are dropped by a rule; make jobs on them."""
    for number in range(CONTENTS):
        site.add(f"/{number}", paragraphs(number))
        if number % 2:
            site.add(f"/{number}-twin", paragraphs(number, edits=1))
        if number % 3 == 0:
            site.add(f"/{number}-spoilt", paragraphs(number, edits=2))

    def make(seed):
        chance = random.Random(seed)
        project = new_project()
        project.spider(SPIDER)
        project.module("pipelines", PIPELINES)
        urls = [f"{site.url}{path}" for path in site.pages]
        chance.shuffle(urls)
        (project.folder / "urls").write_text("\n".join(urls))
        return Job(project, site, chance)

    return make


@pytest.mark.parametrize(("turn", "most"), ROUNDS)
def test_killed_crawl_is_resumed_as_if_nothing_had_been(new_job, turn, most):
    seeds = count(SEED + 1000 * turn)
    job = new_job(next(seeds))
    kills = 0
    while kills < most:
        kills += job.run_and_kill()
        job.check()
        if job.is_finished:
            job.check_at_the_end()
            job = new_job(next(seeds))
    done = job.run().end()
    assert done.exit_code == 0, done.log
    assert job.is_finished
    job.check_at_the_end()


@pytest.mark.slow
def test_items_that_died_in_an_unwritten_feed_are_kept_when_their_pages_come_again(
    project, site, paragraphs
):
    """Scrapy forgets the requests of a killed job, and makes them again."""
    pages = 40
    for number in range(pages):
        site.add(f"/{number}", paragraphs(number - number % 4 // 3, edits=int(number % 4 == 3)))
    originals = {f"{site.url}/{number}" for number in range(pages) if number % 4 != 3}
    project.spider()
    process = project.begin(*site.urls(), JOBDIR="job")
    index = project.folder / "job" / "dedup_index"
    with site.gate(f"/{pages - 1}").when_reached():
        wait_until(lambda: len(records(index)) > pages // 2, "half of the pages are written")
        process.kill()
        assert not (project.folder / "job" / "dedup_filter.crawl").exists()
        *written, _ = process.end().feed.split("\n")  # the last line may be cut
    before = {json.loads(line)["url"] for line in written}
    recorded = {each.url for each in records(index) if each.is_kept}
    assert len(recorded - before) > 10, "no item was lost with the process"

    done = project.crawl(*site.urls(), JOBDIR="job")
    assert done.exit_code == 0, done.log
    assert before | set(done.urls) == originals
    assert len(done.urls) == len(set(done.urls))
    assert done.stats["dedup/revisits"] == len(recorded)


@pytest.mark.slow
@pytest.mark.parametrize("tenths", [0, 4, 8])
def test_feeds_of_a_job_that_was_killed_twice_lack_no_page(project, site, paragraphs, tenths):
    """In a first crawl, and in a second one that wants only the pages that have changed."""
    pages = 40
    project.spider()

    def serve(changed):
        for number in range(pages):
            text = paragraphs(number - number % 4 // 3, edits=int(number % 4 == 3))
            site.add(f"/{number}", text + paragraphs(f"news of {number}") * (number in changed))

    def crawl(job, **settings):
        """Kill a job after some of its pages, and again after others; return all URLs in feeds."""
        many = {"CONCURRENT_REQUESTS": 8, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}
        fed = set()

        def begin():
            shutil.rmtree(project.folder / job / "requests.queue", ignore_errors=True)  # see `Job`
            return project.begin(*site.urls(), JOBDIR=job, DEDUP_INDEX="index", **many, **settings)

        for after in (tenths, 9 - tenths):
            due = len(site.asked) + after * pages // 10
            process = begin()
            wait_until(lambda due=due: len(site.asked) >= due, "pages are fetched")
            process.kill()
            *whole, _ = process.end().feed.split("\n")
            assert process.exit_code == -signal.SIGKILL
            fed.update(json.loads(line)["url"] for line in whole)
        done = begin().end()
        assert done.exit_code == 0, done.log
        return {int(url.rpartition("/")[2]) for url in fed.union(done.urls)}

    serve(changed=())
    first = crawl("job-1")
    assert {number - number % 4 // 3 for number in first} == {*range(pages)} - {*range(3, pages, 4)}
    changed = {*range(0, pages, 3)}
    serve(changed)
    assert changed <= crawl("job-2", DEDUP_REVISIT="drop")
