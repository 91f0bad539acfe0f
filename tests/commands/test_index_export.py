"""`dedup-filter index export`, and an import of what it wrote."""

import json
import re
import subprocess
from itertools import islice

import pytest
from command_line import COMMAND, lines, run
from index_feed import ITEMS, article, contents, item, kept, records, stats, write_jsonl

from crawler.demo_site.pages import build_pages
from dedup_filter import NearDuplicateFilter
from dedup_filter.upkeep.export_lines import FORMAT


class TestExportAndImport:
    def test_make_an_equal_index(self, export, tmp_path):
        assert run("index", "import", str(tmp_path / "other"), str(export))[0] == 0
        again = run("index", "export", str(tmp_path / "other"))[1]
        assert again == export.read_text()
        assert run("index", "check", str(tmp_path / "other"))[0] == 0

    def test_lines_have_what_was_recorded(self, export, index):
        head, *pages = map(json.loads, export.read_text().splitlines())
        assert head["dedup_filter_export"] == FORMAT
        assert head["crawls"][0]["name"] == "import"
        near = pages[20]
        assert (near["outcome"], near["original_page"]) == ("near", 1)
        assert near["original"] == ITEMS[0]["url"]
        assert near["distance"] <= 12
        assert 0.8 <= near["similarity"] <= 1
        assert near["text"] == article(0, 1)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", near["first_seen"])
        assert [int(page["fingerprint"], 16) for page in pages] == [
            record.fingerprint for record in records(index)
        ]

    def test_headlines_come_along(self, place, tmp_path):
        html = f"<title>Of {{0}} - Site</title><h1>Of {{0}}</h1><p>{article(1)}</p>"
        with NearDuplicateFilter.open(tmp_path / "index") as pages:
            for name in ("one", "two"):
                seen = pages.see(f"https://example.com/{name}", html=html.format(name))
                assert seen.outcome == "new"
        text = run("index", "export", str(tmp_path / "index"))[1]
        _, one, two, *_ = map(json.loads, text.splitlines())
        assert (one["h1"], one["title"]) == ("Of one", "Of one - Site")
        assert (two["h1"], two["title"]) == ("Of two", "Of two - Site")
        assert run("index", "import", place.new("other"), text=text)[0] == 0
        with NearDuplicateFilter.open(place.new("other"), crawl="later") as pages:
            again = pages.see("https://example.com/two", html=html.format("two") + " ")
            assert (again.outcome, again.original) == ("revisit", "https://example.com/two")
            other = pages.see("https://example.com/three", html=html.format("three"))
            assert other.outcome == "new"

    def test_fingerprints_of_an_export_can_be_searched(self, export):
        pages = [json.loads(line) for line in export.read_text().splitlines()[1:]]
        text = "\n".join(page["fingerprint"] for page in pages)
        assert len(lines("pairs", "-d", "10", text=text)) >= 5

    def test_a_second_time_change_nothing(self, export, every_place):
        location = every_place.new("other")
        (first,) = lines("index", "import", location, str(export), "--json")
        before = run("index", "export", location)[1]
        (found,) = lines("index", "import", location, str(export), "--json")
        there = sum(first["outcomes"].values())
        assert (found["outcomes"], found["there_already"]) == ({}, there)
        assert found["not_kept"] == first["not_kept"] == 25 - there
        assert run("index", "export", location)[1] == before
        assert stats(location)["outcomes"] == first["outcomes"]

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

    def test_no_page_of_an_export_with_a_bad_first_line_is_taken(self, export, tmp_path):
        """Not even if a whole export with a crawl of the same number is before it."""
        first, later = (str(tmp_path / name) for name in ("first", "later"))
        run("index", "import", first, text=json.dumps(item(60)))
        head, *pages = export.read_text().splitlines(keepends=True)
        bad = json.dumps({**json.loads(head), "dedup_filter_export": FORMAT + 1}) + "\n"
        text = "".join([run("index", "export", first)[1], bad, *pages])
        (found,) = lines("index", "import", later, "--skip-bad-lines", "--json", text=text)
        assert (found["outcomes"], found["bad_lines"]) == ({"new": 1}, 26)
        assert [record.url for record in records(later)] == [item(60)["url"]]

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

    def test_a_named_crawl_that_is_resumed_is_the_same_crawl(self, export, place):
        other = place.new("other")
        assert run("index", "import", other, str(export))[0] == 0
        with NearDuplicateFilter.open(other, crawl="import") as pages:
            assert pages.see(ITEMS[0]["url"], text=article(0)).outcome == "exact"
        with NearDuplicateFilter.open(other) as pages:
            assert pages.see(ITEMS[0]["url"], text=article(0)).outcome == "revisit"

    def test_another_scheme_is_refused_by_name(self, export, place):
        other = place.new("other")
        NearDuplicateFilter.open(other, features="shingles").close()
        code, out, err = run("index", "import", other, str(export))
        assert (code, out) == (2, "")
        assert "features (shingles there, content here)" in err
        assert kept(other) == []

    @pytest.mark.parametrize(
        ("change", "why"),
        [
            ({"fingerprint": 5}, "has fingerprint 5"),
            ({"fingerprint": "0x1" + "0" * 16}, "has fingerprint"),
            ({"sketch": "AAAA"}, "has sketch 'AAAA', not a sketch"),
            ({"sketch": 5}, "has sketch 5"),
            ({"h1": None}, "has h1 None"),
            ({"title": ["a"]}, "has title ['a']"),
            ({"digest": "?"}, "has digest '?', not 16 bytes in base64"),
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

    def test_an_export_of_a_newer_format_is_refused(self, export, tmp_path):
        head, *pages = export.read_text().splitlines(keepends=True)
        newer = json.dumps({**json.loads(head), "dedup_filter_export": FORMAT + 1})
        text = "".join([newer, "\n", *pages])
        other = str(tmp_path / "other")
        code, _, err = run("index", "import", other, text=text)
        assert code == 2
        assert f"format {FORMAT + 1}" in err
        code, out, err = run("index", "import", other, "--skip-bad-lines", text=text)
        assert (code, out) == (0, "0 pages\n")
        assert err.startswith("26 bad lines; the first: standard input, line 1: ")
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


class TestServers:
    @pytest.mark.parametrize("way", ["there", "back"])
    def test_go_from_one_kind_of_place_to_another(self, index, servers, tmp_path, way):
        location = servers.seeded("feed")
        here, there = (str(index), servers.new("copy"))
        if way == "back":
            here, there = location, str(tmp_path / "copy")
        text = run("index", "export", here)[1]
        (found,) = lines("index", "import", there, "--json", text=text)
        assert found["outcomes"] == {"new": 20}
        assert found["not_kept"] == (5 if way == "there" else 0)
        assert kept(there) == kept(here)
        assert stats(there)["crawls"][0]["name"] == "import"
        assert run("index", "check", there)[0] == 0
        with NearDuplicateFilter.open(there) as pages:
            assert pages.see(ITEMS[0]["url"], text=article(0)).outcome == "revisit"
            assert pages.see("https://example.org/", text=article(1, 2)).outcome == "near"
            pages.check()

    def test_are_equal_after_a_way_there_and_back(self, servers, tmp_path):
        location = servers.seeded()
        (tmp_path / "1.jsonl").write_text(run("index", "export", location)[1])
        for number, there in enumerate([str(tmp_path / "folder"), servers.new("copy")], 1):
            assert run("index", "import", there, str(tmp_path / f"{number}.jsonl"))[0] == 0
            written = run("index", "export", there)[1]
            (tmp_path / f"{number + 1}.jsonl").write_text(written)
        assert written == (tmp_path / "1.jsonl").read_text()

    def test_more_than_a_batch_on_servers(self, servers):
        source, copy = servers.new("source"), servers.new("copy")
        with NearDuplicateFilter.open(source) as pages:
            for number in range(1_000):
                page = " ".join(f"word{number}x{word}" for word in range(70))
                pages.see(f"https://{number}.example.com/", text=f"the end of {page}")
        text = run("index", "export", source)[1]
        assert run("index", "import", copy, text=text)[1] == "1,000 pages (1,000 new)\n"
        assert kept(copy) == kept(source)
        assert run("index", "check", copy)[1] == "clean: 1,000 pages, 1,000 entries\n"
        with NearDuplicateFilter.open(copy) as pages:
            pages.check()

    def test_add_to_a_shared_index_that_has_others(self, export, servers):
        location = servers.new("index")
        with NearDuplicateFilter.open(location, crawl="mine") as pages:
            for number in range(30, 35):
                pages.see(f"https://example.org/{number}", text=article(number))
        assert run("index", "import", location, str(export))[0] == 0
        found = stats(location)
        assert found["kept"] == 25
        assert [crawl["name"] for crawl in found["crawls"]] == ["mine", "import"]
        assert run("index", "check", location)[0] == 0

    def test_leave_out_what_is_to_be_forgotten_on_servers(self, export, servers):
        location = servers.new("index")
        NearDuplicateFilter.open(location, expire_days=30).close()
        whole = export.read_text().splitlines(keepends=True)
        old = {**json.loads(whole[1]), "first_seen": "2020-01-01T00:00:00Z"}
        old["last_seen"] = old["first_seen"]
        text = "".join([whole[0], json.dumps(old) + "\n", *whole[2:]])
        (found,) = lines("index", "import", location, "--json", text=text)
        assert (found["outcomes"], found["not_kept"]) == ({"new": 19}, 6)

    def test_a_number_without_room_on_servers_is_refused(self, export, servers):
        whole = export.read_text().splitlines(keepends=True)
        big = {**json.loads(whole[2]), "words": 2**40}
        text = "".join([*whole[:2], json.dumps(big)])
        code, out, err = run("index", "import", servers.new("index"), text=text)
        assert (code, out) == (2, "")
        assert "line 3: it has a number or a time" in err
        assert len(kept(servers.new("index"))) == 1
