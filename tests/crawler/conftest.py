"""Real crawls of the project in this repository, and sites to crawl."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from crawl_server import Crawl, CrawlServer
from web_site import Site, served

ROOT = Path(__file__).parents[2]
HASTE = ("DOWNLOAD_DELAY=0", "AUTOTHROTTLE_ENABLED=False")


@pytest.fixture
def crawl(
    crawl_server: CrawlServer, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Crawl]:
    """Run `scrapy crawl` in this repository."""

    def run(spider: str, *settings: str, **arguments: object) -> Crawl:
        feed = tmp_path_factory.mktemp("crawl") / "items.jsonl"
        options = [f"-s{setting}" for setting in (*HASTE, *settings)]
        options += [f"-a{name}={value}" for name, value in arguments.items()]
        return crawl_server.start(spider, *options, folder=ROOT, feed=feed).end()

    return run


@pytest.fixture
def serve() -> Iterator[Callable[[dict[str, Any]], Site]]:
    """Serve sites on loopback until the test ends."""
    with ExitStack() as sites:
        yield lambda pages: sites.enter_context(served(pages))
