"""Judge labelled documents and pages, and compare every verdict with the truth.

    python benchmarks/judgement.py FOLDER [--by kind] [--json] [--sets NAME ...]
        [--recipes shingles] [--distances 10] [--options title_weight=5 ...]

The folder holds sets of the form that the head of `labelled_sets` describes.

It is judged by every recipe and k; without confirmation; and, if it has pages, without frames.
`--options workers=2` must change no figure. Peers judge the same documents where they are installed
(`pip install simhash datasketch trafilatura`): simhash of 3-word shingles with k = 3, and MinHash
LSH of the same shingles at 0.7. Both get the main text that trafilatura extracts from a page. A
text set takes half a minute a recipe, a page set a minute.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from labelled_sets import LabelledSet, Row, read_sets
from stream_score import Score, score, score_by

from dedup_filter import NearDuplicateFilter

WHERE = """give a folder with labelled sets (labelled_sets.py tells of what form). Data to make such
sets from: manuals in several releases (Debian documentation packages, `apt-get
download python3.13-doc`), terms and policies over the years (OpenTermsArchive, contrib-versions),
frames of real pages with their main content marked (Web Content Extraction Benchmark)."""

DISTANCES = (3, 7, 8, 10, 12)
RECIPES = ("content", "shingles", "words", "keywords")
VARIANTS: dict[str, dict[str, Any]] = {
    "": {},
    " unconfirmed": {"min_similarity": None},
    " no frames": {"learn_frames": False},
}


class Judged(NamedTuple):
    """What a run found: the original of each dropped page, and how many pages it looked at."""

    originals: dict[str, str]
    candidates: int | None = None
    """Stored pages within k bits, over all pages; chance ones grow with the index."""


Judge = Callable[[list[Row]], Judged]
Metrics = dict[str, tuple[float, str]]
Fingerprint = Callable[[list[str]], Any]
Find = Callable[[Any], list[str]]
Add = Callable[[str, Any], None]


def ours(**options: Any) -> Judge:
    """Judge by this library."""

    def judge(rows: list[Row]) -> Judged:
        originals, candidates = {}, 0
        with NearDuplicateFilter.open(**options) as pages:
            ids: dict[str, str] = {}
            for row, verdict in zip(rows, pages.see_many(map(_page, rows)), strict=True):
                candidates += verdict.candidates
                if verdict.original is not None:
                    originals[row["id"]] = ids[verdict.original]
                else:
                    ids[row.get("url", row["id"])] = row["id"]
        return Judged(originals, candidates)

    return judge


def _page(row: Row) -> dict[str, Any]:
    """Return the arguments of `see`."""
    given = "html" if "html" in row else "text"
    return {"url": row.get("url", row["id"]), given: row[given]}


def shingles_of(row: Row) -> list[str]:
    """Cut a document, or what trafilatura finds on a page, into 3-word shingles."""
    text = row["text"]
    if "html" in row:
        import trafilatura

        text = trafilatura.extract(row["html"]) or ""
    words = re.findall(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+", text.lower())
    return [" ".join(words[i : i + 3]) for i in range(max(len(words) - 2, 1))]


def by_simhash() -> tuple[Fingerprint, Find, Add]:
    """Judge by PyPI simhash (simhash-pybind has a module of the same name): the classic recipe."""
    from simhash import Simhash, SimhashIndex

    index = SimhashIndex([], k=3)
    return Simhash, index.get_near_dups, index.add


def by_minhash() -> tuple[Fingerprint, Find, Add]:
    """Judge by datasketch's MinHash LSH."""
    from datasketch import MinHash, MinHashLSH

    def sketch(shingles: list[str]) -> Any:
        made = MinHash(num_perm=128)
        made.update_batch([shingle.encode() for shingle in set(shingles)])
        return made

    index = MinHashLSH(threshold=0.7, num_perm=128)
    return sketch, index.query, index.insert


PEERS = {"simhash": by_simhash, "datasketch": by_minhash}


def theirs(peer: Callable[[], tuple[Fingerprint, Find, Add]]) -> Judge:
    """Judge by another library: the first page that its index finds is the original."""

    def judge(rows: list[Row]) -> Judged:
        fingerprint, find, add = peer()
        originals = {}
        for row in rows:
            made = fingerprint(shingles_of(row))
            found = find(made)
            if found:
                originals[row["id"]] = found[0]
            else:
                add(row["id"], made)
        return Judged(originals)

    return judge


def options_of(asked: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the filter that are asked for."""
    options = (option.split("=") for option in asked.options)
    return {name: json.loads(value) for name, value in options}


def judges(is_pages: bool, asked: argparse.Namespace) -> Iterator[tuple[str, Judge]]:
    """Name every way of judging, and the function that does it."""
    more = options_of(asked)
    for recipe, k, variant in product(asked.recipes, asked.distances, VARIANTS):
        options = more | VARIANTS[variant]
        if is_pages or "learn_frames" not in options:
            name = " ".join([f"{recipe} k={k}{variant}", *asked.options])
            yield name, ours(features=recipe, max_distance=k, **options)
    before = "trafilatura + " if is_pages else ""
    for name, peer in PEERS.items():
        if find_spec(name) and (not is_pages or find_spec("trafilatura")):
            yield f"{before}{name}", theirs(peer)


def metrics(figures: Score) -> Metrics:
    """List the figures of a score."""
    return {
        "precision": (round(figures.precision, 4), "share"),
        "recall": (round(figures.recall, 4), "share"),
        "f1": (round(figures.f1, 4), "share"),
        "wrong": (figures.wrong, "pages"),
    }


def report(case: str, rows: Metrics, as_json: bool) -> None:
    """Print the figures of one case."""
    if as_json:
        for metric, (value, unit) in rows.items():
            # A kind without duplicates has no recall; NaN is not JSON.
            known = value if value == value else None  # noqa: PLR0124
            print(json.dumps({"case": case, "metric": metric, "value": known, "unit": unit}))
        return
    print(f"{case:48}", "  ".join(f"{name} {value:<7}" for name, (value, _) in rows.items()))


def compare_judges(labelled: LabelledSet, asked: argparse.Namespace) -> None:
    """Judge a set in every way, and print how each did."""
    stream = [row["id"] for row in labelled.rows]
    for name, judge in judges(labelled.is_pages, asked):
        start = time.process_time()
        originals, candidates = judge(labelled.rows)
        seconds = time.process_time() - start
        case = f"{labelled.name}: {name}"
        rows = metrics(score(stream, labelled.labels, originals))
        if candidates is not None:
            rows["candidates"] = (round(candidates / len(stream), 3), "a page")
        rows["time"] = (round(seconds, 2), "s")
        report(case, rows, asked.json)
        if asked.by and asked.by in labelled.rows[0]:
            kinds = {row["id"]: str(row[asked.by]) for row in labelled.rows}
            for kind, of_kind in score_by(kinds, stream, labelled.labels, originals).items():
                report(f"{case}, {kind}", metrics(of_kind), asked.json)


def main() -> None:
    """Read, judge, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], epilog=WHERE)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--sets", nargs="+", default=[], help="only the sets of these names")
    parser.add_argument("--recipes", nargs="+", choices=RECIPES, default=list(RECIPES))
    parser.add_argument("--distances", nargs="+", type=int, default=list(DISTANCES))
    parser.add_argument("--options", nargs="+", default=[], help="of the filter: name=value")
    parser.add_argument("--by", help="a field of the pages to break the figures down by")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.folder is None:
        sys.exit(WHERE)
    for labelled in read_sets(options.folder, options.sets):
        compare_judges(labelled, options)


if __name__ == "__main__":
    main()
