"""`dedup-filter index ...` as a user has it: processes, files, exit codes, sentences."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest
from command_line import COMMAND, lines, run

from crawler.demo_site.pages import build_pages
from dedup_filter import FilterConfig, NearDuplicateFilter
from dedup_filter.store.page_reader import PageReader

PARAGRAPHS = [
    f"Paragraph {n} of the harbour report tells that ship {n * 7} came from port {n * 13} with "
    f"cargo {n * 5}, and that crane {n * 3} was at work on quay {n * 11} until hour {n * 17}."
    for n in range(400)
]


def article(number, changed=0):
    """A text of 180 words that no other number has; with a change near to its own."""
    start = number * 6
    return " ".join([*PARAGRAPHS[start : start + 6], f"edition {changed} of many" * bool(changed)])


def item(number, **fields):
    return {"url": f"https://www.example.com/{number}", "text": article(number), **fields}


ITEMS = [item(n) for n in range(20)] + [item(90 + n, text=article(n, 1)) for n in range(5)]


def write_jsonl(path, values):
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return str(path)


@pytest.fixture(scope="session")
def seeded(tmp_path_factory):
    """An index that was seeded with a feed: 20 pages and 5 near-duplicates, texts kept."""
    folder = tmp_path_factory.mktemp("seeded")
    feed = write_jsonl(folder / "feed.jsonl", ITEMS)
    index = folder / "index"
    code, out, err = run("index", "import", str(index), feed, "-o", "keep_text=true")
    assert (code, err) == (0, "")
    assert out == "25 pages (5 near, 20 new)\n"
    return index


@pytest.fixture
def index(seeded, tmp_path):
    """A copy of it that may be changed."""
    return shutil.copytree(seeded, tmp_path / "index")


@pytest.fixture
def export(index, tmp_path):
    path = tmp_path / "export.jsonl"
    assert run("index", "export", str(index), "--output", str(path))[0] == 0
    return path


def contents(folder):
    """What a folder holds; of the record, the rows: opening it to read touches the log's files."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(("-shm", "-wal"))
    }


def tamper(index, sql):
    connection = sqlite3.connect(index / "pages.sqlite3")
    connection.executescript(sql)
    connection.close()


def records(index):
    with PageReader.open_to_read(index) as reader:
        return list(reader.records())


def stats(index):
    (found,) = lines("index", "stats", str(index), "--json")
    return found


class TestStats:
    def test_as_one_object(self, index):
        found = stats(index)
        assert (found["pages"], found["kept"], found["pending"]) == (25, 20, 0)
        assert found["outcomes"] == {"new": 20, "near": 5}
        assert (found["hosts"], found["texts"]) == (1, 25)
        assert found["first_seen"] <= found["last_seen"]
        assert found["bytes"]["record"] > 25 * 500
        assert found["tables"] == {
            "max_distance": FilterConfig().max_distance,
            "scope": "all",
            "entries": 20,
        }
        assert found["scheme"]["features"] == "content"
        (crawl,) = found["crawls"]
        assert (crawl["crawl"], crawl["name"], crawl["outcomes"]) == (
            1,
            "import",
            found["outcomes"],
        )

    def test_for_people(self, index):
        code, out, err = run("index", "stats", str(index))
        assert (code, err) == (0, "")
        assert "25 (5 near, 20 new)" in out
        assert "20 entries, max_distance 10" in out

    def test_of_an_empty_index(self, tmp_path):
        NearDuplicateFilter.open(tmp_path / "index").close()
        found = stats(tmp_path / "index")
        assert (found["pages"], found["outcomes"], found["first_seen"]) == (0, {}, None)
        assert run("index", "stats", str(tmp_path / "index"))[0] == 0

    def test_reads_only(self, index):
        before = contents(index)
        for command in (["stats"], ["check"], ["export"]):
            assert run("index", *command, str(index))[0] == 0
        assert contents(index) == before

    def test_control_characters_of_a_crawls_name_do_not_reach_the_terminal(self, tmp_path):
        NearDuplicateFilter.open(tmp_path / "index", crawl="\x1b[31mred\n").close()
        code, out, _ = run("index", "stats", str(tmp_path / "index"))
        assert code == 0
        assert "\\x1b[31mred\\n" in out
        assert "\x1b" not in out


