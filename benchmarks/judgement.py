"""Judge labelled documents and pages, and compare every verdict with the truth.

    python benchmarks/judgement.py FOLDER [--by kind] [--json] [--sets NAME ...]
        [--recipes shingles] [--distances 10] [--options title_weight=5 ...]
    python benchmarks/judgement.py FOLDER --crawlers 1 2 4 8 [--share-frames] [--shuffles 5]
        [--sets NAME ...]
    python benchmarks/judgement.py FOLDER --recipes content --distances 12 --ads window shingle off
    python benchmarks/judgement.py [FOLDER] --advertisements [--sets NAME ...]

The folder holds sets of the form that the head of `labelled_sets` describes.

Every recipe and k; without confirmation; on pages without frames, too. `--options workers=2` must
change no figure. Peers run on the same
documents where they are installed (`pip install simhash datasketch trafilatura`): simhash of
3-word shingles with k = 3, MinHash LSH of the same shingles at 0.7, both on pages after
trafilatura. A text set takes half a minute a recipe, a page set a minute.

With --ads only the recipes are judged, by each of the rules that take shingles for advertisements.

With --crawlers only page sets are judged, by so many crawlers that share what was kept (`crawlers`)
and, with --share-frames, what hosts have shown: all pages, those of small and of large hosts, those
with an earlier near-duplicate on their host; and bytes that a page adds to its host. Of several
shuffles the one with the median F1 is shown. Four counts take a minute and a half a set.

With --advertisements nothing is judged: shown is which share of the shingles of call-to-action
lines, menus and product lists is taken for advertisements and, where a folder is given, of the text
sets' documents and of their paragraphs.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from statistics import mean, quantiles
from typing import Any, NamedTuple

from advertisements import ADVERTISEMENTS, dropped, paragraphs
from crawlers import DealtStream, Traffic, middle
from labelled_sets import LabelledSet, Row, read_sets
from stream_score import Score, score, score_by

from dedup_filter import NearDuplicateFilter
from dedup_filter.config import FilterConfig
from dedup_filter.features.analysis import ADS

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
    if asked.ads:
        for recipe, k, ads in product(asked.recipes, asked.distances, asked.ads):
            judge = ours(features=recipe, max_distance=k, ads=ads, **more)
            yield " ".join([f"{recipe} k={k} ads={ads}", *asked.options]), judge
        return
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


def compare_crawlers(labelled: LabelledSet, asked: argparse.Namespace) -> None:
    """Deal a set to crawlers, and print how they did together."""
    stream = DealtStream(
        labelled.rows,
        labelled.labels,
        FilterConfig.of(options_of(asked)),
        shares_frames=asked.share_frames,
    )
    for case, groups in stream.scores(asked.crawlers, asked.shuffles):
        for group, scores in groups.items():
            rows = metrics(middle(scores))
            rows["least_f1"] = (round(min(each.f1 for each in scores), 4), "share")
            report(f"{labelled.name}: {case}, {group}", rows, asked.json)
        if asked.share_frames:
            report(f"{labelled.name}: {case}, exchange", exchanged(stream.traffic), asked.json)
    for what, sizes in stream.update_sizes().items():
        p95 = quantiles(sizes, n=20)[-1]
        rows = {"mean": (round(mean(sizes)), "bytes"), "p95": (round(p95), "bytes")}
        report(f"{labelled.name}: {what}", rows, asked.json)


def exchanged(traffic: Traffic) -> Metrics:
    """List what the exchange of frames took for a page."""
    counts = asdict(traffic)
    pages = counts.pop("pages")
    return {
        name: (round(count / pages, 2), "bytes a page" if "bytes" in name else "a page")
        for name, count in counts.items()
    }


def show_advertisements(sets: Iterable[LabelledSet], as_json: bool) -> None:
    """Print which share of shingles is taken for advertisements."""
    for language, kinds in ADVERTISEMENTS.items():
        for kind, lines in kinds.items():
            report(f"{language}: {kind}", taken(*dropped(lines, language)), as_json)
        every_line = [line for lines in kinds.values() for line in lines]
        report(f"{language}: all", taken(*dropped(every_line, language)), as_json)
    for labelled in sets:
        if not labelled.is_pages:
            texts = [row["text"] for row in labelled.rows]
            report(f"{labelled.name}: documents", taken(*dropped(texts)), as_json)
            prose = paragraphs(texts)
            report(f"{labelled.name}: paragraphs", taken(*dropped(prose)), as_json)


def taken(share: float, shingles: int) -> Metrics:
    """List how much is taken for advertisements."""
    return {"dropped": (round(share, 3), "share"), "shingles": (shingles, "shingles")}


def at_least_one(given: str) -> int:
    """Read how many."""
    number = int(given)
    if number < 1:
        raise argparse.ArgumentTypeError(f"at least 1 is needed, not {number}")
    return number


def main() -> None:
    """Read, judge, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], epilog=WHERE)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--sets", nargs="+", default=[], help="only the sets of these names")
    parser.add_argument("--recipes", nargs="+", choices=RECIPES, default=list(RECIPES))
    parser.add_argument("--distances", nargs="+", type=int, default=list(DISTANCES))
    parser.add_argument("--options", nargs="+", default=[], help="of the filter: name=value")
    parser.add_argument("--ads", nargs="+", choices=ADS, help="rules to compare")
    parser.add_argument("--by", help="a field of the pages to break the figures down by")
    parser.add_argument("--crawlers", nargs="+", type=at_least_one, help="how many share an index")
    parser.add_argument("--share-frames", action="store_true", help="what hosts show, too")
    parser.add_argument(
        "--shuffles", type=at_least_one, default=5, help="ways to deal pages to crawlers"
    )
    parser.add_argument(
        "--advertisements", action="store_true", help="only: what is taken for advertisements"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.advertisements:
        sets = read_sets(options.folder, options.sets) if options.folder else []
        show_advertisements(sets, options.json)
        return
    if options.folder is None:
        sys.exit(WHERE)
    for labelled in read_sets(options.folder, options.sets):
        if not options.crawlers:
            compare_judges(labelled, options)
        elif labelled.is_pages:
            compare_crawlers(labelled, options)


if __name__ == "__main__":
    main()
