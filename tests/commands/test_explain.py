"""`dedup-filter explain`: sections for people that fit a terminal, and the same as one object."""

import json
from pathlib import Path

import pytest
from command_line import lines, refused, run
from index_feed import ITEMS
from text_samples import CHINESE, FIRST, SECOND

from dedup_filter import NearDuplicateFilter, fingerprint
from dedup_filter.commands import COLUMNS, paragraph

HOSTILE = "\x1b[31mred\u202e&lt;script>"
PAGE = (
    f"<html lang=en><title>{HOSTILE}</title><nav>{HOSTILE * 90}</nav><p>{FIRST} {SECOND}</p>"
    f"<p>{CHINESE * 5}</p><svg>{HOSTILE}</svg>"
)


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("page.html").write_text(PAGE, encoding="utf-8")
    return "page.html"


def test_sections_for_people(page):
    code, out, err = run("explain", page, "--url", "http://a.example/")
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert all(len(line) <= COLUMNS or " " not in line.strip() for line in out.splitlines())
    for head in ("TEXT KEPT (", "LEFT OUT ("):
        assert f"\n{head}" in out
    assert "page frame by an element's tag" in out
    assert "host         a.example: 0 pages counted, its frame is not known" in out


def test_one_object(page):
    (found,) = lines("explain", page, "--json")
    with NearDuplicateFilter.open() as pages:
        verdict = pages.see("", html=PAGE)
    assert found["fingerprint"] == f"{verdict.fingerprint:#018x}"
    assert FIRST in found["text"]
    assert {left["rule"] for left in found["left_out"]} == {"title", "frame", "element"}
    assert sum(found["words"].values()) == pytest.approx(
        sum(left["words"] for left in found["left_out"]) + found["words"]["kept"]
    )


def test_lines_that_are_compared_are_not_left_out(tmp_path):
    """A price and a size around the main text; a menu is left out."""
    html = (
        "<nav><a href=/>Shop</a></nav><main><h1>Oak chair of the shop</h1><div>EUR 17</div>"
        f"<article><p>{FIRST}</p><p>{SECOND}</p></article><ul><li>Size 40</li></ul></main>"
    )
    path = tmp_path / "page.html"
    path.write_text(html)
    out = run("explain", str(path))[1]
    compared = out.partition("\nCOMPARED WITH IT (4 words)\n")[2].partition(
        "\n\nLEFT OUT (1 word)"
    )[0]
    assert compared.split("\n") == ["  EUR 17", "  Size 40"]
    (found,) = lines("explain", str(path), "--json")
    assert found["words"]["compared"] == 4


def test_standard_input_and_options():
    text = ITEMS[0]["text"]
    (found,) = lines("explain", "-", "--json", "--set", "features=shingles", text=text)
    assert int(found["fingerprint"], 16) == fingerprint(text, features="shingles")
    assert found["left_out"] == []


def test_page_of_an_index_is_not_fetched(index):
    (found,) = lines("explain", ITEMS[0]["url"], "--index", str(index), "--json")
    assert found["text"] == ITEMS[0]["text"]
    assert found["recorded"]["outcome"] == "new"
    code, out, _ = run("explain", ITEMS[0]["url"], "--index", str(index))
    assert (code, "recorded     outcome new" in out) == (0, True)


def test_page_of_a_shared_index(servers):
    index = servers.seeded()
    (found,) = lines("explain", ITEMS[0]["url"], "--index", index, "--json")
    assert (found["text"], found["left_out"]) == (None, None)
    assert int(found["fingerprint"], 16) == fingerprint(ITEMS[0]["text"])
    assert "TEXT: it was not kept" in run("explain", ITEMS[0]["url"], "--index", index)[1]


@pytest.mark.parametrize(
    ("html", "reason", "detail"),
    [
        ("<p>a few words", "too_short", ": 3 of 20 words, "),
        (f"<p>{'the and of ' * 7}", "too_short", ": 21 words, all of them stopwords, "),
        ("%PDF-1.7", "binary", ": "),
    ],
)
def test_unjudged_page(html, reason, detail):
    code, out, _ = run("explain", "-", text=html)
    assert code == 0
    assert f"unjudged     {reason}{detail}" in out
    (found,) = lines("explain", "-", "--json", text=html)
    assert (found["reason"], found.get("fingerprint")) == (reason, None)


@pytest.mark.parametrize("name", ["no such file", "http://127.0.0.1:9/", "\x1b[31m"])
def test_a_page_that_cannot_be_read_is_refused_by_each_command(index, name):
    for command in (["explain"], ["compare", "-"], ["find", str(index)], ["text", str(index)]):
        assert "it cannot be " in refused(*command, name)


@pytest.mark.parametrize(
    "options", [["--index", "no such folder"], ["--set", "features=none_such"]]
)
def test_a_wrong_index_or_option_is_refused(options):
    for command in (["explain", "-"], ["compare", "-", "x"]):
        refused(*command, *options)


@pytest.mark.parametrize("text", [CHINESE * 9, "a " * 200, "x" * 500, f"{'ab ' * 40}{CHINESE}", ""])
def test_lines_of_a_text_are_full_and_have_all_of_it(text, capsys):
    paragraph(text, "name ", "     ")
    cut = capsys.readouterr().out.splitlines()
    assert all(len(line) <= COLUMNS or " " not in line.strip()[5:] for line in cut)
    assert "".join("".join(cut).split()) == "name" * bool(text) + "".join(text.split())


def test_a_page_made_by_script_is_written_as_strict_json():
    """Infinitely much of it is unread."""
    (found,) = lines("explain", "-", "--json", text="<div id=app></div><script>go()</script>")
    assert found["reason"] == "by_script"
    json.dumps(found, allow_nan=False)
