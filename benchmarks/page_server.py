"""A folder of HTML pages -> the same pages on loopback, from a process of its own.

All answers are ready in memory before the first is asked for, so the server takes little of a core
that it may share with a crawl; `cpu_seconds` tells how much.
"""

import asyncio
import multiprocessing
import time
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import cast
from urllib.parse import quote

__all__ = ["PageServer"]

_PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n%b"
_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
_END_OF_HEAD = b"\r\n\r\n"


class PageServer:
    """Serve the HTML files below a folder, at most so many; `with PageServer(...)` ends it.

    `urls` are those of all pages: its `index.html` first, the others by their paths.
    """

    def __init__(self, folder: Path, most: int | None = None) -> None:
        paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
        paths.sort(key=lambda path: path != "index.html")
        pages = {f"/{quote(path)}": (folder / path).read_bytes() for path in paths[:most]}
        context = multiprocessing.get_context("spawn")
        self._questions, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(pages, theirs), daemon=True)
        self._process.start()
        theirs.close()
        port = self._questions.recv()
        self.urls = [f"http://127.0.0.1:{port}{path}" for path in pages]

    def __enter__(self) -> "PageServer":
        return self

    def __exit__(self, *_: object) -> None:
        self._questions.close()
        self._process.join()

    def cpu_seconds(self) -> float:
        """Return the CPU seconds that the server took so far."""
        self._questions.send("cpu")
        seconds: float = self._questions.recv()
        return seconds


class _Answers(asyncio.Protocol):
    """One connection, which is kept for the next request."""

    def __init__(self, answers: Mapping[bytes, bytes]) -> None:
        self._answers = answers
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where answers go."""
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Answer each request that is complete; none has a body."""
        self._received += data
        while _END_OF_HEAD in self._received:
            head, _, self._received = self._received.partition(_END_OF_HEAD)
            path = head.split(b" ", 2)[1]
            self._transport.write(self._answers.get(path, _NOT_FOUND))


def _serve(pages: Mapping[str, bytes], questions: Connection) -> None:
    answers = {path.encode(): _PAGE % (len(body), body) for path, body in pages.items()}
    asyncio.run(_serve_until_closed(answers, questions))


async def _serve_until_closed(answers: Mapping[bytes, bytes], questions: Connection) -> None:
    loop = asyncio.get_running_loop()
    closed = asyncio.Event()

    def answer_question() -> None:
        try:
            questions.recv()
        except EOFError:
            loop.remove_reader(questions.fileno())
            closed.set()
        else:
            questions.send(time.process_time())

    server = await loop.create_server(lambda: _Answers(answers), "127.0.0.1", 0)
    questions.send(server.sockets[0].getsockname()[1])
    loop.add_reader(questions.fileno(), answer_question)
    with suppress(asyncio.CancelledError):
        await closed.wait()
    server.close()
