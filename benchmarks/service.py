"""Pages a second by `see` in a pipe, by `serve` over HTTP, and by the library on the same pages.

    python benchmarks/service.py [--json] [--pages COUNT] [--rounds N] [--workers N]
                                 [--clients N ...]

The pages are made: 11 KB of HTML, of 40 hosts, each with a frame; a fifth repeat an earlier page.
Each case has a new index in a directory; only "redis" has a server, on loopback, and as many
processes as clients, which read their own pages.

    library        `see_many` on the pages
    see            `dedup-filter see` between two pipes
    serve          `dedup-filter serve`; each client sends a page, waits for its verdict, sends on
    serve, claims  the same with /claim and /commit
    redis          processes that call `see` on one index

Rounds take turns, and the best of each case counts: other programs make a round slower, never
faster. The processor time is that of all processes, clients too, and the median of the rounds. The
start of a process does not count; the time that it takes of a processor is measured with two pages.
"""

import argparse
import json
import multiprocessing
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from stopwatch import figure

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from made_text import prose
from redis_servers import RedisServer

from dedup_filter import NearDuplicateFilter

COMMAND = [sys.executable, "-m", "dedup_filter"]
HOSTS = 40
REPEATED = 5
"""One page in so many repeats an earlier one."""
Pages = list[dict[str, str]]


def made_pages(count: int) -> Pages:
    """Make pages with their URLs."""
    chance = random.Random(1)
    bodies: list[str] = []
    pages = []
    for number in range(count):
        host = number % HOSTS
        menu = "".join(f'<li><a href="/{host}/{n}">Part {n} of {host}</a></li>' for n in range(80))
        if number % REPEATED == REPEATED - 1:
            body = chance.choice(bodies)
        else:
            body = "".join(f"<p>{prose(number * 100 + n, words=90)}</p>" for n in range(20))
        bodies.append(body)
        html = f"<html><title>Page</title><body><ul>{menu}</ul><article>{body}</article></body>"
        pages.append({"url": f"http://host{host}.example/{number}", "html": html})
    return pages


def library(pages: Pages, workers: str) -> float:
    """Return the seconds that the library takes."""
    with (
        TemporaryDirectory() as folder,
        NearDuplicateFilter.open(f"{folder}/index", workers=int(workers)) as index,
    ):
        began = time.perf_counter()
        for _ in index.see_many(pages):
            pass
        index.flush()
        return time.perf_counter() - began


def _piped(command: list[str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def pipe(pages: Pages, workers: str) -> float:
    """Return the seconds of `see` from its first verdict to its end."""
    lines = [f"{json.dumps(page)}\n".encode() for page in pages]
    with TemporaryDirectory() as folder:
        command = [*COMMAND, "see", f"{folder}/index", "--workers", workers]
        with _piped(command) as process, ThreadPoolExecutor(1) as writer:
            given, taken = process.stdin, process.stdout
            assert given is not None
            assert taken is not None
            given.write(lines[0])
            given.flush()
            taken.readline()
            began = time.perf_counter()
            end = given.close
            writer.submit(given.writelines, lines[1:]).add_done_callback(lambda _: end())
            verdicts = taken.readlines()
        assert len(verdicts) == len(lines) - 1
        return time.perf_counter() - began


def send(port: int, pages: Iterable[dict[str, str]], *, claims: bool) -> None:
    """Send pages one after the other on one connection."""
    connection = HTTPConnection("127.0.0.1", port)

    def post(path: str, content: dict[str, str]) -> Any:
        kind = {"Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(content), kind)
        answer = connection.getresponse()
        body = json.loads(answer.read())
        assert answer.status == 200, body
        return body

    for page in pages:
        if claims:
            claim = post("/claim", page)["claim"]
            if claim is not None:
                post("/commit", {"claim": claim})
        else:
            post("/see", page)
    connection.close()


def served(pages: Pages, workers: str, clients: int, *, claims: bool = False) -> float:
    """Return the seconds that clients take, all together."""
    with TemporaryDirectory() as folder:
        command = [*COMMAND, "serve", f"{folder}/index", "--port", "0", "--workers", workers]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            port = int(server.stdout.readline().rpartition(":")[2])
            send(port, pages[:1], claims=claims)
            began = time.perf_counter()
            with ThreadPoolExecutor(clients) as pool:
                parts = [pages[1 + n :: clients] for n in range(clients)]
                list(pool.map(partial(send, port, claims=claims), parts))
            seconds = time.perf_counter() - began
            server.terminate()
        return seconds


def crawl(url: str, pages: Pages, start: Any) -> None:
    """See pages in an index on a server."""
    with NearDuplicateFilter.open(url) as index:
        start.wait()
        for page in pages:
            index.see(page["url"], html=page["html"])
        start.wait()


def shared(pages: Pages, clients: int) -> float:
    """Return the seconds that processes take on an index on a server."""
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(clients + 1)
    with RedisServer() as server:
        crawls = [
            context.Process(target=crawl, args=(server.url, pages[n::clients], start))
            for n in range(clients)
        ]
        for each in crawls:
            each.start()
        start.wait()
        began = time.perf_counter()
        start.wait()
        seconds = time.perf_counter() - began
        for each in crawls:
            each.join()
    return seconds


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Raw)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", nargs="+", default=["0", "1"])
    parser.add_argument("--clients", nargs="+", type=int, default=[1, 4])
    options = parser.parse_args()
    pages = made_pages(options.pages)
    cases: dict[str, Callable[[Pages], float]] = {}
    for workers in options.workers:
        own = f", workers={workers}"
        cases[f"library{own}"] = partial(library, workers=workers)
        cases[f"see{own}"] = partial(pipe, workers=workers)
        for clients in options.clients:
            name = f"{own}, {clients} clients"
            serve = partial(served, workers=workers, clients=clients)
            cases[f"serve{name}"] = serve
            cases[f"serve, claims{name}"] = partial(serve, claims=True)
    for clients in options.clients:
        cases[f"redis, {clients} clients"] = partial(shared, clients=clients)
    seconds = {case: list[float]() for case in cases}
    used = {case: list[float]() for case in cases}
    for _ in range(options.rounds):
        for case, run in cases.items():
            began = processor_seconds()
            run(pages[:2])
            start = processor_seconds()
            seconds[case].append(run(pages))
            used[case].append(processor_seconds() - start - (start - began))
    for case in cases:
        each = len(pages) / min(seconds[case])
        figure(case, "pages per second", each, "pages/s", as_json=options.json)
        each = median(used[case]) / len(pages) * 1_000
        figure(case, "processor time", each, "ms/page", as_json=options.json)


def processor_seconds() -> float:
    """Return the processor time of this process and of all that have ended."""
    each = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in each)


class _Raw(argparse.RawDescriptionHelpFormatter):
    pass


if __name__ == "__main__":
    main()
