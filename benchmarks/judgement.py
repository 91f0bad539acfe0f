"""Judge labelled documents and pages, and compare every verdict with the truth.

    python benchmarks/judgement.py FOLDER [--by kind] [--json] [--sets NAME ...]

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
from pathlib import Path
from typing import Any

from stream_score import Labels, Score, score, score_by

from dedup_filter import NearDuplicateFilter

WHERE = """give a folder with labelled sets (see the head of this file for their format). Data
to make such sets from: manuals in several releases (Debian documentation packages, `apt-get
download python3.13-doc`), terms and policies over the years (OpenTermsArchive, contrib-versions),
frames of real pages with their main content marked (Web Content Extraction Benchmark)."""

DISTANCES = (3, 7, 8, 10, 12)
RECIPES = ("content", "shingles", "words", "keywords")
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}

Row = dict[str, str]
Judge = Callable[[list[Row]], dict[str, str]]


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

    def judge(rows: list[Row]) -> dict[str, str]:
        originals = {}
        with NearDuplicateFilter.open(**options) as pages:
            ids: dict[str, str] = {}
            for row in rows:
                url = row.get("url", row["id"])
                page = {"html": row["html"]} if "html" in row else {"text": row["text"]}
                verdict = pages.see(url, **page)
                if verdict.original is not None:
                    originals[row["id"]] = ids[verdict.original]
                else:
                    ids[url] = row["id"]
        return originals

    return judge


def shingles_of(row: Row) -> list[str]:
    """Cut a document, or what trafilatura finds on a page, into 3-word shingles."""
    text = row["text"]
    if "html" in row:
        import trafilatura

        text = trafilatura.extract(row["html"]) or ""
    words = re.findall(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+", text.lower())
    return [" ".join(words[i : i + 3]) for i in range(max(len(words) - 2, 1))]


def by_simhash(rows: list[Row]) -> dict[str, str]:
    """Judge by PyPI simhash: the classic recipe."""
    from simhash import Simhash, SimhashIndex

    index, originals = SimhashIndex([], k=3), {}
    for row in rows:
        fingerprint = Simhash(shingles_of(row))
        found = index.get_near_dups(fingerprint)
        if found:
            originals[row["id"]] = found[0]
        else:
            index.add(row["id"], fingerprint)
    return originals


def by_minhash(rows: list[Row]) -> dict[str, str]:
    """Judge by datasketch's MinHash LSH."""
    from datasketch import MinHash, MinHashLSH

    index, originals = MinHashLSH(threshold=0.7, num_perm=128), {}
    for row in rows:
        sketch = MinHash(num_perm=128)
        sketch.update_batch([shingle.encode() for shingle in set(shingles_of(row))])
        found = index.query(sketch)
        if found:
            originals[row["id"]] = found[0]
        else:
            index.insert(row["id"], sketch)
    return originals


def judges(is_pages: bool, recipes: list[str], distances: list[int]) -> Iterator[tuple[str, Judge]]:
    """Name every way of judging, and the function that does it."""
    for recipe in recipes:
        for k in distances:
            options = {"features": recipe, "max_distance": k}
            yield f"{recipe} k={k}", ours(**options)
            yield f"{recipe} k={k} unconfirmed", ours(**options, min_similarity=None)
            if is_pages:
                yield f"{recipe} k={k} no frames", ours(**options, learn_frames=False)
    before = "trafilatura + " if is_pages else ""
    peers = {"simhash": by_simhash, "datasketch": by_minhash}
    for name, judge in peers.items():
        if find_spec(name) and (not is_pages or find_spec("trafilatura")):
            yield f"{before}{name}", judge


def report(case: str, figures: Score, seconds: float | None, as_json: bool) -> None:
    """Print the figures of one case."""
    rows: dict[str, tuple[float, str]] = {
        "precision": (round(figures.precision, 4), "share"),
        "recall": (round(figures.recall, 4), "share"),
        "f1": (round(figures.f1, 4), "share"),
        "wrong": (figures.wrong, "pages"),
    }
    if seconds is not None:
        rows["time"] = (round(seconds, 2), "s")
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
    parser.add_argument("--by", help="a field of the pages to break the figures down by")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.folder is None:
        sys.exit(WHERE)
    for labelled in read_sets(options.folder, options.sets):
        stream = [row["id"] for row in labelled.rows]
        for name, judge in judges(labelled.is_pages, options.recipes, options.distances):
            start = time.process_time()
            originals = judge(labelled.rows)
            seconds = time.process_time() - start
            case = f"{labelled.name}: {name}"
            figures = score(stream, labelled.labels, originals)
            report(case, figures, seconds, options.json)
            if options.by and options.by in labelled.rows[0]:
                kinds = {row["id"]: str(row[options.by]) for row in labelled.rows}
                for kind, of_kind in score_by(kinds, stream, labelled.labels, originals).items():
                    report(f"{case}, {kind}", of_kind, None, options.json)


if __name__ == "__main__":
    main()
