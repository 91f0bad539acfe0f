"""Time a page from its bytes to its verdict: beside lxml, by size, by step, and by other tools.

    python benchmarks/page.py [--json] [--most PAGES] [--f1] FOLDER_OR_FILE ...
    python benchmarks/page.py [--json] [--pages 100] --sizes 2 8 30 100 500

What lxml alone takes to build a page's tree and to free it bounds all that works with that tree.
Quote ratios within one run, of more than 64 pages: the library remembers so many that it read last,
and would find them again in the next round. The steps are shares of the CPU time of the whole: each
millisecond a sample is taken of where in the library it is.

Other tools (the extra "bench") do the nearest they can: extract the main text, then ask an index of
simhash fingerprints for those within 3 bits. With --f1 each also judges all pages of the labelled
sets among the files (of the form that the head of `labelled_sets` describes) in stream order, for
how often it is right counts beside its speed.

With --sizes pages of so many KB are made, all different, on nine sites with a menu and a footer.
Sixty pages, by which the sites become known, are not counted. The words of "ordinary" pages are
drawn from 60,000 by a Zipf law; "formulaic" ones have 250 words, as reports of one kind have, so
that each page shares phrases with many. Of all rounds the quickest counts, because other work makes
a round slower, never quicker. "Fixed" and "each 1,000 words" are a line through all sizes.
"""

import argparse
import signal
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from random import Random
from types import FrameType
from typing import NamedTuple

import numpy as np
from changing_sites import Markup, Site, Texts
from corpus import Page, read_pages
from labelled_sets import LabelledSet, read_sets
from lxml import etree
from made_words import Words
from stopwatch import figure, milliseconds
from stream_score import score

from dedup_filter import NearDuplicateFilter

Judge = Callable[[Page], str | None]
"""A page -> the URL of the page that it repeats; None: it is new."""

HTML_PARSER = etree.HTMLParser(encoding="utf-8", huge_tree=True, collect_ids=False)
SAMPLED = 0.001
"""Seconds of CPU time between two samples."""
STEPS = {
    "": "rest",
    "text": "blocks",
    "text.decode": "parse",
    "features": "words",
    "features.analysis.hash_shingles": "shingles",
    "features.recipes": "shingles",
    "fingerprints": "measures",
    "fingerprints.read_page": "words",
    "fingerprints.sketch.simhash": "simhash",
    "frames": "frame of the host",
    "host_cache": "frame of the host",
    "hamming": "look-up",
    "store.key_table": "look-up",
    "store.page_index": "look-up",
    "comparison": "comparison",
    "store": "record",
}
"""What modules and functions of the library do; of several the longest name counts."""
WITH_ALL_BELOW = ("record", "look-up", "comparison")
"""Steps that what they call belongs to, too, whatever it is."""
SITES, KNOWN, KNOWN_SIZE = 9, 60, 8
"""Sites, and the pages of so many KB by which they become known."""
FEWEST, MOST = 12, 6_000
"""Pages of a size at least, and KB of all pages of a size at most if there are more."""
VOCABULARIES = {"ordinary": 60_000, "formulaic": 250}


@contextmanager
def sampled() -> Iterator[Counter[str]]:
    """Count in which step of the library the program is, at even distances of CPU time."""
    steps: Counter[str] = Counter()

    def sample(_: int, frame: FrameType | None) -> None:
        names = [*_steps_of(frame)]
        if names:
            steps[next((each for each in WITH_ALL_BELOW if each in names), names[0])] += 1

    before = signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, SAMPLED, SAMPLED)
    try:
        yield steps
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _steps_of(frame: FrameType | None) -> Iterator[str]:
    """Yield the steps of the library that a stack is in, the innermost first."""
    while frame is not None:
        package, _, module = frame.f_globals["__name__"].partition(".")
        if package == "dedup_filter":
            name = f"{module}.{frame.f_code.co_name}"
            yield STEPS[max((each for each in STEPS if name.startswith(each)), key=len)]
        frame = frame.f_back


