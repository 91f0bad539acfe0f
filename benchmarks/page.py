"""Time a page from its bytes to its verdict: by step, as a whole, and by other tools.

    python benchmarks/page.py [--json] [--most PAGES] [--f1] FOLDER_OR_FILE ...

The steps are called one after the other as the filter does; the whole is more than their sum,
because a page may be looked at twice and the pages of a host teach its frame. Other tools
(the extra "bench") do the nearest they can: extract the main text, then ask an index of
simhash fingerprints for those within 3 bits. What lxml alone takes to build a page's tree and
to free it bounds all that works with that tree. Quote ratios within one run, of more than 64 pages:
the library remembers so many that it read last, and would find them again in the next round.

With --f1 each also judges all pages of the labelled sets among the files (of the form that the head
of `labelled_sets` describes) in stream order, for how often it is right counts beside its speed.
"""

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from corpus import Page, read_pages
from labelled_sets import LabelledSet, read_sets
from lxml import etree
from stopwatch import figure, milliseconds
from stream_score import score

from dedup_filter import NearDuplicateFilter
from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import profile_of
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.frames.host_frames import no_context
from dedup_filter.hamming.hamming_index import HammingIndex
from dedup_filter.text.blocks import Block, split_blocks
from dedup_filter.text.concealed import read_concealed
from dedup_filter.text.decode import as_utf8, parse
from dedup_filter.text.marked_text import marked_text, parts_of
from dedup_filter.text.reading import Page as TextPage

Judge = Callable[[Page], str | None]
"""A page -> the URL of the page that it repeats; None: it is new."""
Result = TypeVar("Result")

HTML_PARSER = etree.HTMLParser(encoding="utf-8", huge_tree=True, collect_ids=False)


class Stopwatch:
    """Adds up the CPU time of steps that follow one another."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def time(self, step: str, work: Callable[[], Result]) -> Result:
        """Do a step."""
        started = time.thread_time()
        result = work()
        self.seconds[step] += time.thread_time() - started
        return result

    def milliseconds(self, pages: int) -> dict[str, float]:
        """Return what each step took of each of so many pages."""
        return {step: seconds / pages * 1000 for step, seconds in self.seconds.items()}


def time_steps(pages: list[Page], config: FilterConfig) -> dict[str, float]:
    """Return the milliseconds a page that each step takes, one page after the other.

    Each step finds in the processor's caches what the one before has left, as in a crawl.
    """
    watch = Stopwatch()
    find = _index(config)
    for number, page in enumerate(pages):
        markup = watch.time("decode", partial(as_utf8, page.body))
        trees = [watch.time("parse", partial(parse, markup))]
        if trees[0] is None:
            continue
        marked = watch.time("marked text", partial(marked_text, trees[0]))
        watch.time("free the tree", trees.clear)
        blocks = watch.time("blocks", partial(_blocks, marked))
        content = TextPage(blocks)
        watch.time("content", partial(getattr, content, "main"))
        read = watch.time("words", partial(ReadPage.of, content, config))
        context = no_context(read.shown)
        measured = watch.time("profile", partial(profile_of, read, context, config))
        if measured.fingerprint is not None:
            watch.time("index", partial(find, (number, measured.fingerprint)))
    return watch.milliseconds(len(pages))


def _blocks(marked: str) -> list[Block]:
    parts = parts_of(marked)
    cut, _ = read_concealed(parts, split_blocks(parts.visible))
    return [block for block in cut.blocks if block.kind != "title"]


def _index(config: FilterConfig) -> Callable[[tuple[int, int]], None]:
    index = HammingIndex(config.max_distance)

    def look_up_and_add(entry: tuple[int, int]) -> None:
        row, fingerprint = entry
        index.within(fingerprint)
        index.add(fingerprint, row)

    return look_up_and_add


def tree_alone() -> Judge:
    """Return lxml, which builds a page's tree and frees it: what no verdict can do without."""

    def judge(page: Page) -> None:
        etree.fromstring(page.body, HTML_PARSER)

    return judge


def ours() -> Judge:
    """Return the whole of this library, with an empty index."""
    pages = NearDuplicateFilter.open()

    def judge(page: Page) -> str | None:
        verdict = pages.see(page.url, html=page.body)
        return verdict.original if verdict.is_duplicate else None

    return judge


def trafilatura_and_simhash() -> Judge:
    """Return trafilatura's main text, judged by PyPI's simhash."""
    import trafilatura

    judge = _simhash()
    return lambda page: judge(page.url, trafilatura.extract(page.body) or "")


