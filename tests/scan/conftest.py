"""A feed to scan: pages of which some repeat others, and what the online filter says of them."""

import json

import pytest
from index_feed import ITEMS, article, item

from dedup_filter import NearDuplicateFilter

SHORT = {"url": "https://www.example.com/short", "text": "too short"}
FEED = [
    *ITEMS[:8],
    item(30, html=f"<html><body><p>{article(3, 1)}</p></body></html>"),
    SHORT,
    {"title": "no page", "url": "https://www.example.com/none"},
    {"text": article(4)},
    *ITEMS[8:],
    item(5, lang="français", price=1.10),
]
"""In the order in which they are scanned; the last comes again at its own URL."""


@pytest.fixture(autouse=True)
def _one_core(monkeypatch):
    """Scans in this process have the workers that they ask for: each takes half a second to start.

    By default there are as many as cores; so it is in the scans that are processes of their own.
    """
    monkeypatch.setattr("dedup_filter.scan.scan.cores", lambda: 1)


@pytest.fixture(scope="session")
def verdicts():
    """What the online filter says of each of them, in order; None: there is no page."""
    found = []
    with NearDuplicateFilter.open() as pages:
        for line, each in enumerate(FEED, 1):
            part = "html" if "html" in each else "text"
            url = each.get("url", f"feed.jsonl:{line + 1}")  # a blank line is before it
            page = {part: each[part]} if part in each else None
            found.append(pages.see(url, **page) if page else None)
    return found


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder, which is the present one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def feed(here):
    """The feed as a file, byte for byte as some tool might write it."""
    lines = [json.dumps(each, ensure_ascii=bool(n % 2)).encode() for n, each in enumerate(FEED)]
    (here / "feed.jsonl").write_bytes(b" \n".join(lines[:5]) + b"\n\n" + b"\r\n".join(lines[5:]))
    return here / "feed.jsonl"
