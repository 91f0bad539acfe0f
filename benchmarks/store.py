"""Time the record of pages: recording, looking up, opening, filling an index; and its size.

    python benchmarks/store.py [--json] [--pages COUNT ...] [--one-by-one PAGES] [--folder FOLDER]
    python benchmarks/store.py --filter [--json] [--pages COUNT ...] [--see PAGES]
    python benchmarks/store.py --steps [--json] [--pages COUNT ...] [--distance K ...]
    python benchmarks/store.py --open [--json] [--pages COUNT ...] [--distance K ...]

With `--filter` it is the record and the index together, as the filter has them, on disk and in
memory: pages judged, recorded and indexed per second beyond so many that are there already, the
size of all files, and how long it takes to open the index. The pages that are there are made by
SQLite itself, the others have their profiles ready. With `--steps` each question that a page asks
of both is timed by itself, on disk: what grows with the index shows when several counts are given.
With `--open` the saved entries of so many made pages are opened beside a database without rows.

Pages come with measures ready, so what counts is the store alone: their URLs are 59 characters
long, a fifth of them are dropped as near-duplicates, and digests, fingerprints, keys and sketches
are random; headlines take 50 bytes. "grouped" is as `see` writes, "flushed" as a Scrapy pipeline
does at every item. Figures are taken when the store holds as many pages as they say, recording over
the last tenth of them. CPU time is the process's own; the other has the waiting for disk and for
other programs in it, too. Opening has the file in the system's memory. Quote ratios within one run.
"""

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from made_profiles import made_profile, made_sketch, see_all
from stopwatch import figure

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import DIGEST_BYTES, PageProfile
from dedup_filter.fingerprints.sketch import KEYS_BYTES
from dedup_filter.store.location import MEMORY, open_store, scheme_of
from dedup_filter.store.records import PageRecord, Scheme
from dedup_filter.store.sqlite.page_index import PageIndex
from dedup_filter.store.sqlite.page_store import PageStore
from dedup_filter.store.sqlite.sqlite_pages import LookUps, SqlitePages

SCHEME = Scheme.of(features="content")
START = 1_700_000_000
HOSTS = 1_000
SECTIONS = ("news", "sports", "culture", "opinion")


def pages(first: int) -> Iterator[PageRecord]:
    """Make pages, the first with this number."""
    chance = random.Random(first)
    number = first
    while True:
        host = f"www.paper-{chance.randrange(HOSTS):04}.example.com"
        section = SECTIONS[number % len(SECTIONS)]
        is_near = number > 1 and number % 5 == 0
        url = f"https://{host}/{section}/{number:012}.html"
        yield PageRecord(
            page=0,
            url=url,
            host=host,
            digest=chance.randbytes(DIGEST_BYTES),
            fingerprint=chance.getrandbits(64),
            sketch=made_sketch(chance, 640),
            words=640,
            language="en",
            first_seen=START + number,
            last_seen=START + number,
            first_crawl=1,
            crawl=1,
            is_pending=False,
            outcome="near" if is_near else "new",
            original=number - 1 if is_near else None,
            distance=4 if is_near else None,
            similarity=0.87 if is_near else None,
            h1=f"What page {number} is about",
            title=f"What page {number} is about - The Paper",
            keys=b"" if is_near else chance.randbytes(KEYS_BYTES),
        )
        number += 1


def take(source: Iterator[PageRecord], count: int) -> list[PageRecord]:
    """Make some pages in advance."""
    return [page for page, _ in zip(source, range(count), strict=False)]


Figure = tuple[str, float, str]


class Time(NamedTuple):
    """Seconds."""

    cpu: float
    total: float


def timed(work: Callable[[], object]) -> Time:
    """Time one call."""
    cpu, total = time.process_time(), time.perf_counter()
    work()
    return Time(time.process_time() - cpu, time.perf_counter() - total)


