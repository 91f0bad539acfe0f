"""Real crawls in processes of their own, and sites to crawl."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from crawl_server import PATIENCE
from web_site import Site, served

ROOT = Path(__file__).parents[2]
HASTE = ("DOWNLOAD_DELAY=0", "AUTOTHROTTLE_ENABLED=False", "HTTPPROXY_ENABLED=False")


@dataclass
class Crawl:
    """What a crawl left behind."""

    log: str
    exit_code: int
    items: list[dict[str, Any]]

    def stat(self, name: str) -> int:
        found = re.search(rf"'{re.escape(name)}': (\d+)", self.log)
        return int(found[1]) if found else 0

    @property
    def urls(self) -> list[str]:
        return [item["url"] for item in self.items]


@pytest.fixture(scope="session")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Crawl]:
    """Run `scrapy crawl` in this repository, as a user does."""

    def run(spider: str, *settings: str, **arguments: object) -> Crawl:
        feed = tmp_path_factory.mktemp("crawl") / "items.jsonl"
        command = [sys.executable, "-m", "scrapy", "crawl", spider, "-O", str(feed)]
        for name, value in arguments.items():
            command += ["-a", f"{name}={value}"]
        for setting in (*HASTE, *settings):
            command += ["-s", setting]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=PATIENCE, check=False)
        lines = feed.read_text("utf-8").splitlines() if feed.exists() else []
        log = (done.stdout + done.stderr).decode()
        return Crawl(log, done.returncode, [json.loads(line) for line in lines])

    return run


@pytest.fixture
def serve() -> Iterator[Callable[[dict[str, Any]], Site]]:
    """Serve sites on loopback until the test ends."""
    with ExitStack() as sites:
        yield lambda pages: sites.enter_context(served(pages))
