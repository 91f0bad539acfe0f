"""Time a page from its bytes to its verdict: by step, as a whole, and by other tools.

    python benchmarks/page.py [--json] [--most PAGES] FOLDER_OR_FILE

The steps are called one after the other as the filter does; the whole is more than their sum,
because a page may be looked at twice and the pages of a host teach its frame. Other tools
(the extra "bench") do the nearest they can: extract the main text, then ask an index of
simhash fingerprints for those within 3 bits. Quote ratios within one run.
"""

import argparse
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from itertools import count
from pathlib import Path

from corpus import Page, read_pages
from stopwatch import figure, milliseconds

from dedup_filter import NearDuplicateFilter
from dedup_filter.config import FilterConfig
from dedup_filter.index import HammingIndex
from dedup_filter.model import Document
from dedup_filter.profile import profile
from dedup_filter.text import decode, main_content, parse, read_page

Judge = Callable[[Page], object]


def time_steps(pages: list[Page], config: FilterConfig) -> dict[str, float]:
    """Return the milliseconds a page that each step takes."""
    bodies = [page.body for page in pages]
    markups = list(map(decode, bodies))
    trees = [tree for tree in map(parse, markups) if tree is not None]
    taken_apart = list(map(read_page, trees))
    documents = [page.document(main_content(page.blocks)) for page in taken_apart]
    fingerprints = [_profile(document, config) for document in documents]
    return {
        "decode": milliseconds(decode, bodies),
        "parse": milliseconds(parse, markups),
        "blocks": milliseconds(read_page, trees),
        "content": milliseconds(lambda page: main_content(page.blocks), taken_apart),
        "profile": milliseconds(lambda document: _profile(document, config), documents),
        "index": milliseconds(_index(config), enumerate(fingerprints), rounds=1),
    }


def _profile(document: Document, config: FilterConfig) -> int:
    return profile(document, config).fingerprint


def _index(config: FilterConfig) -> Callable[[tuple[int, int]], None]:
    index = HammingIndex(config.max_distance)

    def look_up_and_add(entry: tuple[int, int]) -> None:
        row, fingerprint = entry
        index.within(fingerprint)
        index.add(fingerprint, row)

    return look_up_and_add


def ours() -> Judge:
    """Return the whole of this library, with an empty index."""
    pages = NearDuplicateFilter.open()
    return lambda page: pages.see(page.url, html=page.body)


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
    numbers = count()

    def judge(page: Page) -> None:
        text = _resiliparse_text(page.body)
        if not index.query(text):
            index.insert_document(next(numbers), text)

    return judge


def _resiliparse_text(body: bytes) -> str:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    text: str = extract_plain_text(bytes_to_str(body, detect_encoding(body)), main_content=True)
    return text


def _load_dictionaries(page: Page) -> None:
    pages = NearDuplicateFilter.open()
    pages.see(page.url, html=page.body)
    # An English page may quote Chinese, too.
    pages.see("", text="今天我们来看一看怎样判断两个网页是不是重复的。" * 9)


def _simhash() -> Callable[[str, str], None]:
    from simhash import Simhash, SimhashIndex

    index = SimhashIndex([], k=3)

    def judge(url: str, text: str) -> None:
        # With numpy 2 it fails where a feature occurs more than 255 times.
        with suppress(OverflowError):
            fingerprint = Simhash(text)
            if not index.get_near_dups(fingerprint):
                index.add(url, fingerprint)

    return judge


PEERS: dict[str, tuple[Callable[[], Judge], tuple[str, ...]]] = {
    "dedup_filter": (ours, ()),
    "trafilatura + simhash": (trafilatura_and_simhash, ("trafilatura", "simhash")),
    "resiliparse + simhash": (resiliparse_and_simhash, ("resiliparse", "simhash")),
    "resiliparse + gaoya": (resiliparse_and_gaoya, ("resiliparse", "gaoya")),
}
"""Makers of what judges a page, and the packages that each needs."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, nargs="?", help="HTML files, or lines with a field html")
    parser.add_argument("--most", type=int, default=300, help="pages to measure (300)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    pages = read_pages(options.data, options.most)
    length = sum(len(page.body) for page in pages) / len(pages)
    figure("sample", "mean page", length / 1000, "kB", as_json=options.json)
    _load_dictionaries(pages[0])
    for step, time in time_steps(pages, FilterConfig()).items():
        figure("step", step, time, "ms/page", as_json=options.json)
    for name, (make, packages) in PEERS.items():
        if all(map(find_spec, packages)):
            speed = 1000 / milliseconds(make(), pages, rounds=1)
            figure("bytes to verdict", name, speed, "pages/s", as_json=options.json)


if __name__ == "__main__":
    main()
