"""HTTP requests with pages -> JSON answers with verdicts, until SIGTERM or Ctrl-C.

    body -> a place in the queue -> reading thread, workers -> index thread -> flush -> answer

What an answer says outlives this process. At the end, requests that have begun are finished.

A request takes no place in the queue until its body is there: a slow client holds up no other. If
the queue is full, the answer is 503. /commit and /release are always taken: they make room.

A head and a body are bounded. How many connections there are, and how long a client may take, is
not: for clients that are not trusted, a proxy in front of the server bounds that.

A body must have the type application/json: without permission, a site that is open in a browser
cannot send that to another host, so none can write to an index on the machine of the browser.
"""

import asyncio
import json
import logging
import signal
import socket
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from hmac import compare_digest
from time import monotonic
from typing import Any, TypeVar

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dedup_filter.errors import DedupError, StoreAway
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.model import Verdict
from dedup_filter.service.claims import Claims
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import Place
from dedup_filter.workers import Reading, those_read

logger = logging.getLogger(__name__)

MOST_BYTES = 16 * 2**20  # of a body
_MOST_OF_HEAD = 2**14  # bytes
_PAUSE = 0.2  # seconds between judgements of a page whose original is pending
_SWEEP = 0.5  # seconds between searches for claims whose time is over
_PAGE = ("url", "html", "html_base64", "text", "content_type", "link", "title")
"""Fields of a page; each is a string. `html_base64`: bytes of HTML in Base64."""
_CONTENTS = ("html", "html_base64", "text")
_QUERY = (*_PAGE, "fingerprint")
"""Fields of a query; the fingerprint is in hexadecimal, 0x..."""
_LATER = {"Retry-After": "1"}
_CALLS = {"POST": ("see", "claim", "commit", "release", "find"), "GET": ("stats", "healthz")}

Result = TypeVar("Result")
Answer = Callable[[Request], Awaitable[dict[str, Any]]]


class Service:
    """The answers about an index; claims last `lease` seconds, `queue` pages can be under way."""

    def __init__(self, pages: NearDuplicateFilter, lease: float, queue: int) -> None:
        self._pages = pages
        self._claims = Claims(pages.conductor, lease)
        self._index, self._reader = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
        self._queue = queue
        self._queued = 0
        self._waiting: dict[Reading, None] = {}
        """Pages that are read and not judged yet, in the order of their requests."""
        self.is_ending: Callable[[], bool] = lambda: False
        """Whether a signal has ended the service: nothing waits for a pending page any more."""

    async def see(self, request: Request) -> dict[str, Any]:
        """Judge a page and keep it; wait while its original is pending."""
        async with self._read(await _body(request)) as page:
            end = monotonic() + self._claims.lease + 2 * _SWEEP
            judge = partial(self._judge, page, is_claim=False)
            while True:
                verdict, _, is_final = await self._ask(judge)
                if is_final:
                    return verdict.as_json()
                if self.is_ending() or monotonic() > end:
                    break
                await asyncio.sleep(_PAUSE)
        raise HTTPException(503, "the page repeats a page that is still pending", _LATER)

    async def claim(self, request: Request) -> dict[str, Any]:
        """Judge a page; keep it pending under a claim."""
        async with self._read(await _body(request)) as page:
            judge = partial(self._judge, page, is_claim=True)
            verdict, claim, is_final = await self._ask(judge)
        return {**verdict.as_json(), "claim": claim, "is_final": is_final}

    async def commit(self, request: Request, *, is_kept: bool = True) -> dict[str, Any]:
        """Keep the page of a claim; 409: the claim has ended otherwise."""
        claim = _strings_in(await _body(request), ("claim",)).get("claim", "")
        _require(bool(claim), "claim is missing")
        fate = await self._ask(partial(self._claims.end, claim, is_kept=is_kept))
        if is_kept and fate == "gone":
            raise HTTPException(409, "there is no such claim, or its page was released")
        return {"fate": fate}

    async def release(self, request: Request) -> dict[str, Any]:
        """Forget the page of a claim."""
        return await self.commit(request, is_kept=False)

    async def find(self, request: Request) -> dict[str, Any]:
        """Find the kept pages that are similar to a page or a fingerprint."""
        query = _fields_in(await _body(request), _QUERY)
        found = await self._ask(partial(self._pages.find, **query))
        return {"near": [each._asdict() for each in found]}

    async def stats(self, _: Request) -> dict[str, Any]:
        """Return the figures of the index, and of this process since its start."""
        return await self._ask(
            lambda: {
                "pages": len(self._pages),
                "bytes": self._pages.nbytes,
                "outcomes": dict(self._claims.outcomes),
                "claims": len(self._claims),
                "queue": self._queued,
            }
        )

    async def healthz(self, _: Request) -> dict[str, Any]:
        """Answer when the index takes calls; needs no token."""
        return await self._ask(lambda: {"alive": True})

    async def expire(self) -> None:
        """Release claims whose time is over, for ever."""
        while True:
            await asyncio.sleep(_SWEEP)
            try:
                await self._ask(self._claims.expire)
            except DedupError as fault:
                logger.warning("claims that are over are not released yet: %s", fault)

    def close(self) -> None:
        """End the threads."""
        self._reader.shutdown()
        self._index.shutdown()

    def _judge(self, page: Reading, *, is_claim: bool) -> tuple[Verdict, str | None, bool]:
        """Judge a page; a shared index is read for the pages that wait behind it, too."""
        self._pages.conductor.read_ahead(those_read([*self._waiting]))
        self._waiting.pop(page, None)
        return self._claims.judge(page, is_claim=is_claim)

    async def _ask(self, call: Callable[[], Result]) -> Result:
        """Make a call of the index after all earlier calls, and write what it changed."""

        def written() -> Result:
            answer = call()
            self._pages.flush()
            return answer

        return await asyncio.get_running_loop().run_in_executor(self._index, written)

    @asynccontextmanager
    async def _read(self, body: bytes) -> AsyncIterator[Reading]:
        """Read a page, which has a place in the queue until it is answered."""
        if self._queued >= self._queue:
            raise HTTPException(503, "too many pages wait", _LATER)
        self._queued += 1
        try:
            loop, submitted = asyncio.get_running_loop(), partial(self._submitted, body)
            reading = await loop.run_in_executor(self._reader, submitted)
            await asyncio.wrap_future(reading.by_worker)
            self._waiting[reading] = None
            try:
                yield reading
            finally:
                self._waiting.pop(reading, None)  # the call may have failed
        finally:
            self._queued -= 1

    def _submitted(self, body: bytes) -> Reading:
        fields = _fields_in(body, _PAGE)
        place = Place.of(fields.pop("url"))
        return self._pages.pool.read(PageText(**fields), place, may_help=True)


