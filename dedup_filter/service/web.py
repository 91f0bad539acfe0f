"""HTTP requests with pages -> JSON answers with verdicts: the application that `server` runs.

    body, at most `MOST_BYTES`, in `_SECONDS` -> queue of `queue` pages -> reading thread, workers
    -> index thread -> answer

A request takes no place in the queue until its body is there: a slow client holds up no other. If
the queue is full, the answer is 503. `/commit` and `/release` are always taken: they make room.

A body must have the type application/json: a page in a browser cannot send that to another host
without permission, so no web site can write to an index by a browser on this machine.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from hmac import compare_digest
from time import monotonic
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from dedup_filter.crawl_filter import CrawlFilter
from dedup_filter.errors import DedupError, StoreAway
from dedup_filter.filter import PlacedPage
from dedup_filter.service.claims import Claimed, Claims
from dedup_filter.service.index_thread import IndexThread
from dedup_filter.service.openapi import document
from dedup_filter.service.page_bodies import RefusedError, claim_in, page_in, query_in

logger = logging.getLogger(__name__)

MOST_BYTES = 16 * 2**20
"""Bytes of a body."""
_SECONDS = 30.0
"""Time in which a body must be there."""
_RETRY = {"Retry-After": "1"}
_PAUSES = (0.05, 0.1, 0.2, 0.5)
"""Seconds between judgements of a page whose original is pending; the last is repeated."""
_SWEEP = 0.5
"""Seconds between searches for claims whose time is over."""


class Service:
    """The answers to requests about one index; `close` ends its threads, the index stays open."""

    def __init__(self, pages: CrawlFilter, lease: float, queue: int) -> None:
        self._pages = pages
        self._claims = Claims(pages, lease)
        self._index = IndexThread(pages.flush)
        self._reader = ThreadPoolExecutor(1, "dedup_filter reader")
        self._queue = queue
        self._queued = 0

    async def see(self, request: Request) -> Response:
        """Judge a page and keep it; wait while its original is pending."""
        body = await self._body(request)
        with self._place():
            page, begun, pauses = await self._read(body), monotonic(), iter(_PAUSES)
            while monotonic() - begun < self._claims.lease + 2 * _SWEEP:
                claimed = await self._index.ask(partial(self._claims.see, page))
                if claimed.is_final:
                    return JSONResponse(claimed.verdict.as_json())
                await asyncio.sleep(next(pauses, _PAUSES[-1]))
        raise HTTPException(503, "the page repeats a page that is still pending", _RETRY)

    async def claim(self, request: Request) -> Response:
        """Judge a page, and keep it pending under a claim."""
        body = await self._body(request)
        with self._place():
            page = await self._read(body)
            claimed = await self._index.ask(partial(self._claims.claim, page))
        return _answer(claimed, self._claims.lease)

    async def commit(self, request: Request) -> Response:
        """Keep the page of a claim; 409 if the claim has ended otherwise."""
        return await self._end(request, is_kept=True)

    async def release(self, request: Request) -> Response:
        """Forget the page of a claim."""
        return await self._end(request, is_kept=False)

    async def find(self, request: Request) -> Response:
        """Return the kept pages that are similar to a page or a fingerprint."""
        query = query_in(await self._body(request))
        with self._place():
            found = await self._index.ask(partial(self._pages.find, **query))
        return JSONResponse({"near": [each._asdict() for each in found]})

    async def stats(self, _: Request) -> Response:
        """Return the figures of the index and of this process."""
        values: dict[str, Any] = await self._index.ask(
            lambda: {
                "pages": len(self._pages),
                "bytes": self._pages.nbytes,
                "outcomes": dict(self._claims.outcomes),
                "claims": len(self._claims),
            }
        )
        return JSONResponse({**values, "queue": self._queued})

    async def health(self, _: Request) -> Response:
        """Return 200 if the index takes calls."""
        alive = self._index.is_alive
        return JSONResponse({"alive": alive}, 200 if alive else 503)

    async def expire(self) -> None:
        """Release claims whose time is over, for ever."""
        while True:
            await asyncio.sleep(_SWEEP)
            try:
                await self._index.ask(self._claims.expire)
            except DedupError as fault:
                logger.warning("claims that are over are not released yet: %s", fault)

    def close(self) -> None:
        """End the threads."""
        self._reader.shutdown()
        self._index.close()

    async def _end(self, request: Request, *, is_kept: bool) -> Response:
        claim = claim_in(await self._body(request))
        fate = await self._index.ask(partial(self._claims.end, claim, is_kept=is_kept))
        if is_kept and fate == "gone":
            raise HTTPException(409, "the claim has ended, and its page was released")
        return JSONResponse({"fate": fate})

    async def _body(self, request: Request) -> bytes:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise HTTPException(415, "the type of the body is not application/json")
        if int(request.headers.get("content-length", 0)) > MOST_BYTES:
            raise HTTPException(413, f"the body is longer than {MOST_BYTES:,} bytes")
        try:
            return await asyncio.wait_for(_streamed(request), _SECONDS)
        except asyncio.TimeoutError:
            raise HTTPException(408, f"the body did not end in {_SECONDS:g} seconds") from None

    @contextmanager
    def _place(self) -> Iterator[None]:
        """Take a place in the queue; HTTPException: there is none."""
        if self._queued >= self._queue:
            raise HTTPException(503, "too many pages wait", _RETRY)
        self._queued += 1
        try:
            yield
        finally:
            self._queued -= 1

    async def _read(self, body: bytes) -> PlacedPage:
        loop = asyncio.get_running_loop()
        reading = await loop.run_in_executor(self._reader, self._submitted, body)
        return await asyncio.wrap_future(reading)

    def _submitted(self, body: bytes) -> "Future[PlacedPage]":
        return self._pages.submit(**page_in(body), may_help=True)


class _TokenRequired:
    """Answers 401 to requests without the token; /healthz needs none."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope["type"] == "http" and scope["path"] != "/healthz":
            given = Headers(scope=scope).get("authorization", "").encode()
            if not compare_digest(given, self._wanted):
                app = JSONResponse(
                    {"error": "the token is missing or wrong"},
                    401,
                    {"WWW-Authenticate": "Bearer"},
                )
        await app(scope, receive, send)


