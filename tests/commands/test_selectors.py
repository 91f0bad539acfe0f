"""The options `ignore` and `content` on the command line, and what an index notes of them."""

import json

import pytest
from command_line import lines, refused, run
from made_text import prose

from dedup_filter import NearDuplicateFilter

PAGE = (
    "<html lang=en><title>Ice</title><p>{text}</p><p><i class=views>{views} views</i></p>"
    "<div class=quote><p>{quote}</p></div><p>{more}"
)


def page_of(number, more=""):
    quote = prose(f"quote {number}", words=35)
    return PAGE.format(text=prose(1), views=100 + number, quote=quote, more=more)


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / f"{number}.html" for number in range(2)]
    for number, path in enumerate(paths):
        path.write_text(page_of(number))
    return list(map(str, paths))


@pytest.fixture
def feed(tmp_path):
    items = [{"url": f"https://example.com/{n}", "html": page_of(n)} for n in range(4)]
    path = tmp_path / "feed.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    return path


def record(feed, index, **options):
    with NearDuplicateFilter.open(index, **options) as pages:
        for line in feed.read_text().splitlines():
            pages.see(**json.loads(line))


OPTIONS = [
    "ignore=.views, .quote",
    'ignore={"*": [".views", ".quote"]}',
    "content=body > p:first-child",
]


@pytest.mark.parametrize("option", OPTIONS)
def test_a_scan_drops_what_differs_only_there(feed, tmp_path, option):
    (by_default,) = lines("scan", str(feed), "-o", str(tmp_path / "all.jsonl"), "--json")
    out = str(tmp_path / "out.jsonl")
    (found,) = lines("scan", str(feed), "-o", out, "--json", "--set", option, "--workers", "2")
    assert (by_default["kept"], found["kept"]) == (4, 1)


@pytest.mark.parametrize("option", OPTIONS)
def test_pages_that_differ_only_there_are_compared_as_copies(files, option):
    (by_default,) = lines("compare", *files, "--json")
    (found,) = lines("compare", *files, "--json", "--set", option)
    assert by_default["verdict"]["outcome"] == "new"
    assert found["verdict"]["outcome"] == "exact"


def test_explain_tells_what_each_selector_leaves_out(files):
    option = "ignore=.views, p .none, .quote p"
    (found,) = lines("explain", files[0], "--json", "--set", option, "--set", "content=p, .quote")
    assert found["selected"] == ["ignored", "content"]
    told = [(each["rule"], each["detail"], each["text"]) for each in found["left_out"]]
    quote = prose("quote 0", words=35)
    assert told == [
        ("ignored", ".views", "100 views"),
        ("ignored", ".quote p", quote),
        ("title", "", "Ice"),
    ]
    (found,) = lines("explain", files[0], "--json", "--set", "content=body > p:first-child")
    assert found["left_out"][0]["rule"] == "outside"
    assert found["left_out"][0]["text"] == f"100 views {quote}"
    code, out, _ = run("explain", files[0], "--set", option, "--set", "content=main")
    assert (code, "content names nothing on the page" in out) == (0, True)
    assert "left out by selectors of ignore" in out
    code, out, _ = run("explain", files[0], "--set", "ignore=*")
    assert (code, "they would leave no text" in out, "LEFT OUT (1 word)" in out) == (0, True, True)


def test_an_index_is_asked_with_the_selectors_of_its_last_crawl(feed, files, tmp_path):
    index = tmp_path / "index"
    record(feed, index, ignore={"example.com": [".views", ".quote"]})
    at_host = ("--url", "https://www.example.com/new")
    (found,) = lines("explain", files[1], *at_host, "--index", str(index), "--json")
    assert found["selected"] == ["ignored"]
    (found,) = lines("explain", files[1], "--index", str(index), "--json")
    assert found["selected"] == []
    (found,) = lines("explain", files[1], "--index", str(index), "--json", "--set", "ignore=none")
    assert found["selected"] == []


def test_they_do_not_change_a_recorded_page(feed, tmp_path):
    index = str(tmp_path / "index")
    record(feed, index)
    command = "explain", "https://example.com/0", "--index", index
    assert run(*command)[0] == 0
    said = refused(*command, "--set", "ignore=.views")
    assert "ignore does not change a recorded page" in said


@pytest.mark.parametrize(
    "command",
    [["explain"], ["compare"], ["scan", "-o", "x"], ["bits", "fingerprint"]],
    ids=lambda c: c[-1],
)
def test_a_wrong_one_is_refused(command, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages = files[:1] if command[0] == "explain" else files
    said = refused(*command, *pages, "--set", "ignore=p::text")
    assert "ignore has no CSS selector in 'p::text'" in said
