"""`dedup-filter index import` of the items of a feed."""

import json
import os
import signal
import subprocess

import pytest
from command_line import COMMAND, lines, run
from index_feed import ITEMS, article, item, kept, records, stats, write_jsonl
from redis_servers import wait_until

from dedup_filter import NearDuplicateFilter


class TestImportOfItems:
    def test_reads_html_or_else_text_and_nothing_else(self, place, tmp_path):
        html = f"<p>{article(1)}</p>"
        items = [
            {"url": "https://example.com/1", "html": html, "text": "A teaser."},
            {"url": "https://example.com/2", "html": None, "text": article(2)},
            {"url": "https://example.com/3", "text": article(2), "body": article(4)},
            {"url": "https://example.com/4", "text": article(1), "link": "https://example.org"},
        ]
        feed = write_jsonl(tmp_path / "feed.jsonl", items)
        (found,) = lines("index", "import", place.new("index"), feed, "--json")
        assert found["outcomes"] == {"new": 2, "exact": 2}
        assert [record.url for record in kept(place.new("index"))] == [
            f"https://example.com/{number}" for number in (1, 2)
        ]
        assert stats(place.new("index"))["outcomes"] == {"new": 2, "exact": 2}

    def test_takes_the_names_that_are_given(self, tmp_path):
        items = [{"where": "https://example.com/1", "head": "A title", "what": article(1)}]
        feed = write_jsonl(tmp_path / "feed.jsonl", items)
        names = ["--url-field", "where", "--text-fields", "head, what"]
        (found,) = lines("index", "import", str(tmp_path / "index"), feed, *names, "--json")
        assert found["outcomes"] == {"new": 1}

    def test_counts_lines_without_what_is_named(self, tmp_path):
        feed = write_jsonl(tmp_path / "feed.jsonl", [ITEMS[0], {**ITEMS[1], "what": article(1)}])
        arguments = [str(tmp_path / "index"), feed, "--text-fields", "what", "--skip-bad-lines"]
        code, out, err = run("index", "import", *arguments)
        assert (code, out) == (0, "1 page (1 new)\n")
        assert "has no text of a page (looked for: what)" in err
        assert "1 bad line" in err

    def test_counts_a_page_without_text_as_unjudged(self, tmp_path):
        empty = [{**ITEMS[0], "text": ""}, {"url": "https://example.com/", "html": "<p>"}]
        feed = write_jsonl(tmp_path / "feed.jsonl", empty)
        (found,) = lines("index", "import", str(tmp_path / "index"), feed, "--json")
        assert found["outcomes"] == {"unjudged": 2}

    def test_counts_as_a_crawl_of_its_own(self, place):
        index = place.seeded()
        with NearDuplicateFilter.open(index) as pages:
            assert pages.see(ITEMS[0]["url"], text=article(0)).outcome == "revisit"
            assert pages.see("https://example.org/", text=article(1)).outcome == "exact"
        assert [crawl["name"] for crawl in stats(index)["crawls"]] == ["import", None]

    def test_leaves_tables_of_another_distance_and_scope_as_they_are(self, tmp_path):
        folder = tmp_path / "index"
        with NearDuplicateFilter.open(folder, max_distance=3, scope="host") as pages:
            pages.see(**ITEMS[0])
        elsewhere = item(0, url="https://elsewhere.example/")
        code, out, err = run("index", "import", str(folder), text=json.dumps(elsewhere))
        assert (code, out, err) == (0, "1 page (1 new)\n", "")
        tables = stats(folder)["tables"]
        assert (tables["max_distance"], tables["scope"]) == (3, "host")

    def test_uses_the_options_of_the_crawlers_of_a_shared_index(self, servers):
        location = servers.new("index")
        options = {"max_distance": 3, "scope": "host", "expire_days": 9, "min_similarity": None}
        with NearDuplicateFilter.open(location, **options) as pages:
            pages.see(**ITEMS[0])
        elsewhere = item(0, url="https://elsewhere.example/")
        code, out, err = run("index", "import", location, text=json.dumps(elsewhere))
        assert (code, out, err) == (0, "1 page (1 new)\n", "")
        assert stats(location)["options"] == {**options, "max_pages": None}

    def test_says_that_tables_are_made_anew(self, index):
        (path,) = index.glob("tables/*/run0.bin")
        path.write_bytes(b"")
        code, _, err = run("index", "import", str(index), text=json.dumps(item(30)))
        assert code == 0
        assert "its tables are made anew from the record" in err
        assert len(err.splitlines()) == 1

    def test_uses_the_options_that_the_index_was_made_with(self, place, tmp_path):
        index = place.new("index")
        NearDuplicateFilter.open(index, features="shingles", title_weight=2).close()
        feed = write_jsonl(tmp_path / "feed.jsonl", ITEMS)
        assert run("index", "import", index, feed)[0] == 0
        code, _, err = run("index", "import", index, feed, "-o", "features=words")
        assert code == 2
        assert "title_weight" in err or "features" in err

    @pytest.mark.parametrize(
        ("bad", "why"),
        [
            ("{", "is not JSON"),
            ("[1]", "is no JSON object"),
            ("\x00", "is not JSON"),
            ('{"text": "no address"}', "has no URL"),
            ('{"link": "https://example.com/", "text": "a"}', "has no URL (looked for: url); say"),
            ('{"url": "https://example.com/"}', "has no text of a page (looked for: html, text)"),
            ('{"url": "https://example.com/", "body": "<html><p>a"}', "has no text of a page"),
            ('{"url": "https://example.com/", "html": {}}', "has something else than text"),
            ("[" * 100_000, "is not JSON"),
        ],
        ids=range(9),
    )
    def test_a_bad_line_ends_it_unless_told_otherwise(self, tmp_path, bad, why):
        text = "\n".join([json.dumps(ITEMS[0]), bad, "", json.dumps(ITEMS[1])])
        code, out, err = run("index", "import", str(tmp_path / "one"), text=text)
        assert (code, out) == (2, "")
        assert err.startswith(f"Error: standard input, line 2: it {why}")
        assert len(err.splitlines()) == 1
        assert len(err) < 300
        assert len(records(tmp_path / "one")) == 1
        code, out, err = run(
            "index", "import", str(tmp_path / "two"), "--skip-bad-lines", text=text
        )
        assert (code, out) == (0, "2 pages (2 new)\n")
        assert err.startswith(f"1 bad line; the first: standard input, line 2: it {why}")

    @pytest.mark.parametrize("bad", [1, 2])
    def test_can_go_on_behind_a_bad_line(self, place, bad):
        feed = [json.dumps(each) for each in ITEMS[:3]]
        text = "\n".join([*feed[: bad - 1], "{", *feed[bad:]])
        arguments = ["index", "import", place.new("one")]
        assert run(*arguments, text=text)[0] == 2
        code, out, _ = run(*arguments, "--from-line", str(bad + 1), text=text)
        assert (code, out) == (0, f"{(rest := 3 - bad)} page{'s' * (rest > 1)} ({rest} new)\n")

    def test_says_what_a_feed_should_be_when_it_is_an_array(self, tmp_path):
        text = json.dumps(ITEMS, indent=0)
        code, _, err = run("index", "import", str(tmp_path / "index"), text=text)
        assert code == 2
        assert "an object on each line is wanted" in err
        assert not (tmp_path / "index").exists()

    def test_says_in_words_what_came_of_it(self, tmp_path):
        index, export = str(tmp_path / "index"), str(tmp_path / "export.jsonl")
        for _ in range(2):
            with NearDuplicateFilter.open(index) as pages:
                pages.see("https://example.com/", html=f"<p>{article(0)}</p>")
        assert run("index", "export", index, "--output", export)[0] == 0
        _, first, _ = run("index", "import", str(tmp_path / "other"), export)
        assert first == "1 page (1 revisited)\nframes of 1 host\n"
        _, again, _ = run("index", "import", str(tmp_path / "other"), export)
        assert again == "0 pages\n1 page there already\nframes of 1 host known already\n"

    def test_of_nothing_makes_nothing(self, place):
        assert run("index", "import", place.new("index"))[:2] == (0, "0 pages\n")
        assert "there is no index at" in run("index", "stats", place.new("index"))[2]

    def test_shows_how_far_it_is_on_a_terminal_only(self, tmp_path):
        pty = pytest.importorskip("pty")
        feed = write_jsonl(tmp_path / "feed.jsonl", ITEMS)
        ours, theirs = pty.openpty()
        finished = subprocess.run(
            [*COMMAND, "index", "import", str(tmp_path / "index"), feed],
            stdout=subprocess.PIPE,
            stderr=theirs,
            check=False,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        )
        os.close(theirs)
        shown = os.read(ours, 100_000).decode()
        os.close(ours)
        assert (finished.returncode, finished.stdout) == (0, b"25 pages (5 near, 20 new)\n")
        assert "importing" in shown
        assert "100%" in shown

    def test_that_is_interrupted_keeps_what_was_taken(self, place):
        location = place.new("index")
        with subprocess.Popen(
            [*COMMAND, "index", "import", location],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            for each in ITEMS[:10]:
                process.stdin.write(json.dumps(each).encode() + b"\n")
            process.stdin.flush()
            wait_until(lambda: run("index", "stats", location)[0] == 0, "there is an index")
            if "redis:" in location:  # a directory shows its pages when they are flushed
                wait_until(lambda: stats(location)["kept"], "a page is kept")
            process.send_signal(signal.SIGINT)
            assert process.stderr.read().strip() == b""
            assert process.wait() == 130
        found = stats(location)
        assert found["kept"] <= 10
        assert found["pending"] == found.get("processes", 0) == 0
        assert run("index", "check", location)[0] == 0


@pytest.mark.parametrize("command", ["import", "migrate"])
def test_a_kill_in_the_midst_leaves_an_index_that_is_clean(index, tmp_path, command):
    feed = write_jsonl(tmp_path / "feed.jsonl", [item(n) for n in range(60)] * 100)
    arguments = [feed] if command == "import" else ["-o", "features=shingles"]
    before = len(records(index))

    def is_in_the_midst():
        if command == "migrate":
            return any(tmp_path.glob(".index.new-*")) or process.poll() is not None
        return len(records(index)) > before

    with subprocess.Popen([*COMMAND, "index", command, str(index), *arguments]) as process:
        wait_until(is_in_the_midst, "it has begun to write")
        process.kill()
    assert run("index", "check", str(index))[0] == 0
    assert len(records(index)) >= before
