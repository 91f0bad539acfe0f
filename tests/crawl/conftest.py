"""Real crawls: a site on loopback, a Scrapy project in a folder, `scrapy crawl` in a process.

Nothing here knows the library: the project's only tie to it is its ADDONS line.
"""

import json
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from textwrap import dedent, indent
from time import monotonic, sleep

import pytest
from crawl_server import PATIENCE, CrawlServer
from web_site import served

SETTINGS = """\
BOT_NAME = "tutorial"
SPIDER_MODULES = ["tutorial.spiders"]
NEWSPIDER_MODULE = "tutorial.spiders"
TELNETCONSOLE_ENABLED = False
CONCURRENT_REQUESTS = 1  # in order: the first page of a kind is the one the site names first
ADDONS = {"dedup_filter.Addon": 500}
"""

SPIDER = """
    import scrapy

    class QuotesSpider(scrapy.Spider):
        name = "quotes"

        def __init__(self, urls="", **kwargs):
            super().__init__(**kwargs)
            self.urls = urls.split(",")

        async def start(self):
            first = [self.urls.pop(0)] if {in_turn} else self.urls
            for url in first:
                yield scrapy.Request(url, dont_filter=True, meta={meta})

        def parse(self, response):
            {parse}
            if {in_turn} and self.urls:
                yield scrapy.Request(self.urls.pop(0))
"""
"""Takes URLs from its argument; `in_turn`: each when the page before it was parsed."""
ITEM = 'yield {"url": response.url}'
CLOSED = '''

    def closed(self, reason):
        """Write the stats down for the test."""
        import json
        with open("stats.json", "w") as file:
            stats = self.crawler.stats.get_stats()
            json.dump({**stats, "finish_reason": reason}, file, default=str)
'''


@dataclass
class Crawl:
    """What is left of a crawl."""

    exit_code: int
    log: str
    items: list
    stats: dict

    def lines(self, part):
        return [line for line in self.log.splitlines() if part in line]


class Project:
    """A Scrapy project as `scrapy startproject tutorial` makes it, plus one line."""

    def __init__(self, server, folder):
        self._server, self.folder = server, folder
        self._begun = []
        spiders = folder / "tutorial" / "spiders"
        spiders.mkdir(parents=True)
        (folder / "scrapy.cfg").write_text("[settings]\ndefault = tutorial.settings\n")
        (folder / "tutorial" / "__init__.py").touch()
        (spiders / "__init__.py").touch()
        (folder / "tutorial" / "settings.py").write_text(SETTINGS)

    def spider(self, code=None, name="quotes", *, parse=ITEM, meta="{}", in_turn=False):
        """Write the project's spider: whole, or what it does with a response."""
        if code is None:
            parse = indent(dedent(parse).strip(), " " * 12).strip()
            code = SPIDER.format(parse=parse, meta=meta, in_turn=in_turn)
        path = self.folder / "tutorial" / "spiders" / f"{name}_spider.py"
        path.write_text(dedent(code).rstrip() + CLOSED)

    def module(self, name, code):
        (self.folder / "tutorial" / f"{name}.py").write_text(dedent(code))

    def crawl(self, *urls, **settings):
        return self.end(self.begin(*urls, **settings))

    def begin(self, *urls, spider="quotes", **settings):
        """Begin a crawl of some URLs, to be waited for by `end`."""
        arguments = ["-a", f"urls={','.join(urls)}"] if urls else []
        options = [f"-s{name}={value}" for name, value in settings.items()]
        command = ["crawl", spider, "-O", "items.jsonl", *options, *arguments]
        log = self.folder / f"crawl-{len(self._begun)}.log"
        log.touch()  # it may be killed before it writes
        self._begun.append(self._server.start(*command, folder=self.folder, log=log))
        return self._begun[-1]

    def close(self):
        """End the crawls that a test that failed has left."""
        for process in self._begun:
            process.kill()
            process.log()

    def end(self, process):
        log = process.log()
        return Crawl(process.exit_code, log, self._items(), self._stats())

    def wait_for(self, name):
        """Wait until the crawl has made a file."""
        until = monotonic() + PATIENCE
        while not (self.folder / name).exists():
            assert monotonic() < until, f"{name} never came"
            sleep(0.02)

    def _items(self):
        path = self.folder / "items.jsonl"
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_text().splitlines() if line]

    def _stats(self):
        path = self.folder / "stats.json"
        return json.loads(path.read_text()) if path.exists() else {}


@pytest.fixture
def site():
    with served() as server:
        yield server


@pytest.fixture
def make_site():
    """Serve one site after another."""
    with ExitStack() as sites:
        yield lambda: sites.enter_context(served())


@pytest.fixture
def paragraphs(article):
    """Make pages of several paragraphs; an edit changes one word of the first."""

    def make(seed, edits=0, link="", words=150):
        words = article(seed, edits, words).split()
        parts = [" ".join(words[start : start + 36]) for start in range(0, len(words), 36)]
        return "<html><body><p>" + "</p><p>".join(parts) + f"</p>{link}</body></html>"

    return make


@pytest.fixture(scope="session")
def crawl_server(tmp_path_factory):
    environment = {"no_proxy": "*", "PYTHONWARNINGS": "default"}
    with CrawlServer(environment, tmp_path_factory.mktemp("bytecode")) as server:
        yield server


@pytest.fixture
def project(crawl_server, tmp_path: Path):
    with closing(Project(crawl_server, tmp_path)) as project:
        yield project


@pytest.fixture
def refused(project, site):
    """Crawl with an index that cannot be opened; return the last line of the log."""
    project.spider()
    feed = project.folder / "items.jsonl"
    feed.write_text('{"earlier": "feed"}\n')

    def run(location):
        done = project.crawl(site.url, DEDUP_INDEX=location)
        assert done.exit_code == 1
        assert feed.read_text() == '{"earlier": "feed"}\n'
        assert site.asked == []
        assert "pa55" not in done.log
        last = done.log.rstrip().splitlines()[-1]
        assert "DEDUP_INDEX" in last
        return last

    return run


@pytest.fixture
def new_project(crawl_server, tmp_path: Path):
    """Make one project after another."""
    folders = (tmp_path / f"project-{number}" for number in count())
    with ExitStack() as projects:

        def make():
            folder = next(folders)
            folder.mkdir()
            return projects.enter_context(closing(Project(crawl_server, folder)))

        yield make
