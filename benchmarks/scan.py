"""Clean finished crawls by `dedup-filter scan` and by other tools: pages a second, and F1.

    python benchmarks/scan.py FOLDER [--sets NAME ...] [--most PAGES] [--only TOOL ...] [--json]
    python benchmarks/scan.py --memory [LINES ...] [--json]
    python benchmarks/scan.py --warc FOLDER ... [--most PAGES] [--json]

The folder holds labelled sets of the form that the head of `labelled_sets` describes: all English
texts are one input, all Chinese texts another, and so with whole pages. Each tool is a process that
reads a file and writes what it keeps and what it drops, and may use all cores. Rounds take turns;
the medians of each tool are told:

    rate, times     pages a second by the clock, from the start of the process to its end
    cpu, cpu_times  CPU milliseconds a page, of the process and all that it started. Where other
                    programs are at work, these say more
    start           seconds of both for ten pages, which are in the other figures, too
    f1              as in `stream_score`; of a cluster the first page is taken for the original of
                    the others, whichever a tool keeps

Other tools need texts, so whole pages pass through trafilatura or resiliparse first, on all cores.
That counts in their time; "texts" is their rate from the texts on.

Each tool is run as its documentation has it and, "tuned", with what should do best here: datasketch
with the shingles that the truth is made of, more candidates, and the similarity of each estimated;
text-dedup with its quicker hash and a threshold nearer to the truth's. Chinese is given as runs of
characters, to text-dedup, which knows words only, with blanks between them.

Tools that are not installed are left out. The extra "bench" has all but text-dedup, which wants old
versions of what it does not need for this:

    pip install --no-deps text-dedup
    pip install datasets click-option-group bitarray ftfy psutil rich scipy

With --memory inputs of made pages are scanned: told is the most memory that the process, and all
its processes together, have held. With --warc the pages of folders are written as a WARC, scanned,
crawled by the spider `warc`, and judged by `see_many`: the verdicts must be equal. Linux only.
"""

import argparse
import json
import re
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterable
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from judgement import WHERE, Metrics, metrics, report
from labelled_sets import LabelledSet, Row, read_sets
from processes import Command, Cost, run
from scan_checks import compare_verdicts, measure_memory, scan
from scan_peers import CLUSTERS
from stream_score import Score, score

PEERS = Path(__file__).with_name("scan_peers.py")
HAN = re.compile(r"([\u3400-\u9fff])")
FEW = 10
"""Pages of the input that tells what it takes to start."""

Options = dict[str, Any]


class Feed(NamedTuple):
    """One input, in stream order, and its truth."""

    name: str
    sets: list[LabelledSet]
    is_chinese: bool

    @property
    def is_pages(self) -> bool:
        """Whether it has whole pages, not texts."""
        return self.sets[0].is_pages

    @property
    def rows(self) -> list[Row]:
        """All pages; the fields that tools may see."""
        given = "html" if self.is_pages else "text"
        return [
            {"url": row.get("url", row["id"]), "id": row["id"], given: row[given]}
            for labelled in self.sets
            for row in labelled.rows
        ]

    def score(self, clusters: Iterable[list[str]]) -> Score:
        """Score the first page of each cluster as the original of the others."""
        originals = {page: cluster[0] for cluster in clusters for page in cluster[1:]}
        stream = [row["id"] for row in self.rows]
        scores = (
            score(stream, labelled.labels, originals, [row["id"] for row in labelled.rows])
            for labelled in self.sets
        )
        return Score(*map(sum, zip(*scores, strict=True)))


class Tool(NamedTuple):
    """A tool, and what it is told of English and of Chinese texts."""

    program: str
    english: Options
    chinese: Options
    has_characters_apart: bool = False
    """Whether Chinese is given it with a blank around each character: it has words only."""

    def command(self, source: Path, folder: Path, is_chinese: bool) -> Command:
        """Return what is to be run."""
        options = self.chinese if is_chinese else self.english
        given = [f"{name}={value}" for name, value in options.items()]
        return [sys.executable, PEERS, self.program, source, folder, *given]