class TestBesideACrawl:
    @pytest.fixture
    def crawl(self, index):
        """A crawl with a page committed and flushed, one pending, and one dropped for that."""
        pages = NearDuplicateFilter.open(index)
        pages.see("https://www.example.com/done", text=article(40))
        pages.flush()
        pages.claim("https://www.example.com/pending", text=article(41))
        pages.commit(pages.claim("https://www.example.com/copy", text=article(41)))
        pages.flush()
        yield pages
        pages.close()

    @pytest.mark.usefixtures("crawl")
    def test_what_reads_works(self, index):
        found = stats(index)
        assert (found["pages"], found["pending"]) == (28, 1)
        assert run("index", "check", str(index))[0] == 0

    @pytest.mark.usefixtures("crawl")
    def test_an_export_leaves_out_what_is_pending(self, index):
        _, *pages = lines("index", "export", str(index))
        urls = {page.get("url") for page in pages}
        assert "https://www.example.com/done" in urls
        assert not {"https://www.example.com/pending", "https://www.example.com/copy"} & urls

    @pytest.mark.parametrize(
        "command",
        [
            ["forget", "DIR", "https://www.example.com/1"],
            ["compact", "DIR"],
            ["migrate", "DIR", "-o", "features=shingles"],
            ["migrate", "DIR", "--fresh"],
            ["import", "DIR", "FEED"],
        ],
        ids=" ".join,
    )
    @pytest.mark.usefixtures("crawl")
    def test_what_writes_is_refused_with_the_owners_name(self, index, tmp_path, command):
        feed = write_jsonl(tmp_path / "feed.jsonl", ITEMS)
        before = records(index)
        paths = {"DIR": str(index), "FEED": feed}
        code, out, err = run("index", *(paths.get(word, word) for word in command))
        assert (code, out) == (2, "")
        assert f"pid {os.getpid()}" in err
        assert len(err.splitlines()) == 1
        assert records(index) == before
        assert not list(tmp_path.glob("*backup*"))


class TestCheck:
    def test_a_clean_index(self, index):
        (found,) = lines("index", "check", str(index), "--json")
        assert found["is_clean"]
        assert (found["pages"], found["entries"], found["faults"]) == (25, 20, [])

    def test_a_wrong_row(self, index):
        tamper(index, "UPDATE pages SET host = 99 WHERE id = 3")
        code, out, err = run("index", "check", str(index))
        assert (code, err) == (1, "")
        assert out == "fault: the record: a page has no host\n"

    def test_tables_that_hold_something_else_than_the_record(self, index):
        # As no trigger lets it happen: the log knows nothing of the change.
        tamper(
            index,
            """
            CREATE TEMP TABLE log AS SELECT * FROM sqlite_sequence;
            UPDATE pages SET fingerprint = 5 WHERE id = 3;
            DELETE FROM superseded;
            UPDATE sqlite_sequence SET seq = ifnull(
                (SELECT seq FROM log WHERE log.name = 'superseded'), 0
            ) WHERE name = 'superseded';
            """,
        )
        code, out, _ = run("index", "check", str(index), "--json")
        assert code == 1
        faults = json.loads(out)["faults"]
        assert len(faults) == 2
        assert all("page 3" in fault for fault in faults)

    def test_a_flipped_bit_in_a_table(self, index):
        (path,) = index.glob("tables/*/run0.bin")
        content = bytearray(path.read_bytes())
        content[17] ^= 4
        path.write_bytes(content)
        code, out, _ = run("index", "check", str(index))
        assert code == 1
        assert out.startswith("fault: the tables: ")

    def test_tables_that_are_missing_are_no_fault(self, index):
        shutil.rmtree(index / "tables")
        code, out, _ = run("index", "check", str(index))
        assert code == 0
        assert out.startswith("note: there are no tables")

    def test_tables_behind_the_record_are_no_fault(self, index):
        assert run("index", "forget", str(index), ITEMS[3]["url"])[0] == 0
        (found,) = lines("index", "check", str(index), "--json")
        assert found["is_clean"]
        assert (found["pages"], found["entries"]) == (24, 20)

    def test_tables_inside_hosts(self, tmp_path):
        with NearDuplicateFilter.open(tmp_path / "index", scope="host") as pages:
            for number in range(10):
                pages.see(f"https://{number % 3}.example.com/", text=article(number))
        (found,) = lines("index", "check", str(tmp_path / "index"), "--json")
        assert found["is_clean"]
        assert found["entries"] == 10
        assert stats(tmp_path / "index")["tables"]["scope"] == "host"

    @pytest.mark.parametrize("place", [0, 3000, 30_000])
    def test_a_record_that_is_overwritten(self, index, place):
        path = index / "pages.sqlite3"
        content = bytearray(path.read_bytes())
        content[place : place + 20_000] = b"x" * 20_000
        path.write_bytes(content)
        code, out, err = run("index", "check", str(index))
        assert code in (1, 2)
        assert len((out + err).splitlines()) == 1
        assert "Traceback" not in err


