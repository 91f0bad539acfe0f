"""`dedup-filter compare`: what people read, and the same as one object."""

import json
import re
from pathlib import Path

import pytest
from command_line import lines, refused, run
from index_feed import ITEMS, article
from text_samples import CHINESE, FIRST, SECOND

from dedup_filter import NearDuplicateFilter
from dedup_filter.commands import COLUMNS

HOSTILE = "\x9b31mred\u202e"
ONE = f"<title>{HOSTILE}</title><p>{FIRST} {SECOND}</p><p>{CHINESE * 3}</p><p>Price: 17</p>"
OTHER = ONE.replace("Tuesday", HOSTILE).replace("17", "18").replace("冬季", "夏季")


@pytest.fixture
def pair(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, html in {"one.html": ONE, "other.html": OTHER}.items():
        Path(name).write_text(html, encoding="utf-8")
    return ["one.html", "other.html"]


HERE = ("--url", "http://a.example/1", "--url", "http://a.example/2")


def test_sections_for_people(pair):
    code, out, err = run("compare", *pair, *HERE)
    assert (code, err) == (0, "")
    assert not {"\x1b", "\x9b", "\u202e"} & set(out)
    assert max(map(len, out.splitlines())) <= COLUMNS
    reason = f'kept: 2 words of lines missing in {HERE[1]}, 0 allowed: "Price: 18"'
    assert reason in " ".join(out.split())
    assert "[-Tuesday-] {+\\x9b31mred\\u202e+} to discuss" in out
    assert "怎样让港口在[-冬-]{+夏+}季保持开放" in out
    assert out.startswith("judged       as pages of one host, a.example; the frame of B's host is")


def test_the_element_of_a_line_that_keeps_two_pages_apart(tmp_path):
    """Read from the second page; of a record, whose lines are in no element any more, nothing."""
    paths, index = [tmp_path / "one.html", tmp_path / "other.html"], tmp_path / "index"
    line = f'<p>By Anna <span class="{HOSTILE} sold">Sold {{}} times</span></p>'
    for number, path in enumerate(paths):
        html = f"<h1>Ice</h1><p>{FIRST} {SECOND}</p>{line.format(1037 + number)}"
        path.write_text(html, encoding="utf-8")
        with NearDuplicateFilter.open(index, keep_text=True) as pages:
            verdict = pages.see(HERE[2 * number + 1], html=html)
    assert [each.text for each in verdict.refused.lines] == ["By Anna Sold 1038 times"]
    (found,) = lines("compare", *map(str, paths), *HERE, "--json")
    assert found["verdict"]["refused"]["lines"] == ["By Anna Sold 1038 times"]
    assert found["ignorable"]["selector"] == ".sold"
    [element] = found["ignorable"]["elements"]
    assert element["text"] == "Sold 1038 times"
    code, out, err = run("compare", *map(str, paths), *HERE)
    assert (code, err) == (0, "")
    assert not {"\x1b", "\x9b", "\u202e"} & set(out)
    assert (
        """("Sold 1038 times"): unless that is content, DEDUP_IGNORE = ".sold" would drop B"""
        in " ".join(out.split()).replace("'", '"')
    )
    (found,) = lines("compare", *HERE[1::2], "--index", str(index), "--json")
    assert found["verdict"]["refused"]["lines"] == ["By Anna Sold 1038 times"]
    assert found["ignorable"] is None


def test_one_object(pair):
    (found,) = lines("compare", *pair, *HERE, "--json")
    assert found["assumed"].startswith("as pages of one host, a.example; ")
    verdict, refused = found["verdict"], found["verdict"]["refused"]
    assert (verdict["outcome"], verdict["candidates"]) == ("new", 1)
    assert (refused["rule"], refused["words"], refused["text"]) == ("lines", 2, "Price: 18")
    assert refused["distance"] == found["distance"]
    assert found["second"]["title"] == HOSTILE
    json.dumps(found, allow_nan=False)


def test_verdicts_in_words(tmp_path):
    texts = article(1), article(1).replace("crane", "winch", 2), article(2), "a few words"
    paths = [str(tmp_path / f"{n}.txt") for n in range(4)]
    for path, text in zip(paths, texts, strict=True):
        Path(path).write_text(text)

    def verdict(number, *options):
        (found,) = lines("compare", paths[0], paths[number], "--json", *options)
        out = run("compare", paths[0], paths[number], *options)[1]
        return found["distance"], " ".join(
            re.search(r"verdict +(.*?)\nA ", out, re.DOTALL)[1].split()
        )

    bits, said = verdict(1)
    assert re.fullmatch(rf"near: B repeats A \({bits} bits?, A has [89]\d\.\d % of it\)", said)
    assert verdict(1, "--set", "max_distance=0")[1].endswith("; found by shared phrases)")
    narrow = "--set", f"max_distance={bits - 1}", "--set", "shared_phrases=False"
    assert verdict(1, *narrow) == (
        bits,
        f"new: not near ({bits} bits differ, max_distance {bits - 1})",
    )
    assert verdict(3) == (None, "unjudged: too_short")
    assert verdict(0) == (0, "exact: B repeats A (0 bits, A has 100.0 % of it)")
    assert "WORD DIFF" not in run("compare", paths[0], paths[0])[1]


def test_pages_of_a_shared_index(servers, tmp_path):
    index = servers.seeded()
    urls = ITEMS[0]["url"], ITEMS[1]["url"]
    out = run("compare", *urls, "--index", index)[1]
    assert "verdict      none: B cannot be judged again" in out
    assert "recorded   new" in out
    path = tmp_path / "a.txt"
    path.write_text(article(0, 1))
    (found,) = lines("compare", urls[0], str(path), "--index", index, "--json")
    assert found["verdict"]["outcome"] == "near"


def test_only_one_page_is_standard_input_and_each_has_one_url():
    assert "standard input (-) can be read once" in refused("compare", "-", "-")
    code, _, err = run("compare", "-", "x", *["--url", "a"] * 3)
    assert (code, "--url is given at most twice" in err) == (2, True)
