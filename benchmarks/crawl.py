"""Crawl a real site without the filter and with it: CPU time of each process, and wall time.

    python benchmarks/crawl.py FOLDER [--json] [--rounds 3] [--most PAGES]
                               [--spiders bare project] [--workers 0 1]

All HTML pages of FOLDER, such as Debian's `python3.11-doc`, are served on loopback by a process of
its own, and crawled by 16 requests at a time without delay. Two spiders crawl them:

    project  as a Scrapy project does: robots.txt is obeyed; one callback follows the links of the
             first page, another one yields URL, title and text of a page and follows its links;
             a feed has the items
    bare     is given all URLs and yields the URL of each page: no spider does less, so beside it
             the filter costs most

"workers N" is the filter with DEDUP_WORKERS=N and an index in a directory.

Each crawl is a fresh process. What it takes is counted from when its spider is opened, with most
imports done, until all has ended: "CPU of the crawl" in its own process with all threads, "CPU of
the workers" in theirs. These begin after the spider, so their imports count: "start of a worker" is
what a worker takes for a page of one sentence. It does not grow with the pages.

Each round makes all crawls, every other round in reverse order. Figures are medians of the rounds;
ratios are medians of those to the crawl without the filter in the same round. A verdict may depend
on the order in which pages arrive: "kept by some crawls only" counts pages over all rounds.
"""

import argparse
import multiprocessing
import resource
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, cast

import scrapy
from page_server import PageServer
from scrapy import signals
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor
from stopwatch import figure

from dedup_filter import NearDuplicateFilter

Kinds = dict[str, dict[str, Any]]
"""Settings of each kind of crawl."""

AT_A_TIME = 16
NO_FILTER = "no filter"


class Times(NamedTuple):
    """Seconds."""

    wall: float
    own: float
    """CPU time of this process."""
    workers: float
    """CPU time of its processes that have ended."""

    @classmethod
    def now(cls) -> "Times":
        """Return what has passed until now."""
        own = resource.getrusage(resource.RUSAGE_SELF)
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return cls(
            time.perf_counter(), own.ru_utime + own.ru_stime, ended.ru_utime + ended.ru_stime
        )

    def since(self, earlier: "Times") -> "Times":
        """Return what has passed since then."""
        return Times(*(now - then for now, then in zip(self, earlier, strict=True)))


class Crawl(NamedTuple):
    """What a crawl took, and the URLs that it kept."""

    took: Times
    server: float
    """CPU seconds."""
    pages: int
    kept: frozenset[str]


