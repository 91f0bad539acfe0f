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
from dedup_filter.wording import counted, percent

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
    reason = 'kept: 2 words of lines missing in A, 0 allowed: "Price: 18"'
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
        """("Sold 1038 times"): unless that text matters, as a price or a size does, """
        """DEDUP_IGNORE = ".sold" would drop B""" in " ".join(out.split()).replace("'", '"')
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
    assert re.fullmatch(rf"near: B repeats A \({bits} bits?\)", said)
    assert verdict(1, "--set", "max_distance=0")[1].endswith("; found by shared phrases)")
    narrow = "--set", f"max_distance={bits - 1}", "--set", "shared_phrases=False"
    assert verdict(1, *narrow) == (
        bits,
        f"new: not near ({bits} bits differ, max_distance {bits - 1})",
    )
    assert verdict(3) == (None, "unjudged: too_short")
    assert verdict(0) == (0, "exact: B repeats A (0 bits)")
    assert run("compare", paths[0], paths[0])[1].endswith("\nWORD DIFF: none\n")


def test_what_the_crawl_said_of_the_second_page(tmp_path):
    """A page that repeats A, one that repeats another page, and one that came before A."""
    urls, index = [f"http://{name}.example/" for name in "abcd"], str(tmp_path / "index")
    texts = [article(1), article(2), article(2, 1), article(1, 1)]
    with NearDuplicateFilter.open(index) as pages:
        verdicts = [pages.see(url, text=text) for url, text in zip(urls, texts, strict=True)]
    bits = [counted(verdicts[number].distance, "bit") for number in (3, 2)]

    def said(one, other):
        out = " ".join(run("compare", urls[one], urls[other], "--index", index)[1].split())
        assert "none: B cannot be judged again, as its text was not kept: crawl with DEDUP_" in out
        return re.search(r"in the crawl (.*?) verdict ", out)[1]

    assert said(0, 3) == f"near: B repeats A ({bits[0]})"
    assert said(0, 2) == f"near: B repeats {urls[1]} ({bits[1]})"
    assert said(3, 0) == "new; A came later"
    assert said(0, 1) == "new"


def test_there_is_one_percentage_that_of_the_log(pair):
    """Of the text of B that A has, whatever the verdict: 100 % only if nothing is missing."""
    with NearDuplicateFilter.open(min_similarity=None) as pages:
        for url, name in zip(HERE[1::2], pair, strict=True):
            verdict = pages.see(url, html=Path(name).read_text())
    assert verdict.lost
    for settings in ["min_similarity=None"], ["min_similarity=0.8"]:
        out = run("compare", *pair, *HERE, "--set", *settings)[1]
        assert re.findall(r"[\d.]+ %", out) == [percent(verdict.similarity)]
        assert ("\nlost  " in out) == ("B repeats A" in out) != ("\nmissing  " in out)
    # In an index that knows more frame, the crawl's own share stays.
    index = str(Path("index"))
    with NearDuplicateFilter.open(index, min_similarity=None, keep_text=True) as pages:
        for url, name in zip(HERE[1::2], pair, strict=True):
            verdict = pages.see(url, html=Path(name).read_text())
        for number in range(3):
            pages.see(
                f"http://a.example/x{number}", html=f"<p>{article(number)}</p><p>{SECOND}</p>"
            )
    out = run("compare", *HERE[1::2], "--index", index)[1]
    assert f"A has {percent(verdict.similarity)} of the text of B, by the log of" in out
    assert len(re.findall(r"[\d.]+ %", out)) == 1
    same = run("compare", pair[0], pair[0])[1]
    assert re.findall(r"[\d.]+ %", same) == ["100 %"]
    assert "missing" not in same


def test_pages_of_two_hosts_are_not_compared_if_scope_is_host(pair):
    hosts = "--url", "http://a.example/", "--url", "http://b.example/"
    out = run("compare", *pair, *hosts, "--set", "scope=host")[1]
    assert "verdict      new: A is a page of another host, and scope is host" in out


def test_one_url_is_that_of_the_only_file(pair, tmp_path):
    with NearDuplicateFilter.open(tmp_path / "index") as pages:
        pages.see("http://a.example/1", html=ONE)
    command = "compare", "http://a.example/1", pair[1], "--index", str(tmp_path / "index")
    assert "as pages of two hosts, as B has no URL (give it with --url)" in run(*command)[1]
    out = run(*command, "--url", "http://a.example/2")[1]
    assert "as pages of one host, a.example; " in out


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


@pytest.mark.parametrize(
    ("markup", "said"),
    [
        ("<p>{} reviews</p>", "from A to B; what changes by itself is not compared"),
        ("<aside>Price: {}</aside>", "none; what is lost or missing stands beside the text"),
    ],
)
def test_the_diff_says_why_it_differs_from_the_verdict(tmp_path, markup, said):
    paths = [tmp_path / "one.html", tmp_path / "other.html"]
    for number, path in enumerate(paths):
        box = markup.format(30 + number)
        path.write_text(f"<main><h1>Ice</h1><p>{FIRST} {SECOND}</p></main>{box}")
    out = run("compare", *map(str, paths), *HERE)[1]
    assert f"\nWORD DIFF: {said}\n" in out
    assert "B repeats A" in out
