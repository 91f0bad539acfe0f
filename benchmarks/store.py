"""Time an index of many pages: writing, opening, judging, look-ups; its size on disk and in memory.

    python benchmarks/store.py [--json] [--pages COUNT ...] [--new PAGES] [--distance K ...]
    python benchmarks/store.py --steps [--json] [--pages COUNT ...] [--distance K ...]
    python benchmarks/store.py --open [--json] [--pages COUNT ...] [--distance K ...]

The pages that are there are made by SQLite itself. Digests, fingerprints, keys and sketches are
random; URLs are 59 characters long, headlines take 50 bytes. Further pages have their profiles
ready, so what counts is the index alone: no page is read, and no host is counted.

"written": records are written to the store, in batches as a judge does, or one by one as a Scrapy
pipeline does that flushes at every item. "seen": pages are judged, claimed, committed and written,
best of five rounds. Memory is the growth of a fresh process (Linux), which opens the index and sees
10,000 pages. With `--steps` each look-up of a page is timed by itself, on disk: what grows with the
index shows when several counts are given.

CPU time is the process's own. Opening has the file in the system's memory. Quote ratios within one
run.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import cast

import numpy as np
from made_profiles import made_profile, made_sketch
from stopwatch import figure, resident

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import DIGEST_BYTES, PageProfile
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.fingerprints.sketch import KEYS, KEYS_BYTES
from dedup_filter.frames.host_frames import no_context
from dedup_filter.judge import FULL_BATCH, Judge, _Judged
from dedup_filter.store.location import MEMORY, open_store
from dedup_filter.store.page_index import PageIndex
from dedup_filter.store.protocol import LAST_PAGE, Batch, Entries
from dedup_filter.store.records import PageRecord
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.text.page_url import Place
from dedup_filter.text.reading import Shown

START = 1_700_000_000
HOSTS = 1_000
WORDS = 640
SAMPLES = 5_000
ROUNDS = 5
_NOTHING = Shown("", (), (), (), (), ())
Page = tuple[Place, PageProfile]
Figure = tuple[str, float, str]


class ProfileJudge(Judge):
    """Judges pages by ready profiles: its pages are profiles, and no host is counted."""

    def _judged(self, place: Place, page: ReadPage) -> _Judged:
        self._looked_up.clear()
        nothing, profile = no_context(_NOTHING), cast("PageProfile", page)
        found = self._compared(place, profile, None, self._config)
        return _Judged(nothing, nothing, profile, found)

    def see_all(self, pages: Sequence[Page]) -> None:
        """See pages one after the other, and write them."""
        for place, profile in pages:
            self.see(place, cast("ReadPage", profile))
        self.flush()


def made_pages(seed: int, count: int) -> list[Page]:
    """Make new pages: URLs and profiles."""
    chance, first = random.Random(seed), seed * 10**9
    urls = (
        f"https://www.paper-{chance.randrange(HOSTS):04}.example.com/news/{n:012}.html"
        for n in range(first, first + count)
    )
    return [(Place.of(url), made_profile(chance, WORDS)) for url in urls]


def records(pages: Sequence[Page], first: int) -> Iterator[PageRecord]:
    """Yield the records of new pages, numbered from `first`."""
    for number, (place, page) in enumerate(pages, first):
        yield PageRecord(
            page=number,
            url=place.url,
            url_key=place.key,
            host=place.host,
            digest=page.digest,
            fingerprint=page.fingerprint,
            sketch=page.sketch,
            words=page.word_count,
            language=page.language,
            first_seen=START,
            last_seen=START,
            first_crawl=1,
            crawl=1,
            is_pending=False,
            outcome="new",
            h1=f"What page {number} is about",
            title=f"What page {number} is about - The Paper",
            keys=page.keys,
        )


def fill(store: SqliteStore, count: int) -> SqliteStore:
    """Record so many kept pages of random measures."""
    numbers = f"""WITH RECURSIVE numbers (n) AS
        (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT {count})"""
    store.rows("BEGIN")
    store.rows(
        f"""{numbers} INSERT INTO pages SELECT n,
            printf('https://www.paper-%04d.example.com/news/%012d.html', n % {HOSTS}, n),
            random(), printf('www.paper-%04d.example.com', n % {HOSTS}), 1,
            randomblob({DIGEST_BYTES}), random(), randomblob({KEYS_BYTES}), {WORDS}, 'en',
            {START}, {START}, 1, 1, 'new', NULL, NULL, NULL, NULL,
            printf('What page %d is about', n), printf('What page %d is about - The Paper', n), NULL
        FROM numbers"""
    )
    sketch = made_sketch(random.Random(0), WORDS)
    store.rows(f"{numbers} INSERT INTO sketches SELECT n, ? FROM numbers", (sketch,))
    store.rows("REPLACE INTO notes VALUES (?, ?)", (LAST_PAGE, str(count)))
    store.rows("COMMIT")
    return store


def cpu(work: Callable[..., object], *given: object) -> float:
    """Return the CPU seconds of one call."""
    started = time.process_time()
    work(*given)
    return time.process_time() - started


def write(store: SqliteStore, new: Sequence[PageRecord], size: int) -> None:
    """Write records in batches."""
    for start in range(0, len(new), size):
        store.write(Batch({each.page: each for each in new[start : start + size]}))


def open_and_close(folder: Path, config: FilterConfig) -> None:
    """Open an index to judge pages, and close it."""
    Judge(config, open_store(folder, config)).close()


def each_of(step: Callable[[int], object]) -> None:
    """Do a step for each sample."""
    for number in range(SAMPLES):
        step(number)


def grown(folder: Path | None, count: int, config: FilterConfig) -> int:
    """Return the bytes by which this process grows when it opens an index and sees 10,000 pages.

    Without a folder the index is in memory, and gets so many pages first.
    """
    before = resident()
    store = open_store(folder or MEMORY, config)
    judge = ProfileJudge(config, store if folder else fill(store, count))
    judge.see_all(made_pages(99, 10_000))
    return resident() - before


def measure(folder: Path, count: int, new: int, config: FilterConfig) -> Iterator[Figure]:
    """Yield metric, value and unit of an index that holds so many pages."""
    with fill(open_store(folder, config), count) as store:
        for way, size in ("in batches", FULL_BATCH), ("one by one", 1):
            last = store.rows("SELECT max(page) FROM pages")[0][0]
            some = [*records(made_pages(size, new), last + 1)]
            seconds = cpu(write, store, some, size)
            yield f"written, {way}", seconds / new * 1e6, "CPU us/page"
        store.write(Batch(notes={LAST_PAGE: str(count + 2 * new)}))
        a_url = cpu(store.at_url, "https://www.example.com/")
        yield "pages at a URL", a_url, "s"
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    yield "all files", size / (count + 2 * new), "bytes/page"
    opened = [cpu(open_and_close, folder, config) for _ in range(3)]
    yield "opened and closed", min(opened), "CPU s"
    places: dict[str, Path | None] = {"on disk": folder, "in memory": None}
    if Path("/proc/self/statm").exists():
        for name, place in places.items():
            with ProcessPoolExecutor(1, get_context("spawn")) as fresh_process:
                growth = fresh_process.submit(grown, place, count, config).result()
            yield f"resident memory, {name}", growth / count, "bytes/page"
    stores = (open_store(folder, config), fill(open_store(MEMORY, config), count))
    judges = [ProfileJudge(config, store) for store in stores]
    each, best = max(new // ROUNDS, 1), [float("inf")] * len(judges)
    for number in range(ROUNDS):
        for place_number, judge in enumerate(judges):
            seconds = cpu(judge.see_all, made_pages(1_000 + number, each))
            best[place_number] = min(best[place_number], seconds)
    for name, judge, seconds in zip(places, judges, best, strict=True):
        yield f"seen, {name}", each / seconds, "pages/CPU s"
        judge.close()


def measure_steps(folder: Path, count: int, config: FilterConfig) -> Iterator[Figure]:
    """Yield metric, value and unit of the look-ups of a page in an index that holds so many."""
    with fill(open_store(folder, config), count) as store:
        index = PageIndex(config.max_distance, store, lambda n: [*store.records(n)])
        chance = random.Random(0)
        pages = [chance.randint(1, count) for _ in range(SAMPLES)]
        asked = [*store.records(pages)]
        others = made_pages(1, SAMPLES)
        steps: dict[str, Callable[[int], object]] = {
            "digest, not there": lambda n: index.equal(others[n][1].digest),
            "digest, there": lambda n: index.equal(asked[n].digest),
            "text, not there": lambda n: index.near(others[n][1].fingerprint or 0, 65),
            "text, there": lambda n: index.near(asked[n].fingerprint or 0, 65),
            "phrases, not there": lambda n: index.sharing([others[n][1].keys]),
            "phrases, there": lambda n: index.sharing([asked[n].keys]),
            "record of a candidate": lambda n: index.stored(pages[n : n + 1]),
            "pages at a canonical URL": lambda n: index.visits(asked[n].url_key),
            "host": lambda n: store.host(asked[n].host),
        }
        for name, step in steps.items():
            rounds = [cpu(each_of, step) for _ in range(3)]
            yield name, min(rounds) / SAMPLES * 1e6, "us"


def measure_opening(folder: Path, count: int, config: FilterConfig) -> Iterator[Figure]:
    """Yield metric, value and unit of opening an index by its saved entries alone."""
    generator = np.random.default_rng(count)
    made = PageIndex(config.max_distance, None, lambda _: [])
    for numbers in np.array_split(np.arange(1, count + 1), max(count // 1_000_000, 1)):
        prints, heads, urls = (generator.integers(0, 2**64, len(numbers), np.uint64) for _ in "abc")
        keys = generator.integers(1, 2**32, (len(numbers), KEYS), np.uint32)
        yes = np.ones(len(numbers), np.bool_)
        made.add_all(Entries(numbers, yes, yes, prints, heads, urls, keys))
    with open_store(folder, config) as store:
        yield "entries saved, CPU", cpu(store.save_arrays, made.arrays), "s"
    yield "entries", (folder / "entries.bin").stat().st_size / count, "bytes/page"
    for number in ("first", "second"):
        with open_store(folder, config) as store:
            opening = cpu(lambda store=store: PageIndex(config.max_distance, store, lambda _: []))
        yield f"opened, {number} time, CPU", opening, "s"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--new", type=int, default=10_000, help="further pages, for each figure")
    parser.add_argument("--distance", type=int, nargs="+", default=[3, 12], help="k")
    parser.add_argument("--steps", action="store_true", help="each look-up of a page by itself")
    parser.add_argument("--open", action="store_true", help="opening by saved entries alone")
    parser.add_argument("--folder", type=Path, help="where to write (a temporary folder)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for count in options.pages:
        for distance in options.distance:
            config = FilterConfig(max_distance=distance, canonical=options.steps)
            with tempfile.TemporaryDirectory(dir=options.folder) as parent:
                folder = Path(parent) / "index"
                figures = (
                    measure_opening(folder, count, config)
                    if options.open
                    else measure_steps(folder, count, config)
                    if options.steps
                    else measure(folder, count, options.new, config)
                )
                for metric, value, unit in figures:
                    case = f"index of {count:,}, k = {distance}"
                    figure(case, metric, value, unit, as_json=options.json)


if __name__ == "__main__":
    main()
