"""The demo site over HTTP, on a free port of the loopback interface, in a thread of its own."""

from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from threading import Thread

from crawler.demo_site.pages import ServedPage, build_pages

_ROBOTS_TXT = ServedPage("text/plain", b"User-agent: *\nAllow: /\n")


class DemoServer:
    """Serves the site from its creation until `close`."""

    def __init__(self) -> None:
        # The server class of http.server would look up its host in the DNS.
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address of the site, without a slash at the end."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingTCPServer):
    daemon_threads = True
    pages: dict[str, ServedPage]

    def __init__(self, *args: object) -> None:
        self.pages = {"/robots.txt": _ROBOTS_TXT, **build_pages()}
        super().__init__(*args)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        page = self.server.pages.get(self.path)
        if page is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", page.content_type)
        self.send_header("Content-Length", str(len(page.body)))
        self.end_headers()
        self.wfile.write(page.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing: the crawl has a log of its own."""
