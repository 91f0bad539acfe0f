"""`dedup-filter index stats`, and what reading leaves alone."""

from pathlib import Path

from command_line import run
from index_feed import article, contents, item, stats

from dedup_filter import FilterConfig, NearDuplicateFilter


def test_of_a_directory(index):
    found = stats(index)
    assert (found["pages"], found["kept"], found["pending"]) == (25, 20, 0)
    assert found["outcomes"] == {"new": 20, "near": 5}
    assert (found["hosts"], found["texts"]) == (1, 25)
    assert found["first_seen"] <= found["last_seen"]
    assert found["bytes"]["record"] > 25 * 500
    distance = FilterConfig().max_distance
    assert found["tables"] == {"max_distance": distance, "scope": "all", "entries": 20}
    assert found["scheme"]["features"] == "content"
    (crawl,) = found["crawls"]
    assert (crawl["crawl"], crawl["name"]) == (1, "import")
    assert crawl["outcomes"] == found["outcomes"]
    code, out, err = run("index", "stats", str(index))
    assert (code, err) == (0, "")
    assert "pages         25\n" in out
    assert f"tables        max_distance {distance}, scope all, entries 20\n" in out
    assert "kept (first_seen 20, last_seen 20, revisited 0), repeats (near 5)\n" in out


def test_of_pages_that_came_again(tmp_path):
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
    assert stats(index)["outcomes"] == {"near": 3, "new": 2, "revisit": 3}


def test_of_servers(servers):
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


def test_of_an_empty_index_whose_crawl_has_a_wild_name(place):
    NearDuplicateFilter.open(place.new("index"), crawl="\x1b[31mred\n").close()
    found = stats(place.new("index"))
    assert (found["pages"], found["outcomes"], found["first_seen"]) == (0, {}, None)
    code, out, _ = run("index", "stats", place.new("index"))
    assert code == 0
    assert "\\x1b[31mred\\n" in out
    assert "\x1b" not in out


def test_reads_only(place, redis_server):
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
