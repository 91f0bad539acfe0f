"""Time an index shared through Redis: pages a second, time of a page, calls, bytes on the server.

    python benchmarks/shared_index.py [--json] [--pages COUNT] [--see PAGES]
                                      [--kinds single cluster buckets]
                                      [--processes N ...] [--distances K ...]

Starts servers of its own on loopback: one, and a cluster of three. The log is filled with events of
COUNT pages whose fingerprints are random, byte for byte as so many appends would. Then crawler
processes see PAGES more each, with profiles ready; a fifth of them repeat a page that any of the
processes saw before. So what counts is the shared index alone: `see` is a claim and its commit.

Machines have few cores, which crawlers and servers share here: pages a second of several processes
are those of the machine. CPU time is the crawler process's own, "server" that of the servers.

What kept and dropped pages cost is also measured each by itself: the same pages are seen twice, at
other URLs, by one process of an empty index.

"buckets" is the look-up alone of the other way to do it, by one process: 4 tables of 16-bit
prefixes on the server, whose buckets (16 bytes a page each) are read in one pipeline, with as many
neighbours of the prefix as the distance asks for.

"Calls" are waits for a server; several commands in one pipeline are one. Quote ratios within one
run.
"""

import argparse
import multiprocessing
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from made_profiles import made_profile, see
from stopwatch import figure

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from redis_nodes import RedisNodes
from redis_servers import RedisServer

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.fingerprints.sketch import KEYS
from dedup_filter.store.location import join_index
from dedup_filter.store.redis.redis_pages import RedisPages
from dedup_filter.store.redis.replica import CHUNK, LONG

KINDS = {"single": RedisServer, "cluster": RedisNodes}
START = 1_700_000_000
REPEATED = 5
"""One page in so many repeats an earlier one."""


class Run(NamedTuple):
    """What one crawler process found."""

    seconds: float
    cpu: float
    times: list[float]
    calls: int
    outcomes: dict[str, int]
    memory: int
    opening: float


def profile_of(number: int) -> PageProfile:
    """Make the profile of a page; equal numbers give equal pages."""
    return made_profile(random.Random(number), 640)


def fill(client: Any, count: int) -> None:
    """Write the log of so many pages that are there, as the scripts write it."""
    events = np.zeros(
        count,
        [
            *[("value", "<u8"), ("keys", "<u4", KEYS), ("number", "<u8")],
            *[("host", "<u4"), ("seen", "<u4")],
        ],
    )
    events["value"] = np.random.default_rng(1).integers(0, 2**64, count, np.uint64)
    events["keys"] = np.random.default_rng(2).integers(1, 2**32, (count, KEYS), np.uint32)
    events["number"] = np.arange(1, count + 1, dtype=np.uint64) | np.uint64(LONG << 48)
    events["seen"] = START
    for chunk in range(0, count, CHUNK):
        packed = events[chunk : chunk + CHUNK].tobytes()
        client.set(f"dedup:{{pages}}:log:{chunk // CHUNK}", packed)
    client.set("dedup:{pages}:length", count)


def crawl(url: str, k: int, seed: int, count: int, start: Any, found: Any) -> None:
    """See pages, together with other processes."""
    began = time.perf_counter()
    process = join_index(url, FilterConfig(max_distance=k), None)
    pages = RedisPages(FilterConfig(max_distance=k), process)
    opening = time.perf_counter() - began
    calls = counted(process.connection)
    chance = random.Random(seed)
    wanted = [seed * 10_000_000 + number for number in range(count)]
    seen = [
        chance.choice(wanted[:at]) % 10_000_000 + chance.randrange(2) * 10_000_000
        if at and at % REPEATED == 0
        else number
        for at, number in enumerate(wanted)
    ]
    ready = [
        (f"https://www.paper-{n % 1000:04}.example.com/news/{n:012}.html", profile_of(n))
        for n in seen
    ]
    start.wait()
    times, outcomes = [], Counter[str]()
    began, cpu = time.perf_counter(), time.process_time()
    for page_url, profile in ready:
        one = time.perf_counter()
        outcome = see(pages, page_url, profile).outcome
        times.append(time.perf_counter() - one)
        outcomes[outcome] += 1
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    found.put(Run(seconds, cpu, times, calls[0], outcomes, pages.nbytes, opening))
    pages.close()


def counted(connection: Any) -> list[int]:
    """Count the calls of servers from now on."""
    calls, real = [0], connection.call

    def call(work: Any) -> Any:
        calls[0] += 1
        return real(work)

    connection.call = call
    return calls


def run(url: str, k: int, processes: int, count: int) -> list[Run]:
    """Let processes see pages at the same time."""
    context = multiprocessing.get_context("spawn")
    start, found = context.Barrier(processes), context.Queue()
    workers = [
        context.Process(target=crawl, args=(url, k, seed, count, start, found))
        for seed in range(processes)
    ]
    for worker in workers:
        worker.start()
    runs = [found.get() for _ in workers]
    for worker in workers:
        worker.join()
    return runs


@contextmanager
def servers(kind: str) -> Iterator[Any]:
    """Start servers of a kind."""
    with KINDS[kind]() as started:
        yield started


def nodes(started: Any) -> list[Any]:
    """Return each of the servers."""
    return started.nodes if isinstance(started, RedisNodes) else [started]


def info(started: Any, section: str, name: str) -> float:
    """Add up a figure of all servers."""
    return sum(float(node.client().info(section)[name]) for node in nodes(started))


