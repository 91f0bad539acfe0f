"""Record the verdict on each page of many sets, and compare two recordings page by page.

    python benchmarks/record_verdicts.py record OUTPUT SET ... [--modes MODE ...] [--pages 1000]
    python benchmarks/record_verdicts.py compare BEFORE AFTER [--show 3]

Use it to change the library without changing what it decides: record before and after, compare.

A set is a file of pages (NAME.pages.jsonl.xz, `labelled_sets`), a folder (all of its files of
pages), or a program with its arguments in quotes ("FOLDER/visits.py 2"). A program runs with a
stand-in for `NearDuplicateFilter`, which keeps the pages that the program shows to each filter.

    at-once    each page is committed at once, in memory
    pending    PENDING pages are pending at a time, in memory; some items are lost (`is_lost`):
               their pages are released, and pages that repeat them are claimed again
    directory  as pending, in a directory
    reopened   as at-once, in a directory that is closed and opened again halfway

OUTPUT gets a file for each set and mode: one line for each verdict. If a set has more than
`--pages` pages, indexes of at most SMALL pages are left out, evenly, and of larger ones the last
pages. Two runs of the same code give the same verdicts. `compare` ends with 1 if any differs.
"""

import argparse
import contextlib
import io
import json
import runpy
import sys
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest.mock import patch
from zlib import crc32

from labelled_sets import lines

from dedup_filter import NearDuplicateFilter, Verdict

PENDING = 16
LOST = 20
"""One of so many items is lost."""
SMALL = 100
"""Pages of an index up to which it is recorded as a whole or not at all."""
DIGITS = 4
"""Decimals of recorded figures: the last ones of a float may depend on the order of a sum."""

Page = dict[str, Any]
"""The arguments of `see`."""
Line = dict[str, Any]
"""A verdict as it is recorded."""


class Crawl(NamedTuple):
    """Pages that one filter is shown, and its options."""

    pages: list[Page]
    options: dict[str, Any]


Index = list[Crawl]
"""Crawls into the same index, one after another."""


class Mode(NamedTuple):
    """A way of judging pages."""

    is_pending: bool = False
    is_in_directory: bool = False
    openings: int = 1


MODES = {
    "at-once": Mode(),
    "pending": Mode(is_pending=True),
    "directory": Mode(is_pending=True, is_in_directory=True),
    "reopened": Mode(is_in_directory=True, openings=2),
}


class Shown:
    """Stands in for `NearDuplicateFilter` in a program: keeps the pages, and finds all new."""

    indexes: dict[str, Index]

    def __init__(self, pages: list[Page]) -> None:
        self.pages = pages

    @classmethod
    def open(cls, location: object = "memory:", **options: Any) -> "Shown":
        """Begin a crawl: in an index of its own in memory, in that of its location elsewhere."""
        key = f"memory {len(cls.indexes)}" if location == "memory:" else str(location)
        cls.indexes.setdefault(key, []).append(Crawl([], options))
        return cls(cls.indexes[key][-1].pages)

    def see(self, url: str, **page: Any) -> Verdict:
        """Keep a page."""
        self.pages.append({"url": url, **page})
        return Verdict("new")

    def see_many(self, pages: Iterable[Page]) -> Iterator[Verdict]:
        """Keep pages."""
        return (self.see(**page) for page in pages)

    def close(self) -> None:
        """Do nothing."""

    def __len__(self) -> int:
        return len(self.pages)

    def __enter__(self) -> "Shown":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def sets_of(given: str) -> Iterator[tuple[str, list[Index]]]:
    """Name and read the sets that an argument stands for."""
    path, *arguments = given.split()
    if path.endswith(".py"):
        yield "-".join([Path(path).stem, *arguments]).replace("--", ""), shown_by(path, arguments)
        return
    files = Path(path).glob("*.pages.jsonl.xz") if Path(path).is_dir() else [Path(path)]
    for file in sorted(files):
        rows = map(json.loads, lines(file))
        pages = [{"url": row["url"], "html": row["html"]} for row in rows]
        yield file.name.partition(".")[0], [[Crawl(pages, {})]]


def shown_by(program: str, arguments: list[str]) -> list[Index]:
    """Run a program; return the pages that it shows to filters."""
    Shown.indexes = {}
    with contextlib.ExitStack() as stack:
        stack.enter_context(patch.object(sys, "argv", [program, *arguments]))
        stack.enter_context(patch.object(sys, "path", [str(Path(program).parent), *sys.path]))
        stack.enter_context(patch("dedup_filter.NearDuplicateFilter", Shown))
        said = stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        try:
            runpy.run_path(program, run_name="__main__")
        except SystemExit as end:
            # A program may end with 1 because the stand-in finds no copies.
            if not Shown.indexes:
                sys.exit(f"{program} showed no pages: {end.code} {said.getvalue()}")
    return list(Shown.indexes.values())


def limited(indexes: list[Index], most: int) -> list[Index]:
    """Leave out small indexes, evenly, and the last pages of large ones; keep `most` pages."""
    sizes = [sum(len(crawl.pages) for crawl in index) for index in indexes]
    part = min(1.0, most / sum(sizes))
    kept, due = [], 0.0
    for index, size in zip(indexes, sizes, strict=True):
        if size > SMALL:
            cut = [crawl.pages[: round(len(crawl.pages) * part)] for crawl in index]
            kept.append(
                [crawl._replace(pages=pages) for crawl, pages in zip(index, cut, strict=True)]
            )
        elif (due := due + size * part) >= size:
            due -= size
            kept.append(index)
    return kept


def is_lost(page: Page) -> bool:
    """Tell whether the item of a page is lost, by its URL: in each run the same."""
    return crc32(page["url"].encode()) % LOST == 0


