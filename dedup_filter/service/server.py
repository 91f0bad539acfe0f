"""An index -> an HTTP server of it on a socket, until SIGTERM or Ctrl-C.

At the end, requests that have begun are finished, in at most `_LONGEST_END` seconds.
"""

import signal
import socket

import uvicorn

from dedup_filter.crawl_filter import CrawlFilter
from dedup_filter.service.web import Service, application

_LONGEST_END = 10


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that takes connections; OSError: the host or port cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.create_server((host, port), family=family, backlog=2048)
    # asyncio sets this only on sockets that name their protocol; each answer would take 40 ms more.
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def serve(pages: CrawlFilter, taken: socket.socket, lease: float, queue: int, token: str) -> None:
    """Serve an index on a socket; KeyboardInterrupt: Ctrl-C ended the server.

    `lease` and `queue` are those of `Service`; a token that is "" is not required.
    """
    service = Service(pages, lease, queue)
    config = uvicorn.Config(
        application(service, token),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_LONGEST_END,
    )
    # uvicorn ends at the signal, and then raises it again for the handler that was there before.
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        uvicorn.Server(config).run(sockets=[taken])
    finally:
        service.close()
