"""`dedup-filter tune`: an index with its pages -> what settings would drop, for people and JSON."""

import pytest
from command_line import lines, refused, run
from index_feed import ITEMS, contents, tamper

STRICT = ("--min-similarity", "1", "--max-distance", "0")


def test_all_changes_of_one_setting(index):
    """Five near-duplicates are kept if no word may be missing; nothing is written."""
    before = contents(index)
    code, out, err = run("tune", str(index), *STRICT)
    assert (code, err) == (0, "")
    assert contents(index) == before
    changed = [line for line in out.splitlines() if line.startswith("  newly kept")]
    assert len(changed) == 5
    assert f"{ITEMS[20]['url']}  was near {ITEMS[0]['url']} (" in changed[0]
    assert changed[0].endswith(" % similar), would be new")
    table = {line[:36].strip(): line.split()[-4:] for line in out.splitlines()[-2:]}
    assert table == {
        "now, max_distance 12, min_similarity": ["5", "0", "0", "0"],
        "max_distance 0, min_similarity 1": ["0", "0", "5", "0"],
    }


def test_one_object_for_now_and_for_each_combination(index):
    now, *others = lines(
        "tune",
        str(index),
        "--max-distance",
        "0",
        "--max-distance",
        "12",
        "--min-similarity",
        "1",
        "--min-similarity",
        "none",
        "--json",
    )
    assert (now["dropped"], now["options"]["max_distance"], now["changes"]) == (5, 12, [])
    assert [each["options"] for each in others] == [
        {"max_distance": 0, "min_similarity": 1},
        {"max_distance": 0, "min_similarity": None},
        {"min_similarity": 1},
        {"min_similarity": None},
    ]
    assert [each["newly_kept"] for each in others] == [5, 5, 5, 0]
    assert len(others[0]["changes"]) == 3
    change = others[0]["changes"][0]
    assert (change["url"], change["change"]) == (ITEMS[20]["url"], "newly_kept")
    assert (change["before"]["original"], change["after"]["outcome"]) == (ITEMS[0]["url"], "new")


def test_pages_that_were_not_kept(index):
    tamper(index, "DELETE FROM contents WHERE page > 3")
    err = refused("tune", str(index))
    assert "not kept 22 of its 25 pages" in err
    assert "DEDUP_KEEP_TEXT=True" in err


def test_hostile_urls_harm_no_terminal(index):
    tamper(
        index,
        """UPDATE pages
        SET url = 'http://x/' || char(27, 10, 8238) || page || hex(zeroblob(9000))""",
    )
    code, out, _ = run("tune", str(index), *STRICT)
    assert code == 0
    assert r"\x1b" in out
    assert all(line.isprintable() and len(line) < 1_000 for line in out.splitlines())


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nowhere"], "there is no index at nowhere"),
        (["redis://localhost/"], "is not a directory"),
        (["nowhere", "--max-distance", "13"], "13"),
        (["nowhere", "--most", "0"], "--most"),
    ],
)
def test_what_cannot_be_tuned_is_refused(arguments, why):
    code, out, err = run("tune", *arguments)
    assert (code, out) == (2, "")
    assert why in err
