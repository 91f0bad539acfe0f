"""`dedup-filter index stats`, and what reading leaves alone."""

from pathlib import Path

from command_line import run
from index_feed import article, contents, item, stats
from shared_crawlers import Past

from dedup_filter import FilterConfig, NearDuplicateFilter


def test_of_a_directory(index):
    found = stats(index)
    distance = FilterConfig().max_distance
    wanted = {"pages": 25, "kept": 20, "hosts": 1, "texts": 25}
    assert wanted.items() <= found.items()
    assert (found["options"]["max_distance"], found["options"]["scope"]) == (distance, "all")
    assert found["first_seen"] <= found["last_seen"]
    assert found["bytes"]["record"] > 25 * 500
    assert found["scheme"]["features"] == "content"
    (crawl,) = found["crawls"]
    assert (crawl["crawl"], crawl["name"]) == (1, "import")
    assert crawl["outcomes"] == found["outcomes"] == {"new": 20, "near": 5}
    code, out, err = run("index", "stats", str(index))
    assert (code, err) == (0, "")
    assert "pages         25\n" in out
    assert "kept (first_seen 20, last_seen 20, revisited 0), repeats (near 5)\n" in out


def test_of_pages_that_came_again(place):
    index = place.new("index")
    for crawl, numbers in (("first", range(4)), ("second", range(3)), ("third", (2, 40))):
        with NearDuplicateFilter.open(index, crawl=crawl) as pages:
            for number in numbers:
                pages.see(**item(number))
            pages.see("https://example.com/twin", text=article(2, 1))
    found = stats(index)
    # The record of a copy that is dropped again takes the place of the earlier one.
    assert found["outcomes"] == {"near": 1, "new": 2, "revisit": 3}
    if place.servers:
        return
    assert [tuple(crawl["kept"].values()) for crawl in found["crawls"]] == [
        (4, 1, 0), (0, 2, 2), (1, 2, 1)
    ]  # fmt: skip
    assert list(found["crawls"][0]["kept"]) == ["first_seen", "last_seen", "revisited"]
    assert [crawl["repeats"] for crawl in found["crawls"]] == [{}, {}, {"near": 1}]


def test_what_logs_counted_is_summed_over_the_runs_of_a_crawl(tmp_path):
    index = str(tmp_path / "index")
    for name, counts in (
        ("job", {"new": 3, "near": 0}),
        ("job", {"new": 2, "unjudged": 1}),
        ("", {}),
    ):
        with NearDuplicateFilter.open(index, crawl=name or None) as pages:
            if counts:
                pages.conductor.note_log(counts)
    logs = [crawl.get("log") for crawl in stats(index)["crawls"]]
    assert logs == [{"new": 5, "unjudged": 1}, None]


def test_of_servers(servers):
    location = servers.seeded()
    with NearDuplicateFilter.open(location, crawl="import", max_distance=3) as pages:
        pages.claim("https://example.com/pending", text=article(40))
        open_one = stats(location)
    wanted = {"pages": 25, "kept": 20, "outcomes": {"new": 20, "near": 5}, "hosts": 1}
    assert (wanted | {"pending": 1, "processes": 1}).items() <= open_one.items()
    found = stats(location)
    assert (wanted | {"pending": 0, "processes": 0}).items() <= found.items()
    assert found["judged"] == {"new": 21, "near": 5}
    # In an index for 10 million pages nearly each entry has a bucket of its own.
    assert 800 < found["bytes_of_each_page"] < 1_800
    assert found["expected_pages"] > 9_000_000
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
    assert (code, "\x1b" in out) == (0, False)
    assert "\\x1b[31mred\\n" in out


def test_reads_only(place):
    location = place.seeded()

    def content():
        return Past(place.client()).keys if place.servers else contents(Path(location))

    before = content()
    for command in (["stats"], ["stats", "--check"], ["export"]):
        assert run("index", *command, location)[0] == 0
    assert content() == before
