"""`scrapy crawl demo`: the outcome of each page is written down in expected.tsv."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from shown_commands import ROOT, blocks, require_printed

README = (ROOT / "README.md").read_text("utf-8")
SITE = Path(__file__).parents[2] / "crawler" / "demo_site"
ROWS = [
    line.split("\t")
    for line in (SITE / "expected.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
EXPECTED = {path: (verdict, original or None) for path, verdict, original, _ in ROWS}
DUPLICATES = {
    path: original for path, (verdict, original) in EXPECTED.items() if verdict in ("near", "exact")
}
# Breadth first: the front page, the list of each site, the pages in the order of those lists.
CRAWL_ORDER = sorted(EXPECTED, key=lambda path: (path != "/", EXPECTED[path][0] != "listing"))
OUTCOMES = {
    "kept": {"new"},
    "near": {"near", "exact"},
    "exact": {"exact"},
    "short": {"new", "unjudged"},
    "listing": {"new", "unjudged"},
}


def path_of(url: str) -> str:
    """Return the path of a page of which the first folder is told by the host."""
    if not url:
        return ""
    parts = urlsplit(url)
    site = parts.hostname.removesuffix(".example")
    page = f"{parts.path}?{parts.query}" if parts.query else parts.path
    return page if site == "demo" else f"/{site}{page}"


def test_the_crawl_drops_the_duplicates_and_nothing_else(crawl, tmp_path) -> None:
    done = crawl("demo", f"DEDUP_DUPLICATES={tmp_path / 'dropped.jsonl'}")
    assert done.exit_code == 0
    kept = [path_of(url) for url in done.urls]
    assert kept == [path for path in CRAWL_ORDER if path not in DUPLICATES]
    drops = re.findall(r"Dropped \((\w+).*\): (http:\S+) repeats (http:\S+)", done.log)
    assert {path_of(page): path_of(original) for _, page, original in drops} == DUPLICATES
    assert all(kind in OUTCOMES[EXPECTED[path_of(page)][0]] for kind, page, _ in drops)
    lines = (tmp_path / "dropped.jsonl").read_text("ascii").splitlines()
    written = {path_of(each["url"]): path_of(each["original"]) for each in map(json.loads, lines)}
    assert written == DUPLICATES
    total, dropped = len(EXPECTED), len(DUPLICATES)
    assert f"demo: {total} pages, {dropped} duplicates, all as expected" in done.log
    assert done.stats.get("dedup/near", 0) + done.stats.get("dedup/exact", 0) == dropped
    assert not re.search(r" (WARNING|ERROR|CRITICAL): ", done.log), done.log
    assert "Traceback" not in done.log
    shown = "".join(blocks(README, "text")).splitlines(keepends=True)
    require_printed("".join(line for line in shown if line.startswith("INFO")), done.log)


@pytest.mark.slow
def test_the_summary_names_each_page_that_came_out_otherwise(crawl) -> None:
    """With no bit to spare some edited articles are missed. Tag mode drops no page."""
    done = crawl("demo", "DEDUP_ACTION=tag", "DEDUP_MAX_DISTANCE=0", "DEDUP_SHARED_PHRASES=False")
    assert [path_of(url) for url in done.urls] == CRAWL_ORDER
    unexpected = []
    for path, item in zip(CRAWL_ORDER, done.items, strict=True):
        (verdict, original), tag = EXPECTED[path], item["dedup"]
        found = path_of(tag["original"] or "") or None
        if tag["outcome"] not in OUTCOMES[verdict] or found != original:
            unexpected.append(path)
            assert f"{path}: expected {verdict} of {original}" in done.log
    assert 0 < len(unexpected) < len(DUPLICATES)
    assert f"{len(unexpected)} NOT as expected" in done.log