def record(store: PageStore, new: list[PageRecord], *, one_by_one: bool) -> None:
    """Record pages as `see` does, or as a pipeline does: claimed, committed and flushed."""
    for page in new:
        number = store.insert(page)
        if one_by_one:
            store.commit(number)
            store.flush()
    store.flush()


def fill(store: PageStore, source: Iterator[PageRecord], count: int) -> Time:
    """Record pages up to a number; return the time for each of the last tenth."""
    last = max(count // 10, 1)
    while store.last_page < count - last:
        record(store, take(source, min(10_000, count - last - store.last_page)), one_by_one=False)
    times = []
    while store.last_page < count:
        new = take(source, min(10_000, count - store.last_page))
        times.append(timed(partial(record, store, new, one_by_one=False)))
    return Time(*(sum(column) / last for column in zip(*times, strict=True)))


def look_ups(store: PageStore, samples: int) -> dict[str, float]:
    """Time look-ups of pages anywhere in the store."""
    chance = random.Random(0)
    numbers = [chance.randint(1, store.last_page) for _ in range(samples)]
    work = {
        "matches of a page": lambda: store.stored(numbers),
    }
    return {name: timed(look_up).cpu / samples for name, look_up in work.items()}


def steps_of_a_page(
    store: PageStore, index: PageIndex, samples: int
) -> dict[str, Callable[[int], object]]:
    """Return all that a page asks of store and index, each by the number of a sample.

    All other statements of a page write, and read only rows that they find by a number.
    """
    chance, look_ups = random.Random(0), LookUps(store, index, 0)
    pages = [chance.randint(1, store.last_page) for _ in range(samples)]
    asked = store.stored(pages)
    others = [chance.getrandbits(64) for _ in range(samples)]
    digests = [chance.randbytes(DIGEST_BYTES) for _ in range(samples)]
    prints = [store.record(page).fingerprint or 0 for page in pages]
    return {
        "changes taken in": lambda _: index.follow(store),
        "digest, not there": lambda n: look_ups.equal(digests[n]),
        "digest, there": lambda n: look_ups.equal(asked[n].digest),
        "text, not there": lambda n: look_ups.near(others[n], 65),
        "text, there": lambda n: look_ups.near(prints[n], 65),
        "record of a candidate": lambda n: store.stored(pages[n : n + 1]),
        "pages at a canonical URL": lambda n: store.kept_at(asked[n].url_key, 4),
        "host": lambda n: store.known_host(asked[n].host),
        "fate of an original": lambda n: store.fate(pages[n]),
        "number of pages": lambda _: store.count(is_kept=True),
        "oldest pages": lambda _: store.oldest(1, is_kept=True),
    }


def measure_steps(folder: Path, count: int, distance: int, samples: int) -> Iterator[Figure]:
    """Yield metric, value and unit of all that a page asks of an index that holds so many."""
    config = FilterConfig(max_distance=distance, canonical=True)
    with PageStore.open(folder, scheme_of(config)) as store:
        store.start_crawl(START)
        fill_by_sql(store, count)
        store.index_urls(is_wanted=True)
        index = PageIndex.opened(store, distance, by_host=False)
        for name, step in steps_of_a_page(store, index, samples).items():
            rounds = [timed(partial(each_of, step, samples)).cpu for _ in range(3)]
            yield name, min(rounds) / samples * 1e6, "us"


def each_of(step: Callable[[int], object], samples: int) -> None:
    """Do a step for each sample."""
    for number in range(samples):
        step(number)


def measure(folder: Path, count: int, one_by_one: int) -> Iterator[Figure]:
    """Yield metric, value and unit."""
    source = pages(1)
    with PageStore.open(folder, SCHEME) as store:
        store.start_crawl(START)
        grouped = fill(store, source, count)
        new = [page._replace(is_pending=True) for page in take(source, one_by_one)]
        flushed = timed(lambda: record(store, new, one_by_one=True))
        yield "recorded, grouped", 1 / grouped.cpu, "pages/CPU s"
        yield "recorded, grouped, in all", 1 / grouped.total, "pages/s"
        yield "recorded, flushed", one_by_one / flushed.cpu, "pages/CPU s"
        yield "recorded, flushed, in all", one_by_one / flushed.total, "pages/s"
        for name, each in look_ups(store, 5_000).items():
            yield name, each * 1e6, "us"
        a_url = timed(lambda: store.at_url("https://www.example.com/"))
        yield "pages at a URL", a_url.cpu, "s"
    size = sum(path.stat().st_size for path in folder.glob("pages.sqlite3*"))
    yield "on disk", size / (count + one_by_one), "bytes/page"
    opened = timed(lambda: PageStore.open(folder, SCHEME).close())
    yield "opened and closed", opened.total, "s"


def fill_by_sql(store: PageStore, count: int) -> None:
    """Record so many kept pages of random measures, as `pages` makes them."""
    run = store.connection.execute
    run("BEGIN")
    run(
        f"""WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers
            LIMIT {HOSTS})
        INSERT INTO hosts SELECT n, printf('www.paper-%04d.example.com', n) FROM numbers"""
    )
    run(
        f"""WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers
            LIMIT {count})
        INSERT INTO pages SELECT n, 0, 1, 1 + n % {HOSTS},
            printf('https://www.paper-%04d.example.com/news/%012d.html', n % {HOSTS}, n),
            random(), randomblob({DIGEST_BYTES}), random(), 640, 'en', {START}, {START}, 1, 1,
            'new', NULL, NULL, NULL, NULL, printf('What page %d is about', n),
            printf('What page %d is about - The Paper', n), NULL, randomblob({KEYS_BYTES}), ?
        FROM numbers""",
        (made_sketch(random.Random(0), 640),),
    )
    run("UPDATE counts SET pages = ? WHERE is_kept", (count,))
    run("COMMIT")


def profiles(seed: int, count: int) -> list[tuple[str, PageProfile]]:
    """Make new pages: URLs and profiles."""
    chance = random.Random(seed)
    return [
        (
            f"https://www.paper-{chance.randrange(HOSTS):04}.example.com/news/{n + seed:013}.html",
            made_profile(chance, 640),
        )
        for n in range(count)
    ]


def seen(kept: dict[str, SqlitePages], count: int, rounds: int = 5) -> Iterator[tuple[str, Time]]:
    """Time the seeing of so many pages for each, in turns; yield the best times for a page."""
    best: dict[str, Time] = {}
    for number in range(rounds):
        for name, pages in kept.items():
            new = profiles(10**9 * (1 + number), count // rounds)
            each = timed(partial(see_all, pages, new))
            best[name] = min(best.get(name, each), each)
    for name, each in best.items():
        yield name, Time(*(seconds / (count // rounds) for seconds in each))


def opened(folder: Path, config: FilterConfig) -> SqlitePages:
    """Open an index in a folder, as the filter does."""
    return SqlitePages(config, open_store(folder, config, None))


def grown(folder: Path | None, count: int, distance: int) -> int:
    """Return the bytes by which this process grows when it opens an index and sees 10,000 pages.

    Linux only. With no folder the index is in memory, and filled with so many pages first.
    """
    config = FilterConfig(max_distance=distance)
    before = resident()
    if folder is None:
        memory = open_store(MEMORY, config, None)
        fill_by_sql(memory, count)
        kept = SqlitePages(config, memory)
    else:
        kept = opened(folder, config)
    see_all(kept, profiles(2, 10_000))
    return resident() - before


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def measure_filter(folder: Path, count: int, new: int, distance: int) -> Iterator[Figure]:
    """Yield metric, value and unit of an index that holds so many pages."""
    config = FilterConfig(max_distance=distance)
    with PageStore.open(folder, scheme_of(config)) as store:
        store.start_crawl(START)
        fill_by_sql(store, count)
    rebuilt = timed(lambda: opened(folder, config).close())
    yield "opened, entries read from the record", rebuilt.total, "s"
    fresh = [timed(lambda: opened(folder, config).close()).total for _ in range(3)]
    yield "opened, entries saved", min(fresh), "s"
    if Path("/proc/self/statm").exists():
        for name, place in (("on disk", folder), ("in memory", None)):
            with ProcessPoolExecutor(1, get_context("spawn")) as fresh_process:
                growth = fresh_process.submit(grown, place, count, distance).result()
            yield f"resident memory, {name}", growth / count, "bytes/page"
    if not new:
        return
    memory = open_store(MEMORY, config, None)
    fill_by_sql(memory, count)
    both = {"on disk": opened(folder, config), "in memory": SqlitePages(config, memory)}
    times = dict(seen(both, new))
    for name, each in times.items():
        yield f"seen, {name}", 1 / each.cpu, "pages/CPU s"
        yield f"seen, {name}, in all", 1 / each.total, "pages/s"
    yield "on disk / in memory", times["on disk"].cpu / times["in memory"].cpu, "times"
    for pages in both.values():
        pages.close()
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    yield "all files", size / (count + new), "bytes/page"


def save_made_entries(folder: Path, count: int, config: FilterConfig) -> Time:
    """Save the entries of so many pages beside a database without rows."""
    generator, numbers = np.random.default_rng(count), np.arange(1, count + 1)
    index = PageIndex.empty(config.max_distance, count, by_host=False)
    for part in (index.digests, index.fingerprints):
        part.add_many(generator.integers(0, 2**64, count, np.uint64), numbers)
    for some in np.array_split(numbers, max(count // 1_000_000, 1)):
        keys = np.frombuffer(generator.bytes(KEYS_BYTES * len(some)), f"S{KEYS_BYTES}")
        index.phrases.add_many(keys, some)
    with PageStore.open(folder, scheme_of(config)) as store:
        return timed(lambda: index.save(store))


def measure_opening(folder: Path, count: int, distance: int) -> Iterator[Figure]:
    """Yield metric, value and unit of opening an index by its saved entries alone."""
    config = FilterConfig(max_distance=distance)
    yield "entries saved", save_made_entries(folder, count, config).total, "s"
    yield "entries", (folder / "entries.bin").stat().st_size / count, "bytes/page"
    made: list[PageIndex] = []
    for number in ("first", "second"):
        made.clear()
        with PageStore.open(folder, scheme_of(config)) as store:
            work = partial(PageIndex.opened, store, distance, by_host=False)
            opening = timed(lambda work=work: made.append(work()))  # type: ignore[misc]
        assert len(made[0].fingerprints) == count, "the saved entries were not used"
        yield f"opened, {number} time", opening.total, "s"
        yield f"opened, {number} time, CPU", opening.cpu, "s"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--one-by-one", type=int, default=5_000, help="pages flushed one by one")
    parser.add_argument("--filter", action="store_true", help="record and index together")
    parser.add_argument("--steps", action="store_true", help="all that a page asks, each by itself")
    parser.add_argument("--open", action="store_true", help="opening by saved entries")
    parser.add_argument("--see", type=int, default=50_000, help="pages seen with --filter")
    parser.add_argument("--distance", type=int, nargs="+", default=[3, 12], help="k, with --filter")
    parser.add_argument("--folder", type=Path, help="where to write (a temporary folder)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for count in options.pages:
        for distance in (
            options.distance if options.filter or options.steps or options.open else [None]
        ):
            with tempfile.TemporaryDirectory(dir=options.folder) as parent:
                folder, case = Path(parent) / "index", f"store of {count:,}"
                if distance is None:
                    figures = measure(folder, count, options.one_by_one)
                elif options.open:
                    case = f"entries of {count:,}, k = {distance}"
                    figures = measure_opening(folder, count, distance)
                elif options.steps:
                    case = f"index of {count:,}, k = {distance}"
                    figures = measure_steps(folder, count, distance, 5_000)
                else:
                    case = f"index of {count:,}, k = {distance}"
                    figures = measure_filter(folder, count, options.see, distance)
                for metric, value, unit in figures:
                    figure(case, metric, value, unit, as_json=options.json)


if __name__ == "__main__":
    main()