def verdicts(index: Index, mode: Mode) -> Iterator[tuple[Page, Verdict]]:
    """Judge the pages of an index; a page that is claimed again has two verdicts."""
    with TemporaryDirectory() as folder:
        is_kept = mode.is_in_directory or len(index) > 1
        location = f"{folder}/index" if is_kept else "memory:"
        for number, crawl in enumerate(index):
            size = -(-len(crawl.pages) // mode.openings)
            for start in range(0, len(crawl.pages), max(size, 1)):
                some = crawl.pages[start : start + size]
                options = {**crawl.options, "crawl": str(number)}
                with NearDuplicateFilter.open(location, **options) as judge:
                    if mode.is_pending:
                        yield from claimed(judge, some)
                    else:
                        yield from ((page, judge.see(**page)) for page in some)


def claimed(judge: NearDuplicateFilter, pages: list[Page]) -> Iterator[tuple[Page, Verdict]]:
    """Judge pages whose items take a while."""
    pending: deque[tuple[Page, Verdict]] = deque()
    released: set[int | None] = set()

    def claim(page: Page) -> tuple[Page, Verdict]:
        pending.append((page, judge.claim(**page)))
        return pending[-1]

    def settle(most: int) -> Iterator[tuple[Page, Verdict]]:
        while len(pending) > most:
            page, verdict = pending.popleft()
            if verdict.is_duplicate and verdict.original_page in released:
                yield claim(page)
            elif not verdict.is_duplicate and is_lost(page):
                judge.release(verdict)
                released.add(verdict.page)
            else:
                judge.commit(verdict)

    for page in pages:
        yield claim(page)
        yield from settle(PENDING - 1)
    yield from settle(0)


def line_of(page: Page, verdict: Verdict) -> Line:
    """Write what is compared of a verdict; `None` is left out."""
    figures = {name: getattr(verdict, name) for name in ("distance", "similarity", "change")}
    refused = verdict.refused
    line = {
        "url": page["url"],
        "outcome": verdict.outcome,
        "original": verdict.original,
        "reason": verdict.reason,
        "refused": refused and [refused.rule, refused.url, refused.text],
        "lacks": refused and [round(refused.words, DIGITS), round(refused.allowed, DIGITS)],
        **{name: each and round(each, DIGITS) for name, each in figures.items()},
    }
    return {name: each for name, each in line.items() if each is not None}


def record(output: Path, given: list[str], modes: list[str], most: int) -> None:
    """Judge sets, and write the verdicts on their pages."""
    output.mkdir(parents=True, exist_ok=True)
    for name, all_of_set in (each for one in given for each in sets_of(one)):
        indexes = limited(all_of_set, most)
        for mode in modes:
            start, outcomes = time.monotonic(), Counter[str]()
            with (output / f"{name}.{mode}.jsonl").open("w", encoding="utf-8") as file:
                for number, index in enumerate(indexes):
                    for page, verdict in verdicts(index, MODES[mode]):
                        line = {"index": number, **line_of(page, verdict)}
                        print(json.dumps(line, ensure_ascii=False), file=file)
                        outcomes[verdict.outcome] += 1
            counts = ", ".join(f"{count} {each}" for each, count in sorted(outcomes.items()))
            print(f"{name:32} {mode:10} {time.monotonic() - start:5.0f} s  {counts}", flush=True)


def recorded(path: Path) -> dict[tuple[int, str, int], Line]:
    """Read verdicts, by index, URL and the number of the page among those of its URL."""
    found: dict[tuple[int, str, int], Line] = {}
    times = Counter[tuple[int, str]]()
    for line in map(json.loads, lines(path) if path.exists() else ()):
        index, url = line["index"], line["url"]
        times[index, url] += 1
        found[index, url, times[index, url]] = line
    return found


def compare(before: Path, after: Path, most: int) -> bool:
    """Print how many verdicts differ in each field, and some of them; tell whether any does."""
    names = {path.name for folder in (before, after) for path in folder.glob("*.jsonl")}
    if not names:
        sys.exit(f"no recordings are in {before} and {after}")
    total = 0
    for name in sorted(names):
        old, new = recorded(before / name), recorded(after / name)
        both = ((old.get(page, {}), new.get(page, {})) for page in {**old, **new})
        pairs = [(one, other) for one, other in both if one != other]
        fields = Counter(
            field
            for one, other in pairs
            for field in {**one, **other}
            if one.get(field) != other.get(field)
        )
        counts = ", ".join(f"{field} {count}" for field, count in fields.most_common())
        print(f"{name:40} {len(old):6} verdicts, {len(pairs)} differ  {counts}".rstrip())
        for one, other in pairs[:most]:
            print(f"    before {json.dumps(one, ensure_ascii=False)}")
            print(f"    after  {json.dumps(other, ensure_ascii=False)}")
        total += len(pairs)
    print(f"{total} verdicts differ")
    return total > 0


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    to_record = commands.add_parser("record", help="judge sets, and write the verdicts")
    to_record.add_argument("output", type=Path)
    to_record.add_argument("sets", nargs="+", help="a file of pages, a folder, or a program")
    to_record.add_argument("--modes", nargs="+", choices=MODES, default=[*MODES])
    to_record.add_argument("--pages", type=int, default=1000, help="at most so many of each set")
    to_compare = commands.add_parser("compare", help="compare two recordings")
    to_compare.add_argument("before", type=Path)
    to_compare.add_argument("after", type=Path)
    to_compare.add_argument("--show", type=int, default=3, help="so many differences of each file")
    options = parser.parse_args()
    if options.command == "record":
        record(options.output, options.sets, options.modes, options.pages)
    else:
        sys.exit(compare(options.before, options.after, options.show))


if __name__ == "__main__":
    main()
