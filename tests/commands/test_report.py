"""`dedup-filter report`: what it writes, what it refuses, and what it leaves alone."""

import pytest
from command_line import lines, refused, run
from index_feed import ITEMS, article, contents

from dedup_filter import NearDuplicateFilter


def test_a_report_is_written_and_said(index, tmp_path):
    path = tmp_path / "r.html"
    before = contents(index)
    code, out, err = run("report", str(index), "-o", str(path))
    assert (code, err) == (0, "")
    assert out.startswith(f"{path}: 25 pages, 5 duplicates, texts of 5 pairs")
    assert path.read_text("utf-8").startswith("<!doctype html>")
    assert contents(index) == before


def test_a_report_on_a_shared_index_shows_what_one_on_a_folder_shows(index, servers, tmp_path):
    written = []
    for number, location in enumerate((str(index), servers.seeded())):
        path = tmp_path / f"{number}.html"
        (said,) = lines("report", location, "-o", str(path), "--json")
        written.append({name: said[name] for name in ("pages", "duplicates")})
        html = path.read_text("utf-8")
        assert all(each["url"].rpartition("/")[2] in html for each in ITEMS[20:])
    assert written[0] == written[1]
    assert (said["duplicates"], said["listed"], said["texts"]) == (5, 5, 0)


def test_figures_are_json_if_asked_for(index, tmp_path):
    path = tmp_path / "r.html"
    (said,) = lines(
        "report", str(index), "-o", str(path), "--json", "--duplicates", "3", "--texts", "2"
    )
    assert said == {
        "report": str(path),
        "bytes": path.stat().st_size,
        "pages": 25,
        "duplicates": 5,
        "listed": 3,
        "texts": 2,
    }


def test_a_file_is_replaced_only_by_force(index, tmp_path):
    path = tmp_path / "r.html"
    path.write_text("mine")
    assert "exists and is not replaced" in refused("report", str(index), "-o", str(path))
    assert path.read_text() == "mine"
    lines("report", str(index), "-o", str(path), "--force", "--json")
    assert "exists and is not replaced" in refused("report", str(index), "-o", str(path))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["memory:"], "an index in memory ends with its process"),
        (["none"], "there is no index at none"),
        (["INDEX", "-o", "none/r.html"], "its folder does not exist"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(index, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    given = [str(index) if each == "INDEX" else each for each in arguments]
    assert sentence in refused("report", *given)
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_the_options_of_the_last_crawl_are_shown(tmp_path):
    index, path = tmp_path / "index", tmp_path / "r.html"
    for bits in (3, 5):
        with NearDuplicateFilter.open(index, max_distance=bits, min_similarity=None) as pages:
            pages.see("https://a.example/", text=article(1))
    lines("report", str(index), "-o", str(path), "--json")
    assert "k&nbsp;=&nbsp;5 bits" in path.read_text("utf-8")
    assert "no least similarity" in path.read_text("utf-8")
