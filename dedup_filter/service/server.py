"""An index -> an HTTP server of it on a socket, until SIGTERM or Ctrl-C.

At the end, requests that have begun are finished, in at most `_LONGEST_END` seconds; then the
threads end, and the caller closes the index.
"""

import signal
import socket

import uvicorn

from dedup_filter.crawl_filter import CrawlFilter
from dedup_filter.service.web import application

_LONGEST_END = 10
_WAITING = 2048
"""Connections that the system holds until they are accepted."""


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that takes connections; OSError: the host or port cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.create_server((host, port), family=family, backlog=_WAITING)
    # asyncio sets this only on sockets that name their protocol; each answer would take 40 ms more.
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def serve(
    pages: CrawlFilter, taken: socket.socket, *, lease: float, queue: int, token: str | None
) -> None:
    """Serve an index on a socket. The arguments are those of `application`.

    Raises:
        KeyboardInterrupt: Ctrl-C ended the server.
    """
    app, service = application(pages, lease=lease, queue=queue, token=token)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_LONGEST_END,
    )
    # uvicorn ends at the signal, and then raises it again for the handler that was there before.
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        uvicorn.Server(config).run(sockets=[taken])
    finally:
        service.close()
        signal.signal(signal.SIGTERM, before)
