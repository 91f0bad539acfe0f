"""`benchmarks/record_verdicts.py` records the verdicts on all pages, and finds what differs."""

import json

import pytest
from made_text import prose
from record_verdicts import MODES, claimed, compare, is_lost, record

from dedup_filter import NearDuplicateFilter

PROGRAM = """
import sys
from dedup_filter import NearDuplicateFilter
for host in ("a", "b"):
    with NearDuplicateFilter.open(max_distance=int(sys.argv[1])) as pages:
        for number in range(40):
            name = f"story{number % 30}"
            text = f"The {name} goes, and nobody knows where the {name} goes to. " * 9
            verdict = pages.see(f"https://{host}.example/{number}", text=text)
            if verdict.is_duplicate or len(pages) == 0:
                sys.exit("the stand-in finds all pages new")
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "shop.py"
    path.write_text(PROGRAM)
    return path


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.slow
def test_two_recordings_are_equal_and_have_all_pages(program, tmp_path, capsys):
    for name in ("one", "two"):
        record(tmp_path / name, [f"{program} 3"], [*MODES], 1000)
    assert not compare(tmp_path / "one", tmp_path / "two", 3)
    assert "0 verdicts differ" in capsys.readouterr().out
    at_once, pending, directory, reopened = (
        read(tmp_path / f"one/shop-3.{m}.jsonl") for m in MODES
    )
    assert at_once == reopened
    assert len(at_once) == 80
    assert {line["outcome"] for line in at_once} == {"new", "exact"}
    assert pending == directory


def test_what_differs_is_named(program, tmp_path, capsys):
    for name in ("one", "two"):
        record(tmp_path / name, [f"{program} 3"], ["at-once"], 1000)
    path = tmp_path / "two/shop-3.at-once.jsonl"
    lines = read(path)
    lines[35]["original"] = "https://a.example/0"
    path.write_text("\n".join(map(json.dumps, lines[:-1])))
    assert compare(tmp_path / "one", tmp_path / "two", 3)
    said = capsys.readouterr().out
    assert "80 verdicts, 2 differ" in said
    assert '"url": "https://a.example/35"' in said


def test_pages_are_left_out_evenly(program, tmp_path):
    record(tmp_path, [f"{program} 3"], ["at-once"], 40)
    (path,) = tmp_path.glob("*.jsonl")
    assert {line["index"] for line in read(path)} == {0}
    assert len(read(path)) == 40


def test_a_copy_of_a_released_page_is_claimed_again():
    lost = next(url for n in range(200) if is_lost({"url": (url := f"https://a.example/{n}")}))
    pages = [{"url": url, "text": prose("one text", words=80)} for url in (lost, f"{lost}?page=x")]
    with NearDuplicateFilter.open() as judge:
        seen = [(page["url"], verdict.outcome) for page, verdict in claimed(judge, pages)]
        assert len(judge) == 1
    assert seen == [(lost, "new"), (f"{lost}?page=x", "exact"), (f"{lost}?page=x", "new")]
