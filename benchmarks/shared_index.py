"""Time an index shared through Redis: CPU time, round trips, bytes, pages a second.

    python benchmarks/shared_index.py [--json] [--pages COUNT ...] [--see PAGES]
                                      [--kinds single cluster] [--processes N ...]
                                      [--ahead] [--delay MS]

Starts servers of its own on loopback: one, and a cluster of three. Each is filled with the records
and buckets of COUNT pages whose keys are random, as so many appends leave them. Then crawler
processes see PAGES more each, with profiles ready; a fifth of them repeat a page that any of the
processes saw before. So what counts is the conductor and the index: `see` is a claim and its
commit. Pages are plain texts, so no frames are learnt.

Machines have few cores, which crawlers and servers share here: pages a second of several processes
are those of the machine. CPU time is the crawler process's own, "server" that of all servers.

"Round trips" are waits for servers; a pipeline to several nodes at once is one. With --ahead each
case is measured page by page, and with pages read ahead. With --delay a call takes MS longer each
way, as to a server that is far; not for clusters. Quote ratios within one run.
"""

import argparse
import asyncio
import multiprocessing
import random
import socket
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice, pairwise, product
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from made_profiles import made_profile
from redis.crc import key_slot
from stopwatch import figure

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from redis_nodes import RedisNodes
from redis_servers import RedisServer

from dedup_filter import judge
from dedup_filter.comparison.look_ups import verdict_on
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.model import Document
from dedup_filter.store.records import PageRecord
from dedup_filter.store.redis.layout import ENTRY, Key, Layout, entry_of
from dedup_filter.store.redis.records import TOKEN_BYTES, Head, pack_record
from dedup_filter.text.page_url import Place

KINDS = {"single": RedisServer, "cluster": RedisNodes}
START = 1_700_000_000
REPEATED = 5
"""One page in so many repeats an earlier one."""
_AT_ONCE = 1_000
_GROWTH = (1, 2, 5, 11, 23, 47, 95, 191)
"""Entries with which a string grows: the server doubles what it needs."""


class Run(NamedTuple):
    """What one crawler process found."""

    seconds: float
    cpu: float
    times: list[float]
    trips: int
    outcomes: dict[str, int]
    opening: float


def page_of(number: int) -> tuple[Place, ReadPage, PageProfile]:
    """Make a page; equal numbers give equal pages."""
    url = f"https://www.paper-{number % 1000:04}.example.com/news/{number:012}.html"
    content = Document(str(number))
    config = NearDuplicateFilter.check_options()
    return Place.of(url), ReadPage.of(content, config), made_profile(random.Random(number), 640)


def fill(started: Any, count: int) -> None:
    """Write records and buckets of so many pages, as their claims would leave them."""
    url = f"{started.url}{'&' if '?' in started.url else '?'}pages={count}"
    with NearDuplicateFilter.open(url) as pages:
        process = pages.conductor._process  # type: ignore[attr-defined]
        part, layout = process.connection.part, process.layout
        process.connection.ask("SET", process.connection.key("ids"), count)
    place, _, profile = page_of(10**12)
    record = PageRecord.of(place, profile, verdict_on(profile, "new"), START, 1)
    keys = len(Layout(1).keys_of_record(record))
    value = Head.of_claim(b"K", bytes(TOKEN_BYTES)).packed + pack_record(record)
    servers = _Writer(started)
    servers.write(("SET", part("r", page), value) for page in range(1, count + 1))
    servers.write(
        ("APPEND", part("b", bucket), entries[before:after])
        for bucket, entries in _buckets(layout, count, keys)
        for before, after in _growth(len(entries))
    )


