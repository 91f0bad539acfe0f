"""`dedup-filter index export`, and an import of what it wrote."""

import json
import os
import re
import signal
import subprocess

import numpy as np
import pytest
from command_line import COMMAND, lines, refused, run, start
from index_feed import ITEMS, article, kept, records, stats
from patience import wait_until

from crawler.demo_site.pages import build_pages
from dedup_filter import NearDuplicateFilter
from dedup_filter.upkeep import index_at
from dedup_filter.upkeep.lines import FORMAT


def objects(export):
    return [json.loads(line) for line in export.splitlines()]


def as_lines(values):
    return "".join(json.dumps(value) + "\n" for value in values)


def imported(location, values, *options, run=run):
    """Import objects; return the exit code, and what is said."""
    return run("index", "import", str(location), *options, text=as_lines(values))


def is_clean(location):
    return run("index", "stats", str(location), "--check")[0] == 0


def test_an_equal_index_is_made_in_two_parts_and_a_second_time_changes_nothing(export, every_place):
    other = every_place.new("other")
    assert imported(other, objects(export)[:21])[0] == 0
    (found,) = lines("index", "import", other, "--json", text=export)
    assert (found["there_already"], found["outcomes"]) == (20, {"near": 5})
    before = run("index", "export", other)[1]
    if not every_place.servers:
        assert before == export
    (found,) = lines("index", "import", other, "--json", text=export)
    assert (found["there_already"], found["outcomes"]) == (25, {})
    assert run("index", "export", other)[1] == before
    assert is_clean(other)


def test_lines_have_what_was_recorded(export, index):
    head, *pages = objects(export)
    assert head["dedup_filter_export"] == FORMAT
    assert head["crawls"][0]["name"] == "import"
    near = pages[20]
    assert (near["outcome"], near["original_page"]) == ("near", 1)
    assert (near["original"], near["text"]) == (ITEMS[0]["url"], article(0, 1))
    assert near["distance"] <= 12
    assert 0.8 <= near["similarity"] <= 1
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", near["first_seen"])
    written = [page["fingerprint"] for page in pages]
    assert [int(each, 16) for each in written] == [each.fingerprint for each in records(index)]
    assert len(lines("bits", "pairs", "--max-distance", "10", text="\n".join(written))) >= 5


def test_a_later_visit_finds_the_same_change(tmp_path):
    """Of a line without the field `visit` it finds what came, but not what went."""
    sizes = "<tr><td>Height</td><td>{} cm</td></tr><tr><td>Seats</td><td>two of oak</td></tr>"
    page = "<h1>Chair</h1><table>" + sizes + "</table><p>" + article(3) + "</p>"
    url, html = "https://shop.example/chair", page.replace("two of oak", "three of elm wood")
    with NearDuplicateFilter.open(tmp_path / "one") as pages:
        pages.see(url, html=page.format(80))
    export = objects(run("index", "export", str(tmp_path / "one"))[1])
    without = [{name: line[name] for name in line if name != "visit"} for line in export]
    for name, values in (("two", export), ("three", without)):
        assert imported(tmp_path / name, values)[0] == 0
        assert is_clean(tmp_path / name)
    found = []
    for name in ("one", "two", "three"):
        with NearDuplicateFilter.open(tmp_path / name) as pages:
            found.append(pages.see(url, html=html.format(90)))
    assert [each.outcome for each in found] == ["revisit"] * 3
    assert found[0].change == found[1].change > found[2].change > 0
    assert [each.visit == b"" for each in records(tmp_path / "three")] == [False], "it has one now"


def test_an_original_that_was_left_out_is_gone(export, tmp_path):
    whole = objects(export)
    assert imported(tmp_path / "other", [whole[0], *whole[2:]])[0] == 0
    assert is_clean(tmp_path / "other")
    _, *pages = lines("index", "export", str(tmp_path / "other"))
    orphans = [page for page in pages if page["outcome"] == "near" and not page["original"]]
    assert [page["url"] for page in orphans] == [ITEMS[20]["url"]]


