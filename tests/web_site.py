"""Web sites on loopback, for crawls: a dict of pages, served by a thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from patience import PATIENCE

HTML = "text/html; charset=utf-8"
NOT_FOUND = (404, {}, b"no such page")


class Gate:
    """Where a request waits until the test has done something."""

    def __init__(self) -> None:
        self._reached, self._is_open = threading.Event(), threading.Event()

    def wait(self) -> None:
        self._reached.set()
        assert self._is_open.wait(PATIENCE)

    @contextmanager
    def when_reached(self) -> Iterator[None]:
        assert self._reached.wait(PATIENCE)
        yield
        self._is_open.set()


class Site(ThreadingHTTPServer):
    """Pages by path: HTML, or (status, headers, body).

    What was asked for is in `asked`, but for robots.txt.
    """

    daemon_threads = True

    def __init__(self, pages: dict[str, Any] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages = pages or {}
        self.asked: list[str] = []
        self.gates: dict[str, Gate] = {}
        """Paths that are answered only when they are let through."""
        self.url = f"http://127.0.0.1:{self.server_port}"

    def urls(self, *paths: str) -> list[str]:
        """Return the URLs of some paths, or of all pages."""
        return [self.url + path for path in paths or self.pages]

    def add(self, path: str, body: str | bytes, content_type: str | None = HTML) -> None:
        headers = {"Content-Type": content_type} if content_type is not None else {}
        self.pages[path] = (200, headers, body.encode() if isinstance(body, str) else body)

    def gate(self, path: str) -> Gate:
        return self.gates.setdefault(path, Gate())


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        if self.path != "/robots.txt":
            self.server.asked.append(self.path)
        if self.path in self.server.gates:
            self.server.gates[self.path].wait()
        page = self.server.pages.get(self.path, NOT_FOUND)
        if isinstance(page, str):
            page = (200, {"Content-Type": HTML}, page.encode())
        status, headers, body = page
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def served(pages: dict[str, Any] | None = None) -> Iterator[Site]:
    """Serve a site; its requests in waiting end with it."""
    site = Site(pages)
    thread = threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        site.shutdown()
        site.server_close()
        thread.join()
