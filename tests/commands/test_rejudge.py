"""`dedup-filter rejudge`: what is written of a finished crawl that is judged by other settings."""

import pytest
from command_line import lines, refused, run
from index_feed import ITEMS, contents, tamper


def test_what_changes_is_written_and_nothing_of_the_index_is(index):
    before = contents(index)
    code, out, err = run("rejudge", str(index), "--max-distance", "0", "--set", "min_similarity=1")
    assert (code, err) == (0, "")
    changed = [line for line in out.splitlines() if line.startswith("newly kept")]
    assert len(changed) == 5
    assert f"{ITEMS[20]['url']}  was near {ITEMS[0]['url']} (" in changed[0]
    assert changed[0].endswith(" % similar), would be new")
    assert "exact: every page was judged again" in out
    assert "settings  max_distance 12 -> 0, min_similarity 0.8 -> 1" in out
    assert "dropped   5 before, 0 now" in out
    assert contents(index) == before


def test_json_has_each_page_and_the_totals_last(index):
    *changes, totals = lines("rejudge", str(index), "--max-distance", "0", "-s", "1", "--json")
    assert [each["url"] for each in changes] == [each["url"] for each in ITEMS[20:]]
    first = changes[0]
    assert first["change"] == "kept"
    assert first["before"]["original"] == ITEMS[0]["url"]
    assert first["after"] == {
        "outcome": "new",
        "original": None,
        "original_page": None,
        "distance": None,
        "similarity": None,
    }
    assert (totals["pages"], totals["kept"], totals["dropped"]) == (25, 5, 0)
    assert (totals["before"]["max_distance"], totals["after"]["max_distance"]) == (12, 0)


@pytest.mark.parametrize("is_estimate", [False, True])
def test_what_phrases_find_at_any_distance_is_dropped_all_the_same(index, is_estimate):
    if is_estimate:
        tamper(index, "DELETE FROM forms WHERE page = 3")
    out = run("rejudge", str(index), "--max-distance", "0")[1]
    assert ("an ESTIMATE" in out) == is_estimate
    assert "dropped   5 before, 5 now" in out
    assert "0 newly dropped, 0 newly kept, 0 other original" in out


def test_what_selectors_left_out_was_not_kept(index):
    for option in "ignore", "content":
        assert "kept without what it left out" in refused(
            "rejudge", str(index), "--set", f"{option}=p"
        )


def test_min_similarity_may_be_none_and_the_options_of_the_crawl_stay(index):
    *_, totals = lines("rejudge", str(index), "--min-similarity", "none", "--json")
    assert (totals["after"]["min_similarity"], totals["after"]["max_distance"]) == (None, 12)


def test_an_estimate_says_so(index):
    tamper(index, "DELETE FROM forms WHERE page = 3")
    out = run("rejudge", str(index), "-s", "1")[1]
    assert "an ESTIMATE by fingerprints and sketches" in out
    assert "0 newly dropped, 5 newly kept" in out
    err = refused("rejudge", str(index), "--set", "features=words")
    assert "1 of 25 pages were not" in err


def test_no_url_harms_a_terminal(index):
    tamper(index, "UPDATE pages SET url = 'http://x/' || char(27, 10, 8238) || hex(zeroblob(5000))")
    code, out, _ = run("rejudge", str(index), "-s", "1")
    assert code == 0
    changed = [line for line in out.splitlines() if line.startswith("newly kept")]
    assert len(changed) == 5
    assert all(line.isprintable() and len(line) < 1_000 for line in changed)
    assert r"\x1b\n\u202e" in out


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nowhere"], "there is no index at nowhere"),
        (["redis://localhost/0"], "is not a directory: other indexes record no dropped pages"),
        (["memory:"], "is not a directory"),
    ],
)
def test_what_is_no_index_in_a_directory_is_refused(arguments, why):
    assert why in refused("rejudge", *arguments)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["-s", "2"], "min_similarity must be from 0 to 1, or None"),
        (["--set", "max_distanse=3"], "did you mean max_distance"),
        (["--set", "workers=3"], "workers cannot be judged by"),
    ],
)
def test_wrong_options_are_refused(index, options, why):
    assert why in refused("rejudge", str(index), *options)