def test_a_later_crawl_judges_the_same(tmp_path):
    """Frames of hosts and pages that wait to be judged again come along."""
    pages = [
        {"url": f"https://{path[1:].replace('/', '.example/', 1)}", "html": page.body}
        for path, page in build_pages().items()
    ]
    with NearDuplicateFilter.open(tmp_path / "one", crawl="first") as first:
        for each in pages[::2]:
            first.see(**each)
    text = run("index", "export", str(tmp_path / "one"))[1]
    assert '"frames_of"' in text
    assert run("index", "import", str(tmp_path / "two"), text=text)[0] == 0
    verdicts, exports = [], []
    for name in ("one", "two"):
        with NearDuplicateFilter.open(tmp_path / name) as later:
            verdicts.append([later.see(**each) for each in pages])
            later.check()
        exported = run("index", "export", str(tmp_path / name))[1]
        exports.append(re.sub(r'"[^"]*": "\d{4}-\d\d-\d\dT[^"]*"', "", exported))
    assert verdicts[0] == verdicts[1]
    assert {verdict.outcome for verdict in verdicts[0]} >= {"new", "revisit"}
    assert exports[0] == exports[1]
    (again,) = lines("index", "import", str(tmp_path / "two"), "--json", text=text)
    assert again["hosts_known"]


def test_another_scheme_is_refused_by_name(export, place):
    other = place.new("other")
    NearDuplicateFilter.open(other, features="shingles").close()
    err = refused("index", "import", other, text=export)
    assert "features (shingles there, content here)" in err
    assert kept(other) == []


def changed(**fields):
    """Change the page in line 22."""
    return lambda head, *pages: [head, *pages[:20], pages[20] | fields]


BAD = {
    "line 22: it has sketch 'AAAA', which no export has": changed(sketch="AAAA"),
    "line 22: it has a visit of other blocks": changed(visit="AAAA"),
    "line 22: it has visit 'AAA'": changed(visit="AAA"),
    "line 22: it has outcome 'near' and no original_page": changed(original_page=None),
    "line 22: it has its own number 21": changed(original_page=21),
    "before it was first seen": changed(first_seen="2999-01-01T00:00:00Z"),
    "line 22: it has crawl 7": changed(crawl=7),
    "out of order": changed(page=20),
    "line 22: it has record": changed(frames_of="a", record="AAAA", provisional=[]),
    "line 27: it begins another export": lambda *lines: [*lines, *lines],
    "line 1: it begins no export": lambda head, *pages: pages,
    f"line 1: it begins an export of format {FORMAT + 1}": (
        lambda head, *pages: [head | {"dedup_filter_export": FORMAT + 1}, *pages]
    ),
}


@pytest.mark.parametrize("why", BAD)
def test_a_bad_line_is_named_and_nothing_of_it_is_there(export, tmp_path, why):
    other, values = tmp_path / "other", BAD[why](*objects(export))
    err = imported(other, values, run=refused)
    assert why in err
    line = int(re.match("Error: line ([0-9]+): it ", err)[1])
    assert other.exists() == (line > 1)
    if line > 1:
        assert len(records(other)) == line - 2
        assert is_clean(other)


@pytest.mark.parametrize("bad", ["{", "[" * 100_000, "[]", "\0"])
def test_a_line_that_is_no_object_is_named(export, tmp_path, bad):
    for text, number in (f"\n{bad}", 2), (f"{export}{bad}\n", 27):
        said = refused("index", "import", str(tmp_path / "other"), text=text)
        assert said == f"Error: line {number}: it is no JSON object\n"


def test_of_nothing_makes_nothing(place):
    (found,) = lines("index", "import", place.new("index"), "--json", text="\n")
    assert found["lines"] == 0
    assert "there is no index at" in run("index", "stats", place.new("index"))[2]


