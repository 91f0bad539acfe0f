"""Crawl two editions of a real HTML manual and compare every verdict with the exact truth.

    python benchmarks/manuals.py OLD_FOLDER NEW_FOLDER

Both folders are served on loopback and crawled by the spider `site`, the old one first. The
truth is computed, not opinion: the Jaccard similarity of the sets of word 4-grams (characters
in Chinese) of a page's text, its markup taken off by lxml alone. A new page is a "duplicate" if
its best counterpart in the old edition reaches 0.8, "different" if none reaches 0.4; between them
neither verdict is called wrong.

Such manuals are packages of Debian (python3.11-doc, python3.13-doc, debian-handbook,
postgresql-doc-15, ...): `apt-get download NAME`, then `dpkg -x FILE FOLDER`.
"""

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from lxml import html as lxml_html

REPOSITORY = Path(__file__).resolve().parent.parent
DROPPED = re.compile(r"Dropped \((?P<how>[^)]*)\): (?P<url>\S+) repeats (?P<original>\S+)")
DUPLICATE, DIFFERENT = 0.8, 0.4


class QuietHandler(SimpleHTTPRequestHandler):
    """Serve a folder without a line a request."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Manual:
    """One edition: its pages' shingles by relative path, and the server that shows them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        handler = partial(QuietHandler, directory=str(self.folder))
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        self._shingles: dict[str, set[int]] = {}

    def owns(self, url: str) -> bool:
        """Tell whether a URL is of this edition."""
        return url.startswith(self.url)

    def shingles(self, url: str) -> set[int]:
        """Return the set of 4-gram hashes of a page's text."""
        path = unquote(urlsplit(url).path).lstrip("/")
        if path not in self._shingles:
            file = self.folder / path
            file = file / "index.html" if file.is_dir() else file
            self._shingles[path] = exact_shingles(file.read_bytes())
        return self._shingles[path]


def exact_shingles(body: bytes) -> set[int]:
    """Return the hashes of the runs of four words (or Chinese characters) of a page."""
    tree: Any = lxml_html.fromstring(body)
    for element in tree.xpath("//script | //style | //head"):
        element.drop_tree()
    return text_shingles(tree.text_content())


def text_shingles(text: str) -> set[int]:
    """Return the hashes of the runs of four words (or Chinese characters) of a text."""
    words = re.findall(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+", text.lower())
    return {hash(tuple(words[i : i + 4])) for i in range(max(len(words) - 3, 1))}


def jaccard(one: set[int], other: set[int]) -> float:
    """Return the exact Jaccard similarity."""
    return len(one & other) / max(len(one | other), 1)


def crawl(urls: list[str], feed: Path, *settings: str) -> tuple[str, float]:
    """Run the spider `site`; return its log and the CPU seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "scrapy", "crawl", "site", "-a", f"url={' '.join(urls)}"]
    fast = ["-s", "AUTOTHROTTLE_ENABLED=False", "-s", "DOWNLOAD_DELAY=0"]
    run = subprocess.run(
        [*command, "-O", f"{feed}:jsonlines", *fast, *settings],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return run.stderr, cpu


def judge(old: Manual, new: Manual, kept: list[str], dropped: dict[str, str]) -> Counter[str]:
    """Compare each verdict with the truth; print what each duplicate that was kept adds."""
    outcome: Counter[str] = Counter()
    manuals = {manual.url: manual for manual in (old, new)}
    originals = [url for url in kept if old.owns(url)]

    def shingles(url: str) -> set[int]:
        return next(m for prefix, m in manuals.items() if url.startswith(prefix)).shingles(url)

    for url, original in dropped.items():
        similarity = jaccard(shingles(url), shingles(original))
        edition = "new" if new.owns(url) else "old"
        same_path = urlsplit(url).path == urlsplit(original).path
        outcome[f"{edition}: dropped"] += 1
        outcome[f"{edition}: dropped, same path"] += same_path
        outcome[f"{edition}: dropped, identical"] += similarity == 1
        outcome[f"{edition}: dropped, but different"] += similarity < DIFFERENT
    for url in kept:
        if old.owns(url):
            outcome["old: kept"] += 1
            continue
        nearest = max(originals, key=lambda o: jaccard(shingles(url), shingles(o)))
        best = jaccard(shingles(url), shingles(nearest))
        outcome["new: kept"] += 1
        if best >= DUPLICATE:
            outcome["new: kept, but duplicate"] += 1
            added = len(shingles(url) - shingles(nearest))
            print(
                f"{urlsplit(url).path}: similarity {best:.3f}, {added} new 4-grams", file=sys.stderr
            )
        outcome["new: kept, different"] += best < DIFFERENT
    return outcome


def main() -> None:
    """Crawl, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    old, new = Manual(options.old), Manual(options.new)
    with tempfile.TemporaryDirectory() as folder:
        feed = Path(folder, "kept.jl")
        order = ["-s", "CONCURRENT_REQUESTS=1"]  # one after the other: the old edition first
        log, cpu = crawl([old.url, new.url], feed, *order)
        without = feed.with_name("all.jl")
        _, cpu_without = crawl([old.url, new.url], without, *order, "-s", "DEDUP_ENABLED=0")
        kept = [json.loads(line)["url"] for line in feed.open(encoding="utf-8")]
    dropped = {m["url"]: m["original"] for m in DROPPED.finditer(log)}
    figures: dict[str, float] = dict(sorted(judge(old, new, kept, dropped).items()))
    figures["CPU seconds with the filter"] = round(cpu, 2)
    figures["CPU seconds without"] = round(cpu_without, 2)
    for metric, value in figures.items():
        if options.json:
            unit = "s" if "CPU" in metric else "pages"
            row = {"case": "manuals", "metric": metric, "value": value, "unit": unit}
            print(json.dumps(row))
        else:
            print(f"{metric:32} {value:>8}")


if __name__ == "__main__":
    main()
