"""Judge consecutive versions of real pages, from repositories that commit the HTML they fetch.

    python benchmarks/histories.py [NAME=]GIT_DIR[:BRANCH[:PATTERN]] ...
        [--files 60] [--pairs 4] [--seed 1] [--crawls] [--json] [-v]

Two consecutive versions of a file are two fetches of one page. Get such histories by `git clone
--bare`: the earlier version is judged at the page's URL, then the later one at another address of
the same host: with "?visit=2", or with an unrelated path. "new": nothing else of the host is known.
"known": two other files of the same folder have come before, as they were at that time. Each of
these four ways has an index of its own. Beside them, where they are installed: trafilatura's main
text with datasketch's MinHash (3-word shingles, .8 and .9).

With --crawls the later version is judged at the SAME URL, in a second crawl of one directory. Two
other files of the folder come first in both crawls, as they were at the time of each, where there
are enough. A page in which no word differs should be a revisit. A changed one should be told: be
new, or a revisit whose `change` is above 0.

Public repositories of github.com with such histories:

    newspapers     webDifference/theguardian.com, webDifference/nytimes.com
    shops          webDifference/amazon.com, webDifference/apple.com
    list of links  jpoehls/christian-daily-reporter-archive
    health         OpenTermsArchive/sante-numerique-france-snapshots, sjmurdoch/uclcovid
    terms          OpenTermsArchive/ dating-, genai-, demo- and france-elections-snapshots
    manuals        lmfit/lmfit-py:gh-pages, ipython/ipython-doc:gh-pages

The truth is computed from all visible text; the head of `page_changes` lists the classes. A page in
which no word differs ("same", "stamps") should be dropped, and a "changed" one kept. A drop is
compared with the page that it names. Left out are pairs with a version of fewer than 20 words. A
date in a file's name is no part of the page's name: such files are versions of one page.
"""

import argparse
import re
import subprocess
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import product
from pathlib import Path, PurePosixPath
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from judgement import shingles_of
from page_changes import CLASSES, REPEATS, Change, compare, lines_of, words_of
from side_by_side import Answer, Fetch, Ours
from stopwatch import figure

from dedup_filter import NearDuplicateFilter, Verdict

ALIASES = {"visit": "{}?visit=2", "other path": "https://history.example/elsewhere/4711"}
KNOWN = 2
"""Other pages of the host: from two pages on its frame is known."""
FATES = "revisit", "told", "dropped"
LEAST_WORDS = 20
NO_WORD = "no word differs"
"""Name of the row of the kinds "same" and "stamps" together."""
DATE_IN_NAME = re.compile(r"\d{4}-?\d\d-?\d\d(?:T[\d-]+)?")


class Version(NamedTuple):
    """A state of a page."""

    commit: int
    """Number of its commit in the history."""
    blob: str


