"""`dedup-filter index import` of the items of a feed."""

import json
import os
import signal
import subprocess

import pytest
from command_line import COMMAND, lines, refused, run, start
from index_feed import ITEMS, article, item, kept, records, stats, write_jsonl
from patience import wait_until

from dedup_filter import NearDuplicateFilter


def imported(location, *items, options=()):
    text = "".join(json.dumps(each) + "\n" for each in items)
    (found,) = lines("index", "import", str(location), "--json", *options, text=text)
    return found


def test_reads_html_or_else_text_and_nothing_else(place):
    one, two = article(1), article(5)
    items = [
        {"url": "https://example.com/1", "html": f"<p>{one}</p><p>{two}</p>", "text": "A teaser."},
        {"url": "https://example.com/2", "html": None, "text": article(2)},
        {"url": "https://example.com/3", "text": article(2), "body": article(4)},
        {"url": "https://example.com/4", "text": f"{one}\n\n {two}", "link": "https://example.org"},
        {"url": "https://example.com/5", "text": ""},
    ]
    found = imported(place.new("index"), *items)
    assert found["outcomes"] == {"new": 2, "exact": 1, "near": 1, "unjudged": 1}
    assert [record.url for record in kept(place.new("index"))] == [
        f"https://example.com/{number}" for number in (1, 2)
    ]


def test_takes_the_names_that_are_given(tmp_path):
    feed = [{"where": "https://example.com/1", "head": "A title", "what": article(1)}, ITEMS[0]]
    options = ["--url-field", "where", "--text-fields", "head, what", "--skip-bad-lines"]
    found = imported(tmp_path / "index", *feed, options=options)
    assert (found["outcomes"], found["bad_lines"]) == ({"new": 1}, 1)
    assert found["first_bad"].startswith("line 2: it has no URL (looked for: where)")


def test_uses_the_options_that_the_index_was_made_with(place):
    index = place.new("index")
    options = {"max_distance": 3, "scope": "host", "features": "shingles", "title_weight": 2}
    with NearDuplicateFilter.open(index, **options) as pages:
        pages.see(**ITEMS[0])
    assert imported(index, item(0, url="https://elsewhere.example/"))["outcomes"] == {"new": 1}
    found = stats(index)["options"]
    assert (found["max_distance"], found["scope"]) == (3, "host")
    feed = json.dumps(ITEMS[1])
    err = refused("index", "import", index, "--set", "features=words", text=feed)
    assert "title_weight" in err


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("{", "is no JSON object"),
        ("[" * 100_000, "is no JSON object; one on each line is wanted"),
        ('{"text": "no address"}', "has no URL"),
        ('{"url": "https://example.com/"}', "has no text of a page (looked for: html, text)"),
        ('{"url": "https://example.com/", "body": "<html><p>a"}', "has no text of a page"),
        ('{"url": "https://example.com/", "html": {}}', "has no text of a page"),
    ],
    ids=range(6),
)
def test_a_bad_line_ends_it_unless_told_otherwise(tmp_path, bad, why):
    feed = [json.dumps(ITEMS[0]), bad, "", json.dumps(ITEMS[1])]
    err = refused("index", "import", str(tmp_path / "one"), text="\n".join(feed))
    assert err.startswith(f"Error: line 2: it {why}")
    assert len(records(tmp_path / "one")) == 1
    arguments = ["index", "import", str(tmp_path / "two"), "--skip-bad-lines", "--json"]
    (found,) = lines(*arguments, text="\n".join(feed))
    assert (found["outcomes"], found["bad_lines"]) == ({"new": 2}, 1)
    assert found["first_bad"].startswith(f"line 2: it {why}")


@pytest.mark.parametrize("text", ["", "{}\n", json.dumps(ITEMS, indent=0)])
def test_of_nothing_makes_nothing(place, text):
    (found,) = lines("index", "import", place.new("index"), "--skip-bad-lines", "--json", text=text)
    assert found["lines"] == 0
    assert "there is no index at" in run("index", "stats", place.new("index"))[2]


def test_shows_how_far_it_is_on_a_terminal_only(tmp_path):
    pty = pytest.importorskip("pty")
    feed = write_jsonl(tmp_path / "feed.jsonl", ITEMS)
    ours, theirs = pty.openpty()
    command = [*COMMAND, "index", "import", str(tmp_path / "index"), feed, "--json"]
    terminal = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    pipes = {"stdout": subprocess.PIPE, "stderr": theirs}
    finished = subprocess.run(command, check=False, env=terminal, **pipes)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert json.loads(finished.stdout)["outcomes"] == {"near": 5, "new": 20}
    assert "importing" in shown
    assert "25" in shown


def test_that_is_interrupted_keeps_what_was_taken(place):
    location = place.new("index")
    with start("index", "import", location) as process:
        for each in ITEMS[:10]:
            process.stdin.write(json.dumps(each).encode() + b"\n")
        process.stdin.flush()
        wait_until(lambda: run("index", "stats", location)[0] == 0, "there is an index")
        if place.servers:  # a directory shows its pages when they are flushed
            wait_until(lambda: stats(location)["kept"], "a page is kept")
        process.send_signal(signal.SIGINT)
        assert process.stderr.read().strip() == b""
        assert process.wait() == 130
    found = stats(location)
    assert found["kept"] <= 10
    assert found.get("pending", 0) == found.get("processes", 0) == 0
    assert run("index", "stats", location, "--check")[0] == 0