class BareSpider(scrapy.Spider):
    """Yield one item for each of some URLs."""

    name = "bare"

    def __init__(self, urls: Sequence[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._first = urls
        self.pages = 0
        self.kept: list[str] = []
        self.opened = Times.now()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> "BareSpider":
        """Make the spider, which is told of its beginning and of each item kept."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.spider_opened, signals.spider_opened)
        crawler.signals.connect(spider.item_scraped, signals.item_scraped)
        return spider

    def spider_opened(self) -> None:
        """Begin to count."""
        self.opened = Times.now()

    def item_scraped(self, item: dict[str, str]) -> None:
        """Note an item that was kept."""
        self.kept.append(item["url"])

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Ask for the pages that are given. Scrapy's own requests would let one come twice."""
        for url in self._first:
            yield scrapy.Request(url)

    def parse(self, response: Response) -> Iterator[Any]:
        """Yield the page."""
        self.pages += 1
        yield {"url": response.url}


class ProjectSpider(BareSpider):
    """Follow links from the first of some URLs to the others; yield title and text of each page.

    Links to anything else would end at a page that the server does not have.
    """

    name = "project"
    custom_settings = {"ROBOTSTXT_OBEY": True}  # noqa: RUF012 - Scrapy's own form

    def __init__(self, urls: Sequence[str], **kwargs: Any) -> None:
        super().__init__(urls[:1], **kwargs)
        self._urls = frozenset(urls)
        self._links = LinkExtractor()

    def parse(self, response: Response) -> Iterator[Any]:
        """Follow the links of the first page."""
        for link in self._links.extract_links(cast("TextResponse", response)):
            if link.url.partition("#")[0] in self._urls:
                yield response.follow(link, self.parse_page)

    def parse_page(self, response: Response) -> Iterator[Any]:
        """Yield the page, and follow its links."""
        self.pages += 1
        text = " ".join(response.css("body ::text").getall())
        yield {"url": response.url, "title": response.css("title::text").get(), "text": text}
        yield from self.parse(response)


SPIDERS = {spider.name: spider for spider in (BareSpider, ProjectSpider)}


def kinds_of_crawls(workers: Sequence[int]) -> Kinds:
    """Return the kinds of crawls, that without the filter first."""
    addons = {"dedup_filter.Addon": 500}
    kinds = {f"workers {count}": {"ADDONS": addons, "DEDUP_WORKERS": count} for count in workers}
    return {NO_FILTER: {}, **kinds}


def crawl(spider: str, server: PageServer, settings: dict[str, Any]) -> Crawl:
    """Crawl all pages of a server in a process of its own."""
    context = multiprocessing.get_context("spawn")
    found, theirs = context.Pipe(duplex=False)
    before = server.cpu_seconds()
    with tempfile.TemporaryDirectory() as folder:
        all_settings = {
            "CONCURRENT_REQUESTS": AT_A_TIME,
            "CONCURRENT_REQUESTS_PER_DOMAIN": AT_A_TIME,
            "DOWNLOAD_DELAY": 0,
            "LOG_FILE": str(Path(folder, "log")),
            "LOG_LEVEL": "INFO",
            "FEEDS": {str(Path(folder, "items.jsonl")): {"format": "jsonlines"}},
            "DEDUP_INDEX": str(Path(folder, "index")),
            "TELNETCONSOLE_ENABLED": False,
            **settings,
        }
        process = context.Process(
            target=crawl_here, args=(SPIDERS[spider], server.urls, all_settings, theirs)
        )
        process.start()
        theirs.close()
        took, pages, kept = found.recv()
        process.join()
    return Crawl(took, server.cpu_seconds() - before, pages, frozenset(kept))


def crawl_here(
    spider: type[BareSpider], urls: list[str], settings: dict[str, Any], found: Connection
) -> None:
    """Crawl in this process, which has done nothing else; workers have ended when that has."""
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(spider)
    process.crawl(crawler, urls=urls)
    process.start()
    done = cast("BareSpider", crawler.spider)
    found.send((Times.now().since(done.opened), done.pages, done.kept))


def start_of_a_worker() -> Times:
    """Return what a worker takes, from its start to its end, to read and measure one sentence."""
    began = Times.now()
    with NearDuplicateFilter.open(workers=1) as pages:
        page = {
            "url": "https://example.com/",
            "html": "<p>It is the first that a worker reads.</p>",
        }
        list(pages.see_many([page]))
    return Times.now().since(began)


def kept_by_some(crawls: Iterable[Crawl]) -> int:
    """Count the pages that are kept by one crawl and not by all."""
    kept = [each.kept for each in crawls]
    return len(frozenset.union(*kept) - frozenset.intersection(*kept))


def timed(spider: str, server: PageServer, kinds: Kinds, rounds: int) -> dict[str, list[Crawl]]:
    """Return the crawls of each kind, one a round."""
    crawls: dict[str, list[Crawl]] = defaultdict(list)
    for number in range(rounds):
        for name in [*kinds][:: -1 if number % 2 else 1]:
            crawls[name].append(crawl(spider, server, kinds[name]))
    return {name: crawls[name] for name in kinds}


def figures(crawls: list[Crawl], without: list[Crawl]) -> Iterator[tuple[str, float, str]]:
    """Yield metric, value and unit of one kind of crawl, beside those without the filter."""

    def middle(measure: Callable[[Crawl], float]) -> float:
        return statistics.median(map(measure, crawls))

    def ratio(measure: Callable[[Crawl], float]) -> float:
        pairs = zip(crawls, without, strict=True)
        return statistics.median(measure(one) / measure(other) for one, other in pairs)

    def both(one: Crawl) -> float:
        return one.took.own + one.took.workers

    yield "pages", middle(lambda one: one.pages), "pages"
    yield "pages kept", middle(lambda one: len(one.kept)), "pages"
    yield "kept by some crawls only", kept_by_some(crawls), "pages"
    yield "CPU of the crawl", middle(lambda one: one.took.own), "s"
    yield "CPU of the crawl, a page", middle(lambda one: 1000 * one.took.own / one.pages), "ms"
    yield "CPU of the workers", middle(lambda one: one.took.workers), "s"
    yield "wall time", middle(lambda one: one.took.wall), "s"
    yield "server, share of a core", middle(lambda one: one.server / one.took.wall), ""
    if crawls is not without:
        yield "CPU of the crawl / no filter", ratio(lambda one: one.took.own), "times"
        yield "CPU with workers / no filter", ratio(both), "times"
        yield "wall time / no filter", ratio(lambda one: one.took.wall), "times"


def main() -> None:
    """Crawl, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, help="crawl so many pages of the folder")
    parser.add_argument("--spiders", nargs="+", choices=SPIDERS, default=[*SPIDERS])
    parser.add_argument("--workers", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    def tell(case: str, metric: str, value: float, unit: str) -> None:
        figure(case, metric, value, unit, as_json=options.json)

    kinds = kinds_of_crawls(options.workers)
    start = start_of_a_worker()
    tell("start of a worker", "CPU of the worker", start.workers, "s")
    tell("start of a worker", "wall time", start.wall, "s")
    with PageServer(options.folder, options.most) as server:
        for spider in options.spiders:
            crawls = timed(spider, server, kinds, options.rounds)
            for name, runs in crawls.items():
                for metric, value, unit in figures(runs, crawls[NO_FILTER]):
                    tell(f"{spider}, {name}", metric, value, unit)


if __name__ == "__main__":
    main()