class Ours(NamedTuple):
    """`dedup-filter scan` by so many processes."""

    processes: int

    def command(self, source: Path, folder: Path, is_chinese: bool) -> Command:  # noqa: ARG002
        """Return what is to be run."""
        return scan(source, folder, "--workers", str(self.processes))


OURS: dict[str, Ours | Tool] = {
    "dedup-filter scan": Ours(2),
    "dedup-filter scan, one process": Ours(1),
}
TOOLS: dict[str, Tool] = {
    "datasketch, a loop": Tool("datasketch", {}, {"characters": 5}),
    "datasketch": Tool("datasketch", {"all_cores": 1}, {"characters": 5, "all_cores": 1}),
    "datasketch, tuned": Tool(
        "datasketch",
        {"all_cores": 1, "words": 4, "lsh": 0.6, "threshold": 0.75},
        {"all_cores": 1, "characters": 5, "lsh": 0.6, "threshold": 0.75},
    ),
    "text-dedup minhash": Tool("text-dedup minhash", {}, {}, True),
    "text-dedup minhash, tuned": Tool(
        "text-dedup minhash",
        {"hash_func": "xxh3", "threshold": 0.75},
        {"hash_func": "xxh3", "threshold": 0.75},
        True,
    ),
    "text-dedup simhash": Tool("text-dedup simhash", {}, {}, True),
    "datatrove": Tool("datatrove", {}, {"language": "cmn"}),
}
EXTRACTORS = ("trafilatura", "resiliparse")


def feeds(folder: Path, names: list[str], most: int | None) -> list[Feed]:
    """Read so many pages of each set of a folder; sets of one kind and language are one input."""
    found: dict[str, Feed] = {}
    for labelled in read_sets(folder, names):
        labelled.rows = labelled.rows[:most]
        beginning = "".join(row["text"][:1000] for row in labelled.rows[:20])
        is_chinese = len(HAN.findall(beginning)) > len(beginning) / 10
        language = "Chinese" if is_chinese else "English"
        name = f"{language} {'pages' if labelled.is_pages else 'texts'}"
        found.setdefault(name, Feed(name, [], is_chinese)).sets.append(labelled)
    return list(found.values())


def write(rows: Iterable[Row], path: Path) -> Path:
    """Write JSON lines."""
    with path.open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return path


