"""`dedup-filter compare`: what people read, with marks or colours, and the same as one object."""

import json
import os
import pty
import re
import subprocess

import pytest
from command_line import COMMAND, lines, refused, run
from index_feed import ITEMS, article
from text_samples import CHINESE, FIRST, SECOND

from dedup_filter import NearDuplicateFilter
from dedup_filter.commands.sections import COLUMNS, columns_of
from dedup_filter.review.explanation.refusals import why
from dedup_filter.scrapy_plugin.pipeline import describe_refusal

HOSTILE = "\x9b31mred\u202e"
ONE = f"<title>{HOSTILE}</title><p>{FIRST} {SECOND}</p><p>{CHINESE * 3}</p><p>Price: 17</p>"
OTHER = ONE.replace("Tuesday", HOSTILE).replace("17", "18").replace("冬季", "夏季")


@pytest.fixture
def pair(tmp_path):
    paths = [tmp_path / "one.html", tmp_path / "other.html"]
    for path, html in zip(paths, (ONE, OTHER), strict=True):
        path.write_text(html, encoding="utf-8")
    return list(map(str, paths))


HERE = ("--url", "http://a.example/1", "--url", "http://a.example/2")


def test_files_without_urls_are_judged_as_pages_of_one_host(pair):
    (alone,), (on_host,) = (lines("compare", "--json", *pair, *urls) for urls in ((), HERE))
    rules = [each["refused"] and each["refused"]["rule"] for each in alone["verdicts"]]
    assert rules == [each["refused"] and each["refused"]["rule"] for each in on_host["verdicts"]]
    assert "lines" in rules


def test_sections_for_people(pair):
    code, out, err = run("compare", *pair, *HERE)
    assert (code, err) == (0, "")
    assert not {"\x1b", "\x9b", "\u202e"} & set(out)
    assert max(map(columns_of, out.splitlines())) <= COLUMNS
    reason = f'kept: 2 words of lines missing in {HERE[1]}, 0 allowed: "Price: 18"'
    assert reason in " ".join(out.split())
    assert "[-Tuesday-] {+\\x9b31mred\\u202e+} to discuss" in out
    assert "怎样让港口在[-冬-]{+夏+}季保持开放" in out
    assert "ONLY A SAYS\n  The committee met on Tuesday" in out
    tables = re.findall(r"table \d, led by bits [\d to,]+: (\d+) differ; .*(finds|misses)", out)
    distance = int(re.search(r"FINGERPRINTS: (\d+) bits?", out)[1])
    assert sum(int(differing) for differing, _ in tables) == distance
    assert "finds" in dict(tables).values()


def test_the_element_of_a_line_that_keeps_two_pages_apart(tmp_path):
    """Read from the second page; of a record, whose lines are in no element any more, nothing."""
    paths, index = [tmp_path / "one.html", tmp_path / "other.html"], tmp_path / "index"
    line = f'<p>By Anna <span class="{HOSTILE} views">Read {{}} times</span></p>'
    for number, path in enumerate(paths):
        html = f"<h1>Ice</h1><p>{FIRST} {SECOND}</p>{line.format(1037 + number)}"
        path.write_text(html, encoding="utf-8")
        with NearDuplicateFilter.open(index, keep_text=True) as pages:
            verdict = pages.see(HERE[2 * number + 1], html=html)
    assert [each.text for each in verdict.refused.lines] == ["By Anna Read 1038 times"]
    (found,) = lines("compare", *map(str, paths), *HERE, "--json")
    assert found["verdicts"][12]["refused"]["lines"] == ["By Anna Read 1038 times"]
    assert found["ignorable"]["selector"] == ".views"
    [element] = found["ignorable"]["elements"]
    assert element["text"] == "Read 1038 times"
    code, out, err = run("compare", *map(str, paths), *HERE)
    assert (code, err) == (0, "")
    assert not {"\x1b", "\x9b", "\u202e"} & set(out)
    assert (
        """("Read 1038 times"): unless that is content, DEDUP_IGNORE = ".views" would drop B"""
        in " ".join(out.split()).replace("'", '"')
    )
    (found,) = lines("compare", *HERE[1::2], "--index", str(index), "--json")
    assert found["verdicts"][12]["refused"]["lines"] == ["By Anna Read 1038 times"]
    assert found["ignorable"] is None


def test_one_object(pair):
    (found,) = lines("compare", *pair, *HERE, "--json")
    assert [each["max_distance"] for each in found["verdicts"]] == list(range(13))
    with NearDuplicateFilter.open() as pages:
        pages.see(HERE[1], html=ONE)
        verdict = pages.see(HERE[3], html=OTHER)
    last = found["verdicts"][-1]
    assert (last["outcome"], last["candidates"]) == (verdict.outcome, verdict.candidates)
    assert last["refused"]["rule"] == verdict.refused.rule == "lines"
    assert last["refused"]["words"] == verdict.refused.words == 2
    assert last["refused"]["text"] == "Price: 18"
    assert last["refused"]["distance"] == found["distance"]
    assert found["distance"] == len(found["differing_bits"])
    assert found["second"]["title"] == HOSTILE
    json.dumps(found, allow_nan=False)