def server_cpu(started: Any) -> float:
    """Return the CPU seconds that the servers took so far."""
    return sum(info(started, "cpu", name) for name in ("used_cpu_sys", "used_cpu_user"))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Raw)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--see", type=int, default=5_000)
    kinds = [*KINDS, "buckets"]
    parser.add_argument("--kinds", nargs="+", default=kinds, choices=kinds)
    parser.add_argument("--processes", nargs="+", type=int, default=[1, 4])
    parser.add_argument(
        "--distances", nargs="+", type=int, default=[3, FilterConfig().max_distance]
    )
    options = parser.parse_args()
    for kind in options.kinds:
        if kind in KINDS:
            measure_kept_and_dropped(kind, options)
        for k in options.distances:
            if kind == "buckets":
                measure_buckets(k, options)
                continue
            for processes in options.processes:
                measure(kind, k, processes, options)


class _Raw(argparse.RawDescriptionHelpFormatter):
    pass


def measure(kind: str, k: int, processes: int, options: argparse.Namespace) -> None:
    """Measure one case, on servers of its own."""
    case = f"{kind}, k={k}, {processes} {'process' if processes == 1 else 'processes'}"

    def tell(metric: str, value: float, unit: str) -> None:
        figure(case, metric, value, unit, as_json=options.json)

    with servers(kind) as started:
        client = started.client()
        fill_before = info(started, "memory", "used_memory")
        make(started.url, k)
        fill(client, options.pages)
        table_bytes = info(started, "memory", "used_memory") - fill_before
        cpu, memory = server_cpu(started), info(started, "memory", "used_memory")
        runs = run(started.url, k, processes, options.see)
        new = sum(each.outcomes.get("new", 0) for each in runs)
        seen = processes * options.see
        times = sorted(time for each in runs for time in each.times)
        tell("pages per second, all", seen / max(each.seconds for each in runs), "pages/s")
        tell("pages per CPU second of a process", seen / sum(e.cpu for e in runs), "pages/s")
        tell("server CPU a page", 1e6 * (server_cpu(started) - cpu) / seen, "us")
        tell("median time of a page", 1e3 * times[len(times) // 2], "ms")
        tell("p99 time of a page", 1e3 * times[len(times) * 99 // 100], "ms")
        tell("calls a page", sum(each.calls for each in runs) / seen, "calls")
        tell("bytes a page, tables", table_bytes / options.pages, "bytes")
        after = info(started, "memory", "used_memory")
        tell("bytes a new page, record and all", (after - memory) / new, "bytes")
        tell("memory of a process's replica a page", runs[0].memory / options.pages, "bytes")
        tell("time to open", runs[0].opening, "s")
        tell("share of pages dropped", 1 - new / seen, "")


def measure_kept_and_dropped(kind: str, options: argparse.Namespace) -> None:
    """Measure what a kept and a dropped page cost, each by itself."""
    ready = [profile_of(number) for number in range(options.see)]
    with servers(kind) as started:
        process = join_index(started.url, FilterConfig(), None)
        pages = RedisPages(FilterConfig(), process)
        calls = counted(process.connection)
        for name in ("kept", "dropped"):
            memory, calls[0] = info(started, "memory", "used_memory"), 0
            for number, profile in enumerate(ready):
                site = f"{name}-{number % 1000:04}"
                see(pages, f"https://www.{site}.example.com/news/{number:012}.html", profile)
            more = info(started, "memory", "used_memory") - memory
            case = f"{kind}, {name} pages"
            figure(case, "bytes a page", more / options.see, "bytes", as_json=options.json)
            figure(case, "calls a page", calls[0] / options.see, "calls", as_json=options.json)
        pages.close()


def probes(fingerprint: int, k: int) -> list[str]:
    """Name the buckets that may hold a page within k bits (Norouzi et al. 2012, section 3)."""
    names = []
    for table in range(4):
        prefix = fingerprint >> 16 * table & 0xFFFF
        radius = k // 4 if table <= k % 4 else k // 4 - 1
        flips = [bits for count in range(radius + 1) for bits in combinations(range(16), count)]
        names += [f"bucket:{table}:{prefix ^ sum(1 << bit for bit in bits)}" for bits in flips]
    return names


def measure_buckets(k: int, options: argparse.Namespace) -> None:
    """Measure look-ups in buckets on a server."""
    with servers("single") as started:
        client = started.client()
        before = info(started, "memory", "used_memory")
        entries = 16 * max(options.pages >> 16, 1)
        with client.pipeline(transaction=False) as pipe:
            for number in range(4 << 16):
                pipe.set(f"bucket:{number >> 16}:{number & 0xFFFF}", bytes(entries))
                if number % 10_000 == 0:
                    pipe.execute()
            pipe.execute()
        table_bytes = info(started, "memory", "used_memory") - before
        chance, times = random.Random(0), []
        server, cpu = server_cpu(started), time.process_time()
        for _ in range(options.see // 10):
            one = time.perf_counter()
            with client.pipeline(transaction=False) as pipe:
                for name in probes(chance.getrandbits(64), k):
                    pipe.get(name)
                pipe.execute()
            times.append(time.perf_counter() - one)
        case, count = f"buckets, k={k}, 1 process", len(times)
        figures = [
            ("median time of a look-up", 1e3 * sorted(times)[count // 2], "ms"),
            ("server CPU a look-up", 1e6 * (server_cpu(started) - server) / count, "us"),
            ("CPU of a process a look-up", 1e6 * (time.process_time() - cpu) / count, "us"),
            ("bytes a page, tables", table_bytes / options.pages, "bytes"),
        ]
        for metric, value, unit in figures:
            figure(case, metric, value, unit, as_json=options.json)


def make(url: str, k: int) -> None:
    """Make the index, empty."""
    join_index(url, FilterConfig(max_distance=k), None).close()


if __name__ == "__main__":
    main()