def made_pages(
    kind: str, kilobytes: float, count: int, folder: str = ""
) -> tuple[list[Page], float]:
    """Make pages of so many KB; return them and their mean number of words.

    Pages in another folder of their sites have other texts.
    """
    words, chance = (
        Words(VOCABULARIES[kind]),
        np.random.default_rng([int(kilobytes * 1000), len(folder)]),
    )
    sites = [_site(number, words) for number in range(SITES)]
    pages, total = [], 0
    for number in range(count):
        site, paragraphs, length = sites[number % SITES], list[str](), 0
        # What stands around the text is measured by a page without any.
        frame = len(site.page("", ""))
        while not paragraphs or frame + length < kilobytes * 1000:
            paragraphs += words.paragraphs(chance, 60)
            length = len(site.markup.body(tuple(paragraphs)))
        html = site.page(words.line(chance, 6), site.markup.body(tuple(paragraphs)))
        pages.append(Page(f"https://{site.host}/{folder}{kilobytes:g}/{number}", html.encode()))
        total += sum(len(each.split()) for each in paragraphs)
    return pages, total / count


def _site(number: int, words: Words) -> Site:
    chance, drawn = Random(number), np.random.default_rng(number)
    site = Site(f"www.site{number}.example", Texts("en", [], chance), Markup(chance, has_menu=True))
    site.menu = [words.line(drawn, 2) for _ in range(12)]
    return site


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


class Cost(NamedTuple):
    """Milliseconds a page."""

    lxml_alone: float
    whole: float


def measure(pages: list[Page], known: Iterable[Page] = ()) -> Cost:
    """Let lxml parse each page, then judge it; the known pages come before, and are not counted."""
    parse, judge = tree_alone(), ours()
    for page in known:
        judge(page)
    taken = [0.0, 0.0]
    for page in pages:
        for number, work in enumerate((parse, judge)):
            started = time.process_time()
            work(page)
            taken[number] += time.process_time() - started
    return Cost(*(seconds / len(pages) * 1e3 for seconds in taken))


def shares(pages: list[Page], known: Iterable[Page] = ()) -> dict[str, float]:
    """Return the share of each step in the time of the library, the largest first."""
    judge = ours()
    for page in known:
        judge(page)
    with sampled() as steps:
        for page in pages:
            judge(page)
    return {name: number / steps.total() for name, number in steps.most_common()}


def by_size(sizes: list[float], count: int, rounds: int) -> Iterator[tuple[str, str, float, str]]:
    """Yield cases, metrics, values and units of made pages."""
    for kind in VOCABULARIES:
        known, _ = made_pages(kind, KNOWN_SIZE, KNOWN, "known/")
        made = [made_pages(kind, each, max(FEWEST, min(count, int(MOST / each)))) for each in sizes]
        costs = [[measure(pages, known) for pages, _ in made] for _ in range(rounds)]
        least = [Cost(*map(min, zip(*each, strict=True))) for each in zip(*costs, strict=True)]
        for size, (pages, words), cost in zip(sizes, made, least, strict=True):
            case = f"{kind}, {size:g} KB"
            yield case, "words", words, ""
            yield case, "lxml alone", cost.lxml_alone, "ms/page"
            yield case, "dedup_filter", cost.whole, "ms/page"
            yield case, "times lxml alone", cost.whole / cost.lxml_alone, ""
            for step, share in shares(pages, known).items():
                yield case, step, share * cost.whole, "ms/page"
        if len(sizes) > 1:
            # Each size has the same weight, so the smallest decide the fixed part.
            times = np.array([cost.whole for cost in least])
            slope, fixed = np.polyfit([words / 1000 for _, words in made], times, 1, w=1 / times)
            yield kind, "fixed", fixed, "ms/page"
            yield kind, "each 1,000 words", slope, "ms"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path, nargs="*", help="HTML files, or lines with a field html")
    parser.add_argument("--sizes", type=float, nargs="+", help="KB of pages that are made instead")
    parser.add_argument("--pages", type=int, default=100, help="of each size (100)")
    parser.add_argument("--most", type=int, default=300, help="pages of each to measure (300)")
    parser.add_argument("--rounds", type=int, default=3, help="of all measures (3)")
    parser.add_argument("--f1", action="store_true", help="of the labelled sets, too")
    parser.add_argument("--only", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.sizes:
        _load_dictionaries(made_pages("ordinary", 8, 1)[0][0])
        for each in by_size(options.sizes, options.pages, options.rounds):
            figure(*each, as_json=options.json)
        return
    pages = [page for path in options.data or [None] for page in read_pages(path, options.most)]
    length = sum(len(page.body) for page in pages) / len(pages)
    figure("sample", "pages", len(pages), "", as_json=options.json)
    figure("sample", "mean page", length / 1000, "kB", as_json=options.json)
    _load_dictionaries(pages[0])
    whole = measure(pages).whole
    for step, share in shares(pages).items():
        figure("step", step, share * whole, "ms/page", as_json=options.json)
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