def application(
    pages: CrawlFilter, *, lease: float, queue: int, token: str | None
) -> tuple[Starlette, Service]:
    """Return the application and its service, which is to be closed after the last request.

    `lease`: seconds until a claim is released. `queue`: most pages that are under way. Without a
    token, only requests to a name of this machine are answered.
    """
    service = Service(pages, lease, queue)

    @asynccontextmanager
    async def sweeping(_: Starlette) -> AsyncIterator[None]:
        sweeper = asyncio.create_task(service.expire())
        yield
        sweeper.cancel()
        with suppress(asyncio.CancelledError):
            await sweeper

    async def openapi(_: Request) -> Response:
        return JSONResponse(document())

    routes = [
        *(
            Route(f"/{name}", getattr(service, name), methods=["POST"])
            for name in ("see", "claim", "commit", "release", "find")
        ),
        Route("/stats", service.stats),
        Route("/healthz", service.health),
        Route("/openapi.json", openapi),
    ]
    guard = (
        Middleware(_TokenRequired, token=token)
        if token
        else Middleware(TrustedHostMiddleware, allowed_hosts=["localhost", "127.0.0.1"])
    )
    handlers: dict[Any, Any] = {
        HTTPException: _refused,
        RefusedError: _refused,
        ClientDisconnect: _gone,
        DedupError: _failed,
    }
    made = Starlette(
        routes=routes, middleware=[guard], exception_handlers=handlers, lifespan=sweeping
    )
    return made, service


async def _streamed(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise HTTPException(413, f"the body is longer than {MOST_BYTES:,} bytes")
    return bytes(body)


def _answer(claimed: Claimed, lease: float) -> Response:
    fields = {"claim": claimed.claim, "seconds": lease if claimed.claim else None}
    return JSONResponse({**claimed.verdict.as_json(), **fields, "is_final": claimed.is_final})


async def _refused(_: Request, error: Any) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


async def _failed(_: Request, fault: Exception) -> Response:
    if isinstance(fault, StoreAway):
        return JSONResponse({"error": str(fault)}, 503, _RETRY)
    logger.error("a request failed: %s", fault)
    return JSONResponse({"error": str(fault)}, 500)


async def _gone(_: Request, __: Exception) -> Response:
    return Response(status_code=400)  # nobody reads it