def resiliparse_and_simhash() -> Judge:
    """Return resiliparse's main text, judged by PyPI's simhash."""
    judge = _simhash()
    return lambda page: judge(page.url, _resiliparse_text(page.body))


def resiliparse_and_gaoya() -> Judge:
    """Return resiliparse's main text, judged by gaoya."""
    from gaoya.simhash import SimHashStringIndex

    index = SimHashStringIndex(hash_size=64, num_blocks=4, hamming_distance=3)
    urls: list[str] = []

    def judge(page: Page) -> str | None:
        text = _resiliparse_text(page.body)
        found: list[int] = index.query(text)
        if found:
            return urls[found[0]]
        index.insert_document(len(urls), text)
        urls.append(page.url)
        return None

    return judge


def _resiliparse_text(body: bytes) -> str:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    text: str = extract_plain_text(
        bytes_to_str(body, detect_encoding(body) or "utf-8"), main_content=True
    )
    return text


def _load_dictionaries(page: Page) -> None:
    pages = NearDuplicateFilter.open()
    pages.see(page.url, html=page.body)
    # An English page may quote Chinese, too.
    pages.see("", text="今天我们来看一看怎样判断两个网页是不是重复的。" * 9)


def _simhash() -> Callable[[str, str], str | None]:
    from simhash import Simhash, SimhashIndex

    index = SimhashIndex([], k=3)

    def judge(url: str, text: str) -> str | None:
        # With numpy 2 it fails where a feature occurs more than 255 times.
        with suppress(OverflowError):
            fingerprint = Simhash(text)
            found: list[str] = index.get_near_dups(fingerprint)
            if found:
                return found[0]
            index.add(url, fingerprint)
        return None

    return judge


PEERS: dict[str, tuple[Callable[[], Judge], tuple[str, ...]]] = {
    "lxml, the tree alone": (tree_alone, ()),
    "dedup_filter": (ours, ()),
    "trafilatura + simhash": (trafilatura_and_simhash, ("trafilatura", "simhash")),
    "resiliparse + simhash": (resiliparse_and_simhash, ("resiliparse", "simhash")),
    "resiliparse + gaoya": (resiliparse_and_gaoya, ("resiliparse", "gaoya")),
}
"""Makers of what judges a page, and the packages that each needs."""


def speed(make: Callable[[], Judge], pages: list[Page], rounds: int) -> float:
    """Return how many pages a second are judged, the median of rounds that each begin anew."""
    times = [milliseconds(make(), pages, rounds=1) for _ in range(rounds)]
    return 1000 / statistics.median(times)


def f1(make: Callable[[], Judge], labelled: LabelledSet) -> float:
    """Return the stream F1 of a labelled set of pages."""
    judge = make()
    ids: dict[str, str] = {}
    originals: dict[str, str] = {}
    for row in labelled.rows:
        page = Page(row["url"], row["html"].encode("utf-8", "replace"))
        original = judge(page)
        if original is None:
            ids[page.url] = row["id"]
        else:
            originals[row["id"]] = ids[original]
    return score([row["id"] for row in labelled.rows], labelled.labels, originals).f1


def _labelled(paths: list[Path]) -> Iterator[LabelledSet]:
    for path in paths:
        if ".pages." in path.name:
            yield from read_sets(path.parent, [path.name.partition(".")[0]])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, nargs="*", help="HTML files, or lines with a field html")
    parser.add_argument("--most", type=int, default=300, help="pages of each to measure (300)")
    parser.add_argument("--rounds", type=int, default=3, help="of which the median counts (3)")
    parser.add_argument("--f1", action="store_true", help="of the labelled sets, too")
    parser.add_argument("--only", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    pages = [page for path in options.data or [None] for page in read_pages(path, options.most)]
    length = sum(len(page.body) for page in pages) / len(pages)
    figure("sample", "pages", len(pages), "", as_json=options.json)
    figure("sample", "mean page", length / 1000, "kB", as_json=options.json)
    _load_dictionaries(pages[0])
    for step, taken in time_steps(pages, FilterConfig()).items():
        figure("step", step, taken, "ms/page", as_json=options.json)
    for name in options.only:
        make, packages = PEERS[name]
        if all(map(find_spec, packages)):
            found = speed(make, pages, options.rounds)
            figure("bytes to verdict", name, found, "pages/s", as_json=options.json)
            judges = options.f1 and make is not tree_alone
            for labelled in _labelled(options.data) if judges else ():
                figure(f"F1, {labelled.name}", name, f1(make, labelled), "", as_json=options.json)


if __name__ == "__main__":
    main()
