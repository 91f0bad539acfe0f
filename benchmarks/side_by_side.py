"""Judges of pages, and their counts by group of page -> a table with a column for each judge.

A page is a `Fetch`. A judge decides which earlier fetch it repeats. Two judges exist: this library,
and trafilatura's main text with datasketch's MinHash LSH (3-word shingles, estimated Jaccard from
0.8). The second is left out where its packages are not installed.

A `Tally` compares each answer with the truth. Of copies it counts those that were found: dropped,
and the named original says the same. Of other pages it counts those that were lost: dropped.
"""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any, NamedTuple, Protocol

from judgement import shingles_of
from stopwatch import figure

from dedup_filter import NearDuplicateFilter
from dedup_filter.review.refusals import why

__all__ = ["JUDGES", "Answer", "Fetch", "Judge", "Tally", "new_judges"]

THRESHOLD = 0.8
PERMUTATIONS = 128
REMEMBERED = 500
"""Sketches of pages that crawls show again."""


class Fetch(NamedTuple):
    """A page as a crawler gets it, and the truth about it."""

    url: str
    content: str | bytes
    """HTML, or plain text if `is_text`."""
    says: str
    """Fetches that say the same thing are copies of one another."""
    groups: tuple[tuple[str, str], ...]
    """The rows that the fetch counts in: (name of a table, name of a row)."""
    is_text: bool = False


class Answer(NamedTuple):
    """What a judge says of a fetch."""

    original: str | None
    """URL of the fetch that it repeats; None: it is new."""
    rule: str = "-"
    """Why a new page repeats none: what of it its nearest candidate lacks."""
    detail: str = ""


class Judge(Protocol):
    """Decides which earlier fetch a page repeats."""

    def see(self, fetch: Fetch) -> Answer:
        """Judge a fetch and remember it if it is new."""


class Ours:
    """The library of this repository, with its defaults but for some options."""

    def __init__(self, **options: Any) -> None:
        self._pages = NearDuplicateFilter.open(**options)

    def see(self, fetch: Fetch) -> Answer:
        """Judge and remember."""
        given: dict[str, Any] = {"text" if fetch.is_text else "html": fetch.content}
        verdict = self._pages.see(fetch.url, **given)
        if verdict.is_duplicate:
            return Answer(verdict.original)
        if (no := verdict.refused) is None:
            return Answer(None, verdict.reason or "-")
        return Answer(None, no.rule, f"{why(no)}, {no.distance} bits away")


class MinHashOfMainText:
    """trafilatura and datasketch: the earliest page from the threshold on is the original."""

    _known: dict[int, Any] = {}  # noqa: RUF012 - one memory for all judges of a run

    def __init__(self) -> None:
        from datasketch import MinHashLSH

        self._index = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)
        self._sketches: list[Any] = []
        self._urls: list[str] = []

    def see(self, fetch: Fetch) -> Answer:
        """Judge and remember."""
        sketch = self._sketch(fetch)
        if sketch is None:
            return Answer(None, "no text")
        alike = {page: sketch.jaccard(self._sketches[page]) for page in self._index.query(sketch)}
        near = [page for page, share in alike.items() if share >= THRESHOLD]
        if near:
            return Answer(self._urls[min(near)])
        self._index.insert(len(self._urls), sketch)
        self._urls.append(fetch.url)
        self._sketches.append(sketch)
        most = max(alike.values(), default=0)
        return Answer(None, "similarity", f"{most:.2f} found, {THRESHOLD} wanted")

    def _sketch(self, fetch: Fetch) -> Any:
        """Return the sketch of the main text; many crawls may show the same page."""
        from datasketch import MinHash

        key = hash((fetch.content, fetch.is_text))
        if key not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            page: dict[str, Any] = {"text": fetch.content if fetch.is_text else ""}
            if not fetch.is_text:
                page["html"] = fetch.content
            shingles = set(shingles_of(page)) - {""}
            sketch = MinHash(num_perm=PERMUTATIONS)
            sketch.update_batch([shingle.encode() for shingle in shingles])
            self._known[key] = sketch if shingles else None
        return self._known[key]


JUDGES: dict[str, tuple[Callable[..., Judge], tuple[str, ...]]] = {
    "dedup_filter": (Ours, ()),
    "trafilatura + MinHash": (MinHashOfMainText, ("trafilatura", "datasketch")),
}
"""Makers of judges, and the packages that each needs."""


def new_judges(**options: Any) -> dict[str, Judge]:
    """Make a judge of each kind that can run here, each with nothing seen; options are for ours."""
    return {
        name: make(**options) if make is Ours else make()
        for name, (make, needs) in JUDGES.items()
        if all(map(find_spec, needs))
    }