class Bench:
    """Runs tools on one feed, in a folder for what they read and write."""

    def __init__(self, feed: Feed, folder: Path) -> None:
        self.feed = feed
        self.costs: dict[str, list[Cost]] = {}
        self.starts: dict[str, Cost] = {}
        self.scores: dict[str, Score] = {}
        self._folder = folder
        self._rows = feed.rows
        self._pages = write(self._rows, folder / "pages.jsonl")

    def extract(self, by: str) -> None:
        """Make texts of the pages."""
        out = self._fresh()
        command: Command = [sys.executable, PEERS, "extract", self._pages, out, f"by={by}"]
        self.costs.setdefault(by, []).append(run(command, out / "log"))
        (out / "texts.jsonl").replace(self._folder / f"{by}.jsonl")

    def run(self, name: str, tool: Ours | Tool, by: str = "pages") -> None:
        """Run a tool on the pages, or on what an extractor made of them."""
        case = name if by == "pages" else f"{name}, {by}"
        has_characters_apart = isinstance(tool, Tool) and tool.has_characters_apart
        apart = has_characters_apart and self.feed.is_chinese
        if case not in self.starts:
            self.starts[case], _ = self._run(tool, self._input(by, apart, FEW))
        cost, out = self._run(tool, self._input(by, apart, len(self._rows)))
        self.costs.setdefault(case, []).append(cost)
        if case not in self.scores:
            self.scores[case] = self.feed.score(self._clusters(tool, out))

    def _run(self, tool: Ours | Tool, source: Path) -> tuple[Cost, Path]:
        out = self._fresh()
        return run(tool.command(source, out, self.feed.is_chinese), out / "log"), out

    def _input(self, by: str, apart: bool, most: int) -> Path:
        """Return so many lines, with blanks around Chinese characters or without."""
        source = self._folder / f"{by}.jsonl"
        if most == len(self._rows) and not apart:
            return source
        with source.open(encoding="utf-8") as lines:
            rows = list(map(json.loads, islice(lines, most)))
        if apart:
            rows = [row | {"text": HAN.sub(r" \1 ", row["text"])} for row in rows]
        return write(rows, self._folder / "part.jsonl")

    def _clusters(self, tool: Ours | Tool, out: Path) -> list[list[str]]:
        if isinstance(tool, Tool):
            return CLUSTERS[tool.program](out, [row["id"] for row in self._rows])
        names = {row["url"]: row["id"] for row in reversed(self._rows)}
        with (out / "dropped.jsonl").open(encoding="utf-8") as lines:
            dropped = list(map(json.loads, lines))
        return [[names[row["dedup"]["original"]], row["id"]] for row in dropped]

    def _fresh(self) -> Path:
        """Return an empty folder; what the last run wrote is gone."""
        out = self._folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        return out

    def tell(self, as_json: bool) -> None:
        """Print the medians."""
        ours = middle(self.costs[next(iter(OURS))])
        pages = len(self._rows)
        for case, costs in self.costs.items():
            extractor = next((by for by in EXTRACTORS if case.endswith(f", {by}")), None)
            alone = middle(costs)
            whole = alone.plus(middle(self.costs[extractor])) if extractor else alone
            rows: Metrics = {
                "rate": (round(pages / whole.wall, 1), "pages/s"),
                "times": (round(whole.wall / ours.wall, 2), "times ours"),
                "cpu": (round(whole.cpu / pages * 1000, 2), "ms/page"),
                "cpu_times": (round(whole.cpu / ours.cpu, 2), "times ours"),
            }
            if extractor:
                rows["texts"] = (round(pages / alone.wall, 1), "pages/s")
            if case in self.scores:
                rows["start"] = (round(self.starts[case].wall, 2), "s")
                rows["start_cpu"] = (round(self.starts[case].cpu, 2), "s")
                rows |= metrics(self.scores[case])
            report(f"{self.feed.name}: {case}", rows, as_json)


def middle(costs: list[Cost]) -> Cost:
    """Return the medians of rounds."""
    return Cost(*map(statistics.median, zip(*costs, strict=True)))


def is_there(tool: str) -> bool:
    """Tell whether a tool is installed."""
    program = TOOLS[tool].program.partition(" ")[0]
    return find_spec(program.replace("-", "_")) is not None


def compare(feed: Feed, names: list[str], rounds: int, as_json: bool) -> None:
    """Run all tools in turns, and print how they did."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(feed, Path(folder))
        for number in range(rounds):
            for name, ours in OURS.items():
                bench.run(name, ours)
            for by in EXTRACTORS if feed.is_pages else ["pages"]:
                if feed.is_pages:
                    bench.extract(by)
                for name in names:
                    bench.run(name, TOOLS[name], by)
            print(f"{feed.name}: round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        bench.tell(as_json)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--sets", nargs="+", default=[], help="only the sets of these names")
    parser.add_argument("--most", type=int, help="pages of each set; all if not given")
    parser.add_argument("--only", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--rounds", type=int, default=3, help="of which the median counts (3)")
    parser.add_argument("--memory", nargs="*", type=int, metavar="LINES", help="only the memory")
    parser.add_argument("--warc", nargs="+", type=Path, metavar="FOLDER", help="only WARC files")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.memory is not None:
        measure_memory(given.memory or [10_000, 100_000, 1_000_000], given.json)
        return
    if given.warc:
        compare_verdicts(given.warc, given.most, given.json)
        return
    if given.folder is None:
        sys.exit(WHERE)
    names = [name for name in given.only if is_there(name)]
    for feed in feeds(given.folder, given.sets, given.most):
        compare(feed, names, given.rounds, given.json)


if __name__ == "__main__":
    main()
