"""`dedup-filter index stats`, and what reading leaves alone."""

from pathlib import Path

from command_line import run
from index_feed import ITEMS, article, contents, item, stats
from redis_servers import wait_until

from dedup_filter import FilterConfig, NearDuplicateFilter


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
        assert "pages     25 recorded (5 near, 20 new)\n" in out
        assert f"20 entries, max_distance {FilterConfig().max_distance}" in out
        assert out.endswith("kept pages: 20 first seen, 20 last seen; repeats: 5 near\n")

    def test_of_pages_that_came_again(self, tmp_path):
        index = str(tmp_path / "index")
        for crawl, numbers in (("first", range(4)), ("second", range(3)), ("third", (2, 40))):
            with NearDuplicateFilter.open(index, crawl=crawl) as pages:
                for number in numbers:
                    pages.see(**item(number))
                pages.see("https://example.com/twin", text=article(2, 1))

        first, second, third = stats(index)["crawls"]

        assert first["kept"] == {"first_seen": 4, "last_seen": 1, "revisited": 0}
        assert second["kept"] == {"first_seen": 0, "last_seen": 2, "revisited": 2}
        assert third["kept"] == {"first_seen": 1, "last_seen": 2, "revisited": 1}
        assert first["repeats"] == second["repeats"] == third["repeats"] == {"near": 1}
        _, out, _ = run("index", "stats", index)
        assert "pages     8 recorded (3 near, 2 new, 3 revisited)\n" in out
        assert out.endswith("1 first seen, 2 last seen (1 revisited); repeats: 1 near\n")

    def test_of_pages_whose_items_are_under_way(self, tmp_path):
        index = str(tmp_path / "index")
        for crawl in ("first", "second"):
            with NearDuplicateFilter.open(index, crawl=crawl) as pages:
                claimed = [pages.claim(**item(number)) for number in range(2)]
                pages.flush()
                _, out, _ = run("index", "stats", index)
                assert "pending   2, whose items are still under way\n" in out
                for each in claimed:
                    pages.commit(each)
            first, *_ = stats(index)["crawls"]
            assert first["kept"]["first_seen"] == 2
        assert "pending" not in run("index", "stats", index)[1]

    def test_of_servers(self, servers):
        location = servers.seeded()
        with NearDuplicateFilter.open(location, crawl="import", max_distance=3) as pages:
            pages.claim("https://example.com/pending", text=article(40))
            found = stats(location)
            assert (found["pages"], found["kept"], found["pending"]) == (25, 21, 1)
            assert (found["outcomes"], found["processes"]) == ({"new": 20, "near": 5}, 1)
        found = stats(location)
        assert (found["pages"], found["kept"], found["pending"]) == (26, 20, 0)
        assert (found["outcomes"], found["processes"]) == ({"new": 21, "near": 5}, 0)
        assert found["hosts"] == 1
        assert 300 < found["server_bytes"]["a_page"] < 700
        assert found["options"]["max_distance"] == 3
        assert found["scheme"]["features"] == "content"
        (crawl,) = found["crawls"]
        assert (crawl["crawl"], crawl["name"]) == (1, "import")
        assert crawl["started"] <= found["first_seen"]

    def test_of_servers_for_people(self, servers):
        code, out, err = run("index", "stats", servers.seeded())
        assert (code, err) == (0, "")
        assert "pages     25 judged since it was made (5 near, 20 new)\n" in out
        assert "at work   0 processes" in out
        assert f"max_distance {FilterConfig().max_distance}" in out

    def test_of_an_empty_index(self, place):
        NearDuplicateFilter.open(place.new("index")).close()
        found = stats(place.new("index"))
        assert (found["pages"], found["outcomes"], found["first_seen"]) == (0, {}, None)
        assert run("index", "stats", place.new("index"))[0] == 0

    def test_reads_only(self, place, redis_server):
        location = place.seeded()
        client = redis_server.client()

        def content():
            if "redis:" in location:
                return {key: client.dump(key) for key in client.keys("*")}
            return contents(Path(location))

        before = content()
        for command in (["stats"], ["check"], ["export"]):
            assert run("index", *command, location)[0] == 0
        assert content() == before

    def test_reads_a_server_that_takes_no_writes(self, redis_server, start_redis):
        with NearDuplicateFilter.open(redis_server.url) as pages:
            for each in ITEMS:
                pages.see(**each)
        replica = start_redis(settings={"replicaof": f"127.0.0.1 {redis_server.port}"})
        client = replica.client()
        wait_until(lambda: client.dbsize() == redis_server.client().dbsize(), "the copy is whole")
        for command in (["stats"], ["check"], ["export"]):
            assert run("index", *command, replica.url)[0] == 0

    def test_control_characters_of_a_crawls_name_do_not_reach_the_terminal(self, place):
        NearDuplicateFilter.open(place.new("index"), crawl="\x1b[31mred\n").close()
        code, out, _ = run("index", "stats", place.new("index"))
        assert code == 0
        assert "\\x1b[31mred\\n" in out
        assert "\x1b" not in out