def _buckets(layout: Layout, count: int, keys: int) -> Iterator[tuple[int, bytes]]:
    """Yield buckets and their entries, if each page has so many random keys."""
    values = np.random.default_rng(1).integers(0, 2**64, count * keys, np.uint64)
    values.sort()
    pages = np.random.default_rng(2).permutation(np.arange(count * keys) // keys + 1)
    tags = values & np.uint64(0xFFFFFF)
    entries = tags << np.uint64(40) | pages.astype(np.uint64)
    assert entries[0].tobytes() == entry_of(Key(values[0]), int(pages[0]))
    buckets: npt.NDArray[np.uint64] = values >> np.uint64(64 - layout.bits)
    first = np.flatnonzero(np.diff(buckets, prepend=buckets[0] + 1))
    for at, packed in zip(first, np.split(entries, first[1:]), strict=True):
        yield int(buckets[at]), packed.tobytes()


def _growth(size: int) -> Iterator[tuple[int, int]]:
    """Yield the ends of what is appended to a bucket that reaches a size in bytes."""
    ends = [0, *(ENTRY.size * each for each in _GROWTH if ENTRY.size * each < size), size]
    yield from pairwise(ends)


class _Writer:
    """Plain connections to servers: a client library takes ten times the time to write."""

    def __init__(self, started: Any) -> None:
        self._ports = [node.port for node in nodes(started)]
        self._links = {port: socket.create_connection(("127.0.0.1", port)) for port in self._ports}
        self._port_of = {}
        if len(self._ports) > 1:
            for first, last, (_, port, *_), *_ in (
                started.nodes[0].client().execute_command("CLUSTER SLOTS")
            ):
                self._port_of.update(dict.fromkeys(range(first, last + 1), port))

    def write(self, commands: Iterable[tuple[str, str, bytes]]) -> None:
        """Carry out commands that each answer in one line."""
        packed: dict[int, list[bytes]] = {port: [] for port in self._ports}
        for name, key, value in commands:
            port = self._port_of[key_slot(key.encode())] if self._port_of else self._ports[0]
            parts = [b"$%d\r\n%b\r\n" % (len(e), e) for e in (name.encode(), key.encode(), value)]
            packed[port].append(b"*3\r\n" + b"".join(parts))
            if len(packed[port]) >= _AT_ONCE:
                self._send(port, packed[port])
        for port, left in packed.items():
            self._send(port, left)

    def _send(self, port: int, packed: list[bytes]) -> None:
        self._links[port].sendall(b"".join(packed))
        lines = 0
        while lines < len(packed):
            lines += self._links[port].recv(1 << 20).count(b"\n")
        packed.clear()


def crawl(url: str, numbers: list[int], start: Any, found: Any, is_ahead: bool) -> None:
    """See pages, together with other processes."""
    made = {str(number): page_of(number) for number in numbers}
    profiles = {text: profile for text, (*_, profile) in made.items()}
    setattr(judge, "profile_of", lambda page, *_: profiles[page.content.text])  # noqa: B010
    began = time.perf_counter()
    pages = NearDuplicateFilter.open(url)
    opening = time.perf_counter() - began
    trips = counted(pages.conductor._process.connection)  # type: ignore[attr-defined]
    start.wait()
    times, outcomes = [], Counter[str]()
    began, cpu = time.perf_counter(), time.process_time()
    for at, number in enumerate(numbers):
        place, page, _ = made[str(number)]
        one = time.perf_counter()
        if is_ahead:
            pages.conductor.read_ahead(made[str(each)][:2] for each in islice(numbers, at, None))
        outcomes[pages.conductor.see(place, page).outcome] += 1
        times.append(time.perf_counter() - one)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    found.put(Run(seconds, cpu, times, trips[0], outcomes, opening))
    pages.close()


def counted(connection: Any) -> list[int]:
    """Count the round trips to servers from now on."""
    trips, real = [0], connection.call

    def call(work: Any) -> Any:
        trips[0] += 1
        return real(work)

    connection.call = call
    return trips


def numbers_of(seed: int, processes: int, count: int) -> list[int]:
    """Return the pages of one of several processes; some are of pages of any of them before."""
    chance, wanted = random.Random(seed), [*range(count)]
    repeated = {at for at in wanted[1:] if at % REPEATED == 0}
    return [
        chance.randrange(at) + chance.randrange(processes) * 10**7
        if at in repeated
        else at + seed * 10**7
        for at in wanted
    ]


def run(url: str, processes: int, count: int, is_ahead: bool) -> list[Run]:
    """Let processes see pages at the same time."""
    context = multiprocessing.get_context("spawn")
    start, found = context.Barrier(processes), context.Queue()
    workers = [
        context.Process(
            target=crawl, args=(url, numbers_of(seed, processes, count), start, found, is_ahead)
        )
        for seed in range(processes)
    ]
    for worker in workers:
        worker.start()
    runs = [found.get() for _ in workers]
    for worker in workers:
        worker.join()
    return runs


@contextmanager
def delayed(started: Any, seconds: float) -> Iterator[str]:
    """Give an address of a server at which all that is sent takes so long each way."""
    if not seconds:
        yield started.url
        return
    loop = asyncio.new_event_loop()

    async def forward(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while sent := await source.read(1 << 16):
            loop.call_later(seconds, target.write, sent)
        loop.call_later(seconds, target.close)

    async def connect(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        answers, calls = await asyncio.open_connection("127.0.0.1", started.port)
        await asyncio.gather(forward(source, calls), forward(answers, target))

    listener = loop.run_until_complete(asyncio.start_server(connect, "127.0.0.1", 0))
    port = listener.sockets[0].getsockname()[1]
    Thread(target=loop.run_forever, daemon=True).start()
    yield started.url.replace(f":{started.port}", f":{port}")
    loop.call_soon_threadsafe(loop.stop)


def nodes(started: Any) -> list[Any]:
    """Return each of the servers."""
    return started.nodes if isinstance(started, RedisNodes) else [started]


def info(started: Any, section: str, *names: str) -> float:
    """Add up figures of all servers."""
    return sum(
        float(node.client().info(section)[name]) for node in nodes(started) for name in names
    )


def server_cpu(started: Any) -> float:
    """Return the CPU seconds that the servers took so far."""
    return info(started, "cpu", "used_cpu_sys", "used_cpu_user")


def measure(
    kind: str, count: int, processes: int, options: argparse.Namespace, *, is_ahead: bool
) -> None:
    """Measure one case, on servers of its own."""
    case = f"{kind}, {count:.0e}, {processes} {'process' if processes == 1 else 'processes'}"
    case += ", read ahead" if is_ahead else ""

    def tell(metric: str, value: float, unit: str) -> None:
        figure(case, metric, value, unit, as_json=options.json)

    with KINDS[kind]() as started:
        empty = info(started, "memory", "used_memory")
        fill(started, count)
        filled = info(started, "memory", "used_memory")
        cpu = server_cpu(started)
        asked = info(started, "stats", "total_commands_processed")
        sent = info(started, "stats", "total_net_output_bytes")
        with delayed(started, options.delay / 1e3) as url:
            runs = run(url, processes, options.see, is_ahead)
        seen = processes * options.see
        times = sorted(time for each in runs for time in each.times)
        tell("pages per second, all", seen / max(each.seconds for each in runs), "pages/s")
        tell("server CPU a page", 1e6 * (server_cpu(started) - cpu) / seen, "us")
        tell("client CPU a page", 1e6 * sum(each.cpu for each in runs) / seen, "us")
        tell("median time of a page", 1e3 * times[len(times) // 2], "ms")
        tell("p99 time of a page", 1e3 * times[len(times) * 99 // 100], "ms")
        tell("round trips a page", sum(each.trips for each in runs) / seen, "trips")
        asked = info(started, "stats", "total_commands_processed") - asked
        tell("commands a page", asked / seen, "commands")
        sent = info(started, "stats", "total_net_output_bytes") - sent
        tell("bytes read a page", sent / seen, "bytes")
        tell("bytes a page on the servers", (filled - empty) / count, "bytes")
        tell("time to open", runs[0].opening, "s")
        new = sum(each.outcomes.get("new", 0) for each in runs)
        tell("share of pages dropped", 1 - new / seen, "")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Raw)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--pages", nargs="+", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--see", type=int, default=5_000)
    parser.add_argument("--kinds", nargs="+", default=[*KINDS], choices=KINDS)
    parser.add_argument("--processes", nargs="+", type=int, default=[1, 2, 4])
    parser.add_argument("--ahead", action="store_true")
    parser.add_argument("--delay", type=float, default=0.0)
    options = parser.parse_args()
    cases = product(options.kinds, options.pages, options.processes, [False, True])
    for kind, count, processes, is_ahead in cases:
        if options.ahead or not is_ahead:
            measure(kind, count, processes, options, is_ahead=is_ahead)


class _Raw(argparse.RawDescriptionHelpFormatter):
    pass


if __name__ == "__main__":
    main()