Row = tuple[str, str, str]
"""What is counted ("found" or "lost"), table, row."""


class Tally:
    """Counts of answers by group."""

    def __init__(self, *, is_verbose: bool = False) -> None:
        self.pages: Counter[Row] = Counter()
        self.counts: dict[str, Counter[Row]] = defaultdict(Counter)
        """By judge: copies that were found, pages that were lost."""
        self.misnamed: Counter[str] = Counter()
        """By judge: copies that were dropped for a page that says something else."""
        self.rules: dict[Row, Counter[str]] = defaultdict(Counter)
        """The rules that made this library keep copies."""
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._is_verbose = is_verbose

    def judge(self, fetches: Iterable[Fetch], judges: dict[str, Judge]) -> None:
        """Show the fetches of one crawl to each judge in their order, and count."""
        says: dict[str, str] = {}
        said: set[str] = set()
        for fetch in fetches:
            answers = {}
            for name, judge in judges.items():
                start = time.process_time()
                answers[name] = judge.see(fetch)
                self.seconds[name] += time.process_time() - start
            self._count(fetch, fetch.says in said, answers, says)
            says[fetch.url] = fetch.says
            said.add(fetch.says)

    def _count(
        self, fetch: Fetch, is_copy: bool, answers: dict[str, Answer], says: dict[str, str]
    ) -> None:
        """Compare the answers on one fetch with the truth; `says` is known by URL."""
        rows = [("found" if is_copy else "lost", *group) for group in fetch.groups]
        self.pages.update(rows)
        for name, answer in answers.items():
            is_dropped = answer.original is not None
            is_found = is_dropped and says[str(answer.original)] == fetch.says
            if is_found if is_copy else is_dropped:
                self.counts[name].update(rows)
            self.misnamed[name] += is_copy and is_dropped and not is_found
            if is_found if is_copy else not is_dropped:
                continue
            if name == "dedup_filter" and is_copy:
                rule = "a wrong original" if is_dropped else answer.rule
                for row in rows:
                    self.rules[row][rule] += 1
            if self._is_verbose:
                fate = "missed" if is_copy else "lost"
                where = ", ".join(row for _, row in fetch.groups)
                print(f"{fate} by {name}: {fetch.url} [{where}]: {_why(answer)}")

    def report(self, *, as_json: bool) -> None:
        """Print all tables, or their figures."""
        for what, table in dict.fromkeys(row[:2] for row in self.pages):
            rows = sorted((row for row in self.pages if row[:2] == (what, table)), key=_in_order)
            if as_json:
                self._print_figures(rows)
            else:
                self._print_table(what, table, rows)
        for name, seconds in self.seconds.items():
            figure(name, "named a wrong page", self.misnamed[name], "copies", as_json=as_json)
            figure(name, "pages judged", seconds, "s", as_json=as_json)

    def _print_figures(self, rows: list[Row]) -> None:
        for what, table, row in rows:
            case, pages = f"{table}: {row}", self.pages[what, table, row]
            figure(case, "copies" if what == "found" else "pages", pages, "pages", as_json=True)
            for name in self.seconds:
                count = self.counts[name][what, table, row]
                is_share = what == "found"
                value, unit = count / pages if is_share else count, "share" if is_share else "pages"
                figure(case, f"{what}, {name}", value, unit, as_json=True)

    def _print_table(self, what: str, table: str, rows: list[Row]) -> None:
        heading = f"{table}: {'share of copies found' if what == 'found' else 'pages lost'}"
        last = " | rules that kept the rest" if what == "found" else ""
        print(f"\n| {heading} | pages | {' | '.join(self.seconds)}{last} |")
        print("|---" * (2 + len(self.seconds) + bool(last)) + "|")
        for row in rows:
            counts = [self.counts[name][row] for name in self.seconds]
            shares = [f"{n / self.pages[row]:.2f}" if last else str(n) for n in counts]
            rules = [_listed(self.rules[row])] if last else []
            print("| " + " | ".join([row[2], str(self.pages[row]), *shares, *rules]) + " |")


def _in_order(row: Row) -> str:
    """Sort by name, and numbers in names by size."""
    return re.sub(r"\d+", lambda number: number[0].zfill(6), row[2])


def _why(answer: Answer) -> str:
    return f"repeats {answer.original}" if answer.original else f"{answer.rule}: {answer.detail}"


def _listed(rules: Counter[str]) -> str:
    return ", ".join(f"{rule} {count}" for rule, count in rules.most_common(4))