def application(service: Service, token: str) -> Starlette:
    """Return the application; without a token it answers only to a name of this machine."""

    @asynccontextmanager
    async def sweeping(_: Starlette) -> AsyncIterator[None]:
        sweeper = asyncio.create_task(service.expire())
        yield
        sweeper.cancel()

    routes = [
        Route(f"/{name}", _endpoint(getattr(service, name), token), methods=[method])
        for method, names in _CALLS.items()
        for name in names
    ]
    local = Middleware(TrustedHostMiddleware, allowed_hosts=["localhost", "127.0.0.1"])
    return Starlette(
        routes=routes,
        middleware=[] if token else [local],
        exception_handlers=dict.fromkeys((HTTPException, StoreAway, ClientDisconnect), _refused),
        lifespan=sweeping,
    )


async def _refused(_: Request, error: Exception) -> Response:
    if isinstance(error, StoreAway):
        error = HTTPException(503, str(error), _LATER)
    if isinstance(error, HTTPException):
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)
    return Response(status_code=400)  # the client is gone: nobody reads it


def _endpoint(answer: Answer, token: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        _require_token(request, token)
        content = json.dumps(await answer(request))  # as a URL may have lone surrogates
        return Response(content, media_type="application/json")

    return endpoint


def _require_token(request: Request, token: str) -> None:
    given = request.headers.get("authorization", "")
    is_right = compare_digest(given.encode(), f"Bearer {token}".encode())
    if token and not is_right and request.url.path != "/healthz":
        raise HTTPException(401, "the token is wrong or missing", {"WWW-Authenticate": "Bearer"})


async def _body(request: Request) -> bytes:
    """Take the body of a request."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "the type of the body is not application/json")
    body, size = bytearray(), int(request.headers.get("content-length", 0))
    async for part in request.stream():
        body += part
        if max(size, len(body)) > MOST_BYTES:
            raise HTTPException(413, f"the body is longer than {MOST_BYTES:,} bytes")
    return bytes(body)


def _fields_in(body: bytes, known: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of `see`, or of `find`. HTTPException: the fields are wrong."""
    given = _strings_in(body, known)
    contents = [name for name in (*_CONTENTS, "fingerprint") if name in given]
    _require(len(contents) == 1, f"give one of {', '.join(_CONTENTS)}")
    _require("url" in given or known is _QUERY, "url is missing")
    try:
        if "html_base64" in given:
            given["html"] = b64decode(given.pop("html_base64"), validate=True)
        if "fingerprint" in given:
            given["fingerprint"] = int(given["fingerprint"], 16)
    except ValueError:
        raise HTTPException(422, f"{contents[0]} cannot be decoded") from None
    _require(0 <= given.get("fingerprint", 0) < 2**64, "fingerprint has more than 64 bits")
    return given


def _strings_in(body: bytes, known: Sequence[str]) -> dict[str, Any]:
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"the body is no JSON: {error}") from None
    _require(isinstance(given, dict), "the body is no JSON object")
    given = {name: value for name, value in given.items() if value is not None}
    for name, value in given.items():
        _require(name in known, f"unknown field {name[:99]!r}: there are {', '.join(known)}")
        _require(isinstance(value, str) and bool(value), f"{name} is no string, or empty")
    return given


def _require(is_right: bool, problem: str) -> None:
    if not is_right:
        raise HTTPException(422, problem)


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that takes connections; OSError: the host or port cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.create_server((host, port), family=family, backlog=2048)
    # asyncio sets this only on sockets that name their protocol; each answer would take 40 ms more.
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def serve(service: Service, taken: socket.socket, token: str) -> None:
    """Serve an index on a socket; KeyboardInterrupt: Ctrl-C ended it; "" is no token."""
    config = uvicorn.Config(
        application(service, token),
        http="h11",  # another package that is installed would have other limits
        ws="none",
        h11_max_incomplete_event_size=_MOST_OF_HEAD,
        log_level="error",  # clients cause warnings, as many as they like
        timeout_graceful_shutdown=10,
    )
    # uvicorn ends at the signal, and then raises it again for the handler that was there before.
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        server = uvicorn.Server(config)
        service.is_ending = lambda: server.should_exit
        server.run(sockets=[taken])
    finally:
        service.close()
