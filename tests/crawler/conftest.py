"""Real crawls in processes of their own, and a small web server to crawl."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingTCPServer
from threading import Thread
from typing import Any

import pytest
from crawl_server import PATIENCE

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


@dataclass
class Site:
    """A web site made of a dict: path -> HTML, or (status, headers, body)."""

    pages: dict[str, str | tuple[int, dict[str, str], bytes]]
    asked: list[str] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def serve() -> Iterator[Callable[[dict[str, Any]], Site]]:
    """Serve sites on loopback until the test ends."""
    servers: list[ThreadingTCPServer] = []

    def start(pages: dict[str, Any]) -> Site:
        site = Site(pages)
        server = ThreadingTCPServer(("127.0.0.1", 0), _handler(site))
        server.daemon_threads = True
        site.url = f"http://127.0.0.1:{server.server_address[1]}"
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        servers.append(server)
        return site

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/robots.txt":
                site.asked.append(self.path)
            page = site.pages.get(self.path, (404, {}, b"no such page"))
            if isinstance(page, str):
                page = (200, {"Content-Type": "text/html; charset=utf-8"}, page.encode())
            status, headers, body = page
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    return Handler