class TestExportAndImport:
    def test_make_an_equal_index(self, export, tmp_path):
        assert run("index", "import", str(tmp_path / "other"), str(export))[0] == 0
        again = run("index", "export", str(tmp_path / "other"))[1]
        assert again == export.read_text()
        assert run("index", "check", str(tmp_path / "other"))[0] == 0

    def test_lines_have_what_was_recorded(self, export, index):
        head, *pages = map(json.loads, export.read_text().splitlines())
        assert head["dedup_filter_export"] == 1
        assert head["crawls"][0]["name"] == "import"
        near = pages[20]
        assert (near["outcome"], near["original_page"]) == ("near", 1)
        assert near["original"] == ITEMS[0]["url"]
        assert near["distance"] <= 10
        assert 0.7 <= near["similarity"] <= 1
        assert near["text"] == article(0, 1)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", near["first_seen"])
        assert [int(page["fingerprint"], 16) for page in pages] == [
            record.fingerprint for record in records(index)
        ]

    def test_fingerprints_of_an_export_can_be_searched(self, export):
        pages = [json.loads(line) for line in export.read_text().splitlines()[1:]]
        text = "\n".join(page["fingerprint"] for page in pages)
        assert len(lines("pairs", "-d", "10", text=text)) >= 5

    def test_a_second_time_change_nothing(self, export, index):
        before = records(index)
        (found,) = lines("index", "import", str(index), str(export), "--json")
        assert (found["outcomes"], found["there_already"]) == ({}, 25)
        assert records(index) == before

    def test_go_on_where_they_were_cut_short(self, export, tmp_path):
        whole = export.read_text().splitlines(keepends=True)
        (tmp_path / "half.jsonl").write_text("".join(whole[:23]))
        other = str(tmp_path / "other")
        assert run("index", "import", other, str(tmp_path / "half.jsonl"))[0] == 0
        (found,) = lines("index", "import", other, str(export), "--json")
        assert (found["there_already"], found["outcomes"]) == (22, {"near": 3})
        assert run("index", "export", other)[1] == export.read_text()

    def test_add_to_an_index_that_has_others(self, export, tmp_path):
        other = tmp_path / "other"
        with NearDuplicateFilter.open(other, crawl="mine") as pages:
            for number in range(30, 35):
                pages.see(f"https://example.org/{number}", text=article(number))
        assert run("index", "import", str(other), str(export))[0] == 0
        found = stats(other)
        assert (found["pages"], found["kept"]) == (30, 25)
        assert [crawl["name"] for crawl in found["crawls"]] == ["mine", "import"]
        near = records(other)[25]
        assert near.judged.original == 6
        assert records(other)[5].url == ITEMS[0]["url"]
        assert run("index", "check", str(other))[0] == 0

    def test_two_exports_in_one_file(self, export, tmp_path):
        write_jsonl(tmp_path / "feed.jsonl", [item(50), item(51)])
        second = str(tmp_path / "second")
        run("index", "import", second, str(tmp_path / "feed.jsonl"), "--crawl", "second")
        text = export.read_text() + run("index", "export", second)[1]
        code, out, _ = run("index", "import", str(tmp_path / "both"), "--json", text=text)
        assert code == 0
        assert json.loads(out)["outcomes"] == {"new": 22, "near": 5}
        assert run("index", "check", str(tmp_path / "both"))[0] == 0

    def test_an_original_that_was_left_out_is_gone(self, export, tmp_path):
        whole = export.read_text().splitlines(keepends=True)
        text = "".join([whole[0], *whole[2:]])
        assert run("index", "import", str(tmp_path / "other"), text=text)[0] == 0
        assert run("index", "check", str(tmp_path / "other"))[0] == 0
        _, *pages = lines("index", "export", str(tmp_path / "other"))
        orphans = [page for page in pages if page["outcome"] == "near" and not page["original"]]
        assert [page["url"] for page in orphans] == [ITEMS[20]["url"]]

    def test_a_later_crawl_judges_the_same(self, tmp_path):
        """Frames of hosts and pages that wait to be judged again come along."""
        pages = list(build_pages().items())
        with NearDuplicateFilter.open(tmp_path / "one", crawl="first") as first:
            for path, page in islice(pages, 0, None, 2):
                site, _, rest = path[1:].partition("/")
                first.see(f"https://{site}.example/{rest}", html=page.body)
        text = run("index", "export", str(tmp_path / "one"))[1]
        assert '"frames_of"' in text
        assert run("index", "import", str(tmp_path / "two"), text=text)[0] == 0
        verdicts = []
        for name in ("one", "two"):
            with NearDuplicateFilter.open(tmp_path / name) as later:
                verdicts.append(
                    [
                        later.see(
                            f"https://{path[1:].replace('/', '.example/', 1)}", html=page.body
                        )
                        for path, page in pages
                    ]
                )
                later.check()
        assert verdicts[0] == verdicts[1]
        assert {verdict.outcome for verdict in verdicts[0]} >= {"new", "revisit"}
        exports = [run("index", "export", str(tmp_path / name))[1] for name in ("one", "two")]
        times = re.compile(r'"[^"]*": "\d{4}-\d\d-\d\dT[^"]*"')
        assert times.sub("", exports[0]) == times.sub("", exports[1])

    def test_a_named_crawl_that_is_resumed_is_the_same_crawl(self, export, tmp_path):
        assert run("index", "import", str(tmp_path / "other"), str(export))[0] == 0
        with NearDuplicateFilter.open(tmp_path / "other", crawl="import") as pages:
            assert pages.see(ITEMS[0]["url"], text=article(0)).outcome == "exact"
        with NearDuplicateFilter.open(tmp_path / "other") as pages:
            assert pages.see(ITEMS[0]["url"], text=article(0)).outcome == "revisit"

    def test_another_scheme_is_refused_by_name(self, export, tmp_path):
        other = tmp_path / "other"
        NearDuplicateFilter.open(other, features="shingles").close()
        code, out, err = run("index", "import", str(other), str(export))
        assert (code, out) == (2, "")
        assert "features (shingles there, content here)" in err
        assert records(other) == []

    @pytest.mark.parametrize(
        ("change", "why"),
        [
            ({"fingerprint": 5}, "has fingerprint 5"),
            ({"fingerprint": "0x1" + "0" * 16}, "has fingerprint"),
            ({"sketch": "AAAA"}, "has a sketch of 3 bytes, not 256"),
            ({"digest": "?"}, "not base64"),
            ({"outcome": "old"}, "has outcome 'old'"),
            ({"original_page": None}, "no original_page"),
            ({"original_page": 21}, "which came after"),
            ({"distance": 65}, "has distance 65"),
            ({"similarity": 1.5}, "has similarity 1.5"),
            ({"first_seen": "yesterday"}, "has first_seen 'yesterday'"),
            ({"first_seen": "2999-01-01T00:00:00Z"}, "before it was first seen"),
            ({"crawl": 7}, "has crawl 7"),
            ({"words": True}, "has words True"),
            ({"url": None}, "has url None"),
            ({"page": 20}, "out of order"),
            ({"page": 2**63}, "has page"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_a_bad_page_is_named_and_nothing_of_it_is_there(self, export, tmp_path, change, why):
        whole = [json.loads(line) for line in export.read_text().splitlines()]
        bad = write_jsonl(tmp_path / "bad.jsonl", [*whole[:21], {**whole[21], **change}])
        code, out, err = run("index", "import", str(tmp_path / "other"), bad)
        assert (code, out) == (2, "")
        assert err.startswith(f"Error: {bad!r}, line 22: it ")
        assert why in err
        assert len(err.splitlines()) == 1
        assert len(records(tmp_path / "other")) == 20
        assert run("index", "check", str(tmp_path / "other"))[0] == 0

    @pytest.mark.parametrize("change", [{"state": "AAAA"}, {"lessons": [[1]]}, {"early": 3}])
    def test_frames_that_cannot_be_read_are_refused(self, export, tmp_path, change):
        known = {"frames_of": "example.com", "state": None, "lessons": [], "early": [], **change}
        text = export.read_text() + json.dumps(known)
        code, _, err = run("index", "import", str(tmp_path / "other"), text=text)
        assert code == 2
        assert "standard input, line 27: it " in err

    def test_an_export_without_its_first_line_is_refused(self, export, tmp_path):
        text = "".join(export.read_text().splitlines(keepends=True)[1:])
        code, _, err = run("index", "import", str(tmp_path / "other"), text=text)
        assert code == 2
        assert "line 1: it is a page of an export" in err

    def test_an_export_of_a_newer_format_is_refused(self, tmp_path):
        text = '{"dedup_filter_export": 2, "scheme": {}, "crawls": []}\n'
        code, _, err = run("index", "import", str(tmp_path / "other"), text=text)
        assert code == 2
        assert "format 2" in err
        assert not (tmp_path / "other").exists()

    def test_a_disk_that_is_full_costs_nothing_that_was_there(self, index, tmp_path):
        resource = pytest.importorskip("resource")
        before = contents(index)
        for arguments, code, word in (
            (["export", str(index), "--output", str(tmp_path / "new")], 1, "cannot be written"),
            (["compact", str(index)], 2, "the disk"),
            (["migrate", str(index), "-o", "features=words"], 2, "the disk"),
        ):
            finished = subprocess.run(
                [*COMMAND, "index", *arguments],
                capture_output=True,
                text=True,
                check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000)),
            )
            assert (finished.returncode, finished.stdout) == (code, "")
            assert finished.stderr.startswith("Error: ")
            assert word in finished.stderr
            assert len(finished.stderr.splitlines()) == 1
            assert contents(index) == before
            assert sorted(path.name for path in tmp_path.iterdir()) == ["index"]

    def test_a_reader_that_goes_away_ends_an_export_quietly(self, tmp_path):
        with NearDuplicateFilter.open(tmp_path / "index") as pages:
            for number in range(300):
                pages.see(f"https://example.com/{number}", text=f"word{number} " * 100)
        with subprocess.Popen(
            [*COMMAND, "index", "export", str(tmp_path / "index")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait() == 141

    def test_an_export_replaces_no_file_unasked(self, index, export):
        before = export.read_bytes()
        code, _, err = run("index", "export", str(index), "--output", str(export))
        assert code == 2
        assert "exists" in err
        assert export.read_bytes() == before
        run("index", "forget", str(index), ITEMS[0]["url"])
        code, out, _ = run(
            "index", "export", str(index), "--output", str(export), "--overwrite", "--json"
        )
        assert (code, json.loads(out)["lines"]) == (0, 25)
        assert export.read_bytes() != before
        assert not list(export.parent.glob("*.part"))


class TestImportOfItems:
    def test_finds_fields_by_the_names_they_usually_have(self, tmp_path):
        html = f"<html><body><p>{article(1)}</p></body></html>"
        items = [
            {"link": "https://example.com/1", "body_html": html},
            {"page_url": "https://example.com/2", "content": article(2)},
            {"url": "https://example.com/3", "articleBody": article(2)},
        ]
        feed = write_jsonl(tmp_path / "feed.jsonl", items)
        (found,) = lines("index", "import", str(tmp_path / "index"), feed, "--json")
        assert found["outcomes"] == {"new": 2, "exact": 1}
        assert [record.url for record in records(tmp_path / "index")] == [
            f"https://example.com/{number}" for number in (1, 2, 3)
        ]

    def test_takes_the_names_that_are_given(self, tmp_path):
        items = [{"where": "https://example.com/1", "head": "A title", "what": article(1)}]
        feed = write_jsonl(tmp_path / "feed.jsonl", items)
        names = ["--url-field", "where", "--text-fields", "head, what"]
        (found,) = lines("index", "import", str(tmp_path / "index"), feed, *names, "--json")
        assert found["outcomes"] == {"new": 1}

    def test_counts_as_a_crawl_of_its_own(self, index):
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

    def test_says_that_tables_are_made_anew(self, index):
        (path,) = index.glob("tables/*/run0.bin")
        path.write_bytes(b"")
        code, _, err = run("index", "import", str(index), text=json.dumps(item(30)))
        assert code == 0
        assert "its tables are made anew from the record" in err
        assert len(err.splitlines()) == 1

    def test_uses_the_options_that_the_index_was_made_with(self, tmp_path):
        folder = tmp_path / "index"
        NearDuplicateFilter.open(folder, features="shingles", title_weight=2).close()
        feed = write_jsonl(tmp_path / "feed.jsonl", ITEMS)
        assert run("index", "import", str(folder), feed)[0] == 0
        code, _, err = run("index", "import", str(folder), feed, "-o", "features=words")
        assert code == 2
        assert "title_weight" in err or "features" in err

    @pytest.mark.parametrize(
        ("bad", "why"),
        [
            ("{", "is not JSON"),
            ("[1]", "is no JSON object"),
            ("\x00", "is not JSON"),
            ('{"text": "no address"}', "has no URL"),
            ('{"url": "https://example.com/"}', "has no text of a page"),
            ('{"url": "https://example.com/", "html": {}}', "has something else than text"),
            ("[" * 100_000, "is not JSON"),
        ],
        ids=range(7),
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

    def test_can_go_on_behind_a_bad_line(self, tmp_path):
        text = "\n".join([json.dumps(ITEMS[0]), "{", json.dumps(ITEMS[1])])
        assert run("index", "import", str(tmp_path / "one"), text=text)[0] == 2
        code, out, _ = run("index", "import", str(tmp_path / "one"), "--from-line", "3", text=text)
        assert (code, out) == (0, "1 page (1 new)\n")

    def test_says_what_a_feed_should_be_when_it_is_an_array(self, tmp_path):
        text = json.dumps(ITEMS, indent=0)
        code, _, err = run("index", "import", str(tmp_path / "index"), text=text)
        assert code == 2
        assert "an object on each line is wanted" in err
        assert not (tmp_path / "index").exists()

    def test_of_nothing_makes_nothing(self, tmp_path):
        assert run("index", "import", str(tmp_path / "index"))[:2] == (0, "0 pages\n")
        assert not (tmp_path / "index").exists()

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

    def test_that_is_interrupted_keeps_what_was_taken(self, tmp_path):
        with subprocess.Popen(
            [*COMMAND, "index", "import", str(tmp_path / "index")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            for each in ITEMS[:10]:
                process.stdin.write(json.dumps(each).encode() + b"\n")
            process.stdin.flush()
            deadline = time.monotonic() + 60
            while not (tmp_path / "index" / "owner.json").exists():
                assert time.monotonic() < deadline
                time.sleep(0.05)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            assert process.stderr.read().strip() == b""
            assert process.wait() == 130
        assert run("index", "check", str(tmp_path / "index"))[0] == 0


@pytest.mark.parametrize("command", ["import", "migrate"])
def test_a_kill_in_the_midst_leaves_an_index_that_is_clean(index, tmp_path, command):
    feed = write_jsonl(tmp_path / "feed.jsonl", [item(n) for n in range(60)] * 100)
    arguments = [feed] if command == "import" else ["-o", "features=shingles"]
    before = len(records(index))
    for wait in (0.5, 0.7, 0.9):
        with subprocess.Popen([*COMMAND, "index", command, str(index), *arguments]) as process:
            time.sleep(wait)
            process.kill()
        assert run("index", "check", str(index))[0] == 0
        assert len(records(index)) >= before


class TestForget:
    def test_however_the_url_is_spelt(self, index):
        with NearDuplicateFilter.open(index) as pages:
            pages.see("https://example.com/?b=2&a=1", text=article(40))
        (found,) = lines("index", "forget", str(index), "https://example.com/?a=1&b=2#x", "--json")
        assert found["forgotten"] == 1
        with NearDuplicateFilter.open(index) as pages:
            assert pages.see("https://example.com/?b=2&a=1", text=article(40)).outcome == "new"
            pages.check()

    def test_several_and_one_that_is_not_there(self, index):
        code, out, _ = run("index", "forget", str(index), ITEMS[0]["url"], "https://none/\x1b[31m")
        assert code == 0
        assert (
            out
            == f"{ITEMS[0]['url']}: 1 page forgotten\nhttps://none/\\x1b[31m: 0 pages forgotten\n"
        )
        assert run("index", "check", str(index))[0] == 0

    def test_none_at_all_is_told_by_the_exit_code(self, index):
        before = records(index)
        assert run("index", "forget", str(index), "https://none/")[0] == 1
        assert records(index) == before

    def test_works_whatever_the_scheme(self, tmp_path):
        with NearDuplicateFilter.open(tmp_path / "index", features="shingles") as pages:
            pages.see(ITEMS[0]["url"], text=article(0))
        tamper(
            tmp_path / "index", """UPDATE meta SET value = '{"text": "0"}' WHERE key = 'scheme'"""
        )
        assert run("index", "forget", str(tmp_path / "index"), ITEMS[0]["url"])[0] == 0


class TestCompact:
    def test_gives_back_the_room_of_what_was_forgotten(self, index):
        with NearDuplicateFilter.open(index) as pages:
            for number in range(600):
                pages.see(f"https://example.org/{number}", text=f"word{number} " * 100)
        urls = [f"https://example.org/{number}" for number in range(600)]
        run("index", "forget", str(index), *urls)
        kept = records(index)
        (found,) = lines("index", "compact", str(index), "--json")
        assert found["after"]["record"] < found["before"]["record"] / 2
        assert found["after"]["tables"] < found["before"]["tables"]
        assert records(index) == kept
        (checked,) = lines("index", "check", str(index), "--json")
        assert (checked["is_clean"], checked["entries"]) == (True, 20)
        assert len(stats(index)["crawls"]) == 2

    def test_an_index_without_tables(self, index):
        shutil.rmtree(index / "tables")
        code, _, err = run("index", "compact", str(index))
        assert (code, err) == (0, "")
        with NearDuplicateFilter.open(index) as pages:
            pages.check()


class TestMigrate:
    def test_makes_the_fingerprints_of_a_fresh_crawl(self, index, tmp_path):
        before = records(index)
        (found,) = lines("index", "migrate", str(index), "-o", "features=shingles", "--json")
        assert (found["pages"], found["left_behind"]) == (25, 0)
        with NearDuplicateFilter.open(tmp_path / "fresh", features="shingles") as pages:
            for each in ITEMS:
                pages.see(**each)
        after = records(index)
        fresh = records(tmp_path / "fresh")
        for old, new, wanted in zip(before, after, fresh, strict=True):
            assert (new.fingerprint, new.sketch, new.digest, new.words, new.language) == (
                wanted.fingerprint, wanted.sketch, wanted.digest, wanted.words, wanted.language
            )  # fmt: skip
            assert new.fingerprint != old.fingerprint
            assert (new.page, new.url, new.first_seen, new.judged) == (
                old.page, old.url, old.first_seen, old.judged
            )  # fmt: skip
        assert records(found["backup"]) == before
        for folder in (str(index), found["backup"]):
            assert run("index", "check", folder)[0] == 0
        with NearDuplicateFilter.open(index, features="shingles", keep_text=True) as pages:
            assert pages.see("https://example.org/", text=article(3, 2)).outcome == "near"

    def test_and_back_again(self, index, export):
        for features in ("words", "content"):
            assert run("index", "migrate", str(index), "-o", f"features={features}")[0] == 0
        assert run("index", "export", str(index))[1] == export.read_text()

    def test_has_nothing_to_do(self, index):
        before = contents(index)
        code, out, _ = run("index", "migrate", str(index))
        assert (code, out) == (0, "nothing to do: its fingerprints are made in this way\n")
        assert contents(index) == before

    @pytest.fixture
    def half_kept(self, index):
        with NearDuplicateFilter.open(index) as pages:
            pages.see("https://example.org/", text=article(40))
        return index

    def test_is_refused_where_texts_were_not_kept(self, half_kept):
        before = contents(half_kept)
        code, out, err = run("index", "migrate", str(half_kept), "-o", "shingle_size=4")
        assert (code, out) == (2, "")
        assert "the texts of 1 of 26 pages" in err
        assert "--drop-unkept" in err
        assert len(err.splitlines()) == 1
        assert contents(half_kept) == before
        assert [path.name for path in half_kept.parent.iterdir()] == ["index"]

    def test_leaves_pages_behind_when_told_to(self, half_kept):
        (found,) = lines(
            "index", "migrate", str(half_kept), "-o", "shingle_size=4", "--drop-unkept", "--json"
        )
        assert (found["pages"], found["left_behind"]) == (25, 1)
        assert len(records(half_kept)) == 25
        assert len(records(found["backup"])) == 26

    def test_begins_anew_when_told_to(self, index):
        before = records(index)
        (found,) = lines("index", "migrate", str(index), "--fresh", "--json")
        assert records(index) == []
        assert records(found["backup"]) == before
        assert index.stat().st_mode == Path(found["backup"]).stat().st_mode

    def test_begins_anew_beside_an_index_that_is_damaged(self, index):
        (index / "pages.sqlite3").write_bytes(b"no database")
        (found,) = lines("index", "migrate", str(index), "--fresh", "--json")
        assert records(index) == []
        assert b"no database" in contents(Path(found["backup"])).values()

    def test_needs_the_titles_if_they_are_to_count(self, index):
        options = ["-o", "features=shingles", "-o", "title_weight=2"]
        code, _, err = run("index", "migrate", str(index), *options)
        assert code == 2
        assert "titles" in err
        assert len(records(index)) == 25

    def test_that_fails_half_way_leaves_it_as_it_was(self, index):
        tamper(index, "UPDATE texts SET text = x'00' WHERE page = 9")
        before = contents(index)
        code, _, err = run("index", "migrate", str(index), "-o", "features=shingles")
        assert code == 2
        assert "the text of page 9 is damaged" in err
        assert len(err.splitlines()) == 1
        assert contents(index) == before
        assert [path.name for path in index.parent.iterdir()] == ["index"]

    def test_wrong_options_are_named(self, index):
        for option, why in (
            ("feature=x", "did you mean"),
            ("x", "NAME=VALUE"),
            ("shingle_size=0", "0"),
        ):
            code, _, err = run("index", "migrate", str(index), "-o", option)
            assert code == 2
            assert why in err


COMMANDS = [
    ["stats"],
    ["check"],
    ["export"],
    ["forget", "https://example.com/"],
    ["compact"],
    ["migrate", "-o", "features=words"],
    ["migrate", "--fresh"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
class TestWhatIsNoIndex:
    def refused(self, command, path, code=2):
        ended, out, err = run("index", command[0], str(path), *command[1:])
        assert "Traceback" not in err
        assert len((err or out).splitlines()) == 1
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", err + out)
        assert ended == code
        return err or out

    def test_a_folder_of_something_else(self, tmp_path, command):
        (tmp_path / "letter.txt").write_text("Dear all")
        assert "there is no index at" in self.refused(command, tmp_path)
        assert contents(tmp_path) == {"letter.txt": b"Dear all"}

    def test_nothing_at_all(self, tmp_path, command):
        assert "\\x1b[31m" in self.refused(command, tmp_path / "\x1b[31mnone")
        assert list(tmp_path.iterdir()) == []

    def test_a_newer_format(self, index, command):
        if "--fresh" in command:
            pytest.skip("it is moved away, whatever it is")
        tamper(index, "PRAGMA user_version = 99")
        assert "format 99" in self.refused(command, index)

    def test_no_database(self, index, command):
        if "--fresh" in command:
            pytest.skip("it is moved away, whatever it is")
        (index / "pages.sqlite3").write_bytes(b"x" * 9000)
        faults = 1 if command == ["check"] else 2
        assert "SQLite database" in self.refused(command, index, faults)


@pytest.mark.parametrize("place", ["memory:", "redis://localhost/0"])
def test_an_index_elsewhere_is_no_folder(place):
    code, _, err = run("index", "stats", place)
    assert code == 2
    assert "is not a folder" in err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_without_the_right_to_write_can_be_read(index):
    index.chmod(0o555)
    try:
        assert run("index", "check", str(index))[0] == 0
        assert run("index", "forget", str(index), "https://none/")[0] == 2
    finally:
        index.chmod(0o755)


def test_looking_at_an_index_loads_neither_scrapy_nor_a_dictionary(index):
    code = (
        f"import sys; sys.argv[1:] = ['index', 'stats', {str(index)!r}]\n"
        "from dedup_filter.cli import main\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True
    )
    loaded = set(finished.stderr.split())
    assert "dedup_filter.commands.index_stats" in loaded
    assert not {"scrapy", "itemadapter", "twisted", "jieba"} & loaded
