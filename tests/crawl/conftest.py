"""Real crawls: a site on loopback, a Scrapy project in a folder, `scrapy crawl` in a process.

Nothing here knows the library: the project's only tie to it is its ADDONS line.
"""

from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import mkdtemp
from textwrap import dedent, indent

import pytest
from patience import PATIENCE, wait_until

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
        custom_settings = {settings}

        def __init__(self, urls="", **kwargs):
            super().__init__(**kwargs)
            self.urls = urls.split(",")

        async def start(self):
            first = [self.urls.pop(0)] if {in_turn} else self.urls
            for url in first:
                yield scrapy.Request(url, dont_filter=True)

        def parse(self, response):
            {parse}
            if {in_turn} and self.urls:
                yield scrapy.Request(self.urls.pop(0))
"""
"""Takes URLs from its argument; `in_turn`: each when the page before it was parsed."""
ITEM = 'yield {"url": response.url}'


class Project:
    """A Scrapy project as `scrapy startproject tutorial` makes it, plus one line."""

    def __init__(self, server, parent):
        self._server, self.folder = server, Path(mkdtemp(dir=parent))
        self._begun = []
        spiders = self.folder / "tutorial" / "spiders"
        spiders.mkdir(parents=True)
        (self.folder / "scrapy.cfg").write_text("[settings]\ndefault = tutorial.settings\n")
        (spiders.parent / "__init__.py").touch()
        (spiders / "__init__.py").touch()
        (spiders.parent / "settings.py").write_text(SETTINGS)

    def spider(self, code=None, *, parse=ITEM, settings="{}", in_turn=False):
        """Write the project's spider: whole, or what it does with a response."""
        if code is None:
            parse = indent(dedent(parse).strip(), " " * 12).strip()
            code = SPIDER.format(parse=parse, settings=settings, in_turn=in_turn)
        self.module("spiders/quotes", code)

    def module(self, name, code):
        (self.folder / "tutorial" / f"{name}.py").write_text(dedent(code))

    def crawl(self, *urls, **settings):
        return self.begin(*urls, **settings).end()

    def crawl_well(self, *urls, **settings):
        """Crawl some URLs, without any fault."""
        done = self.crawl(*urls, **settings)
        assert done.exit_code == 0, done.log
        assert "Traceback" not in done.log, done.log
        assert done.stats["dedup/errors"] == 0
        return done

    def begin(self, *urls, **settings):
        """Begin a crawl of some URLs."""
        arguments = [f"-s{name}={value}" for name, value in settings.items()]
        arguments += ["-a", f"urls={','.join(urls)}"] if urls else []
        feed = self.folder / "items.jsonl"
        process = self._server.start("quotes", *arguments, folder=self.folder, feed=feed)
        self._begun.append(process)
        return process

    def close(self):
        """End the crawls that a test that failed has left."""
        for process in self._begun:
            process.kill()
            process.end()

    def wait_for(self, name):
        """Wait until the crawl has made a file."""
        wait_until((self.folder / name).exists, f"the crawl makes {name}", PATIENCE)


@pytest.fixture
def site(make_site):
    return make_site()


@pytest.fixture
def paragraphs(article):
    """Make pages of several paragraphs; an edit changes one word of the first."""

    def make(seed, edits=0, link="", words=150):
        words = article(seed, edits, words).split()
        parts = [" ".join(words[start : start + 36]) for start in range(0, len(words), 36)]
        return "<html><body><p>" + "</p><p>".join(parts) + f"</p>{link}</body></html>"

    return make


@pytest.fixture
def new_project(crawl_server, tmp_path: Path):
    """Make one project after another."""
    with ExitStack() as projects:
        yield lambda: projects.enter_context(closing(Project(crawl_server, tmp_path)))


@pytest.fixture
def project(new_project):
    return new_project()


@pytest.fixture
def serve_quartets(project, site, paragraphs):
    """Serve pages, of which one in four repeats the one before it; two items a page."""

    def serve(pages):
        for number in range(pages):
            twin = number % 4 == 3
            site.add(f"/{number}", paragraphs(number - twin, edits=int(twin)))
        items = 'for again in (False, True): yield {"url": response.url, "again": again}'
        project.spider(parse=items, in_turn=True)

    return serve
