"""Judge labelled documents and pages, and compare every verdict with the truth.

    python benchmarks/judgement.py FOLDER [--by kind] [--json] [--sets NAME ...]
        [--recipes shingles] [--distances 10] [--options title_weight=5 ...]

Text sets: NAME.docs.jsonl.gz (a line: id, text) and NAME.pairs.tsv.gz (first columns id_a, id_b,
last column the label: dup, grey or non), seen as texts in shuffled order. Page sets:
NAME.pages.jsonl.xz (a line: id, url, html, and any field to break figures down by) and
NAME.pairs.tsv, seen as pages in the order of the file.

Every recipe and k; without confirmation; on pages without frames, too. Peers run on the same
documents where they are installed (`pip install simhash datasketch trafilatura`): simhash of
3-word shingles with k = 3, MinHash LSH of the same shingles at 0.7, both on pages after
trafilatura. A text set takes half a minute a recipe, a page set a minute.
"""

import argparse
import gzip
import json
import lzma
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from stream_score import Labels, Score, score, score_by

from dedup_filter import NearDuplicateFilter

WHERE = """give a folder with labelled sets (see the head of this file for their format). Data
to make such sets from: manuals in several releases (Debian documentation packages, `apt-get
download python3.13-doc`), terms and policies over the years (OpenTermsArchive, contrib-versions),
frames of real pages with their main content marked (Web Content Extraction Benchmark)."""

DISTANCES = (3, 7, 8, 10, 12)
RECIPES = ("content", "shingles", "words", "keywords")
VARIANTS: dict[str, dict[str, Any]] = {
    "": {},
    " unconfirmed": {"min_similarity": None},
    " no frames": {"learn_frames": False},
}
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}

Row = dict[str, str]


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


@dataclass
class LabelledSet:
    """Documents or pages in stream order, and which of them are near-duplicates."""

    name: str
    rows: list[Row]
    labels: Labels
    is_pages: bool


def lines(path: Path) -> Iterator[str]:
    """Read the lines of a file that may be compressed."""
    with OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8") as file:
        yield from file


def read_sets(folder: Path, names: list[str]) -> Iterator[LabelledSet]:
    """Read the sets of a folder, all or those named."""
    for path in sorted([*folder.glob("*.docs.jsonl.gz"), *folder.glob("*.pages.jsonl.xz")]):
        name = path.name.split(".")[0]
        if names and name not in names:
            continue
        is_pages = ".pages." in path.name
        rows = [json.loads(line) for line in lines(path)]
        if not is_pages:
            random.Random(1).shuffle(rows)
        pairs = lines(folder / f"{name}.pairs.tsv{'' if is_pages else '.gz'}")
        next(pairs)
        cut = (line.rstrip("\n").split("\t") for line in pairs)
        yield LabelledSet(name, rows, Labels((c[0], c[1], c[-1]) for c in cut), is_pages)


def ours(**options: Any) -> Judge:
    """Judge by this library."""

    def judge(rows: list[Row]) -> Judged:
        originals, candidates = {}, 0
        with NearDuplicateFilter.open(**options) as pages:
            ids: dict[str, str] = {}
            for row in rows:
                url = row.get("url", row["id"])
                page = {"html": row["html"]} if "html" in row else {"text": row["text"]}
                verdict = pages.see(url, **page)
                candidates += verdict.candidates
                if verdict.original is not None:
                    originals[row["id"]] = ids[verdict.original]
                else:
                    ids[url] = row["id"]
        return Judged(originals, candidates)

    return judge


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


def judges(is_pages: bool, asked: argparse.Namespace) -> Iterator[tuple[str, Judge]]:
    """Name every way of judging, and the function that does it."""
    more = dict(option.split("=") for option in asked.options)
    for recipe, k, variant in product(asked.recipes, asked.distances, VARIANTS):
        options = {name: json.loads(value) for name, value in more.items()} | VARIANTS[variant]
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
        stream = [row["id"] for row in labelled.rows]
        for name, judge in judges(labelled.is_pages, options):
            start = time.process_time()
            originals, candidates = judge(labelled.rows)
            seconds = time.process_time() - start
            case = f"{labelled.name}: {name}"
            rows = metrics(score(stream, labelled.labels, originals))
            if candidates is not None:
                rows["candidates"] = (round(candidates / len(stream), 3), "a page")
            rows["time"] = (round(seconds, 2), "s")
            report(case, rows, options.json)
            if options.by and options.by in labelled.rows[0]:
                kinds = {row["id"]: str(row[options.by]) for row in labelled.rows}
                for kind, of_kind in score_by(kinds, stream, labelled.labels, originals).items():
                    report(f"{case}, {kind}", metrics(of_kind), options.json)


if __name__ == "__main__":
    main()
