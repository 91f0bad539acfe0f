"""`dedup-filter index export` and `import` from and to an index on servers."""

import json

import pytest
from command_line import lines, run
from index_feed import ITEMS, article, kept, stats

from dedup_filter import NearDuplicateFilter


class TestExportAndImport:
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

    def test_a_second_time_change_nothing_on_servers(self, export, servers):
        location = servers.new("index")
        assert run("index", "import", location, str(export))[0] == 0
        before = run("index", "export", location)[1]
        (found,) = lines("index", "import", location, str(export), "--json")
        assert (found["outcomes"], found["there_already"], found["not_kept"]) == ({}, 20, 5)
        assert run("index", "export", location)[1] == before
        assert stats(location)["outcomes"] == {"new": 20}

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
