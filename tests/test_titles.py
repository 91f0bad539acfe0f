"""The title that is given with a text is its headline, wherever the text comes from.

Three texts on one host differ in a line or not at all, and have the headlines of two pages.
"""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import lines, refused, run_process
from made_text import prose

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.store.sqlite_store import SqliteStore

TEXT = f"Room {{}}. {prose(1, words=170)}"
PAGES = [
    {"url": f"https://www.example.com/{number}", "text": TEXT.format(room), "title": title}
    for number, (room, title) in enumerate(
        [(214, "Anna Berg"), (216, "Jonas Falk"), (215, " Anna \n Berg")]
    )
]
OUTCOMES = ["new", "new", "near"]
ITEMS = [
    {"url": each["url"], "body": {"text": each["text"]}, "head": {"line": each["title"]}}
    for each in PAGES
]
OPTIONS = ["--text-fields", "body.text", "--title-field", "head.line"]


def outcomes(verdicts):
    return [verdict.outcome for verdict in verdicts]


def test_texts_with_different_titles_are_different_pages(pages):
    without = [{**each, "title": None, "url": f"{each['url']}x"} for each in PAGES]
    assert outcomes(pages.see(**each) for each in PAGES) == OUTCOMES
    verdict = pages.see(**{**PAGES[0], "url": "https://www.example.com/4", "title": "Ida"})
    assert (verdict.outcome, verdict.refused.rule) == ("new", "headline")
    with NearDuplicateFilter.open() as others:
        assert outcomes(others.see(**each) for each in without) == ["new", "near", "near"]


@pytest.mark.parametrize("kind", ["text", "html", "bytes"])
def test_the_title_of_html_comes_first(pages, kind):
    """A part of a page has none: then the one that is given counts."""

    def see(number, title, within=""):
        body = f"{within}<p>{TEXT.format(number)}</p>"
        content = {"html": body.encode() if kind == "bytes" else body}
        if kind == "text":
            content = {"text": TEXT.format(number)}
        return pages.see(f"https://www.example.com/{number}", title=title, **content).outcome

    assert [see(n, title) for n, title in enumerate(["Anna", "Jonas", "Anna"])] == OUTCOMES
    if kind != "text":
        assert see(4, "Ida", "<title>Anna</title>") == "near"
        assert see(5, "Anna", "<title>Ida</title>") == "new"


def test_a_title_is_a_text(pages):
    with pytest.raises(TypeError, match="title is a str, not int"):
        pages.see("https://www.example.com/", text="text", title=5)
    assert pages.see("https://www.example.com/", text="", title="A title").reason == "no_text"
    assert len(pages) == 0


def test_all_ways_into_a_filter_take_one():
    with NearDuplicateFilter.open(workers=1) as pages:
        assert outcomes(pages.see_many(PAGES)) == OUTCOMES
        claimed = [pages.claim(**each) for each in PAGES]
        assert outcomes(claimed) == ["exact", "exact", "near"]
        assert pages.claim(**PAGES[0]).original == PAGES[0]["url"]
        assert pages.find(**PAGES[0])[0].similarity == 1.0


@pytest.mark.parametrize("name", ["feed.jsonl", "feed.parquet"])
def test_a_scan_reads_it(tmp_path, name):
    feed, output = tmp_path / name, tmp_path / f"u{name}"
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(ITEMS), feed)
    else:
        feed.write_text("".join(f"{json.dumps(each)}\n" for each in ITEMS))
    (found,) = lines("scan", str(feed), "-o", str(output), "--json", *OPTIONS)
    assert found["outcomes"] == {"new": 2, "near": 1}
    assert "'head.nosuch'" in refused(
        "scan", str(feed), "-o", str(output), "--force", *OPTIONS[:3], "head.nosuch"
    )


def test_an_index_keeps_it_for_another_judgement(tmp_path):
    text = "".join(f"{json.dumps(each)}\n" for each in ITEMS)
    index = str(tmp_path / "index")
    code, _, err = run_process("see", index, "--set", "keep_text=True", *OPTIONS, text=text)
    assert (code, err) == (0, "")
    with SqliteStore.open_to_read(index) as reader:
        titles = [record.title for record in reader.records()]
        assert titles == ["Anna Berg", "Jonas Falk", "Anna Berg"]
    _, found = lines("tune", index, "--max-distance", "11", "--json")
    assert (found["changes"], found["dropped"]) == ([], 1)
    (found,) = lines("explain", PAGES[1]["url"], "--index", index, "--json")
    assert (found["title"], found["digest"]) == ("Jonas Falk", _digest(index, 1))


def _digest(index, place):
    with SqliteStore.open_to_read(index) as reader:
        return [*reader.records()][place].digest.hex()