def test_how_far_it_is_shows_on_a_terminal_only(export, tmp_path):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [*COMMAND, "index", "import", str(tmp_path / "other"), "--json"]
    terminal = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    pipes = {"stdout": subprocess.PIPE, "stderr": theirs}
    finished = subprocess.run(command, check=False, input=export.encode(), env=terminal, **pipes)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert json.loads(finished.stdout)["outcomes"] == {"near": 5, "new": 20}
    assert "importing" in shown
    assert "20" in shown  # of 26: older versions of click do not show the last ones


def test_an_import_that_is_interrupted_keeps_what_was_taken(export, place):
    location = place.new("other")
    with start("index", "import", location) as process:
        process.stdin.write(as_lines(objects(export)[:11]).encode())
        process.stdin.flush()
        wait_until(lambda: run("index", "stats", location)[0] == 0, "there is an index")
        process.send_signal(signal.SIGINT)
        assert process.stderr.read().strip() == b""
        assert process.wait() == 130
    assert len(kept(location)) <= 10
    assert is_clean(location)
    assert run("index", "import", location, text=export)[0] == 0
    assert len(kept(location)) == 20


def test_pages_go_from_one_kind_of_place_to_another_and_back(index, servers, tmp_path, monkeypatch):
    monkeypatch.setattr("dedup_filter.store.redis.process._BLOCK", 7)
    location, back = servers.new("copy"), str(tmp_path / "back")
    with NearDuplicateFilter.open(index) as pages:
        for number in (0, 30):  # the copies of the second one are in its batch
            for copy in "abcd":
                pages.see(f"https://example.org/{number}/{copy}", text=article(number, copy))
        pages.forget(ITEMS[1]["url"])
    there_first = records(index)
    for here, there in ((str(index), location), (location, back)):
        text = run("index", "export", here)[1]
        (found,) = lines("index", "import", there, "--json", text=text)
        assert (found["lines"], found["not_kept"]) == (1 + len(there_first), 0)
        assert stats(there)["crawls"][0]["name"] == "import"
        assert is_clean(there)
    numbers = {each.page: number for number, each in enumerate(there_first, 1)} | {None: None}
    assert records(back) == [
        each._replace(
            page=numbers[each.page],
            original=numbers.get(each.original, 0),
            similarity=each.similarity and float(np.float32(each.similarity)),
        )
        for each in there_first
    ]
    for there in (location, back):
        with NearDuplicateFilter.open(there) as pages:
            assert pages.see(ITEMS[0]["url"], text=article(0)).outcome == "revisit"
            assert pages.see("https://example.org/", text=article(2, 2)).outcome == "near"
            pages.check()
        with index_at(there).recorded() as recorded:
            (copy,) = recorded.records(recorded.at_url("https://example.org/0/b"))
            assert recorded.url_of_original(copy) == ITEMS[0]["url"], "it has another number now"


def test_an_export_of_pages_that_were_seen_again_is_imported(servers, tmp_path):
    location, back = servers.seeded(), str(tmp_path / "back")
    with NearDuplicateFilter.open(location) as pages:
        assert pages.see(**ITEMS[0]).outcome == "revisit"
    text = run("index", "export", location)[1]
    (found,) = lines("index", "import", back, "--json", text=text)
    assert found["outcomes"] == {"new": 19, "near": 5, "revisit": 1}
    assert kept(back) == kept(location)
    assert is_clean(back)


def test_what_is_to_be_forgotten_is_left_out_on_servers(export, servers):
    location = servers.new("index")
    NearDuplicateFilter.open(location, expire_days=30).close()
    whole = objects(export)
    whole[1]["first_seen"] = whole[1]["last_seen"] = "2020-01-01T00:00:00Z"
    found = json.loads(imported(location, whole, "--json")[1])
    assert (found["outcomes"], found["not_kept"]) == ({"near": 5, "new": 19}, 1)
