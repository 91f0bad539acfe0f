"""`dedup-filter rules`: what it says of an index, and what the add-on then does in a real crawl."""

import json

import pytest
from command_line import lines, refused, run
from made_text import prose

from dedup_filter import NearDuplicateFilter

SITE = "https://shop.example"


@pytest.fixture
def crawled(place):
    """An index of 15 pages, each with and without a session; 15 that a parameter tells apart."""
    index = place.new("index")
    with NearDuplicateFilter.open(index) as pages:
        for n in range(15):
            for query in ("", f"?sid=s{n}"):
                pages.see(f"{SITE}/story/{n}{query}", text=prose(n))
            pages.see(f"{SITE}/list?page={n}", text=prose(100 + n))
    return index


def test_rules_are_told_and_written(crawled, tmp_path):
    path = tmp_path / "rules.json"
    code, out, err = run("rules", crawled, "-o", str(path))
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "45 URLs, 15 with the page of another; 1 rule, which would have saved 15 requests",
        f"{SITE} without sid, whatever the value: 15 URLs, precision 0.80 or more",
        f"    {SITE}/story/0?sid=s0",
        f"    {SITE}/story/0",
    ]
    (rule,) = json.loads(path.read_text())
    assert (rule["processor"], rule["args"]) == ("dedupFilter", [SITE, "parameters", "sid"])
    (found,) = lines("rules", crawled, "--json")
    assert found["rules"] == [rule]
    assert (found["saved"], found["urls"]) == (15, 45)
    assert "is not replaced without --force" in refused("rules", crawled, "-o", str(path))
    assert run("rules", crawled, "-o", str(path), "--force")[0] == 0


def test_nothing_is_proven_by_too_little_and_nothing_is_written(crawled, tmp_path):
    path = tmp_path / "rules.json"
    code, out, err = run("rules", crawled, "--min-support", "16", "-o", str(path))
    assert (code, err) == (1, f"no rule is proven: {path} is not written\n")
    assert "0 rules" in out
    assert not path.exists()


def test_an_index_without_duplicates_is_refused(tmp_path):
    index = tmp_path / "index"
    with NearDuplicateFilter.open(index) as pages:
        pages.see("https://a.example/", text=prose(1))
    assert "no page in the index repeats another" in refused("rules", str(index))
