"""Crawl many hosts in turn, a page of each at a time: which copies are found, and in which memory.

    python benchmarks/broad_crawl.py [--hosts 500 3000 10000] [--place memory directory] [--quick]
    python benchmarks/broad_crawl.py --frames [--quick]

The pages are made. A host has a frame of its own, 300 blocks with a notice of 150 words among them,
and three pages; a page has an article of 8 paragraphs and 225 links that no other page has. So a
host has shown some 1,000 blocks when its last page is judged, and all hosts come in between. Of the
last pages every other has the article of a first or second page, mostly of another host. "recall"
is the share of these of which the filter names a page with that article; "wrong" are other
duplicates. The rest are memory and CPU time of a process that judges all; of the memory a part is
the index itself, and word lists.

With `--frames` no page is judged: hosts are learnt of directly, 200 blocks each, and what the
process grows by is told, and what the frames tell of themselves. Linux only.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple, TypeVar

from made_words import FUNCTION_WORDS
from stopwatch import figure, resident

from dedup_filter.config import FilterConfig
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.frames.host_frames import FrameUpdate
from dedup_filter.host_cache import HostCache
from dedup_filter.judge import FULL_BATCH
from dedup_filter.store.location import MEMORY, open_store
from dedup_filter.store.protocol import Batch

PAGES_OF_HOST = 3
FRAME_LINKS, OWN_LINKS, PARAGRAPHS = 299, 225, 8
COPIED = 2
"""Of the last pages one of so many has an article that was there before."""
WORDS = [f"{first}{last}" for first in ("ka", "lo", "mi", "nu", "pe") for last in range(4_000)]


class Page(NamedTuple):
    """A page of a host, and the article on it by its number."""

    url: str
    html: str
    article: int


def pages(hosts: int) -> Iterator[Page]:
    """Yield the pages of so many hosts in turn."""
    chance = random.Random(1)
    before = (PAGES_OF_HOST - 1) * hosts
    for number in range(hosts * PAGES_OF_HOST):
        host = number % hosts
        is_copy = number >= before and number % COPIED == 0
        article = chance.randrange(before) if is_copy else number
        yield Page(
            f"https://host-{host}.example/{number}",
            html(host, number, article),
            article,
        )


def html(host: int, number: int, article: int) -> str:
    """Make a page: the frame of the host, the article, links of its own."""
    of_host, of_page = random.Random(f"host {host}"), random.Random(f"page {number}")
    of_article = random.Random(f"article {article}")
    menu = "".join(f"<li><a href='/{n}'>{line(of_host, 3)}</a></li>" for n in range(FRAME_LINKS))
    notice = f"<div><p>{line(of_host, 150)}.</p></div>"
    title = line(of_article, 6)
    text = "".join(f"<p>{line(of_article, 40)}.</p>" for _ in range(PARAGRAPHS))
    more = "".join(f"<li><a href='/{n}'>{line(of_page, 4)}</a></li>" for n in range(OWN_LINKS))
    main = f"<main><h1>{title}</h1>{text}</main>"
    return f"<title>{title}</title><ul>{menu}</ul>{main}{notice}<ul>{more}</ul>"


def line(chance: random.Random, words: int) -> str:
    """Make a line, every third word of which is a function word."""
    chosen = (chance.choice(WORDS if n % 3 else FUNCTION_WORDS) for n in range(words))
    return " ".join(chosen)


class Figures(NamedTuple):
    """What a crawl has found, and what it took."""

    recall: float
    wrong: int
    forgotten: int
    megabytes: float
    milliseconds: float


def crawl(hosts: int, place: str, frame_memory: float) -> Figures:
    """Judge the pages of so many hosts in turn."""
    before, taken = resident(), 0.0
    copies = found = wrong = 0
    there: set[int] = set()
    article_at: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        where = folder if place == "directory" else "memory:"
        with NearDuplicateFilter.open(where, frame_memory=frame_memory) as index:
            for page in pages(hosts):
                started = time.process_time()
                verdict = index.see(page.url, html=page.html)
                taken += time.process_time() - started
                copies += page.article in there
                if verdict.original is not None:
                    is_right = article_at[verdict.original] == page.article
                    found, wrong = found + is_right, wrong + (not is_right)
                there.add(page.article)
                article_at[page.url] = page.article
            forgotten = index.conductor.forgotten
            grown = resident() - before
    each = taken / (hosts * PAGES_OF_HOST) * 1e3
    return Figures(found / copies, wrong, forgotten, grown / 1e6, each)


def learn(hosts: int, blocks: int, frame_memory: float) -> tuple[float, float, int]:
    """Learn of so many hosts; return what the process grows by, what is told, hosts forgotten."""
    chance, before, forgotten = random.Random(1), resident(), 0
    store, batch = open_store(MEMORY, FilterConfig()), Batch()
    cache = HostCache(store, batch, frame_memory)
    for number in range(hosts):
        shown = [chance.getrandbits(64) for _ in range(blocks)]
        cache.add(f"www.host-{number}.example", FrameUpdate(True, shown))
        forgotten += len(cache.shrink())
        if len(batch.hosts) >= FULL_BATCH:
            store.write(batch)
            batch.clear()
    return (resident() - before) / 1e6, (cache.nbytes + store.memory) / 1e6, forgotten


Result = TypeVar("Result")


def in_new_process(work: Callable[..., Result], *arguments: object) -> Result:
    """Do something in a process of its own, whose memory is then what that takes."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(work, *arguments).result()


def measure_frames(less: int, frame_memory: float) -> Iterator[tuple[str, str, float, str]]:
    """Yield cases, metrics, values and units of frames that are learnt of directly."""
    for hosts, blocks in ((100_000, 200), (1_000_000, 50), (1_000_000, 200)):
        case = f"{hosts // less:,} hosts of {blocks} blocks"
        grown, told, forgotten = in_new_process(learn, hosts // less, blocks, frame_memory / less)
        yield case, "resident", grown, "MB"
        yield case, "nbytes", told, "MB"
        yield case, "hosts forgotten", forgotten, ""


def measure_crawls(
    less: int, frame_memory: float, hosts: list[int], places: list[str]
) -> Iterator[tuple[str, str, float, str]]:
    """Yield cases, metrics, values and units of crawls."""
    for count in (each // less for each in hosts):
        for place in places:
            found = in_new_process(crawl, count, place, frame_memory / less)
            case = f"{count:,} hosts, {place}"
            yield case, "recall", found.recall, ""
            yield case, "wrong", found.wrong, "pages"
            yield case, "hosts forgotten", found.forgotten, ""
            yield case, "resident", found.megabytes, "MB"
            yield case, "time", found.milliseconds, "ms/page"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    places = ["memory", "directory"]
    parser.add_argument("--hosts", type=int, nargs="+", default=[500, 1_500, 3_000, 10_000])
    parser.add_argument("--place", nargs="+", choices=places, default=places)
    parser.add_argument("--frame-memory", type=float, default=FilterConfig.frame_memory)
    parser.add_argument("--frames", action="store_true", help="the frames alone: their memory")
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the hosts, and of the memory"
    )
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    less = 10 if given.quick else 1
    if given.frames:
        figures = measure_frames(less, given.frame_memory)
    else:
        figures = measure_crawls(less, given.frame_memory, given.hosts, given.place)
    for each in figures:
        figure(*each, as_json=given.json)


if __name__ == "__main__":
    main()