def test_why_it_is_kept_is_what_the_log_of_a_crawl_says(tmp_path):
    paths = [tmp_path / f"{n}.html" for n in range(2)]
    lines_of_page = HOSTILE, f"{HOSTILE}2"
    for path, line in zip(paths, lines_of_page, strict=True):
        path.write_text(ONE.replace("Price: 17", line), encoding="utf-8")
    code, out, _ = run("compare", *map(str, paths), *HERE)
    assert code == 0
    with NearDuplicateFilter.open() as pages:
        pages.see(HERE[1], html=paths[0].read_text(encoding="utf-8"))
        verdict = pages.see(HERE[3], html=paths[1].read_text(encoding="utf-8"))
    logged = describe_refusal(HERE[3], verdict.refused)
    assert logged.partition(f"{HERE[3]}: ")[2] == why(verdict.refused)
    assert why(verdict.refused).endswith(': "\\x9b31mred\\u202e2"')
    assert f"kept: {why(verdict.refused)}" in " ".join(out.split())


def test_pages_that_differ_in_nothing(pair):
    code, out, _ = run("compare", pair[0], pair[0])
    assert code == 0
    assert "k 0 to 12  exact: it repeats A (0 bits" in out
    assert "WORD DIFF" not in out
    assert "ONLY A SAYS: nothing" in out


def test_distances_at_which_it_is_near(tmp_path):
    paths = [tmp_path / f"{n}.txt" for n in range(2)]
    for path, text in zip(
        paths, (article(1), article(1).replace("crane", "winch", 2)), strict=True
    ):
        path.write_text(text)
    out = run("compare", *map(str, paths))[1]
    assert re.search(r"k 0 to \d+ +near: .*found by shared phrases", out)
    code, out, _ = run("compare", *map(str, paths), "--set", "shared_phrases=False")
    assert code == 0
    near = re.search(r"k (\d+) to 12  near: it repeats A \((\d+) bits?, A has ([\d.]+) %", out)
    assert near[1] == near[2]
    assert float(near[3]) > 80
    if near[1] != "0":
        assert "new: not near" in out


def on_a_terminal(*arguments, **environment):
    """Run the command with its standard output on a terminal; return what is written there."""
    ours, theirs = pty.openpty()
    variables = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdout=theirs, env={**variables, **environment}
    )
    os.close(theirs)
    written = b""
    try:
        while chunk := os.read(ours, 65_536):
            written += chunk
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    return written.decode()


def test_colours_on_a_terminal_only(pair):
    out = on_a_terminal("compare", *pair)
    assert "\x1b[31mTuesday\x1b[0m" in out
    assert "\x1b[32m\\x9b31mred\\u202e\x1b[0m" in out
    assert "[-Tuesday" not in out
    plain = on_a_terminal("compare", *pair, NO_COLOR="1")
    assert "\x1b" not in plain
    assert "[-Tuesday-]" in plain


def test_pages_of_an_index(index):
    urls = ITEMS[0]["url"], ITEMS[20]["url"]
    (found,) = lines("compare", *urls, "--index", str(index), "--json")
    assert found["verdicts"][12]["outcome"] == "near"
    assert found["second"]["recorded"] == "near"
    assert found["second"]["original"] == urls[0]
    out = run("compare", *urls, "--index", str(index))[1]
    assert f"recorded   near of {urls[0]}" in out


def test_pages_of_a_shared_index(servers, tmp_path):
    index = servers.seeded()
    urls = ITEMS[0]["url"], ITEMS[1]["url"]
    (found,) = lines("compare", *urls, "--index", index, "--json")
    assert (found["verdicts"], found["changes"]) == (None, None)
    assert found["likeness"]["of_second"] < 0.5
    assert "VERDICT: B cannot be judged again" in run("compare", *urls, "--index", index)[1]
    path = tmp_path / "a.txt"
    path.write_text(article(0, 1))
    (found,) = lines("compare", urls[0], str(path), "--index", index, "--json")
    assert found["verdicts"][12]["outcome"] == "near"


@pytest.mark.parametrize(
    "arguments",
    [
        ("-", "-"),
        ("no such file", "-"),
        ("-", "http://127.0.0.1:9/"),
        ("-", "-", "--url", "a", "--url", "b", "--url", "c"),
        ("-", "x", "--index", "no such folder"),
    ],
)
def test_what_cannot_be_compared(arguments):
    code, out, err = run("compare", *arguments)
    assert (code, out) == (2, "")
    assert "Error: " in err


def test_options_change_the_verdict(pair):
    (found,) = lines(
        "compare", *pair, "--json", "--set", "min_similarity=none", "--set", "max_distance=7"
    )
    assert found["max_distance"] == 7
    assert found["verdicts"][12]["outcome"] == "near"
    assert "min_similarity" in refused("compare", *pair, "--set", "min_similarity=2")


def test_help_fits_a_screen():
    out = run("compare", "--help")[1].splitlines()
    assert len(out) <= 40
    assert max(map(len, out)) <= 80


@pytest.mark.parametrize("host", ["a.example", "b.example"])
def test_what_shares_phrases_is_found_at_every_distance(tmp_path, article, host):
    paragraphs = [article(number, words=60) for number in range(8)]
    paths = []
    for name, some in ("whole", paragraphs), ("part", paragraphs[2:5]):
        paths.append(tmp_path / f"{name}.txt")
        paths[-1].write_text("\n\n".join(some))
    urls = "--url", "http://a.example/", "--url", f"http://{host}/part"
    (found,) = lines("compare", "--json", *map(str, paths), *urls)
    told = {(each["outcome"], each["reason"]) for each in found["verdicts"]}
    assert told == {("near", "shared_phrases")}
    code, out, _ = run("compare", *map(str, paths), *urls)
    assert code == 0
    assert "found by shared phrases" in " ".join(out.split())
