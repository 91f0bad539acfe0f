"""`scrapy crawl demo`: the outcome of each page is written down in expected.tsv."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from crawler.demo_site.pages import build_pages

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


def test_each_page_has_an_expectation_that_can_be_met() -> None:
    paths = list(build_pages())
    assert list(EXPECTED) == paths
    for path, (verdict, original) in EXPECTED.items():
        assert verdict in OUTCOMES
        assert (original is not None) == (verdict in ("near", "exact"))
        if original:
            assert CRAWL_ORDER.index(original) < CRAWL_ORDER.index(path)
            assert EXPECTED[original][0] in ("kept", "short")


def test_the_crawl_drops_the_duplicates_and_nothing_else(crawl) -> None:
    done = crawl("demo")
    assert done.exit_code == 0
    kept = [path_of(url) for url in done.urls]
    assert kept == [path for path in CRAWL_ORDER if path not in DUPLICATES]
    drops = re.findall(r"(http://\S+\.example/\S*) repeats (http://\S+\.example/\S*)", done.log)
    assert {path_of(page): path_of(original) for page, original in drops} == DUPLICATES
    total, dropped = len(EXPECTED), len(DUPLICATES)
    assert f"demo: {total} pages, {dropped} duplicates, all as expected" in done.log
    assert done.stat("dedup/near") + done.stat("dedup/exact") == dropped
    assert not re.search(r" (WARNING|ERROR|CRITICAL): ", done.log), done.log
    assert "Traceback" not in done.log


@pytest.fixture(scope="module")
def tagged(crawl) -> dict[str, dict]:
    """The verdict of each page, in the order of the crawl."""
    done = crawl("demo", "DEDUP_ACTION=tag")
    return {path_of(item["url"]): item["dedup"] for item in done.items}


def test_tag_mode_drops_no_page(tagged) -> None:
    assert list(tagged) == CRAWL_ORDER


@pytest.mark.parametrize("path", EXPECTED)
def test_tag_mode_tells_the_expected_verdict(tagged, path) -> None:
    verdict, original = EXPECTED[path]
    assert tagged[path]["outcome"] in OUTCOMES[verdict]
    assert path_of(tagged[path]["original"] or "") == (original or "")


def test_the_summary_names_each_page_that_came_out_otherwise(crawl) -> None:
    done = crawl("demo", "DEDUP_MAX_DISTANCE=0")
    kept = {path_of(url) for url in done.urls}
    missed = [path for path in DUPLICATES if path in kept]
    assert missed, "with no bit to spare some edited article is missed"
    assert f"{len(missed)} NOT as expected" in done.log
    for path in missed:
        assert f"{path}: expected near of {DUPLICATES[path]}" in done.log
