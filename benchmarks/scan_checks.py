"""What else must hold of `dedup-filter scan`: flat memory, and verdicts as of the online crawl."""

import gzip
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from broad_crawl import line
from corpus import Page, read_pages
from processes import Command, run, watch_memory
from stopwatch import figure

from dedup_filter import NearDuplicateFilter

__all__ = ["compare_verdicts", "measure_memory", "scan"]

REPOSITORY = Path(__file__).resolve().parent.parent
DIFFERENT = 10_000
"""Made pages that differ: those after them are copies, for which the index hardly grows."""
SAID = ("outcome", "original", "distance", "similarity", "reason")
"""What a verdict says of a page."""


def measure_memory(counts: list[int], as_json: bool) -> None:
    """Scan so many lines, and print the most memory that was held, with and without the index."""
    for count in counts:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            source = folder / "pages.jsonl"
            with source.open("w", encoding="utf-8") as lines:
                lines.writelines(json.dumps(page) + "\n" for page in short_texts(count))
            index = folder / "index"
            cost, most = watch_memory(scan(source, folder, "--index", index), folder / "log")
            with NearDuplicateFilter.open(index) as kept:
                own = kept.nbytes
            outside = most.process - own
            case = f"{count:,} lines"
            for metric, value in {
                "most in the process": most.process,
                "most in all processes": most.all,
                "index, as it says": own,
                "process less index": outside,
            }.items():
                figure(case, metric, value / 1e6, "MB", as_json=as_json)
            figure(case, "rate", count / cost.wall, "pages/s", as_json=as_json)


def short_texts(count: int) -> Iterator[dict[str, str]]:
    """Make pages of a hundred words, a thousand of each host."""
    for number in range(count):
        text = random.Random(number % DIFFERENT)
        url = f"https://host-{number // 1000}.example/{number}"
        yield {"url": url, "text": ". ".join(line(text, 25) for _ in range(4))}


def scan(source: Path, folder: Path, *more: str | Path) -> Command:
    """Return the command, with outputs in a folder."""
    outputs = ("-o", folder / "kept.jsonl", "--duplicates", folder / "dropped.jsonl")
    return (sys.executable, "-m", "dedup_filter", "scan", source, *outputs, *more)


def compare_verdicts(folders: list[Path], most: int | None, as_json: bool) -> None:
    """Scan pages as a WARC; print the rate, and whether the verdicts are those of a crawl."""
    pages = [page for path in folders for page in read_pages(path, most or sys.maxsize)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archive = folder / "pages.warc.gz"
        write_warc(pages, archive)
        marked = folder / "marked.jsonl"
        command: Command = [
            sys.executable,
            "-m",
            "dedup_filter",
            "scan",
            archive,
            "--mark",
            marked,
        ]
        for case, workers in (("two processes", "2"), ("one process", "1")):
            cost = run([*command, "--force", "--workers", workers], folder / "log")
            figure(case, "rate", len(pages) / cost.wall, "pages/s", as_json=as_json)
            figure(case, "CPU", cost.cpu / len(pages) * 1000, "ms/page", as_json=as_json)
        scanned = [said(row["url"], row["dedup"]) for row in rows_of(marked)]
        figure("WARC", "pages", len(scanned), "", as_json=as_json)
        dropped = sum(row[2] is not None for row in scanned)
        figure("WARC", "dropped", dropped, "", as_json=as_json)
        others = {"see_many": list(seen(pages)), "crawl by Scrapy": list(crawled(archive, folder))}
    for name, verdicts in others.items():
        different = sum(one != other for one, other in zip(scanned, verdicts, strict=False))
        different += abs(len(scanned) - len(verdicts))
        figure(f"scan, {name}", "verdicts that differ", different, "", as_json=as_json)
        if not as_json:
            print(f"verdicts equal: {'no' if different else 'yes'}")


def said(url: str, verdict: dict[str, Any]) -> tuple[Any, ...]:
    """Return what can be compared of a verdict."""
    return (url, *(verdict[name] for name in SAID))


def write_warc(pages: list[Page], path: Path) -> None:
    """Write pages as the responses of a crawl."""
    with path.open("wb") as file:
        for page in pages:
            http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page.body
            head = (
                f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {page.url}\r\n"
                f"Content-Length: {len(http)}\r\n\r\n"
            )
            file.write(gzip.compress(head.encode() + http + b"\r\n\r\n"))


def seen(pages: list[Page]) -> Iterator[tuple[Any, ...]]:
    """Judge pages by `see_many`, in this process."""
    with NearDuplicateFilter.open() as kept:
        given = ({"url": page.url, "html": page.body} for page in pages)
        for page, verdict in zip(pages, kept.see_many(given), strict=True):
            yield said(page.url, verdict.as_json())


def crawled(archive: Path, folder: Path) -> Iterator[tuple[Any, ...]]:
    """Crawl an archive by the spider `warc`, one item at a time, and read its tagged items."""
    feed = folder / "crawled.jsonl"
    crawl: Command = [sys.executable, "-m", "scrapy", "crawl", "warc", "-a", f"path={archive}"]
    settings = ["-s", "DEDUP_ACTION=tag", "-s", "CONCURRENT_ITEMS=1", "-O", f"{feed}:jsonlines"]
    run([*crawl, *settings], folder / "log", directory=REPOSITORY)
    for row in rows_of(feed):
        yield said(row["url"], row["dedup"])


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Read JSON lines."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
