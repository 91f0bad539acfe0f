"""`dedup-filter tune`: an index, a feed or an archive -> what settings would do to it."""

import json

import pytest
from command_line import lines, refused, run
from index_feed import ITEMS, article, contents, item, tamper, write_jsonl

MANY = [item(n) for n in range(60)] + [item(900 + n, text=article(n, 1)) for n in range(50)]


@pytest.fixture(scope="module")
def feed(tmp_path_factory):
    return write_jsonl(tmp_path_factory.mktemp("feed") / "feed.jsonl", MANY)


def test_an_index_and_the_feed_that_made_it_tell_the_same(feed, tmp_path):
    index = str(tmp_path / "index")
    assert run("index", "import", index, feed)[0] == 0
    before = contents(tmp_path / "index")
    (of_index,), (of_feed,) = (lines("tune", each, "--json") for each in (index, feed))
    assert of_index.pop("source") == index
    assert of_feed.pop("source") == feed
    assert of_index == of_feed
    assert contents(tmp_path / "index") == before
    assert (of_feed["pages"], of_feed["exact"]) == (110, 0)
    assert of_feed["suggested"]["is_told"]
    assert of_feed["steps"][12]["dropped"] == 50
    assert of_feed["labels"] is None
    (whole,) = lines("tune", feed, "--json", "--pages", "1e6")
    assert whole["planned"] == 10**6
    assert whole["steps"][12]["by_chance"] > of_feed["steps"][12]["by_chance"]


def test_people_read_a_table_the_border_and_the_reasons(feed):
    code, out, err = run("tune", feed, "--examples", "1")
    assert (code, err) == (0, "")
    assert f"{feed}: 110 pages, 110 with enough text, 0 equal to an earlier page" in out
    for part in ("Bits to the nearest earlier page", "At the border", "Suggested: max_distance "):
        assert part in out
    assert len([line for line in out.splitlines() if line[:2].strip().isdigit()]) >= 13
    assert "https://www.example.com/900" in out or "https://www.example.com/9" in out


def test_labels_find_the_best_setting(feed, tmp_path):
    same = [{"a": MANY[n]["url"], "b": MANY[60 + n]["url"], "same": True} for n in range(30)]
    other = [{"a": MANY[n]["url"], "b": MANY[n + 7]["url"], "same": False} for n in range(30)]
    labels = write_jsonl(tmp_path / "labels.jsonl", same + other)
    (found,) = lines("tune", feed, "--labels", labels, "--json")
    assert (found["labels"]["same"], found["labels"]["different"]) == (30, 30)
    assert found["labels"]["best"]["f1"]["value"] == 1
    assert 0.8 < found["labels"]["best"]["f1"]["low"] < 1
    out = run("tune", feed, "--labels", labels)[1]
    assert "Labels: 30 pairs the same, 30 different, 0 of pages that are not here" in out
    assert "  precision 1.000 (0." in out
    bad = write_jsonl(tmp_path / "bad.jsonl", [*same, {"a": "x"}])
    assert "line 31 of the labels is not like" in refused("tune", feed, "--labels", bad)


def test_an_archive_is_read_with_what_is_damaged_passed_over(tmp_path):
    from warc_samples import page, response, write

    pages = [response(f"http://a/{n}", page(n)) for n in range(5)]
    others = [
        response("http://a/style", b"body { color: red }", "text/css"),
        response("http://a/text", article(1).encode(), "text/plain; charset=utf-8"),
        response("http://a/gone", page(1), status="404 Not Found"),
    ]
    copy = response("http://b/1", page(1))
    whole = write(tmp_path / "a.warc.gz", *pages, *others, copy)
    (found,) = lines("tune", str(whole), "--json")
    assert (found["pages"], found["exact"], found["notes"]) == (7, 1, [])
    damaged = bytearray(pages[2])
    damaged[40] ^= 0xFF
    part = write(tmp_path / "b.warc.gz", *pages[:2], bytes(damaged), *pages[3:])
    (found,) = lines("tune", str(part), "--json")
    assert found["pages"] == 4
    assert found["notes"][0].endswith("passed over")
    assert "no page is in it" in refused("tune", str(write(tmp_path / "c.warc.gz", others[0])))


def test_too_few_pages_tell_nothing(tmp_path):
    feed = write_jsonl(tmp_path / "feed.jsonl", ITEMS[:3])
    out = run("tune", feed)[1]
    assert "these are the defaults: 3 pages with no duplicates tell nothing" in out


def test_bad_lines_are_counted_and_other_fields_named(tmp_path):
    feed = tmp_path / "feed.jsonl"
    items = [{"page_url": each["url"], "body": each["text"]} for each in MANY]
    feed.write_text("{\n" + "".join(json.dumps(each) + "\n" for each in items))
    fields = ["--url-field", "page_url", "--text-fields", "body"]
    (found,) = lines("tune", str(feed), *fields, "--json")
    assert found["pages"] == 110
    assert found["notes"][0].startswith("1 line passed over; line 1: it is no JSON object")
    assert "no page is in it; line 1: it is no JSON object" in refused("tune", str(feed))


def test_hostile_urls_and_headlines_harm_no_terminal(feed, tmp_path):
    index = tmp_path / "index"
    assert run("index", "import", str(index), feed)[0] == 0
    tamper(
        index,
        """UPDATE pages SET url = 'http://x/' || char(27, 10, 8238) || id || hex(zeroblob(9000)),
        h1 = '<b>' || char(27) || hex(zeroblob(90))""",
    )
    code, out, _ = run("tune", str(index))
    assert code == 0
    assert all(line.isprintable() and len(line) < 500 for line in out.splitlines())
    assert r"\x1b" in out


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nowhere"], "there is no index at nowhere"),
        (["nowhere", "--pages", "many"], "'many' is not a number of pages"),
        (["nowhere", "-o", "max_distance=3"], "max_distance is the setting to be found"),
        (["nowhere", "--labels", "none.jsonl"], "none.jsonl"),
    ],
)
def test_what_cannot_be_tuned_is_refused(arguments, why):
    code, out, err = run("tune", *arguments)
    assert (code, out) == (2, "")
    assert why in err
