"""`benchmarks/histories.py` pairs the versions of a page, and tells what the later one adds."""

import subprocess
from random import Random

import pytest
from histories import Crawled, History, Judged
from made_text import prose
from page_changes import compare, lines_of

TEXT = prose("the text of a page", words=120)
TEASER = prose("a teaser", words=8)


def page(text=TEXT, *, table="7", nav="Home", link=TEASER, stamp="Updated 3 May 2031", more=""):
    return (
        f"<title>A page</title><nav><a href=/>{nav}</a></nav><h1>One page</h1><p>{text}</p>"
        f"<table><tr><td>Beds</td><td>{table}</td></tr></table><p><a href=/next>{link}</a></p>"
        f"<div>{stamp}</div>{more}"
    ).encode()


def kind_of(earlier, later):
    return compare(lines_of(earlier), lines_of(later)).kind


@pytest.mark.parametrize(
    ("kind", "later"),
    [
        ("same", page(more="<script>var made = 417</script><p hidden>A nonce, quite unseen</p>")),
        ("same", page(text=TEXT.replace(" ", "  ", 5))),
        ("same", page(more="<p style='display: none'>Never shown to anybody at all</p>")),
        ("stamps", page(stamp="Updated 4 June 2031")),
        ("links", page(link=prose("another teaser", words=9))),
        ("frame", page(nav="Start")),
        ("frame", page(more="<footer>Made by a program of this company</footer>")),
        ("less", page(text=TEXT.rpartition(" ")[0])),
        ("changed", page(table="8")),
        ("changed", page(text=f"{TEXT} {prose('an added sentence', words=12)}")),
        ("unclear", page(text=f"{TEXT} zzyzx")),
        ("unclear", page(text=" ".join(reversed(TEXT.split())))),
        ("unclear", page(more="<p>Friday, 3 May 2031</p>")),
    ],
)
def test_a_change_has_the_kind_of_its_place(kind, later):
    assert kind_of(page(), later) == kind


def test_links_are_the_text_of_a_page_of_links():
    def front(*headlines):
        return "".join(f"<li><a href=/x>{each}</a></li>" for each in headlines).encode()

    old = [prose(f"headline {n}", words=9) for n in range(5)]
    new = "Ferry strands ninety passengers near Ullapool overnight"
    assert kind_of(front(*old), front(new, *old[1:])) == "changed"


def test_a_number_in_a_long_line_is_no_stamp():
    line = (
        "<li>Figures, updated for the whole of the county, tell of {} beds in use at its hospitals"
    )
    assert kind_of(page(more=line.format(523)), page(more=line.format(524))) == "changed"


@pytest.fixture
def repository(tmp_path):
    """Three pages and a dated copy, each committed whenever it changed."""
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run([*git, "init", "-q"], check=True)
    states = [
        {"a.html": page(), "b.html": page(prose("b", words=90)), "ü c.html": page("c " * 40)},
        {"a.html": page(more="<!-- fetched again -->"), "d-2031-05-03.html": page("d " * 40)},
        {"a.html": page(prose("quite another text", words=120)), "d-2031-05-04.html": page("e ")},
        {"notes.txt": b"not a page"},
    ]
    for state in states:
        for name, body in state.items():
            (tmp_path / name).write_bytes(body)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "fetch"], check=True)
    return f"set={tmp_path}/.git"


def test_pairs_are_consecutive_versions_of_one_page(repository):
    history = History(repository)
    pairs = sorted(history.pairs(9, 9, Random(1)))
    assert pairs == [("a.html", 0), ("a.html", 1), ("d-*.html", 0)]
    assert history.body(history.pages["a.html"][0]) == page()
    assert history.body(history.pages["d-*.html"][1]) == page("e ")


def test_known_pages_are_as_they_were_before(repository):
    history = History(repository)
    first = history.others("a.html", 1, Random(1))
    assert sorted(first) == ["b.html", "ü c.html"]
    assert history.others("b.html", 1, Random(1))["a.html"] == page()


def test_a_repeat_is_dropped_and_another_text_is_kept(repository, capsys):
    history, judged = History(repository), Judged(is_verbose=True)
    for at in range(2):
        judged.judge(history, "a.html", at, Random(1))
    pairs, dropped = judged.pairs["new, visit"], judged.dropped["new, visit"]
    kinds = ("same", "no word differs", "changed")
    assert pairs == {(name, kind): 1 for name in ("set", "all") for kind in kinds}
    assert dropped["all", "same"] == 1
    assert dropped["all", "changed"] == 0
    judged.report(as_json=False)
    assert "| all: same | 1 | 1.000 (1 of 1)" in capsys.readouterr().out


def test_a_second_crawl_knows_a_page_again_and_tells_another_text(repository, capsys):
    history, crawled = History(repository), Crawled(is_verbose=True)
    for page_at in [("a.html", 0), ("a.html", 1), ("d-*.html", 0)]:
        crawled.judge(history, *page_at, Random(1))
    kinds = ("same", "no word differs", "changed")
    assert crawled.pages == {(name, kind): 1 for name in ("set", "all") for kind in kinds}
    assert [crawled.counts["revisit"]["all", kind] for kind in kinds] == [1, 1, 0]
    assert [crawled.counts["told"]["all", kind] for kind in kinds] == [0, 0, 1]
    assert not crawled.counts["dropped"].total()
    assert crawled.left_out == {"set: few words": 1}
    crawled.report(as_json=False)
    assert "| all: changed | 1 | 0.000 (0) | 1.000 (1) | 0.000 (0) |" in capsys.readouterr().out
