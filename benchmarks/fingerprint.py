"""Time a text on its way to a fingerprint: by recipe, by Chinese dictionary, by other tools.

    python benchmarks/fingerprint.py [--json] [--most TEXTS] FOLDER_OR_FILE

A recipe's time holds everything from the normal form to the fingerprint and the sketch. Other
tools (the extra "bench") get the text as it is: PyPI's simhash with its own features, and
datasketch's MinHash (128 permutations) of runs of three words or Chinese characters. Quote
ratios within one run.
"""

import argparse
import re
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from corpus import read_texts
from stopwatch import figure, milliseconds

from dedup_filter.config import FilterConfig
from dedup_filter.features.recipes import RECIPES
from dedup_filter.features.tokens import Cutter, jieba_cutter, rjieba_cutter
from dedup_filter.fingerprints.profile import profile
from dedup_filter.fingerprints.read_page import ReadPage, texts_of
from dedup_filter.model import Document
from dedup_filter.text.plain_text import normalize

WORDS_OF_SHINGLE = 3
WORDS = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+")
HAN_RUNS = re.compile("[\u4e00-\u9fff]+")


def by_recipe(name: str) -> Callable[[str], object]:
    """Return what this library does with a text."""
    config = FilterConfig(features=name)
    return lambda text: profile(texts_of(ReadPage.of(Document(text), config)), config)


def by_simhash() -> Callable[[str], object]:
    """Return PyPI's simhash, as it comes."""
    from simhash import Simhash

    def fingerprint(text: str) -> None:
        # With numpy 2 it fails where a feature occurs more than 255 times.
        with suppress(OverflowError):
            Simhash(text)

    return fingerprint


def by_minhash() -> Callable[[str], object]:
    """Return datasketch's MinHash of the words' runs."""
    from datasketch import MinHash

    def sketch(text: str) -> object:
        words = WORDS.findall(text)
        runs = zip(*(words[start:] for start in range(WORDS_OF_SHINGLE)), strict=False)
        minhash = MinHash(num_perm=128)
        minhash.update_batch({" ".join(run).encode() for run in runs})
        return minhash

    return sketch


PEERS = {"simhash": by_simhash, "datasketch": by_minhash}
CUTTERS = {"jieba": jieba_cutter, "rjieba": rjieba_cutter}


def cut_all(cutter: Cutter) -> Callable[[list[str]], object]:
    """Return what cuts the Chinese runs of a text."""
    return lambda runs: list(map(cutter, runs))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, nargs="?", help="text files, or lines with a field text")
    parser.add_argument("--most", type=int, default=300, help="texts to measure (300)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    texts = read_texts(options.data, options.most)
    length = sum(map(len, texts)) / len(texts)
    figure("sample", "mean text", length, "characters", as_json=options.json)

    def show(case: str, name: str, time: float) -> None:
        figure(case, name, time, "ms/text", as_json=options.json)

    for name in RECIPES:
        by_recipe(name)(texts[0])  # loads dictionaries and stopwords
        show("recipe", name, milliseconds(by_recipe(name), texts))
    runs = [HAN_RUNS.findall(normalize(text)) for text in texts]
    for name, load in CUTTERS.items():
        if any(runs) and find_spec(name):
            show("Chinese words", name, milliseconds(cut_all(load()), runs))
    for name, make in PEERS.items():
        if find_spec(name):
            show("peer", name, milliseconds(make(), texts))


if __name__ == "__main__":
    main()
