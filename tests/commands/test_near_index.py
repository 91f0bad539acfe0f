"""`dedup-filter near --index`: many fingerprints, asked for together, against a scan."""

import json
import random

import oracles
import pytest
from command_line import lines, refused, run, run_process
from index_feed import ITEMS, article
from strategies import ALL_ONES

from dedup_filter import NearDuplicateFilter, fingerprint
from dedup_filter.upkeep import index_at


def expected(location, asked, max_distance):
    """Compare each with every kept page: (line, fingerprint, page, URL, distance)."""
    with index_at(str(location)).recorded() as recorded:
        kept = [
            each for each in recorded.records() if each.is_kept and each.fingerprint is not None
        ]
    pairs = [(each.fingerprint, each.page) for each in kept]
    urls = {each.page: each.url for each in kept}
    return sorted(
        (line, query, page, urls[page], distance)
        for line, query in asked
        for page, _, distance in oracles.scan(pairs, query, max_distance)
    )


def near_to(location):
    """Fingerprints at all distances from those of an index, some again, and some of no page."""
    generator = random.Random(5)
    with index_at(str(location)).recorded() as recorded:
        stored = recorded.entries.fingerprints.tolist()
    flips = [sum(1 << bit for bit in generator.sample(range(64), n % 14)) for n in range(200)]
    return [generator.choice(stored) ^ each for each in flips] + stored + [0, ALL_ONES]


def as_found(found):
    return sorted(tuple(each) for each in found)


@pytest.mark.parametrize("distance", [None, 0, 3, 12])
def test_all_kept_pages_are_found_and_no_others(place, distance):
    """Of tables in a folder that are for this distance or more, else of the record, or a log."""
    location = place.seeded()
    asked = near_to(location)
    k = [] if distance is None else ["-k", str(distance)]
    found = lines("near", "--index", location, *k, text="".join(f"{each:#x}\n" for each in asked))
    wanted = expected(location, list(enumerate(asked, 1)), 12 if distance is None else distance)
    assert as_found(found) == wanted
    assert len(wanted) > 20


@pytest.mark.parametrize(
    "option", [{"scope": "host"}, {"max_distance": 3}], ids=["by host", "for a smaller distance"]
)
def test_where_the_tables_do_not_serve_the_record_does(tmp_path, option):
    index = tmp_path / "index"
    with NearDuplicateFilter.open(index, **option) as pages:
        for each in ITEMS:
            pages.see(**each)
    asked = near_to(index)
    found = lines("near", "--index", str(index), "-k", "7", text="\n".join(map(str, asked)))
    assert as_found(found) == expected(index, list(enumerate(asked, 1)), 7)


def test_batches_are_answered_as_one(index, tmp_path, monkeypatch):
    """Also where a batch, or what is found, does not fit into one piece."""
    asked = near_to(index)
    (tmp_path / "asked.txt").write_text("\n".join(map(str, asked)))
    whole = lines("near", "--index", str(index), str(tmp_path / "asked.txt"))
    monkeypatch.setattr("dedup_filter.commands.fingerprints._BATCH", 7)
    monkeypatch.setattr("dedup_filter.hamming.many_queries._BLOCK", 8)
    parts = lines("near", "--index", str(index), str(tmp_path / "asked.txt"))
    assert as_found(parts) == as_found(whole)


def test_lines_of_all_kinds_and_bad_ones_that_are_told(index, tmp_path):
    """What `fingerprint --json` writes is read, too; lines of pages that have none hold nothing."""
    value = fingerprint(ITEMS[3]["text"])
    path, short = tmp_path / "page.txt", tmp_path / "short.txt"
    path.write_text(ITEMS[3]["text"])
    short.write_text("too short")
    made = run("fingerprint", str(path), str(short), "--json")[1].splitlines()
    good = [
        hex(value),
        "",
        *made,
        str(value),
        json.dumps({"fingerprint": value, "a": "x" * 90_000}),
    ]
    bad = ["nine", "-1", str(2**64), '{"fingerprint": 1.5}', '{"print": 1}', "{", "9" * 300_000]
    bad += [
        '{"fingerprint": "\x1b[31m"}',
        f'{{"fingerprint": "{"9" * 5_000}"}}',
        "[1]",
        "{" * 90_000,
    ]
    text = "\n".join([*bad, *good])
    code, out, err = run("near", "--index", str(index), "--hex", "--json", text=text)
    assert code == 1
    found = [json.loads(line) for line in out.splitlines()]
    url = ITEMS[3]["url"]
    page = {"query": hex(value), "page": 4, "url": url, "distance": 0}
    ours = [each for each in found if each["url"] == url]
    assert sorted(each.pop("line") for each in ours) == [12, 14, 16, 17]
    assert ours == [page] * 4
    *told, summary = err.splitlines()
    assert [f"line {number}: " in line for number, line in enumerate(told, 1)] == [True] * 10
    assert summary == "11 lines passed over: no fingerprints"
    assert "\x1b" not in err
    assert len(err) < 4_000


def test_a_crawl_may_be_writing_to_it(every_place):
    """What it has flushed is found, and what is pending is not; nothing is changed."""
    location, site = every_place.seeded(), "https://www.example.com"
    how = run if every_place.servers else run_process
    with NearDuplicateFilter.open(location) as pages:
        pages.see(f"{site}/done", text=article(40))
        pages.claim(f"{site}/pending", text=article(41))
        pages.flush()
        text = "".join(f"{fingerprint(article(number))}\n" for number in (40, 41))
        found = lines("near", "--index", location, "-k", "0", text=text, run=how)
        assert [each[3] for each in found] == [f"{site}/done"]
        pages.check()


def test_what_it_cannot_do_is_said(tmp_path, index):
    assert "no index" in refused("near", "--index", str(tmp_path / "none"), text="1\n")
    for wrong in (["a", "b", "--index", str(index)], ["a", "b", "c"], []):
        code, out, err = run("near", *(str(index / "lock") if len(w) == 1 else w for w in wrong))
        assert (code, out) == (2, "")
        assert "either STORED or --index" in err


def test_no_lines_no_answers(index):
    assert run("near", "--index", str(index)) == (0, "", "")