class History:
    """All versions of the pages of a repository, on one line of its commits."""

    def __init__(self, argument: str) -> None:
        name, _, place = argument.rpartition("=")
        folder, branch, pattern = (*place.split(":"), "", "")[:3]
        self._git = ["git", f"--git-dir={folder}"]
        whole = Path(folder).resolve()
        self.name = name or (whole.parent if whole.name in ("repo", ".git") else whole).name
        self.pages: dict[str, list[Version]] = defaultdict(list)
        paths = [pattern] if pattern else ["*.html", "*.htm"]
        what = ["--raw", "--no-abbrev", "--no-renames", "--diff-filter=AM", "--format=%x01", "-z"]
        order = ["--reverse", "--first-parent", "-m", branch or "HEAD", "--", *paths]
        for number, commit in enumerate(self._run("log", *what, *order).decode().split("\x01")):
            fields = commit.strip("\0\n").split("\0")
            for facts, path in sorted(zip(fields[::2], fields[1::2], strict=False), key=max):
                versions = self.pages[DATE_IN_NAME.sub("*", path)]
                version = Version(number, facts.split()[3])
                if not versions or versions[-1].blob != version.blob:
                    versions.append(version)
        self._folders: dict[PurePosixPath, list[str]] = defaultdict(list)
        for page in self.pages:
            self._folders[PurePosixPath(page).parent].append(page)

    def _run(self, *arguments: str) -> bytes:
        return subprocess.run([*self._git, *arguments], check=True, capture_output=True).stdout

    def body(self, version: Version) -> bytes:
        """Read a version."""
        return self._run("cat-file", "blob", version.blob)

    def pairs(self, files: int, each: int, random: Random) -> Iterator[tuple[str, int]]:
        """Choose pages, and of each page versions that have a next one; no two pairs are equal.

        Where the repository has few pages, up to four times as many of each are taken.
        """
        seen: set[tuple[str, str]] = set()
        changing = sorted(page for page, versions in self.pages.items() if len(versions) > 1)
        pages = random.sample(changing, min(files, len(changing)))
        most = min(files * each // max(len(pages), 1), 4 * each)
        for page in pages:
            blobs = [version.blob for version in self.pages[page]]
            for at in sorted(random.sample(range(len(blobs) - 1), min(most, len(blobs) - 1))):
                if (blobs[at], blobs[at + 1]) not in seen:
                    seen.add((blobs[at], blobs[at + 1]))
                    yield page, at

    def others(self, page: str, commit: int, random: Random) -> dict[str, bytes]:
        """Return other files of the folder as they were at a commit, if there are enough."""
        found: dict[str, bytes] = {}
        folder = self._folders[PurePosixPath(page).parent]
        for other in random.sample(folder, len(folder)):
            if other != page and len(found) < KNOWN and (version := self.version(other, commit)):
                found[other] = self.body(version)
        return found if len(found) == KNOWN else {}

    def version(self, page: str, commit: int) -> Version | None:
        """Return the version of a page at a commit, if it was there."""
        versions = self.pages[page]
        at = bisect_left(versions, commit + 1, key=lambda version: version.commit)
        return versions[at - 1] if at else None


Row = tuple[str, str]
"""Name of a set, class."""


class Crawled:
    """Counts of pages that come again at their URL in a second crawl, by set and class."""

    def __init__(self, *, is_verbose: bool) -> None:
        self.pages: Counter[Row] = Counter()
        self.counts: dict[str, Counter[Row]] = {fate: Counter() for fate in FATES}
        self.left_out: Counter[str] = Counter()
        self._is_verbose = is_verbose

    def judge(self, history: History, page: str, at: int, random: Random) -> None:
        """Crawl a page twice."""
        first, second = history.pages[page][at : at + 2]
        bodies = history.body(first), history.body(second)
        lines = [lines_of(body) for body in bodies]
        if any(sum(map(len, words_of(each))) < LEAST_WORDS for each in lines):
            self.left_out[f"{history.name}: few words"] += 1
            return
        others = history.others(page, first.commit, random)
        then = {name: history.version(name, second.commit) for name in others}
        later = {name: history.body(version) for name, version in then.items() if version}
        with TemporaryDirectory() as folder:
            earlier, verdict = (
                _crawl(Path(folder, "index"), {**before, page: body})
                for before, body in zip((others, later), bodies, strict=True)
            )
        if earlier.is_duplicate or earlier.outcome == "unjudged":
            self.left_out[f"{history.name}: not kept in the first crawl"] += 1
            return
        change = compare(*lines)
        is_told = verdict.outcome == "new" or (verdict.change or 0) > 0
        fates = verdict.outcome == "revisit", is_told, verdict.is_duplicate
        kinds = (change.kind, NO_WORD) if change.kind in ("same", "stamps") else (change.kind,)
        for row in product((history.name, "all"), kinds):
            self.pages[row] += 1
            for fate, is_so in zip(FATES, fates, strict=True):
                self.counts[fate][row] += is_so
        is_wrong = (
            is_told or not fates[0]
            if NO_WORD in kinds
            else change.kind == "changed" and not is_told
        )
        if self._is_verbose and is_wrong:
            words = f"new: {' '.join(change.new[:30])}; gone: {' '.join(change.gone[:15])}"
            print(f"{change.kind}, {history.name} {page} {first.blob[:9]}..{second.blob[:9]}:")
            print(f"    {verdict.outcome} {verdict.original or ''} {verdict.refused}\n    {words}")

    def report(self, *, as_json: bool) -> None:
        """Print a table of the fates of pages, or its figures."""
        if not as_json:
            print(f"\n| second crawl | pages | {' | '.join(FATES)} |\n{'|---' * (2 + len(FATES))}|")
        names = sorted({name for name, _ in self.pages}, key=lambda n: (n == "all", n))
        for row in product(names, (NO_WORD, *CLASSES)):
            if not (of := self.pages[row]):
                continue
            counts = [self.counts[fate][row] for fate in FATES]
            if as_json:
                figure(": ".join(row), "pages", of, "pages", as_json=True)
                for fate, count in zip(FATES, counts, strict=True):
                    figure(": ".join(row), fate, count / of, "share", as_json=True)
            else:
                shares = (f"{count / of:.3f} ({count})" for count in counts)
                print(f"| {': '.join(row)} | {of} | {' | '.join(shares)} |")
        for name, pages in self.left_out.items():
            figure(name, "left out", pages, "pairs", as_json=as_json)


def _crawl(index: Path, pages: dict[str, bytes]) -> Verdict:
    """Crawl pages into a directory; return the verdict on the last one."""
    with NearDuplicateFilter.open(index) as seen:
        for page, body in pages.items():
            verdict = seen.see(f"https://history.example/{page}", html=body)
    return verdict


class Judged:
    """Counts of pairs and of drops, by set and class."""

    def __init__(self, *, is_verbose: bool) -> None:
        self.pairs: dict[str, Counter[Row]] = defaultdict(Counter)
        """By way of judging: not each pair has known pages."""
        self.dropped: dict[str, Counter[Row]] = defaultdict(Counter)
        self.left_out: Counter[str] = Counter()
        self._is_verbose = is_verbose

    def judge(self, history: History, page: str, at: int, random: Random) -> None:
        """Judge a pair in all ways."""
        first, second = history.pages[page][at : at + 2]
        earlier, later = history.body(first), history.body(second)
        url = f"https://history.example/{page}"
        lines = {url: lines_of(earlier)}
        read = lines_of(later)
        if any(sum(map(len, words_of(each))) < LEAST_WORDS for each in (read, lines[url])):
            self.left_out[history.name] += 1
            return
        change = compare(lines[url], read)
        known = {
            f"https://history.example/{other}": body
            for other, body in history.others(page, first.commit, random).items()
        }
        lines |= {other: lines_of(body) for other, body in known.items()}
        for host, before in (("new", dict[str, bytes]()), ("known", known)):
            for alias, address in ALIASES.items() if before or host == "new" else ():
                judge = Ours()
                for shown, body in {**before, url: earlier}.items():
                    judge.see(Fetch(shown, body, "", ()))
                answer = judge.see(Fetch(address.format(url), later, "", ()))
                truth: Change = change
                if answer.original and answer.original != url:
                    truth = compare(lines[answer.original], read)
                way = f"{host}, {alias}"
                self._count(way, (history.name, truth.kind), answer.original is not None)
                where = f"{history.name} {page} {first.blob[:9]}..{second.blob[:9]} ({way})"
                self._tell(where, truth, answer)
        for way, is_drop in peers(earlier, later):
            self._count(way, (history.name, change.kind), is_drop)

    def _count(self, way: str, row: Row, is_drop: bool) -> None:
        name, kind = row
        kinds = (kind, NO_WORD) if kind in ("same", "stamps") else (kind,)
        for each in product((name, "all"), kinds):
            self.pairs[way][each] += 1
            self.dropped[way][each] += is_drop

    def _tell(self, where: str, truth: Change, answer: Answer) -> None:
        is_wrong = (truth.kind in REPEATS) == (answer.original is None)
        if self._is_verbose and is_wrong and truth.kind != "unclear":
            words = f"new: {' '.join(truth.new[:30])}; gone: {' '.join(truth.gone[:15])}"
            why = f"repeats {answer.original}" if answer.original else answer.rule
            print(f"{truth.kind}, {where}: {why} {answer.detail}\n    {words}")

    def report(self, *, as_json: bool) -> None:
        """Print a table of the shares that were dropped, or its figures."""
        ways = list(self.dropped)
        if not as_json:
            print(f"\n| dropped | pairs | {' | '.join(ways)} |\n{'|---' * (2 + len(ways))}|")
        for name in sorted(
            {name for name, _ in self.pairs[ways[0]]}, key=lambda n: (n == "all", n)
        ):
            for kind in (NO_WORD, *CLASSES):
                self._row(name, kind, ways, as_json=as_json)
        for name, pages in self.left_out.items():
            figure(name, "left out", pages, "pairs", as_json=as_json)

    def _row(self, name: str, kind: str, ways: list[str], *, as_json: bool) -> None:
        row = name, kind
        pairs = [self.pairs[way][row] for way in ways]
        if not any(pairs):
            return
        counts = [self.dropped[way][row] for way in ways]
        if as_json:
            figure(name, f"{kind}: pairs", pairs[0], "pairs", as_json=True)
            for way, count, of in zip(ways, counts, pairs, strict=True):
                figure(name, f"{kind}: dropped, {way}", count / max(of, 1), "share", as_json=True)
            return
        shares = [
            f"{count / of:.3f} ({count} of {of})" if of else ""
            for count, of in zip(counts, pairs, strict=True)
        ]
        print(f"| {name}: {kind} | {pairs[0]} | {' | '.join(shares)} |")


def peers(earlier: bytes, later: bytes) -> Iterator[tuple[str, bool]]:
    """Judge a pair by trafilatura and datasketch, where they are installed."""
    if not (find_spec("trafilatura") and find_spec("datasketch")):
        return
    from datasketch import MinHash

    sketches = []
    for body in earlier, later:
        page: dict[str, Any] = {"text": "", "html": body}
        shingles = set(shingles_of(page)) - {""}
        sketches.append(MinHash(num_perm=128))
        sketches[-1].update_batch([shingle.encode() for shingle in shingles])
    is_text = not any(sketch.is_empty() for sketch in sketches)
    for threshold in 0.8, 0.9:
        is_near = is_text and sketches[0].jaccard(sketches[1]) >= threshold
        yield f"trafilatura + MinHash {threshold}", is_near


def main() -> None:
    """Read, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("histories", nargs="+", metavar="[NAME=]GIT_DIR[:BRANCH[:PATTERN]]")
    parser.add_argument("--files", type=int, default=60, help="most pages of a history")
    parser.add_argument("--pairs", type=int, default=4, help="most pairs of a page")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--crawls", action="store_true", help="judge at the same URL, in a 2nd crawl"
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true", help="print wrong verdicts")
    options = parser.parse_args()
    judged = (Crawled if options.crawls else Judged)(is_verbose=options.verbose)
    for argument in options.histories:
        random = Random(options.seed)
        history = History(argument)
        for page, at in history.pairs(options.files, options.pairs, random):
            judged.judge(history, page, at, random)
    judged.report(as_json=options.json)


if __name__ == "__main__":
    main()
