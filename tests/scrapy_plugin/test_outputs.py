"""Duplicates are written as they are found, once a page, whatever becomes of the file."""

import json
import logging
from contextlib import closing
from pathlib import Path

import pytest

from dedup_filter import Verdict
from dedup_filter.errors import ConfigError
from dedup_filter.scrapy_plugin.outputs import DuplicatesFile, require_report_path

FULL = Path("/dev/full")
NEAR = Verdict(
    "near",
    "http://a/",
    3,
    0.9412,
    page=9,
    original_page=7,
    fingerprint=0xAB,
    words=68,
    lost=("XL", "EUR 26.90"),
    lost_words=4,
)


def opened(path: Path) -> "closing[DuplicatesFile]":
    return closing(DuplicatesFile(str(path)))


def lines_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


def judged(crawl, response, count):
    """Return the verdicts on so many items of a response."""
    items = [{"number": number} for number in range(count)]
    crawl.expect(response, *items, ends=True)
    return [crawl.put_through(item, response) for item in items]


def test_a_line_tells_all_and_a_file_is_continued(tmp_path):
    path = tmp_path / "dropped.jsonl"
    for url in ("http://b/\ud800\n", "http://c/"):
        with opened(path) as file:
            file.write(url, NEAR)
    said = {
        "outcome": "near",
        "original": "http://a/",
        "distance": 3,
        "similarity": 0.9412,
        "lost": ["XL", "EUR 26.90"],
        "lost_words": 4,
        "words": 68,
        "reason": None,
        "detail": None,
        "cluster": 7,
        "fingerprint": "0x00000000000000ab",
        "change": None,
    }
    assert lines_of(path) == [{"url": url, **said} for url in ("http://b/\ud800\n", "http://c/")]


def test_a_line_that_was_cut_off_is_ended_before_the_next(tmp_path):
    path = tmp_path / "dropped.jsonl"
    path.write_bytes(b'{"url": "http://a/"}\n{"url": "htt')
    with opened(path) as file:
        file.write("http://b/", NEAR)
    whole, cut, new = path.read_bytes().splitlines()
    assert (whole, cut) == (b'{"url": "http://a/"}', b'{"url": "htt')
    assert json.loads(new)["url"] == "http://b/"


def test_a_path_that_cannot_be_written_is_a_wrong_setting(tmp_path):
    with pytest.raises(ConfigError, match="cannot be written"):
        DuplicatesFile(str(tmp_path))
    for accept in (DuplicatesFile, require_report_path):
        with pytest.raises(ConfigError, match="cannot be written: its folder does not exist"):
            accept(str(tmp_path / "none" / "dropped.jsonl"))
    assert not [*tmp_path.iterdir()]
    (tmp_path / "mine.html").write_text("mine")
    with pytest.raises(ConfigError, match="exists and is no report of this program"):
        require_report_path(str(tmp_path / "mine.html"))


@pytest.mark.parametrize("action", ["drop", "tag"])
def test_each_page_is_written_once_however_many_items_it_has(
    make_crawl, respond, page, tmp_path, action
):
    path = tmp_path / "dropped.jsonl"
    crawl = make_crawl(DEDUP_ACTION=action)
    first, twin = respond("http://a/", page(1)), respond("http://b/", page(1))
    with opened(path) as file:
        crawl.pipeline.duplicates = file
        judged(crawl, first, 1)
        assert {each.outcome for each in judged(crawl, twin, 3)} == {"exact"}
    (line,) = lines_of(path)
    assert (line["url"], line["outcome"], line["original"]) == ("http://b/", "exact", "http://a/")


@pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")
def test_a_full_disk_costs_no_verdict(make_crawl, respond, page, caplog):
    caplog.set_level(logging.ERROR, "dedup_filter")
    crawl = make_crawl()
    with opened(FULL) as file:
        crawl.pipeline.duplicates = file
        for url in ("http://a/", "http://b/"):
            judged(crawl, respond(url, page(1)), 1)
    assert (crawl.stats["dedup/exact"], crawl.stats["dedup/errors"]) == (1, 1)
    assert "A duplicate could not be written (DEDUP_DUPLICATES)" in caplog.text
