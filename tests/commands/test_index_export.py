"""`dedup-filter index export`, and an import of what it wrote."""

import json
import re
import subprocess
from itertools import islice

import pytest
from command_line import COMMAND, lines, run
from index_feed import ITEMS, article, contents, kept, records, stats

from crawler.demo_site.pages import build_pages
from dedup_filter import NearDuplicateFilter
from dedup_filter.upkeep.lines import FORMAT


def objects(export):
    return [json.loads(line) for line in export.read_text().splitlines()]


def imported(location, values, *options):
    """Import objects; return the exit code, and what is said."""
    text = "".join(json.dumps(value) + "\n" for value in values)
    return run("index", "import", location, *options, text=text)


class TestExportAndImport:
    def test_make_an_equal_index(self, export, every_place):
        """In two parts; a second time changes nothing."""
        other, whole = every_place.new("other"), objects(export)
        assert imported(other, whole[:21])[0] == 0
        (found,) = lines("index", "import", other, str(export), "--json")
        assert (found["there_already"], found["not_kept"]) in [(20, 0), (20, 5)]
        before = run("index", "export", other)[1]
        if found["outcomes"]:
            assert (found["outcomes"], before) == ({"near": 5}, export.read_text())
        (found,) = lines("index", "import", other, str(export), "--json")
        assert found["outcomes"] == {}
        assert found["there_already"] + found["not_kept"] == 25
        assert run("index", "export", other)[1] == before
        assert run("index", "check", other)[0] == 0

    def test_lines_have_what_was_recorded(self, export, index):
        head, *pages = objects(export)
        assert head["dedup_filter_export"] == FORMAT
        assert head["crawls"][0]["name"] == "import"
        near = pages[20]
        assert (near["outcome"], near["original_page"]) == ("near", 1)
        assert near["original"] == ITEMS[0]["url"]
        assert near["distance"] <= 12
        assert 0.8 <= near["similarity"] <= 1
        assert near["text"] == article(0, 1)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", near["first_seen"])
        hexadecimal = [page["fingerprint"] for page in pages]
        assert [int(each, 16) for each in hexadecimal] == [
            record.fingerprint for record in records(index)
        ]
        assert len(lines("pairs", "-d", "10", text="\n".join(hexadecimal))) >= 5

    def test_add_to_an_index_that_has_others(self, export, place):
        other = place.new("other")
        with NearDuplicateFilter.open(other, crawl="mine") as pages:
            for number in range(30, 35):
                pages.see(f"https://example.org/{number}", text=article(number))
        assert run("index", "import", other, str(export))[0] == 0
        found = stats(other)
        assert found["kept"] == 25
        assert [crawl["name"] for crawl in found["crawls"]] == ["mine", "import"]
        if "redis:" not in other:
            assert records(other)[25].judged.original == 6
            assert records(other)[5].url == ITEMS[0]["url"]
        assert run("index", "check", other)[0] == 0

    def test_another_export_in_the_same_file_is_refused(self, export, tmp_path):
        code, _, err = imported(str(tmp_path / "other"), objects(export) * 2)
        assert code == 2
        assert "line 27: it begins another export" in err
        assert len(records(tmp_path / "other")) == 25

    def test_an_original_that_was_left_out_is_gone(self, export, tmp_path):
        whole = objects(export)
        assert imported(str(tmp_path / "other"), [whole[0], *whole[2:]])[0] == 0
        assert run("index", "check", str(tmp_path / "other"))[0] == 0
        _, *pages = lines("index", "export", str(tmp_path / "other"))
        orphans = [page for page in pages if page["outcome"] == "near" and not page["original"]]
        assert [page["url"] for page in orphans] == [ITEMS[20]["url"]]

    def test_a_later_crawl_judges_the_same(self, tmp_path):
        """Frames of hosts and pages that wait to be judged again come along."""
        pages = list(build_pages().items())
        with NearDuplicateFilter.open(tmp_path / "one", crawl="first") as first:
            for path, page in islice(pages, 0, None, 2):
                first.see(f"https://{path[1:].replace('/', '.example/', 1)}", html=page.body)
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
        (again,) = lines("index", "import", str(tmp_path / "two"), "--json", text=text)
        assert again["hosts_known"]

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
            ({"sketch": "AAAA"}, "has sketch 'AAAA', which no export has"),
            ({"original_page": None}, "no original_page"),
            ({"original_page": 21}, "which came after"),
            ({"first_seen": "2999-01-01T00:00:00Z"}, "before it was first seen"),
            ({"crawl": 7}, "has crawl 7"),
            ({"page": 20}, "out of order"),
            ({"frames_of": "a", "state": "AAAA", "lessons": [], "early": []}, "has state"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_a_bad_line_is_named_and_nothing_of_it_is_there(self, export, tmp_path, change, why):
        whole = objects(export)
        code, out, err = imported(str(tmp_path / "other"), [*whole[:21], {**whole[21], **change}])
        assert (code, out) == (2, "")
        assert err.startswith("Error: line 22: it ")
        assert why in err
        assert len(err.splitlines()) == 1
        assert len(records(tmp_path / "other")) == 20
        assert run("index", "check", str(tmp_path / "other"))[0] == 0

    @pytest.mark.parametrize(
        ("head", "why"),
        [
            ([], "it is a page of an export"),
            ([FORMAT + 1], f"it begins an export of format {FORMAT + 1}"),
        ],
        ids=["none", "newer"],
    )
    def test_an_export_without_a_first_line_of_this_format_is_refused(
        self, export, tmp_path, head, why
    ):
        first, *pages = objects(export)
        values = [*({**first, "dedup_filter_export": number} for number in head), *pages]
        other = str(tmp_path / "other")
        code, _, err = imported(other, values)
        assert code == 2
        assert why in err
        code, out, err = imported(other, values, "--skip-bad-lines", "--json")
        assert (code, err) == (0, "")
        found = json.loads(out)
        assert (found["bad_lines"], found["lines"]) == (len(values), 0)
        assert found["first_bad"].startswith(f"line 1: {why}")
        assert not (tmp_path / "other").exists()


def test_a_disk_that_is_full_costs_nothing_that_was_there(index, tmp_path):
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


def test_an_export_replaces_no_file_unasked(index, export):
    before = export.read_bytes()
    code, _, err = run("index", "export", str(index), "--output", str(export))
    assert code == 2
    assert "exists" in err
    assert export.read_bytes() == before
    run("index", "forget", str(index), ITEMS[0]["url"])
    (done,) = lines("index", "export", str(index), "--output", str(export), "--overwrite", "--json")
    assert done["lines"] == 25
    assert export.read_bytes() != before
    assert {path.name for path in export.parent.iterdir()} == {"index", export.name}


class TestServers:
    def test_go_from_one_kind_of_place_to_another_and_back(self, index, servers, tmp_path):
        location, back = servers.new("copy"), str(tmp_path / "back")
        for here, there, left_out in ((str(index), location, 5), (location, back, 0)):
            text = run("index", "export", here)[1]
            (found,) = lines("index", "import", there, "--json", text=text)
            assert (found["outcomes"], found["not_kept"]) == ({"new": 20}, left_out)
            assert kept(there) == kept(here)
            assert stats(there)["crawls"][0]["name"] == "import"
            assert run("index", "check", there)[0] == 0
        for there in (location, back):
            with NearDuplicateFilter.open(there) as pages:
                assert pages.see(ITEMS[0]["url"], text=article(0)).outcome == "revisit"
                assert pages.see("https://example.org/", text=article(1, 2)).outcome == "near"
                pages.check()

    def test_more_than_a_batch_on_servers(self, servers):
        source, copy = servers.new("source"), servers.new("copy")
        with NearDuplicateFilter.open(source) as pages:
            for number in range(600):
                page = " ".join(f"word{number}x{word}" for word in range(70))
                pages.see(f"https://{number}.example.com/", text=f"the end of {page}")
        text = run("index", "export", source)[1]
        (found,) = lines("index", "import", copy, "--json", text=text)
        assert found["outcomes"] == {"new": 600}
        assert kept(copy) == kept(source)
        assert run("index", "export", copy)[1] == text
        with NearDuplicateFilter.open(copy) as pages:
            pages.check()

    def test_leave_out_what_is_to_be_forgotten_on_servers(self, export, servers):
        location = servers.new("index")
        NearDuplicateFilter.open(location, expire_days=30).close()
        whole = objects(export)
        whole[1]["first_seen"] = whole[1]["last_seen"] = "2020-01-01T00:00:00Z"
        found = json.loads(imported(location, whole, "--json")[1])
        assert (found["outcomes"], found["not_kept"]) == ({"new": 19}, 6)
