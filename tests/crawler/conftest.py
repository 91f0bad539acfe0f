"""Real crawls of the project in this repository."""

from collections.abc import Callable
from pathlib import Path

import pytest
from crawl_server import Crawl, CrawlServer

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
